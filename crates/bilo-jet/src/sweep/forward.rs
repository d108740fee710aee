//! Forward through one node.

use super::weights::Layouts;
use super::{Buffers, JetNetwork, Weights, Workspace};
use crate::activation::Jets;
use crate::network::{Operation, Source, Store};
use bilo_linear::{Job, MatrixMut, Packed, Scalar, Simd, product_packed};
use std::sync::Arc;

impl<T: Scalar> JetNetwork<T> {
    /// Jets (group 0) or tangents (a direction from 1) of one node; `slopes` tell how the weights move
    /// along each direction, if they do.
    pub(super) fn forward_node(
        &self,
        weights: &Weights<T>,
        slopes: &[&Weights<T>],
        work: &mut Workspace<T>,
        node: usize,
        groups: std::ops::Range<usize>,
    ) {
        let (points, components) = (work.points, self.plan.len());
        let Workspace { nodes, leading, .. } = work;
        let (before, rest) = nodes.split_at_mut(node);
        let target = &mut rest[0];
        let plane = points * self.width(node);
        let group_size = components * plane;
        match &self.network.nodes()[node].operation {
            Operation::Coordinates | Operation::Parameters => {}
            Operation::Tensor(axes) => self.tensor(axes, &before[0].forward, points, &mut target.forward),
            Operation::Affine { sources, bias } => {
                for group in groups {
                    let result = &mut target.forward[group * group_size..(group + 1) * group_size];
                    let mut sum = Sum { result, width: self.width(node), points, filled: 0 };
                    for (source, matrix) in sources.iter().zip(weights.matrices(node)) {
                        self.add_product(&matrix.forward, source, before, group, &mut sum);
                    }
                    if group == 0 {
                        sum.finish().add_bias(weights.numbers(*bias, self.width(node)), self.simd);
                    } else if let Some(slope) = slopes.get(group - 1) {
                        self.add_slope(slope.matrices(node), sources, before, &mut sum);
                        let sum = sum.finish();
                        if let Store::Trained(_) = bias {
                            sum.add_bias(slope.numbers(*bias, self.width(node)), self.simd);
                        }
                    } else {
                        sum.finish();
                    }
                }
            }
            Operation::Activate { source, .. } => {
                let activation = self.activations[node].as_ref().expect("made for this node");
                let argument = &before[*source].forward;
                for group in groups {
                    let (jets, tangents) = target.forward.split_at_mut(group_size);
                    if group == 0 {
                        let coefficients = leading.along(points, None);
                        activation.forward(&argument[..group_size], coefficients, jets, &mut target.aux);
                        continue;
                    }
                    let place = group * group_size;
                    let bank = Jets {
                        argument: &argument[..group_size],
                        tangent: &argument[place..place + group_size],
                        adjoint: &[],
                        tangent_adjoint: &[],
                        value: &jets[..plane],
                        aux: &target.aux,
                        coefficients: leading.along(points, Some(group)),
                    };
                    activation.tangent(bank, &mut tangents[place - group_size..place]);
                }
            }
            Operation::Add(a, b) => {
                let range = groups.start * group_size..groups.end * group_size;
                let sum = before[*a].forward[range.clone()].iter().zip(&before[*b].forward[range.clone()]);
                for (result, (&a, &b)) in target.forward[range].iter_mut().zip(sum) {
                    *result = a + b;
                }
            }
            Operation::Blend { gate, u, v } => {
                for group in groups {
                    let [gate, u, v] = [*gate, *u, *v].map(|node| &before[node].forward[..]);
                    self.blend_forward(gate, u, v, group, plane, &mut target.forward);
                }
            }
        }
    }

    /// Adds W · source, jets or tangents, over the components that can be nonzero.
    fn add_product(
        &self,
        matrix: &Packed<T>,
        source: &Source,
        before: &[Buffers<T>],
        group: usize,
        sum: &mut Sum<'_, T>,
    ) {
        let columns = self.width(source.node);
        let (jets, tangents) = self.live(source.node);
        let rows = sum.points * if group == 0 { jets } else { tangents };
        let start = group * self.plan.len() * sum.points * columns;
        let input = &before[source.node].forward[start..start + rows * columns];
        sum.add(matrix, input, rows);
    }

    /// Adds what the move of the trained matrices makes of the jets: S · source.
    fn add_slope(
        &self,
        slopes: &[Arc<Layouts<T>>],
        sources: &[Source],
        before: &[Buffers<T>],
        sum: &mut Sum<'_, T>,
    ) {
        for (source, slope) in sources.iter().zip(slopes) {
            if let Store::Trained(_) = source.matrix {
                self.add_product(&slope.forward, source, before, 0, sum);
            }
        }
    }
}

/// A sum of products over components and points, one row of neurons each.
struct Sum<'a, T> {
    result: &'a mut [T],
    width: usize,
    points: usize,
    /// Rows from here on hold nothing yet.
    filled: usize,
}

impl<T: Scalar> Sum<'_, T> {
    /// Adds input · matrix to the first rows.
    fn add(&mut self, matrix: &Packed<T>, input: &[T], rows: usize) {
        if rows == 0 {
            return;
        }
        let (width, columns) = (self.width, input.len() / rows);
        let known = rows.min(self.filled);
        let (old, new) = self.result[..rows * width].split_at_mut(known * width);
        let (above, below) = input.split_at(known * columns);
        product_packed(MatrixMut::new(old, known, width), above, matrix, true);
        product_packed(MatrixMut::new(new, rows - known, width), below, matrix, false);
        self.filled = self.filled.max(rows);
    }

    /// Rows that nothing was added to become zero.
    fn finish(self) -> Self {
        self.result[self.filled * self.width..].fill(T::default());
        self
    }

    /// Adds a bias to the values.
    fn add_bias(self, bias: &[T], simd: Simd) {
        simd.run(AddBias { values: &mut self.result[..self.points * self.width], bias });
    }
}

/// Adds a bias to every row.
struct AddBias<'a, T> {
    values: &'a mut [T],
    bias: &'a [T],
}

impl<T: Scalar> Job for AddBias<'_, T> {
    #[inline(always)]
    fn run(self) {
        for row in self.values.chunks_exact_mut(self.bias.len()) {
            row.iter_mut().zip(self.bias).for_each(|(value, &bias)| *value += bias);
        }
    }
}
