//! Pictures in SVG, from plain data: a field over a rectangle, as colours and as contours.
//!
//! `Grid` holds values on nodes, `contours` finds where they pass a level, and a
//! `Panel` draws both with axes, a colour bar and a legend; `row` puts panels side by side. Colours of
//! fields are raster images inside the drawing (`png`, `colour`); all else is lines and text (`svg`).

mod axes;
pub mod bars;
pub(crate) mod colour;
mod contour;
pub(crate) mod grid;
pub mod landscape;
pub(crate) mod panel;
pub mod paths;
mod png;
mod svg;
mod ticks;

pub(crate) use svg::base64;
