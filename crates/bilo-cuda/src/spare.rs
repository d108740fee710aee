//! Large memory that is used again and again: matrices of as many rows as the one before.

use crate::runtime::{CudaError, Memory, Runtime};
use std::sync::{Arc, Mutex};

/// Memory that nobody uses at the moment.
#[derive(Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Vec<Memory>>>);

impl Spare {
    /// So many words, full of whatever was there before.
    pub(crate) fn take(&self, words: usize, runtime: &mut dyn Runtime) -> Result<Kept, CudaError> {
        let mut free = self.0.lock().expect("no holder panicked");
        let memory = match free.iter().position(|memory| memory.words == words) {
            Some(place) => free.swap_remove(place),
            None => {
                // Matrices of another size need not stay beside this one.
                free.clear();
                runtime.allocate(words)?
            }
        };
        Ok(Kept { memory: Some(memory), spare: self.clone() })
    }
}

/// Memory that becomes spare when nobody needs it any more.
pub(crate) struct Kept {
    memory: Option<Memory>,
    spare: Spare,
}

impl Kept {
    /// Where it begins, for kernels.
    pub(crate) fn address(&self) -> u64 {
        self.memory.as_ref().map_or(0, |memory| memory.address)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Ok(mut free) = self.spare.0.lock() {
            free.extend(self.memory.take());
        }
    }
}
