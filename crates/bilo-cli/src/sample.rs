//! `bilo sample`: what a run finds, and draws from the posterior around it.

mod calibrate;
mod prior;
mod store;

use crate::args::SampleTask;
use crate::failure::Failure;
use crate::files::{DRAWS, OUTCOME, POSTERIOR, POSTERIOR_STORE, RANKS};
use crate::folder::RunFolder;
use crate::interrupt::Signal;
use crate::output;
use crate::progress::Progress;
use crate::rerun::Rerun;
use crate::run::conduct;
use bilo::Job;
use bilo::diagnostic::ErrorKind;
use bilo::outcome::Outcome;
use bilo::posterior;
use bilo::problem::Problem;
use bilo_report::{html, posterior as report, table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fs;
use std::path::Path;
use store::ChainFiles;

const STYLE: &str = "{prefix:8} {bar:24} {human_pos}/{human_len} {eta} left  {wide_msg}";

pub(crate) fn sample(task: &SampleTask) -> Result<(), Failure> {
    let problem = task.statement.problem(&task.overrides)?;
    if let Some(truths) = task.sbc {
        return calibrate::calibrate(task, &problem, truths);
    }
    if task.prior {
        return prior::draw(task, &problem);
    }
    bilo::require_posterior(&problem)?;
    if let Some(folder) = task.resume.as_ref().filter(|folder| folder.join(RANKS).is_file()) {
        // Drawing there would replace them.
        let folder = folder.display();
        return Err(Failure::new(format!("`{folder}` has truths that were ranked, and no chains"))
            .help(format!("`bilo sample --resume {folder} --sbc N` goes on with them")));
    }
    let signal = Signal::caught()?;
    let estimated = match &task.resume {
        Some(folder) => resumed(task, &problem, &signal, folder)?,
        None => begun(task, &problem, &signal)?,
    };
    let Estimated { folder, outcome } = estimated;
    bilo::require_estimate(&outcome).map_err(|error| {
        let resume = format!("`bilo sample --resume {}` goes on", folder.path().display());
        Failure::from(error).help(resume)
    })?;
    if task.progress {
        output::say(&table::render(&outcome, bilo::observer::Phase::Train, folder.path()))?;
    }
    draw(task, &problem, &outcome, &signal, folder.path())
}

/// A run that has ended, in its folder.
struct Estimated {
    folder: RunFolder,
    outcome: Outcome,
}

fn begun(task: &SampleTask, problem: &Problem, signal: &Signal) -> Result<Estimated, Failure> {
    let rerun = Rerun::of(&task.statement, &task.overrides, problem, &task.job)?;
    let default = || Path::new("runs").join(format!("{}-sample-{}", problem.name, task.job.seed));
    let folder = RunFolder::new(task.out.clone().unwrap_or_else(default), rerun)?;
    searched(task, problem, signal, folder)
}

fn searched(
    task: &SampleTask,
    problem: &Problem,
    signal: &Signal,
    mut folder: RunFolder,
) -> Result<Estimated, Failure> {
    let mut progress = Progress::new(task.progress, signal.clone());
    let conducted = conduct(problem, &task.job, &mut folder, task.keeping, signal, &mut progress)?;
    drop(progress);
    conducted.saved?;
    Ok(Estimated { folder, outcome: conducted.outcome })
}

/// The run of a folder, which is begun again if it had not ended: that comes to the same.
fn resumed(task: &SampleTask, problem: &Problem, signal: &Signal, path: &Path) -> Result<Estimated, Failure> {
    let rerun = Rerun::of(&task.statement, &task.overrides, problem, &task.job)?;
    let mut folder = RunFolder::new(path.to_path_buf(), rerun.with_remarks_of(&task.statement))?;
    let text = fs::read_to_string(path.join(OUTCOME)).unwrap_or_default();
    match Outcome::from_json(&text) {
        Ok(outcome) if bilo::require_estimate(&outcome).is_ok() => {
            folder.keep_others_out()?;
            Ok(Estimated { folder, outcome })
        }
        _ => searched(task, problem, signal, folder),
    }
}

/// Draws, and writes what was drawn.
fn draw(
    task: &SampleTask,
    problem: &Problem,
    outcome: &Outcome,
    signal: &Signal,
    out: &Path,
) -> Result<(), Failure> {
    let store = ChainFiles::new(out, problem.unknowns.len());
    let job = Job { interrupt: signal.interrupt().for_run(), ..task.job.clone() };
    let total = (problem.sampling.tuning + problem.sampling.draws) * problem.sampling.chains;
    let bar = bar(task.progress, total);
    let watch = |progress: posterior::Progress| {
        bar.set_position(progress.draws as u64);
        bar.set_message(match progress.divergences {
            0 => String::new(),
            count => format!("{count} diverged"),
        });
    };
    let resume = format!("`bilo sample --resume {}` goes on", out.display());
    // Chains are stored as they draw: there is nothing to rescue.
    let line = format!("stopped; the chains are kept, and {resume}");
    let rescue = Box::new(move || Some(line.clone()));
    let sampled = signal.guarded(rescue, || bilo::sample(problem, &job, outcome, &store, &watch));
    bar.finish_and_clear();
    let (found, draws) = sampled.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Failure::new("interrupted; the chains are kept").help(resume).code(130),
        _ => Failure::from(error),
    })?;
    report::write(&found, &draws, out).map_err(Failure::file("write", &out.join(POSTERIOR)))?;
    html::write(out)?;
    let files = [POSTERIOR, DRAWS, POSTERIOR_STORE, "report.html", OUTCOME].join(", ");
    let files = format!("Files in {}: {files}\n", out.display());
    output::say(&if task.json { report::json(&found) } else { report::table(&found) + &files })
}

fn bar(wanted: bool, total: usize) -> ProgressBar {
    let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template(STYLE).expect("the template is well formed");
    ProgressBar::with_draw_target(Some(total as u64), target).with_prefix("sample").with_style(style)
}
