//! The program `bilo`: infers the unknowns of PDEs stated in TOML files.
//!
//! What was typed ([`args`]) becomes a resolved task, and one match runs it. This crate is the only
//! place that prints; everything it prints or writes is made from the library's
//! [`Outcome`](bilo::outcome::Outcome) in [`bilo_report`].

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

use args::{Args, Task};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Args::parse().resolve().and_then(perform) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::complain(&failure);
            ExitCode::from(failure.exit_code())
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
