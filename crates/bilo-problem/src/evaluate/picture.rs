//! Levels and formulas of pictures.

use crate::diagnostic::Result;
use crate::evaluate::names::Names;
use crate::evaluate::points::place_at;
use crate::model::picture::{Contour, Picture};
use crate::model::problem::Problem;

impl Contour {
    /// The level at these values of the unknown numbers.
    pub fn level_at(&self, problem: &Problem, theta: &[f64]) -> Result<f64> {
        place_at(&self.level, &problem.constants, &problem.unknowns, theta)
    }
}

impl Picture {
    /// Every formula has a meaning: `names` has the states, and levels know numbers only.
    pub(crate) fn check_formulas(&self, problem: &Problem, names: &mut Names) -> Result<()> {
        self.formulas().try_for_each(|formula| names.lower(formula).map(drop))?;
        let guess: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.guess).collect();
        self.contours.iter().try_for_each(|contour| contour.level_at(problem, &guess).map(drop))
    }
}
