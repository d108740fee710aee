//! Functions that are stated: the guess, the truth or a reference of an unknown function.

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::function::Lattice;
use crate::grid::values::GridValues;
use crate::model::random_field::{RandomField, Waves};
use crate::model::{Coordinate, Formula, Problem, UnknownFunction};
use crate::unknown_function::evaluate;
use bilo_expr::Tape;

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

/// A known function as it is stated in Rust, with formulas as text.
#[derive(Clone, Debug)]
pub enum KnownSpec {
    /// An expression of the arguments.
    Formula(String),
    /// A random field, and an expression of it and the arguments in which it is called `field`.
    Random(RandomField, String),
    /// Ascending nodes along each of the arguments, and values in row-major order; between nodes the
    /// function is linear in each argument.
    Grid(Vec<Vec<f64>>, Vec<f64>),
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

impl KnownSpec {
    /// The function over axes that are known by now; `path` tells where it is stated.
    pub(crate) fn resolve(&self, path: &str, axes: &[Coordinate]) -> Result<KnownFunction> {
        let parse = |text: &str| Formula::parse(text, Origin::text(path, text));
        Ok(match self {
            KnownSpec::Formula(text) => KnownFunction::Formula(parse(text)?),
            KnownSpec::Random(field, value) => KnownFunction::Random { field: *field, value: parse(value)? },
            KnownSpec::Grid(nodes, values) => KnownFunction::Grid {
                grid: GridValues::new(axes, nodes.clone(), values.clone())
                    .map_err(|why| Diagnostic::new(format!("{path}: {why}"), Origin::none()))?,
                source: "on a grid".to_owned(),
                origin: Origin::none(),
            },
        })
    }
}

/// A known function, ready to be evaluated anywhere.
pub enum Evaluator {
    /// A formula of the coordinates.
    Formula(Tape),
    /// The inputs of the tape are the arguments and the field.
    Random(Waves, Tape),
    /// Values on a grid.
    Grid(GridValues),
}

impl Evaluator {
    /// The function at points, given by one column per argument of it.
    pub fn at(&self, columns: &[&[f64]]) -> Vec<f64> {
        match self {
            Evaluator::Formula(tape) => evaluate(tape, columns),
            Evaluator::Random(waves, tape) => {
                let field = waves.at(columns);
                let all: Vec<&[f64]> = columns.iter().copied().chain([&field[..]]).collect();
                evaluate(tape, &all)
            }
            Evaluator::Grid(grid) => grid.at(columns),
        }
    }
}

impl UnknownFunction {
    /// The values of a known function of its arguments at the nodes of its grid.
    pub fn on_nodes(&self, problem: &Problem, known: &KnownFunction) -> Result<Vec<f64>> {
        let columns = Lattice::new(self).columns();
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        Ok(self.evaluator(problem, known)?.at(&columns))
    }

    /// A known function of its arguments, ready to be evaluated.
    pub fn evaluator(&self, problem: &Problem, known: &KnownFunction) -> Result<Evaluator> {
        Ok(match known {
            KnownFunction::Formula(formula) => Evaluator::Formula(self.tape(problem, formula, None)?),
            KnownFunction::Random { field, value } => {
                Evaluator::Random(field.draw(self.of.len()), self.tape(problem, value, Some(FIELD))?)
            }
            KnownFunction::Grid { grid, .. } => Evaluator::Grid(grid.clone()),
        })
    }
}
