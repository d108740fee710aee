//! `report.html`: a page that a scientist shows to a colleague.
//!
//! A page is made from the files of a folder alone ([`write()`]), so that one of last year can be written again. It is whole in
//! itself: text and formulas are HTML and MathML, figures are data that a script in the page draws, nothing is fetched.

mod block;
mod figure;
mod fit;
mod hues;
pub mod live;
mod mathml;
mod page;
mod run;
mod source;
mod study;
mod text;

use crate::files::{OUTCOME, REPORT, UNFINISHED_REPORT};
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReportError(String);

impl ReportError {
    /// For `map_err`: a file that could not be read.
    fn reading<E: Display>(path: &Path) -> impl FnOnce(E) -> Self {
        move |error| ReportError(format!("cannot read `{}`: {error}", path.display()))
    }
}

/// Writes the page of a run's or a study's folder, and says where it is.
pub fn write(folder: &Path) -> Result<PathBuf, ReportError> {
    let outcome = folder.join(OUTCOME);
    if outcome.is_file() {
        let outcome = fs::read_to_string(&outcome).map_err(ReportError::reading(&outcome))?;
        return write_run(folder, &outcome);
    }
    if study::is_in(folder) {
        return put(folder, &study::page(folder)?);
    }
    let message = format!("`{}` is neither the folder of a run nor that of a study", folder.display());
    Err(ReportError(message))
}

/// Writes the page of a run whose outcome is this: before the file of it, which is the last of a run's.
pub fn write_run(folder: &Path, outcome: &str) -> Result<PathBuf, ReportError> {
    put(folder, &run::page(folder, outcome)?)
}

/// Whole or not at all.
fn put(folder: &Path, page: &str) -> Result<PathBuf, ReportError> {
    let (part, path) = (folder.join(UNFINISHED_REPORT), folder.join(REPORT));
    fs::write(&part, page)
        .and_then(|()| fs::rename(&part, &path))
        .map_err(|error| ReportError(format!("cannot write `{}`: {error}", path.display())))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(folder.path()).unwrap_err().to_string();
        assert!(error.contains("neither the folder of a run nor that of a study"), "{error}");
        fs::write(folder.path().join(OUTCOME), "{").unwrap();
        assert!(write(folder.path()).unwrap_err().to_string().starts_with("cannot read"));
    }
}
