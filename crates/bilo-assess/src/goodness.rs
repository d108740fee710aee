//! Whether the model fits the data: chi-square where the size of errors is stated, structure of the residuals where it is
//! not, outliers, and rows that are there twice.

mod counts;
mod pooled;
mod repeated;
pub mod residuals;

use crate::noise::{Noise, NoiseSource};
use crate::outcome::{ChiSquare, Goodness, ObservationFit, Outlier};
use bilo_fit::data_loss::DataLoss;
use bilo_problem::sites::{Part, Sites};
use bilo_problem::{Likelihood, Observation, Problem};
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// Fewer data than this beyond what was fitted are not tested for structure.
const FEWEST: f64 = 5.0;

/// The probability that the largest of all normal residuals is called an outlier.
const OUTLIER: f64 = 1e-3;

/// Most outliers that are listed.
const MOST_OUTLIERS: usize = 20;

/// Residuals smaller than so many times the solver's error are its own, not noise.
const BELOW_SOLVER: f64 = 3.0;

/// An observation at the estimate.
pub(crate) struct Fitting<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) observation: &'a Observation,
    pub(crate) sites: &'a Sites,
    /// The observed quantity by the best solution at hand.
    pub(crate) values: &'a [f64],
    /// How much of each value's own error its fit takes up.
    pub(crate) leverages: Option<&'a [f64]>,
    pub(crate) noise: &'a Noise,
    /// The error of the solver at each value, if it is known.
    pub(crate) solver_error: Option<&'a [f64]>,
}

/// Tests every observation.
///
/// Leverages are none where nobody knows how much of the data the unknown functions take up.
pub(crate) fn goodness(
    data: &DataLoss<'_>,
    sites: &[Sites],
    values: &[Vec<f64>],
    leverages: Option<&[Vec<f64>]>,
    noise: &[Noise],
    solver_error: Option<&[Vec<f64>]>,
) -> Goodness {
    let problem = data.problem();
    let fitting = |o: usize| Fitting {
        problem,
        observation: &problem.observations[o],
        sites: &sites[o],
        values: &values[o],
        leverages: leverages.map(|leverages| &leverages[o][..]),
        noise: &noise[o],
        // A run that was stopped may know nothing of it.
        solver_error: solver_error.and_then(|errors| errors.get(o)).map(|errors| &errors[..]),
    };
    let fittings: Vec<Fitting<'_>> = (0..problem.observations.len()).map(fitting).collect();
    let observations = fittings.iter().map(Fitting::tested_or_not).collect();
    let mut found = Goodness { observations, total: None };
    pooled::add(&mut found, &fittings);
    pool_binary(&mut found, data, sites, values);
    found.total = total(found.observations.iter().filter_map(|fit| fit.chi_square));
    adjust(&mut found);
    found
}

/// Observations of zeros and ones that are too few to be tested each by itself are tested together; the first of them has what
/// comes of it.
fn pool_binary(goodness: &mut Goodness, data: &DataLoss<'_>, sites: &[Sites], values: &[Vec<f64>]) {
    let observations = data.problem().observations.iter().zip(&goodness.observations).enumerate();
    let few = observations.filter(|(_, (observation, fit))| {
        observation.likelihood == Likelihood::Bernoulli && fit.chi_square.is_none()
    });
    let few: Vec<usize> = few.map(|(number, _)| number).filter(|&o| !values[o].is_empty()).collect();
    let pooled = |of: &dyn Fn(usize) -> Vec<f64>| few.iter().flat_map(|&o| of(o)).collect::<Vec<f64>>();
    let seen = pooled(&|o| sites[o].parts.last().map_or(vec![], |part| part.data.clone()));
    let Some(chi_square) = counts::few_bernoulli(&pooled(&|o| values[o].clone()), &seen) else { return };
    few.iter().for_each(|&o| goodness.observations[o].untested = None);
    goodness.observations[few[0]].chi_square = Some(chi_square);
}

/// The sum of chi-squares that are independent of each other; none of none.
fn total(parts: impl Iterator<Item = ChiSquare>) -> Option<ChiSquare> {
    let sum = |sum: ChiSquare, part: ChiSquare| {
        ChiSquare::new(sum.value + part.value, sum.freedom + part.freedom).unwrap_or(sum)
    };
    parts.reduce(sum)
}

/// Holm's correction over all tests: the k-th smallest of m probabilities counts m - k + 1 times.
fn adjust(goodness: &mut Goodness) {
    let mut tests: Vec<_> = goodness.observations.iter_mut().flat_map(|fit| &mut fit.tests).collect();
    tests.sort_by(|a, b| a.p.total_cmp(&b.p));
    let (count, mut least) = (tests.len(), 0.0_f64);
    for (k, test) in tests.iter_mut().enumerate() {
        least = least.max((test.p * (count - k) as f64).min(1.0));
        test.adjusted_p = least;
    }
}

impl ChiSquare {
    /// A sum of squares with so many degrees of freedom; none without any.
    pub(crate) fn new(value: f64, freedom: f64) -> Option<ChiSquare> {
        let p = ChiSquared::new(freedom).ok()?.sf(value);
        (value.is_finite() && p.is_finite()).then_some(ChiSquare { value, freedom, p })
    }
}

impl Fitting<'_> {
    /// The tests; where none could be made, a reason.
    fn tested_or_not(&self) -> ObservationFit {
        let mut fit = self.tested();
        if fit.untested.is_none() && fit.chi_square.is_none() && fit.tests.is_empty() {
            fit.untested = Some("there are too few data for any test".to_owned());
        }
        fit
    }

    fn tested(&self) -> ObservationFit {
        let name = self.observation.name.clone();
        let Some(part) = self.sites.parts.last() else {
            return ObservationFit {
                name,
                untested: Some("there are no data".to_owned()),
                ..Default::default()
            };
        };
        let untested = self.untested(part);
        let repeated_rows = match &self.observation.likelihood {
            Likelihood::Gaussian | Likelihood::MeanSquare => {
                repeated::rows(&self.sites.sampling.coordinates, &part.data, self.noise.sd.unwrap_or(0.0))
            }
            _ => vec![],
        };
        let noise_free = self.is_noise_free(part);
        let mut fit =
            ObservationFit { name, repeated_rows, noise_free, untested, ..ObservationFit::default() };
        if fit.untested.is_some() {
            return fit;
        }
        fit.chi_square = match &self.observation.likelihood {
            Likelihood::Bernoulli => counts::bernoulli(self.values, &part.data, self.fitted()),
            Likelihood::PoissonProcess { .. } => {
                return ObservationFit {
                    chi_square: counts::process(self.problem, self.sites, self.values, self.fitted()),
                    ..fit
                };
            }
            // A dispersion that was found makes of any scatter what is expected.
            Likelihood::NegativeBinomial { .. } if part.free.is_some() => None,
            Likelihood::Poisson | Likelihood::NegativeBinomial { .. } => {
                let more = self.noise.dispersion.map_or(0.0, f64::recip);
                let law = |&mean: &f64| (mean, mean + more * mean * mean);
                counts::of_rows(self.values.iter().map(law), &part.data, self.fitted())
            }
            Likelihood::Binomial { .. } => {
                let trials = part.sigma.iter().flatten();
                let law = |(&p, &trials): (&f64, &f64)| (trials * p, trials * p * (1.0 - p));
                counts::of_rows(self.values.iter().zip(trials).map(law), &part.data, self.fitted())
            }
            Likelihood::Huber { .. } | Likelihood::Student { .. } | Likelihood::Censored { .. } => None,
            _ => self.chi_square(part),
        };
        if self.observation.likelihood == Likelihood::Bernoulli {
            return fit;
        }
        let (seen, standardised) = self.standardised(part);
        let select = |column: &Vec<f64>| seen.iter().map(|&row| column[row]).collect();
        let columns: Vec<Vec<f64>> = self.sites.sampling.coordinates.iter().map(select).collect();
        let coordinates = residuals::Places::new(self.problem, &columns);
        // Errors that are not normal are what other likelihoods are for.
        let likelihood = &self.observation.likelihood;
        let normal = likelihood.is_normal() || *likelihood == Likelihood::MeanSquare;
        fit.tests = residuals::tests(&coordinates, &standardised, normal);
        fit.outliers = if normal { outliers(&standardised) } else { vec![] };
        fit
    }

    /// Why residuals are not tested, if they are not.
    fn untested(&self, part: &Part) -> Option<String> {
        let likelihood = &self.observation.likelihood;
        let few = part.data.len() as f64 - self.fitted() < FEWEST;
        Some(match (likelihood, self.noise.source) {
            (Likelihood::RelativeL2, _) => "`relative-l2` says nothing of the size of errors".to_owned(),
            (Likelihood::PoissonProcess { .. } | Likelihood::Bernoulli, _) => return None,
            _ if !self.is_noise_free(part) && self.leverages.is_none() => {
                "nobody knows how much of the data the unknown functions take up".to_owned()
            }
            _ if self.is_noise_free(part) => "data without noise: limited by the solver".to_owned(),
            // A chi-square is a test with however few data.
            _ if few && self.noise.source == NoiseSource::Residuals => {
                "there are too few data beyond the number of unknowns".to_owned()
            }
            _ => return None,
        })
    }

    /// Whether there is no noise: none is stated, or the residuals are the solver's own.
    fn is_noise_free(&self, part: &Part) -> bool {
        let root_mean_square = |squares: f64| (squares / part.data.len().max(1) as f64).sqrt();
        let left = self.values.iter().zip(&part.data).map(|(value, data)| (value - data).powi(2)).sum();
        let error = self.solver_error.map(|errors| errors.iter().map(|error| error * error).sum());
        let below =
            || error.is_some_and(|error| root_mean_square(left) < BELOW_SOLVER * root_mean_square(error));
        match self.noise.source {
            NoiseSource::None => true,
            NoiseSource::Residuals => below(),
            _ => false,
        }
    }

    /// How many unknowns the observation determines.
    fn fitted(&self) -> f64 {
        self.leverages.into_iter().flatten().sum()
    }

    /// Σ (r/sigma)², where sigma is stated.
    fn chi_square(&self, part: &Part) -> Option<ChiSquare> {
        let known = matches!(self.noise.source, NoiseSource::Sigma | NoiseSource::Stated);
        let squares = self.scaled(part).iter().flatten().map(|residual| residual * residual).sum();
        known.then(|| ChiSquare::new(squares, part.data.len() as f64 - self.fitted())).flatten()
    }

    /// What pulls each value towards its datum, in units of its own spread if the expression is that of a log-likelihood: of a
    /// loss that nobody knows, no sizes are tested, but noise has no pattern here either.
    fn scores(&self) -> Vec<Option<f64>> {
        let Ok(found) = self.sites.terms(self.values) else { return vec![] };
        let score = |(slope, curvature): (&f64, &f64)| {
            let spread = if *curvature > 0.0 { curvature.sqrt() } else { 1.0 };
            Some(-slope / spread).filter(|score| score.is_finite())
        };
        found.by_values.iter().zip(&found.curvature).map(score).collect()
    }

    /// (data - value)/sigma, as the likelihood has it; none where a datum is beyond a limit.
    fn scaled(&self, part: &Part) -> Vec<Option<f64>> {
        if matches!(self.observation.likelihood, Likelihood::Custom(_)) {
            return self.scores();
        }
        let scale = match self.noise.source {
            // The law has it.
            NoiseSource::Sigma => 1.0,
            NoiseSource::Likelihood if part.free.is_some() => self.noise.dispersion.unwrap_or(1.0),
            _ => self.noise.sd.unwrap_or(1.0),
        };
        let sigma = |i: usize| scale * part.sigma.as_ref().map_or(1.0, |sigma| sigma[i]);
        let residuals = self.values.iter().zip(&part.data).enumerate();
        let likelihood = &self.observation.likelihood;
        residuals.map(|(i, (&value, &data))| likelihood.residual(value, data, sigma(i))).collect()
    }

    /// Residuals of variance one, if the model is right, with their rows: the fit took up a part of each.
    fn standardised(&self, part: &Part) -> (Vec<usize>, Vec<f64>) {
        let left = |leverage: f64| (1.0 - leverage).max(1e-3).sqrt();
        let leverages = self.leverages.unwrap_or_default();
        let rows = self.scaled(part).into_iter().zip(leverages).enumerate();
        rows.filter_map(|(row, (residual, &leverage))| Some((row, residual? / left(leverage)))).unzip()
    }
}

/// Those beyond what so many normal numbers reach.
fn outliers(standardised: &[f64]) -> Vec<Outlier> {
    let normal = Normal::standard();
    let limit = -normal.inverse_cdf(OUTLIER / 2.0 / standardised.len().max(1) as f64);
    let rows = standardised.iter().enumerate();
    let mut found: Vec<Outlier> = rows
        .filter(|(_, residual)| residual.abs() > limit)
        .map(|(row, &residual)| Outlier { row: row + 1, residual })
        .collect();
    found.sort_by(|a, b| b.residual.abs().total_cmp(&a.residual.abs()));
    found.truncate(MOST_OUTLIERS);
    found
}
