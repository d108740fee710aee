//! Where a field passes a level: marching squares.
//!
//! A contour crosses an edge between two nodes where one is below the level and the other is not; the place is
//! found by linear interpolation. In a cell with two crossings these are joined. A cell with four, two opposite
//! corners on either side, is a saddle: the corners that are on the same side as the mean of all four are
//! connected, and the other two are cut off. Cells with a hole at a corner have no contour.

use crate::number::extent;
use std::collections::BTreeMap;

/// Values at nodes (x_i, y_j), x to the right and y upwards: the value of node (i, j) is number i·(nodes along y) + j.
/// Values that are not finite are holes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid<'a> {
    x: &'a [f64],
    y: &'a [f64],
    values: &'a [f64],
}

impl<'a> Grid<'a> {
    /// # Panics
    /// If there are fewer than two nodes along an axis, if they do not go upwards, or if there is not one value per
    /// node.
    pub(crate) fn new(x: &'a [f64], y: &'a [f64], values: &'a [f64]) -> Self {
        for axis in [x, y] {
            assert!(axis.len() > 1 && axis.windows(2).all(|pair| pair[0] < pair[1]), "nodes go upwards");
        }
        assert_eq!(values.len(), x.len() * y.len(), "one value per node");
        Self { x, y, values }
    }

    /// The value of a node.
    fn at(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.y.len() + j]
    }

    /// The least and the largest value; none if all are holes.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        extent(self.values.iter().copied())
    }
}

/// Lines through points, back to the first if closed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polyline {
    pub(crate) points: Vec<[f64; 2]>,
    pub(crate) closed: bool,
}

/// The edge from node (i, j) to the next one along x, or along y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    i: usize,
    j: usize,
    along_y: bool,
}

/// For each edge that is crossed, those that it is joined with: one in each cell beside it.
type Links = BTreeMap<Edge, Vec<Edge>>;

/// The contours of a level, open ones first.
pub(crate) fn contours(grid: &Grid<'_>, level: f64) -> Vec<Polyline> {
    let mut links = Links::new();
    for i in 0..grid.x.len() - 1 {
        for j in 0..grid.y.len() - 1 {
            for [a, b] in segments(grid, level, i, j) {
                links.entry(a).or_default().push(b);
                links.entry(b).or_default().push(a);
            }
        }
    }
    let ends: Vec<Edge> =
        links.iter().filter(|(_, joined)| joined.len() == 1).map(|(&edge, _)| edge).collect();
    let mut found = vec![];
    for end in ends {
        if links.contains_key(&end) {
            found.push(follow(grid, level, &mut links, end));
        }
    }
    while let Some((&edge, _)) = links.first_key_value() {
        found.push(follow(grid, level, &mut links, edge));
    }
    found
}

/// The pairs of edges that a contour joins in the cell above and right of node (i, j).
fn segments(grid: &Grid<'_>, level: f64, i: usize, j: usize) -> Vec<[Edge; 2]> {
    // Around the cell: corner k lies between sides k - 1 and k.
    let corners = [grid.at(i, j), grid.at(i + 1, j), grid.at(i + 1, j + 1), grid.at(i, j + 1)];
    if corners.iter().any(|value| !value.is_finite()) {
        return vec![];
    }
    let sides = [
        Edge { i, j, along_y: false },
        Edge { i: i + 1, j, along_y: true },
        Edge { i, j: j + 1, along_y: false },
        Edge { i, j, along_y: true },
    ];
    let above = corners.map(|value| value >= level);
    let crossed: Vec<Edge> = (0..4).filter(|&k| above[k] != above[(k + 1) % 4]).map(|k| sides[k]).collect();
    match crossed[..] {
        [a, b] => vec![[a, b]],
        [a, b, c, d] => {
            let mean_above = corners.iter().sum::<f64>() / 4.0 >= level;
            // Corners 0 and 2 are connected where they are on the side of the mean: 1 and 3 are cut off.
            if above[0] == mean_above { vec![[a, b], [c, d]] } else { vec![[d, a], [b, c]] }
        }
        _ => vec![],
    }
}

/// Takes the line that begins at an edge out of the links.
fn follow(grid: &Grid<'_>, level: f64, links: &mut Links, start: Edge) -> Polyline {
    let mut points = vec![];
    let (mut next, mut before) = (Some(start), None);
    let mut closed = false;
    while let Some(edge) = next {
        let Some(joined) = links.remove(&edge) else {
            closed = true;
            break;
        };
        points.push(crossing(grid, level, edge));
        next = joined.iter().copied().find(|other| Some(*other) != before);
        before = Some(edge);
    }
    Polyline { points, closed }
}

/// Where the level lies on an edge whose ends are on either side of it.
fn crossing(grid: &Grid<'_>, level: f64, edge: Edge) -> [f64; 2] {
    let Edge { i, j, along_y } = edge;
    let (next_i, next_j) = if along_y { (i, j + 1) } else { (i + 1, j) };
    let (from, to) = (grid.at(i, j), grid.at(next_i, next_j));
    let share = (level - from) / (to - from);
    let between = |axis: &[f64], from: usize, to: usize| axis[from] + share * (axis[to] - axis[from]);
    [between(grid.x, i, next_i), between(grid.y, j, next_j)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_no_part_of_the_range() {
        let (x, y) = ([0.0, 1.0], [0.0, 1.0, 2.0]);
        let values = [1.0, f64::NAN, 3.0, 4.0, f64::INFINITY, 6.0];
        let grid = Grid::new(&x, &y, &values);
        assert_eq!((grid.at(1, 2), grid.range()), (6.0, Some((1.0, 6.0))));
        assert_eq!(Grid::new(&x, &y, &[f64::NAN; 6]).range(), None);
    }

    /// Equidistant nodes from -1 to 1.
    fn axis(nodes: usize) -> Vec<f64> {
        (0..nodes).map(|i| -1.0 + 2.0 * i as f64 / (nodes - 1) as f64).collect()
    }

    fn of(x: &[f64], y: &[f64], level: f64, f: &dyn Fn(f64, f64) -> f64) -> Vec<Polyline> {
        let values: Vec<f64> = x.iter().flat_map(|&x| y.iter().map(move |&y| f(x, y))).collect();
        contours(&Grid::new(x, y, &values), level)
    }

    /// Between nodes at distance h, x² + y² is off its chord by at most h²/4, and so a circle of radius r by
    /// h²/(8 r) to first order.
    #[test]
    fn a_circle_is_closed_and_has_its_radius() {
        let r = 0.7;
        for nodes in [21, 40, 81] {
            let found = of(&axis(nodes), &axis(nodes), r * r, &|x, y| x * x + y * y);
            assert_eq!(found.len(), 1);
            assert!(found[0].closed);
            let h = 2.0 / (nodes - 1) as f64;
            for [x, y] in &found[0].points {
                let off = (x.hypot(*y) - r).abs();
                assert!(off < 1.1 * h * h / (8.0 * r), "{nodes} nodes: off by {off}");
            }
            let next = found[0].points.iter().cycle().skip(1);
            let area =
                found[0].points.iter().zip(next).map(|([x, y], [u, v])| x * v - y * u).sum::<f64>() / 2.0;
            // Points that are off by h²/(8 r) make an area off by h² pi/4, and chords of h sqrt(2) cut off h² pi/3.
            let off = (area.abs() / std::f64::consts::PI - r * r).abs();
            assert!(off < (1.0 / 4.0 + 1.0 / 3.0) * h * h, "{nodes} nodes: {area}");
        }
    }

    #[test]
    fn contours_end_at_the_sides_and_at_holes() {
        let line = of(&axis(5), &axis(9), 0.3, &|x, _| x);
        assert_eq!((line.len(), line[0].closed, line[0].points.len()), (1, false, 9));
        assert!(line[0].points.iter().all(|[x, _]| (x - 0.3).abs() < 1e-15));
        let hole = |x: f64, y: f64| if y == 0.0 { f64::NAN } else { x };
        let halves = of(&axis(5), &axis(9), 0.3, &hole);
        assert_eq!(halves.iter().map(|line| line.points.len()).collect::<Vec<_>>(), [4, 4]);
        assert!(halves.iter().all(|line| !line.closed));
    }

    #[test]
    fn two_hills_have_two_contours() {
        let hill = |x: f64, y: f64, c: f64| (-20.0 * ((x - c).powi(2) + y * y)).exp();
        let found = of(&axis(61), &axis(31), 0.5, &|x, y| hill(x, y, -0.5) + hill(x, y, 0.5));
        assert_eq!(found.iter().map(|line| line.closed).collect::<Vec<_>>(), [true, true]);
        // At half height a hill reaches sqrt(ln 2/20) = 0.186 from its middle.
        let reach = |line: &Polyline| line.points.iter().map(|p| p[1]).fold(0.0, f64::max);
        assert!(found.iter().all(|line| (reach(line) - 0.1862).abs() < 2e-3), "{found:?}");
    }

    /// Corners a and c above the level, b and d below: the mean decides which pair is connected.
    #[test]
    fn the_mean_decides_at_a_saddle() {
        let unit = [0.0, 1.0];
        // In the order (0, 0), (0, 1), (1, 0), (1, 1).
        let joined = |values: [f64; 4]| {
            let lines = contours(&Grid::new(&unit, &unit, &values), 0.0);
            assert_eq!(lines.len(), 2);
            // Whether the corner (0, 0) is cut off: one line has both points near it.
            lines.iter().any(|line| line.points.iter().all(|[x, y]| *x == 0.0 || *y == 0.0))
        };
        assert!(!joined([3.0, -1.0, -1.0, 3.0]), "high corners are connected");
        assert!(joined([1.0, -3.0, -3.0, 1.0]), "low corners are connected");
    }

    #[test]
    fn a_level_that_no_value_passes_has_no_contour() {
        assert!(of(&axis(4), &axis(4), 2.0, &|x, y| x + y - 1.0).is_empty());
        assert!(of(&axis(4), &axis(4), 0.0, &|_, _| 0.0).is_empty());
        assert!(of(&axis(4), &axis(4), f64::NAN, &|x, _| x).is_empty());
    }

    /// Nodes exactly at the level are above it; nothing is lost or left open there.
    #[test]
    fn levels_at_nodes_are_no_exception() {
        let found = of(&axis(9), &axis(9), 0.5, &|x, y| x.abs() + y.abs());
        assert_eq!((found.len(), found[0].closed), (1, true));
        for [x, y] in &found[0].points {
            assert!((x.abs() + y.abs() - 0.5).abs() < 1e-15);
        }
    }
}
