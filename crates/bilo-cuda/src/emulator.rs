//! A machine for tests: the generated text, compiled by the system's C++ compiler for one thread that is every block in
//! turn. It has no speed and no races, but every formula of the kernels.

use crate::runtime::{CudaError, KernelId, Launch, Memory, RecordId, Runtime, Tally};
use libloading::{Library, Symbol};
use std::process::Command;

/// More than one, so that sums over blocks are tested.
const MULTIPROCESSORS: usize = 3;

pub(crate) struct Emulator {
    folder: tempfile::TempDir,
    libraries: Vec<Library>,
    /// Library and name.
    kernels: Vec<(usize, String)>,
    records: Vec<Vec<Launch>>,
    recording: bool,
    /// Launches until it fails.
    left: usize,
    tally: Tally,
}

impl Emulator {
    /// None where there is no C++ compiler.
    pub(crate) fn new() -> Option<Self> {
        let there = Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success());
        let folder = tempfile::tempdir().expect("a temporary folder");
        there.then_some(Self {
            folder,
            libraries: vec![],
            kernels: vec![],
            records: vec![],
            recording: false,
            left: usize::MAX,
            tally: Tally::default(),
        })
    }

    /// One that stops working after so many launches.
    pub(crate) fn failing_after(self, launches: usize) -> Self {
        Self { left: launches, ..self }
    }
}

impl Runtime for Emulator {
    fn description(&self) -> String {
        "the host in place of a GPU".into()
    }

    fn multiprocessors(&self) -> usize {
        MULTIPROCESSORS
    }

    fn threads(&self) -> usize {
        1
    }

    fn load(&mut self, source: &str, names: &[&str], _: usize) -> Result<Vec<KernelId>, CudaError> {
        let number = self.libraries.len();
        let [text, library] =
            ["cpp", "so"].map(|end| self.folder.path().join(format!("kernel{number}.{end}")));
        std::fs::write(&text, source).expect("a temporary file");
        let output = Command::new("c++")
            .args(["-O0", "-std=c++17", "-shared", "-fPIC", "-DBILO_HOST", "-Wno-unknown-pragmas", "-o"])
            .args([&library, &text])
            .output()
            .expect("the compiler was there");
        if !output.status.success() {
            let log = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(CudaError::Compile { log, kept: text.display().to_string() });
        }
        // SAFETY: the library has nothing that runs when it is loaded.
        self.libraries.push(unsafe { Library::new(&library) }.expect("it was just made"));
        let first = self.kernels.len();
        self.kernels.extend(names.iter().map(|name| (number, (*name).to_string())));
        Ok((first..self.kernels.len()).map(KernelId).collect())
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn allocate(&mut self, words: usize) -> Result<Memory, CudaError> {
        // Numbers of sixteen bytes, so that quads are aligned.
        let mut owner = vec![0_u128; words.div_ceil(2).max(1)];
        let address = owner.as_mut_ptr() as u64;
        Ok(Memory::new(address, words, Box::new(owner), &self.tally))
    }

    fn write(&mut self, memory: &mut Memory, words: &[u64]) -> Result<(), CudaError> {
        let target = memory.owner.downcast_mut::<Vec<u128>>().expect("allocated here");
        for (target, pair) in target.iter_mut().zip(words.chunks(2)) {
            let high = pair.get(1).map_or(*target >> 64, |&high| u128::from(high));
            *target = high << 64 | u128::from(pair[0]);
        }
        Ok(())
    }

    fn read(&mut self, memory: &Memory, words: &mut [u64]) -> Result<(), CudaError> {
        let source = memory.owner.downcast_ref::<Vec<u128>>().expect("allocated here");
        for (pair, source) in words.chunks_mut(2).zip(source) {
            pair[0] = *source as u64;
            if let Some(high) = pair.get_mut(1) {
                *high = (*source >> 64) as u64;
            }
        }
        Ok(())
    }

    fn launch(&mut self, kernel: KernelId, blocks: usize, args: u64) -> Result<(), CudaError> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or_else(|| CudaError::Driver("unplugged".into()))?;
        let launch = (kernel, blocks, args);
        match self.recording {
            true => self.records.last_mut().expect("it has begun").push(launch),
            false => self.run(launch),
        }
        Ok(())
    }

    fn launch_beside(&mut self, launches: &[Launch]) -> Result<(), CudaError> {
        launches.iter().try_for_each(|&(kernel, blocks, args)| self.launch(kernel, blocks, args))
    }

    fn begin_record(&mut self) -> Result<(), CudaError> {
        self.records.push(vec![]);
        self.recording = true;
        Ok(())
    }

    fn end_record(&mut self) -> Result<RecordId, CudaError> {
        self.recording = false;
        Ok(RecordId(self.records.len() - 1))
    }

    fn replay(&mut self, record: RecordId) -> Result<(), CudaError> {
        for launch in self.records[record.0].clone() {
            self.run(launch);
        }
        Ok(())
    }
}

impl Emulator {
    /// One block after the other.
    fn run(&self, (kernel, blocks, args): Launch) {
        let (library, name) = &self.kernels[kernel.0];
        let library = &self.libraries[*library];
        // SAFETY: both have these types in the generated text; addresses in the list are those of memory that the
        // device holds.
        unsafe {
            let place: Symbol<'_, unsafe extern "C" fn(u32, u32)> =
                library.get(b"place").expect("in the prelude");
            let run: Symbol<'_, unsafe extern "C" fn(u64)> = library.get(name.as_bytes()).expect("a kernel");
            for block in 0..blocks {
                place(block as u32, blocks as u32);
                run(args);
            }
        }
    }
}
