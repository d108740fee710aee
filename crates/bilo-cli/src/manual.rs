//! `bilo completions` and `bilo man`: made from the arguments themselves, so that they are always true.

use crate::args::Args;
use crate::failure::Failure;
use crate::output;
use clap::CommandFactory;
use clap_complete::Shell;
use std::fs;
use std::path::Path;

/// Prints what a shell completes.
pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = vec![];
    clap_complete::generate(shell, &mut Args::command(), "bilo", &mut text);
    output::say(&String::from_utf8_lossy(&text))
}

/// Writes a page for the program and one for each command.
pub(crate) fn man(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(Failure::file("create the folder", folder))?;
    clap_mangen::generate_to(Args::command(), folder).map_err(Failure::file("write into", folder))?;
    output::say(&format!("Manual pages in {}: man {}/bilo.1\n", folder.display(), folder.display()))
}
