//! How well the data determine the unknowns: standard deviations from the derivatives of the observed
//! values, and combinations of unknowns that the data do not see.

pub use crate::outcome::{Noise, NoiseSource};
use bilo_fit::data_loss::DataLoss;
use bilo_fit::sensitivities::Sensitivities;
use bilo_fit::spectrum::{RelativeSensitivities, deviations, hardly_seen};
use bilo_problem::diagnostic::Result;
use bilo_problem::sites::Sites;
use bilo_problem::theta::unit;
use bilo_problem::{Observation, Problem};

/// The noise of all data.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseLevels {
    /// By observation.
    pub observations: Vec<Noise>,
    /// What multiplies the derivatives of each observed value, over all observations, when their minimiser
    /// is found.
    roots: Vec<f64>,
    /// The standard deviations of what the minimiser then sees of each value's error.
    spread: Vec<f64>,
}

impl NoiseLevels {
    /// Known from the data, the likelihood or stated; else what a solution with these values leaves of the
    /// data.
    pub fn new(data: &DataLoss<'_>, sites: &[Sites], values: &[Vec<f64>]) -> Result<Self> {
        // What the fit of the unknowns took out of the residuals, spread over all values.
        let (count, fitted) = (values.iter().flatten().count(), data.problem().unknowns.len());
        let freedom = count.saturating_sub(fitted) as f64 / count as f64;
        let roots = data.terms(sites, values)?.roots;
        let mut levels = Self { observations: vec![], roots, spread: vec![] };
        for ((observation, sites), values) in data.problem().observations.iter().zip(sites).zip(values) {
            let noise = Noise::of(observation, sites, values, freedom);
            let place = levels.spread.len();
            match noise.sd.filter(|_| !sites.calibrated) {
                Some(sd) => {
                    levels.spread.extend(levels.roots[place..].iter().take(values.len()).map(|r| sd * r))
                }
                // A loss that is 2/N times a negative log-likelihood: its gradient varies as it curves.
                None => levels.spread.extend(vec![(observation.weight / sites.count).sqrt(); values.len()]),
            }
            levels.observations.push(noise);
        }
        Ok(levels)
    }

    /// The standard deviations of what the minimiser sees of each value's error.
    pub(crate) fn spread(&self) -> &[f64] {
        &self.spread
    }
}

impl Noise {
    fn of(observation: &Observation, sites: &Sites, values: &[f64], freedom: f64) -> Self {
        let mean_square =
            |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>() / sites.count;
        let sigma = sites.parts.iter().find_map(|part| part.sigma.as_ref());
        let (source, sd) = match (sigma, observation.stated_noise()) {
            (Some(sigma), _) => (NoiseSource::Sigma, Some(mean_square(&mut sigma.iter().copied()).sqrt())),
            (None, _) if sites.calibrated => (NoiseSource::Likelihood, None),
            (None, Some(noise)) => (NoiseSource::Stated, Some(noise)),
            (None, None) => {
                let left =
                    mean_square(&mut values.iter().zip(sites.data()).map(|(value, data)| value - data));
                (NoiseSource::Residuals, Some((left / freedom).sqrt()))
            }
        };
        Self { observation: observation.name.clone(), source, sd }
    }
}

/// What the data say of the unknowns near some theta.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertainty {
    /// Standard deviation of each unknown's estimate.
    pub sd: Vec<f64>,
    /// Correlations of the estimates; not numbers where one of two unknowns is not seen.
    pub correlations: Vec<Vec<f64>>,
    /// Singular values of the sensitivities d value / d relative change of an unknown, largest first.
    pub singular_values: Vec<f64>,
    /// A sentence for each unknown or combination of unknowns that the data do not see.
    pub warnings: Vec<String>,
}

impl Uncertainty {
    /// From observed values and their derivatives by eta, at eta, by any solver; none if they are not
    /// finite.
    ///
    /// To first order the minimiser of the loss moves by A⁺ (√w ε) with A the derivatives √w d value of the
    /// observed values, weighted as the loss curves, and √w ε what it sees of the errors of the data. Where
    /// the loss is a log-likelihood (normal errors: where w is as 1/sigma²) its standard deviations are the
    /// Cramér-Rao bound.
    pub fn new(
        problem: &Problem,
        noise: &NoiseLevels,
        observed: &[Sensitivities],
        eta: &[f64],
    ) -> Option<Self> {
        let units: Vec<f64> = (problem.unknowns.iter().zip(problem.thetas(eta)))
            .map(|(unknown, theta)| unit(theta.abs().max(unknown.guess.abs())))
            .collect();
        let sensitivities = RelativeSensitivities::new(&problem.unknowns, eta, &units, observed);
        let (plain, weighted) =
            (sensitivities.spectrum(|_| 1.0)?, sensitivities.spectrum(|i| noise.roots[i])?);
        // A value that is missing tells nothing, whatever its noise.
        let covariances = weighted.covariances(|i| noise.spread.get(i).copied().unwrap_or(1.0));
        let relative_sd = deviations(&covariances);
        let alone = |&unseen: &usize| -> Vec<f64> {
            (0..problem.unknowns.len()).map(|j| f64::from(j == unseen)).collect()
        };
        let unseen = sensitivities.unseen();
        let unseen = unseen.iter().map(|unseen| hardly_seen(problem, &alone(unseen)));
        Some(Self {
            sd: relative_sd.iter().zip(&units).map(|(sd, unit)| sd * unit).collect(),
            correlations: correlations(&covariances, &relative_sd),
            warnings: unseen.chain(plain.warning(problem)).collect(),
            singular_values: plain.singular_values,
        })
    }
}

/// Of each unknown with each.
fn correlations(covariances: &[Vec<f64>], sd: &[f64]) -> Vec<Vec<f64>> {
    let entry = |i: usize, j: usize| if i == j { 1.0 } else { covariances[i][j] / (sd[i] * sd[j]) };
    (0..sd.len()).map(|i| (0..sd.len()).map(|j| entry(i, j)).collect()).collect()
}
