//! Least squares with damping, near some weights: the minimum of |J x - b|² + lambda |x|² for any b.

use super::normal::Normal;
use super::preconditioned;
use bilo_fit::parallel;
use bilo_jet::SparseRows;
use faer::linalg::solvers::{Llt, Qr, Solve, SolveLstsq};
use faer::{Mat, Side};
use std::rc::Rc;

/// Columns from which on the factors of a matrix nearby save more than they cost.
const MANY_COLUMNS: usize = 500;

/// What is known of J, in the form that is cheapest to solve with.
pub(crate) enum Tangent {
    /// Few columns that may nearly depend on each other, such as polynomials: QR of J over √lambda, the columns at
    /// unit length. Equations that are not coupled make blocks that are factorised each by itself.
    Columns(Rc<Vec<Block>>),
    /// Few entries per row, such as splines have: J^T J has few entries too.
    Sparse(Rc<SparseRows>),
    /// Fewer weights than rows: J and J^T J.
    Primal(Rc<Mat<f64>>, Mat<f64>),
}

/// Rows and columns of J that have no entries in common with others.
#[derive(PartialEq)]
pub(crate) struct Block {
    pub(crate) rows: Vec<usize>,
    pub(crate) columns: Vec<usize>,
    pub(crate) matrix: Mat<f64>,
}

/// A change of the weights, and of the rows with it.
pub(crate) struct Change {
    pub(crate) weights: Vec<f64>,
    /// J times it.
    pub(crate) rows: Vec<f64>,
}

/// QR of [J/D; √lambda] for each block, and the lengths D of the columns.
type BlockFactors = Rc<Vec<(Qr<f64>, Vec<f64>)>>;

/// A tangent whose matrix is factorised.
pub(crate) enum Factor {
    Columns(Rc<Vec<Block>>, BlockFactors),
    /// With factors of a matrix nearby.
    Near(Rc<Vec<Block>>, BlockFactors),
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
    pub(crate) fn factorise(&self, lambda: f64, weights: usize, threads: usize) -> Option<Factor> {
        Some(match self {
            Tangent::Columns(blocks) => {
                let factors = parallel::each(threads, blocks, |block| {
                    let (stacked, lengths) = stacked(&block.matrix, lambda);
                    (stacked.qr(), lengths)
                });
                Factor::Columns(blocks.clone(), factors.into())
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
            (Factor::Columns(own, _), Tangent::Columns(other)) => own == other,
            (Factor::Sparse(own, _), Tangent::Sparse(other)) => own == other,
            (Factor::Primal(own, _), Tangent::Primal(other, _)) => own == other,
            _ => false,
        }
    }

    /// These factors for another tangent of the same shape, where it would cost much to make its own.
    pub(crate) fn near(&self, tangent: &Tangent) -> Option<Factor> {
        let (Factor::Columns(old, factors), Tangent::Columns(new)) = (self, tangent) else { return None };
        let alike = |(old, new): (&Block, &Block)| old.rows == new.rows && old.columns == new.columns;
        let large = new.iter().any(|block| block.columns.len() >= MANY_COLUMNS);
        let alike = old.len() == new.len() && old.iter().zip(&**new).all(alike);
        (large && alike && old != new).then(|| Factor::Near(new.clone(), factors.clone()))
    }

    /// The change for each b; none if the factors are those of a matrix that is not near enough.
    pub(crate) fn solve(&self, right: &[&[f64]], threads: usize) -> Option<Vec<Change>> {
        let Some(first) = right.first() else { return Some(vec![]) };
        let b = || Mat::from_fn(first.len(), right.len(), |i, k| right[k][i]);
        let (weights, moved) = match self {
            Factor::Columns(blocks, factors) => {
                let (blocks, factors) = (&blocks[..], &factors[..]);
                return by_blocks(blocks, right, threads, |number, b| {
                    let (qr, lengths) = &factors[number];
                    Some(least_squares(qr, lengths, b))
                });
            }
            Factor::Near(blocks, factors) => {
                let (blocks, factors) = (&blocks[..], &factors[..]);
                return by_blocks(blocks, right, threads, |number, b| {
                    let (qr, lengths) = &factors[number];
                    preconditioned::least_squares(&blocks[number].matrix, qr.thin_R(), lengths, b)
                });
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
        Some(weights.into_iter().zip(moved).map(|(weights, rows)| Change { weights, rows }).collect())
    }
}

/// The change for each b, block by block; none if one of them cannot be solved.
fn by_blocks(
    blocks: &[Block],
    right: &[&[f64]],
    threads: usize,
    solve: impl Fn(usize, &Mat<f64>) -> Option<Mat<f64>> + Sync,
) -> Option<Vec<Change>> {
    let weights: usize = blocks.iter().map(|block| block.columns.len()).sum();
    let rows = right[0].len();
    let mut changes: Vec<Change> =
        right.iter().map(|_| Change { weights: vec![0.0; weights], rows: vec![0.0; rows] }).collect();
    let numbers: Vec<usize> = (0..blocks.len()).collect();
    let solved = parallel::each(threads, &numbers, |&number| {
        let block = &blocks[number];
        let b = Mat::from_fn(block.rows.len(), right.len(), |i, k| right[k][block.rows[i]]);
        let found = solve(number, &b)?;
        let moved = &block.matrix * &found;
        Some((found, moved))
    });
    for (block, solved) in blocks.iter().zip(solved) {
        let (found, moved) = solved?;
        for (k, change) in changes.iter_mut().enumerate() {
            block.columns.iter().enumerate().for_each(|(j, &column)| change.weights[column] = found[(j, k)]);
            block.rows.iter().enumerate().for_each(|(i, &row)| change.rows[row] = moved[(i, k)]);
        }
    }
    Some(changes)
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
