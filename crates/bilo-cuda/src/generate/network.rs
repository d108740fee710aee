//! A network over one tile: jets forward, tangents forward, adjoints back, and the weight gradient, node by node. Buffers
//! are those of the CPU's sweeps: (1 + Q) groups, in each a plane per component, in each a row of neurons per point.

mod blend;
mod gradient;
mod product;

use super::activation::{self, Banks, Part, Planes, SumsByPoint};
use super::code::Code;
use super::packing::Packing;
use super::{GAPS, Room, Shape, pad};
use bilo_jet::{ActivationTables, Carrier, Operation};
use product::Product;
use std::ops::Range;

/// A network laid out in the workspace of a block.
pub(super) struct NetworkCode<'a> {
    pub(super) carrier: &'a Carrier,
    number: usize,
    packing: &'a Packing,
    points: usize,
    threads: usize,
    /// Whether tensor cores make the products that they can.
    pub(super) tensor: bool,
    directions: usize,
    nodes: Vec<NodeRoom>,
    tables: ActivationTables,
    product_rule: Vec<(usize, usize, usize, f64)>,
    /// Coefficients c_k of the leading part: columns of points.
    pub(super) coefficients: usize,
    /// ∂c_k/∂η_j: columns by k and j.
    pub(super) coefficient_slopes: usize,
    /// ċ_k: columns by direction.
    coefficient_tangents: usize,
    /// Sums of the adjoints of c_k over quads of neurons: columns by direction, k and quad.
    coefficient_adjoints: usize,
    chunks: usize,
}

/// Where a node's buffers begin.
struct NodeRoom {
    width: usize,
    stride: usize,
    forward: usize,
    adjoint: usize,
    /// One plane of what the derivatives of a nonlinearity follow from, beside its value.
    aux: usize,
}

impl<'a> NetworkCode<'a> {
    pub(super) fn new(
        carrier: &'a Carrier,
        number: usize,
        packing: &'a Packing,
        Shape { points, threads, directions, unknowns, tensor }: Shape,
        room: &mut Room,
    ) -> Self {
        let components = carrier.plan.len();
        let nodes: Vec<NodeRoom> = (carrier.network.nodes().iter())
            .map(|node| {
                let stride = pad(node.width);
                let size = (1 + directions) * components * points * stride;
                let is_activation = matches!(node.operation, Operation::Activate { .. });
                NodeRoom {
                    width: node.width,
                    stride,
                    forward: room.take(size),
                    adjoint: room.take(size),
                    aux: room.take(if is_activation { points * stride } else { 0 }),
                }
            })
            .collect();
        let leading = carrier.plan.leading().len();
        let widest = nodes.iter().map(|node| node.width).max().unwrap_or(0);
        let chunks = widest.div_ceil(4);
        Self {
            carrier,
            number,
            packing,
            points,
            threads,
            tensor,
            directions,
            nodes,
            tables: ActivationTables::new(&carrier.plan),
            product_rule: carrier.plan.product_rule(),
            coefficients: room.take(leading * points),
            coefficient_slopes: room.take(leading * unknowns * points),
            coefficient_tangents: room.take(leading * directions * points),
            coefficient_adjoints: room.take(leading * directions * chunks * points),
            chunks,
        }
    }

    /// Numbers of a chunk of so many rows or columns that any product brings to shared memory.
    pub(super) fn stage(&self, chunk: usize) -> usize {
        let widest = self.nodes.iter().map(|node| node.stride).max().unwrap_or(0);
        let rows = self.components() * self.points;
        let [along, across] = if self.tensor { GAPS } else { [0, 0] };
        (rows * (chunk + along) + chunk * (widest + across)).max(2 * chunk * (widest + across))
    }

    fn components(&self) -> usize {
        self.carrier.plan.len()
    }

    fn leading(&self) -> usize {
        self.carrier.plan.leading().len()
    }

    /// Whether coefficients of the leading part move with unknowns.
    pub(super) fn moving(&self) -> bool {
        self.carrier.leading.as_ref().is_some_and(|leading| leading.moving)
    }

    /// Whether a node has neither tangent nor adjoint.
    fn fixed(&self, node: usize) -> bool {
        let node = &self.carrier.network.nodes()[node];
        node.fixed && (!self.moving() || node.operation == Operation::Coordinates)
    }

    /// Components of a node that can be nonzero: (jets, tangents).
    fn live(&self, node: usize) -> (usize, usize) {
        let components = self.components();
        match self.carrier.network.nodes()[node].operation {
            Operation::Coordinates => (self.carrier.plan.linear_components(), 0),
            Operation::Parameters if !self.carrier.feeds.is_empty() => (components, 1),
            Operation::Parameters => (1, 1),
            _ if self.fixed(node) => (components, 0),
            _ => (components, components),
        }
    }

    fn live_in(&self, node: usize, group: usize) -> usize {
        let (jets, tangents) = self.live(node);
        if group == 0 { jets } else { tangents }
    }

    fn plane(&self, node: usize) -> usize {
        self.points * self.nodes[node].stride
    }

    fn forward_at(&self, node: usize, group: usize) -> usize {
        self.nodes[node].forward + group * self.components() * self.plane(node)
    }

    fn adjoint_at(&self, node: usize, group: usize) -> usize {
        self.nodes[node].adjoint + group * self.components() * self.plane(node)
    }

    fn last(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Neurons of a node.
    pub(super) fn width(&self, node: usize) -> usize {
        self.nodes[node].width
    }

    /// Where a node's jets begin, component by component, and how far its rows lie apart.
    pub(super) fn forward_rows(&self, node: usize) -> (usize, usize) {
        (self.forward_at(node, 0), self.nodes[node].stride)
    }

    /// The first row and the number of rows of its adjoints of a group.
    pub(super) fn adjoint_rows(&self, node: usize, group: usize) -> (usize, usize) {
        (self.adjoint_at(node, group), self.nodes[node].stride)
    }

    /// Components of a node's jets that can be nonzero.
    pub(super) fn live_jets(&self, node: usize) -> usize {
        self.live(node).0
    }

    /// The place of an input (node 0: coordinates, node 1: parameters) at point p.
    pub(super) fn input(&self, node: usize, group: usize, component: usize, input: usize) -> String {
        place(self.forward_at(node, group) + component * self.plane(node), self.nodes[node].stride, input)
    }

    /// The place of the adjoint of a component of a parameter at point p.
    pub(super) fn parameter_adjoint(&self, group: usize, component: usize, input: usize) -> String {
        place(self.adjoint_at(1, group) + component * self.plane(1), self.nodes[1].stride, input)
    }

    /// The place of an output's component at point p.
    pub(super) fn output(&self, group: usize, component: usize, output: usize) -> String {
        let last = self.last();
        let start = self.forward_at(last, group) + component * self.plane(last);
        place(start, self.nodes[last].stride, output)
    }

    /// The place of its adjoint.
    pub(super) fn output_adjoint(&self, group: usize, component: usize, output: usize) -> String {
        let last = self.last();
        let start = self.adjoint_at(last, group) + component * self.plane(last);
        place(start, self.nodes[last].stride, output)
    }

    /// The place of ċ_k along a direction (from 1) at point p.
    pub(super) fn coefficient_tangent(&self, direction: usize, k: usize) -> String {
        let column = (direction - 1) * self.leading() + k;
        format!("work[{} + p]", self.coefficient_tangents + column * self.points)
    }

    /// The adjoint of c_k along a direction (from 1) at point p.
    pub(super) fn coefficient_adjoint(&self, direction: usize, k: usize) -> String {
        let first = ((direction - 1) * self.leading() + k) * self.chunks;
        let terms = (first..first + self.chunks)
            .map(|column| format!("work[{} + p]", self.coefficient_adjoints + column * self.points));
        format!("({})", terms.collect::<Vec<_>>().join(" + "))
    }

    /// Jets of all nodes, once inputs are there.
    pub(super) fn forward(&self, code: &mut Code) {
        (0..self.nodes.len()).for_each(|node| self.forward_node(code, node, 0));
    }

    /// Tangents of all nodes along every direction.
    pub(super) fn tangents(&self, code: &mut Code) {
        for node in (0..self.nodes.len()).filter(|&node| !self.fixed(node)) {
            (1..=self.directions).for_each(|group| self.forward_node(code, node, group));
        }
    }

    fn forward_node(&self, code: &mut Code, node: usize, group: usize) {
        let target = self.forward_at(node, group);
        match &self.carrier.network.nodes()[node].operation {
            Operation::Coordinates | Operation::Parameters => {}
            Operation::Affine { .. } => self.affine_forward(code, node, group),
            Operation::Activate { source, kind } => {
                let banks = Banks {
                    tangent: self.forward_at(*source, group),
                    coefficient_tangents: self.tangents_of_coefficients(group),
                    ..Banks::of_argument(self.forward_at(*source, 0), self.coefficients)
                };
                let table = if group == 0 { &self.tables.forward } else { &self.tables.tangent };
                let part = Part { table, banks };
                match group {
                    0 => activation::begin(code, *kind, self.planes(node), part, target),
                    _ => activation::apply(code, *kind, self.planes(node), &[part], (target, false), None),
                }
            }
            Operation::Add(a, b) => {
                let [a, b] = [*a, *b].map(|source| self.forward_at(source, group));
                let size = self.components() * self.plane(node);
                code.line(format!("EACH(i, {size}) work[{target} + i] = work[{a} + i] + work[{b} + i];"));
                code.barrier();
            }
            Operation::Blend { gate, u, v } => self.blend_forward(code, node, [*gate, *u, *v], group),
            Operation::Tensor(_) => unreachable!("dictionaries are solved for elsewhere"),
        }
    }

    fn tangents_of_coefficients(&self, group: usize) -> usize {
        self.coefficient_tangents + group.saturating_sub(1) * self.leading() * self.points
    }

    fn planes(&self, node: usize) -> Planes {
        let NodeRoom { width, stride, .. } = self.nodes[node];
        let (value, aux) = (self.forward_at(node, 0), self.nodes[node].aux);
        Planes { points: self.points, width, stride, value, aux }
    }

    /// W · source over the components that can be nonzero; the others were zero from the start and stay so.
    fn affine_forward(&self, code: &mut Code, node: usize, group: usize) {
        let Operation::Affine { sources, .. } = &self.carrier.network.nodes()[node].operation else {
            unreachable!("called for affine maps")
        };
        let map = self.packing.map(self.number, node);
        let mut order: Vec<usize> =
            (0..sources.len()).filter(|&s| self.live_in(sources[s].node, group) > 0).collect();
        // The one with the most components overwrites, the others add to what is there.
        order.sort_by_key(|&s| std::cmp::Reverse(self.live_in(sources[s].node, group)));
        for (turn, &s) in order.iter().enumerate() {
            let source = sources[s].node;
            let product = Product {
                result: (self.forward_at(node, group), self.nodes[node].stride),
                left: (self.forward_at(source, group), self.nodes[source].stride),
                matrix: map.matrices[s].0,
                rows: self.live_in(source, group) * self.points,
                bias: (group == 0 && turn == 0).then_some((map.bias, self.points)),
                add: turn > 0,
            };
            product.write(code, self.threads, self.tensor);
        }
    }

    /// Adjoints of all nodes for some groups, from those of the output; `tangents` adds what the tangents owe.
    pub(super) fn reverse(&self, code: &mut Code, groups: Range<usize>, tangents: bool) {
        if self.moving() && groups.start > 0 {
            let size = self.directions * self.leading() * self.chunks * self.points;
            code.line(format!("EACH(i, {size}) work[{} + i] = 0;", self.coefficient_adjoints));
            code.barrier();
        }
        let mut written = vec![false; self.nodes.len()];
        for node in (0..self.nodes.len()).rev().filter(|&node| !self.fixed(node)) {
            self.reverse_node(code, node, groups.clone(), tangents, &mut written);
        }
    }

    fn reverse_node(
        &self,
        code: &mut Code,
        node: usize,
        groups: Range<usize>,
        tangents: bool,
        written: &mut [bool],
    ) {
        match &self.carrier.network.nodes()[node].operation {
            Operation::Coordinates | Operation::Parameters | Operation::Tensor(_) => {}
            Operation::Affine { sources, .. } => {
                let map = self.packing.map(self.number, node);
                let moved = sources.iter().enumerate().filter(|(_, source)| !self.fixed(source.node));
                for (number, source) in moved {
                    for group in groups.clone() {
                        let product = Product {
                            result: (self.adjoint_at(source.node, group), self.nodes[source.node].stride),
                            left: (self.adjoint_at(node, group), self.nodes[node].stride),
                            matrix: map.matrices[number].1,
                            rows: self.live_in(source.node, group) * self.points,
                            bias: None,
                            add: written[source.node],
                        };
                        product.write(code, self.threads, self.tensor);
                    }
                    written[source.node] = true;
                }
            }
            Operation::Activate { source, .. } => {
                for group in groups {
                    self.activation_reverse(code, node, group, tangents, written[*source]);
                }
                written[*source] = true;
            }
            Operation::Add(a, b) => {
                let size = self.components() * self.plane(node);
                for source in [*a, *b] {
                    for group in groups.clone() {
                        let [to, from] = [source, node].map(|node| self.adjoint_at(node, group));
                        let sign = if written[source] { "+=" } else { "=" };
                        code.line(format!("EACH(i, {size}) work[{to} + i] {sign} work[{from} + i];"));
                        code.barrier();
                    }
                    written[source] = true;
                }
            }
            Operation::Blend { gate, u, v } => {
                for group in groups {
                    self.blend_reverse(code, node, [*gate, *u, *v], group, tangents, written);
                }
                [*gate, *u, *v].into_iter().for_each(|source| written[source] = true);
            }
        }
    }

    fn activation_reverse(&self, code: &mut Code, node: usize, group: usize, tangents: bool, add: bool) {
        let Operation::Activate { source, kind } = self.carrier.network.nodes()[node].operation else {
            unreachable!("called for nonlinearities")
        };
        let argument = self.forward_at(source, 0);
        let banks = Banks {
            adjoint: self.adjoint_at(node, group),
            ..Banks::of_argument(argument, self.coefficients)
        };
        let sums = (self.moving() && group > 0).then(|| {
            let column = (group - 1) * self.leading() * self.chunks;
            SumsByPoint {
                table: &self.tables.coefficient,
                banks,
                chunks: self.chunks,
                result: self.coefficient_adjoints + column * self.points,
            }
        });
        let mut parts = vec![Part { table: &self.tables.reverse, banks }];
        let directions = if tangents { self.directions } else { 0 };
        for direction in 1..=directions {
            let banks = Banks {
                tangent: self.forward_at(source, direction),
                tangent_adjoint: self.adjoint_at(node, direction),
                coefficient_tangents: self.tangents_of_coefficients(direction),
                ..banks
            };
            parts.push(Part { table: &self.tables.source, banks });
        }
        let result = self.adjoint_at(source, group);
        activation::apply(code, kind, self.planes(node), &parts, (result, add), sums);
    }
}

/// Entry `input` of point p's row in a plane.
fn place(plane: usize, stride: usize, input: usize) -> String {
    format!("work[{} + p*{stride}]", plane + input)
}
