//! Values of a given field over coordinates.

use crate::grid::raster::Raster;
use crate::grid::spline::Interpolation;
use crate::model::domain::Coordinate;

/// Values over coordinates, by number, ascending.
#[derive(Clone)]
pub(crate) struct Values {
    pub(crate) of: Vec<usize>,
    pub(crate) raster: Raster,
    pub(crate) interpolation: Interpolation,
}

impl Values {
    /// A raster whose axes are along these coordinates, in any order.
    pub(crate) fn new(raster: Raster, of: &[usize], interpolation: Interpolation) -> Self {
        let mut order: Vec<usize> = (0..of.len()).collect();
        order.sort_by_key(|&axis| of[axis]);
        let ascending = order.iter().map(|&axis| of[axis]).collect();
        Self { of: ascending, raster: raster.reordered(&order), interpolation }
    }

    /// Why they give no function over their coordinates, if they do not.
    pub(crate) fn fault(&self, coordinates: &[Coordinate]) -> Option<String> {
        let own: Vec<&Coordinate> = self.of.iter().map(|&c| &coordinates[c]).collect();
        if self.raster.uneven.is_some() && self.interpolation == Interpolation::Smooth {
            return Some("`smooth` needs nodes of even distance; write `cubic` or `linear`".to_owned());
        }
        self.raster.fault(&own, self.interpolation.least_nodes())
    }
}
