//! Dense least squares with damping.

use faer::Mat;
use faer::linalg::solvers::{Qr, SolveLstsq};

/// min_x |J x + b|² + lambda |D x|², D the lengths of the columns of J, for any b, by one QR factorisation of
/// J/D above √lambda.
pub(crate) struct Damped {
    factor: Qr<f64>,
    lengths: Vec<f64>,
    rows: usize,
}

impl Damped {
    pub(crate) fn new(jacobian: &Mat<f64>, lambda: f64) -> Self {
        let (rows, columns) = (jacobian.nrows(), jacobian.ncols());
        let lengths: Vec<f64> = (0..columns)
            .map(|j| match jacobian.col(j).norm_l2() {
                0.0 => 1.0,
                length => length,
            })
            .collect();
        let mut stacked = Mat::zeros(rows + columns, columns);
        for (j, length) in lengths.iter().enumerate() {
            for i in 0..rows {
                stacked[(i, j)] = jacobian[(i, j)] / length;
            }
            stacked[(rows + j, j)] = lambda.sqrt();
        }
        Self { factor: stacked.qr(), lengths, rows }
    }

    /// The x of each b.
    pub(crate) fn solve(&self, right: &[&[f64]]) -> Vec<Vec<f64>> {
        let columns = self.lengths.len();
        let entry = |i: usize, k: usize| if i < self.rows { -right[k][i] } else { 0.0 };
        let found = self.factor.solve_lstsq(&Mat::from_fn(self.rows + columns, right.len(), entry));
        (0..right.len()).map(|k| (0..columns).map(|j| found[(j, k)] / self.lengths[j]).collect()).collect()
    }
}
