//! A problem with its guess elsewhere.

use crate::diagnostic::Result;
use crate::evaluate::names::NET;
use crate::model::formula::Formula;
use crate::model::known::KnownFunction;
use crate::model::neighbour::Neighbour;
use crate::model::problem::Problem;
use crate::settings::GradientMode;

impl Neighbour {
    /// The problem with its guess there. A function that networks take as an input is its formula, whatever its own
    /// network says.
    pub fn of(&self, problem: &Problem) -> Result<Problem> {
        let mut moved = problem.clone();
        for &(number, value) in &self.scalars {
            moved.unknowns[number].guess = value;
        }
        for (number, formula) in &self.functions {
            let function = &mut moved.functions[*number];
            function.guess = KnownFunction::Formula(formula.clone());
            if problem.training.gradient == GradientMode::Pointwise {
                let held = format!("({}) + 0*{NET}", formula.text);
                function.form = Formula::parse(&held, formula.origin.clone())?;
            }
        }
        Ok(moved)
    }
}
