//! Importance weights whose tail is smoothed by a generalised Pareto distribution, and the shape of that.

use super::sorted;

/// Smoothed weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoothed {
    /// Logarithms of the weights, whose sum is one.
    pub log_weights: Vec<f64>,
    /// The shape k-hat of the tail: below 0.7 figures by these weights can be relied on.
    pub shape: f64,
}

/// Smooths raw log-weights of draws that are worth `efficiency` times as many independent ones.
pub fn smoothed(log_weights: &[f64], efficiency: f64) -> Smoothed {
    let count = log_weights.len();
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = log_weights.iter().map(|weight| weight - largest).collect();
    let tail = (count as f64 / 5.0).min(3.0 * (count as f64 / efficiency).sqrt()).ceil() as usize;
    let in_order = sorted(weights.iter().copied());
    let beyond = count.checked_sub(tail + 1).map_or(f64::NEG_INFINITY, |place| in_order[place]);
    let cutoff = beyond.max(f64::MIN_POSITIVE.ln());
    let mut places: Vec<usize> = (0..count).filter(|&i| weights[i] > cutoff).collect();
    places.sort_by(|&i, &j| weights[i].total_cmp(&weights[j]));
    let mut shape = f64::INFINITY;
    if places.len() > 4 {
        let excess: Vec<f64> = places.iter().map(|&i| weights[i].exp() - cutoff.exp()).collect();
        let (found, scale) = generalised_pareto(&excess);
        shape = found;
        if shape.is_finite() {
            for (number, &i) in places.iter().enumerate() {
                let part = (number as f64 + 0.5) / places.len() as f64;
                let value = quantile(part, shape, scale);
                weights[i] = (value + cutoff.exp()).ln().min(0.0);
            }
        }
    }
    let sum = weights.iter().map(|weight| weight.exp()).sum::<f64>().ln();
    weights.iter_mut().for_each(|weight| *weight -= sum);
    Smoothed { log_weights: weights, shape }
}

/// Shape and scale of a generalised Pareto distribution by sorted data (Zhang and Stephens 2009), the shape pulled a little to
/// one half.
fn generalised_pareto(data: &[f64]) -> (f64, f64) {
    const PRIOR: f64 = 3.0;
    const PRIOR_SHAPE: f64 = 10.0;
    let n = data.len() as f64;
    let candidates = 30 + n.sqrt() as usize;
    let quartile = data[((n / 4.0 + 0.5) as usize).saturating_sub(1)];
    let largest = data[data.len() - 1];
    let shape_of = |b: f64| data.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n;
    let candidate = |i: usize| {
        let b = 1.0 - (candidates as f64 / (i as f64 + 0.5)).sqrt();
        b / (PRIOR * quartile) + 1.0 / largest
    };
    let bs: Vec<f64> = (0..candidates).map(candidate).collect();
    let heights: Vec<f64> = bs
        .iter()
        .map(|&b| {
            let shape = shape_of(b);
            n * ((-(b / shape)).ln() - shape - 1.0)
        })
        .collect();
    let weight = |i: usize| heights.iter().map(|height| (height - heights[i]).exp()).sum::<f64>().recip();
    let kept = (0..candidates).map(|i| (bs[i], weight(i)));
    let kept: Vec<(f64, f64)> = kept.filter(|(_, weight)| *weight >= 10.0 * f64::EPSILON).collect();
    let sum: f64 = kept.iter().map(|(_, weight)| weight).sum();
    let b = kept.iter().map(|(b, weight)| b * weight / sum).sum::<f64>();
    let shape = shape_of(b);
    ((n * shape + PRIOR_SHAPE * 0.5) / (n + PRIOR_SHAPE), -shape / b)
}

fn quantile(part: f64, shape: f64, scale: f64) -> f64 {
    let exponent = -(-part).ln_1p();
    scale * if shape.abs() < f64::EPSILON { exponent } else { (shape * exponent).exp_m1() / shape }
}
