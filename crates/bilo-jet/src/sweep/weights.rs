//! The numbers of a network in the layouts that the products want.

use super::JetNetwork;
use crate::aligned::Aligned;
use crate::linear::{Matrix, Packed, pack};
use crate::network::{Operation, Store};
use crate::scalar::Scalar;

/// All numbers of a network.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<T> {
    trained: Aligned<T>,
    frozen: Aligned<T>,
}

impl<T> Numbers<T> {
    pub(super) fn get(&self, store: Store, length: usize) -> &[T] {
        match store {
            Store::Trained(offset) => &self.trained[offset..offset + length],
            Store::Frozen(offset) => &self.frozen[offset..offset + length],
        }
    }

    fn get_mut(&mut self, store: Store, length: usize) -> &mut [T] {
        match store {
            Store::Trained(offset) => &mut self.trained[offset..offset + length],
            Store::Frozen(offset) => &mut self.frozen[offset..offset + length],
        }
    }
}

/// The numbers of a network with every matrix laid out for the products forward, and for those back.
#[derive(Clone, Debug)]
pub(crate) struct Weights<T> {
    forward: Numbers<T>,
    back: Numbers<T>,
}

impl<T> Weights<T> {
    pub(super) fn bias(&self, store: Store, length: usize) -> &[T] {
        self.forward.get(store, length)
    }
}

impl<T: Scalar> JetNetwork<T> {
    /// Casts the trained weights, and lays every matrix out twice.
    pub(crate) fn weights(&self, trained: &[f64]) -> Weights<T> {
        let trained = trained.iter().map(|&weight| T::cast(weight)).collect();
        let plain = Numbers { trained, frozen: self.frozen.iter().copied().collect() };
        let (mut forward, mut back) = (plain.clone(), plain.clone());
        for node in self.network.nodes() {
            let Operation::Affine { sources, .. } = &node.operation else { continue };
            for source in sources {
                let (rows, columns) = (node.width, self.width(source.node));
                let matrix = Matrix::new(plain.get(source.matrix, rows * columns), rows, columns);
                pack(matrix.transposed(), forward.get_mut(source.matrix, rows * columns), self.simd);
                pack(matrix, back.get_mut(source.matrix, rows * columns), self.simd);
            }
        }
        Weights { forward, back }
    }

    /// The transposed matrix of an affine map: inputs, row by row, are multiplied with it from the left.
    pub(super) fn forward_matrix<'a>(
        &self,
        weights: &'a Weights<T>,
        store: Store,
        inputs: usize,
        outputs: usize,
    ) -> Packed<'a, T> {
        Packed::new(weights.forward.get(store, inputs * outputs), inputs, outputs, self.simd)
    }

    /// The matrix of an affine map, for adjoints of its outputs.
    pub(super) fn back_matrix<'a>(
        &self,
        weights: &'a Weights<T>,
        store: Store,
        inputs: usize,
        outputs: usize,
    ) -> Packed<'a, T> {
        Packed::new(weights.back.get(store, inputs * outputs), outputs, inputs, self.simd)
    }
}
