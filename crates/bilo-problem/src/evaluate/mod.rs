//! What a problem says when it is asked: names as expressions, points, values of its functions, terms of its data.

pub(crate) mod clustered;
pub mod given_columns;
pub(crate) mod input;
pub(crate) mod names;
pub(crate) mod points;
pub mod sites;
pub mod theta;
pub mod truth;
