//! How well solutions fit the data, observation by observation.

use crate::outcome::{Fit, MisfitOutcome};
use bilo_fit::data_loss::DataLoss;
use bilo_problem::diagnostic::Result;
use bilo_problem::sites::Sites;
use bilo_problem::{Likelihood, Observation, Problem};

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

/// The data of an observation beside the values of both solutions there.
fn fit(problem: &Problem, observation: &Observation, sites: &Sites, values: [Option<&[f64]>; 2]) -> Fit {
    // Places of an integral, where nothing was observed, come before.
    let Some(part) = sites.parts.last() else { return Fit::default() };
    let there = |values: &[f64]| values[part.places.clone()].to_vec();
    let names = problem.coordinates.iter().map(|coordinate| coordinate.name.clone());
    let particles = matches!(observation.likelihood, Likelihood::PoissonProcess { .. });
    let has_sigma = !matches!(observation.likelihood, Likelihood::NegativeBinomial { .. });
    let [network, classical] = values.map(|values| values.map(there));
    Fit {
        coordinates: names.zip(sites.sampling.coordinates.iter().map(|column| there(column))).collect(),
        data: (!particles).then(|| part.data.clone()),
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
