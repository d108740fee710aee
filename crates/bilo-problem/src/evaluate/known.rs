//! Known functions at points.

use crate::diagnostic::Result;
use crate::evaluate::tape::evaluate;
use crate::function::Lattice;
use crate::grid::values::GridValues;
use crate::model::function::UnknownFunction;
use crate::model::known::{FIELD, KnownFunction};
use crate::model::problem::Problem;
use crate::model::random_field::Waves;
use bilo_expr::Tape;

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
