//! Functions that are stated: the guess, the truth or a reference of an unknown function.

use crate::diagnostic::Origin;
use crate::grid::values::GridValues;
use crate::model::formula::Formula;
use crate::model::random_field::RandomField;

/// The name by which an expression calls a random field.
pub const FIELD: &str = "field";

/// A function of an unknown function's arguments that is known.
#[derive(Clone, Debug)]
pub enum KnownFunction {
    /// An expression of the arguments.
    Formula(Formula),
    /// An expression of the arguments and of `field`, a Gaussian random field.
    Random {
        /// The field.
        field: RandomField,
        /// The expression.
        value: Formula,
    },
    /// Values on a grid, from a file or from Rust.
    Grid {
        /// The values.
        grid: GridValues,
        /// Where they come from, in words.
        source: String,
        /// Where the problem names them.
        origin: Origin,
    },
}

/// Two are the same if they say the same, wherever they were written.
impl PartialEq for KnownFunction {
    fn eq(&self, other: &Self) -> bool {
        use KnownFunction::{Formula, Grid, Random};
        match (self, other) {
            (Formula(ours), Formula(theirs)) => ours == theirs,
            (Random { field, value }, Random { field: f, value: v }) => (field, value) == (f, v),
            (Grid { grid, .. }, Grid { grid: theirs, .. }) => grid == theirs,
            _ => false,
        }
    }
}

impl KnownFunction {
    /// Where it was written.
    pub fn origin(&self) -> &Origin {
        match self {
            KnownFunction::Formula(formula) => &formula.origin,
            KnownFunction::Random { value, .. } => &value.origin,
            KnownFunction::Grid { origin, .. } => origin,
        }
    }

    /// The formula, if it is one: all that can be differentiated.
    pub fn formula(&self) -> Option<&Formula> {
        match self {
            KnownFunction::Formula(formula) => Some(formula),
            _ => None,
        }
    }

    /// In words, for people.
    pub fn describe(&self) -> String {
        match self {
            KnownFunction::Formula(formula) => formula.text.clone(),
            KnownFunction::Random { field: RandomField { sd, length, seed }, value } => {
                format!("{} (field: random, sd {sd}, length {length}, seed {seed})", value.text)
            }
            KnownFunction::Grid { grid, source, .. } => format!("{} values {source}", grid.lengths()),
        }
    }
}
