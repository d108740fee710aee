//! Writes checkpoints as a run goes.

use super::file::{Owner, encode};
use super::{CHECKPOINT, EARLIER, Kept, UNFINISHED};
use crate::failure::Failure;
use crate::files::HISTORY;
use bilo::checkpoint::Checkpoint;
use bilo::observer::{Control, Event, Observer};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is written as a run goes, beside its history.
#[derive(Clone, Copy, Debug)]
pub struct Keeping {
    /// Between two checkpoints.
    pub every: Duration,
    /// Whether event files for TensorBoard are written, too.
    pub tensorboard: bool,
}

/// Asks for a checkpoint every so often, and writes what it gets.
pub(crate) struct Keeper {
    folder: PathBuf,
    owner: Owner,
    every: Duration,
    last: Instant,
    failure: Option<Failure>,
}

impl Keeper {
    /// For a folder that has a history as soon as there is something to keep.
    pub(crate) fn new(folder: &Path, owner: Owner, every: Duration) -> Self {
        Keeper { folder: folder.to_path_buf(), owner, every, last: Instant::now(), failure: None }
    }

    /// Why a checkpoint could not be written: no reason to end a run, but one to tell.
    pub(crate) fn finish(self) -> Option<Failure> {
        self.failure
    }

    fn write(&self, checkpoint: &Checkpoint) -> Result<(), Failure> {
        let [part, whole, earlier, history] =
            [UNFINISHED, CHECKPOINT, EARLIER, HISTORY].map(|name| self.folder.join(name));
        let history = fs::metadata(&history).map_err(Failure::file("read", &history))?.len();
        let kept = Kept { checkpoint: checkpoint.clone(), history };
        let bytes = encode(&kept, &self.owner).map_err(Failure::file("write", &part))?;
        let write = || {
            let mut file = File::create(&part)?;
            file.write_all(&bytes)?;
            // On the disk before it takes the name of the one before.
            file.sync_all()
        };
        write().map_err(Failure::file("write", &part))?;
        match fs::rename(&whole, &earlier) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Failure::file("rename", &whole)(error)),
            _ => fs::rename(&part, &whole).map_err(Failure::file("write", &whole)),
        }
    }
}

impl Observer for Keeper {
    fn event(&mut self, event: &Event<'_>) -> Control {
        match event {
            Event::Checkpoint(checkpoint) => {
                if let Err(failure) = self.write(checkpoint) {
                    self.failure = Some(failure);
                }
                // From the end of writing: a slow disk must not take all the time.
                self.last = Instant::now();
            }
            Event::Step(_) if self.last.elapsed() >= self.every => return Control::Keep,
            _ => {}
        }
        Control::Continue
    }
}
