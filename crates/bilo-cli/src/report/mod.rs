//! What is written while a run goes on and what the system tells of it; `bilo report`, which writes a page again.

mod history;
pub(crate) mod memory;

pub(crate) use history::History;

use crate::failure::Failure;
use crate::output;
use std::path::Path;

/// `bilo report`: the page of a folder, and of the runs in it, from its files.
pub(crate) fn again(folder: &Path) -> Result<(), Failure> {
    let page = bilo_report::html::write(folder)?;
    output::say(&format!("Wrote {}\n", page.display()))
}
