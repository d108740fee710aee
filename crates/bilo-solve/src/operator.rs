//! Linear maps from nodal values to values at points.

use crate::combination::Combination;
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
        let nudge = if location == Location::Node { self.nudge } else { 0.0 };
        self.at.iter().map(|at| line.position(location, at[axis]) + nudge * line.step(at[axis])).collect()
    }

    /// The rate of that coordinate.
    pub(crate) fn coordinate_rates(&self, grid: &Grid, axis: usize) -> Vec<f64> {
        let (line, location) = (&grid.lines[axis], self.location(axis));
        self.at.iter().map(|at| line.position_rate(location, at[axis])).collect()
    }
}

/// A derivative at many points: a sum of weighted nodal values for each.
#[derive(Debug, Default)]
pub(crate) struct Operator {
    sums: Combination,
    /// The rate of each weight.
    rates: Vec<f64>,
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
        let mut all = Operator::default();
        for at in &points.at {
            let stencils: Vec<&[Weight]> =
                axes.iter().zip(&tables).map(|(&axis, table)| &table[at[axis]][..]).collect();
            match stencils[..] {
                [only] => all.push(only.iter().copied()),
                [first, second] => {
                    // There are no breaks in the plane, and so no rates.
                    let stride = grid.lines[axes[1]].nodes();
                    let product = |a: &Weight, b: &Weight| Weight {
                        node: a.node * stride + b.node,
                        weight: a.weight * b.weight,
                        rate: 0.0,
                    };
                    all.push(first.iter().flat_map(|a| second.iter().map(move |b| product(a, b))));
                }
                _ => unreachable!("functions of one or two axes"),
            }
        }
        all
    }

    /// The jump of the slope at the break, the one point.
    pub(crate) fn jump(grid: &Grid) -> Operator {
        let mut jump = Operator::default();
        jump.push(grid.lines[0].jump());
        jump
    }

    /// Appends the weights of one more point.
    fn push(&mut self, weights: impl IntoIterator<Item = Weight>) {
        let rates = &mut self.rates;
        self.sums.push(weights.into_iter().map(|w| {
            rates.push(w.rate);
            (w.node, w.weight)
        }));
    }

    /// Nodes and weights at point `i`.
    pub(crate) fn at(&self, i: usize) -> (&[usize], &[f64]) {
        self.sums.at(i)
    }

    /// The derivative of nodal values at every point.
    pub(crate) fn apply(&self, values: &[f64], column: &mut [f64]) {
        self.sums.apply(values, column);
    }

    /// The rate of the derivative at every point, the nodal values held fixed.
    pub(crate) fn apply_rates(&self, values: &[f64]) -> Vec<f64> {
        let at = |i: usize| {
            let rates = &self.rates[self.sums.range(i)];
            self.at(i).0.iter().zip(rates).map(|(&node, rate)| rate * values[node]).sum()
        };
        (0..self.sums.len()).map(at).collect()
    }

    /// The transpose: adds numbers at the points to the nodes they came from.
    pub(crate) fn add_transposed(&self, column: &[f64], values: &mut [f64]) {
        self.sums.add_transposed(column, values);
    }
}
