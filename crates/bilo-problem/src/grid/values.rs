//! Functions given by values on a tensor grid of any spacing.

use crate::model::Coordinate;
use crate::model::observation::Table;

/// Values at the nodes of a tensor grid; between nodes the function is linear in each coordinate. Beyond the
/// last node of a coordinate the nearest node counts; a periodic coordinate leads back to the first node.
#[derive(Clone, Debug, PartialEq)]
pub struct GridValues {
    axes: Vec<Axis>,
    /// In row-major order of the axes.
    values: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Axis {
    /// Ascending.
    nodes: Vec<f64>,
    period: Option<f64>,
}

impl GridValues {
    /// Values in row-major order over ascending nodes along each of the coordinates; says why if they are
    /// none.
    pub(crate) fn new(
        coordinates: &[Coordinate],
        nodes: Vec<Vec<f64>>,
        values: Vec<f64>,
    ) -> Result<Self, String> {
        let (wanted, given) = (coordinates.len(), nodes.len());
        if wanted != given {
            return Err(format!("there are nodes along {given} coordinates, not {wanted}"));
        }
        for (coordinate, nodes) in coordinates.iter().zip(&nodes) {
            let ascending = nodes.windows(2).all(|pair| pair[0] < pair[1]);
            if nodes.is_empty() || !ascending || !nodes.iter().all(|node| node.is_finite()) {
                return Err(format!("the nodes along `{}` must be finite and ascending", coordinate.name));
            }
        }
        let count: usize = nodes.iter().map(Vec::len).product();
        if values.len() != count {
            return Err(format!("there are {count} nodes and {} values", values.len()));
        }
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(format!("values must be finite, found {value:?}"));
        }
        let axis = |(coordinate, nodes): (&Coordinate, Vec<f64>)| Axis {
            nodes,
            period: coordinate.periodic.then_some(coordinate.hi - coordinate.lo),
        };
        Ok(Self { axes: coordinates.iter().zip(nodes).map(axis).collect(), values })
    }

    /// From rows in any order that have each node of a grid once.
    pub fn from_table(coordinates: &[Coordinate], table: &Table) -> Result<Self, String> {
        let nodes: Vec<Vec<f64>> = table.coordinates.iter().map(|column| distinct(column)).collect();
        let count = nodes.iter().fold(1usize, |count, nodes| count.saturating_mul(nodes.len()));
        let rows = table.values.len();
        if rows != count {
            let lengths: Vec<String> = nodes.iter().map(|nodes| nodes.len().to_string()).collect();
            let lengths = lengths.join(" x ");
            return Err(format!("a grid of {lengths} nodes has {count} rows, found {rows}"));
        }
        let mut values = vec![f64::NAN; count];
        for (row, value) in table.values.iter().enumerate() {
            let node = nodes.iter().zip(&table.coordinates).fold(0, |node, (nodes, column)| {
                node * nodes.len() + nodes.partition_point(|&other| other < column[row])
            });
            if !values[node].is_nan() {
                let place: Vec<String> = table.coordinates.iter().map(|c| c[row].to_string()).collect();
                return Err(format!("the node ({}) has two values", place.join(", ")));
            }
            values[node] = *value;
        }
        Self::new(coordinates, nodes, values)
    }

    /// How many nodes there are along each coordinate, as `61 x 61`.
    pub(crate) fn lengths(&self) -> String {
        let lengths: Vec<String> = self.axes.iter().map(|axis| axis.nodes.len().to_string()).collect();
        lengths.join(" x ")
    }

    /// The nodes along a coordinate, ascending.
    pub fn nodes(&self, coordinate: usize) -> &[f64] {
        &self.axes[coordinate].nodes
    }

    /// The values at the nodes, in row-major order of the coordinates.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The function at points, given by one column per coordinate.
    pub(crate) fn at(&self, columns: &[&[f64]]) -> Vec<f64> {
        let points = 0..columns.first().map_or(0, |column| column.len());
        points.map(|point| self.at_point(columns, point)).collect()
    }

    fn at_point(&self, columns: &[&[f64]], point: usize) -> f64 {
        let axes = self.axes.iter().zip(columns);
        let corners = corners(axes.map(|(axis, column)| (axis.nodes.len(), axis.around(column[point]))));
        corners.iter().map(|&(node, weight)| weight * self.values[node]).sum()
    }
}

impl Axis {
    /// The nodes around a place and their weights.
    fn around(&self, place: f64) -> [(usize, f64); 2] {
        let (first, last) = (self.nodes[0], self.nodes.len() - 1);
        let place = self.period.map_or(place, |period| first + (place - first).rem_euclid(period));
        let after = self.nodes.partition_point(|&node| node <= place);
        let (from, to, end) = match (after.checked_sub(1), self.period) {
            (None, _) => return [(0, 1.0), (0, 0.0)],
            (Some(from), _) if from < last => (from, from + 1, self.nodes[from + 1]),
            (Some(_), None) => return [(last, 1.0), (last, 0.0)],
            (Some(from), Some(period)) => (from, 0, first + period),
        };
        let fraction = (place - self.nodes[from]) / (end - self.nodes[from]);
        [(from, 1.0 - fraction), (to, fraction)]
    }
}

/// The different numbers of a column, ascending.
fn distinct(column: &[f64]) -> Vec<f64> {
    let mut nodes = column.to_vec();
    nodes.sort_by(f64::total_cmp);
    nodes.dedup();
    nodes
}

/// The nodes around a point in row-major order and their weights, from how many nodes each axis has and the
/// two around the point along it.
pub(crate) fn corners(axes: impl Iterator<Item = (usize, [(usize, f64); 2])>) -> Vec<(usize, f64)> {
    let mut corners = vec![(0, 1.0)];
    for (length, pair) in axes {
        let times = |&(node, weight): &(usize, f64)| pair.map(|(next, w)| (node * length + next, weight * w));
        corners = corners.iter().flat_map(times).collect();
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_jet::PointSource;

    fn coordinate(periodic: bool) -> Coordinate {
        Coordinate { name: "x".into(), lo: 0.0, hi: 1.0, time: false, periodic, unit: None }
    }

    /// A function that is linear in each of two coordinates is met everywhere on an uneven grid, whatever
    /// the order of the rows; the weights are sums and products of a few numbers, so up to rounding.
    #[test]
    fn multilinear_functions_are_met_between_uneven_nodes() {
        let exact = |x: f64, y: f64| 1.0 + 2.0 * x - 3.0 * y + 4.0 * x * y;
        let points = PointSource::grid(vec![vec![0.0, 0.1, 0.5, 1.0], vec![0.0, 0.7, 1.0]]);
        let mut coordinates = points.columns(0..points.len());
        coordinates.iter_mut().for_each(|column| column.reverse());
        let values = coordinates[0].iter().zip(&coordinates[1]).map(|(&x, &y)| exact(x, y)).collect();
        let c = coordinate(false);
        let grid =
            GridValues::from_table(&[c.clone(), c.clone()], &Table { coordinates, values, sigma: None })
                .unwrap();
        for (x, y) in [(0.0, 0.0), (0.05, 0.3), (0.5, 0.7), (0.77, 0.99), (1.0, 1.0)] {
            assert!((grid.at(&[&[x], &[y]])[0] - exact(x, y)).abs() < 1e-14, "({x}, {y})");
        }
    }

    #[test]
    fn beyond_the_nodes_ends_count_and_periods_lead_back() {
        let at = |periodic, x| {
            let grid = GridValues::new(&[coordinate(periodic)], vec![vec![0.25, 0.75]], vec![1.0, 3.0]);
            grid.unwrap().at(&[&[x]])[0]
        };
        assert_eq!([at(false, 0.0), at(false, 0.5), at(false, 1.0)], [1.0, 2.0, 3.0]);
        assert_eq!([at(true, 0.0), at(true, 0.5), at(true, 0.875), at(true, 1.0)], [2.0, 2.0, 2.5, 2.0]);
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        let c = coordinate(false);
        let fault = |x: &[f64], y: &[f64]| {
            let coordinates = vec![x.to_vec(), y.to_vec()];
            let table = Table { coordinates, values: vec![1.0; x.len()], sigma: None };
            GridValues::from_table(&[c.clone(), c.clone()], &table).unwrap_err()
        };
        let three = fault(&[0.0, 0.0, 1.0], &[0.0, 1.0, 0.0]);
        assert_eq!(three, "a grid of 2 x 2 nodes has 4 rows, found 3");
        let twice = fault(&[0.0, 0.0, 1.0, 1.0], &[0.0, 1.0, 0.5, 0.5]);
        assert_eq!(twice, "a grid of 2 x 3 nodes has 6 rows, found 4");
        let twice = fault(&[0.0, 0.0, 1.0, 1.0], &[0.0, 1.0, 1.0, 1.0]);
        assert_eq!(twice, "the node (1, 1) has two values");
        let down = GridValues::new(&[c], vec![vec![1.0, 0.0]], vec![0.0; 2]).unwrap_err();
        assert_eq!(down, "the nodes along `x` must be finite and ascending");
    }
}
