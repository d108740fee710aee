//! How well solutions fit the data, observation by observation.

use crate::context::RunContext;
use crate::outcome::{Fit, MisfitOutcome};
use bilo_fit::data_loss::DataLoss;
use bilo_problem::diagnostic::Result;
use bilo_problem::sites::Sites;
use bilo_problem::{Likelihood, Observation, Problem, Transform};
use bilo_reference::misfit::Evaluation;

/// A positive number has run away from its guess when its logarithm moved by more than this.
const RAN_AWAY: f64 = 12.0;

/// Residuals that have more than this part of the data's variance explain little.
const LITTLE: f64 = 0.5;

/// The terms of the data loss by observation.
pub(crate) fn misfits(
    data: &DataLoss<'_>,
    sites: &[Sites],
    network: Option<&[Vec<f64>]>,
    classical: Option<&[Vec<f64>]>,
) -> Result<Vec<MisfitOutcome>> {
    let each = data.problem().observations.iter().zip(sites).enumerate();
    each.map(|(number, (observation, sites))| {
        let term = |values: &[Vec<f64>]| sites.terms(&values[number]).map(|found| found.term);
        let dice = |values: &[Vec<f64>]| {
            observation.likelihood.is_segmentation().then(|| dice(&values[number], sites.data()))
        };
        Ok(MisfitOutcome {
            name: observation.name.clone(),
            network: network.map(term).transpose()?,
            classical: classical.map(term).transpose()?,
            dice_network: network.and_then(dice),
            dice_classical: classical.and_then(dice),
            fit: fit(
                data.problem(),
                observation,
                sites,
                [network, classical].map(|all| Some(&all?[number][..])),
            ),
        })
    })
    .collect()
}

/// Whether solutions leave most of what the data vary by, or fit at numbers that ran away from their guesses: for data whose errors
/// nobody stated, a reason to look elsewhere.
pub fn explains_little(run: &RunContext<'_>, evaluation: &Evaluation<'_>) -> bool {
    let etas = run.problem.unknowns.iter().zip(&evaluation.theta.eta);
    let ran = etas.clone().any(|(unknown, &eta)| {
        let far = (eta - unknown.eta_of(unknown.guess)).abs() > RAN_AWAY;
        unknown.transform == Transform::Log && far
    });
    let observed = run.problem.observations.iter().zip(&evaluation.sites).zip(&evaluation.values);
    let little = observed.into_iter().any(|((observation, sites), values)| {
        let gaussian = matches!(observation.likelihood, Likelihood::Gaussian);
        let Some(part) = sites.parts.last().filter(|_| gaussian && !sites.calibrated) else { return false };
        let left: f64 = values[part.places.clone()]
            .iter()
            .zip(&part.data)
            .map(|(value, datum)| (value - datum).powi(2))
            .sum();
        let mean = part.data.iter().sum::<f64>() / part.data.len().max(1) as f64;
        let whole: f64 = part.data.iter().map(|datum| (datum - mean).powi(2)).sum();
        left > LITTLE * whole
    });
    ran || little
}

/// The data of an observation beside the values of both solutions there.
fn fit(problem: &Problem, observation: &Observation, sites: &Sites, values: [Option<&[f64]>; 2]) -> Fit {
    // Places of an integral, where nothing was observed, come before.
    let Some(part) = sites.parts.last() else { return Fit::default() };
    let there = |values: &[f64]| values[part.places.clone()].to_vec();
    let names = problem.coordinates.iter().map(|coordinate| coordinate.name.clone());
    let particles = matches!(observation.likelihood, Likelihood::PoissonProcess { .. });
    let likelihood = &observation.likelihood;
    let binomial = matches!(likelihood, Likelihood::Binomial { .. });
    let has_sigma = !binomial && !matches!(likelihood, Likelihood::NegativeBinomial { .. });
    // Beside probabilities stand shares.
    let trials = part.sigma.as_ref().filter(|_| binomial);
    let shares = |trials: &Vec<f64>| part.data.iter().zip(trials).map(|(data, n)| data / n).collect();
    let [network, classical] = values.map(|values| values.map(there));
    Fit {
        coordinates: names.zip(sites.sampling.coordinates.iter().map(|column| there(column))).collect(),
        data: (!particles).then(|| trials.map_or_else(|| part.data.clone(), shares)),
        sigma: part.sigma.clone().filter(|_| has_sigma),
        network,
        classical,
    }
}

/// 2 |A and B| / (|A| + |B|) of the sets where values and data are above one half.
fn dice(values: &[f64], data: impl Iterator<Item = f64>) -> f64 {
    let (mut both, mut sum) = (0.0, 0.0);
    for (&value, data) in values.iter().zip(data) {
        let (ours, theirs) = (value > 0.5, data > 0.5);
        both += 2.0 * f64::from(ours && theirs);
        sum += f64::from(ours) + f64::from(theirs);
    }
    both / sum
}
