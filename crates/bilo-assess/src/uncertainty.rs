//! How well the data determine the unknowns: standard deviations from the derivatives of the observed
//! values, and combinations of unknowns that the data do not see.

use crate::noise::NoiseLevels;
use bilo_fit::sensitivities::Sensitivities;
use bilo_fit::spectrum::{RelativeSensitivities, deviations};
use bilo_problem::Problem;
use bilo_problem::theta::unit;

/// What the data say of the unknowns near some theta.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertainty {
    /// Standard deviation of each unknown's estimate.
    pub sd: Vec<f64>,
    /// Correlations of the estimates; not numbers where one of two unknowns is not seen.
    pub correlations: Vec<Vec<f64>>,
    /// Singular values of the sensitivities d value / d relative change of an unknown, largest first.
    pub singular_values: Vec<f64>,
    /// The direction, in relative changes of the unknowns, that the data see least.
    weakest: Vec<f64>,
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
        // Relative to the errors: observations may have any units.
        let weighted = sensitivities.spectrum(|i| noise.roots[i])?;
        // A value that is missing tells nothing, whatever its noise.
        let covariances = weighted.covariances(|i| noise.spread.get(i).copied().unwrap_or(1.0));
        let relative_sd = deviations(&covariances);
        let alone = |&unseen: &usize| -> Vec<f64> {
            (0..problem.unknowns.len()).map(|j| f64::from(j == unseen)).collect()
        };
        Some(Self {
            sd: relative_sd.iter().zip(&units).map(|(sd, unit)| sd * unit).collect(),
            correlations: correlations(&covariances, &relative_sd),
            weakest: sensitivities.unseen().first().map_or_else(|| weighted.weakest.clone(), alone),
            singular_values: weighted.singular_values,
        })
    }
}

impl Uncertainty {
    /// What the data see least: an unknown, or a combination of several.
    pub(crate) fn weakest_in_words(&self, problem: &Problem) -> String {
        let shares = problem.unknowns.iter().zip(&self.weakest).filter(|(_, share)| share.abs() > 0.1);
        let shares: Vec<(&str, f64)> = shares.map(|(unknown, share)| (&unknown.name[..], *share)).collect();
        match &shares[..] {
            [(alone, _)] => format!("the unknown {alone}"),
            _ => {
                let parts: Vec<String> =
                    shares.iter().map(|(name, share)| format!("{share:+.2} {name}")).collect();
                format!("the combination {} of relative changes", parts.join(" "))
            }
        }
    }
}

/// Of each unknown with each.
fn correlations(covariances: &[Vec<f64>], sd: &[f64]) -> Vec<Vec<f64>> {
    let entry = |i: usize, j: usize| if i == j { 1.0 } else { covariances[i][j] / (sd[i] * sd[j]) };
    (0..sd.len()).map(|i| (0..sd.len()).map(|j| entry(i, j)).collect()).collect()
}
