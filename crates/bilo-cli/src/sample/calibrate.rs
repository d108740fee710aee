//! `bilo sample --sbc`: truths from the prior, each ranked in its own posterior.

use super::bar;
use crate::args::SampleTask;
use crate::failure::Failure;
use crate::files::{CALIBRATION, CALIBRATION_PICTURE, RANKS};
use crate::folder::RunFolder;
use crate::interrupt::Signal;
use crate::output;
use crate::rerun::Rerun;
use bilo::Job;
use bilo::diagnostic::ErrorKind;
use bilo::posterior::{Calibration, Ranked};
use bilo::problem::Problem;
use bilo_report::calibration as report;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

pub(super) fn calibrate(task: &SampleTask, problem: &Problem, truths: usize) -> Result<(), Failure> {
    bilo::require_calibration(problem)?;
    let signal = Signal::caught()?;
    let rerun = Rerun::of(&task.statement, &task.overrides, problem, &task.job)?;
    let default = || Path::new("runs").join(format!("{}-sbc-{}", problem.name, task.job.seed));
    let (folder, done) = match &task.resume {
        Some(path) => {
            let mut folder = RunFolder::new(path.clone(), rerun.with_remarks_of(&task.statement))?;
            folder.keep_others_out()?;
            let done = read(&path.join(RANKS));
            (folder, done)
        }
        None => {
            let mut folder = RunFolder::new(task.out.clone().unwrap_or_else(default), rerun)?;
            folder.open()?;
            (folder, BTreeMap::new())
        }
    };
    let out = folder.path();
    let all = rank(task, problem, &signal, (truths, done), out)?;
    let calibration = Calibration::new(problem, task.job.seed, &all);
    report::write(&calibration, out).map_err(Failure::file("write", &out.join(CALIBRATION)))?;
    let files = [CALIBRATION, CALIBRATION_PICTURE, RANKS].join(", ");
    let files = format!("Files in {}: {files}\n", out.display());
    output::say(&if task.json { report::json(&calibration) } else { report::table(&calibration) + &files })
}

/// Truths that were ranked before: whole lines of the file.
fn read(path: &Path) -> BTreeMap<usize, Ranked> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let ranked = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    ranked.map(|ranked: Ranked| (ranked.number, ranked)).collect()
}

/// Ranks what is not done, keeping each as it comes.
fn rank(
    task: &SampleTask,
    problem: &Problem,
    signal: &Signal,
    (truths, done): (usize, BTreeMap<usize, Ranked>),
    out: &Path,
) -> Result<Vec<Ranked>, Failure> {
    let path = out.join(RANKS);
    let unwritten = Failure::file("write", &path);
    let missing: Vec<usize> = (0..truths).filter(|number| !done.contains_key(number)).collect();
    let mut done: BTreeMap<usize, Ranked> = done.into_iter().filter(|(number, _)| *number < truths).collect();
    // A line that was cut off is written over.
    let whole: String = done.values().map(line).collect();
    let file = fs::write(&path, whole).and_then(|()| OpenOptions::new().append(true).open(&path));
    let file = file.map_err(unwritten)?;
    let bar = bar(task.progress, truths);
    bar.set_position(done.len() as u64);
    let kept: Mutex<(File, Vec<Ranked>)> = Mutex::new((file, vec![]));
    let watch = |ranked: Ranked| {
        let mut kept = kept.lock().expect("no thread panics");
        // What cannot be written is still in memory.
        let _ = kept.0.write_all(line(&ranked).as_bytes());
        kept.1.push(ranked);
        bar.inc(1);
    };
    let job = Job { interrupt: signal.interrupt().for_run(), ..task.job.clone() };
    let resume = format!("`bilo sample --resume {} --sbc {truths}` goes on", out.display());
    let stopped = format!("stopped; what was ranked is kept, and {resume}");
    let rescue = Box::new(move || Some(stopped.clone()));
    let ended = signal.guarded(rescue, || bilo::calibrate(problem, &job, &missing, &watch));
    bar.finish_and_clear();
    ended.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Failure::new("interrupted; what was ranked is kept").help(resume).code(130),
        _ => Failure::from(error),
    })?;
    let kept = kept.into_inner().expect("no thread panics").1;
    done.extend(kept.into_iter().map(|ranked| (ranked.number, ranked)));
    Ok(done.into_values().collect())
}

fn line(ranked: &Ranked) -> String {
    serde_json::to_string(ranked).expect("plain data") + "\n"
}
