//! Derivatives by the trained weights, once the adjoints are swept back: of a sum over the points, and
//! of every point by itself.

use super::{JetNetwork, Workspace};
use crate::network::{Network, Operation, Store};
use bilo_linear::{Job, Matrix, MatrixMut, Scalar, add_outer};

/// A matrix of trained weights, or a trained bias: a matrix of one column.
#[derive(Clone, Debug)]
pub(super) struct TrainedBlock {
    /// The affine map.
    pub(super) node: usize,
    /// What the matrix multiplies; nothing for a bias.
    pub(super) source: Option<usize>,
    /// Its place among the trained weights.
    offset: usize,
    pub(super) columns: usize,
}

/// The trained weights of a network: any matrix or bias of an affine map may be frozen instead.
pub(super) fn trained_blocks(network: &Network) -> Vec<TrainedBlock> {
    let mut blocks = vec![];
    for (node, map) in network.nodes().iter().enumerate() {
        let Operation::Affine { sources, bias } = &map.operation else { continue };
        for source in sources {
            if let Store::Trained(offset) = source.matrix {
                let columns = network.nodes()[source.node].width;
                blocks.push(TrainedBlock { node, source: Some(source.node), offset, columns });
            }
        }
        if let Store::Trained(offset) = *bias {
            blocks.push(TrainedBlock { node, source: None, offset, columns: 1 });
        }
    }
    blocks
}

impl<T: Scalar> JetNetwork<T> {
    /// Adds to `gradient` what this tile contributes to the gradient of the trained weights;
    /// `tangents` tells whether the directions take part.
    pub(crate) fn weight_gradient(&self, work: &Workspace<T>, tangents: bool, gradient: &mut [T]) {
        for block in &self.trained {
            let width = self.width(block.node);
            let gradient = &mut gradient[block.offset..block.offset + width * block.columns];
            if let Some(source) = block.source {
                self.matrix_gradient(work, block.node, source, tangents, gradient);
                continue;
            }
            let rows = &work.nodes[block.node].adjoint[..work.points * width];
            self.simd.run(AddRows { rows, sums: gradient });
        }
    }

    /// adjointᵀ · source over all live rows.
    fn matrix_gradient(
        &self,
        work: &Workspace<T>,
        node: usize,
        source: usize,
        tangents: bool,
        gradient: &mut [T],
    ) {
        let (width, columns) = (self.width(node), self.width(source));
        let components = self.plan.len();
        let groups = if tangents { 1 + work.directions } else { 1 };
        let (jets, moving) = self.live(source);
        let mut add = |first_row: usize, rows: usize| {
            let adjoint = &work.nodes[node].adjoint[first_row * width..(first_row + rows) * width];
            let input = &work.nodes[source].forward[first_row * columns..(first_row + rows) * columns];
            add_outer(
                MatrixMut::new(gradient, width, columns),
                Matrix::new(adjoint, rows, width),
                Matrix::new(input, rows, columns),
                self.simd,
            );
        };
        if jets == components && (moving == components || groups == 1) {
            add(0, groups * components * work.points);
            return;
        }
        add(0, jets * work.points);
        for group in 1..groups {
            if moving > 0 {
                add(group * components * work.points, moving * work.points);
            }
        }
    }

    /// The derivatives by all trained weights at one point, of that whose adjoint is the group's.
    pub(crate) fn row(&self, work: &Workspace<T>, group: usize, point: usize, row: &mut [f64]) {
        for block in &self.trained {
            let length = self.width(block.node) * block.columns;
            self.block_row(work, group, point, block, &mut row[block.offset..block.offset + length]);
        }
    }

    /// Σ_c λ_c x_cᵀ over the components c of the plan; λ_0 for a bias.
    pub(super) fn block_row<R: Scalar>(
        &self,
        work: &Workspace<T>,
        group: usize,
        point: usize,
        block: &TrainedBlock,
        row: &mut [R],
    ) {
        let width = self.width(block.node);
        let adjoint = |component: usize| {
            let start = ((group * self.plan.len() + component) * work.points + point) * width;
            &work.nodes[block.node].adjoint[start..start + width]
        };
        let Some(source) = block.source else {
            row.iter_mut().zip(adjoint(0)).for_each(|(target, value)| *target = R::cast(value.wide()));
            return;
        };
        let input = |component: usize| {
            let start = (component * work.points + point) * block.columns;
            &work.nodes[source].forward[start..start + block.columns]
        };
        let (jets, _) = self.live(source);
        for (neuron, part) in row.chunks_exact_mut(block.columns).enumerate() {
            part.fill(R::default());
            for component in 0..jets {
                let lambda = adjoint(component)[neuron].wide();
                for (target, value) in part.iter_mut().zip(input(component)) {
                    *target += R::cast(lambda * value.wide());
                }
            }
        }
    }
}

/// Adds all rows to the sums.
struct AddRows<'a, T> {
    rows: &'a [T],
    sums: &'a mut [T],
}

impl<T: Scalar> Job for AddRows<'_, T> {
    #[inline(always)]
    fn run(self) {
        for row in self.rows.chunks_exact(self.sums.len()) {
            self.sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
        }
    }
}
