//! The program `bilo` as a library: what its `main` calls, and what another front end shares with it.
//!
//! What was typed (`args`) becomes a resolved task, and one match runs it. This crate is the only
//! place that prints; everything it prints or writes is made from the library's
//! [`Outcome`](bilo::outcome::Outcome) in [`bilo_report`].
//!
//! A front end of its own reads a [`Statement`] and lets [`conduct`] fill the folder of a run, as `bilo run` does.

mod args;
mod assignments;
mod check;
mod checkpoint;
mod compare;
mod convert;
mod failure;
mod files;
mod folder;
mod guesses;
mod interrupt;
mod manual;
mod models;
mod new;
mod output;
mod problems;
mod profile;
mod progress;
mod report;
mod rerun;
mod rescue;
mod resume;
mod run;
mod sample;
mod schema;
mod serve;
mod solve;
mod statement;
mod study;
mod underway;
mod watch;

pub use args::StudyTask;
pub use check::render as checked;
pub use checkpoint::Keeping;
pub use failure::Failure;
pub use folder::RunFolder;
pub use guesses::{fixed, stated};
pub use interrupt::Signal;
pub use profile::chosen;
pub use progress::Progress;
pub use rerun::{Rerun, files_named};
pub use resume::KEEP_EVERY;
pub use run::{All, Conducted, conduct};
pub use solve::{nodes, values};
pub use statement::Statement;
pub use study::study_into;

use args::{Args, Task};
use clap::Parser;
use std::ffi::OsString;

/// Does what a command line asks for, the name of the program first; the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let args = match Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(usage) => {
            // A reader that went away is no error.
            let _ = usage.print();
            return usage.exit_code() as u8;
        }
    };
    match args.resolve().and_then(perform) {
        Ok(()) => 0,
        Err(failure) => {
            output::complain(&failure);
            failure.exit_code()
        }
    }
}

fn perform(task: Task) -> Result<(), Failure> {
    match task {
        Task::Run(task) => run::run(&task),
        Task::Check { statement, overrides } => check::check(&statement, &overrides),
        Task::Solve(task) => solve::solve(&task),
        Task::Study(task) => study::study(&task),
        Task::Profile(task) => profile::profile(&task),
        Task::Sample(task) => sample::sample(&task),
        Task::Compare(task) if task.others.is_empty() => compare::compare(&task),
        Task::Compare(task) => models::compare(&task),
        Task::Report { folder, contours } => report::again(&folder, contours),
        Task::List => problems::list(problems::SHIPPED),
        Task::Gallery => problems::list(problems::GALLERY),
        Task::New(task) => new::new(&task),
        Task::Convert(task) => convert::convert(&task),
        Task::Watch(folder) => watch::watch(&folder),
        Task::Serve { folder, port } => serve::serve(&folder, port),
        Task::Schema => schema::schema(),
        Task::Completions(shell) => manual::completions(shell),
        Task::Man(folder) => manual::man(&folder),
    }
}
