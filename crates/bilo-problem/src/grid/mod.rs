//! Functions by their values on grids.

pub(crate) mod raster;
pub mod spline;
pub(crate) mod values;
