//! The module `bilo._bilo`, on which the Python package `bilo` stands.
//!
//! Nothing is computed here: a [`Stated`](problem::Stated) problem goes to the same library as in the program, and a run
//! fills the same folder by the same function as `bilo run`. What makes arrays, tables and pages of that is Python
//! (`python/bilo`).

mod density;
mod error;
mod job;
mod listener;
mod problem;
mod study;
mod table;
mod waiting;

use pyo3::prelude::*;

/// What the package `bilo` calls; use that one.
#[pymodule]
mod _bilo {
    #[pymodule_export]
    use crate::density::Density;
    #[pymodule_export]
    use crate::problem::Stated;
    #[pymodule_export]
    use crate::study::study;
    #[pymodule_export]
    use crate::table::{findings, main, methods, shipped, text_of};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
