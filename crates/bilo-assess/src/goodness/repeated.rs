//! Rows that are in the data twice: a copied block, or measurements that were never repeated.

use std::collections::HashMap;

/// More equal values than rounding makes are suspicious from this probability on.
const CHANCE: f64 = 1e-6;

/// The rows, by number from 1, whose place and value an earlier row has to the last digit, where the noise and the digits
/// of the data do not explain so many.
pub(super) fn rows(coordinates: &[Vec<f64>], data: &[f64], noise: f64) -> Vec<usize> {
    let key =
        |i: usize| -> Vec<u64> { coordinates.iter().map(|column| (column[i] + 0.0).to_bits()).collect() };
    let mut first: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
    let (mut repeated, mut pairs) = (vec![], 0.0);
    for i in 0..data.len() {
        let earlier = first.entry(key(i)).or_default();
        pairs += earlier.len() as f64;
        if earlier.iter().any(|&j| data[j] == data[i]) {
            repeated.push(i + 1);
        }
        earlier.push(i);
    }
    // Two normal values with this noise fall into the same unit of rounding.
    let same =
        if noise > 0.0 { (unit(data) / (2.0 * std::f64::consts::PI.sqrt() * noise)).min(1.0) } else { 1.0 };
    if is_chance(repeated.len(), pairs * same) { vec![] } else { repeated }
}

/// The unit that values are rounded to: the smallest distance between two of them.
fn unit(data: &[f64]) -> f64 {
    let mut sorted = data.to_vec();
    sorted.sort_by(f64::total_cmp);
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0);
    gaps.fold(f64::INFINITY, f64::min)
}

/// Whether so many or more are not unlikely where so many are expected, by the bound of Chernoff for Poisson numbers.
fn is_chance(count: usize, expected: f64) -> bool {
    let count = count as f64;
    count <= expected || (count - expected - count * (count / expected).ln()).exp() > CHANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wavy(count: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * i) as f64 * 0.7371).sin()).collect()
    }

    #[test]
    fn a_copied_block_is_found() {
        let (mut x, mut data): (Vec<f64>, Vec<f64>) = ((0..40).map(f64::from).collect(), wavy(40));
        assert!(rows(&[x.clone()], &data, 0.1).is_empty());
        x.extend_from_within(10..15);
        data.extend_from_within(10..15);
        assert_eq!(rows(&[x], &data, 0.1), [41, 42, 43, 44, 45]);
    }

    /// Ten replicates at each of five places, rounded to as much as the noise: equal values are nothing special.
    #[test]
    fn rounding_explains_equal_replicates() {
        let x: Vec<f64> = (0..50).map(|i| f64::from(i / 10)).collect();
        let data: Vec<f64> = wavy(50).iter().map(|value| (value * 5.0).round() / 5.0).collect();
        assert!(rows(&[x], &data, 0.3).is_empty());
    }
}
