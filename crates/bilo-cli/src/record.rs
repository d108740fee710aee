//! `run.json`: which run a folder is of. With the problem file beside it, it can be repeated to the bit.

use crate::failure::Failure;
use crate::files::RUN;
use bilo::problem::Problem;
use bilo::{Job, Method};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The number of the format that this version writes.
const FORMAT: u32 = 1;

/// What a run was started with, beside its problem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    /// Number of the format.
    format: u32,
    /// The version of the program.
    version: String,
    /// Name of the method.
    method: String,
    /// The seed of everything random.
    seed: u64,
    /// Name of the recipe.
    recipe: String,
    /// The command line.
    command: Vec<String>,
}

impl RunRecord {
    /// A run that begins.
    pub(crate) fn of(problem: &Problem, job: &Job) -> RunRecord {
        RunRecord {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            method: job.method.name().to_owned(),
            seed: job.seed,
            recipe: problem.training.recipe.name().to_owned(),
            command: std::env::args().collect(),
        }
    }

    /// That of a folder, if it is one's of a run.
    pub(crate) fn read(folder: &Path) -> Option<RunRecord> {
        serde_json::from_str(&fs::read_to_string(folder.join(RUN)).ok()?).ok()
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let file = folder.join(RUN);
        let text = serde_json::to_string_pretty(self).expect("plain data");
        fs::write(&file, text + "\n").map_err(Failure::file("write", &file))
    }

    /// Whether another one comes to the same result, whatever command asked for it.
    pub(crate) fn is_of_the_same_run(&self, other: &RunRecord) -> bool {
        let without_command = |record: &RunRecord| RunRecord { command: vec![], ..record.clone() };
        without_command(self) == without_command(other)
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// The method, if this version has it.
    pub(crate) fn method(&self) -> Option<&'static dyn Method> {
        bilo::method::named(&self.method).ok()
    }
}
