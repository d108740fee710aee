//! What is written while a run goes on, and what the system tells of it.

mod history;
pub(crate) mod memory;

pub(crate) use history::History;
