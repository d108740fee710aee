//! Adjoints back through the nodes.

use super::{Buffers, JetNetwork, Weights, Workspace, deposit};
use crate::activation::Jets;
use crate::network::{Operation, Source};
use bilo_linear::{MatrixMut, Packed, Scalar, product_packed};

impl<T: Scalar> JetNetwork<T> {
    /// Adjoints of all nodes for some groups, from seeds at the output.
    pub(super) fn reverse_nodes(
        &self,
        weights: &Weights<T>,
        work: &mut Workspace<T>,
        groups: std::ops::Range<usize>,
        tangents: bool,
    ) {
        let mut written = vec![false; work.nodes.len()];
        for node in (0..work.nodes.len()).rev() {
            if !self.fixed[node] {
                self.reverse_node(weights, work, node, groups.clone(), tangents, &mut written);
            }
        }
    }

    fn reverse_node(
        &self,
        weights: &Weights<T>,
        work: &mut Workspace<T>,
        node: usize,
        groups: std::ops::Range<usize>,
        tangents: bool,
        written: &mut [bool],
    ) {
        let (points, components, directions) = (work.points, self.plan.len(), work.directions);
        let Workspace { nodes, leading, leading_adjoints, .. } = work;
        let (before, rest) = nodes.split_at_mut(node);
        let target = &rest[0];
        let group_size = components * points * self.width(node);
        match &self.network.nodes()[node].operation {
            Operation::Coordinates | Operation::Parameters | Operation::Tensor(_) => {}
            Operation::Affine { sources, .. } => {
                for (source, matrix) in sources.iter().zip(weights.matrices(node)) {
                    if self.fixed[source.node] {
                        continue;
                    }
                    for group in groups.clone() {
                        let adjoint = &target.adjoint[group * group_size..(group + 1) * group_size];
                        self.affine_reverse(
                            &matrix.back,
                            source,
                            group,
                            points,
                            adjoint,
                            &mut before[source.node],
                            written[source.node],
                        );
                    }
                    written[source.node] = true;
                }
            }
            Operation::Activate { source, .. } => {
                let activation = self.activations[node].as_ref().expect("made for this node");
                let below = &mut before[*source];
                let plane = points * self.width(node);
                for group in groups {
                    let place = group * group_size;
                    let mut bank = Jets {
                        argument: &below.forward[..group_size],
                        tangent: &[],
                        adjoint: &target.adjoint[place..place + group_size],
                        tangent_adjoint: &[],
                        value: &target.forward[..plane],
                        aux: &target.aux,
                        coefficients: leading.along(points, None),
                    };
                    if self.moving && group > 0 {
                        leading_adjoints.add(activation, bank, group);
                    }
                    let result = &mut below.adjoint[place..place + group_size];
                    if !tangents || directions == 0 {
                        activation.reverse(bank, result, written[*source]);
                        continue;
                    }
                    for direction in 1..=directions {
                        let place = direction * group_size;
                        bank.tangent = &below.forward[place..place + group_size];
                        bank.tangent_adjoint = &target.adjoint[place..place + group_size];
                        bank.coefficients = leading.along(points, Some(direction));
                        match direction {
                            1 => activation.reverse_with_source(bank, result, written[*source]),
                            _ => activation.source(bank, result),
                        }
                    }
                }
                written[*source] = true;
            }
            Operation::Add(a, b) => {
                for &source in [a, b] {
                    let range = groups.start * group_size..groups.end * group_size;
                    deposit(
                        &mut before[source].adjoint[range.clone()],
                        &target.adjoint[range],
                        written[source],
                    );
                    written[source] = true;
                }
            }
            Operation::Blend { gate, u, v } => {
                for source in [*gate, *u, *v] {
                    if !written[source] {
                        before[source].adjoint[groups.start * group_size..groups.end * group_size]
                            .fill(T::default());
                        written[source] = true;
                    }
                }
                let plane = points * self.width(node);
                for group in groups {
                    let adjoint = &target.adjoint[group * group_size..(group + 1) * group_size];
                    self.blend_reverse(before, [*gate, *u, *v], (adjoint, group), 0, plane);
                    for direction in if tangents { 1..1 + directions } else { 0..0 } {
                        let adjoint = &target.adjoint[direction * group_size..(direction + 1) * group_size];
                        self.blend_reverse(before, [*gate, *u, *v], (adjoint, group), direction, plane);
                    }
                }
            }
        }
    }

    /// Adjoint of a source: adjoint of the affine map times its matrix.
    #[expect(clippy::too_many_arguments, reason = "one product, spelled out")]
    fn affine_reverse(
        &self,
        matrix: &Packed<T>,
        source: &Source,
        group: usize,
        points: usize,
        adjoint: &[T],
        below: &mut Buffers<T>,
        add: bool,
    ) {
        let width = adjoint.len() / (self.plan.len() * points);
        let columns = self.width(source.node);
        let (jets, tangents) = self.live(source.node);
        let rows = points * if group == 0 { jets } else { tangents };
        let start = group * self.plan.len() * points * columns;
        let result = &mut below.adjoint[start..start + rows * columns];
        product_packed(MatrixMut::new(result, rows, columns), &adjoint[..rows * width], matrix, add);
    }
}
