//! What a run leaves behind: files and a closing table.

pub(crate) mod csv;
pub(crate) mod drawing;
pub(crate) mod forward;
mod history;
pub(crate) mod json;
pub(crate) mod memory;
pub(crate) mod npz;
pub(crate) mod number;
pub(crate) mod picture;
pub(crate) mod table;

pub(crate) use history::History;

#[cfg(test)]
mod example;
