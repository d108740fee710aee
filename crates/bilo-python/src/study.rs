//! Studies: many runs, as `bilo study` does them.

use crate::waiting::quietly;
use bilo::Hardware;
use bilo_cli::{Failure, KEEP_EVERY, Keeping, Signal, StudyTask};
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Runs at a time, threads of each, and the device of all.
type AtATime = (Option<NonZeroUsize>, NonZeroUsize, String);

/// Does the runs of a study file that are not in a folder yet, and fills the folder.
#[pyfunction]
pub(crate) fn study(
    py: Python<'_>,
    file: PathBuf,
    out: PathBuf,
    at_a_time: AtATime,
    progress: bool,
    allow_outside: bool,
) -> PyResult<()> {
    let signal = Signal::default();
    let of_runs = signal.clone();
    quietly(py, &signal, move || {
        let (jobs, threads, device) = at_a_time;
        let task = StudyTask {
            file,
            outside: allow_outside,
            out: None,
            jobs: jobs.map(NonZeroUsize::get),
            threads: threads.get(),
            hardware: device.parse::<Hardware>().map_err(Failure::new)?,
            keeping: Keeping { every: Duration::from_secs_f64(KEEP_EVERY), tensorboard: false },
            json: false,
            progress,
        };
        bilo_cli::study_into(&task, &out, &of_runs)
    })
}
