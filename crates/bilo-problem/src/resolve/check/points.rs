//! What must hold of the points of equations and data.

use crate::diagnostic::Result;
use crate::evaluate::names::Names;
use crate::evaluate::points::place_at;
use crate::model::observation::Data;
use crate::model::{Equation, Layout, Points};
use crate::resolve::check::Check;
use bilo_expr::{Expr, Leaf};

impl Check<'_> {
    /// Data are where they were taken.
    pub(crate) fn stays(&self, path: &str, points: &Points) -> Result<()> {
        let Some((coordinate, place)) = points.moving.first() else { return Ok(()) };
        let name = &self.problem.coordinates[*coordinate].name;
        let message = format!("data cannot follow an unknown: `{}` moves with the estimate", place.text);
        let help = "give a number; only the points of equations may follow unknowns";
        Err(self.error(&format!("{path}.at.{name}"), message).help(help).into())
    }

    /// Points that follow unknowns are in the domain at the truth as well as at the guess.
    pub(crate) fn places_at_truth(&self, equation: &Equation) -> Result<()> {
        let problem = self.problem;
        let truth: Option<Vec<f64>> = problem.unknowns.iter().map(|unknown| unknown.truth).collect();
        let Some(truth) = truth else { return Ok(()) };
        for (number, place) in &equation.points.moving {
            let coordinate = &problem.coordinates[*number];
            let value = place_at(place, &problem.constants, &problem.unknowns, &truth)?;
            if let Some(why) = coordinate.excludes(value) {
                let path = format!("equation.{}.points.at.{}", equation.name, coordinate.name);
                return Err(self.error(&path, format!("at the truth of the unknowns {why}")).into());
            }
        }
        Ok(())
    }

    /// Given fields are looked up at points that stay.
    pub(crate) fn given_at_fixed_points(&self, names: &Names, number: usize, residual: Expr) -> Result<()> {
        let equation = &self.problem.equations[number];
        let field = names.graph.leaves(&[residual]).into_iter().find_map(|leaf| match leaf {
            Leaf::Derivative(function, _) => names.given_field(function).map(|field| field.name.clone()),
            Leaf::Symbol(_) => None,
        });
        let Some(field) = field.filter(|_| !equation.points.moving.is_empty()) else { return Ok(()) };
        let message = format!("points that follow an unknown have no values of the given field `{field}`");
        Err(self.error(&format!("equation.{}.residual", equation.name), message).into())
    }

    /// Every `where` has a meaning and leaves points.
    pub(crate) fn filters(&self) -> Result<()> {
        let of_equations = self.problem.equations.iter().map(|e| &e.points);
        let of_data = self.problem.observations.iter().filter_map(|o| match &o.data {
            Data::Synthetic { points, .. } => Some(points),
            Data::Table(_) | Data::Drawn => None,
        });
        let guess: Vec<f64> = self.problem.unknowns.iter().map(|unknown| unknown.guess).collect();
        let mut names = Names::with_scalars_at(self.problem, &guess);
        for points in of_equations.chain(of_data) {
            if let Some(filter) = &points.filter {
                names.lower(filter)?;
                self.some_left(points)?;
            }
        }
        Ok(())
    }

    /// Drawn points are not tried: another seed draws others.
    fn some_left(&self, points: &Points) -> Result<()> {
        match points.layout {
            Layout::Grid(_) | Layout::List(_) => points.source(self.problem, 0).map(|_| ()),
            Layout::Random(_) | Layout::Sobol(_) => Ok(()),
        }
    }
}
