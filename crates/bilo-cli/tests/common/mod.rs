//! A folder to run the program in, and a problem small enough to train in a test.

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// Exponential decay: u' = -k u, u(0) = 1; the data come from a file, exact for k = 2.
pub(crate) const DECAY: &str = r#"name = "decay"
about = "Rate of decay"

[coordinates]
t = { range = [0.0, 1.0], time = true }

[unknown.k]
guess = 1.0
truth = 2.0
unit = "1/s"

[state.u]
form = "1 + net*t"

[equation.decay]
residual = "u_t + k*u"
points = { grid = { t = 11 } }

[observation.amount]
value = "u"
data = { file = "amount.csv" } # measured

[network]
width = 8
layers = 1

[train]
pretrain-steps = 20
train-steps = 30
record-every = 10

[classical]
cells = 20
steps = 20
"#;

/// A place of its own for a test.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    /// With the decay problem and its data in it.
    pub(crate) fn with_decay() -> Self {
        let place = Self::new();
        place.write("decay.toml", DECAY);
        let rows = (0..=10).map(|i| f64::from(i) / 10.0).map(|t| format!("{t},{}\n", (-2.0 * t).exp()));
        place.write("amount.csv", &format!("t,value\n{}", rows.collect::<String>()));
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// `bilo` with these arguments, separated by blanks, in this folder.
    pub(crate) fn bilo(&self, arguments: &str) -> Said {
        let mut command = Command::cargo_bin("bilo").unwrap();
        Said::from(command.current_dir(self.path()).args(arguments.split_whitespace()).output().unwrap())
    }
}

/// What a run of the program said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// Fails the test unless the program succeeded.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Fails the test unless the program ended with this code.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}
