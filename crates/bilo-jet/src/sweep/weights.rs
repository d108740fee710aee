//! The numbers of a network in the layouts that the products want.

use super::JetNetwork;
use crate::network::{Network, Operation, Store};
use bilo_linear::{Aligned, Matrix, Packed, Scalar, Simd};
use std::sync::Arc;

/// All numbers of a network, and every matrix laid out for the products forward, and for those back.
#[derive(Clone, Debug)]
pub(crate) struct Weights<T> {
    trained: Aligned<T>,
    frozen: Arc<Aligned<T>>,
    /// By node and by source of its affine map.
    matrices: Vec<Vec<Arc<Layouts<T>>>>,
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
    pub(super) fn matrices(&self, node: usize) -> &[Arc<Layouts<T>>] {
        &self.matrices[node]
    }

    pub(super) fn numbers(&self, store: Store, length: usize) -> &[T] {
        match store {
            Store::Trained(offset) => &self.trained[offset..offset + length],
            Store::Frozen(offset) => &self.frozen[offset..offset + length],
        }
    }
}

impl<T: Scalar> Layouts<T> {
    /// Of numbers with so many columns.
    fn new(numbers: &[T], columns: usize, simd: Simd) -> Arc<Self> {
        let matrix = Matrix::new(numbers, numbers.len() / columns.max(1), columns);
        Arc::new(Self { forward: Packed::new(matrix.transposed(), simd), back: Packed::new(matrix, simd) })
    }
}

/// The matrices that never change, by their places among the frozen numbers.
pub(super) fn frozen_layouts<T: Scalar>(
    network: &Network,
    frozen: &[T],
    simd: Simd,
) -> Vec<(usize, Arc<Layouts<T>>)> {
    let nodes = network.nodes();
    let of_node = |node: &crate::network::Node| {
        let Operation::Affine { sources, .. } = &node.operation else { return vec![] };
        let layouts = sources.iter().filter_map(|source| {
            let Store::Frozen(offset) = source.matrix else { return None };
            let columns = nodes[source.node].width;
            Some((offset, Layouts::new(&frozen[offset..offset + node.width * columns], columns, simd)))
        });
        layouts.collect()
    };
    nodes.iter().flat_map(of_node).collect()
}

impl<T: Scalar> JetNetwork<T> {
    /// Casts the trained weights, and lays every matrix of them out twice.
    pub(crate) fn weights(&self, trained: &[f64]) -> Weights<T> {
        let trained: Aligned<T> = trained.iter().map(|&weight| T::cast(weight)).collect();
        let matrices = self.network.nodes().iter().map(|node| {
            let Operation::Affine { sources, .. } = &node.operation else { return vec![] };
            let layouts = sources.iter().map(|source| {
                let columns = self.width(source.node);
                match source.matrix {
                    Store::Trained(offset) => {
                        Layouts::new(&trained[offset..offset + node.width * columns], columns, self.simd)
                    }
                    Store::Frozen(place) => {
                        let known = self.frozen_layouts.iter().find(|(offset, _)| *offset == place);
                        known.expect("every frozen matrix is laid out").1.clone()
                    }
                }
            });
            layouts.collect()
        });
        let matrices = matrices.collect();
        Weights { trained, frozen: self.frozen.clone(), matrices }
    }
}
