//! Runs and studies as far as they are, from their files.

use crate::failure::Failure;
use crate::files::{HISTORY, OUTCOME};
use bilo::outcome::Outcome;
use bilo_report::history::History;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// How a run is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    UnderWay,
    /// With the reason.
    Ended(String),
    /// Neither under way nor at an end: it was killed.
    Broken,
}

impl State {
    pub(crate) fn words(&self) -> &str {
        match self {
            State::UnderWay => "under way",
            State::Ended(stop) => match stop.as_str() {
                "converged" => "ended, converged",
                "steps" => "ended, all steps were taken",
                "time-limit" => "ended at its time limit",
                "interrupted" => "interrupted",
                "diverged" => "ended, diverged",
                other => other,
            },
            State::Broken => "neither under way nor at its end: bilo run --resume goes on with it",
        }
    }
}

/// A run as far as it is.
pub(crate) struct Run {
    /// Its folder's name.
    pub(crate) name: String,
    pub(crate) history: History,
    pub(crate) state: State,
}

/// What is in a folder.
pub(crate) enum Found {
    Run(Run),
    Study(Vec<Run>),
}

/// A run, or the runs of a study in the order of their names.
pub(crate) fn look(folder: &Path) -> Result<Found, Failure> {
    if let Some(run) = run(folder) {
        return Ok(Found::Run(run));
    }
    let runs: Vec<Run> = runs(folder)?.iter().filter_map(|path| run(path)).collect();
    if runs.is_empty() {
        let message = format!("there is no run in `{}`", folder.display());
        return Err(
            Failure::new(message).help("name the folder of a run or of a study, such as runs/fisher-kpp-0")
        );
    }
    Ok(Found::Study(runs))
}

/// The folders of runs in a folder.
fn runs(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(Failure::file("look into", folder))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut runs: Vec<PathBuf> = paths.filter(|path| path.join(HISTORY).is_file()).collect();
    runs.sort();
    Ok(runs)
}

/// A run, if a folder is one's.
fn run(folder: &Path) -> Option<Run> {
    let file = folder.join(HISTORY);
    let history = History::parse(&fs::read_to_string(&file).ok()?, usize::MAX);
    let outcome = fs::read_to_string(folder.join(OUTCOME)).ok();
    let state = match outcome.and_then(|text| Outcome::from_json(&text).ok()) {
        Some(outcome) => State::Ended(outcome.stop.name().to_owned()),
        None if is_held(&file) => State::UnderWay,
        None => State::Broken,
    };
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Some(Run { name, history, state })
}

/// Whether a run writes a history at this moment.
fn is_held(history: &Path) -> bool {
    let file = File::open(history);
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}
