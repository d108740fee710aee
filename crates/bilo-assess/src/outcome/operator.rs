//! What stood for the solution.

use super::json::{number, pairs};
use bilo_operator::implicit::Work;
use bilo_operator::operator::Size;
use bilo_problem::Problem;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Of which kind a local operator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Networks.
    Network,
    /// A basis expansion.
    Dictionary,
}

impl Kind {
    /// Its name in `outcome.json`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Network => "network",
            Kind::Dictionary => "dictionary",
        }
    }
}

/// What solved the equations where the unknowns were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolvedBy {
    /// Networks.
    #[default]
    Network,
    /// A basis expansion.
    Dictionary,
    /// A neural operator that learned from examples.
    LearnedOperator,
    /// The reference solver alone.
    ReferenceSolver,
}

impl SolvedBy {
    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            SolvedBy::Network => "network",
            SolvedBy::Dictionary => "dictionary",
            SolvedBy::LearnedOperator => "learned operator",
            SolvedBy::ReferenceSolver => "reference solution",
        }
    }
}

/// What stood for the solution as a function of coordinates and unknowns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorOutcome {
    /// Of which kind it is.
    pub kind: Kind,
    /// Why it is what it is, if the program chose it.
    pub why: Option<String>,
    /// What a dictionary held.
    #[serde(flatten)]
    pub dictionary: Option<DictionaryOutcome>,
    /// What it took to solve for the weights, if they were solved for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
}

/// What a dictionary held, and how well that was enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DictionaryOutcome {
    /// Name of the features.
    pub basis: Cow<'static, str>,
    /// Functions along each coordinate and of each extra input, by name; none for ridge functions.
    #[serde(with = "pairs")]
    pub modes: Vec<(String, usize)>,
    /// Number of features.
    pub features: usize,
    /// Root mean square of the residuals at points where they were not made small.
    #[serde(deserialize_with = "number")]
    pub residual: f64,
    /// Relative change of the solution from the dictionary before, if there was one.
    pub change: Option<f64>,
}

impl OperatorOutcome {
    /// Networks, with what it took to solve for their weights if they were not trained.
    pub fn network(work: Option<Work>) -> OperatorOutcome {
        OperatorOutcome { kind: Kind::Network, why: None, dictionary: None, work }
    }

    /// A dictionary of some size, with the residual it leaves and the change from the one before.
    pub fn dictionary(
        problem: &Problem,
        size: &Size,
        residual: f64,
        change: Option<f64>,
        work: Work,
    ) -> OperatorOutcome {
        let names = problem.coordinates.iter().map(|c| &c.name).chain(problem.inputs.iter().map(|i| &i.name));
        let modes = match size {
            Size::Modes(modes) => names.cloned().zip(modes.iter().copied()).collect(),
            Size::Ridges(_) => vec![],
        };
        let basis = Cow::Borrowed(problem.operator.dictionary.basis.name());
        let dictionary = DictionaryOutcome { basis, modes, features: size.features(), residual, change };
        OperatorOutcome { kind: Kind::Dictionary, why: None, dictionary: Some(dictionary), work: Some(work) }
    }
}

/// What a neural operator learned from, and how well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedOutcome {
    /// Solved examples.
    pub examples: usize,
    /// Whether they were there from an earlier run.
    pub cached: bool,
    /// Numbers that were trained, complex ones counted once.
    pub numbers: usize,
    /// Steps of training.
    pub steps: usize,
    /// Relative error over the examples trained on.
    #[serde(deserialize_with = "number")]
    pub training_error: f64,
    /// Relative error over those held back.
    pub validation_error: Option<f64>,
    /// Wall-clock times.
    pub seconds: LearnedSeconds,
}

/// Wall-clock seconds of a neural operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LearnedSeconds {
    /// Those that the examples took.
    pub examples: f64,
    /// Those of training.
    pub learning: f64,
}
