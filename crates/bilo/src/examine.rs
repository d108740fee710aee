//! `bilo check`: the problem as understood, and what can be found wrong with it before training.

use crate::diagnostic::Result;
use crate::problem::Problem;

/// The problem as understood.
#[derive(Clone, Debug, Default)]
pub struct Examination {
    /// Headings with their lines.
    pub sections: Vec<(String, Vec<String>)>,
    /// What deserves attention.
    pub warnings: Vec<String>,
}

/// Examines a problem.
pub fn examine(_problem: &Problem) -> Result<Examination> {
    Ok(Examination::default())
}
