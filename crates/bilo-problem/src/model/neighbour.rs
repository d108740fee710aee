//! Values of the unknowns beside the guess, where the local operator is held against the reference solution.

use crate::diagnostic::Origin;
use crate::model::formula::Formula;

/// The guess, with some of the unknowns moved.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// What is moved, in words: `D = 1.5`.
    pub at: String,
    /// Scalars by their number, with their values.
    pub scalars: Vec<(usize, f64)>,
    /// Functions by their number, with what they are there.
    pub functions: Vec<(usize, Formula)>,
    /// Where it was written.
    pub origin: Origin,
}

/// Two are the same if they say the same, wherever they were written.
impl PartialEq for Neighbour {
    fn eq(&self, other: &Self) -> bool {
        (&self.at, &self.scalars, &self.functions) == (&other.at, &other.scalars, &other.functions)
    }
}
