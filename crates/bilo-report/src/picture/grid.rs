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
}
