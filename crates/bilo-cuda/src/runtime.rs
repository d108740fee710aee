//! What the device asks of the machine below it: memory, programs, launches. One machine is a GPU ([`driver`](crate::driver));
//! tests have another, which runs the same text on the host.

use bilo_jet::{Fault, Precision};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Why a device cannot be had, or is lost.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum CudaError {
    /// No driver on this machine.
    #[error("no CUDA driver is installed here (libcuda was not found)")]
    NoDriver,
    /// The driver finds no card of that number.
    #[error("there is no GPU {wanted} here: the driver finds {found}")]
    NoDevice {
        /// The number asked for.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
    /// The card lacks what the kernels use: copies to shared memory beside the arithmetic.
    #[error(
        "GPU {ordinal} has compute capability {major}.{minor}, and the kernels need 8.0 (cards since 2020)"
    )]
    TooOld {
        /// Its number.
        ordinal: usize,
        /// Its compute capability.
        major: i32,
        /// The digit after the point.
        minor: i32,
    },
    /// No run-time compiler.
    #[error(
        "NVRTC, the run-time compiler of the CUDA toolkit (libnvrtc), was not found; install it or put its folder into LD_LIBRARY_PATH"
    )]
    NoCompiler,
    /// A kernel does not compile.
    #[error(
        "a generated kernel does not compile; it is kept in {kept}: please report it with the problem file\n{log}"
    )]
    Compile {
        /// What the compiler says.
        log: String,
        /// Where the text is.
        kept: String,
    },
    /// The card has too little memory.
    #[error(
        "the GPU has {free} MB free and {needed} MB are needed; a smaller `network.width` or fewer points need less"
    )]
    Memory {
        /// MB that are needed.
        needed: usize,
        /// MB that are there.
        free: usize,
    },
    /// Anything else the driver reports.
    #[error("the GPU stopped working: {0}")]
    Driver(String),
}

impl From<CudaError> for Fault {
    fn from(error: CudaError) -> Self {
        Fault::new(error.to_string())
    }
}

/// Memory of a machine, in words of eight bytes.
pub(crate) struct Memory {
    /// Where it begins, for kernels.
    pub(crate) address: u64,
    /// How long it is.
    pub(crate) words: usize,
    /// What frees it.
    pub(crate) owner: Box<dyn Any + Send>,
    tally: Tally,
}

impl Memory {
    /// Counted for as long as it lives.
    pub(crate) fn new(address: u64, words: usize, owner: Box<dyn Any + Send>, tally: &Tally) -> Self {
        tally.add(words);
        Memory { address, words, owner, tally: tally.clone() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.tally.0.now.fetch_sub(self.words, Ordering::Relaxed);
    }
}

/// How much memory there is, and how much there was at most.
#[derive(Clone, Default)]
pub(crate) struct Tally(Arc<Words>);

#[derive(Default)]
struct Words {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Tally {
    fn add(&self, words: usize) {
        let now = self.0.now.fetch_add(words, Ordering::Relaxed) + words;
        self.0.most.fetch_max(now, Ordering::Relaxed);
    }

    /// The most bytes at a time.
    pub(crate) fn most_bytes(&self) -> u64 {
        8 * self.0.most.load(Ordering::Relaxed) as u64
    }
}

/// A kernel, its blocks, and the address of its list of words.
pub(crate) type Launch = (KernelId, usize, u64);

/// A kernel that a machine has loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelId(pub(crate) usize);

/// A machine.
pub(crate) trait Runtime: Send {
    /// In words.
    fn description(&self) -> String;

    /// How many processors there are, each of which runs one block or several.
    fn multiprocessors(&self) -> usize;

    /// Threads of a block.
    fn threads(&self) -> usize;

    /// Compiles a text and loads the kernels of these names, whose blocks have so many bytes of shared memory; perhaps
    /// beside other work, until the first launch.
    fn load(&mut self, source: &str, names: &[&str], shared: usize) -> Result<Vec<KernelId>, CudaError>;

    /// The memory that was taken.
    fn tally(&self) -> &Tally;

    /// Memory full of zeros.
    fn allocate(&mut self, words: usize) -> Result<Memory, CudaError>;

    /// Copies to the beginning of some memory.
    fn write(&mut self, memory: &mut Memory, words: &[u64]) -> Result<(), CudaError>;

    /// Copies from the beginning of some memory, after all launches before.
    fn read(&mut self, memory: &Memory, words: &mut [u64]) -> Result<(), CudaError>;

    /// Runs a kernel with one argument, the address of its list of words, after all launches before.
    fn launch(&mut self, kernel: KernelId, blocks: usize, args: u64) -> Result<(), CudaError>;

    /// Runs the first of some kernels, and beside it the others, one after the other.
    fn launch_beside(&mut self, launches: &[Launch]) -> Result<(), CudaError>;

    /// From here on launches are noted down instead of run.
    fn begin_record(&mut self) -> Result<(), CudaError>;

    /// Ends a record.
    fn end_record(&mut self) -> Result<RecordId, CudaError>;

    /// Runs the launches of a record.
    fn replay(&mut self, record: RecordId) -> Result<(), CudaError>;
}

/// Launches that were noted down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordId(pub(crate) usize);

/// Numbers of a precision as words.
pub(crate) fn reals(values: &[f64], precision: Precision) -> Vec<u64> {
    match precision {
        Precision::F64 => doubles(values),
        Precision::F32 | Precision::Tf32 => {
            let bits: Vec<u32> = values.iter().map(|&value| (value as f32).to_bits()).collect();
            halves(&bits)
        }
    }
}

/// Words of doubles.
pub(crate) fn doubles(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Two to a word, the first in its lower half, as memory has them.
pub(crate) fn halves(values: &[u32]) -> Vec<u64> {
    let word = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
    values.chunks(2).map(word).collect()
}

/// Words of a number of reals.
pub(crate) fn words_of(reals: usize, precision: Precision) -> usize {
    match precision {
        Precision::F32 | Precision::Tf32 => reals.div_ceil(2),
        Precision::F64 => reals,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_counts_for_as_long_as_it_lives() {
        let tally = Tally::default();
        let memory = |words| Memory::new(0, words, Box::new(()), &tally);
        let first = memory(100);
        drop(memory(50));
        drop(memory(20));
        assert_eq!(tally.most_bytes(), 1200);
        drop(first);
        let _last = memory(120);
        assert_eq!(tally.most_bytes(), 1200);
    }
}
