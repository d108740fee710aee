//! Least squares with damping, near some weights: the minimum of |J x + b|² + lambda |x|² for any b.

use faer::linalg::solvers::{Solve, SolveLstsq};
use faer::{Mat, Side};

/// What is known of J, in the form that is cheapest to solve with.
pub(crate) enum Tangent {
    /// Few columns that may nearly depend on each other, such as features: QR of J over √lambda, the columns at
    /// unit length.
    Columns(Mat<f64>),
    /// Fewer weights than rows: J and J^T J.
    Primal(Mat<f64>, Mat<f64>),
    /// Fewer rows than weights: J J^T alone, for x = -J^T (J J^T + lambda)^-1 b.
    Dual(Mat<f64>),
}

/// A change of the weights, and of the rows with it.
pub(crate) struct Change {
    pub(crate) weights: Vec<f64>,
    /// J times it.
    pub(crate) rows: Vec<f64>,
}

impl Tangent {
    /// With J^T J beside J.
    pub(crate) fn primal(jacobian: Mat<f64>) -> Tangent {
        let gram = jacobian.transpose() * &jacobian;
        Tangent::Primal(jacobian, gram)
    }

    /// The change for each b; none if the matrix is singular. `pull` multiplies by J^T.
    pub(crate) fn solve(
        &self,
        lambda: f64,
        right: &[&[f64]],
        pull: &mut dyn FnMut(&[f64]) -> Vec<f64>,
    ) -> Option<Vec<Change>> {
        let rows = right[0].len();
        let b = Mat::from_fn(rows, right.len(), |i, k| -right[k][i]);
        let column = |matrix: &Mat<f64>, k: usize| matrix.col(k).iter().copied().collect::<Vec<f64>>();
        let (weights, moved): (Vec<Vec<f64>>, Mat<f64>) = match self {
            Tangent::Columns(jacobian) => {
                let found = least_squares(jacobian, lambda, &b);
                let moved = jacobian * &found;
                ((0..right.len()).map(|k| column(&found, k)).collect(), moved)
            }
            Tangent::Primal(jacobian, gram) => {
                let found = damped(gram, lambda)?.solve(&(jacobian.transpose() * &b));
                let moved = jacobian * &found;
                ((0..right.len()).map(|k| column(&found, k)).collect(), moved)
            }
            Tangent::Dual(gram) => {
                let numbers = damped(gram, lambda)?.solve(&b);
                let moved = gram * &numbers;
                ((0..right.len()).map(|k| pull(&column(&numbers, k))).collect(), moved)
            }
        };
        let changes = weights.into_iter().enumerate();
        Some(changes.map(|(k, weights)| Change { weights, rows: column(&moved, k) }).collect())
    }
}

fn damped(gram: &Mat<f64>, lambda: f64) -> Option<faer::linalg::solvers::Llt<f64>> {
    let mut matrix = gram.clone();
    (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += lambda);
    matrix.llt(Side::Lower).ok()
}

/// By QR of [J/D; √lambda], D the lengths of the columns.
fn least_squares(jacobian: &Mat<f64>, lambda: f64, b: &Mat<f64>) -> Mat<f64> {
    let (rows, columns) = (jacobian.nrows(), jacobian.ncols());
    let length = |j: usize| match jacobian.col(j).norm_l2() {
        0.0 => 1.0,
        length => length,
    };
    let lengths: Vec<f64> = (0..columns).map(length).collect();
    let mut stacked = Mat::zeros(rows + columns, columns);
    for (j, length) in lengths.iter().enumerate() {
        let target = stacked.col_mut(j).subrows_mut(0, rows);
        target.iter_mut().zip(jacobian.col(j).iter()).for_each(|(target, entry)| *target = entry / length);
        stacked[(rows + j, j)] = lambda.sqrt();
    }
    let above = |i: usize, k: usize| if i < rows { b[(i, k)] } else { 0.0 };
    let mut found = stacked.qr().solve_lstsq(&Mat::from_fn(rows + columns, b.ncols(), above));
    // Only the first rows hold the solution.
    found.truncate(columns, b.ncols());
    for k in 0..b.ncols() {
        found.col_mut(k).iter_mut().zip(&lengths).for_each(|(entry, length)| *entry /= length);
    }
    found
}
