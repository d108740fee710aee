//! `bilo profile`: the best fit, and how far each unknown may be from it.

use crate::args::ProfileTask;
use crate::failure::Failure;
use crate::files::{OUTCOME, PROFILE};
use crate::folder::RunFolder;
use crate::interrupt::Signal;
use crate::output;
use crate::progress::Progress;
use crate::rerun::Rerun;
use crate::run::conduct;
use bilo::Job;
use bilo::problem::Problem;
use bilo_report::{html, profile as report};
use std::path::Path;

pub(crate) fn profile(task: &ProfileTask) -> Result<(), Failure> {
    let problem = task.statement.problem(&task.overrides)?;
    let numbers = chosen(&problem, &task.unknowns)?;
    let rerun = Rerun::of(&task.statement, &task.overrides, &problem, &task.job)?;
    let name = format!("{}-profile-{}", problem.name, task.job.seed);
    let mut folder = RunFolder::new(task.out.clone().unwrap_or_else(|| Path::new("runs").join(name)), rerun)?;
    let signal = Signal::caught()?;
    let mut progress = Progress::new(task.progress, signal.clone());
    let conducted = conduct(&problem, &task.job, &mut folder, task.keeping, &signal, &mut progress)?;
    drop(progress);
    conducted.saved?;
    let job = Job { interrupt: signal.interrupt().for_run(), ..task.job.clone() };
    let profiles = bilo::profiles(&problem, &job, &conducted.outcome, &numbers)?;
    let out = folder.path();
    report::write(&profiles, out).map_err(Failure::file("write", &out.join(PROFILE)))?;
    html::write(out)?;
    let files = format!("Files in {}: {PROFILE}, report.html, {OUTCOME}\n", out.display());
    output::say(&if task.json { report::json(&profiles) } else { report::table(&profiles) + &files })
}

/// The unknowns of these names by number; all if none is named.
pub fn chosen(problem: &Problem, names: &[String]) -> Result<Vec<usize>, Failure> {
    if problem.unknowns.is_empty() || !problem.functions.is_empty() {
        let message = "profiles are for problems whose unknowns are numbers";
        return Err(
            Failure::new(message).help("the bands of unknown functions are in the report of `bilo run`")
        );
    }
    let all: Vec<&str> = problem.unknowns.iter().map(|unknown| unknown.name.as_str()).collect();
    if names.is_empty() {
        return Ok((0..all.len()).collect());
    }
    let number = |name: &String| {
        all.iter().position(|other| other == name).ok_or_else(|| {
            Failure::new(format!("there is no unknown `{name}`"))
                .help(format!("the unknowns are {}", all.join(", ")))
        })
    };
    names.iter().map(number).collect()
}
