//! What draws predict: the noise that nobody stated, data as they would be seen again, and whether those seen are like them.

use crate::column::Column;
use crate::density::{Prediction, Source, error};
use crate::left_out::left_out;
use crate::outcome::PredictiveCheck;
use crate::sampling::Kept;
use bilo_fit::data_loss::DataLoss;
use bilo_fit::joint_likelihood::{Errors, NoiseGroup};
use bilo_fit::parallel;
use bilo_problem::diagnostic::Result;
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::{Likelihood, Observation, Problem, Table};
use bilo_sample::diagnostics::{quantile, sorted};
use rand::SeedableRng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use rand_pcg::Pcg64;
use statrs::distribution::{ChiSquared as Chi, ContinuousCDF};
use std::sync::Mutex;

/// Draws of each chain whose values are kept.
const SHOWN: usize = 250;

/// What draws predict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predicted {
    /// The draws, of each chain, whose predictions are here.
    pub shown: Vec<usize>,
    /// By observation.
    pub observations: Vec<PredictedObservation>,
    /// The log-likelihood of all data, by chain and draw.
    pub log_likelihood: Vec<Vec<f64>>,
    /// The standard deviation of errors that nobody stated, by observation, chain and draw; none where it is stated.
    sigmas: Vec<Option<Vec<Vec<f64>>>>,
}

/// What draws predict of an observation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictedObservation {
    /// Its name.
    pub name: String,
    /// Where it was seen, by coordinate.
    pub coordinates: Vec<Vec<f64>>,
    /// The data.
    pub data: Vec<f64>,
    /// The observed values without errors, by chain and shown draw.
    pub values: Vec<Vec<Vec<f64>>>,
    /// Data as they would be seen again, by chain and shown draw; empty where errors are not normal.
    pub again: Vec<Vec<Vec<f64>>>,
    /// The log-likelihood of each datum, by chain and shown draw; empty where errors are not normal.
    pub log_likelihood: Vec<Vec<Vec<f64>>>,
    /// The probability that such data are farther from the model than those seen, if errors are normal and their size is
    /// stated.
    p_value: Option<f64>,
}

/// What the solution says at each draw. Observed values are kept for few of them.
pub fn predict(
    source: &dyn Source,
    chains: &[Vec<Kept>],
    threads: Option<usize>,
) -> Result<Vec<Vec<Prediction>>> {
    let found = parallel::each(parallel::threads(threads), chains, |chain| {
        let shown = shown(chain.len());
        let found = Mutex::new(Vec::with_capacity(chain.len()));
        source.with(&mut |density| {
            for (number, draw) in chain.iter().enumerate() {
                let mut prediction = density.predict(&draw.position).map_err(error)?;
                if !shown.contains(&number) {
                    prediction.values.clear();
                }
                found.lock().expect("no thread panics").push(prediction);
            }
            Ok(())
        })?;
        Ok(found.into_inner().expect("no thread panics"))
    });
    found.into_iter().collect()
}

/// Of so many draws those whose values are kept, evenly spaced.
fn shown(length: usize) -> Vec<usize> {
    let step = length.div_ceil(SHOWN).max(1);
    (step - 1..length).step_by(step).collect()
}

impl Predicted {
    /// Of what the solution says at each draw.
    pub(crate) fn new(data: &DataLoss<'_>, seed: u64, found: &[Vec<Prediction>]) -> Predicted {
        let (problem, tables, joint) = (data.problem(), data.tables(), data.joint());
        let shown = shown(found.first().map_or(0, Vec::len));
        let sigma_of = |o: usize| {
            let group = joint.groups().iter().enumerate().find(|(_, group)| group.members.contains(&o));
            group.map(|(g, group)| sigmas(group, g, o, seed, found))
        };
        let sigmas: Vec<_> = (0..tables.len()).map(sigma_of).collect();
        let of = |(o, observation): (usize, &Observation)| {
            let sizes = Sizes::new(observation, &tables[o], sigmas[o].as_deref());
            predicted(observation, o, &tables[o], &sizes, (seed, &shown, found))
        };
        Predicted {
            observations: problem.observations.iter().enumerate().map(of).collect(),
            log_likelihood: found
                .iter()
                .map(|chain| chain.iter().map(|p| p.log_likelihood).collect())
                .collect(),
            shown,
            sigmas,
        }
    }

    /// Of what the solution says at draws from the priors, where nothing is known of errors that nobody stated.
    pub(crate) fn of_prior(data: &DataLoss<'_>, seed: u64, found: Vec<Prediction>) -> Predicted {
        let (problem, tables) = (data.problem(), data.tables());
        let (shown, found) = (shown(found.len()), [found]);
        let of = |(o, observation): (usize, &Observation)| {
            let sizes = Sizes::stated(observation, &tables[o]);
            PredictedObservation {
                log_likelihood: vec![],
                ..predicted(observation, o, &tables[o], &sizes, (seed, &shown, &found))
            }
        };
        let observations = problem.observations.iter().enumerate().map(of).collect();
        Predicted { observations, shown, ..Predicted::default() }
    }

    /// The noise that nobody stated.
    pub(crate) fn noise(&self, problem: &Problem) -> Vec<Column> {
        let each = problem.observations.iter().zip(&self.sigmas);
        each.filter_map(|(observation, sigmas)| {
            Some(Column { name: format!("sigma_{}", observation.name), chains: sigmas.clone()? })
        })
        .collect()
    }

    /// Whether the data are as draws predict them.
    pub(crate) fn checks(&self, problem: &Problem) -> Vec<PredictiveCheck> {
        let check = |(predicted, observation): (&PredictedObservation, &Observation)| PredictiveCheck {
            p_value: predicted.p_value,
            covered: predicted.covered(),
            left_out: left_out(&predicted.log_likelihood),
            ..PredictiveCheck::of(&observation.name)
        };
        self.observations.iter().zip(&problem.observations).map(check).collect()
    }
}

/// Draws of the noise level given the unknowns: S/σ² has chi-square's distribution with n degrees of freedom.
fn sigmas(
    group: &NoiseGroup,
    number: usize,
    o: usize,
    seed: u64,
    found: &[Vec<Prediction>],
) -> Vec<Vec<f64>> {
    let place = group.members.iter().position(|&member| member == o).expect("a member");
    let (count, variance) = (group.count(), group.variances[place]);
    let chi_square = ChiSquared::new(count).expect("there are data");
    let chain = |(chain, predictions): (usize, &Vec<Prediction>)| {
        let mut random = random(seed, 1 + number, chain);
        let draw = |prediction: &Prediction| {
            let sum = count * group.mean_square(&prediction.terms);
            (variance * sum / chi_square.sample(&mut random)).sqrt()
        };
        predictions.iter().map(draw).collect()
    };
    found.iter().enumerate().map(chain).collect()
}

/// A stream for each kind of draw and each chain; chains themselves have the kind 0.
fn random(seed: u64, kind: usize, chain: usize) -> Pcg64 {
    Pcg64::seed_from_u64(seed_for(seed_for(seed, Purpose::Sampling, kind), Purpose::Sampling, chain))
}

/// The standard deviations of the errors of an observation's data.
struct Sizes<'a> {
    /// Those of the data, or how large they are beside each other.
    each: Vec<f64>,
    /// What multiplies them, by chain and draw, if nobody stated it.
    common: Option<&'a [Vec<f64>]>,
    /// Whether errors are normal, of the values or of their logarithms.
    normal: bool,
    logarithms: bool,
}

impl Sizes<'_> {
    fn new<'a>(observation: &Observation, table: &Table, common: Option<&'a [Vec<f64>]>) -> Sizes<'a> {
        let errors = Errors::of(observation, table);
        let each = match (errors, &table.sigma, observation.stated_noise()) {
            (Errors::Made(noise), ..) | (Errors::NoLikelihood, _, Some(noise)) => {
                vec![noise; table.values.len()]
            }
            (_, Some(sigma), _) => sigma.clone(),
            _ => vec![1.0; table.values.len()],
        };
        let known = !matches!(
            (errors, observation.stated_noise()),
            (Errors::NoLikelihood, None) | (Errors::Exact, _)
        );
        let mean_square = observation.likelihood == Likelihood::MeanSquare;
        let normal = known && (observation.likelihood.is_normal() || mean_square);
        Sizes { each, common, normal, logarithms: observation.likelihood == Likelihood::LogNormal }
    }

    /// Where nothing multiplies what was stated.
    fn stated(observation: &Observation, table: &Table) -> Sizes<'static> {
        let sizes = Sizes::new(observation, table, None);
        let normal = sizes.normal && Errors::of(observation, table) != Errors::Estimated;
        Sizes { normal, ..sizes }
    }

    fn at(&self, i: usize, chain: usize, draw: usize) -> f64 {
        self.each[i] * self.common.map_or(1.0, |common| common[chain][draw])
    }

    fn again(&self, value: f64, error: f64) -> f64 {
        if self.logarithms { value * error.exp() } else { value + error }
    }

    fn residual(&self, value: f64, datum: f64) -> f64 {
        if self.logarithms { datum.ln() - value.ln() } else { datum - value }
    }

    /// The log-density of a datum whose error has a size.
    fn log_density(&self, value: f64, datum: f64, size: f64) -> f64 {
        let scaled = self.residual(value, datum) / size;
        let by_datum = if self.logarithms { datum.ln() } else { 0.0 };
        -0.5 * (scaled * scaled + std::f64::consts::TAU.ln()) - size.ln() - by_datum
    }
}

fn predicted(
    observation: &Observation,
    o: usize,
    table: &Table,
    sizes: &Sizes<'_>,
    (seed, shown, found): (u64, &[usize], &[Vec<Prediction>]),
) -> PredictedObservation {
    let values: Vec<Vec<Vec<f64>>> =
        found.iter().map(|chain| shown.iter().map(|&draw| chain[draw].values[o].clone()).collect()).collect();
    let (mut again, mut log_likelihood, mut p_value) = (vec![], vec![], None);
    // Other laws may be asked at more places than there are data.
    let plain = values.iter().flatten().all(|values| values.len() == table.values.len());
    if sizes.normal && plain {
        let chain = |(chain, draws): (usize, &Vec<Vec<f64>>)| {
            let mut random = random(seed, 1000 + o, chain);
            let draw = |(values, &draw): (&Vec<f64>, &usize)| {
                let error = |i: usize, z: f64| sizes.again(values[i], sizes.at(i, chain, draw) * z);
                (0..values.len()).map(|i| error(i, StandardNormal.sample(&mut random))).collect()
            };
            draws.iter().zip(shown).map(draw).collect()
        };
        again = values.iter().enumerate().map(chain).collect();
        let heights = |(chain, draws): (usize, &Vec<Vec<f64>>)| {
            let draw = |(values, &draw): (&Vec<f64>, &usize)| {
                let pairs = values.iter().zip(&table.values).enumerate();
                let height =
                    |(i, (&value, &datum))| sizes.log_density(value, datum, sizes.at(i, chain, draw));
                pairs.map(height).collect()
            };
            draws.iter().zip(shown).map(draw).collect()
        };
        log_likelihood = values.iter().enumerate().map(heights).collect();
        p_value = sizes.common.is_none().then(|| farther(table, sizes, &values));
    }
    PredictedObservation {
        name: observation.name.clone(),
        coordinates: table.coordinates.clone(),
        data: table.values.clone(),
        values,
        again,
        log_likelihood,
        p_value,
    }
}

/// The probability of a larger sum of squares, over the draws.
fn farther(table: &Table, sizes: &Sizes<'_>, values: &[Vec<Vec<f64>>]) -> f64 {
    let chi_square = Chi::new(table.values.len().max(1) as f64).expect("there are data");
    let (mut sum, mut count) = (0.0, 0.0);
    for values in values.iter().flatten() {
        let residuals = values.iter().zip(&table.values).zip(&sizes.each);
        let squares: f64 =
            residuals.map(|((&value, &datum), size)| (sizes.residual(value, datum) / size).powi(2)).sum();
        sum += chi_square.sf(squares);
        count += 1.0;
    }
    sum / count
}

impl PredictedObservation {
    /// How many of the data lie in the middle 95 % of what would be seen again.
    fn covered(&self) -> Option<f64> {
        self.covered_by(&self.again)
    }

    /// How many of the data lie in the middle 95 % of draws.
    pub(crate) fn covered_by(&self, draws: &[Vec<Vec<f64>>]) -> Option<f64> {
        let bands = self.bands(draws).filter(|bands| bands[0].len() == self.data.len())?;
        let inside = |(i, datum): (usize, &f64)| (bands[0][i]..=bands[2][i]).contains(datum);
        let count = self.data.iter().enumerate().filter(|pair| inside(*pair)).count();
        (!self.data.is_empty()).then(|| count as f64 / self.data.len() as f64)
    }

    /// The 2.5, 50 and 97.5 % quantiles at each place.
    pub fn bands(&self, of: &[Vec<Vec<f64>>]) -> Option<[Vec<f64>; 3]> {
        let draws: Vec<&Vec<f64>> = of.iter().flatten().collect();
        let places = draws.first()?.len();
        let at = |i: usize| sorted(draws.iter().map(|draw| draw[i]));
        let columns: Vec<Vec<f64>> = (0..places).map(at).collect();
        Some([0.025, 0.5, 0.975].map(|part| columns.iter().map(|column| quantile(column, part)).collect()))
    }
}
