//! What a run needs beside its problem, from Python.

use bilo::{Hardware, Job, method};
use bilo_cli::Failure;
use pyo3::FromPyObject;
use std::num::NonZeroUsize;

/// The arguments that all runs have: method, seed, threads and device.
#[derive(Clone, FromPyObject)]
pub(crate) struct JobArguments(String, u64, Option<NonZeroUsize>, String);

impl JobArguments {
    pub(crate) fn job(&self) -> Result<Job, Failure> {
        let JobArguments(method, seed, threads, device) = self;
        Ok(Job {
            seed: *seed,
            threads: threads.map(NonZeroUsize::get),
            method: method::named(method).map_err(Failure::new)?,
            hardware: device.parse::<Hardware>().map_err(Failure::new)?,
            ..Job::default()
        })
    }
}
