//! The tensor grid, and derivatives on it as weights of nodes.
//!
//! An axis may have a break at a place z that moves with the parameters. Then
//! nodes and weights depend on z, and everything here comes with its rate: its
//! derivative by z.

use crate::fornberg::fornberg;
use crate::statement::Axis;

/// Nodes of the local interpolation: cubic, so that its error is of fourth order.
const WIDTH: usize = 4;

/// Those between times that follow the solution: of sixth order, so that nothing is lost of steps of fourth order.
const WIDE: usize = 6;

/// A node and its weight in a derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weight {
    pub(crate) node: usize,
    pub(crate) weight: f64,
    pub(crate) rate: f64,
}

/// Where along an axis something is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// At a node.
    Node,
    /// Half-way between a node and the next one.
    Face,
}

/// Equal cells from one place to another.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Its first node.
    first: usize,
    cells: usize,
    /// Both ends, and their rates.
    ends: [f64; 2],
    rates: [f64; 2],
}

impl Piece {
    fn step(&self) -> f64 {
        (self.ends[1] - self.ends[0]) / self.cells as f64
    }

    /// The rate of the step relative to the step.
    fn stretch(&self) -> f64 {
        (self.rates[1] - self.rates[0]) / (self.ends[1] - self.ends[0])
    }

    /// The place so many steps from the start; all cells lead to the end exactly.
    fn along(&self, steps: f64) -> f64 {
        let s = steps / self.cells as f64;
        self.ends[0] * (1.0 - s) + self.ends[1] * s
    }

    /// The rate of that place.
    fn rate_along(&self, steps: f64) -> f64 {
        let s = steps / self.cells as f64;
        self.rates[0] * (1.0 - s) + self.rates[1] * s
    }
}

/// The nodes of one axis. On a periodic axis the last node is the first and is
/// left out.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// One, or several that meet at breaks.
    pieces: Vec<Piece>,
    pub(crate) periodic: bool,
    /// All positions, both ends included.
    positions: Vec<f64>,
    graded: bool,
}

impl Line {
    pub(crate) fn new(axis: &Axis, cells: usize) -> Line {
        if axis.logarithmic && axis.lo > 0.0 {
            return Line::logarithmic(axis, cells);
        }
        let whole = Piece { first: 0, cells, ends: [axis.lo, axis.hi], rates: [0.0; 2] };
        Line::of_pieces(vec![whole], axis.periodic)
    }

    /// Nodes whose logarithms are even.
    fn logarithmic(axis: &Axis, cells: usize) -> Line {
        let ratio = axis.hi / axis.lo;
        let inner = (1..cells).map(|i| axis.lo * ratio.powf(i as f64 / cells as f64));
        Line::through([axis.lo].into_iter().chain(inner).chain([axis.hi]).collect(), &[])
    }

    /// Nodes at these places, some of which, by number, are breaks.
    pub(crate) fn through(positions: Vec<f64>, breaks: &[usize]) -> Line {
        let ends: Vec<usize> = [0].iter().chain(breaks).copied().chain([positions.len() - 1]).collect();
        let piece = |ends: &[usize]| Piece {
            first: ends[0],
            cells: ends[1] - ends[0],
            ends: [positions[ends[0]], positions[ends[1]]],
            rates: [0.0; 2],
        };
        let pieces = ends.windows(2).map(piece).collect();
        Line { pieces, periodic: false, positions, graded: true }
    }

    /// With so many equal cells in place of the one that ends at a node.
    pub(crate) fn divided(&self, end: usize, parts: usize) -> Line {
        let [a, b] = [self.positions[end - 1], self.positions[end]];
        let mut positions = self.positions.clone();
        positions.splice(end..end, (1..parts).map(|k| a + (b - a) * k as f64 / parts as f64));
        let breaks = self.pieces.iter().skip(1).map(|piece| piece.first);
        let breaks: Vec<usize> = breaks.map(|b| if b >= end { b + parts - 1 } else { b }).collect();
        Line::through(positions, &breaks)
    }

    /// Whether cells are not equal.
    pub(crate) fn is_graded(&self) -> bool {
        self.graded
    }

    /// A node at the break `z`; the cells are shared out by length, each side
    /// getting at least `fewest`.
    pub(crate) fn broken(axis: &Axis, cells: usize, z: f64, fewest: usize) -> Line {
        let share = cells as f64 * (z - axis.lo) / (axis.hi - axis.lo);
        let first = (share.round() as usize).clamp(fewest, cells - fewest);
        let below = Piece { first: 0, cells: first, ends: [axis.lo, z], rates: [0.0, 1.0] };
        let above = Piece { first, cells: cells - first, ends: [z, axis.hi], rates: [1.0, 0.0] };
        Line::of_pieces(vec![below, above], false)
    }

    fn of_pieces(pieces: Vec<Piece>, periodic: bool) -> Line {
        let mut positions = vec![pieces[0].ends[0]];
        for piece in &pieces {
            positions.extend((1..=piece.cells).map(|i| piece.along(i as f64)));
        }
        Line { pieces, periodic, positions, graded: false }
    }

    /// Fewest cells on which a derivative of this order has its stencils.
    pub(crate) fn cells_needed(order: usize) -> usize {
        (order + 2).max(4)
    }

    fn cells(&self) -> usize {
        self.positions.len() - 1
    }

    /// Number of unknown nodes.
    pub(crate) fn nodes(&self) -> usize {
        if self.periodic { self.cells() } else { self.cells() + 1 }
    }

    /// All positions, both ends included.
    pub(crate) fn positions(&self) -> &[f64] {
        &self.positions
    }

    /// Whether the node positions have rates.
    pub(crate) fn moves(&self) -> bool {
        self.pieces.len() > 1
    }

    /// The node at the break.
    pub(crate) fn break_node(&self) -> Option<usize> {
        self.pieces.get(1).map(|piece| piece.first)
    }

    /// The piece of a node or of the face after it; the break is in the first.
    fn piece(&self, location: Location, i: usize) -> &Piece {
        let reach = usize::from(location == Location::Node);
        let within = |piece: &&Piece| i < piece.first + piece.cells + reach;
        self.pieces.iter().find(within).unwrap_or(&self.pieces[self.pieces.len() - 1])
    }

    /// Position of a node or of the face after it.
    pub(crate) fn position(&self, location: Location, i: usize) -> f64 {
        match location {
            Location::Node => self.positions[i],
            Location::Face if self.graded => self.middle(i),
            Location::Face => {
                let piece = self.piece(location, i);
                piece.along((i - piece.first) as f64 + 0.5)
            }
        }
    }

    /// The middle of the cell after a node; what would come after the last one is as long as that.
    fn middle(&self, i: usize) -> f64 {
        let cell = i.min(self.cells() - 1);
        self.positions[i] + 0.5 * (self.positions[cell + 1] - self.positions[cell])
    }

    /// The rate of that position.
    pub(crate) fn position_rate(&self, location: Location, i: usize) -> f64 {
        let piece = self.piece(location, i);
        let half = if location == Location::Face { 0.5 } else { 0.0 };
        piece.rate_along((i - piece.first) as f64 + half)
    }

    /// The length of the cells at a node, not the break: half of both together.
    pub(crate) fn step(&self, i: usize) -> f64 {
        if !self.graded {
            return self.piece(Location::Node, i).step();
        }
        let (before, after) = (i.saturating_sub(1), (i + 1).min(self.cells()));
        (self.positions[after] - self.positions[before]) / (after - before) as f64
    }

    /// The rate of that length relative to it.
    pub(crate) fn stretch(&self, i: usize) -> f64 {
        self.piece(Location::Node, i).stretch()
    }

    /// Whether there are faces on both sides of a node.
    pub(crate) fn has_faces(&self, i: usize) -> bool {
        self.periodic || (i > 0 && i < self.cells())
    }

    /// A derivative at a node, second-order accurate: central where it fits;
    /// next to an end or the break the `order + 2` nodes that this accuracy asks
    /// for. On a face the mean of its two nodes or their difference.
    pub(crate) fn derivative(&self, location: Location, i: usize, order: usize) -> Vec<Weight> {
        self.derivative_in(self.piece(location, i), location, i, order)
    }

    fn derivative_in(&self, piece: &Piece, location: Location, i: usize, order: usize) -> Vec<Weight> {
        let half = order.div_ceil(2);
        let (i, last) = (i - piece.first, piece.cells);
        let (start, width) = if location == Location::Face {
            (i as isize, 2)
        } else if self.periodic || (i >= half && i + half <= last) {
            (i as isize - half as isize, 2 * half + 1)
        } else if i < half {
            (0, order + 2)
        } else {
            (last as isize - order as isize - 1, order + 2)
        };
        let node = |j: usize| (start + (j + piece.first) as isize).rem_euclid(self.nodes() as isize) as usize;
        if self.graded {
            let first = node(0).min(self.nodes() - width);
            return self.uneven(self.position(location, piece.first + i), first..first + width, order);
        }
        // Weights in units of the step are small rationals, free of the
        // rounding of the node positions.
        let offsets: Vec<f64> = (0..width).map(|j| (start + j as isize) as f64).collect();
        let unit = piece.step().powi(order as i32).recip();
        let relative_rate = -(order as f64) * piece.stretch();
        let at = if location == Location::Face { i as f64 + 0.5 } else { i as f64 };
        fornberg(at, &offsets, order)
            .into_iter()
            .enumerate()
            .map(|(j, w)| Weight { node: node(j), weight: w * unit, rate: w * unit * relative_rate })
            .collect()
    }

    /// A derivative from nodes that are not even. Where their distances change smoothly, as those of logarithms do, central
    /// ones are second-order accurate too.
    fn uneven(&self, x: f64, nodes: std::ops::Range<usize>, order: usize) -> Vec<Weight> {
        let places = &self.positions[nodes.clone()];
        let length = (places[places.len() - 1] - places[0]) / (places.len() - 1) as f64;
        let offsets: Vec<f64> = places.iter().map(|place| (place - x) / length).collect();
        let unit = length.powi(order as i32).recip();
        let weights = fornberg(0.0, &offsets, order).into_iter().zip(nodes);
        weights.map(|(w, node)| Weight { node, weight: w * unit, rate: 0.0 }).collect()
    }

    /// The first derivative above the break minus that below.
    pub(crate) fn jump(&self) -> Vec<Weight> {
        let [below, above] = &self.pieces[..] else {
            unreachable!("only an axis with a break has a jump");
        };
        let minus = |w: Weight| Weight { weight: -w.weight, rate: -w.rate, ..w };
        let mut jump = self.derivative_in(above, Location::Node, above.first, 1);
        let lower = self.derivative_in(below, Location::Node, above.first, 1);
        jump.extend(lower.into_iter().map(minus));
        jump
    }

    /// A derivative anywhere, of the polynomial through the nearest nodes on
    /// the same side of a break. A periodic axis wraps; otherwise the stencil is
    /// kept inside the axis.
    pub(crate) fn interpolate(&self, x: f64, order: usize) -> Vec<Weight> {
        if self.periodic { self.interpolate_ring(x, order) } else { self.interpolate_interval(x, order) }
    }

    fn interpolate_interval(&self, x: f64, order: usize) -> Vec<Weight> {
        let within = |piece: &&Piece| x <= piece.ends[1];
        let piece = self.pieces.iter().find(within).unwrap_or(&self.pieces[self.pieces.len() - 1]);
        let wide = if self.graded { WIDE } else { WIDTH };
        let width = (wide + order).min(piece.cells + 1);
        let last_first = (piece.first + piece.cells + 1 - width) as isize;
        let first = self.first_node(x, width).clamp(piece.first as isize, last_first) as usize;
        let nodes = &self.positions[first..first + width];
        let weights = fornberg(x, nodes, order);
        let rates = if self.moves() {
            // The weights depend on (x - start)/step and on the step. Where z
            // moves, x moves against the nodes.
            let drift = piece.rate_along((x - piece.ends[0]) / piece.step());
            let next = fornberg(x, nodes, order + 1);
            let shrink = order as f64 * piece.stretch();
            weights.iter().zip(next).map(|(w, slope)| -shrink * w - drift * slope).collect()
        } else {
            vec![0.0; width]
        };
        let weights = weights.into_iter().zip(rates).enumerate();
        weights.map(|(j, (weight, rate))| Weight { node: first + j, weight, rate }).collect()
    }

    fn interpolate_ring(&self, x: f64, order: usize) -> Vec<Weight> {
        let piece = &self.pieces[0];
        let (cells, [lo, hi]) = (piece.cells as isize, piece.ends);
        let wrapped = lo + (x - lo).rem_euclid(hi - lo);
        let width = (WIDTH + order).min(piece.cells);
        let first = self.first_node(wrapped, width);
        let nodes: Vec<f64> = (first..first + width as isize)
            .map(
                |i| if (0..=cells).contains(&i) { self.positions[i as usize] } else { piece.along(i as f64) },
            )
            .collect();
        let node = |j: usize| (first + j as isize).rem_euclid(cells) as usize;
        fornberg(wrapped, &nodes, order)
            .into_iter()
            .enumerate()
            .map(|(j, weight)| Weight { node: node(j), weight, rate: 0.0 })
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

    /// The places of the nodes, a column for each axis.
    pub(crate) fn columns(&self) -> Vec<Vec<f64>> {
        let along = |axis: usize, node: usize| self.lines[axis].positions()[self.along_axes(node)[axis]];
        let axes = 0..self.lines.len();
        axes.map(|axis| (0..self.nodes()).map(|node| along(axis, node)).collect()).collect()
    }

    /// Whether fields have more entries than there are nodes, as those of periodic axes do, whose two ends are one node.
    pub(crate) fn wraps(&self) -> bool {
        self.lines.iter().any(|line| line.positions().len() != line.nodes())
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
        Line::new(&Axis { periodic, ..Axis::new(symbol, -0.5, 1.5) }, cells)
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
        let pair = |a, b| [(7, a), (0, b)].map(|(node, weight)| Weight { node, weight, rate: 0.0 });
        assert_eq!(weights(0), pair(0.5, 0.5));
        // The rate is a zero of either sign.
        assert_eq!(weights(1), pair(-4.0, 4.0));
        assert_eq!(line.position(Location::Face, 7), 1.375);
    }

    fn broken(z: f64) -> Line {
        let symbol = Graph::new().symbol("x");
        Line::broken(&Axis::new(symbol, 0.0, 1.0), 12, z, 4)
    }

    #[test]
    fn a_break_has_a_node_and_no_stencil_crosses_it() {
        let line = broken(0.4);
        let node = line.break_node().expect("it has a break");
        assert_eq!((node, line.positions()[node], line.nodes()), (5, 0.4, 13));
        for (i, order) in [(4, 2), (4, 3), (5, 2), (6, 2), (6, 4)] {
            let stencil = nodes(&line.derivative(Location::Node, i, order));
            assert!(stencil.iter().all(|&j| j <= 5) || stencil.iter().all(|&j| j >= 5), "{stencil:?}");
        }
        // |x - z| has the jump 2, and x^2 none.
        let jump = |f: &dyn Fn(f64) -> f64| -> f64 {
            line.jump().iter().map(|w| w.weight * f(line.positions()[w.node])).sum()
        };
        assert!((jump(&|x| (x - 0.4).abs()) - 2.0).abs() < 1e-13);
        assert!(jump(&|x| x * x).abs() < 1e-13);
    }

    #[test]
    fn rates_are_derivatives_by_the_place_of_the_break() {
        let e = 1e-5;
        let [line, before, after] = [0.4, 0.4 - e, 0.4 + e].map(broken);
        let close = |found: f64, [low, high]: [f64; 2]| {
            let expected = (high - low) / (2.0 * e);
            // Central differences: rounding 1e-13/e of weights up to 1e3.
            assert!((found - expected).abs() < 1e-5 * expected.abs().max(1.0), "{found} {expected}");
        };
        let compare = |weights: &dyn Fn(&Line) -> Vec<Weight>| {
            for ((w, b), a) in weights(&line).iter().zip(weights(&before)).zip(weights(&after)) {
                assert_eq!((w.node, w.node), (b.node, a.node));
                close(w.rate, [b.weight, a.weight]);
            }
        };
        for i in 0..12 {
            for location in [Location::Node, Location::Face] {
                let positions = [&before, &after].map(|line| line.position(location, i));
                close(line.position_rate(location, i), positions);
            }
            compare(&|line| line.derivative(Location::Node, i, 2));
            compare(&|line| line.derivative(Location::Face, i, 1));
            let x = (i as f64 + 0.3) / 12.0;
            (0..3).for_each(|order| compare(&|line| line.interpolate(x, order)));
        }
        compare(&Line::jump);
    }

    #[test]
    fn periodic_stencils_wrap() {
        let line = line(8, true);
        assert_eq!(nodes(&line.derivative(Location::Node, 0, 1)), [7, 0, 1]);
        assert_eq!(nodes(&line.derivative(Location::Node, 7, 1)), [6, 7, 0]);
    }
}
