//! Linear maps from nodal values to values at points.

use crate::compile::Orders;
use crate::grid::{Grid, Location, Weight};

/// Where the residuals of a block are evaluated: at nodes, or at the faces of
/// one axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Points {
    /// The axis along which the points are half-way to the next node.
    pub(crate) face: Option<usize>,
    /// How far off the grid line a face's coordinates are taken, in cells
    /// along the other axis.
    pub(crate) nudge: f64,
    /// Positions along the axes.
    pub(crate) at: Vec<[usize; 2]>,
}

impl Points {
    /// All nodes.
    pub(crate) fn everywhere(grid: &Grid) -> Points {
        Points { at: (0..grid.nodes()).map(|node| grid.along_axes(node)).collect(), ..Points::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.at.len()
    }

    fn location(&self, axis: usize) -> Location {
        if self.face == Some(axis) { Location::Face } else { Location::Node }
    }

    /// The coordinate of every point along an axis.
    pub(crate) fn coordinates(&self, grid: &Grid, axis: usize) -> Vec<f64> {
        let (line, location) = (&grid.lines[axis], self.location(axis));
        let shift = if location == Location::Node { self.nudge * line.step() } else { 0.0 };
        self.at.iter().map(|at| line.position(location, at[axis]) + shift).collect()
    }
}

/// A derivative at many points: row `i` lists the nodes and weights that make
/// it at point `i`.
#[derive(Debug)]
pub(crate) struct Operator {
    first: Vec<usize>,
    nodes: Vec<usize>,
    weights: Vec<f64>,
}

impl Operator {
    /// The derivative of a function of some of the axes.
    pub(crate) fn new(grid: &Grid, points: &Points, axes: &[usize], orders: Orders) -> Operator {
        let tables: Vec<Vec<Vec<Weight>>> = axes
            .iter()
            .map(|&axis| {
                let (line, location) = (&grid.lines[axis], points.location(axis));
                (0..line.nodes()).map(|i| line.derivative(location, i, orders[axis])).collect()
            })
            .collect();
        let mut all = Operator { first: vec![0], nodes: Vec::new(), weights: Vec::new() };
        for at in &points.at {
            let stencils: Vec<&[Weight]> =
                axes.iter().zip(&tables).map(|(&axis, table)| &table[at[axis]][..]).collect();
            match stencils[..] {
                [only] => only.iter().for_each(|w| all.push(w.node, w.weight)),
                [first, second] => {
                    let stride = grid.lines[axes[1]].nodes();
                    for a in first {
                        second.iter().for_each(|b| all.push(a.node * stride + b.node, a.weight * b.weight));
                    }
                }
                _ => unreachable!("functions of one or two axes"),
            }
            all.first.push(all.nodes.len());
        }
        all
    }

    fn push(&mut self, node: usize, weight: f64) {
        self.nodes.push(node);
        self.weights.push(weight);
    }

    /// Nodes and weights at point `i`.
    pub(crate) fn at(&self, i: usize) -> (&[usize], &[f64]) {
        let range = self.first[i]..self.first[i + 1];
        (&self.nodes[range.clone()], &self.weights[range])
    }

    /// The derivative of nodal values at every point.
    pub(crate) fn apply(&self, values: &[f64], column: &mut [f64]) {
        for (i, value) in column.iter_mut().enumerate() {
            let (nodes, weights) = self.at(i);
            *value = nodes.iter().zip(weights).map(|(&j, w)| w * values[j]).sum();
        }
    }

    /// The transpose: adds numbers at the points to the nodes they came from.
    pub(crate) fn add_transposed(&self, column: &[f64], values: &mut [f64]) {
        for (i, value) in column.iter().enumerate() {
            let (nodes, weights) = self.at(i);
            nodes.iter().zip(weights).for_each(|(&j, w)| values[j] += w * value);
        }
    }
}
