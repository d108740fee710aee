//! `bilo sample --prior`: what the priors predict before the data have a word.

use super::bar;
use crate::args::SampleTask;
use crate::failure::Failure;
use crate::files::{DRAWS, PRIOR, PRIOR_PICTURE, PRIOR_STORE};
use crate::folder::RunFolder;
use crate::interrupt::Signal;
use crate::output;
use crate::rerun::Rerun;
use bilo::Job;
use bilo::diagnostic::ErrorKind;
use bilo::problem::Problem;
use bilo_report::prior as report;
use std::path::Path;

pub(super) fn draw(task: &SampleTask, problem: &Problem) -> Result<(), Failure> {
    let signal = Signal::caught()?;
    let rerun = Rerun::of(&task.statement, &task.overrides, problem, &task.job)?;
    let default = || Path::new("runs").join(format!("{}-prior-{}", problem.name, task.job.seed));
    let mut folder = RunFolder::new(task.out.clone().unwrap_or_else(default), rerun)?;
    folder.open()?;
    let out = folder.path();
    let bar = bar(task.progress, problem.sampling.draws);
    let job = Job { interrupt: signal.interrupt().for_run(), ..task.job.clone() };
    let drawn = signal.guarded(Box::new(|| None), || bilo::draw_prior(problem, &job, &|| bar.inc(1)));
    bar.finish_and_clear();
    let (outcome, draws) = drawn.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Failure::new("interrupted before all was drawn")
            .help("fewer draws take less time: `--draws 100`")
            .code(130),
        _ => Failure::from(error),
    })?;
    report::write(&outcome, &draws, out).map_err(Failure::file("write", &out.join(PRIOR)))?;
    let files = [PRIOR, DRAWS, PRIOR_STORE, PRIOR_PICTURE].join(", ");
    let files = format!("Files in {}: {files}\n", out.display());
    output::say(&if task.json { report::json(&outcome) } else { report::table(&outcome) + &files })
}
