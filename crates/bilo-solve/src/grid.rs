//! The tensor grid, and derivatives on it as weights of nodes.

use crate::fornberg::fornberg;
use crate::statement::Axis;

/// Nodes of the local interpolation: cubic, so that its error is of fourth order.
const WIDTH: usize = 4;

/// A node and its weight in a derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weight {
    pub(crate) node: usize,
    pub(crate) weight: f64,
}

/// Where along an axis something is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// At a node.
    Node,
    /// Half-way between a node and the next one.
    Face,
}

/// The nodes of one axis. On a periodic axis the last node is the first and is
/// left out.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    lo: f64,
    hi: f64,
    cells: usize,
    pub(crate) periodic: bool,
    /// All positions, both ends included.
    positions: Vec<f64>,
}

impl Line {
    pub(crate) fn new(axis: &Axis, cells: usize) -> Line {
        let mut line =
            Line { lo: axis.lo, hi: axis.hi, cells, periodic: axis.periodic, positions: Vec::new() };
        line.positions = (0..=cells).map(|i| line.along(i as f64)).collect();
        line
    }

    /// Fewest cells on which a derivative of this order has its stencils.
    pub(crate) fn cells_needed(order: usize) -> usize {
        (order + 2).max(4)
    }

    /// Number of unknown nodes.
    pub(crate) fn nodes(&self) -> usize {
        if self.periodic { self.cells } else { self.cells + 1 }
    }

    /// All positions, both ends included.
    pub(crate) fn positions(&self) -> &[f64] {
        &self.positions
    }

    /// Position of a node or of the face after it; node `cells` is the upper
    /// end exactly.
    pub(crate) fn position(&self, location: Location, i: usize) -> f64 {
        match location {
            Location::Node => self.positions[i],
            Location::Face => self.along(i as f64 + 0.5),
        }
    }

    pub(crate) fn step(&self) -> f64 {
        (self.hi - self.lo) / self.cells as f64
    }

    /// Whether there are faces on both sides of a node.
    pub(crate) fn has_faces(&self, i: usize) -> bool {
        self.periodic || (i > 0 && i < self.cells)
    }

    fn along(&self, steps: f64) -> f64 {
        let s = steps / self.cells as f64;
        self.lo * (1.0 - s) + self.hi * s
    }

    /// A derivative at a node, second-order accurate: central where it fits;
    /// next to an end the `order + 2` nodes that this accuracy asks for.
    /// On a face the mean of its two nodes or their difference.
    pub(crate) fn derivative(&self, location: Location, i: usize, order: usize) -> Vec<Weight> {
        let half = order.div_ceil(2);
        let last = self.nodes() - 1;
        let (start, width) = if location == Location::Face {
            (i as isize, 2)
        } else if self.periodic || (i >= half && i + half <= last) {
            (i as isize - half as isize, 2 * half + 1)
        } else if i < half {
            (0, order + 2)
        } else {
            (last as isize - order as isize - 1, order + 2)
        };
        // Weights in units of the step are small rationals, free of the
        // rounding of the node positions.
        let offsets: Vec<f64> = (0..width).map(|j| (start + j as isize) as f64).collect();
        let unit = self.step().powi(order as i32).recip();
        let at = if location == Location::Face { i as f64 + 0.5 } else { i as f64 };
        let wrap = |j: usize| (start + j as isize).rem_euclid(self.nodes() as isize) as usize;
        fornberg(at, &offsets, order)
            .into_iter()
            .enumerate()
            .map(|(j, w)| Weight { node: wrap(j), weight: w * unit })
            .collect()
    }

    /// A derivative anywhere, of the polynomial through the nearest nodes. A
    /// periodic axis wraps; otherwise the stencil is kept inside the axis.
    pub(crate) fn interpolate(&self, x: f64, order: usize) -> Vec<Weight> {
        if self.periodic { self.interpolate_ring(x, order) } else { self.interpolate_interval(x, order) }
    }

    fn interpolate_interval(&self, x: f64, order: usize) -> Vec<Weight> {
        let axis = &self.positions;
        let width = (WIDTH + order).min(axis.len());
        let last_first = (axis.len() - width) as isize;
        let first = self.first_node(x, width).clamp(0, last_first) as usize;
        fornberg(x, &axis[first..first + width], order)
            .into_iter()
            .enumerate()
            .map(|(j, weight)| Weight { node: first + j, weight })
            .collect()
    }

    fn interpolate_ring(&self, x: f64, order: usize) -> Vec<Weight> {
        let cells = self.cells as isize;
        let wrapped = self.lo + (x - self.lo).rem_euclid(self.hi - self.lo);
        let width = (WIDTH + order).min(self.cells);
        let first = self.first_node(wrapped, width);
        let nodes: Vec<f64> = (first..first + width as isize)
            .map(|i| if (0..=cells).contains(&i) { self.positions[i as usize] } else { self.along(i as f64) })
            .collect();
        fornberg(wrapped, &nodes, order)
            .into_iter()
            .enumerate()
            .map(|(j, weight)| Weight { node: (first + j as isize).rem_euclid(cells) as usize, weight })
            .collect()
    }

    /// First of `width` consecutive nodes centred about `x`.
    fn first_node(&self, x: f64, width: usize) -> isize {
        let cell = self.positions.partition_point(|&node| node <= x) as isize - 1;
        cell - (width as isize - 1) / 2
    }
}

/// The nodes of the box, the last axis running fastest.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) lines: Vec<Line>,
}

impl Grid {
    pub(crate) fn new(space: &[Axis], cells: &[usize]) -> Grid {
        Grid { lines: space.iter().zip(cells).map(|(axis, &cells)| Line::new(axis, cells)).collect() }
    }

    /// Number of unknown nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.lines.iter().map(Line::nodes).product()
    }

    /// The unknown node behind every node of a field, the repeated ends of
    /// periodic axes included.
    pub(crate) fn field_nodes(&self) -> impl Iterator<Item = usize> + '_ {
        let [first, second] =
            [0, 1].map(|axis| self.lines.get(axis).map_or(1, |line| line.positions().len()));
        let [rows, columns] = [0, 1].map(|axis| self.lines.get(axis).map_or(1, Line::nodes));
        (0..first).flat_map(move |i| (0..second).map(move |j| (i % rows) * columns + j % columns))
    }

    /// Position of a node along each axis; the second is 0 in one dimension.
    pub(crate) fn along_axes(&self, node: usize) -> [usize; 2] {
        match self.lines.get(1) {
            None => [node, 0],
            Some(second) => [node / second.nodes(), node % second.nodes()],
        }
    }

    /// The node at these positions along the axes.
    pub(crate) fn node(&self, at: [usize; 2]) -> usize {
        match self.lines.get(1) {
            None => at[0],
            Some(second) => at[0] * second.nodes() + at[1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_expr::Graph;

    fn line(cells: usize, periodic: bool) -> Line {
        let symbol = Graph::new().symbol("x");
        Line::new(&Axis { symbol, lo: -0.5, hi: 1.5, periodic }, cells)
    }

    fn nodes(weights: &[Weight]) -> Vec<usize> {
        weights.iter().map(|w| w.node).collect()
    }

    #[test]
    fn central_weights_are_the_textbook_ones() {
        let h = 0.25_f64;
        let textbook = [1.0, -4.0, 6.0, -4.0, 1.0].map(|w| w / h.powi(4));
        let weights = line(8, false).derivative(Location::Node, 4, 4);
        assert_eq!(nodes(&weights), [2, 3, 4, 5, 6]);
        for (w, expected) in weights.iter().zip(textbook) {
            assert!((w.weight - expected).abs() <= 1e-14 * expected.abs());
        }
    }

    #[test]
    fn one_sided_weights_of_the_second_derivative_are_the_textbook_ones() {
        let h = 0.5_f64;
        let weights = line(4, false).derivative(Location::Node, 0, 2);
        assert_eq!(nodes(&weights), [0, 1, 2, 3]);
        for (w, expected) in weights.iter().zip([2.0, -5.0, 4.0, -1.0]) {
            assert!((w.weight * h * h - expected).abs() < 1e-13);
        }
    }

    #[test]
    fn every_order_is_exact_on_polynomials_of_degree_order_plus_one() {
        // Second-order accuracy means that degree order + 1 has no error.
        let line = line(9, false);
        for order in 0..=5usize {
            let degree = order as i32 + 1;
            let factor: f64 = (2..=degree).map(f64::from).product();
            for i in 0..10 {
                let value: f64 = line
                    .derivative(Location::Node, i, order)
                    .iter()
                    .map(|w| w.weight * line.positions()[w.node].powi(degree))
                    .sum();
                let error = (value - factor * line.positions()[i]).abs();
                assert!(error < 1e-8, "order {order} node {i}: {error}");
            }
        }
    }

    #[test]
    fn a_face_has_the_mean_and_the_difference_of_its_nodes() {
        let line = line(8, true);
        let weights = |order| line.derivative(Location::Face, 7, order);
        assert_eq!(weights(0), [Weight { node: 7, weight: 0.5 }, Weight { node: 0, weight: 0.5 }]);
        assert_eq!(weights(1), [Weight { node: 7, weight: -4.0 }, Weight { node: 0, weight: 4.0 }]);
        assert_eq!(line.position(Location::Face, 7), 1.375);
    }

    #[test]
    fn periodic_stencils_wrap() {
        let line = line(8, true);
        assert_eq!(nodes(&line.derivative(Location::Node, 0, 1)), [7, 0, 1]);
        assert_eq!(nodes(&line.derivative(Location::Node, 7, 1)), [6, 7, 0]);
    }
}
