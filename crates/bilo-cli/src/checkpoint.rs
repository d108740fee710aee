//! Checkpoints in a run's folder: a safetensors file with all that later steps of training depend on, from which a
//! killed run goes on to the same bits.
//!
//! The file has one array of float64 for each list of numbers. Its metadata have one entry, `bilo`: the CRC-32 of all that
//! follows and of the arrays with their names, then JSON about the run. A file is written whole beside the one before it
//! and then takes its name, so that there is a whole one at any moment.

mod file;
mod keeper;

pub(crate) use file::Owner;
pub(crate) use keeper::Keeper;
pub use keeper::Keeping;

use crate::failure::Failure;
use crate::files;
use bilo::checkpoint::Checkpoint;
use std::fs;
use std::path::Path;

pub(crate) const CHECKPOINT: &str = "checkpoint.safetensors";
/// The one before.
pub(crate) const EARLIER: &str = "checkpoint-earlier.safetensors";
/// One that is being written.
const UNFINISHED: &str = "checkpoint.part";

/// Larger than any that is written: the weights of a billion numbers.
const MOST_BYTES: u64 = 1 << 33;

/// All files of this module.
pub(crate) const FILES: [&str; 3] = [CHECKPOINT, EARLIER, UNFINISHED];

/// A checkpoint, and how long the history was.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) history: u64,
}

/// The checkpoint of a folder, if it has one.
pub(crate) fn find(folder: &Path, owner: &Owner) -> Result<Option<Kept>, Failure> {
    // Between the two names of a file that is written there may be the earlier one only.
    for name in [CHECKPOINT, EARLIER] {
        if folder.join(name).is_file() {
            return read(&folder.join(name), owner).map(Some);
        }
    }
    Ok(None)
}

/// Reads a checkpoint of a run.
pub(crate) fn read(path: &Path, owner: &Owner) -> Result<Kept, Failure> {
    let length = fs::metadata(path).map_err(Failure::file("read", path))?.len();
    if length > MOST_BYTES {
        return Err(Failure::new(format!("`{}` is too large for a checkpoint", path.display())));
    }
    let bytes = fs::read(path).map_err(Failure::file("read", path))?;
    file::decode(&bytes, owner).map_err(|why| {
        let failure = Failure::new(format!("cannot go on from `{}`: {why}", path.display()));
        let earlier = path.with_file_name(EARLIER);
        match earlier.is_file() && path != earlier {
            true => failure.help(format!(
                "nothing was changed; the one before it may be whole: bilo run --resume {}",
                earlier.display()
            )),
            false => failure.help("nothing was changed; `bilo run` begins again"),
        }
    })
}

/// Removes those of a run that has come to its end.
pub(crate) fn remove(folder: &Path) -> Result<(), Failure> {
    files::remove(&FILES.map(|name| folder.join(name)))
}
