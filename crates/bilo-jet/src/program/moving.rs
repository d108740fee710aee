//! Coordinate inputs that move with unknowns: an input phi = |x - z| beside x, or a point at x = z.
//!
//! The sweeps give derivatives through parameter inputs. Those through coordinate inputs are written out
//! here, so that nothing below a program knows of them: a component ∂^α of an output moves by
//! Σ_i ∂^(α + e_i) · ∂(input_i)/∂η.

use super::{BoundNetwork, Operator};
use bilo_expr::{Expr, Graph, Leaf};
use std::collections::BTreeMap;

impl Operator {
    /// An expression at the places of the points: columns that are held are replaced.
    pub(super) fn at_places(&self, graph: &mut Graph, expression: Expr) -> Expr {
        if self.held.is_empty() {
            return expression;
        }
        let places: BTreeMap<Leaf, Expr> =
            self.held.iter().map(|(&column, &place)| (Leaf::Symbol(column), place)).collect();
        graph.substitute(expression, &places)
    }

    /// The expressions of a network's coordinate inputs, of columns and unknowns only.
    pub(super) fn coordinate_inputs(&self, graph: &mut Graph, bound: &BoundNetwork) -> Vec<Expr> {
        let coordinates = bound.network.coordinates();
        let inputs = graph.function_inputs(bound.outputs[0])[..coordinates].to_vec();
        let mut expand = |input| {
            let expanded = graph.expand_definitions(input);
            self.at_places(graph, expanded)
        };
        inputs.into_iter().map(&mut expand).collect()
    }
}

/// How the coordinate inputs of all networks move with the unknowns.
pub(super) struct Moving<'a> {
    operator: &'a Operator,
    /// By network: a coordinate input, an unknown, and the derivative of the one by the other.
    slopes: Vec<Vec<(usize, usize, Expr)>>,
}

impl<'a> Moving<'a> {
    pub(super) fn new(graph: &mut Graph, operator: &'a Operator) -> Self {
        let slopes = operator.networks.iter().map(|bound| slopes(graph, operator, bound)).collect();
        Self { operator, slopes }
    }

    /// Whether a coordinate input of a network moves.
    pub(super) fn moves(&self, network: usize) -> bool {
        !self.slopes[network].is_empty()
    }

    /// The unknowns that coordinate inputs move with.
    pub(super) fn unknowns(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.slopes.iter().flatten().map(|&(_, unknown, _)| unknown).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// ∂(expression)/∂η by expression and unknown, where η stands itself and through the coordinate inputs
    /// of networks.
    pub(super) fn partials(
        &self,
        graph: &mut Graph,
        expressions: &[Expr],
        unknowns: &[usize],
    ) -> Vec<Vec<Expr>> {
        let mut partial = |expression: Expr, unknown: usize| {
            let leaf = Leaf::Symbol(self.operator.unknowns[unknown]);
            let explicit = graph.partial(expression, &leaf);
            let moved = self.derivative(graph, expression, unknown);
            graph.add(explicit, moved)
        };
        let by_unknown = |&expression| unknowns.iter().map(|&unknown| partial(expression, unknown)).collect();
        expressions.iter().map(by_unknown).collect()
    }

    /// ∂(expression)/∂η through the coordinate inputs of networks.
    pub(super) fn derivative(&self, graph: &mut Graph, expression: Expr, unknown: usize) -> Expr {
        let mut terms = vec![];
        for leaf in graph.leaves(&[expression]) {
            let Leaf::Derivative(function, index) = &leaf else { continue };
            let mut networks = self.operator.networks.iter().zip(&self.slopes);
            let Some((_, slopes)) = networks.find(|(bound, _)| bound.outputs.contains(function)) else {
                continue;
            };
            for &(input, _, slope) in slopes.iter().filter(|(_, moved_by, _)| *moved_by == unknown) {
                let outer = graph.partial(expression, &leaf);
                let next = graph.derivative(*function, index.plus(input));
                let moved = graph.mul(next, slope);
                terms.push(graph.mul(outer, moved));
            }
        }
        graph.sum(&terms)
    }
}

fn slopes(graph: &mut Graph, operator: &Operator, bound: &BoundNetwork) -> Vec<(usize, usize, Expr)> {
    let mut found = vec![];
    for (input, expression) in operator.coordinate_inputs(graph, bound).into_iter().enumerate() {
        for (unknown, &symbol) in operator.unknowns.iter().enumerate() {
            let slope = graph.partial(expression, &Leaf::Symbol(symbol));
            if graph.as_constant(slope) != Some(0.0) {
                found.push((input, unknown, slope));
            }
        }
    }
    found
}
