//! Why a search ended.

use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The unknowns and the losses stand still.
    Converged,
    /// All steps were taken.
    #[default]
    Steps,
    /// The time limit was reached.
    TimeLimit,
    /// Somebody asked for it.
    Interrupted,
    /// A loss or an unknown was no longer finite or left all bounds: see [`Divergence`].
    Diverged,
}

/// What was seen when a run diverged; the state of the step before is what the outcome reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// The last step whose state was good.
    pub last_good_step: usize,
    /// What was seen.
    pub reason: String,
}

impl Stop {
    /// The name in `outcome.json`.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Converged => "converged",
            Stop::Steps => "steps",
            Stop::TimeLimit => "time-limit",
            Stop::Interrupted => "interrupted",
            Stop::Diverged => "diverged",
        }
    }
}
