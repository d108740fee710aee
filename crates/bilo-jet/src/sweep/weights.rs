//! The numbers of a network in the layouts that the products want.

use super::JetNetwork;
use crate::network::{Operation, Store};
use bilo_linear::{Aligned, Matrix, Packed, Scalar};

/// All numbers of a network, and every matrix laid out for the products forward, and for those back.
#[derive(Clone, Debug)]
pub(crate) struct Weights<T> {
    trained: Aligned<T>,
    frozen: Aligned<T>,
    /// By node and by source of its affine map.
    matrices: Vec<Vec<Layouts<T>>>,
}

/// One matrix of an affine map.
#[derive(Clone, Debug)]
pub(super) struct Layouts<T> {
    /// Transposed: inputs, row by row, are multiplied with it from the left.
    pub(super) forward: Packed<T>,
    /// For adjoints of the outputs.
    pub(super) back: Packed<T>,
}

impl<T> Weights<T> {
    /// The matrices that a node multiplies its sources with.
    pub(super) fn matrices(&self, node: usize) -> &[Layouts<T>] {
        &self.matrices[node]
    }

    pub(super) fn numbers(&self, store: Store, length: usize) -> &[T] {
        match store {
            Store::Trained(offset) => &self.trained[offset..offset + length],
            Store::Frozen(offset) => &self.frozen[offset..offset + length],
        }
    }
}

impl<T: Scalar> JetNetwork<T> {
    /// Casts the trained weights, and lays every matrix out twice.
    pub(crate) fn weights(&self, trained: &[f64]) -> Weights<T> {
        let trained = trained.iter().map(|&weight| T::cast(weight)).collect();
        let mut weights =
            Weights { trained, frozen: self.frozen.iter().copied().collect(), matrices: vec![] };
        let matrices = self.network.nodes().iter().map(|node| {
            let Operation::Affine { sources, .. } = &node.operation else { return vec![] };
            let layouts = sources.iter().map(|source| {
                let (rows, columns) = (node.width, self.width(source.node));
                let matrix = Matrix::new(weights.numbers(source.matrix, rows * columns), rows, columns);
                Layouts {
                    forward: Packed::new(matrix.transposed(), self.simd),
                    back: Packed::new(matrix, self.simd),
                }
            });
            layouts.collect()
        });
        let matrices = matrices.collect();
        weights.matrices = matrices;
        weights
    }
}
