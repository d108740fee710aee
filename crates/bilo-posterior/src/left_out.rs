//! How well each datum is predicted by the others: leave-one-out cross-validation without leaving anything out, by
//! Pareto-smoothed importance weights (Vehtari, Gelman and Gabry 2017).

use crate::outcome::LeftOut;
use bilo_sample::diagnostics::{mean, sd, smoothed};

/// Weights with a larger shape than this are those of a few draws.
const TRUSTED: f64 = 0.7;

/// Where a log-likelihood varies less, all weights are the same, and the shape of their tail is that of rounding.
const CONSTANT: f64 = 1e-6;

/// Of the log-likelihood of each datum, by chain and draw; none where there is none.
pub(crate) fn left_out(log_likelihood: &[Vec<Vec<f64>>]) -> Option<LeftOut> {
    let draws: Vec<&Vec<f64>> = log_likelihood.iter().flatten().collect();
    let data = draws.first()?.len();
    let (mut each, mut within, mut shapes) = (vec![], vec![], vec![]);
    for i in 0..data {
        let heights: Vec<f64> = draws.iter().map(|draw| draw[i]).collect();
        let raw: Vec<f64> = heights.iter().map(|height| -height).collect();
        let smooth = smoothed(&raw, 1.0);
        each.push(log_sum(heights.iter().zip(&smooth.log_weights).map(|(height, weight)| height + weight)));
        within.push(log_sum(heights.iter().copied()) - (heights.len() as f64).ln());
        shapes.push(if sd(&heights) < CONSTANT { f64::NEG_INFINITY } else { smooth.shape });
    }
    let sum = |values: &[f64]| mean(values) * data as f64;
    Some(LeftOut {
        log_density: sum(&each),
        error: if data > 1 { sd(&each) * (data as f64).sqrt() } else { f64::NAN },
        effective: sum(&within) - sum(&each),
        worst_shape: shapes.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        not_trusted: shapes.iter().filter(|shape| **shape > TRUSTED).count(),
    })
}

/// The logarithm of a sum of exponentials.
fn log_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    top + terms.map(|term| (term - top).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    /// The mean of normal data of known error one under a flat prior: without datum i the others predict it with the variance
    /// 1 + 1/(n - 1) about their mean. Twenty thousand draws leave 1 % of each term.
    #[test]
    fn it_is_what_comes_of_leaving_data_out() {
        let mut random = Pcg64::seed_from_u64(4);
        let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
        let data: Vec<f64> = (0..12).map(|_| normal()).collect();
        let (count, average) = (data.len() as f64, mean(&data));
        let height = |mu: f64, datum: f64| -0.5 * ((datum - mu).powi(2) + std::f64::consts::TAU.ln());
        let draws: Vec<Vec<f64>> = (0..20_000)
            .map(|_| average + normal() / count.sqrt())
            .map(|mu| data.iter().map(|&datum| height(mu, datum)).collect())
            .collect();
        let exactly: f64 = data
            .iter()
            .map(|datum| {
                let (others, variance) = ((average * count - datum) / (count - 1.0), count / (count - 1.0));
                -0.5 * ((datum - others).powi(2) / variance + (std::f64::consts::TAU * variance).ln())
            })
            .sum();
        let found = left_out(&[draws]).expect("data");
        assert!((found.log_density - exactly).abs() < 0.03, "{found:?} {exactly}");
        // One unknown.
        assert!((found.effective - 1.0).abs() < 0.5, "{found:?}");
        assert!(found.worst_shape < TRUSTED && found.not_trusted == 0, "{found:?}");
    }
}
