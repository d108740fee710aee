//! `report.html`: a page that a scientist shows to a colleague.
//!
//! A page is made from the files of a folder alone ([`write()`]), so that one of last year can be written again. It is whole in
//! itself: text and formulas are HTML and MathML, figures are data that a script in the page draws, nothing is fetched.

mod block;
mod escape;
mod figure;
mod fit;
mod history;
mod mathml;
mod page;
mod run;
mod source;
mod study;
mod text;

use crate::files::{OUTCOME, REPORT};
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
    let page = if folder.join(OUTCOME).is_file() {
        run::page(folder)?
    } else if study::is_in(folder) {
        study::page(folder)?
    } else {
        let message = format!("`{}` is neither the folder of a run nor that of a study", folder.display());
        return Err(ReportError(message));
    };
    let path = folder.join(REPORT);
    fs::write(&path, page)
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
