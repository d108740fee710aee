//! How well the data determine the unknowns: standard deviations from the derivatives of the observed
//! values, and combinations of unknowns that the data do not see.

use crate::misfit::DataLoss;
use crate::problem::Data;
use crate::spectrum::{Sensitivities, hardly_seen, unit};
use crate::twin::WithSlopes;

/// Where the size of an observation's noise is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseSource {
    /// The column `sigma` of its data.
    Sigma,
    /// The noise that its synthetic data are stated to have.
    Stated,
    /// What the solution leaves of the data.
    Residuals,
}

impl NoiseSource {
    /// The name in `outcome.json`.
    pub fn name(self) -> &'static str {
        match self {
            NoiseSource::Sigma => "sigma",
            NoiseSource::Stated => "stated",
            NoiseSource::Residuals => "residuals",
        }
    }
}

/// The noise of an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// The observation.
    pub observation: String,
    /// Where its size is known from.
    pub source: NoiseSource,
    /// Its standard deviation, the root mean square where it differs from value to value.
    pub sd: f64,
}

/// The noise of all data.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseLevels {
    /// By observation.
    pub observations: Vec<Noise>,
    /// The standard deviation of each value, over all observations.
    pub by_value: Vec<f64>,
}

impl NoiseLevels {
    /// Known from the data or stated; else what a solution with these values leaves of the data.
    pub fn new(data: &DataLoss<'_>, values: &[Vec<f64>]) -> Self {
        // What the fit of the unknowns took out of the residuals, spread over all values.
        let (count, fitted) = (values.iter().flatten().count(), data.problem().unknowns.len());
        let freedom = count.saturating_sub(fitted) as f64 / count as f64;
        let mut levels = Self { observations: vec![], by_value: vec![] };
        for ((observation, table), values) in
            data.problem().observations.iter().zip(data.tables()).zip(values)
        {
            let count = values.len() as f64;
            let (source, sd) = match (&table.sigma, &observation.data) {
                (Some(sigma), _) => {
                    let square: f64 = sigma.iter().map(|sigma| sigma * sigma).sum();
                    (NoiseSource::Sigma, (square / count).sqrt())
                }
                (None, Data::Synthetic { noise, .. }) if *noise > 0.0 => (NoiseSource::Stated, *noise),
                (None, _) => {
                    let square: f64 = values.iter().zip(&table.values).map(|(a, b)| (a - b).powi(2)).sum();
                    (NoiseSource::Residuals, (square / (freedom * count)).sqrt())
                }
            };
            levels.observations.push(Noise { observation: observation.name.clone(), source, sd });
            levels.by_value.extend(table.sigma.clone().unwrap_or_else(|| vec![sd; values.len()]));
        }
        levels
    }
}

/// What the data say of the unknowns near some theta.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertainty {
    /// Standard deviation of each unknown's estimate.
    pub sd: Vec<f64>,
    /// Singular values of the sensitivities d value / d relative change of an unknown, largest first.
    pub singular_values: Vec<f64>,
    /// A sentence for each unknown or combination of unknowns that the data do not see.
    pub warnings: Vec<String>,
}

impl Uncertainty {
    /// From observed values and their derivatives by eta, at eta, by any solver; none if they are not
    /// finite.
    ///
    /// To first order the minimiser of the loss moves by A⁺ (√w ε) with A the derivatives of the
    /// residuals √w (value - data) and ε the noise of the data. Where the weights w are as 1/sigma²
    /// its standard deviations are the Cramér-Rao bound.
    pub fn new(
        data: &DataLoss<'_>,
        noise: &NoiseLevels,
        observed: &[WithSlopes],
        eta: &[f64],
    ) -> Option<Self> {
        let (problem, roots) = (data.problem(), data.root_weights());
        let unknowns = problem.unknowns.iter().zip(eta);
        let units: Vec<f64> = unknowns
            .map(|(unknown, &eta)| unit(unknown.theta_of(eta).abs().max(unknown.guess.abs())))
            .collect();
        let sensitivities = Sensitivities::new(&problem.unknowns, eta, &units, observed);
        let (plain, weighted) = (sensitivities.spectrum(|_| 1.0)?, sensitivities.spectrum(|i| roots[i])?);
        let spread: Vec<f64> = noise.by_value.iter().zip(&roots).map(|(sd, root)| sd * root).collect();
        // A value that is missing tells nothing, whatever its noise.
        let relative_sd = weighted.deviations(|i| spread.get(i).copied().unwrap_or(1.0));
        let alone = |&unseen: &usize| -> Vec<f64> {
            (0..problem.unknowns.len()).map(|j| f64::from(j == unseen)).collect()
        };
        let unseen = sensitivities.unseen();
        let unseen = unseen.iter().map(|unseen| hardly_seen(problem, &alone(unseen)));
        Some(Self {
            sd: relative_sd.iter().zip(&units).map(|(sd, unit)| sd * unit).collect(),
            warnings: unseen.chain(plain.warning(problem)).collect(),
            singular_values: plain.singular_values,
        })
    }
}
