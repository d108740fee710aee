//! What draws of several chains say of themselves: rank-normalised split R-hat, effective sample sizes and Monte Carlo
//! errors (Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021), the energy's fraction of missing information, and
//! Pareto-smoothed importance weights (Vehtari, Simpson, Gelman, Yao and Gabry 2024), each as ArviZ computes it.
//!
//! Chains are slices of one quantity, all of one length. Where a figure cannot be had, as of draws that are all alike, it is NaN.

mod effective;
mod pareto;

pub use effective::{ess, ess_bulk, ess_mean, ess_tail, mcse_mean, mcse_sd, rhat};
pub use pareto::{Smoothed, smoothed};

/// The energy's Bayesian fraction of missing information, by the energies of one chain: below 0.3 momenta hardly change the
/// energy, and tails are explored slowly.
pub fn ebfmi(energies: &[f64]) -> f64 {
    let squares: f64 = energies.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    squares / energies.len() as f64 / variance(energies, 0.0)
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance, with so much taken off the number of values.
fn variance(values: &[f64], off: f64) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - off)
}

/// The standard deviation, without bias.
pub fn sd(values: &[f64]) -> f64 {
    variance(values, 1.0).sqrt()
}

/// The value below which a part of sorted values lies, linear between them.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, rest) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + rest * (sorted[above] - sorted[below])
}

/// In rising order; NaN at the end.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}
