//! What a run needs beside its problem, from Python.

use bilo::{Hardware, Job, method};
use bilo_cli::Failure;
use std::num::NonZeroUsize;

/// The arguments that all runs have.
#[derive(Clone, pyo3::FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct JobArguments {
    method: String,
    seed: u64,
    threads: Option<NonZeroUsize>,
    device: String,
}

impl JobArguments {
    pub(crate) fn job(&self) -> Result<Job, Failure> {
        Ok(Job {
            seed: self.seed,
            threads: self.threads.map(NonZeroUsize::get),
            method: method::named(&self.method).map_err(Failure::new)?,
            hardware: self.device.parse::<Hardware>().map_err(Failure::new)?,
            ..Job::default()
        })
    }
}
