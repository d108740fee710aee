//! How data speak of an observed quantity.

use crate::diagnostic::{Origin, Result};
use crate::model::domain::Coordinate;
use crate::model::formula::Formula;
use crate::words::{Words, words};

/// How data speak of the observed quantity: what is added up over the data, in units in which the sum is
/// twice the negative logarithm of a likelihood, up to a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Likelihood {
    /// Independent normal errors: ((value - data)/sigma)², with sigma one where there is none.
    Gaussian,
    /// The mean of (value - data)², whatever the errors are: the loss of the paper, and no likelihood.
    MeanSquare,
    /// Σ (value - data)² / Σ data²: for images and segmentations, whatever their size.
    RelativeL2,
    /// The data are zeros and ones (or shares), the value the probability of a one.
    Bernoulli,
    /// The data are counts with a Poisson distribution, the value is their mean.
    Poisson,
    /// The data are counts whose variance is mean + mean²/dispersion: more than Poisson's, the less the dispersion.
    NegativeBinomial {
        /// The size of the distribution, large for Poisson's; estimated if none is stated.
        dispersion: Option<f64>,
    },
    /// The data are how many of so many trials came out one way, the value is the probability of that.
    Binomial {
        /// Trials of each datum, where the data have no column of them.
        trials: Option<f64>,
    },
    /// The logarithms of the data have normal errors about the logarithm of the value: sigma is relative.
    LogNormal,
    /// Normal errors, seen only between limits: a datum at a limit says that the quantity is beyond it.
    Censored {
        /// The lower limit, if there is one.
        below: Option<f64>,
        /// The upper limit, if there is one.
        above: Option<f64>,
    },
    /// Normal errors with outliers, by Huber's loss: squares up to a threshold, straight lines beyond.
    Huber {
        /// In units of sigma.
        threshold: f64,
        /// The standard deviation of data that have none of their own; estimated if there is none.
        sigma: Option<f64>,
    },
    /// Errors with Student's distribution: far outliers hardly count.
    Student {
        /// Degrees of freedom.
        freedom: f64,
        /// The scale of data that have none of their own; estimated if there is none.
        sigma: Option<f64>,
    },
    /// The data are places of particles, a Poisson process whose intensity is the value.
    PoissonProcess {
        /// Snapshots that were taken: the particles of all of them are together in the data.
        snapshots: f64,
        /// How the intensity is integrated.
        quadrature: Quadrature,
    },
    /// An expression of `value`, `data`, `sigma` and constants, for one datum.
    Custom(Formula),
}

/// The likelihoods that a word alone can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LikelihoodName {
    Gaussian,
    MeanSquare,
    RelativeL2,
    Bernoulli,
    Poisson,
    NegativeBinomial,
    Binomial,
    LogNormal,
    Censored,
    Robust,
    Huber,
    Student,
    PoissonProcess,
}

words!(LikelihoodName {
    "gaussian" => Gaussian,
    "mean-square" => MeanSquare,
    "relative-l2" => RelativeL2,
    "bernoulli" => Bernoulli,
    "poisson" => Poisson,
    "negative-binomial" => NegativeBinomial,
    "binomial" => Binomial,
    "lognormal" => LogNormal,
    "censored" => Censored,
    "robust" => Robust,
    "huber" => Huber,
    "student" => Student,
    "poisson-process" => PoissonProcess,
});

/// The losses of robust likelihoods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RobustLoss {
    Huber,
    Student,
}

words!(RobustLoss { "huber" => Huber, "student" => Student });

impl Likelihood {
    /// Huber's threshold of 95 % efficiency where errors are normal.
    pub const HUBER: f64 = 1.345;

    /// Degrees of freedom of Student's distribution, where none are stated.
    pub const FREEDOM: f64 = 4.0;

    /// The name in files.
    pub fn name(&self) -> &'static str {
        let name = match self {
            Likelihood::Gaussian => LikelihoodName::Gaussian,
            Likelihood::MeanSquare => LikelihoodName::MeanSquare,
            Likelihood::RelativeL2 => LikelihoodName::RelativeL2,
            Likelihood::Bernoulli => LikelihoodName::Bernoulli,
            Likelihood::Poisson => LikelihoodName::Poisson,
            Likelihood::NegativeBinomial { .. } => LikelihoodName::NegativeBinomial,
            Likelihood::Binomial { .. } => LikelihoodName::Binomial,
            Likelihood::LogNormal => LikelihoodName::LogNormal,
            Likelihood::Censored { .. } => LikelihoodName::Censored,
            Likelihood::Huber { .. } => LikelihoodName::Huber,
            Likelihood::Student { .. } => LikelihoodName::Student,
            Likelihood::PoissonProcess { .. } => LikelihoodName::PoissonProcess,
            Likelihood::Custom(_) => return "custom",
        };
        name.word()
    }

    /// An expression of `value`, `data`, `sigma` and constants, to be minimised.
    pub fn custom(density: &str) -> Result<Likelihood> {
        Ok(Likelihood::Custom(Formula::parse(density, Origin::text("likelihood.custom", density))?))
    }

    /// The size of a term in which what is left to gain is measured: that of squares is the term itself,
    /// while a log-likelihood per datum is known up to a constant, and one is much.
    pub fn size(&self, term: f64) -> f64 {
        match self {
            Likelihood::Gaussian
            | Likelihood::LogNormal
            | Likelihood::MeanSquare
            | Likelihood::RelativeL2 => term,
            _ => 1.0,
        }
    }

    /// Whether the errors, perhaps of logarithms, are normal, so that their size can be estimated.
    pub fn is_normal(&self) -> bool {
        matches!(self, Likelihood::Gaussian | Likelihood::LogNormal)
    }

    /// (data - value)/sd as the distribution has it, where sigma is the number of its law, the size of errors, the dispersion
    /// of counts or the trials; none where a datum says something else.
    pub fn residual(&self, value: f64, data: f64, sigma: f64) -> Option<f64> {
        Some(match *self {
            Likelihood::Poisson => (data - value) / value.sqrt(),
            Likelihood::NegativeBinomial { .. } => (data - value) / (value + value * value / sigma).sqrt(),
            Likelihood::Binomial { .. } => (data - sigma * value) / (sigma * value * (1.0 - value)).sqrt(),
            Likelihood::LogNormal => (data.ln() - value.ln()) / sigma,
            Likelihood::Censored { below, above } => {
                let beyond = below.is_some_and(|lo| data <= lo) || above.is_some_and(|hi| data >= hi);
                return (!beyond).then_some((data - value) / sigma);
            }
            _ => (data - value) / sigma,
        })
    }

    /// Whether the data tell for every point whether it belongs to a set.
    pub fn is_segmentation(&self) -> bool {
        matches!(self, Likelihood::RelativeL2 | Likelihood::Bernoulli)
    }
}

/// A rule for integrals over some coordinates, by Gauss's formula with two nodes in every cell, which is
/// exact for cubic polynomials. No node lies at an end or a break.
#[derive(Clone, Debug, PartialEq)]
pub struct Quadrature {
    /// Coordinates (by number) and their numbers of nodes.
    pub nodes: Vec<(usize, usize)>,
    /// Places along a coordinate where what is integrated has a kink or a jump, expressions of constants
    /// and unknowns: cells end there.
    pub breaks: Vec<(usize, Formula)>,
    /// The other coordinates, held at values over which is summed.
    pub at: Vec<(usize, Vec<f64>)>,
}

impl Quadrature {
    /// Over all coordinates but the time, with so many nodes along each; the time held at its end.
    pub fn over_space(coordinates: &[Coordinate], nodes: usize) -> Quadrature {
        let numbered = || coordinates.iter().enumerate();
        Quadrature {
            nodes: numbered().filter(|(_, c)| !c.time).map(|(number, _)| (number, nodes)).collect(),
            breaks: vec![],
            at: numbered().filter(|(_, c)| c.time).map(|(number, c)| (number, vec![c.hi])).collect(),
        }
    }
}
