//! `bilo run --resume`: goes on with a run that was stopped or killed.

use crate::checkpoint::{self, Kept};
use crate::failure::Failure;
use crate::files::OUTCOME;
use crate::folder::RunFolder;
use crate::rerun::Rerun;
use bilo::outcome::{Outcome, Stop};
use bilo::{Job, Method};
use bilo_report::record::RunRecord;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Seconds between two checkpoints, unless stated: what is lost at most is not worth much, and what they take is nothing to it.
pub const KEEP_EVERY: f64 = 60.0;

/// A run to go on with.
#[derive(Debug)]
pub(crate) struct Resume {
    pub(crate) folder: PathBuf,
    pub(crate) seed: u64,
    pub(crate) method: &'static dyn Method,
    /// The checkpoint that was named, if not the folder.
    checkpoint: Option<PathBuf>,
}

impl Resume {
    /// Of the folder of a run, or of a checkpoint in it.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        let (folder, checkpoint) = match path.is_file() {
            true => (path.parent().unwrap_or(Path::new("")).to_path_buf(), Some(path.to_path_buf())),
            false => (path.to_path_buf(), None),
        };
        let record = RunRecord::read(&folder);
        let Some((seed, method)) = record.and_then(|record| Some((record.seed, record.method()?))) else {
            let message = format!("`{}` is not the folder of a run", folder.display());
            return Err(
                Failure::new(message).help("name a folder that `bilo run` made, such as runs/fisher-kpp-0")
            );
        };
        Ok(Resume { folder, seed, method, checkpoint })
    }

    /// The folder to go on in, and the job to go on with. Without a checkpoint the run begins again, which comes to the
    /// same.
    pub(crate) fn folder(&self, path: PathBuf, rerun: Rerun, job: &mut Job) -> Result<RunFolder, Failure> {
        self.require_unfinished()?;
        let folder = RunFolder::new(path, rerun)?;
        let owner = folder.owner(job);
        let kept = match &self.checkpoint {
            Some(file) => Some(checkpoint::read(file, &owner)?),
            None => checkpoint::find(&self.folder, &owner)?,
        };
        Ok(from(kept, folder, job))
    }

    fn require_unfinished(&self) -> Result<(), Failure> {
        let Ok(text) = fs::read_to_string(self.folder.join(OUTCOME)) else { return Ok(()) };
        let Ok(Outcome { stop, .. }) = Outcome::from_json(&text) else { return Ok(()) };
        if matches!(stop, Stop::Interrupted | Stop::TimeLimit) {
            return Ok(());
        }
        let (folder, stop) = (self.folder.display(), stop.name());
        let message = format!("the run in `{folder}` has come to its end ({stop})");
        Err(Failure::new(message).help("nothing was changed; `bilo run` begins another one"))
    }
}

/// The folder of a run of a study: gone on with where that is possible, begun again otherwise.
pub(crate) fn or_begin(path: PathBuf, rerun: Rerun, job: &mut Job) -> Result<RunFolder, Failure> {
    let same = rerun.is_in(&path);
    let folder = RunFolder::new(path, rerun)?;
    // One that cannot be read is as good as none: all runs of a study begin again by themselves.
    let kept = checkpoint::find(folder.path(), &folder.owner(job)).ok().flatten().filter(|_| same);
    Ok(from(kept, folder, job))
}

fn from(kept: Option<Kept>, folder: RunFolder, job: &mut Job) -> RunFolder {
    let Some(Kept { checkpoint, history }) = kept else { return folder };
    job.from = Some(Arc::new(checkpoint));
    folder.going_on(history)
}
