//! Linear systems with J Jᵀ.

use crate::device::Solved;
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};

/// K = S J Jᵀ S, and the factors of K + damping.
pub(super) struct Dual {
    kernel: Mat<f64>,
    factor: Option<Llt<f64>>,
}

impl Dual {
    /// From the rows of J Jᵀ, one after the other, and the diagonal of S.
    pub(super) fn new(gram: &[f64], scales: &[f64]) -> Self {
        let count = scales.len();
        let entry = |i: usize, j: usize| scales[i] * gram[i * count + j] * scales[j];
        Self { kernel: Mat::from_fn(count, count, entry), factor: None }
    }

    pub(super) fn factorise(&mut self, damping: f64) -> bool {
        let mut matrix = self.kernel.clone();
        (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += damping);
        self.factor = matrix.llt(Side::Lower).ok();
        self.factor.is_some()
    }

    pub(super) fn solve(&self, right: &[&[f64]]) -> Vec<Solved> {
        let factor = self.factor.as_ref().expect("it was factorised");
        let numbers = factor.solve(&Mat::from_fn(self.kernel.nrows(), right.len(), |i, k| right[k][i]));
        let product = &self.kernel * &numbers;
        let column = |matrix: &Mat<f64>, k: usize| matrix.col(k).iter().copied().collect();
        (0..right.len())
            .map(|k| Solved { numbers: column(&numbers, k), product: column(&product, k) })
            .collect()
    }
}
