//! The derivatives of residuals by the weights as products, without writing them out: where an affine map
//! has the matrix W, residual a has the derivative G_a = Σ_c λ_c x_cᵀ by it, a sum over the components c of
//! the plan. Then
//!
//! ```text
//! G_a · G_b = Σ_cc' (λ_c(a) · λ_c'(b)) (x_c(a) · x_c'(b))
//! ```
//!
//! which takes width + columns of W multiplications for each pair of components instead of width · columns.

use super::gradient::TrainedBlock;
use super::{JetNetwork, Workspace};
use bilo_linear::{Matrix, MatrixMut, Scalar, product};

/// A matrix with (width · columns)/(width + columns) up to this is small: its derivatives are written out. By
/// the formula above a large one costs as if this were the square of the number of components, 9 for the
/// usual three.
const SMALL: usize = 8;

/// What the derivatives of Q residuals by the weights of a network are made of, at some points.
pub(crate) struct Factors<T> {
    points: usize,
    /// By residual: the derivatives by all small matrices and biases, one row per point.
    rows: Vec<Vec<T>>,
    /// By large matrix.
    products: Vec<Product<T>>,
}

/// λ and x of a large matrix: planes by component, with one row per point.
struct Product<T> {
    components: usize,
    width: usize,
    columns: usize,
    /// By residual.
    adjoints: Vec<Vec<T>>,
    input: Vec<T>,
}

/// Buffers for [`Factors::add_products`].
#[derive(Default)]
pub(crate) struct Scratch<T> {
    adjoints: Vec<T>,
    inputs: Vec<T>,
}

impl<T: Scalar> JetNetwork<T> {
    fn is_small(&self, block: &TrainedBlock) -> bool {
        let width = self.width(block.node);
        width * block.columns <= SMALL * (width + block.columns)
    }

    /// Room for the factors of so many residuals at so many points.
    pub(crate) fn factors(&self, points: usize, residuals: usize) -> Factors<T> {
        let small = self.trained.iter().filter(|block| self.is_small(block));
        let columns: usize = small.map(|block| self.width(block.node) * block.columns).sum();
        let zeros = |length: usize| vec![T::default(); length];
        let large = self.trained.iter().filter(|block| !self.is_small(block));
        let products = large.map(|block| {
            let source = block.source.expect("a bias is small");
            let (components, width) = (self.live(source).0, self.width(block.node));
            Product {
                components,
                width,
                columns: block.columns,
                adjoints: vec![zeros(components * points * width); residuals],
                input: zeros(components * points * block.columns),
            }
        });
        Factors { points, rows: vec![zeros(points * columns); residuals], products: products.collect() }
    }

    /// Writes the factors of the first `count` points of a tile to the places from `first` on; the adjoints λ_q
    /// must have been swept back.
    pub(crate) fn fill_factors(
        &self,
        work: &Workspace<T>,
        first: usize,
        count: usize,
        factors: &mut Factors<T>,
    ) {
        for (q, rows) in factors.rows.iter_mut().enumerate() {
            let columns = rows.len() / factors.points;
            for point in 0..count {
                let mut rest = &mut rows[(first + point) * columns..(first + point + 1) * columns];
                for block in self.trained.iter().filter(|block| self.is_small(block)) {
                    let (own, others) = rest.split_at_mut(self.width(block.node) * block.columns);
                    self.block_row(work, 1 + q, point, block, own);
                    rest = others;
                }
            }
        }
        let large = self.trained.iter().filter(|block| !self.is_small(block));
        for (block, product) in large.zip(&mut factors.products) {
            let source = block.source.expect("a bias is small");
            let (width, columns) = (product.width, product.columns);
            let copy = |from: &[T], to: &mut [T], width: usize| {
                let planes = from.chunks_exact(work.points * width);
                for (from, to) in planes.zip(to.chunks_exact_mut(factors.points * width)) {
                    to[first * width..(first + count) * width].copy_from_slice(&from[..count * width]);
                }
            };
            for (q, adjoints) in product.adjoints.iter_mut().enumerate() {
                let group = (1 + q) * self.plan.len() * work.points * width;
                copy(&work.nodes[block.node].adjoint[group..], adjoints, width);
            }
            copy(&work.nodes[source].forward, &mut product.input, columns);
        }
    }
}

impl<T: Scalar> Factors<T> {
    /// Adds the products of all rows of this with all rows of another, of the same network: by the residuals
    /// of this and of the other, a matrix over the points of this and of the other.
    pub(crate) fn add_products(&self, other: &Self, scratch: &mut Scratch<T>, targets: &mut [Vec<T>]) {
        for (rows, targets) in self.rows.iter().zip(targets.chunks_exact_mut(other.rows.len())) {
            for (others, target) in other.rows.iter().zip(targets) {
                outer(rows, self.points, others, other.points, target, true);
            }
        }
        for (own, others) in self.products.iter().zip(&other.products) {
            let (rows, columns) = (own.components * self.points, others.components * other.points);
            let Scratch { adjoints, inputs } = scratch;
            for buffer in [&mut *adjoints, &mut *inputs] {
                buffer.resize(rows * columns, T::default());
            }
            outer(&own.input, rows, &others.input, columns, inputs, false);
            for (left, targets) in own.adjoints.iter().zip(targets.chunks_exact_mut(others.adjoints.len())) {
                for (right, target) in others.adjoints.iter().zip(targets) {
                    outer(left, rows, right, columns, adjoints, false);
                    add_entrywise(adjoints, inputs, self.points, other.points, columns, target);
                }
            }
        }
    }
}

/// left · rightᵀ, both given by rows.
fn outer<T: Scalar>(left: &[T], rows: usize, right: &[T], columns: usize, result: &mut [T], add: bool) {
    let inner = left.len() / rows;
    product(
        MatrixMut::new(result, rows, columns),
        Matrix::new(left, rows, inner),
        Matrix::new(right, columns, inner).transposed(),
        add,
    );
}

/// Adds the entrywise products of two matrices over (component, point) x (component, point), summed over
/// the components.
fn add_entrywise<T: Scalar>(
    a: &[T],
    b: &[T],
    points: usize,
    other_points: usize,
    columns: usize,
    target: &mut [T],
) {
    for (row, (a, b)) in a.chunks_exact(columns).zip(b.chunks_exact(columns)).enumerate() {
        let target = &mut target[(row % points) * other_points..][..other_points];
        for (a, b) in a.chunks_exact(other_points).zip(b.chunks_exact(other_points)) {
            for (target, (&a, &b)) in target.iter_mut().zip(a.iter().zip(b)) {
                *target += a * b;
            }
        }
    }
}
