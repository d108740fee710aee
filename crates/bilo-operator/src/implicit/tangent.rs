//! Least squares with damping, near some weights: the minimum of |J x - b|² + lambda |x|² for any b.

use super::normal::Normal;
use bilo_jet::SparseRows;
use faer::linalg::solvers::{Llt, Qr, Solve, SolveLstsq};
use faer::{Mat, Side};
use std::rc::Rc;

/// What is known of J, in the form that is cheapest to solve with.
pub(crate) enum Tangent {
    /// Few columns that may nearly depend on each other, such as polynomials: QR of J over √lambda, the columns at
    /// unit length.
    Columns(Rc<Mat<f64>>),
    /// Few entries per row, such as splines have: J^T J has few entries too.
    Sparse(Rc<SparseRows>),
    /// Fewer weights than rows: J and J^T J.
    Primal(Rc<Mat<f64>>, Mat<f64>),
}

/// A change of the weights, and of the rows with it.
pub(crate) struct Change {
    pub(crate) weights: Vec<f64>,
    /// J times it.
    pub(crate) rows: Vec<f64>,
}

/// A tangent whose matrix is factorised.
pub(crate) enum Factor {
    Columns(Rc<Mat<f64>>, Qr<f64>, Vec<f64>),
    Sparse(Rc<SparseRows>, Normal),
    Primal(Rc<Mat<f64>>, Llt<f64>),
}

impl Tangent {
    /// With J^T J beside J.
    pub(crate) fn primal(jacobian: Mat<f64>) -> Tangent {
        let gram = jacobian.transpose() * &jacobian;
        Tangent::Primal(jacobian.into(), gram)
    }

    /// Factorises the matrix of so many weights; none if it is singular.
    pub(crate) fn factorise(&self, lambda: f64, weights: usize) -> Option<Factor> {
        Some(match self {
            Tangent::Columns(jacobian) => {
                let (stacked, lengths) = stacked(jacobian, lambda);
                Factor::Columns(jacobian.clone(), stacked.qr(), lengths)
            }
            Tangent::Sparse(jacobian) => {
                Factor::Sparse(jacobian.clone(), Normal::new(jacobian, lambda, weights)?)
            }
            Tangent::Primal(jacobian, gram) => Factor::Primal(jacobian.clone(), damped(gram, lambda)?),
        })
    }
}

impl Factor {
    /// Whether a tangent has this matrix.
    pub(crate) fn is_of(&self, tangent: &Tangent) -> bool {
        match (self, tangent) {
            (Factor::Columns(own, ..), Tangent::Columns(other)) => own == other,
            (Factor::Sparse(own, _), Tangent::Sparse(other)) => own == other,
            (Factor::Primal(own, _), Tangent::Primal(other, _)) => own == other,
            _ => false,
        }
    }

    /// The change for each b.
    pub(crate) fn solve(&self, right: &[&[f64]]) -> Vec<Change> {
        let Some(first) = right.first() else { return vec![] };
        let b = || Mat::from_fn(first.len(), right.len(), |i, k| right[k][i]);
        let (weights, moved) = match self {
            Factor::Columns(jacobian, qr, lengths) => {
                let found = least_squares(qr, lengths, &b());
                let moved = &**jacobian * &found;
                (columns(&found), columns(&moved))
            }
            Factor::Sparse(jacobian, normal) => {
                let found = normal.solve(jacobian, right);
                let moved = jacobian.times(&found);
                (found, moved)
            }
            Factor::Primal(jacobian, llt) => {
                let found = llt.solve(&(jacobian.transpose() * b()));
                let moved = &**jacobian * &found;
                (columns(&found), columns(&moved))
            }
        };
        weights.into_iter().zip(moved).map(|(weights, rows)| Change { weights, rows }).collect()
    }
}

fn columns(matrix: &Mat<f64>) -> Vec<Vec<f64>> {
    matrix.col_iter().map(|column| column.iter().copied().collect()).collect()
}

fn damped(gram: &Mat<f64>, lambda: f64) -> Option<Llt<f64>> {
    let mut matrix = gram.clone();
    (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += lambda);
    matrix.llt(Side::Lower).ok()
}

/// [J/D; √lambda] and the lengths D of the columns.
fn stacked(jacobian: &Mat<f64>, lambda: f64) -> (Mat<f64>, Vec<f64>) {
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
    (stacked, lengths)
}

/// By QR of [J/D; √lambda].
fn least_squares(qr: &Qr<f64>, lengths: &[f64], b: &Mat<f64>) -> Mat<f64> {
    let (rows, columns) = (b.nrows(), lengths.len());
    let above = |i: usize, k: usize| if i < rows { b[(i, k)] } else { 0.0 };
    let mut found = qr.solve_lstsq(&Mat::from_fn(rows + columns, b.ncols(), above));
    // Only the first rows hold the solution.
    found.truncate(columns, b.ncols());
    for k in 0..b.ncols() {
        found.col_mut(k).iter_mut().zip(lengths).for_each(|(entry, length)| *entry /= length);
    }
    found
}
