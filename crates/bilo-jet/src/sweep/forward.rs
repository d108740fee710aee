//! Forward through one node.

use super::{Buffers, JetNetwork, Weights, Workspace};
use crate::activation::Jets;
use crate::linear::{Matrix, MatrixMut, product};
use crate::network::{Operation, Source};
use crate::scalar::Scalar;

impl<T: Scalar> JetNetwork<T> {
    /// Jets (group 0) or tangents (a direction from 1) of one node.
    pub(super) fn forward_node(
        &self,
        weights: &Weights<T>,
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
                    self.affine_forward(weights, sources, before, group, points, result);
                    if group == 0 {
                        add_bias(&mut result[..plane], weights.direct.get(*bias, self.width(node)));
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
                    let [gate, u, v] = [*gate, *u, *v].map(|node| before[node].forward.as_slice());
                    self.blend_forward(gate, u, v, group, plane, &mut target.forward);
                }
            }
        }
    }

    /// result = Σ W_s source_s over the components that can be nonzero; the others become zero.
    fn affine_forward(
        &self,
        weights: &Weights<T>,
        sources: &[Source],
        before: &[Buffers<T>],
        group: usize,
        points: usize,
        result: &mut [T],
    ) {
        let width = result.len() / (self.plan.len() * points);
        let mut filled = 0;
        for source in sources {
            let columns = self.width(source.node);
            let (jets, tangents) = self.live(source.node);
            let rows = points * if group == 0 { jets } else { tangents };
            if rows == 0 {
                continue;
            }
            let start = group * self.plan.len() * points * columns;
            let input = &before[source.node].forward[start..start + rows * columns];
            let matrix = Matrix::new(weights.transposed.get(source.matrix, width * columns), columns, width);
            // Rows below `filled` hold a sum already; the first source must reach the furthest.
            let (sum, fresh) = (rows.min(filled), rows.max(filled));
            product(
                MatrixMut::new(&mut result[..sum * width], sum, width),
                Matrix::new(&input[..sum * columns], sum, columns),
                matrix,
                true,
            );
            if rows > filled {
                let more = rows - filled;
                product(
                    MatrixMut::new(&mut result[filled * width..rows * width], more, width),
                    Matrix::new(&input[filled * columns..], more, columns),
                    matrix,
                    false,
                );
            }
            filled = fresh;
        }
        result[filled * width..].fill(T::default());
    }
}

fn add_bias<T: Scalar>(plane: &mut [T], bias: &[T]) {
    for row in plane.chunks_exact_mut(bias.len()) {
        for (value, &bias) in row.iter_mut().zip(bias) {
            *value += bias;
        }
    }
}
