//! The scales and correlations that trajectories are straightened by.

use faer::{Mat, Side};
use serde::{Deserialize, Serialize};

/// A factor L of a covariance L Lᵀ, by which positions move as x += L p for momenta p of unit variance: the Euclidean
/// metric of Hamiltonian sampling with mass (L Lᵀ)⁻¹.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Metric {
    /// One scale for each coordinate.
    Diagonal(Vec<f64>),
    /// The lower triangle, row by row.
    Dense(Vec<Vec<f64>>),
}

impl Metric {
    /// All scales one.
    pub fn unit(dimension: usize) -> Metric {
        Metric::Diagonal(vec![1.0; dimension])
    }

    /// That of a covariance, by its rows; none if it is not positive definite.
    pub fn of_covariance(covariance: &[Vec<f64>]) -> Option<Metric> {
        let matrix = Mat::from_fn(covariance.len(), covariance.len(), |i, j| covariance[i][j]);
        let factor = matrix.llt(Side::Lower).ok()?;
        let row = |i: usize| (0..=i).map(|j| factor.L()[(i, j)]).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = (0..covariance.len()).map(row).collect();
        rows.iter().flatten().all(|entry| entry.is_finite()).then_some(Metric::Dense(rows))
    }

    /// The number of coordinates.
    pub fn dimension(&self) -> usize {
        match self {
            Metric::Diagonal(scales) => scales.len(),
            Metric::Dense(rows) => rows.len(),
        }
    }

    /// `position += step L momentum`.
    pub fn advance(&self, position: &mut [f64], step: f64, momentum: &[f64]) {
        match self {
            Metric::Diagonal(scales) => {
                for ((x, scale), p) in position.iter_mut().zip(scales).zip(momentum) {
                    *x += step * scale * p;
                }
            }
            Metric::Dense(rows) => {
                for (x, row) in position.iter_mut().zip(rows) {
                    *x += step * row.iter().zip(momentum).map(|(l, p)| l * p).sum::<f64>();
                }
            }
        }
    }

    /// `momentum += step Lᵀ gradient`.
    pub fn kick(&self, momentum: &mut [f64], step: f64, gradient: &[f64]) {
        match self {
            Metric::Diagonal(scales) => {
                for ((p, scale), g) in momentum.iter_mut().zip(scales).zip(gradient) {
                    *p += step * scale * g;
                }
            }
            Metric::Dense(rows) => {
                for (row, g) in rows.iter().zip(gradient) {
                    momentum.iter_mut().zip(row).for_each(|(p, l)| *p += step * l * g);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L Lᵀ is the covariance, and kicks are by the transpose of what advances are by.
    #[test]
    fn a_dense_metric_is_a_factor_of_the_covariance() {
        let covariance = vec![vec![4.0, 1.0], vec![1.0, 2.0]];
        let metric = Metric::of_covariance(&covariance).expect("positive definite");
        for (j, of_column) in covariance.iter().enumerate() {
            let (mut momentum, mut column) = (vec![0.0; 2], vec![0.0; 2]);
            let unit: Vec<f64> = (0..2).map(|i| f64::from(i == j)).collect();
            metric.kick(&mut momentum, 1.0, &unit);
            metric.advance(&mut column, 1.0, &momentum);
            // It is symmetric.
            for (ours, exactly) in column.iter().zip(of_column) {
                assert!((ours - exactly).abs() < 1e-14, "{column:?}");
            }
        }
        assert_eq!(Metric::of_covariance(&[vec![1.0, 2.0], vec![2.0, 1.0]]), None);
    }
}
