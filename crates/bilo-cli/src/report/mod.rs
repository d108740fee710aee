//! What a run leaves behind: files and a closing table.

mod history;
pub(crate) mod json;
pub(crate) mod memory;
pub(crate) mod npz;
pub(crate) mod number;
pub(crate) mod table;

pub(crate) use history::History;

#[cfg(test)]
mod example;
