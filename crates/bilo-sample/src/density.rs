//! What is sampled.

use std::fmt;

/// A density by its logarithm, up to a constant.
///
/// It has to be a function of the position alone: what depends on where it was asked before is no density, and draws from
/// it are draws from nothing.
pub trait LogDensity {
    /// Its value at a position, with its gradient there.
    ///
    /// A value of minus infinity, or a [`Failure::Unsolvable`], is a place that draws do not go to.
    fn at(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Failure>;
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// There is none at this position: the trajectory diverges there, and the chain goes on.
    Unsolvable(String),
    /// Somebody asked for the end.
    Interrupted,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unsolvable(reason) => f.write_str(reason),
            Failure::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Failure {}
