//! The numbers of a network in the layouts that the products want.

use super::JetNetwork;
use crate::network::{Operation, Store};
use crate::scalar::Scalar;

/// All numbers of a network.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<T> {
    trained: Vec<T>,
    frozen: Vec<T>,
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

/// The numbers of a network with every matrix row by row, and column by column.
#[derive(Clone, Debug)]
pub(crate) struct Weights<T> {
    pub(super) direct: Numbers<T>,
    pub(super) transposed: Numbers<T>,
}

impl<T: Scalar> JetNetwork<T> {
    /// Casts the trained weights, and lays every matrix out both ways: the products forward want its
    /// columns contiguous, those back its rows.
    pub(crate) fn weights(&self, trained: &[f64]) -> Weights<T> {
        let trained: Vec<T> = trained.iter().map(|&weight| T::cast(weight)).collect();
        let mut transposed = Numbers { trained: trained.clone(), frozen: self.frozen.clone() };
        let direct = Numbers { trained, frozen: self.frozen.clone() };
        for node in self.network.nodes() {
            let Operation::Affine { sources, .. } = &node.operation else { continue };
            for source in sources {
                let (rows, columns) = (node.width, self.width(source.node));
                let from = direct.get(source.matrix, rows * columns);
                let to = transposed.get_mut(source.matrix, rows * columns);
                for row in 0..rows {
                    for column in 0..columns {
                        to[column * rows + row] = from[row * columns + column];
                    }
                }
            }
        }
        Weights { direct, transposed }
    }
}
