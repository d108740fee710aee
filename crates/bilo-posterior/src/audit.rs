//! Another solver asked about the posterior: what its log-density makes of some of the draws.
//!
//! With l' the log-density by the other solver and l the one that was sampled, draws with the weights exp(l' - l) are draws
//! of the other posterior. The weights are Pareto-smoothed; their shape k says whether they can be trusted (Vehtari et al.
//! 2024). The shift that they make of a mean is said with its own Monte Carlo error.

use crate::density::Source;
use crate::outcome::{AuditOutcome, ShiftOutcome};
use crate::sampling::Kept;
use bilo_fit::parallel;
use bilo_problem::Problem;
use bilo_problem::diagnostic::{ErrorKind, Result};
use bilo_sample::diagnostics::{mean, sd, smoothed};
use std::sync::Mutex;

/// Draws that the other solver is asked about, in all.
pub(crate) const DRAWS: usize = 200;

/// Weights with a larger shape than this are those of a few draws.
pub(crate) const TRUSTED: f64 = 0.7;

/// The log-densities by another solver at evenly spaced draws of all chains, and what follows.
pub fn audit(
    problem: &Problem,
    chains: &[Vec<Kept>],
    other: &dyn Source,
    threads: Option<usize>,
) -> Result<AuditOutcome> {
    let chosen = thinned(chains, DRAWS);
    let threads = parallel::threads(threads);
    let parts: Vec<&[&Kept]> = chosen.chunks(chosen.len().div_ceil(threads).max(1)).collect();
    let found = parallel::each(threads, &parts, |part| heights(part, other));
    let heights: Vec<f64> = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let differences: Vec<f64> =
        heights.iter().zip(&chosen).map(|(height, draw)| height - draw.log_density).collect();
    let failed = differences.iter().filter(|difference| !difference.is_finite()).count();
    let smooth = smoothed(&differences, 1.0);
    let weights: Vec<f64> = smooth.log_weights.iter().map(|weight| weight.exp()).collect();
    let ranges = crate::density::ranges(problem);
    let shift = |(j, unknown): (usize, &bilo_problem::Unknown)| {
        let values: Vec<f64> = chosen.iter().map(|draw| ranges[j].theta(draw.position[j])).collect();
        shifted(&unknown.name, &values, &weights)
    };
    Ok(AuditOutcome {
        solver: other.in_words(),
        draws: chosen.len(),
        failed,
        // Where all weights are the same there is no tail that could be heavy.
        shape: smooth.shape,
        spread: sd(&differences.iter().copied().filter(|d| d.is_finite()).collect::<Vec<_>>()),
        unknowns: problem.unknowns.iter().enumerate().map(shift).collect(),
    })
}

/// So many draws in all, evenly spaced.
pub(crate) fn thinned(chains: &[Vec<Kept>], count: usize) -> Vec<&Kept> {
    let each = count.div_ceil(chains.len().max(1));
    let of = |chain: &'_ Vec<Kept>| {
        let step = (chain.len() / each).max(1);
        (step - 1..chain.len()).step_by(step).take(each).collect::<Vec<_>>()
    };
    chains.iter().flat_map(|chain| of(chain).into_iter().map(|i| &chain[i]).collect::<Vec<_>>()).collect()
}

/// Minus infinity where it has no solution.
fn heights(draws: &[&Kept], other: &dyn Source) -> Result<Vec<f64>> {
    let heights = Mutex::new(vec![]);
    other.with(&mut |density| {
        for draw in draws {
            let height = match density.predict(&draw.position).map_err(crate::density::error) {
                Ok(prediction) => prediction.log_density,
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                Err(_) => f64::NEG_INFINITY,
            };
            heights.lock().expect("no thread panics").push(height);
        }
        Ok(())
    })?;
    Ok(heights.into_inner().expect("no thread panics"))
}

/// How weights that sum to one move mean and standard deviation of some values, the former with the error that so few
/// draws leave.
fn shifted(name: &str, values: &[f64], weights: &[f64]) -> ShiftOutcome {
    let count = values.len() as f64;
    let (before, spread) = (mean(values), sd(values));
    let weighted = |of: &dyn Fn(f64) -> f64| values.iter().zip(weights).map(|(x, w)| w * of(*x)).sum::<f64>();
    let after = weighted(&|x| x);
    let square = weighted(&|x| (x - after).powi(2));
    let error: f64 = values
        .iter()
        .zip(weights)
        .map(|(x, w)| ((w - 1.0 / count) * (x - after)).powi(2))
        .sum::<f64>()
        .sqrt();
    ShiftOutcome {
        name: name.to_owned(),
        of_mean: after - before,
        of_mean_error: error,
        sd_ratio: (square * count / (count - 1.0)).sqrt() / spread,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Normal values with the weights of another mean: the shift is the difference within its error.
    #[test]
    fn weights_move_the_mean() {
        let count = 2000;
        // Quantiles of a standard normal density, by a rational approximation good enough here.
        let values: Vec<f64> = (0..count)
            .map(|i| {
                let p = (i as f64 + 0.5) / f64::from(count);
                let t = (-2.0 * p.min(1.0 - p).ln()).sqrt();
                let x = t - (2.30753 + 0.27061 * t) / (1.0 + 0.99229 * t + 0.04481 * t * t);
                if p < 0.5 { -x } else { x }
            })
            .collect();
        let differences: Vec<f64> = values.iter().map(|x| 0.3 * x - 0.045).collect();
        let weights: Vec<f64> = smoothed(&differences, 1.0).log_weights.iter().map(|w| w.exp()).collect();
        let shift = shifted("k", &values, &weights);
        assert!((shift.of_mean - 0.3).abs() < 0.01, "{shift:?}");
        assert!(shift.of_mean_error > 0.0 && shift.of_mean_error < 0.02, "{shift:?}");
        assert!((shift.sd_ratio - 1.0).abs() < 0.02, "{shift:?}");
    }
}
