//! Observations as plain data.

use crate::diagnostic::{Diagnostic, Result};
use crate::model::likelihood::Likelihood;
use crate::model::{Formula, Points};

/// Data and what they are data of.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Its name.
    pub name: String,
    /// The observed quantity, an expression of states, coordinates and unknowns.
    pub value: Formula,
    /// What it is the sum of: itself, unless it has means, integrals or values at other places.
    pub terms: Vec<Term>,
    /// The data.
    pub data: Data,
    /// How the data speak of the observed quantity.
    pub likelihood: Likelihood,
    /// How large the errors of the data are.
    pub sigma: Sigma,
    /// The unit of the data.
    pub unit: Option<String>,
    /// What multiplies its log-likelihood: one, unless somebody wants it to count for more or for less.
    pub weight: f64,
}

/// A term of what is observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What is taken at its places.
    pub integrand: Formula,
    /// The coordinates that do not come from the data.
    pub over: Vec<Bound>,
}

/// A coordinate that does not come from the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Its number.
    pub coordinate: usize,
    /// What it is instead.
    pub to: BoundTo,
}

/// What a coordinate is instead of that of the data; formulas of constants and of the data's coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundTo {
    /// One value.
    Place(Formula),
    /// All values of a window.
    Window {
        /// Where it begins.
        from: Formula,
        /// Where it ends.
        to: Formula,
        /// Whether their mean is taken; else their integral.
        mean: bool,
    },
}

impl Observation {
    /// Whether it is a value where the data are.
    pub fn is_local(&self) -> bool {
        self.terms.iter().all(|term| term.over.is_empty())
    }

    /// An error where only values at the places of data can be taken.
    pub fn require_local(&self, who: &str) -> Result<()> {
        if self.is_local() {
            return Ok(());
        }
        let message =
            format!("{who} take values where the data are, not means, integrals or values elsewhere");
        let help = "take the method `adjoint`, or a dictionary (operator.kind = \"dictionary\")";
        Err(Diagnostic::new(message, self.value.origin.clone()).help(help).into())
    }
}

/// How large the errors of data are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sigma {
    /// As the data say, by a column `sigma` or as the noise of synthetic data; estimated where they do not.
    #[default]
    OfData,
    /// One standard deviation for all of them.
    Known(f64),
    /// Estimated with the unknowns; a column `sigma` then says how large the errors are beside each other.
    Estimated,
}

/// Observed values.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Made by the classical solver at the truth.
    Synthetic {
        /// Where it is observed.
        points: Points,
        /// Standard deviation of the added Gaussian noise.
        noise: f64,
        /// What the data are made of, where that is something else than what is observed.
        made: Option<Box<Made>>,
    },
    /// Particles of a Poisson process, drawn at the truth.
    Drawn,
    /// Read from a file or given by the builder.
    Table(Table),
}

/// What synthetic data are made of, in place of the observed quantity: a segmentation with a contour that
/// was drawn beside the true one, say.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// An expression like the observed one; `field` is a Gaussian random field over the space coordinates.
    pub value: Formula,
    /// Standard deviation and length of that field, which each seed of a run draws afresh.
    pub field: Option<(f64, f64)>,
}

/// Observed values with their points.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// One column per coordinate, in the problem's order.
    pub coordinates: Vec<Vec<f64>>,
    /// The observed values.
    pub values: Vec<f64>,
    /// Standard deviation of each value, if given.
    pub sigma: Option<Vec<f64>>,
}
