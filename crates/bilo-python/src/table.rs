//! Functions of the module that need no problem.

use crate::error::raised;
use crate::problem::read_outcome;
use bilo_cli::Statement;
use bilo_report::table;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// The table that the program prints of an outcome, by the text of its `outcome.json`.
#[pyfunction]
pub(crate) fn findings(py: Python<'_>, outcome: &str) -> PyResult<String> {
    let outcome = read_outcome(outcome).map_err(|failure| raised(py, &failure))?;
    Ok(table::findings(&outcome))
}

/// The names of all methods, with what they do.
#[pyfunction]
pub(crate) fn methods() -> Vec<(&'static str, &'static str)> {
    bilo::METHODS.iter().map(|method| (method.name(), method.about())).collect()
}

/// The names of the problems that come with the program, and of those of the gallery.
#[pyfunction]
pub(crate) fn shipped() -> (Vec<&'static str>, Vec<&'static str>) {
    let names = |problems: &'static [bilo_problems::Shipped]| problems.iter().map(|problem| problem.name);
    (names(bilo_problems::SHIPPED).collect(), names(bilo_problems::GALLERY).collect())
}

/// The text of a problem file, or of a problem that comes with the program.
#[pyfunction]
pub(crate) fn text_of(py: Python<'_>, file: PathBuf) -> PyResult<String> {
    let statement = Statement::find(&file, true).map_err(|failure| raised(py, &failure))?;
    Ok(statement.text().to_owned())
}

/// Does what a command line asks for, the name of the program first; the exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| bilo_cli::main(arguments))
}
