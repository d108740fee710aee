//! What is written while a run goes on and what the system tells of it; `bilo report`, which writes a page again.

mod contours;
mod history;
pub(crate) mod memory;
mod tensorboard;

pub(crate) use history::History;
pub(crate) use tensorboard::{EVENTS, Events};

use crate::failure::Failure;
use crate::output;
use std::path::Path;

/// `bilo report`: the page of a folder from its files, with the data loss over two unknowns if that is wanted.
pub(crate) fn again(folder: &Path, contours: bool) -> Result<(), Failure> {
    if contours {
        contours::solve(folder)?;
    }
    let page = bilo_report::html::write(folder)?;
    output::say(&format!("Wrote {}\n", page.display()))
}
