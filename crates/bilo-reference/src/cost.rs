//! What solves cost, predicted: the same on every machine.

use crate::coupling::coupled;
use bilo_problem::{Classical, Problem, divided};

/// What a step of time alone costs for each state, in unknowns of a large step of a line: five stages.
const MARCHING: f64 = 120.0;

/// What an unknown of a steady line does, whose matrix is laid out and factorised for one solution.
const STEADY: f64 = 50.0;

/// What an unknown of a plane costs where its matrix is factorised, in unknowns of a band, on a grid of so many unknowns ..
const FACTORISED: f64 = 60.0;
const OF_PLANE: f64 = 2e4;

/// .. growing with their number to this power: nested dissection (George 1973), as measured.
const FILL: f64 = 0.3;

/// Steps in time in a plane that one factorisation serves: matrices change little from one to the next.
const KEPT: f64 = 5.0;

/// Solves of a search, as a rule, and the unknowns whose tangents cost as much as a solve.
const SOLVES: f64 = 10.0;
const TANGENTS_PER_SOLVE: f64 = 3.0;

/// The cost of a search for the unknowns on the stated grid.
pub fn of_search(problem: &Problem) -> f64 {
    SOLVES * with_tangents(problem, &problem.classical)
}

/// The cost of a solve on a grid and of the derivatives by all unknowns.
pub fn with_tangents(problem: &Problem, classical: &Classical) -> f64 {
    (1.0 + problem.unknowns.len() as f64 / TANGENTS_PER_SOLVE) * of_solve(problem, classical)
}

/// The cost of a solve on a grid, in unknowns of a band for one step, about 0.2 microseconds each. Equations that are not
/// coupled are solved one by one.
pub fn of_solve(problem: &Problem, classical: &Classical) -> f64 {
    match coupled(problem) {
        Ok(groups) => groups.iter().map(|group| of_system(problem, classical, group.states.len())).sum(),
        Err(_) => of_system(problem, classical, problem.states.len()),
    }
}

fn of_system(problem: &Problem, classical: &Classical, states: usize) -> f64 {
    let cells: f64 = classical.cells.iter().map(|&cells| cells as f64).product();
    let unknowns = cells * states as f64;
    let evolves =
        problem.coordinates.len() > 1 && problem.coordinates.iter().any(|coordinate| coordinate.time);
    let steps = if evolves { classical.steps as f64 } else { 1.0 };
    match &problem.coordinates[..] {
        // In time alone the cells are steps, one after the other.
        [alone] if alone.time => MARCHING * unknowns,
        all if divided(all).len() > 1 => {
            let factorisations = (steps / KEPT).max(1.0);
            factorisations * FACTORISED * unknowns * (unknowns / OF_PLANE).powf(FILL)
        }
        _ if evolves => unknowns * steps,
        _ => STEADY * unknowns,
    }
}
