//! Values on the nodes of a rectangle.

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

    pub(crate) fn x(&self) -> &'a [f64] {
        self.x
    }

    pub(crate) fn y(&self) -> &'a [f64] {
        self.y
    }

    /// The value of a node.
    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.y.len() + j]
    }

    /// The least and the largest value; none if all are holes.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let finite = self.values.iter().copied().filter(|value| value.is_finite());
        finite.fold(None, |range, value| match range {
            None => Some((value, value)),
            Some((lo, hi)) => Some((value.min(lo), value.max(hi))),
        })
    }

    /// The value at a place, linear along both axes between nodes. Beside a hole the nearest node counts; outside the
    /// rectangle all is a hole.
    pub(crate) fn sample(&self, x: f64, y: f64) -> f64 {
        let (Some((i, s)), Some((j, t))) = (cell(self.x, x), cell(self.y, y)) else { return f64::NAN };
        let along = |j: usize| (1.0 - s) * self.at(i, j) + s * self.at(i + 1, j);
        let value = (1.0 - t) * along(j) + t * along(j + 1);
        if value.is_finite() { value } else { self.at(i + usize::from(s > 0.5), j + usize::from(t > 0.5)) }
    }
}

/// The cell of a place along an axis, and how far into it the place is: from 0 to 1.
fn cell(axis: &[f64], place: f64) -> Option<(usize, f64)> {
    let cell = axis.partition_point(|node| *node <= place).clamp(1, axis.len() - 1) - 1;
    let share = (place - axis[cell]) / (axis[cell + 1] - axis[cell]);
    (0.0..=1.0).contains(&share).then_some((cell, share))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 + 2 x - y + 3 x y is its own interpolation, on uneven nodes too.
    #[test]
    fn samples_are_bilinear() {
        let (x, y) = ([0.0, 0.5, 2.0], [-1.0, 0.0, 0.25, 1.0]);
        let f = |x: f64, y: f64| 1.0 + 2.0 * x - y + 3.0 * x * y;
        let values: Vec<f64> = x.iter().flat_map(|&x| y.map(|y| f(x, y))).collect();
        let grid = Grid::new(&x, &y, &values);
        for (x, y) in [(0.0, -1.0), (2.0, 1.0), (0.3, 0.1), (1.7, 0.9), (0.5, 0.25)] {
            assert!((grid.sample(x, y) - f(x, y)).abs() < 1e-14, "({x}, {y})");
        }
        assert!(grid.sample(2.1, 0.0).is_nan() && grid.sample(0.1, -1.1).is_nan(), "outside");
        assert_eq!(grid.at(1, 2), f(0.5, 0.25));
        assert_eq!(grid.range(), Some((f(2.0, -1.0), f(2.0, 1.0))));
    }

    #[test]
    fn holes_stay_where_they_are() {
        let axis = [0.0, 1.0, 2.0];
        let mut values = [1.0; 9];
        values[4] = f64::NAN;
        let grid = Grid::new(&axis, &axis, &values);
        assert!(grid.sample(1.2, 0.9).is_nan());
        assert_eq!(grid.sample(1.6, 0.9), 1.0);
        assert_eq!(grid.range(), Some((1.0, 1.0)));
        assert_eq!(Grid::new(&axis, &axis, &[f64::NAN; 9]).range(), None);
    }
}
