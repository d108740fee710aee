//! What the checks after a run found: agreement of the states, fit of the data, audit of the gradient, noise.

use super::json::{Named, list, named, number};
use serde::{Deserialize, Serialize};

/// The result for one state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateOutcome {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// ||u_NN - u_classical|| / ||u_classical|| with the classical solution at the estimate; none
    /// if the reference solver failed (see [`Outcome::classical_failure`](super::Outcome::classical_failure)), if it put
    /// the state in terms of others, or if there is no network to compare with it.
    pub relative_l2_vs_classical: Option<f64>,
    /// That distance at the final time alone, if there is a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_l2_at_end: Option<f64>,
}

impl StateOutcome {
    /// A state of which there is the classical solution only.
    pub fn alone(name: &str) -> StateOutcome {
        StateOutcome { name: name.to_owned(), ..StateOutcome::default() }
    }
}

/// The data loss of one observation at the estimate: for normal errors the mean of ((value - data)/sigma)².
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MisfitOutcome {
    /// The observation.
    #[serde(skip)]
    pub name: String,
    /// By the network's solution, if there is a network.
    pub network: Option<f64>,
    /// By the classical solution, if there is one.
    pub classical: Option<f64>,
    /// For a segmentation, the overlap 2 |A and B| / (|A| + |B|) of the network's and the observed set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dice_network: Option<f64>,
    /// For a segmentation, the overlap of the classical solution's and the observed set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dice_classical: Option<f64>,
    /// Value by value; in a file of its own.
    #[serde(skip)]
    pub fit: Fit,
}

/// What was observed, and what the solutions at the estimate say instead, place by place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// Name and values of each coordinate.
    pub coordinates: Vec<(String, Vec<f64>)>,
    /// The data; none for particles, whose places are the data.
    pub data: Option<Vec<f64>>,
    /// Their standard deviations, if they have such.
    pub sigma: Option<Vec<f64>>,
    /// By the network's solution, if there is a network.
    pub network: Option<Vec<f64>>,
    /// By the classical solution, if there is one.
    pub classical: Option<Vec<f64>>,
}

/// The error that the reference solver's grid makes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Discretisation {
    /// By how much the grid moves each unknown number, up or down; empty if unknown.
    #[serde(deserialize_with = "list")]
    pub shift: Vec<f64>,
    /// The order of convergence that this follows from: that of the scheme, or what three grids show.
    pub order: f64,
    /// By how much larger the shift may be: more than one where three grids do not show the order of the scheme, so that what
    /// follows from them is uncertain.
    pub safety: f64,
    /// Whether four grids show the same order.
    #[serde(default)]
    pub settled: bool,
    /// How many grids were solved on; where only one has a solution the error is not known.
    pub grids: usize,
    /// Cells of the finest one.
    pub cells: Vec<usize>,
    /// Its steps in time.
    pub steps: usize,
    /// Whether it is finer than stated.
    pub refined: bool,
    /// Whether no unknown moves by more than a tenth of its error bar.
    pub enough: bool,
    /// By how much the grid moves each unknown function, in root mean squares of its error bars; empty if unknown.
    #[serde(default, deserialize_with = "list")]
    pub of_functions: Vec<f64>,
}

/// The weight of a regulariser that the data chose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegularisationOutcome {
    /// The unknown function.
    #[serde(skip)]
    pub name: String,
    /// The weight that the search was made with.
    pub weight: f64,
    /// The weight of the largest evidence near the estimate: the same, if the choice has settled.
    pub by_evidence: f64,
    /// The weight that leaves residuals as large as the noise, if that is known and there is one.
    pub by_discrepancy: Option<f64>,
    /// The weight at the corner of the L-curve, if it has one.
    pub by_l_curve: Option<f64>,
    /// The logarithm of the evidence of the weight, up to what does not depend on regularisers.
    #[serde(deserialize_with = "number")]
    pub log_evidence: f64,
    /// Of a Gaussian field: standard deviation and length.
    pub field: Option<(f64, f64)>,
}

/// Where an audit was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum At {
    /// At the guess, after pre-training.
    Guess,
    /// At the estimate.
    Estimate,
}

impl At {
    /// Its name in `outcome.json`.
    pub fn name(self) -> &'static str {
        match self {
            At::Guess => "guess",
            At::Estimate => "estimate",
        }
    }
}

/// d L_data/d eta at fixed W against the derivative under the exact PDE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// Where.
    pub at: At,
    /// Cosine of the angle between the two gradients.
    #[serde(deserialize_with = "number")]
    pub cosine: f64,
    /// |network - classical| / |classical|.
    #[serde(deserialize_with = "number")]
    pub relative_error: f64,
    /// Whether the classical gradient is smaller than what the (small) distance of the operator's values
    /// from the classical ones can make, or as good as zero: then its direction says nothing about the operator.
    pub below_noise: bool,
}

/// What the operator of the guess is where unknowns have other values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// These values, in words.
    pub at: String,
    /// Each state that the reference solver solves for.
    #[serde(with = "named")]
    pub states: Vec<NearState>,
}

/// A state by the operator of the guess.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearState {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// Relative L2 distance of the operator from the classical solution there.
    #[serde(deserialize_with = "number")]
    pub relative_l2_vs_classical: f64,
    /// That of the classical solution at the guess: what is left if nothing moves.
    #[serde(deserialize_with = "number")]
    pub relative_l2_of_guess: f64,
}

/// Where the size of an observation's noise is known from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseSource {
    /// The column `sigma` of its data.
    Sigma,
    /// The noise that its synthetic data are stated to have.
    Stated,
    /// What the solution leaves of the data.
    #[default]
    Residuals,
    /// The likelihood of the observation, which has no errors of a size.
    Likelihood,
    /// There is none: synthetic data without noise.
    None,
}

/// The noise of an observation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// The observation.
    #[serde(skip)]
    pub observation: String,
    /// Where its size is known from.
    pub source: NoiseSource,
    /// Its standard deviation, the root mean square where it differs from value to value; none where the
    /// data are no values with errors, or too few to tell.
    pub sd: Option<f64>,
    /// The standard error of that, where it was estimated.
    #[serde(default)]
    pub sd_error: Option<f64>,
    /// The dispersion of counts that have one.
    #[serde(default)]
    pub dispersion: Option<f64>,
    /// The standard error of that, where it was estimated.
    #[serde(default)]
    pub dispersion_error: Option<f64>,
    /// The number of data.
    #[serde(default)]
    pub count: usize,
    /// How many of them are left beyond the unknowns that were fitted to them, of all observations that share a noise
    /// level.
    #[serde(default)]
    pub freedom: f64,
}

impl Named for StateOutcome {
    fn name(&self) -> &str {
        &self.name
    }

    fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

impl Named for MisfitOutcome {
    fn name(&self) -> &str {
        &self.name
    }

    fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

impl Named for RegularisationOutcome {
    fn name(&self) -> &str {
        &self.name
    }

    fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

impl Named for NearState {
    fn name(&self) -> &str {
        &self.name
    }

    fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

impl Named for Noise {
    fn name(&self) -> &str {
        &self.observation
    }

    fn named(self, observation: String) -> Self {
        Self { observation, ..self }
    }
}
