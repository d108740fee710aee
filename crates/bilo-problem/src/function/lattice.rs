//! A tensor grid and the multilinear functions on it.

use super::rounded;
use crate::grid::values::corners;
use crate::{Argument, Coordinate, UnknownFunction, Variable};
use bilo_jet::PointSource;

/// The grid of an unknown function. Values stand in row-major order of its arguments; between the
/// nodes the function is linear in each of them. A function of a state, by which equations are
/// differentiated, has the corners of that polygon rounded off.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    of: Vec<Variable>,
    axes: Vec<Axis>,
}

#[derive(Clone, Debug, PartialEq)]
struct Axis {
    lo: f64,
    step: f64,
    nodes: Vec<f64>,
    /// The last cell leads back to the first node.
    periodic: bool,
}

/// Three neighbours along an axis, whose second difference stands for a part of the domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// The node before, the node itself and the one after.
    pub nodes: [usize; 3],
    /// The distance from one to the next.
    pub length: f64,
    /// The part of the domain; over all bends along one coordinate these sum to 1.
    pub share: f64,
}

/// The difference of two neighbouring values is a slope that stands for a part of the domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The node before.
    pub from: usize,
    /// The node after.
    pub to: usize,
    /// The distance between them.
    pub length: f64,
    /// The part of the domain; over all edges along one coordinate these sum to 1.
    pub share: f64,
}

impl Axis {
    fn new(coordinate: &Coordinate, count: usize) -> Self {
        let nodes = coordinate.axis(count);
        let cells = if coordinate.periodic { count } else { count - 1 };
        let step = (coordinate.hi - coordinate.lo) / cells as f64;
        Self { lo: coordinate.lo, step, nodes, periodic: coordinate.periodic }
    }

    fn cells(&self) -> usize {
        if self.periodic { self.nodes.len() } else { self.nodes.len() - 1 }
    }

    /// The node after this one.
    fn next(&self, node: usize) -> usize {
        (node + 1) % self.nodes.len()
    }

    /// A place in cells from the first node. Outside, the nearest end counts.
    fn along(&self, place: f64) -> f64 {
        let cells = self.cells() as f64;
        let along = (place - self.lo) / self.step;
        if self.periodic { along.rem_euclid(cells) } else { along.clamp(0.0, cells) }
    }

    /// The nodes around a place and their weights.
    fn around(&self, place: f64) -> [(usize, f64); 2] {
        let along = self.along(place);
        let first = (along.floor() as usize).min(self.cells() - 1);
        let fraction = along - first as f64;
        [(first, 1.0 - fraction), (self.next(first), fraction)]
    }

    /// The part of the axis that a node stands for.
    fn share(&self, node: usize) -> f64 {
        let end = !self.periodic && (node == 0 || node + 1 == self.nodes.len());
        (if end { 0.5 } else { 1.0 }) / self.cells() as f64
    }
}

impl Lattice {
    /// The grid of an unknown function.
    pub fn new(function: &UnknownFunction) -> Self {
        let pairs = function.of.iter().zip(&function.nodes);
        let axis = |(argument, &count): (&Argument, &usize)| Axis::new(&argument.axis, count);
        Self {
            of: function.of.iter().map(|argument| argument.variable).collect(),
            axes: pairs.map(axis).collect(),
        }
    }

    /// The number of nodes.
    #[expect(clippy::len_without_is_empty, reason = "there is always a node")]
    pub fn len(&self) -> usize {
        self.axes.iter().map(|axis| axis.nodes.len()).product()
    }

    /// The nodes of each axis.
    pub fn axes(&self) -> Vec<Vec<f64>> {
        self.axes.iter().map(|axis| axis.nodes.clone()).collect()
    }

    /// Where the nodes are: one column per axis, in the order of the values.
    pub fn columns(&self) -> Vec<Vec<f64>> {
        let points = PointSource::grid(self.axes());
        points.columns(0..points.len())
    }

    /// Those of the columns of all coordinates that a function of coordinates depends on.
    ///
    /// # Panics
    /// If it is a function of a state.
    pub fn select<'c>(&self, columns: &'c [Vec<f64>]) -> Vec<&'c [f64]> {
        let column = |variable: &Variable| match *variable {
            Variable::Coordinate(coordinate) => &columns[coordinate][..],
            Variable::State(_) => panic!("states have no columns among the coordinates"),
        };
        self.of.iter().map(column).collect()
    }

    /// The function with these values at the nodes, at points given by one column per axis.
    pub fn sample(&self, values: &[f64], columns: &[&[f64]]) -> Vec<f64> {
        let at = |point: usize| self.around(columns, point).iter().map(|&(node, w)| w * values[node]).sum();
        (0..columns[0].len()).map(at).collect()
    }

    /// The transpose of [`Lattice::sample`]: adds the derivatives of Σ_i weights_i sample_i by the values.
    pub fn scatter(&self, slopes: &mut [f64], columns: &[&[f64]], weights: &[f64]) {
        for (point, weight) in weights.iter().enumerate() {
            for (node, w) in self.around(columns, point) {
                slopes[node] += weight * w;
            }
        }
    }

    /// The nodes around a point and their weights.
    fn around(&self, columns: &[&[f64]], point: usize) -> Vec<(usize, f64)> {
        if let (&[Variable::State(_)], [axis]) = (&self.of[..], &self.axes[..]) {
            return rounded::weights(axis.along(columns[0][point]), axis.cells(), 0).to_vec();
        }
        let axes = self.axes.iter().zip(columns);
        corners(axes.map(|(axis, column)| (axis.nodes.len(), axis.around(column[point]))))
    }

    /// The part of the domain that each node stands for.
    pub fn shares(&self) -> Vec<f64> {
        let mut shares = vec![1.0];
        for axis in &self.axes {
            let along = |share: &f64| {
                let share = *share;
                (0..axis.nodes.len()).map(move |node| share * axis.share(node))
            };
            shares = shares.iter().flat_map(along).collect();
        }
        shares
    }

    /// All bends, axis by axis.
    pub fn bends(&self) -> Vec<Bend> {
        (0..self.axes.len()).flat_map(|along| self.bends_along(along)).collect()
    }

    fn bends_along(&self, along: usize) -> Vec<Bend> {
        let edges = self.edges_along(along);
        // An edge goes on where another begins.
        let mut after = vec![None; self.len()];
        edges.iter().for_each(|edge| after[edge.from] = Some(edge.to));
        let bends = edges.iter().filter_map(|edge| {
            let nodes = [edge.from, edge.to, after[edge.to]?];
            Some(Bend { nodes, length: edge.length, share: edge.share })
        });
        let mut bends: Vec<Bend> = bends.collect();
        let all: f64 = bends.iter().map(|bend| bend.share).sum();
        bends.iter_mut().for_each(|bend| bend.share /= all);
        bends
    }

    /// All edges, axis by axis.
    pub fn edges(&self) -> Vec<Edge> {
        (0..self.axes.len()).flat_map(|along| self.edges_along(along)).collect()
    }

    fn edges_along(&self, along: usize) -> Vec<Edge> {
        let axis = &self.axes[along];
        let stride: usize = self.axes[along + 1..].iter().map(|axis| axis.nodes.len()).product();
        let shares = self.shares();
        let edge = |from: usize| {
            let node = from / stride % axis.nodes.len();
            // The last node of an open axis has no edge.
            (node < axis.cells()).then(|| Edge {
                from,
                to: from - node * stride + axis.next(node) * stride,
                length: axis.step,
                share: shares[from] / axis.share(node) / axis.cells() as f64,
            })
        };
        (0..self.len()).filter_map(edge).collect()
    }
}
