//! What was learnt of a posterior, as data.

use bilo_assess::outcome::Colour;
use serde::{Deserialize, Serialize};

/// What was learnt of a posterior: `posterior.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PosteriorOutcome {
    /// Name of the problem.
    pub problem: String,
    /// The seed of everything random.
    pub seed: u64,
    /// What solved the equations at each step, in words.
    pub solver: String,
    /// Whether the draws may be used.
    pub verdict: PosteriorVerdict,
    /// The unknown numbers.
    pub unknowns: Vec<Marginal>,
    /// What follows from them.
    pub derived: Vec<Marginal>,
    /// Standard deviations of errors that nobody stated, by observation.
    pub noise: Vec<Marginal>,
    /// Correlations of the unknown numbers, a row for each.
    pub correlations: Vec<Vec<f64>>,
    /// Whether the model predicts the data, by observation.
    pub predictive: Vec<PredictiveCheck>,
    /// How the chains went.
    pub chains: Vec<ChainOutcome>,
    /// What another solver makes of the draws.
    pub audit: Option<AuditOutcome>,
    /// Why none was asked, if none was.
    pub no_audit: Option<String>,
    /// What is worth knowing, a sentence each.
    pub notes: Vec<String>,
    /// Wall-clock seconds of the chains, those before an interruption left out.
    pub seconds: f64,
}

/// Whether draws may be used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PosteriorVerdict {
    /// The worst colour of all reasons.
    pub colour: Colour,
    /// What speaks against the draws, the worst first.
    pub reasons: Vec<PosteriorReason>,
}

/// One reason of a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PosteriorReason {
    /// How much it matters.
    pub colour: Colour,
    /// In words.
    pub sentence: String,
    /// What to do about it; empty if that depends.
    pub help: String,
}

/// The posterior of one number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marginal {
    /// Its name.
    pub name: String,
    /// Its unit, if the problem states one.
    pub unit: Option<String>,
    /// Its prior, as in a problem file.
    pub prior: Option<String>,
    /// The true value, if known.
    pub truth: Option<f64>,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The median.
    pub median: f64,
    /// Quantiles that have 68 % between them.
    pub interval_68: (f64, f64),
    /// Quantiles that have 95 % between them.
    pub interval_95: (f64, f64),
    /// The Monte Carlo error of the mean.
    pub mcse_mean: f64,
    /// That of the standard deviation.
    pub mcse_sd: f64,
    /// Effective number of draws in the bulk.
    pub ess_bulk: f64,
    /// The same in the tails.
    pub ess_tail: f64,
    /// Rank-normalised split R-hat.
    pub rhat: f64,
    /// The prior's density over the range of the draws, value by value; empty where none is stated.
    pub prior_curve: Vec<(f64, f64)>,
    /// Estimate and standard deviation of the search, that is the Laplace approximation.
    pub laplace: Option<(f64, f64)>,
}

/// How a chain went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChainOutcome {
    /// Draws after tuning.
    pub draws: usize,
    /// Gradients that these took.
    pub gradients: usize,
    /// Trajectories that diverged.
    pub divergences: usize,
    /// Trajectories that were as long as they may be.
    pub longest: usize,
    /// Mean probability of acceptance.
    pub accepted: f64,
    /// The length of a step.
    pub step_length: f64,
    /// Energy's Bayesian fraction of missing information.
    pub ebfmi: f64,
}

/// What another solver makes of draws.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditOutcome {
    /// The other solver, in words.
    pub solver: String,
    /// Draws that it was asked about.
    pub draws: usize,
    /// Those of them where it has no solution.
    pub failed: usize,
    /// The shape k of the importance weights' tail: above 0.7 the weights cannot be trusted.
    pub shape: f64,
    /// The standard deviation of the difference of log-densities.
    pub spread: f64,
    /// How each unknown moves.
    pub unknowns: Vec<ShiftOutcome>,
}

/// How another solver moves the posterior of a number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShiftOutcome {
    /// The number.
    pub name: String,
    /// The shift of its mean.
    pub of_mean: f64,
    /// The error of that which so few draws leave.
    pub of_mean_error: f64,
    /// The standard deviation over that of the draws.
    pub sd_ratio: f64,
}

/// Whether the model predicts an observation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictiveCheck {
    /// The observation.
    pub observation: String,
    /// The probability that data of the model are farther from it than those that were observed, by the sum of squared
    /// residuals, over the posterior; none where errors are not normal.
    pub p_value: Option<f64>,
    /// How many of the data lie between the 2.5 and 97.5 % quantiles of data that the model predicts.
    pub covered: Option<f64>,
    /// How well each of the data is predicted by the others; none where errors are not normal.
    pub left_out: Option<LeftOut>,
}

/// How well each datum of an observation is predicted by the others: of two models of the same data the one with the larger
/// sum predicts better.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The sum of the log-densities (PSIS-LOO's elpd).
    pub log_density: f64,
    /// Its standard error, from how the data differ.
    pub error: f64,
    /// By how much the data seem better predicted where they are not left out: the effective number of unknowns.
    pub effective: f64,
    /// The largest shape k of the importance weights' tails.
    pub worst_shape: f64,
    /// Data whose shape is above 0.7: their terms cannot be trusted.
    pub not_trusted: usize,
}
