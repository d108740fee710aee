//! What is kept of a run that is too busy to end when it is asked to: its last step, as an outcome that says so.

use crate::files::{OUTCOME, UNFINISHED};
use bilo::Job;
use bilo::observer::{Control, Event, Observer, Phase};
use bilo::outcome::Outcome;
use bilo::problem::Problem;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Remembers the last step of a run; clones see the same one.
#[derive(Clone)]
pub(crate) struct LastStep {
    outcome: Arc<Mutex<Outcome>>,
    folder: PathBuf,
}

impl LastStep {
    pub(crate) fn new(problem: &Problem, job: &Job, folder: &Path) -> Self {
        let outcome = Outcome::interrupted(problem, job.method.name(), job.seed);
        LastStep { outcome: Arc::new(Mutex::new(outcome)), folder: folder.to_path_buf() }
    }

    /// Writes the outcome, if there was a step, and says so.
    pub(crate) fn keep(&self) -> Option<String> {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        if outcome.losses.is_empty() {
            return None;
        }
        let (part, whole) = (self.folder.join(UNFINISHED), self.folder.join(OUTCOME));
        let written = fs::write(&part, outcome.to_json()).and_then(|()| fs::rename(&part, &whole));
        let folder = self.folder.display();
        Some(match written {
            Ok(()) => format!("stopped; the last step is kept in {folder}"),
            Err(error) => format!("stopped; the last step could not be kept in {folder}: {error}"),
        })
    }
}

impl Observer for LastStep {
    fn event(&mut self, event: &Event<'_>) -> Control {
        if let Event::Step(record) = event {
            let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.set_estimates(record.unknowns);
            outcome.losses = record.loss_names.iter().cloned().zip(record.losses.iter().copied()).collect();
            outcome.seconds.total = record.seconds;
            match record.phase {
                Phase::Train => outcome.steps.train = record.step,
                Phase::Examples | Phase::Pretrain => outcome.steps.pretrain = record.step,
            }
        }
        Control::Continue
    }
}
