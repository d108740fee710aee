//! The verdict on a run.

use serde::{Deserialize, Serialize};

/// Whether the answer may be used, and why not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The worst colour of all reasons.
    pub colour: Colour,
    /// What speaks against the answer, the worst first; what else is to be said of its tests at the end.
    pub reasons: Vec<Reason>,
}

/// Whether an answer may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// Everything was tested and passed.
    Green,
    /// Something needs a look.
    #[default]
    Orange,
    /// The answer must not be used.
    Red,
}

impl Colour {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Colour::Green => "green",
            Colour::Orange => "orange",
            Colour::Red => "red",
        }
    }
}

/// One reason of a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// How much it matters.
    pub colour: Colour,
    /// What it is about.
    pub kind: ReasonKind,
    /// In words.
    pub sentence: String,
    /// What to do about it; empty if that depends.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub help: String,
}

/// What a reason is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReasonKind {
    /// The search diverged.
    Diverged,
    /// The search was interrupted.
    Interrupted,
    /// The search ended elsewhere than at a minimum.
    NotConverged,
    /// There is no second solver, or it failed.
    NoReference,
    /// What stands for the solution and the reference solver disagree.
    SolversDisagree,
    /// The reference solver found no best fit.
    NoBestFit,
    /// The error of the reference solver's grid is not small beside the error bars.
    Discretisation,
    /// The data are not fitted within their errors.
    Misfit,
    /// The data are fitted better than their errors allow.
    TooGood,
    /// The residuals have a pattern.
    Structure,
    /// Single residuals are too large.
    Outliers,
    /// Rows of the data repeat earlier ones.
    RepeatedRows,
    /// The data do not determine the unknowns.
    NotIdentified,
    /// The data hardly determine the unknowns.
    HardlyIdentified,
    /// An unknown is decades away from its guess.
    RanAway,
    /// Other values fit the data as well.
    SeveralMinima,
    /// An estimate is at its bound.
    AtBound,
    /// Something was not tested.
    Untested,
    /// The data have no noise, so that there is nothing to test.
    NoNoise,
}

/// Another minimum of the data loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Minimum {
    /// Each unknown number by name; of another name for one answer those that differ.
    #[serde(with = "super::json::numbers")]
    pub unknowns: Vec<(String, f64)>,
    /// How much lower its log-likelihood is than that of the best one.
    pub log_likelihood_below: f64,
    /// Whether equations and observed values are the same with these values, so that no data tell them from the estimate.
    #[serde(default)]
    pub same_equations: bool,
}

/// A search from one of several starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StartOutcome {
    /// Where it began: the unknown numbers.
    #[serde(deserialize_with = "super::json::list")]
    pub start: Vec<f64>,
    /// Where it ended.
    #[serde(deserialize_with = "super::json::list")]
    pub end: Vec<f64>,
    /// The log-likelihood there; none if the equations could not be solved on the way.
    pub log_likelihood: Option<f64>,
    /// Whether it came to a minimum.
    pub converged: bool,
}

impl Minimum {
    /// Its unknowns.
    pub fn in_words(&self) -> String {
        let each = self.unknowns.iter();
        let each: Vec<String> =
            each.map(|(name, value)| format!("{name} = {}", bilo_problem::text::digits(*value, 4))).collect();
        each.join(", ")
    }
}
