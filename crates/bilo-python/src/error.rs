//! Failures as exceptions of the Python package.

use bilo::diagnostic::ErrorKind;
use bilo_cli::Failure;
use pyo3::prelude::*;

/// The exception for a failure: its message, help, line and column, and the annotated text.
pub(crate) fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    let exception = || -> PyResult<PyErr> {
        let class = py.import("bilo.errors")?.getattr(class_of(failure.kind()))?;
        let diagnostic = failure.diagnostic();
        let (line, column) = diagnostic.origin.line_and_column().unzip();
        let text = diagnostic.to_string();
        Ok(PyErr::from_value(class.call1((&diagnostic.message, &diagnostic.help, line, column, text))?))
    };
    exception().unwrap_or_else(|error| error)
}

fn class_of(kind: Option<ErrorKind>) -> &'static str {
    match kind {
        Some(ErrorKind::NoReference | ErrorKind::Solver | ErrorKind::NotConverged) => "SolverError",
        Some(ErrorKind::Device) => "DeviceError",
        _ => "ProblemError",
    }
}
