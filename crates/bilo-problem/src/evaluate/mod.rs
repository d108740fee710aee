//! What a problem says when it is asked: names as expressions, points, values of its functions, terms of its data.

pub(crate) mod cells;
pub(crate) mod clustered;
mod derived;
pub mod given_columns;
pub(crate) mod input;
pub(crate) mod known;
pub(crate) mod names;
mod neighbour;
mod picture;
pub(crate) mod points;
pub(crate) mod quadrature;
pub(crate) mod sampling;
pub mod sites;
mod starts;
pub(crate) mod tape;
pub mod theta;
pub mod truth;
