//! From what was written to a checked problem.

pub(crate) mod argument;
pub(crate) mod check;
pub(crate) mod data_file;
pub(crate) mod diffuse;
pub(crate) mod given;
