//! Recipes: sets of defaults.

use crate::words::{Words, words};

/// Which set of defaults a run starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// The paper's settings.
    Paper,
    /// The best settings known for a few CPU cores: a small network with residual connections bears ten times the
    /// paper's learning rate, and so do the unknowns; falling rates then remove the noise that large steps leave.
    Fast,
}

words!(Recipe { "paper" => Paper, "fast" => Fast });

impl Recipe {
    /// Its name in a problem file.
    pub fn name(self) -> &'static str {
        self.word()
    }
}
