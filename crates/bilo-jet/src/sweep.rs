//! The sweeps over one tile of points: jets forward, tangents forward, adjoints back, and the
//! weight gradient. Every affine map is one matrix product over all components and points.
//!
//! Each node holds two buffers of (1 + Q) groups; a group is one plane per component of the plan,
//! a plane one row of neurons per point:
//!
//! ```text
//! forward buffer:  [ jets | tangents along direction 1 | .. | direction Q ]
//! adjoint buffer:  [ μ    | λ_1                        | .. | λ_Q         ]
//! ```
//!
//! λ_q is the adjoint of residual q: it needs the jets only and is swept first. μ is the adjoint of
//! Σ_q (c_q r_q + D_{v_q} r_q), whose tangent part has the adjoint λ_q; so the weight gradient of a
//! whole affine map is one product of the two buffers.

mod blend;
mod leading;
mod weights;

use leading::{LeadingAdjoints, LeadingColumns};
pub(crate) use weights::Weights;

use crate::activation::{JetActivation, Jets};
use crate::linear::{Matrix, MatrixMut, product};
use crate::network::{Network, Operation, Source, Store};
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::simd::Simd;

/// A network prepared for one plan: everything that does not change from tile to tile.
#[derive(Clone, Debug)]
pub(crate) struct JetNetwork<T> {
    network: Network,
    plan: Plan,
    frozen: Vec<T>,
    /// The nonlinearity of each node that has one.
    activations: Vec<Option<JetActivation<T>>>,
    product_rule: Vec<(usize, usize, usize, T)>,
    /// Whether each node has neither tangent nor adjoint.
    fixed: Vec<bool>,
    /// Whether the coefficients of the plan's leading part depend on unknowns.
    moving: bool,
}

/// Buffers of one node for one tile.
#[derive(Clone, Debug, Default)]
struct Buffers<T> {
    forward: Vec<T>,
    adjoint: Vec<T>,
    aux: Vec<T>,
}

/// Buffers of a whole network for one tile.
#[derive(Clone, Debug)]
pub(crate) struct Workspace<T> {
    points: usize,
    directions: usize,
    nodes: Vec<Buffers<T>>,
    leading: LeadingColumns<T>,
    leading_adjoints: LeadingAdjoints<T>,
}

impl<T: Scalar> JetNetwork<T> {
    /// `moving` tells whether the coefficients of the plan's leading part depend on unknowns; those of
    /// its first derivatives must not.
    pub(crate) fn new(network: Network, plan: Plan, moving: bool, simd: Simd) -> Self {
        let activations = network
            .nodes()
            .iter()
            .map(|node| match node.operation {
                Operation::Activate { kind, .. } => Some(JetActivation::new(kind, &plan, simd)),
                _ => None,
            })
            .collect();
        let product_rule =
            plan.product_rule().into_iter().map(|(a, b, c, k)| (a, b, c, T::cast(k))).collect();
        let frozen = network.frozen().iter().map(|&value| T::cast(value)).collect();
        // Even frozen features move with the leading part's coefficients; the coordinates do not.
        let fixed = network
            .nodes()
            .iter()
            .map(|node| node.fixed && (!moving || node.operation == Operation::Coordinates))
            .collect();
        Self { network, plan, frozen, activations, product_rule, fixed, moving }
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Numbers of all buffers per point of a tile, for choosing the size of tiles.
    pub(crate) fn numbers_per_point(&self, directions: usize) -> usize {
        let neurons: usize = self.network.nodes().iter().map(|node| node.width).sum();
        2 * neurons * self.plan.len() * (1 + directions)
    }

    pub(crate) fn workspace(&self, points: usize, directions: usize) -> Workspace<T> {
        let nodes = self
            .network
            .nodes()
            .iter()
            .enumerate()
            .map(|(number, node)| {
                let plane = points * node.width;
                let full = plane * self.plan.len() * (1 + directions);
                let zeros = |length| vec![T::default(); length];
                Buffers {
                    forward: zeros(full),
                    adjoint: zeros(if self.fixed[number] { 0 } else { full }),
                    aux: zeros(match node.operation {
                        Operation::Activate { .. } => plane,
                        _ => 0,
                    }),
                }
            })
            .collect();
        let (leading, leading_adjoints) = self.leading_buffers(points, directions);
        Workspace { points, directions, nodes, leading, leading_adjoints }
    }

    fn width(&self, node: usize) -> usize {
        self.network.nodes()[node].width
    }

    /// Components of a node that can be nonzero: (jets, tangents).
    fn live(&self, node: usize) -> (usize, usize) {
        match self.network.nodes()[node].operation {
            Operation::Coordinates => (self.plan.linear_components(), 0),
            Operation::Parameters => (1, 1),
            _ if self.fixed[node] => (self.plan.len(), 0),
            _ => (self.plan.len(), self.plan.len()),
        }
    }

    /// Writes coordinate `input` of every point; its own first derivative is one.
    pub(crate) fn set_coordinate(
        &self,
        work: &mut Workspace<T>,
        input: usize,
        values: impl Iterator<Item = T>,
    ) {
        let (points, width) = (work.points, self.width(0));
        let forward = &mut work.nodes[0].forward;
        for (point, value) in values.enumerate() {
            forward[point * width + input] = value;
        }
        if let Some(component) = self.plan.successor(0, input) {
            for point in 0..points {
                forward[(component * points + point) * width + input] = T::cast(1.0);
            }
        }
    }

    /// Writes the parameters, the same at every point.
    pub(crate) fn set_parameters(&self, work: &mut Workspace<T>, parameters: &[T]) {
        let plane = work.points * self.width(1);
        for row in work.nodes[1].forward[..plane].chunks_exact_mut(parameters.len().max(1)) {
            row.copy_from_slice(parameters);
        }
    }

    /// Writes the direction `group` (from 1) in which parameter `input` moves at every point.
    pub(crate) fn set_direction(
        &self,
        work: &mut Workspace<T>,
        group: usize,
        input: usize,
        values: impl Iterator<Item = T>,
    ) {
        let width = self.width(1);
        let start = group * self.plan.len() * work.points * width;
        for (point, value) in values.enumerate() {
            work.nodes[1].forward[start + point * width + input] = value;
        }
    }

    /// Jets of output `output`: one column of points per component, for group 0 or a direction.
    pub(crate) fn read_output(
        &self,
        work: &Workspace<T>,
        group: usize,
        component: usize,
        output: usize,
    ) -> impl Iterator<Item = T> {
        let last = work.nodes.len() - 1;
        let (width, plane) = (self.width(last), work.points * self.width(last));
        let start = (group * self.plan.len() + component) * plane;
        work.nodes[last].forward[start..start + plane].iter().skip(output).step_by(width).copied()
    }

    /// Writes the adjoint of an output's jet component.
    pub(crate) fn seed_output(
        &self,
        work: &mut Workspace<T>,
        group: usize,
        component: usize,
        output: usize,
        values: impl Iterator<Item = T>,
    ) {
        let last = work.nodes.len() - 1;
        let width = self.width(last);
        let start = (group * self.plan.len() + component) * work.points * width;
        for (point, value) in values.enumerate() {
            work.nodes[last].adjoint[start + point * width + output] = value;
        }
    }

    /// Adjoint of parameter `input` at every point, after a reverse sweep of the group.
    pub(crate) fn read_parameter_adjoint(
        &self,
        work: &Workspace<T>,
        group: usize,
        input: usize,
    ) -> impl Iterator<Item = T> {
        let (width, points) = (self.width(1), work.points);
        let start = group * self.plan.len() * points * width;
        work.nodes[1].adjoint[start..start + points * width].iter().skip(input).step_by(width).copied()
    }

    /// Jets of all nodes.
    pub(crate) fn forward(&self, weights: &Weights<T>, work: &mut Workspace<T>) {
        for node in 0..self.network.nodes().len() {
            self.forward_node(weights, work, node, 0..1);
        }
    }

    /// Tangents of all nodes along every direction.
    pub(crate) fn forward_tangents(&self, weights: &Weights<T>, work: &mut Workspace<T>) {
        let groups = 1..1 + work.directions;
        for node in 0..self.network.nodes().len() {
            if !self.fixed[node] {
                self.forward_node(weights, work, node, groups.clone());
            }
        }
    }

    /// Adjoints λ_q of all nodes for every direction, from seeds at the output.
    pub(crate) fn reverse_directions(&self, weights: &Weights<T>, work: &mut Workspace<T>) {
        work.leading_adjoints.clear();
        self.reverse_nodes(weights, work, 1..1 + work.directions, false);
    }

    /// Adjoints μ of all nodes, from seeds at the output; `tangents` adds what the tangents owe.
    pub(crate) fn reverse(&self, weights: &Weights<T>, work: &mut Workspace<T>, tangents: bool) {
        self.reverse_nodes(weights, work, 0..1, tangents);
    }

    fn forward_node(
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

    fn reverse_nodes(
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
            Operation::Coordinates | Operation::Parameters => {}
            Operation::Affine { sources, .. } => {
                for source in sources.iter().filter(|source| !self.fixed[source.node]) {
                    for group in groups.clone() {
                        let adjoint = &target.adjoint[group * group_size..(group + 1) * group_size];
                        self.affine_reverse(
                            weights,
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
        weights: &Weights<T>,
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
        let matrix = Matrix::new(weights.direct.get(source.matrix, width * columns), width, columns);
        let result = &mut below.adjoint[start..start + rows * columns];
        product(
            MatrixMut::new(result, rows, columns),
            Matrix::new(&adjoint[..rows * width], rows, width),
            matrix,
            add,
        );
    }

    /// Adds to `gradient` what this tile contributes to the gradient of the trained weights;
    /// `tangents` tells whether the directions take part.
    pub(crate) fn weight_gradient(&self, work: &Workspace<T>, tangents: bool, gradient: &mut [T]) {
        for (node, target) in self.network.nodes().iter().zip(&work.nodes) {
            let Operation::Affine { sources, bias: Store::Trained(bias) } = &node.operation else { continue };
            for source in sources {
                let Store::Trained(offset) = source.matrix else { continue };
                let gradient = &mut gradient[offset..offset + node.width * self.width(source.node)];
                self.matrix_gradient(work, target, node.width, source.node, tangents, gradient);
            }
            let plane = &target.adjoint[..work.points * node.width];
            for row in plane.chunks_exact(node.width) {
                for (sum, &adjoint) in gradient[*bias..bias + node.width].iter_mut().zip(row) {
                    *sum += adjoint;
                }
            }
        }
    }

    /// adjointᵀ · source over all live rows.
    fn matrix_gradient(
        &self,
        work: &Workspace<T>,
        target: &Buffers<T>,
        width: usize,
        source: usize,
        tangents: bool,
        gradient: &mut [T],
    ) {
        let columns = self.width(source);
        let components = self.plan.len();
        let groups = if tangents { 1 + work.directions } else { 1 };
        let (jets, moving) = self.live(source);
        let mut add = |first_row: usize, rows: usize| {
            let adjoint = &target.adjoint[first_row * width..(first_row + rows) * width];
            let input = &work.nodes[source].forward[first_row * columns..(first_row + rows) * columns];
            let adjoint = Matrix::new(adjoint, rows, width).transposed();
            product(
                MatrixMut::new(gradient, width, columns),
                adjoint,
                Matrix::new(input, rows, columns),
                true,
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
}

fn add_bias<T: Scalar>(plane: &mut [T], bias: &[T]) {
    for row in plane.chunks_exact_mut(bias.len()) {
        for (value, &bias) in row.iter_mut().zip(bias) {
            *value += bias;
        }
    }
}

/// Adds to or overwrites the target.
fn deposit<T: Scalar>(target: &mut [T], values: &[T], add: bool) {
    if add {
        for (target, &value) in target.iter_mut().zip(values) {
            *target += value;
        }
    } else {
        target.copy_from_slice(values);
    }
}
