//! Linear systems with J Jᵀ.

use crate::device::{DualFactors, DualSystem, Fault, Solved};
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};
use std::sync::Arc;

/// K = S J Jᵀ S.
pub(super) struct Kernel(Arc<Mat<f64>>);

/// The factors of K + damping.
struct Factors {
    kernel: Arc<Mat<f64>>,
    factor: Llt<f64>,
}

impl Kernel {
    /// From the rows of J Jᵀ, one after the other, and the diagonal of S.
    pub(super) fn new(gram: &[f64], scales: &[f64]) -> Self {
        let count = scales.len();
        let entry = |i: usize, j: usize| scales[i] * gram[i * count + j] * scales[j];
        Self(Arc::new(Mat::from_fn(count, count, entry)))
    }
}

impl DualSystem for Kernel {
    fn factorise(&self, damping: f64) -> Result<Option<Box<dyn DualFactors>>, Fault> {
        let mut matrix = self.0.as_ref().clone();
        (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += damping);
        let factor = matrix.llt(Side::Lower).ok();
        Ok(factor.map(|factor| Box::new(Factors { kernel: self.0.clone(), factor }) as Box<dyn DualFactors>))
    }
}

impl DualFactors for Factors {
    fn solve(&self, right: &[&[f64]]) -> Result<Vec<Solved>, Fault> {
        let right_side = Mat::from_fn(self.kernel.nrows(), right.len(), |i, k| right[k][i]);
        let numbers = self.factor.solve(&right_side);
        let product = self.kernel.as_ref() * &numbers;
        let column = |matrix: &Mat<f64>, k: usize| matrix.col(k).iter().copied().collect();
        let solved = |k| Solved { numbers: column(&numbers, k), product: column(&product, k) };
        Ok((0..right.len()).map(solved).collect())
    }
}
