//! `bilo study`: many runs, several at a time, and one table of them.
//!
//! Every run has a folder of its own, as `bilo run` makes it. A run whose folder holds its outcome is never repeated:
//! an interrupted study goes on where it was.

pub(crate) mod figures;
mod pictures;
pub(crate) mod plan;
pub(crate) mod summary;

use crate::args::StudyTask;
use crate::checkpoint::Keeping;
use crate::failure::Failure;
use crate::files::{OUTCOME, REPORT};
use crate::interrupt::Signal;
use crate::rerun::Rerun;
use crate::run::conduct;
use crate::{output, resume};
use bilo::observer::{Observer, Silent};
use bilo::outcome::{Outcome, Stop};
use bilo::{Hardware, Job};
use bilo_report::html;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plan::{Case, Plan, short};
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use summary::{Ended, Summary};

/// Runs at a time on a GPU, unless stated: small kernels of one fill the gaps of another.
const ON_A_GPU: usize = 4;

const STYLE: &str = "{bar:24} {pos}/{len} runs {eta} left  {wide_msg}";

pub(crate) fn study(task: &StudyTask) -> Result<(), Failure> {
    let plan = Plan::read(&task.file, task.outside)?;
    let out = task.out.clone().unwrap_or_else(|| Path::new("runs").join(&plan.name));
    let signal = Signal::caught()?;
    let (summary, names, ended) = fill(task, &plan, &out, &signal)?;
    let closing = format!("\nFiles in {}: {names}, and a folder for each run\n", out.display());
    output::say(&if task.json { summary.json(&plan) } else { summary.table(true) + &closing })?;
    ended
}

/// All runs of a study in a folder, with its tables and pictures.
pub fn study_into(task: &StudyTask, out: &Path, signal: &Signal) -> Result<(), Failure> {
    fill(task, &Plan::read(&task.file, task.outside)?, out, signal)?.2
}

/// Runs what is missing and writes the files of the whole: their names, and whether it came to its end.
fn fill(
    task: &StudyTask,
    plan: &Plan,
    out: &Path,
    signal: &Signal,
) -> Result<(Summary, String, Result<(), Failure>), Failure> {
    // What is wrong with a case is said before hours of runs.
    for case in &plan.cases {
        case.statement.problem(&case.overrides)?;
    }
    let ended = perform(task, plan, out, signal)?;
    let summary = Summary::new(plan, &ended);
    let names = write_files(plan, &summary, &ended, out)?;
    Ok((summary, names, require_end(&ended, signal)))
}

fn require_end(ended: &[Ended], signal: &Signal) -> Result<(), Failure> {
    if signal.came() {
        return Err(
            Failure::new("interrupted").help("the same command goes on with the runs that are missing")
        );
    }
    match ended.iter().all(Result::is_err) {
        true => Err(Failure::new("not one of the runs came to its end")),
        false => Ok(()),
    }
}

/// Writes tables and pictures; their names.
pub(crate) fn write_files(
    plan: &Plan,
    summary: &Summary,
    ended: &[Ended],
    out: &Path,
) -> Result<String, Failure> {
    let mut files = vec![
        ("table.txt", summary.table(false)),
        ("study.json", summary.json(plan)),
        ("runs.csv", summary.csv(plan, ended)),
        ("bars.svg", pictures::bars(plan, summary)),
    ];
    files.extend(pictures::trajectories(plan, ended, out)?.map(|svg| ("trajectories.svg", svg)));
    fs::create_dir_all(out).map_err(Failure::file("create the folder", out))?;
    for (name, text) in &files {
        let file = out.join(name);
        fs::write(&file, text).map_err(Failure::file("write", &file))?;
    }
    html::write(out)?;
    Ok(files.iter().map(|(name, _)| *name).chain([REPORT]).collect::<Vec<_>>().join(", "))
}

/// All runs, several at a time; those that are there already are read.
fn perform(task: &StudyTask, plan: &Plan, out: &Path, signal: &Signal) -> Result<Vec<Ended>, Failure> {
    let count = plan.cases.len() * plan.seeds.len();
    let target = if task.progress { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template(STYLE).expect("the template is well formed");
    let bar = ProgressBar::with_draw_target(Some(count as u64), target).with_style(style);
    let (next, ended) = (AtomicUsize::new(0), Mutex::new(vec![None; count]));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if number >= count {
                return;
            }
            let (case, seed) =
                (&plan.cases[number / plan.seeds.len()], plan.seeds[number % plan.seeds.len()]);
            let (method, hardware) = (case.method, task.hardware);
            let job = Job { seed, threads: Some(task.threads), method, hardware, ..Job::default() };
            let path = out.join(folder_name(case, seed));
            let found = one(case, &job, &path, task.keeping, signal, &mut Silent);
            bar.set_message(folder_name(case, seed));
            bar.inc(1);
            ended.lock().expect("no run panics")[number] = Some(found);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers(task).min(count) {
            scope.spawn(work);
        }
    });
    bar.finish_and_clear();
    let ended = ended.into_inner().expect("no run panics");
    Ok(ended.into_iter().map(|ended| ended.expect("every run was taken")).collect())
}

/// How many runs at a time.
fn workers(task: &StudyTask) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match (task.jobs, task.hardware) {
        (Some(jobs), _) => jobs,
        (None, Hardware::Cpu) => (cores / task.threads).max(1),
        (None, _) => ON_A_GPU,
    }
}

/// A run, or what it came to before; the reason if it failed.
pub(crate) fn one(
    case: &Case,
    job: &Job,
    path: &Path,
    keeping: Keeping,
    signal: &Signal,
    observer: &mut dyn Observer,
) -> Ended {
    let mut outcome = || -> Result<Outcome, Failure> {
        let problem = case.statement.problem(&case.overrides)?;
        let rerun = Rerun::of(&case.statement, &case.overrides, &problem, job)?;
        if let Some(outcome) = finished(path, &rerun) {
            return Ok(outcome);
        }
        if signal.came() {
            return Err(Failure::new("not run"));
        }
        let mut job = job.clone();
        let mut folder = resume::or_begin(path.to_path_buf(), rerun, &mut job)?;
        let conducted = conduct(&problem, &job, &mut folder, keeping, signal, observer)?;
        conducted.saved?;
        if conducted.outcome.stop == Stop::Interrupted {
            // What it came to so far is no result.
            return Err(Failure::new("interrupted"));
        }
        Ok(conducted.outcome)
    };
    outcome().map_err(|failure| failure.headline())
}

/// The outcome of a former run of the same problem with the same settings that came to its end.
fn finished(path: &Path, rerun: &Rerun) -> Option<Outcome> {
    let text = fs::read_to_string(path.join(OUTCOME)).ok()?;
    let outcome = Outcome::from_json(&text).ok()?;
    (rerun.is_in(path) && outcome.stop != Stop::Interrupted).then_some(outcome)
}

/// What is varied, the method unless it is bilo, and the seed.
pub(crate) fn folder_name(case: &Case, seed: u64) -> String {
    let fit = |text: &str| -> String {
        let fits = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        text.trim_matches('"').chars().map(fits).collect()
    };
    let part = |(key, value): &(String, String)| {
        let key = short(key);
        let words = ["problem", "method", "recipe"].contains(&key);
        if words { fit(value) } else { format!("{}={}", fit(key), fit(value)) }
    };
    let mut parts: Vec<String> = case.varied.iter().map(part).collect();
    parts.push(format!("seed={seed}"));
    parts.join("-")
}
