//! Functions through values on a grid, with exact derivatives: tensor products of B-splines where its spacing is even; of one coordinate, any nodes.
//!
//! ```
//! use bilo_problem::spline::{GridAxis, Interpolation, Spline};
//!
//! // x³ at x = 0, 0.5, .., 2: a cubic is met everywhere, with its derivatives.
//! let axis = GridAxis { first: 0.0, step: 0.5, count: 5 };
//! let values = axis.nodes().iter().map(|x| x.powi(3)).collect();
//! let cube = Spline::new(Interpolation::Cubic, vec![axis], values);
//! assert!((cube.at(&[&[1.2]], &[0])[0] - 1.728).abs() < 1e-14);
//! assert!((cube.at(&[&[1.2]], &[1])[0] - 4.32).abs() < 1e-13);
//! ```

use crate::words::{Words, words};

/// What is between the nodes of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The cubic spline through the values, with two continuous derivatives. At the second and the
    /// last but one node its third derivative is continuous too (not-a-knot), so that cubics are met.
    Cubic,
    /// The cubic B-spline whose coefficients are the values, with two continuous derivatives: never leaves the
    /// range of the values, and blurs them by a standard deviation of 0.58 cells. Beyond the ends the
    /// values go on as they are there.
    Smooth,
    /// Linear along each coordinate.
    Linear,
    /// The value of the nearest node.
    Nearest,
    /// The value of the node before: steps, such as those of a pump.
    Previous,
}

words!(Interpolation { "cubic" => Cubic, "smooth" => Smooth, "linear" => Linear, "nearest" => Nearest, "previous" => Previous });

impl Interpolation {
    /// The name in a problem file.
    pub fn name(self) -> &'static str {
        self.word()
    }

    /// Highest continuous derivative along each coordinate.
    pub fn smoothness(self) -> u8 {
        match self {
            Interpolation::Cubic | Interpolation::Smooth => 2,
            Interpolation::Linear | Interpolation::Nearest | Interpolation::Previous => 0,
        }
    }

    /// Fewest nodes along each coordinate.
    pub fn least_nodes(self) -> usize {
        match self {
            Interpolation::Cubic => 4,
            Interpolation::Smooth | Interpolation::Linear => 2,
            Interpolation::Nearest | Interpolation::Previous => 1,
        }
    }
}

/// Nodes of even spacing along one coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridAxis {
    /// The first node.
    pub first: f64,
    /// The distance of neighbours, positive.
    pub step: f64,
    /// How many nodes there are.
    pub count: usize,
}

impl GridAxis {
    /// The last node.
    pub fn last(&self) -> f64 {
        self.first + (self.count - 1) as f64 * self.step
    }

    /// All nodes.
    pub fn nodes(&self) -> Vec<f64> {
        (0..self.count).map(|i| self.first + i as f64 * self.step).collect()
    }
}

/// A function of one or several coordinates that is given on a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Spline {
    axes: Vec<GridAxis>,
    interpolation: Interpolation,
    /// In row-major order; B-splines have one more at both ends of each axis. Of a cubic through uneven nodes the values and slopes
    /// of its nodes, one after the other.
    coefficients: Vec<f64>,
    /// The nodes, where they are not even: of functions of one coordinate.
    uneven: Option<Vec<f64>>,
}

/// Most nodes along one coordinate that the value at a point depends on.
const REACH: usize = 4;

/// A table goes back and forth between few values if it has so many nodes at least for each of them, and is at another one at this
/// part of its nodes.
const VISITS: usize = 3;
const CHANGING: f64 = 0.75;

impl Spline {
    /// How many values a function of one coordinate goes back and forth between, with straight lines from one to the next: a
    /// switch that was meant to jump, perhaps.
    pub fn zigzags(&self) -> Option<usize> {
        let straight = self.axes.len() == 1 && self.interpolation == Interpolation::Linear;
        let changes = self.coefficients.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let turns = changes as f64 >= CHANGING * (self.coefficients.len() - 1) as f64;
        let mut values = self.coefficients.clone();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let few = VISITS * values.len() <= self.coefficients.len();
        (straight && turns && few).then_some(values.len())
    }

    /// The function with these values at the nodes, in row-major order.
    ///
    /// # Panics
    /// If there is not one value per node, or there are too few nodes along an axis.
    pub fn new(interpolation: Interpolation, axes: Vec<GridAxis>, values: Vec<f64>) -> Self {
        let mut lengths: Vec<usize> = axes.iter().map(|axis| axis.count).collect();
        assert_eq!(values.len(), lengths.iter().product(), "one value per node");
        assert!(lengths.iter().all(|&n| n >= interpolation.least_nodes()), "enough nodes");
        let mut coefficients = values;
        for axis in 0..axes.len() {
            coefficients = match interpolation {
                Interpolation::Cubic => along(&coefficients, &mut lengths, axis, through),
                Interpolation::Smooth => along(&coefficients, &mut lengths, axis, extended),
                Interpolation::Linear | Interpolation::Nearest | Interpolation::Previous => break,
            };
        }
        Self { axes, interpolation, coefficients, uneven: None }
    }

    /// The function of one coordinate with these values at ascending nodes, whatever their distances.
    ///
    /// # Panics
    /// If there is not one value per node, if there are too few nodes, or for [`Interpolation::Smooth`], which is one of even nodes.
    pub fn through(interpolation: Interpolation, nodes: Vec<f64>, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), nodes.len(), "one value per node");
        assert!(nodes.len() >= interpolation.least_nodes(), "enough nodes");
        assert!(interpolation != Interpolation::Smooth, "even nodes");
        let cells = (nodes.len() - 1).max(1);
        let step = (nodes[nodes.len() - 1] - nodes[0]) / cells as f64;
        let axis = GridAxis { first: nodes[0], step, count: nodes.len() };
        let coefficients = match interpolation {
            Interpolation::Cubic => {
                let slopes = slopes(&nodes, &values);
                values.into_iter().zip(slopes).flat_map(|(value, slope)| [value, slope]).collect()
            }
            _ => values,
        };
        Self { axes: vec![axis], interpolation, coefficients, uneven: Some(nodes) }
    }

    /// Where a function of one coordinate jumps, ascending.
    pub fn jumps(&self) -> Vec<f64> {
        let [axis] = self.axes[..] else { return vec![] };
        let nodes = self.uneven.clone().unwrap_or_else(|| axis.nodes());
        let place = |cell: usize| match self.interpolation {
            Interpolation::Previous => Some(nodes[cell + 1]),
            Interpolation::Nearest => Some(0.5 * (nodes[cell] + nodes[cell + 1])),
            _ => None,
        };
        let differ = |cell: &usize| self.coefficients[*cell] != self.coefficients[*cell + 1];
        (0..nodes.len() - 1).filter(differ).filter_map(place).collect()
    }

    /// Its grid.
    pub fn axes(&self) -> &[GridAxis] {
        &self.axes
    }

    /// What is between the nodes.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// A derivative, of these orders along the axes, at points given by one column per axis. Where it jumps it
    /// is that of the cell above. Beyond the grid the nearest place of it counts.
    pub fn at(&self, columns: &[&[f64]], orders: &[u8]) -> Vec<f64> {
        let axes = self.axes.iter().zip(columns).zip(orders);
        let near: Vec<Vec<Near>> = axes
            .map(|((axis, column), &order)| column.iter().map(|&x| self.near(axis, x, order)).collect())
            .collect();
        let points = 0..columns.first().map_or(0, |column| column.len());
        points.map(|point| self.sum(&near, point, 0)).collect()
    }

    /// Σ weight · coefficient over all combinations of the nodes near a point, from an axis on; `place` is that
    /// of the coefficients along the axes before.
    fn sum(&self, near: &[Vec<Near>], point: usize, place: usize) -> f64 {
        let Some((first, rest)) = near.split_first() else { return self.coefficients[place] };
        let Near { start, count, weights, length } = &first[point];
        let place = place * length + start;
        let nodes = weights.iter().enumerate().take(*count);
        nodes.map(|(i, weight)| weight * self.sum(rest, point, place + i)).sum()
    }

    /// The cell of a place, the fraction of it, which is one at the last node only, and its length.
    fn cell(&self, axis: &GridAxis, x: f64) -> (usize, f64, f64) {
        let Some(nodes) = &self.uneven else {
            let along = ((x - axis.first) / axis.step).clamp(0.0, (axis.count - 1) as f64);
            let cell = (along.floor() as usize).min(axis.count.saturating_sub(2));
            return (cell, along - cell as f64, axis.step);
        };
        let last = nodes.len().saturating_sub(2);
        let cell = nodes.partition_point(|&node| node <= x).saturating_sub(1).min(last);
        let length = nodes.get(cell + 1).map_or(1.0, |next| next - nodes[cell]);
        (cell, ((x - nodes[cell]) / length).clamp(0.0, 1.0), length)
    }

    fn near(&self, axis: &GridAxis, x: f64, order: u8) -> Near {
        let (cell, u, step) = self.cell(axis, x);
        let scale = step.powi(-i32::from(order));
        match self.interpolation {
            Interpolation::Cubic if self.uneven.is_some() => {
                let [a, b, c, d] = hermite(u, order);
                let weights = [a * scale, b * scale * step, c * scale, d * scale * step];
                Near { start: 2 * cell, count: 4, weights, length: 2 * axis.count }
            }
            Interpolation::Cubic | Interpolation::Smooth => {
                let weights = b_spline(u, order).map(|weight| weight * scale);
                Near { start: cell, count: 4, weights, length: axis.count + 2 }
            }
            Interpolation::Linear => {
                let [a, b] = match order {
                    0 => [1.0 - u, u],
                    1 => [-scale, scale],
                    _ => [0.0; 2],
                };
                Near { start: cell, count: 2, weights: [a, b, 0.0, 0.0], length: axis.count }
            }
            Interpolation::Nearest => {
                let weight = f64::from(u8::from(order == 0));
                let start = cell + usize::from(u >= 0.5);
                Near { start, count: 1, weights: [weight, 0.0, 0.0, 0.0], length: axis.count }
            }
            Interpolation::Previous => {
                let weight = f64::from(u8::from(order == 0));
                let start = cell + usize::from(u >= 1.0);
                Near { start, count: 1, weights: [weight, 0.0, 0.0, 0.0], length: axis.count }
            }
        }
    }
}

/// The coefficients along one axis that a point feels.
struct Near {
    start: usize,
    count: usize,
    weights: [f64; REACH],
    /// All coefficients along the axis.
    length: usize,
}

/// The four cubic B-splines of a cell, or a derivative of theirs, at the fraction u of it.
fn b_spline(u: f64, order: u8) -> [f64; 4] {
    let v = 1.0 - u;
    match order {
        0 => {
            let middle = |u: f64| (4.0 + u * u * (3.0 * u - 6.0)) / 6.0;
            [v * v * v / 6.0, middle(u), middle(v), u * u * u / 6.0]
        }
        1 => [-v * v / 2.0, u * (1.5 * u - 2.0), -v * (1.5 * v - 2.0), u * u / 2.0],
        2 => [v, 3.0 * u - 2.0, 3.0 * v - 2.0, u],
        3 => [-1.0, 3.0, -3.0, 1.0],
        _ => [0.0; 4],
    }
}

/// What the value and the slope at both ends of a cell of length one give, or a derivative of that, at the fraction u of it.
fn hermite(u: f64, order: u8) -> [f64; 4] {
    match order {
        0 => {
            let v = 1.0 - u;
            [(1.0 + 2.0 * u) * v * v, u * v * v, u * u * (3.0 - 2.0 * u), -u * u * v]
        }
        1 => [6.0 * u * (u - 1.0), (1.0 - u) * (1.0 - 3.0 * u), 6.0 * u * (1.0 - u), u * (3.0 * u - 2.0)],
        2 => [12.0 * u - 6.0, 6.0 * u - 4.0, 6.0 - 12.0 * u, 6.0 * u - 2.0],
        3 => [12.0, 6.0, -12.0, 6.0],
        _ => [0.0; 4],
    }
}

/// The slopes m_i of the cubic spline through f_i at uneven nodes: with h_i the length of a cell and d_i its difference quotient,
/// h_i m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_{i-1} m_{i+1} = 3 (h_i d_{i-1} + h_{i-1} d_i) for two continuous derivatives, and next to the
/// ends a third one (not-a-knot), from which m_{i+1} resp. m_{i-1} was eliminated.
fn slopes(nodes: &[f64], f: &[f64]) -> Vec<f64> {
    let n = nodes.len();
    let h: Vec<f64> = nodes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let d: Vec<f64> = h.iter().zip(f.windows(2)).map(|(h, pair)| (pair[1] - pair[0]) / h).collect();
    let end = |a: f64, b: f64, near: f64, far: f64| ((a + 2.0 * (a + b)) * b * near + a * a * far) / (a + b);
    // Rows of lower, diagonal, upper and right-hand side.
    let mut rows = vec![[0.0, h[1], h[0] + h[1], end(h[0], h[1], d[0], d[1])]];
    rows.extend(
        (1..n - 1)
            .map(|i| [h[i], 2.0 * (h[i - 1] + h[i]), h[i - 1], 3.0 * (h[i] * d[i - 1] + h[i - 1] * d[i])]),
    );
    let (a, b) = (h[n - 2], h[n - 3]);
    rows.push([a + b, b, 0.0, end(a, b, d[n - 2], d[n - 3])]);
    for i in 1..n {
        let part = rows[i][0] / rows[i - 1][1];
        rows[i][1] -= part * rows[i - 1][2];
        rows[i][3] -= part * rows[i - 1][3];
    }
    let mut m = vec![0.0; n];
    for i in (0..n).rev() {
        let after = if i + 1 < n { rows[i][2] * m[i + 1] } else { 0.0 };
        m[i] = (rows[i][3] - after) / rows[i][1];
    }
    m
}

/// The coefficients c_-1, .., c_n of the spline through f_0, .., f_{n-1} with not-a-knot ends:
/// (c_{i-1} + 4 c_i + c_{i+1})/6 = f_i, and fourth differences of c around nodes 1 and n-2 that vanish. These
/// give c_1 = f_1 - (f_0 - 2 f_1 + f_2)/6 and its mirror image; between the two the system is tridiagonal.
fn through(f: &[f64]) -> Vec<f64> {
    let n = f.len();
    let next_to_end = |i: usize| (8.0 * f[i] - f[i - 1] - f[i + 1]) / 6.0;
    let mut c = vec![0.0; n + 2];
    // c[i + 1] is c_i.
    (c[2], c[n - 1]) = (next_to_end(1), next_to_end(n - 2));
    // Forward elimination: c_i + upper_i c_{i+1} = c'_i.
    let mut upper = vec![0.0; n];
    for i in 2..n - 2 {
        let pivot = 4.0 - upper[i - 1];
        upper[i] = 1.0 / pivot;
        c[i + 1] = (6.0 * f[i] - c[i]) / pivot;
    }
    for i in (2..n - 2).rev() {
        c[i + 1] -= upper[i] * c[i + 2];
    }
    c[1] = 6.0 * f[1] - 4.0 * c[2] - c[3];
    c[0] = 6.0 * f[0] - 4.0 * c[1] - c[2];
    c[n] = 6.0 * f[n - 2] - 4.0 * c[n - 1] - c[n - 2];
    c[n + 1] = 6.0 * f[n - 1] - 4.0 * c[n] - c[n - 1];
    c
}

/// The values, with those at the ends once more.
fn extended(f: &[f64]) -> Vec<f64> {
    [&f[..1], f, &f[f.len() - 1..]].concat()
}

/// Replaces every line along an axis of a row-major array; `lengths` follows.
pub(crate) fn along(
    values: &[f64],
    lengths: &mut [usize],
    axis: usize,
    replace: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let (before, inner): (usize, usize) =
        (lengths[..axis].iter().product(), lengths[axis + 1..].iter().product());
    let old = lengths[axis];
    let mut replaced = vec![];
    for outer in 0..before {
        for i in 0..inner {
            let line: Vec<f64> = (0..old).map(|j| values[(outer * old + j) * inner + i]).collect();
            let line = replace(&line);
            lengths[axis] = line.len();
            replaced.resize(before * line.len() * inner, 0.0);
            for (j, value) in line.iter().enumerate() {
                replaced[(outer * line.len() + j) * inner + i] = *value;
            }
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(first: f64, last: f64, count: usize) -> GridAxis {
        GridAxis { first, step: (last - first) / (count - 1) as f64, count }
    }

    /// f over two axes.
    fn plane(interpolation: Interpolation, axes: [GridAxis; 2], f: impl Fn(f64, f64) -> f64) -> Spline {
        let nodes = axes.map(|axis| axis.nodes());
        let values = nodes[0].iter().flat_map(|&x| nodes[1].iter().map(|&y| f(x, y)).collect::<Vec<_>>());
        Spline::new(interpolation, axes.to_vec(), values.collect())
    }

    /// Points all over [-1, 2] x [0, 1], nodes and ends among them.
    fn points() -> [Vec<f64>; 2] {
        let x: Vec<f64> = (0..=60).map(|i| -1.0 + f64::from(i) * 0.05).collect();
        let y = (0..=60).map(|i| (f64::from(i) * 0.37).fract()).collect();
        [x, y]
    }

    /// A pump that is switched; a trapezoid by its corners, a logger that repeats itself, and a curve are none.
    #[test]
    fn what_goes_back_and_forth_between_few_values_is_told() {
        let zigzags = |interpolation, values: &[f64]| {
            Spline::new(interpolation, vec![axis(0.0, 1.0, values.len())], values.to_vec()).zigzags()
        };
        let pump = [0.0, 2.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.0];
        assert_eq!(zigzags(Interpolation::Linear, &pump), Some(2));
        assert_eq!(zigzags(Interpolation::Previous, &pump), None);
        assert_eq!(zigzags(Interpolation::Linear, &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]), None);
        assert_eq!(zigzags(Interpolation::Linear, &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0]), None);
        assert_eq!(zigzags(Interpolation::Linear, &[0.0, 0.1, 0.4, 0.9, 1.6, 2.5]), None);
    }

    /// x³ y² - 2 x y³ + x² with every derivative up to the third along x: a polynomial that cubics hold, so up
    /// to rounding, which second and third derivatives divide by steps² and steps³.
    #[test]
    fn bicubic_polynomials_and_their_derivatives_are_met() {
        let axes = [axis(-1.0, 2.0, 9), axis(0.0, 1.0, 4)];
        let spline =
            plane(Interpolation::Cubic, axes, |x, y| x.powi(3) * y * y - 2.0 * x * y.powi(3) + x * x);
        type Exact = fn(f64, f64) -> f64;
        let derivatives: [([u8; 2], Exact); 6] = [
            ([0, 0], |x, y| x.powi(3) * y * y - 2.0 * x * y.powi(3) + x * x),
            ([1, 0], |x, y| 3.0 * x * x * y * y - 2.0 * y.powi(3) + 2.0 * x),
            ([0, 2], |x, y| 2.0 * x.powi(3) - 12.0 * x * y),
            ([2, 1], |x, y| 12.0 * x * y),
            ([3, 0], |_, y| 6.0 * y * y),
            ([4, 0], |_, _| 0.0),
        ];
        let [x, y] = points();
        for (orders, exact) in derivatives {
            for (i, found) in spline.at(&[&x, &y], &orders).iter().enumerate() {
                assert!((found - exact(x[i], y[i])).abs() < 1e-10, "{orders:?} at {}, {}", x[i], y[i]);
            }
        }
    }

    /// x³ - 2 x² + 1 through uneven nodes, with its derivatives: a cubic is met, up to rounding that second derivatives divide by lengths².
    #[test]
    fn cubics_through_uneven_nodes_are_met() {
        let nodes = vec![-1.0, -0.7, 0.1, 0.2, 1.4, 1.5, 3.0];
        let values = nodes.iter().map(|x: &f64| x.powi(3) - 2.0 * x * x + 1.0).collect();
        let spline = Spline::through(Interpolation::Cubic, nodes, values);
        for x in [-1.0, -0.9, 0.1, 0.15, 0.9, 1.45, 2.2, 3.0] {
            let exact = [x * x * x - 2.0 * x * x + 1.0, 3.0 * x * x - 4.0 * x, 6.0 * x - 4.0, 6.0];
            for (order, exact) in exact.into_iter().enumerate() {
                let found = spline.at(&[&[x]], &[order as u8])[0];
                assert!((found - exact).abs() < 1e-9, "{order} at {x}: {found} for {exact}");
            }
        }
    }

    /// Lines, nearest and previous values between uneven nodes, at the nodes and beyond them; and where they jump.
    #[test]
    fn series_are_read_between_uneven_nodes() {
        let series = |interpolation| {
            Spline::through(interpolation, vec![0.0, 1.0, 4.0, 5.0], vec![2.0, 3.0, 0.0, 0.0])
        };
        let at = |interpolation| series(interpolation).at(&[&[-1.0, 0.5, 1.0, 3.0, 4.5, 6.0]], &[0]);
        assert_eq!(at(Interpolation::Linear), [2.0, 2.5, 3.0, 1.0, 0.0, 0.0]);
        assert_eq!(at(Interpolation::Nearest), [2.0, 3.0, 3.0, 0.0, 0.0, 0.0]);
        assert_eq!(at(Interpolation::Previous), [2.0, 2.0, 3.0, 3.0, 0.0, 0.0]);
        assert_eq!(series(Interpolation::Previous).jumps(), [1.0, 4.0]);
        assert_eq!(series(Interpolation::Nearest).jumps(), [0.5, 2.5]);
        assert_eq!(series(Interpolation::Linear).jumps(), [0.0; 0]);
    }

    /// sin(3x) cos(2y) on finer and finer grids, ends included: the values are of fourth order, slopes of third,
    /// curvatures of second.
    #[test]
    fn smooth_functions_are_met_to_the_orders_of_cubic_splines() {
        let error = |count: usize, orders: [u8; 2]| {
            let axes = [axis(-1.0, 2.0, 3 * count + 1), axis(0.0, 1.0, count + 1)];
            let spline = plane(Interpolation::Cubic, axes, |x, y| (3.0 * x).sin() * (2.0 * y).cos());
            let [x, y] = points();
            let exact = |x: f64, y: f64| match orders {
                [0, 0] => (3.0 * x).sin() * (2.0 * y).cos(),
                [1, 0] => 3.0 * (3.0 * x).cos() * (2.0 * y).cos(),
                _ => -4.0 * (3.0 * x).sin() * (2.0 * y).cos(),
            };
            let found = spline.at(&[&x, &y], &orders);
            (0..x.len()).map(|i| (found[i] - exact(x[i], y[i])).abs()).fold(0.0, f64::max)
        };
        for (orders, order) in [([0, 0], 4.0), ([1, 0], 3.0), ([0, 2], 2.0)] {
            let [coarse, fine] = [error(17, orders), error(34, orders)];
            let found = (coarse / fine).log2();
            assert!(found > order - 0.3, "{orders:?}: {coarse:.2e}, {fine:.2e}, order {found:.2}");
        }
    }

    /// Exact derivatives against central differences, whose error is h² f'''/6 with h = 1e-5, and rounding
    /// 1e-16/h; values that jump, so that nothing is smooth but the spline.
    #[test]
    fn derivatives_are_those_of_the_spline_itself() {
        let rough = |x: f64, y: f64| f64::from(u8::from((x * 1.7).sin() * (y * 5.0).cos() > 0.1));
        for interpolation in [Interpolation::Cubic, Interpolation::Smooth] {
            let spline = plane(interpolation, [axis(-1.0, 2.0, 10), axis(0.0, 1.0, 6)], rough);
            let h = 1e-5;
            for (x, y) in [(0.13, 0.4), (0.99, 0.71), (-0.8, 0.05)] {
                let at = |dx: f64, orders: [u8; 2]| spline.at(&[&[x + dx], &[y]], &orders)[0];
                for order in 0..2 {
                    let difference = (at(h, [order, 0]) - at(-h, [order, 0])) / (2.0 * h);
                    let exact = at(0.0, [order + 1, 0]);
                    assert!((difference - exact).abs() < 1e-7, "{interpolation:?}: {difference}, {exact}");
                }
            }
        }
    }

    /// Second derivatives are continuous at a node, third ones are not.
    #[test]
    fn splines_have_two_continuous_derivatives() {
        let values = vec![0.0, 1.0, 0.0, 0.0, 2.0, 1.0];
        for interpolation in [Interpolation::Cubic, Interpolation::Smooth] {
            let spline = Spline::new(interpolation, vec![axis(0.0, 5.0, 6)], values.clone());
            let jump = |order: u8| {
                let sides = spline.at(&[&[3.0 - 1e-12, 3.0 + 1e-12]], &[order]);
                (sides[1] - sides[0]).abs()
            };
            assert!((0..=2).all(|order| jump(order) < 1e-9) && jump(3) > 0.1, "{interpolation:?}");
        }
    }

    /// Weights of B-splines are positive and sum to one; at a node the blur is (1, 4, 1)/6.
    #[test]
    fn smooth_fields_stay_in_the_range_of_their_values() {
        let values = vec![0.0, 1.0, 1.0, 0.0, 1.0];
        let spline = Spline::new(Interpolation::Smooth, vec![axis(0.0, 4.0, 5)], values);
        let x: Vec<f64> = (0..=400).map(|i| f64::from(i) * 0.01).collect();
        assert!(spline.at(&[&x], &[0]).iter().all(|value| (0.0..=1.0).contains(value)));
        let nodes = spline.at(&[&[0.0, 1.0, 3.0]], &[0]);
        for (found, expected) in nodes.iter().zip([1.0 / 6.0, 5.0 / 6.0, 2.0 / 6.0]) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn linear_and_nearest_fields_are_what_they_say() {
        let field = |interpolation| Spline::new(interpolation, vec![axis(0.0, 2.0, 3)], vec![1.0, 3.0, 2.0]);
        let x: [&[f64]; 1] = [&[0.0, 0.25, 1.75, 2.0]];
        assert_eq!(field(Interpolation::Linear).at(&x, &[0]), [1.0, 1.5, 2.25, 2.0]);
        assert_eq!(field(Interpolation::Linear).at(&x, &[1]), [2.0, 2.0, -1.0, -1.0]);
        assert_eq!(field(Interpolation::Nearest).at(&x, &[0]), [1.0, 1.0, 2.0, 2.0]);
    }
}
