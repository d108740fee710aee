//! The grid of an FNO: its points, and values between them.

/// One axis of a grid, with equally spaced nodes from end to end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridAxis {
    /// Nodes.
    pub nodes: usize,
    /// Both ends.
    pub interval: [f64; 2],
    /// Modes as the `neuraloperator` library counts them. Along the last axis half as many frequencies are
    /// kept, and zero; along another as many, of both signs.
    pub modes: usize,
}

impl GridAxis {
    fn node(&self, number: usize) -> f64 {
        let [low, high] = self.interval;
        low + (high - low) * number as f64 / (self.nodes - 1) as f64
    }

    /// The node on the left of a place and the share of the next one; places outside go to the nearer end.
    fn cell(&self, place: f64) -> (usize, f64) {
        let [low, high] = self.interval;
        let cells = (self.nodes - 1) as f64;
        let position = ((place - low) / (high - low) * cells).clamp(0.0, cells);
        let left = position.floor().min(cells - 1.0);
        (left as usize, position - left)
    }
}

/// Axes, the last of which runs fastest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    axes: Vec<GridAxis>,
}

impl Grid {
    pub(super) fn new(axes: Vec<GridAxis>) -> Self {
        assert!(matches!(axes.len(), 1 | 2), "one axis or two");
        let sound = |axis: &GridAxis| axis.nodes > 1 && axis.interval[0] < axis.interval[1];
        assert!(axes.iter().all(sound), "axes with two ends");
        Self { axes }
    }

    pub(super) fn axes(&self) -> &[GridAxis] {
        &self.axes
    }

    pub(super) fn nodes(&self) -> usize {
        self.axes.iter().map(|axis| axis.nodes).product()
    }

    /// The number of a node along each axis.
    pub(super) fn numbers(&self, node: usize) -> impl Iterator<Item = (&GridAxis, usize)> {
        let mut stride = self.nodes();
        self.axes.iter().map(move |axis| {
            stride /= axis.nodes;
            (axis, node / stride % axis.nodes)
        })
    }

    /// All nodes as columns.
    pub(super) fn points(&self) -> Vec<Vec<f64>> {
        let mut columns = vec![vec![]; self.axes.len()];
        for node in 0..self.nodes() {
            for (column, (axis, number)) in columns.iter_mut().zip(self.numbers(node)) {
                column.push(axis.node(number));
            }
        }
        columns
    }

    /// The nodes around each site with their shares in the value there, which is linear along each axis.
    pub(super) fn around(&self, sites: &[Vec<f64>]) -> Vec<Vec<(usize, f64)>> {
        assert_eq!(sites.len(), self.axes.len(), "number of coordinates");
        let one = |site: usize| {
            let mut corners = vec![(0, 1.0)];
            for (axis, column) in self.axes.iter().zip(sites) {
                let (left, share) = axis.cell(column[site]);
                let ends = [(left, 1.0 - share), (left + 1, share)];
                let next = |(node, weight)| ends.map(|(end, part)| (node * axis.nodes + end, weight * part));
                corners = corners.into_iter().flat_map(next).collect();
            }
            corners
        };
        (0..sites[0].len()).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function linear along each axis is met everywhere inside, and by its nearest value outside.
    #[test]
    fn values_between_nodes_are_linear_along_each_axis() {
        let grid = Grid::new(vec![
            GridAxis { nodes: 4, interval: [-1.0, 2.0], modes: 2 },
            GridAxis { nodes: 3, interval: [0.0, 5.0], modes: 2 },
        ]);
        let value = |x: f64, y: f64| 1.0 + 2.0 * x - y + 0.5 * x * y;
        let points = grid.points();
        let values: Vec<f64> = points[0].iter().zip(&points[1]).map(|(&x, &y)| value(x, y)).collect();
        let sites = [vec![-1.0, 0.3, 2.0, 9.0], vec![5.0, 1.7, 0.0, 2.0]];
        let inside = [value(-1.0, 5.0), value(0.3, 1.7), value(2.0, 0.0), value(2.0, 2.0)];
        for (around, expected) in grid.around(&sites).iter().zip(inside) {
            let ours: f64 = around.iter().map(|&(node, share)| share * values[node]).sum();
            assert!((ours - expected).abs() < 1e-14, "{ours} {expected}");
        }
    }
}
