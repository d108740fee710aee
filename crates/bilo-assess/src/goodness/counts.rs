//! Chi-square of things that are counted: ones among zeros and ones, particles in stretches of space.

use crate::outcome::ChiSquare;
use bilo_problem::Problem;
use bilo_problem::sites::Sites;
use statrs::distribution::{ContinuousCDF, Normal};

/// Expected counts of a bin that are enough for chi-square's law.
const ENOUGH: f64 = 5.0;

/// Chi-square of counts with these means and variances in bins of neighbouring rows, whose expected counts are at least
/// [`ENOUGH`].
pub(crate) fn of_rows(
    laws: impl Iterator<Item = (f64, f64)>,
    data: &[f64],
    fitted: f64,
) -> Option<ChiSquare> {
    let (mut chi_square, mut bins) = (0.0, 0.0);
    let (mut expected, mut seen, mut spread) = (0.0, 0.0, 0.0);
    for ((mean, variance), &count) in laws.zip(data) {
        (expected, seen, spread) = (expected + mean, seen + count, spread + variance);
        if expected >= ENOUGH {
            chi_square += (seen - expected).powi(2) / spread;
            bins += 1.0;
            (expected, seen, spread) = (0.0, 0.0, 0.0);
        }
    }
    ChiSquare::new(chi_square, bins - fitted)
}

/// Least number expected in a bin: below it the distribution of a count is not nearly normal.
const EXPECTED: f64 = 10.0;

/// Most bins.
const MOST_BINS: f64 = 50.0;

/// Zeros and ones against their probabilities, in bins of neighbouring probabilities.
pub(super) fn bernoulli(values: &[f64], data: &[f64], fitted: f64) -> Option<ChiSquare> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let variance = |i: usize| (values[i] * (1.0 - values[i])).max(0.0);
    let total: f64 = (0..values.len()).map(variance).sum();
    let enough = EXPECTED.max(total / MOST_BINS);
    let (mut square, mut bins) = (0.0, 0.0);
    let (mut spread, mut excess) = (0.0, 0.0);
    for &i in &order {
        spread += variance(i);
        excess += data[i] - values[i];
        if spread >= enough {
            square += excess * excess / spread;
            bins += 1.0;
            (spread, excess) = (0.0, 0.0);
        }
    }
    ChiSquare::new(square, bins - fitted)
}

/// Least sum of variances of zeros and ones that can be wrong in any way that shows ..
const LEAST_VARIANCE: f64 = 1.0;

/// .. and whose sum of squares is nearly normal.
const NEARLY_NORMAL: f64 = 5.0;

/// Most zeros and ones whose sum of squares is compared with its own law.
const MOST_SUMMANDS: usize = 1000;

/// Zeros and ones whose variances are too small for bins: Σ (datum - probability)² against its law (Copas, Applied Statistics 38,
/// 71, 1989), as the chi-square with one degree of freedom that is as improbable. Of very many the law is its normal limit.
pub(super) fn few_bernoulli(values: &[f64], data: &[f64]) -> Option<ChiSquare> {
    // A solver's error may lead a little beyond.
    let values: Vec<f64> = values.iter().map(|p| p.clamp(0.0, 1.0)).collect();
    let variance: f64 = values.iter().map(|p| p * (1.0 - p)).sum();
    if values.len() > MOST_SUMMANDS {
        return (variance >= NEARLY_NORMAL).then(|| normal_limit(&values, data)).flatten();
    }
    let (below, above) = (variance >= LEAST_VARIANCE).then(|| sides_of_sum(&values, data))?;
    let p = (2.0 * below.min(above)).clamp(f64::MIN_POSITIVE, 1.0);
    ChiSquare::new(Normal::standard().inverse_cdf(p / 2.0).powi(2), 1.0)
}

/// The sum in units of its standard deviation from its mean.
fn normal_limit(values: &[f64], data: &[f64]) -> Option<ChiSquare> {
    let sum = |of: &dyn Fn(f64) -> f64| values.iter().map(|&p| of(p)).sum::<f64>();
    let expected = sum(&|p| p * (1.0 - p));
    let spread = sum(&|p| (1.0 - 2.0 * p).powi(2) * p * (1.0 - p));
    let squares: f64 = values.iter().zip(data).map(|(p, datum)| (datum - p).powi(2)).sum();
    ChiSquare::new((squares - expected).powi(2) / spread, 1.0)
}

/// Places of a grid on which the law of a sum is laid out: several for each of [`MOST_SUMMANDS`].
const PLACES: usize = 8192;

/// The probabilities that Σ_i (1 - 2 p_i) x_i, which is Σ (x_i - p_i)² but for a constant, is at most and at least what it is,
/// where x_i = 1 has the probability p_i: summands are rounded to a grid, for the data and for the law alike, and the law is
/// that of one more summand after the other.
fn sides_of_sum(values: &[f64], data: &[f64]) -> (f64, f64) {
    let reach: f64 = values.iter().map(|p| (1.0 - 2.0 * p).abs()).sum();
    let unit = (2.0 * reach / (PLACES - 2 * values.len() - 1) as f64).max(f64::MIN_POSITIVE);
    let steps: Vec<isize> = values.iter().map(|p| ((1.0 - 2.0 * p) / unit).round() as isize).collect();
    let zero = PLACES / 2;
    let at = |place: isize| zero.checked_add_signed(place).filter(|place| *place < PLACES);
    let mut law = vec![0.0; PLACES];
    law[zero] = 1.0;
    for (&p, &step) in values.iter().zip(&steps) {
        let mut next = vec![0.0; PLACES];
        for (place, &mass) in law.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            next[place] += (1.0 - p) * mass;
            if let Some(moved) = at(place as isize - zero as isize + step) {
                next[moved] += p * mass;
            }
        }
        law = next;
    }
    let seen: isize = data.iter().zip(&steps).filter(|(datum, _)| **datum > 0.5).map(|(_, step)| step).sum();
    let seen = at(seen).unwrap_or(PLACES - 1);
    (law[..=seen].iter().sum(), law[seen..].iter().sum())
}

/// Particles against the integral of their intensity, in stretches along the coordinate with the most bins.
pub(super) fn process(problem: &Problem, sites: &Sites, values: &[f64], fitted: f64) -> Option<ChiSquare> {
    let [expected, seen] = &sites.parts[..] else { return None };
    let masses: Vec<f64> =
        expected.places.clone().map(|i| values[i] * expected.weights[i] * sites.count).collect();
    let along = |axis: usize| {
        let column = &sites.sampling.coordinates[axis];
        Some(binned(&column[expected.places.clone()], &masses, &column[seen.places.clone()]))
            .filter(|(_, bins)| bins - fitted >= 1.0)
    };
    let all = (0..problem.coordinates.len()).filter_map(along);
    let (square, bins) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
    ChiSquare::new(square, bins - fitted)
}

/// Chi-square and the number of bins between nodes with masses.
fn binned(nodes: &[f64], masses: &[f64], particles: &[f64]) -> (f64, f64) {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by(|&a, &b| nodes[a].total_cmp(&nodes[b]));
    let mut sorted = particles.to_vec();
    sorted.sort_by(f64::total_cmp);
    let enough = EXPECTED.max(masses.iter().sum::<f64>() / MOST_BINS);
    let (mut square, mut bins, mut mass, mut before) = (0.0, 0.0, 0.0, 0);
    let mut rest = masses.iter().sum::<f64>();
    for (place, &i) in order.iter().enumerate() {
        mass += masses[i];
        let next = order.get(place + 1).map(|&next| nodes[next]);
        // What would be too little for a bin of its own belongs to the last one.
        let ends = next.is_none_or(|next| next > nodes[i] && rest - mass >= enough);
        if mass >= enough && ends {
            let edge = next.map_or(f64::INFINITY, |next| 0.5 * (nodes[i] + next));
            let upto = sorted.partition_point(|particle| *particle <= edge);
            square += ((upto - before) as f64 - mass).powi(2) / mass;
            rest -= mass;
            bins += 1.0;
            (mass, before) = (0.0, upto);
        }
    }
    (square, bins)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 200 nodes of mass 5 and particles that lie evenly: nothing is left. Twice as many on one half: chi-square of
    /// (1500 - 1000)²/1000 at least.
    #[test]
    fn particles_are_counted_where_they_are() {
        let nodes: Vec<f64> = (0..200).map(|i| (f64::from(i) + 0.5) / 200.0).collect();
        let even: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
        let (square, bins) = binned(&nodes, &[5.0; 200], &even);
        assert!(bins == 50.0 && square < 1e-9, "{square} {bins}");
        let more: Vec<f64> = even.iter().copied().chain((0..500).map(|i| f64::from(i) / 1000.0)).collect();
        assert!(binned(&nodes, &[5.0; 200], &more).0 > 250.0);
    }

    /// A thousand coins of known probability: chi-square is near its degrees of freedom; with another probability it is
    /// far beyond.
    #[test]
    fn coins_are_compared_with_their_probabilities() {
        let values: Vec<f64> = (0..1000).map(|i| 0.1 + 0.8 * f64::from(i) / 1000.0).collect();
        let data: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(i, p)| f64::from((i as f64 * 0.618_033_988_75).fract() < *p))
            .collect();
        let right = bernoulli(&values, &data, 1.0).unwrap();
        assert!(right.p > 0.01, "{right:?}");
        let wrong: Vec<f64> = values.iter().map(|p| 0.5 * p).collect();
        assert!(bernoulli(&wrong, &data, 1.0).unwrap().p < 1e-9);
        // Sixty are too few for many bins; squares of places times the golden ratio are spread like random numbers.
        let values: Vec<f64> = (0..60).map(|i| 0.1 + 0.8 * f64::from(i) / 60.0).collect();
        let random = |i: usize| ((i * i) as f64 * 0.618_033_988_75).fract();
        let data: Vec<f64> = values.iter().enumerate().map(|(i, p)| f64::from(random(i) < *p)).collect();
        let right = few_bernoulli(&values, &data).unwrap();
        assert!(right.p > 0.01, "{right:?}");
        let wrong: Vec<f64> = values.iter().map(|p| 1.0 - p).collect();
        assert!(few_bernoulli(&wrong, &data).unwrap().p < 1e-3);
    }

    /// Three zeros and ones with probabilities 0.2, 0.5 and 0.9: the law of the sum by all eight outcomes.
    #[test]
    fn the_law_of_few_zeros_and_ones_is_that_of_all_outcomes() {
        let (values, data) = ([0.2, 0.5, 0.9], [1.0, 0.0, 0.0]);
        let sum = |x: &[f64]| values.iter().zip(x).map(|(p, x)| (x - p).powi(2)).sum::<f64>();
        let (mut below, mut above) = (0.0, 0.0);
        for outcome in 0..8_u32 {
            let x: Vec<f64> = (0..3).map(|i| f64::from(outcome >> i & 1)).collect();
            let likely: f64 =
                values.iter().zip(&x).map(|(p, x)| if *x > 0.5 { *p } else { 1.0 - p }).product();
            below += if sum(&x) <= sum(&data) + 1e-9 { likely } else { 0.0 };
            above += if sum(&x) >= sum(&data) - 1e-9 { likely } else { 0.0 };
        }
        let found = sides_of_sum(&values, &data);
        assert!(
            (found.0 - below).abs() < 1e-12 && (found.1 - above).abs() < 1e-12,
            "{found:?} {below} {above}"
        );
    }

    /// Of an image of nearly certain pixels there are too many for a grid, and it is judged all the same.
    #[test]
    fn very_many_zeros_and_ones_are_compared_with_the_normal_limit() {
        let values: Vec<f64> = (0..20_000).map(|i| if i % 2 == 0 { 3e-4 } else { 1.0 - 3e-4 }).collect();
        let right: Vec<f64> =
            (0..20_000).map(|i| f64::from(u8::from((i % 2 == 1) != (i % 3333 == 5)))).collect();
        assert!(few_bernoulli(&values, &right).unwrap().p > 0.05);
        let wrong: Vec<f64> =
            (0..20_000).map(|i| f64::from(u8::from((i % 2 == 1) != (i % 100 == 5)))).collect();
        assert!(few_bernoulli(&values, &wrong).unwrap().p < 1e-6);
    }

    /// Under the model a probability below 0.05 is as rare as it says, or rarer, since the law is discrete.
    #[test]
    fn few_zeros_and_ones_raise_few_alarms() {
        let values: Vec<f64> = (1..=30).map(|i| f64::from(i) / 31.0).collect();
        let mut state = 11_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut alarms = 0;
        for _ in 0..2000 {
            let data: Vec<f64> = values.iter().map(|p| f64::from(u8::from(uniform() < *p))).collect();
            alarms += usize::from(few_bernoulli(&values, &data).unwrap().p < 0.05);
        }
        // 100 are expected; three binomial standard deviations are 29.
        assert!((71..=129).contains(&alarms), "{alarms} of 2000");
        let wrong: Vec<f64> = values.iter().map(|p| f64::from(u8::from(*p < 0.5))).collect();
        assert!(few_bernoulli(&values, &wrong).unwrap().p < 1e-6);
    }
}
