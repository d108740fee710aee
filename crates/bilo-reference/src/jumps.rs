//! Unknowns that say where equations jump: t1 in `if(t < t1, a, b)`.
//!
//! The derivatives of such a formula by t1 vanish wherever there are any, and yet the solution moves with it. So the
//! solution's own derivative is taken, by differences of two more solutions.

use bilo_expr::{Leaf, Symbol};
use bilo_problem::diagnostic::Result;
use bilo_problem::{Coordinate, Formula, Names, Problem, Transform, Unknown};

/// How far apart solutions are, in parts of the time that there is: steps end where equations jump, so that solutions are smooth
/// in it.
const OF_TIME: f64 = 1e-3;

/// The same for an unknown that is compared with something else, in parts of itself.
const OF_ITSELF: f64 = 1e-3;

/// No farther than this part of a positive number.
const OF_POSITIVE: f64 = 0.1;

/// An unknown that says where equations jump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// Its number.
    pub unknown: usize,
    /// How far to either side the solution is asked for; as parts of its size if it is not compared with a coordinate.
    distance: Distance,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Distance {
    Absolute(f64),
    Relative(f64),
}

impl Jump {
    /// All unknowns of a problem that do.
    pub(crate) fn all(problem: &Problem) -> Result<Vec<Jump>> {
        let mut names = Names::new(problem)?;
        names.bind_states_opaque(problem);
        let stated = problem.equations.iter().map(|equation| &equation.residual);
        let formulas: Vec<&Formula> =
            stated.chain(problem.conditions.iter().map(|condition| &condition.holds)).collect();
        let mut found: Vec<Jump> = vec![];
        for formula in formulas {
            // What cannot be read here is refused where it is solved for.
            let Ok(whole) = names.lower(formula) else { continue };
            let expression = names.graph.expand_definitions(whole);
            for compared in names.graph.jumps(&[expression]) {
                let leaves = names.graph.leaves(&[compared]);
                let has = |symbol: &Symbol| leaves.contains(&Leaf::Symbol(*symbol));
                let along = names.coordinates.iter().position(&has);
                let unknowns = names.eta.iter().enumerate().filter(|(_, symbol)| has(symbol));
                for (unknown, _) in unknowns {
                    if found.iter().all(|jump| jump.unknown != unknown) {
                        found.push(Jump { unknown, distance: Distance::along(problem, along) });
                    }
                }
            }
        }
        Ok(found)
    }

    /// Its variable to either side of a value.
    pub(crate) fn sides(&self, unknown: &Unknown, eta: f64) -> [f64; 2] {
        let theta = unknown.theta_of(eta);
        let mut distance = match self.distance {
            Distance::Absolute(distance) => distance,
            Distance::Relative(part) => part * theta.abs().max(unknown.scale),
        };
        if unknown.transform == Transform::Log {
            distance = distance.min(OF_POSITIVE * theta);
        }
        [theta - distance, theta + distance].map(|side| unknown.project(unknown.eta_of(side)))
    }
}

impl Distance {
    fn along(problem: &Problem, coordinate: Option<usize>) -> Distance {
        let Some(number) = coordinate else { return Distance::Relative(OF_ITSELF) };
        let Coordinate { lo, hi, time, .. } = problem.coordinates[number];
        let space = problem.coordinates[..number].iter().filter(|coordinate| !coordinate.time).count();
        let cells = &problem.classical.cells;
        // Where cells do not end at a jump, the solution knows its place to a cell.
        let part = match cells.get(space) {
            Some(&cells) if !time => 1.0 / cells as f64,
            _ => OF_TIME,
        };
        Distance::Absolute(part * (hi - lo))
    }
}
