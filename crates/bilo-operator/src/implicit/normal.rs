//! Least squares by the normal equations J^T J x = J^T b of a matrix with few entries per row.
//!
//! They have the square of the condition number of J. Splines on equal cells afford that: the condition number of
//! J grows like a power of the number of cells, where that of polynomials has no bound.

use bilo_jet::SparseRows;
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::Llt;
use faer::sparse::{SparseColMat, SymbolicSparseColMat, Triplet};
use faer::{Mat, Side};

/// Columns of J at unit length, and the factors of J^T J + lambda.
pub(crate) struct Normal {
    llt: Llt<usize, f64>,
    lengths: Vec<f64>,
}

impl Normal {
    /// None if rounding makes the matrix singular.
    pub(crate) fn new(jacobian: &SparseRows, lambda: f64, weights: usize) -> Option<Normal> {
        let mut squares = vec![0.0; weights];
        jacobian.columns.iter().zip(&jacobian.values).for_each(|(&j, value)| squares[j] += value * value);
        let length = |&square: &f64| if square == 0.0 { 1.0 } else { square.sqrt() };
        let lengths: Vec<f64> = squares.iter().map(length).collect();
        let llt = gram(jacobian, &lengths, lambda).sp_cholesky(Side::Lower).ok()?;
        Some(Normal { llt, lengths })
    }

    /// The minimum of |J x + b|² + lambda |x|² for each b.
    pub(crate) fn solve(&self, jacobian: &SparseRows, right: &[&[f64]]) -> Vec<Vec<f64>> {
        let mut pulled = Mat::zeros(self.lengths.len(), right.len());
        for (k, b) in right.iter().enumerate() {
            let mut column = pulled.col_mut(k);
            for (row, number) in b.iter().enumerate().filter(|(_, number)| **number != 0.0) {
                jacobian.row(row).for_each(|(j, value)| column[j] += value / self.lengths[j] * number);
            }
        }
        let found = self.llt.solve(&pulled);
        let scaled = |column: faer::ColRef<'_, f64>| {
            column.iter().zip(&self.lengths).map(|(entry, length)| entry / length).collect()
        };
        found.col_iter().map(scaled).collect()
    }
}

/// D^-1 J^T J D^-1 + lambda.
fn gram(jacobian: &SparseRows, lengths: &[f64], lambda: f64) -> SparseColMat<usize, f64> {
    let count = lengths.len();
    let scaled = jacobian.columns.iter().zip(&jacobian.values).map(|(&j, value)| value / lengths[j]);
    // The rows of J are the columns of its transpose.
    let (starts, columns) = (jacobian.starts.clone(), jacobian.columns.clone());
    let pattern = SymbolicSparseColMat::new_checked(count, jacobian.count(), starts, None, columns);
    let transposed = SparseColMat::new(pattern, scaled.collect());
    let mut gram = &transposed * transposed.transpose().to_col_major().expect("memory for it");
    let diagonal = Vec::from_iter((0..count).map(|j| Triplet::new(j, j, lambda)));
    let diagonal =
        SparseColMat::try_new_from_triplets(count, count, &diagonal).expect("its places are there");
    gram = &gram + &diagonal;
    gram
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::linalg::solvers::SolveLstsq;

    /// Against QR of the same matrix, whose columns at unit length have a condition number below ten: rounding.
    #[test]
    fn the_minimum_is_that_of_dense_least_squares() {
        let (rows, weights) = (12, 5);
        let entry = |i: usize, j: usize| ((7 * i + 3 * j) as f64).sin() * [1.0, 20.0, 0.3, 1.0, 2.0][j];
        let columns = |i: usize| [i % 4, i % 4 + 1];
        let mut jacobian = SparseRows { starts: vec![0], ..SparseRows::default() };
        for i in 0..rows {
            jacobian.columns.extend(columns(i));
            jacobian.values.extend(columns(i).map(|j| entry(i, j)));
            jacobian.starts.push(jacobian.values.len());
        }
        let dense =
            Mat::from_fn(rows, weights, |i, j| if columns(i).contains(&j) { entry(i, j) } else { 0.0 });
        let b: Vec<f64> = (0..rows).map(|i| (i as f64).cos()).collect();
        let exact = dense.qr().solve_lstsq(&Mat::from_fn(rows, 1, |i, _| b[i]));
        let normal = Normal::new(&jacobian, 1e-22, weights).unwrap();
        let found = normal.solve(&jacobian, &[&b]).swap_remove(0);
        for (j, found) in found.iter().enumerate() {
            let exact = exact[(j, 0)];
            assert!((found - exact).abs() < 1e-13 * exact.abs(), "{j}: {found} {exact}");
        }
    }

    #[test]
    fn what_is_not_finite_has_no_factors() {
        let jacobian = SparseRows { starts: vec![0, 1], columns: vec![0], values: vec![f64::NAN] };
        assert!(Normal::new(&jacobian, 1.0, 1).is_none());
    }

    #[test]
    fn a_weight_that_no_row_knows_stays() {
        let jacobian = SparseRows { starts: vec![0, 1], columns: vec![0], values: vec![2.0] };
        let normal = Normal::new(&jacobian, 1e-12, 2).unwrap();
        let found = normal.solve(&jacobian, &[&[1.0]]).swap_remove(0);
        assert!((found[0] - 0.5).abs() < 1e-11 && found[1] == 0.0, "{found:?}");
    }
}
