//! Why a search ended.

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The unknowns and the losses settled.
    Converged,
    /// All steps were taken.
    Steps,
    /// The time limit was reached.
    TimeLimit,
    /// The observer asked for it.
    Interrupted,
    /// A loss or an unknown was no longer finite or left all bounds; the state of the step before
    /// is what the outcome reports.
    Diverged {
        /// The last step whose state was good.
        last_good_step: usize,
        /// What was seen.
        reason: String,
    },
}

impl Stop {
    /// The name in `outcome.json`.
    pub fn name(&self) -> &'static str {
        match self {
            Stop::Converged => "converged",
            Stop::Steps => "steps",
            Stop::TimeLimit => "time-limit",
            Stop::Interrupted => "interrupted",
            Stop::Diverged { .. } => "diverged",
        }
    }
}
