//! Least squares in the dual form: what a device gives to solve with.

use super::{Fault, Linearisation};

/// The kernel K = S J Jᵀ S of some residuals, made by [`Device::dual`](super::Device::dual).
///
/// It stays as it was made, whatever is asked of its device meanwhile: so residuals can be tried at other weights while
/// it is solved with.
pub trait DualSystem {
    /// The factors of K + damping; none where the damping is too small, so that rounding makes the matrix indefinite.
    ///
    /// Each takes as much memory as K: drop those before, if nothing is left to be solved with them.
    fn factorise(&self, damping: f64) -> Result<Option<Box<dyn DualFactors>>, Fault>;
}

/// The factors of K + damping for a [kernel](DualSystem) K, which can be solved with.
pub trait DualFactors {
    /// Solves (K + damping) y = b for each b.
    fn solve(&self, right: &[&[f64]]) -> Result<Vec<Solved>, Fault>;
}

/// What solves (K + damping) y = b for a [kernel](DualSystem) K.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solved {
    /// y.
    pub numbers: Vec<f64>,
    /// K y.
    pub product: Vec<f64>,
}

/// The residuals of several programs with their kernel.
pub struct Dual {
    /// The residuals of each program with their derivatives by the unknowns, unscaled.
    pub parts: Vec<Linearisation>,
    /// The kernel over the rows of all programs.
    pub system: Box<dyn DualSystem>,
}
