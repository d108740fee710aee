//! `run.json`: which run a folder is of. With the problem file beside it, it can be repeated to the bit.

use crate::files::RUN;
use bilo::problem::Problem;
use bilo::{Job, Method};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::{fs, io};

/// The number of the format that this version writes.
const FORMAT: u32 = 1;

/// What a run was started with, beside its problem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Number of the format.
    pub format: u32,
    /// The version of the program.
    pub version: String,
    /// Name of the method.
    pub method: String,
    /// The seed of everything random.
    pub seed: u64,
    /// Name of the recipe.
    pub recipe: String,
    /// The command line.
    pub command: Vec<String>,
}

impl RunRecord {
    /// A run that begins, by a program of some version.
    pub fn of(problem: &Problem, job: &Job, version: &str) -> RunRecord {
        RunRecord {
            format: FORMAT,
            version: version.to_owned(),
            method: job.method.name().to_owned(),
            seed: job.seed,
            recipe: problem.training.recipe.name().to_owned(),
            command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        }
    }

    /// That of a folder, if it is one's of a run.
    pub fn read(folder: &Path) -> Option<RunRecord> {
        serde_json::from_str(&fs::read_to_string(folder.join(RUN)).ok()?).ok()
    }

    /// Writes it into a folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).expect("plain data");
        fs::write(folder.join(RUN), text + "\n")
    }

    /// Whether another one comes to the same result, whatever command asked for it.
    pub fn is_of_the_same_run(&self, other: &RunRecord) -> bool {
        let without_command = |record: &RunRecord| RunRecord { command: vec![], ..record.clone() };
        without_command(self) == without_command(other)
    }

    /// The method, if this version has it.
    pub fn method(&self) -> Option<&'static dyn Method> {
        bilo::method::named(&self.method).ok()
    }
}
