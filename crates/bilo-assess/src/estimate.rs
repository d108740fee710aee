//! What every method returns.

use crate::audit::near;
use crate::outcome::{Audit, LearnedOutcome, OperatorOutcome, StartOutcome};
use crate::predictor::Predictor;
use bilo_fit::stop::{Divergence, Stop};
use bilo_problem::Problem;
use bilo_problem::diagnostic::Result;

/// Where a search ended, and what stands for the solution there.
pub struct Estimate<'a> {
    /// What stands for the solution.
    pub predictor: Box<dyn Predictor<'a> + 'a>,
    /// The problem as it was solved, where a method needs other settings than were stated.
    pub problem: Option<Problem>,
    /// Why the search ended.
    pub stop: Stop,
    /// What was seen, if it diverged.
    pub diverged: Option<Divergence>,
    /// Last value of every loss term by name.
    pub losses: Vec<(String, f64)>,
    /// Steps of pre-training, with the seconds they took.
    pub pretrained: (usize, f64),
    /// Steps of the search, with the seconds they took.
    pub searched: (usize, f64),
    /// Of which kind the local operator is, if there is one.
    pub operator: Option<OperatorOutcome>,
    /// What a neural operator learned from, if there is one.
    pub learned: Option<LearnedOutcome>,
    /// The audit at the guess, or why there is none; nothing if there is nothing to audit.
    pub at_guess: Option<Result<Audit>>,
    /// The operator of the guess beside it.
    pub near: Vec<near::Found>,
    /// What searches from other starts came to, where there were any on the way.
    pub starts: Vec<StartOutcome>,
    /// What is worth knowing already, a sentence each.
    pub notes: Vec<String>,
    /// What deserves attention already, a sentence each.
    pub warnings: Vec<String>,
    /// What helps where the estimate is far from the best fit: what dominates then, and what to do.
    pub remedy: Remedy,
}

/// What makes an estimate differ from the best fit by more than noise, and what helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// What dominates.
    pub dominates: &'static str,
    /// What to do.
    pub helps: &'static str,
}

impl Remedy {
    /// In words.
    pub(crate) fn in_words(self) -> String {
        format!("{}, not noise, dominates: {}, or take the best fit", self.dominates, self.helps)
    }

    /// For networks in training.
    pub const TRAINING: Remedy = Remedy { dominates: "training error", helps: "train longer" };
    /// For one loss of equation and data.
    pub const COMPROMISE: Remedy = Remedy {
        dominates: "the compromise of equation and data",
        helps: "try other weights (train.data-weight)",
    };
    /// For a basis expansion, which is as good a solver as the other.
    pub const SOLVERS: Remedy = Remedy {
        dominates: "what the two solvers differ by",
        helps: "refine the reference solver (classical.cells)",
    };
    /// For neural operators.
    pub const LEARNING: Remedy = Remedy {
        dominates: "the error of the learned operator",
        helps: "give it more examples or train it longer",
    };
}
