//! The names of the files in a run's folder.

use crate::failure::Failure;
pub(crate) use bilo_report::files::{
    CALIBRATION, CALIBRATION_PICTURE, DRAWS, FIELDS, HISTORY, LOSSES, OUTCOME, POSTERIOR, POSTERIOR_STORE,
    PREDICTIVE, PRIOR, PRIOR_PICTURE, PRIOR_STORE, PROBLEM, PROFILE, RANKS, REPORT, RUN, TABLE,
    UNFINISHED_REPORT, fit_file, picture_file,
};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// An outcome that is being written.
pub(crate) const UNFINISHED: &str = "outcome.part";
/// A problem file that is being written.
pub(crate) const UNFINISHED_PROBLEM: &str = "problem.part";

/// What the names of all files of chains begin with.
pub(crate) const CHAIN: &str = "chain-";

/// Removes what is there of these files.
pub(crate) fn remove(files: &[PathBuf]) -> Result<(), Failure> {
    for path in files {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Failure::file("replace", path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}
