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
mod factors;
mod forward;
mod gradient;
mod leading;
mod reverse;
mod tensor;
mod weights;

pub(crate) use factors::{Factors, Scratch};
use gradient::TrainedBlock;
use leading::{LeadingAdjoints, LeadingColumns};
use weights::Layouts;
pub(crate) use weights::Weights;

use crate::activation::JetActivation;
use crate::network::{Network, Operation};
use crate::plan::Plan;
use bilo_linear::{Aligned, Scalar, Simd, squares};
use std::sync::Arc;

/// A network prepared for one plan: everything that does not change from tile to tile.
#[derive(Clone, Debug)]
pub(crate) struct JetNetwork<T> {
    network: Network,
    plan: Plan,
    frozen: Arc<Aligned<T>>,
    /// Frozen matrices, laid out for products, by their places.
    frozen_layouts: Vec<(usize, Arc<Layouts<T>>)>,
    trained: Vec<TrainedBlock>,
    /// The nonlinearity of each node that has one.
    activations: Vec<Option<JetActivation<T>>>,
    product_rule: Vec<(usize, usize, usize, T)>,
    simd: Simd,
    /// Whether each node has neither tangent nor adjoint.
    fixed: Vec<bool>,
    /// Whether the coefficients of the plan's leading part depend on unknowns.
    moving: bool,
    /// Whether parameters may be functions of the coordinates, with jets of their own.
    fed: bool,
}

/// Buffers of one node for one tile.
#[derive(Clone, Debug)]
struct Buffers<T> {
    forward: Aligned<T>,
    adjoint: Aligned<T>,
    aux: Aligned<T>,
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
        let frozen: Arc<Aligned<T>> =
            Arc::new(network.frozen().iter().map(|&value| T::cast(value)).collect());
        let frozen_layouts = weights::frozen_layouts(&network, &frozen, simd);
        // Even frozen features move with the leading part's coefficients; the coordinates do not.
        let fixed = network
            .nodes()
            .iter()
            .map(|node| node.fixed && (!moving || node.operation == Operation::Coordinates))
            .collect();
        let trained = gradient::trained_blocks(&network);
        Self {
            network,
            plan,
            frozen,
            frozen_layouts,
            trained,
            activations,
            product_rule,
            simd,
            fixed,
            moving,
            fed: false,
        }
    }

    /// Says whether parameters are functions of the coordinates.
    pub(crate) fn fed(self, fed: bool) -> Self {
        Self { fed, ..self }
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
                Buffers {
                    forward: Aligned::zeros(full),
                    adjoint: Aligned::zeros(if self.fixed[number] { 0 } else { full }),
                    aux: Aligned::zeros(match node.operation {
                        Operation::Activate { .. } => plane,
                        _ => 0,
                    }),
                }
            })
            .collect();
        let (leading, leading_adjoints) = self.leading_buffers(points, directions);
        Workspace { points, directions, nodes, leading, leading_adjoints }
    }

    /// The side of the squares that products with a matrix of the network are made of, if those with any are.
    pub(crate) fn square(&self) -> Option<usize> {
        self.network.nodes().iter().find_map(|node| match &node.operation {
            Operation::Affine { sources, .. } => {
                sources.iter().find_map(|source| squares::<T>(self.simd, self.width(source.node), node.width))
            }
            _ => None,
        })
    }

    fn width(&self, node: usize) -> usize {
        self.network.nodes()[node].width
    }

    /// Components of a node that can be nonzero: (jets, tangents).
    fn live(&self, node: usize) -> (usize, usize) {
        match self.network.nodes()[node].operation {
            Operation::Coordinates => (self.plan.linear_components(), 0),
            // A direction of the parameters moves functions by constants.
            Operation::Parameters if self.fed => (self.plan.len(), 1),
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

    /// Writes a derivative of parameter `input` at every point, after [`JetNetwork::set_parameters`].
    pub(crate) fn set_parameter_jet(
        &self,
        work: &mut Workspace<T>,
        component: usize,
        input: usize,
        values: &[T],
    ) {
        let (width, points) = (self.width(1), work.points);
        let plane = &mut work.nodes[1].forward[component * points * width..(component + 1) * points * width];
        for (row, &value) in plane.chunks_exact_mut(width).zip(values) {
            row[input] = value;
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

    /// Adjoint of a component of parameter `input` at every point, after a reverse sweep of the group.
    pub(crate) fn read_parameter_adjoint(
        &self,
        work: &Workspace<T>,
        group: usize,
        component: usize,
        input: usize,
    ) -> impl Iterator<Item = T> {
        let (width, points) = (self.width(1), work.points);
        let start = (group * self.plan.len() + component) * points * width;
        work.nodes[1].adjoint[start..start + points * width].iter().skip(input).step_by(width).copied()
    }

    /// Jets of all nodes.
    pub(crate) fn forward(&self, weights: &Weights<T>, work: &mut Workspace<T>) {
        for node in 0..self.network.nodes().len() {
            self.forward_node(weights, &[], work, node, 0..1);
        }
    }

    /// The features of a dictionary that was reduced, at the coordinates that were set; none of any other network, or where
    /// they move with unknowns.
    pub(crate) fn combined(&self, weights: &Weights<T>, work: &mut Workspace<T>) -> Option<Vec<T>> {
        let last = self.network.combined().filter(|&node| self.fixed[node])?;
        (0..=last).for_each(|node| self.forward_node(weights, &[], work, node, 0..1));
        Some(work.nodes[last].forward[..self.plan.len() * work.points * self.width(last)].to_vec())
    }

    /// Jets of what comes after such features.
    pub(crate) fn forward_from(&self, combined: &[T], weights: &Weights<T>, work: &mut Workspace<T>) {
        let last = self.network.nodes().len() - 1;
        work.nodes[last - 1].forward[..combined.len()].copy_from_slice(combined);
        self.forward_node(weights, &[], work, last, 0..1);
    }

    /// Tangents of all nodes along every direction; with `slopes`, one for each direction, the trained
    /// weights move as well.
    pub(crate) fn forward_tangents(
        &self,
        weights: &Weights<T>,
        slopes: &[&Weights<T>],
        work: &mut Workspace<T>,
    ) {
        let groups = 1..1 + work.directions;
        for node in 0..self.network.nodes().len() {
            if !self.fixed[node] {
                self.forward_node(weights, slopes, work, node, groups.clone());
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
