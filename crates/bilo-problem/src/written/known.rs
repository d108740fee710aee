//! Known functions as a user states them.

use crate::model::known::FIELD;
use crate::model::random_field::RandomField;

/// A known function as a user states it, with formulas as text.
#[derive(Clone, Debug)]
pub enum KnownSpec {
    /// An expression of the arguments.
    Formula(String),
    /// A random field, and an expression of it and the arguments in which it is called `field`.
    Random(RandomField, String),
    /// Ascending nodes along each of the arguments, and values in row-major order; between nodes the
    /// function is linear in each argument.
    Grid(Vec<Vec<f64>>, Vec<f64>),
    /// Values on a grid in a file, found in the folder that [`crate::ProblemBuilder::build_in`] is told.
    File(String),
}

impl From<&str> for KnownSpec {
    fn from(formula: &str) -> Self {
        KnownSpec::Formula(formula.to_owned())
    }
}

impl From<RandomField> for KnownSpec {
    fn from(field: RandomField) -> Self {
        KnownSpec::Random(field, FIELD.to_owned())
    }
}
