//! `bilo watch`: a run or a study as it goes, from its files.

mod screen;

use crate::failure::Failure;
use crate::folder::{HISTORY, OUTCOME};
use crate::output;
use screen::{Progress, State};
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Between two looks.
const BETWEEN: Duration = Duration::from_secs(1);

/// Goes to the upper left corner and clears what is there.
const CLEAR: &str = "\x1b[H\x1b[J";

/// Shows a folder until all in it has ended; only once where nobody watches.
pub(crate) fn watch(folder: &Path) -> Result<(), Failure> {
    let watched = io::stdout().is_terminal();
    loop {
        let (text, ended) = look(folder)?;
        output::say(&if watched { format!("{CLEAR}{text}") } else { text })?;
        if ended || !watched {
            return Ok(());
        }
        sleep(BETWEEN);
    }
}

/// What there is to see, and whether that is all.
fn look(folder: &Path) -> Result<(String, bool), Failure> {
    let title = folder.display().to_string();
    if let Some((progress, state)) = run(folder) {
        return Ok((screen::run(&title, &progress, &state), state != State::UnderWay));
    }
    let mut runs = runs(folder)?;
    if runs.is_empty() {
        let message = format!("there is no run in `{title}`");
        return Err(
            Failure::new(message).help("name the folder of a run or of a study, such as runs/fisher-kpp-0")
        );
    }
    runs.sort();
    let found: Vec<(String, Progress, State)> = runs
        .iter()
        .filter_map(|path| {
            let (progress, state) = run(path)?;
            Some((path.file_name()?.to_string_lossy().into_owned(), progress, state))
        })
        .collect();
    let ended = found.iter().all(|(_, _, state)| *state != State::UnderWay);
    Ok((screen::study(&title, &found), ended))
}

/// The folders of runs in a folder.
fn runs(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(Failure::file("look into", folder))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    Ok(paths.filter(|path| path.join(HISTORY).is_file()).collect())
}

/// A run, if a folder is one's.
fn run(folder: &Path) -> Option<(Progress, State)> {
    let history = folder.join(HISTORY);
    let text = fs::read_to_string(&history).ok()?;
    let outcome = fs::read_to_string(folder.join(OUTCOME)).ok();
    let state = match outcome.and_then(|text| serde_json::from_str::<Value>(&text).ok()) {
        Some(outcome) => State::Ended(outcome["stop"].as_str().unwrap_or_default().to_owned()),
        None if is_held(&history) => State::UnderWay,
        None => State::Broken,
    };
    Some((Progress::of(&text), state))
}

/// Whether a run writes a history at this moment.
fn is_held(history: &Path) -> bool {
    let file = File::open(history);
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}
