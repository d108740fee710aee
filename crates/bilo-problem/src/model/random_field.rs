//! Gaussian random fields: drawn once from a seed, the same function on every grid.

use crate::seeds::{Purpose, seed_for};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use std::f64::consts::TAU;

/// Waves that a field is made of. One value is Gaussian up to an excess kurtosis of -3/(2·FEATURES).
const FEATURES: usize = 1000;

/// A Gaussian random field with mean zero and covariance sd² exp(-r²/(2 length²)) at distance r.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomField {
    /// Standard deviation of each value.
    pub sd: f64,
    /// Distance over which values are correlated.
    pub length: f64,
    /// Each seed draws another field.
    pub seed: u64,
}

/// A field as drawn: sd sqrt(2/n) Σ_i cos(k_i·x + b_i) with k_i normal of standard deviation 1/length and
/// b_i uniform (random Fourier features). Its mean and covariance are those of the field.
pub struct Waves {
    amplitude: f64,
    /// k_i and b_i.
    waves: Vec<(Vec<f64>, f64)>,
}

impl RandomField {
    /// Draws the field over so many coordinates.
    pub fn draw(&self, coordinates: usize) -> Waves {
        let mut random = Pcg64::seed_from_u64(seed_for(self.seed, Purpose::RandomField, 0));
        let wave = |_| {
            let normal = |_| -> f64 { StandardNormal.sample(&mut random) };
            let k = (0..coordinates).map(normal).map(|k| k / self.length).collect();
            (k, TAU * random.random::<f64>())
        };
        Waves {
            waves: (0..FEATURES).map(wave).collect(),
            amplitude: self.sd * (2.0 / FEATURES as f64).sqrt(),
        }
    }
}

impl Waves {
    /// The field at points, given by one column per coordinate.
    pub fn at(&self, columns: &[&[f64]]) -> Vec<f64> {
        let wave = |point: usize, (k, phase): &(Vec<f64>, f64)| {
            let angle = k.iter().zip(columns).fold(*phase, |angle, (k, column)| angle + k * column[point]);
            angle.cos()
        };
        let at = |point| self.amplitude * self.waves.iter().map(|w| wave(point, w)).sum::<f64>();
        (0..columns[0].len()).map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over 4000 seeds the mean of a value has the standard error sd/sqrt(4000) = 0.016 sd, a mean of
    /// products of two values at most sqrt(2/4000) sd² = 0.022 sd²; four of each are allowed.
    #[test]
    fn mean_variance_and_covariance_are_those_of_the_formula() {
        let (sd, length, seeds) = (2.0, 0.1, 4000);
        // The distances from the first point: 0, 0.05, 0.1, 0.2 sqrt(0.5), 0.5.
        let x = [0.3, 0.35, 0.3, 0.4, 0.8];
        let y = [0.6, 0.6, 0.7, 0.7, 0.6];
        let (mut mean, mut products) = (0.0, [0.0; 5]);
        for seed in 0..seeds {
            let values = RandomField { sd, length, seed }.draw(2).at(&[&x, &y]);
            mean += values[0] / seeds as f64;
            products.iter_mut().zip(&values).for_each(|(sum, v)| *sum += values[0] * v / seeds as f64);
        }
        assert!(mean.abs() < 4.0 * 0.016 * sd, "mean {mean}");
        for i in 0..5 {
            let square = (x[i] - x[0]).powi(2) + (y[i] - y[0]).powi(2);
            let expected = sd * sd * (-square / (2.0 * length * length)).exp();
            let found = products[i];
            assert!((found - expected).abs() < 4.0 * 0.022 * sd * sd, "{i}: {found}, expected {expected}");
        }
    }

    #[test]
    fn a_seed_is_a_field_whatever_the_points() {
        let field = RandomField { sd: 1.0, length: 0.2, seed: 3 };
        let all = field.draw(1).at(&[&[0.0, 0.25, 0.5]]);
        assert_eq!(field.draw(1).at(&[&[0.5]]), all[2..]);
        let other = RandomField { seed: 4, ..field }.draw(1).at(&[&[0.5]]);
        assert_ne!(other, all[2..]);
    }
}
