//! Chains in a run's folder: for each its state, replaced as a whole, and its draws, to which is only added.
//!
//! A state says how many draws belong to it. What a killed program wrote beyond is cut off when the chain is taken up, and
//! drawn again to the same bits.

use crate::files::CHAIN;
use bilo::posterior::{Chain, Kept, Storage};
use bilo::{Error, diagnostic::Result};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The chains of a folder.
pub(super) struct ChainFiles {
    folder: PathBuf,
    /// Numbers of a position.
    dimension: usize,
}

impl ChainFiles {
    pub(super) fn new(folder: &Path, dimension: usize) -> ChainFiles {
        ChainFiles { folder: folder.to_path_buf(), dimension }
    }

    fn state(&self, chain: usize) -> PathBuf {
        self.folder.join(format!("{CHAIN}{chain}.json"))
    }

    fn draws_file(&self, chain: usize) -> PathBuf {
        self.folder.join(format!("{CHAIN}{chain}.draws"))
    }

    /// Bytes of a draw.
    fn size(&self) -> usize {
        8 * (self.dimension + 7)
    }

    /// A chain as it is stored, and how many draws are its own.
    fn stored(&self, chain: usize) -> Option<(Chain, usize)> {
        let text = fs::read_to_string(self.state(chain)).ok()?;
        let stored: (Chain, usize) = serde_json::from_str(&text).ok()?;
        let written = fs::metadata(self.draws_file(chain)).map_or(0, |file| file.len());
        (written >= (stored.1 * self.size()) as u64).then_some(stored)
    }
}

impl Storage for ChainFiles {
    fn take_up(&self, chain: usize) -> Result<Option<Chain>> {
        let path = self.draws_file(chain);
        let stored = self.stored(chain);
        let length = stored.as_ref().map_or(0, |(_, draws)| draws * self.size());
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        file.and_then(|file| file.set_len(length as u64)).map_err(|error| Error::io(&path, &error))?;
        Ok(stored.map(|(chain, _)| chain))
    }

    fn keep(&self, chain: usize, state: &Chain, draws: &[Kept]) -> Result<()> {
        let path = self.draws_file(chain);
        let bytes: Vec<u8> = draws.iter().flat_map(numbers).flat_map(f64::to_le_bytes).collect();
        let mut file =
            OpenOptions::new().append(true).open(&path).map_err(|error| Error::io(&path, &error))?;
        file.write_all(&bytes).map_err(|error| Error::io(&path, &error))?;
        let written = file.metadata().map_err(|error| Error::io(&path, &error))?.len();
        let stored = (state, written as usize / self.size());
        let (part, whole) = (self.folder.join(format!("{CHAIN}{chain}.part")), self.state(chain));
        let text = serde_json::to_string(&stored).expect("plain data");
        fs::write(&part, text)
            .and_then(|()| fs::rename(&part, &whole))
            .map_err(|error| Error::io(&whole, &error))
    }

    fn draws(&self, chain: usize) -> Result<Vec<Kept>> {
        let path = self.draws_file(chain);
        let bytes = fs::read(&path).map_err(|error| Error::io(&path, &error))?;
        let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let numbers: Vec<f64> = bytes.chunks_exact(8).map(number).collect();
        Ok(numbers.chunks_exact(self.dimension + 7).map(|row| kept(row, self.dimension)).collect())
    }
}

fn numbers(draw: &Kept) -> Vec<f64> {
    let mut row = draw.position.clone();
    row.extend([
        draw.log_density,
        draw.energy,
        draw.depth as f64,
        draw.steps as f64,
        draw.accepted,
        draw.step_length,
        f64::from(u8::from(draw.diverged)),
    ]);
    row
}

fn kept(row: &[f64], dimension: usize) -> Kept {
    let rest = &row[dimension..];
    Kept {
        position: row[..dimension].to_vec(),
        log_density: rest[0],
        energy: rest[1],
        depth: rest[2] as usize,
        steps: rest[3] as usize,
        accepted: rest[4],
        step_length: rest[5],
        diverged: rest[6] != 0.0,
    }
}
