//! Drawings in SVG, from plain data: the figures of pages and the picture files are made by the same code.
//!
//! A `Plot` is one rectangle with axes and all that may be in it: `Series` of lines, points, bands and bars, fields in colours
//! (`Shade`, a raster image by `png` and `colour`), contours, rules and marks. `sheet` puts plots side by side under one legend.
//! Places of data are kept in the drawing (`data-view`, `data-name`), so that a script can read values off it.

pub(crate) mod axes;
pub mod bars;
pub(crate) mod colour;
pub(crate) mod contour;
pub mod landscape;
pub mod paths;
pub(crate) mod plot;
mod png;
pub(crate) mod series;
pub(crate) mod sheet;
mod svg;

pub(crate) use svg::base64;
