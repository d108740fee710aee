//! How fine a grid may be before differences of high order are rounding.

use super::names::Names;
use crate::diagnostic::Result;
use crate::model::domain::divided;
use crate::model::problem::Problem;
use bilo_expr::Leaf;

/// Sums of absolute weights of a difference of order n are at most 2^n over the n-th power of the step: four orders, as those of
/// beams, have 16.
const WEIGHTS: f64 = 16.0;

/// The part of a derivative, of a state that changes by its own size over the whole length, that may be rounding.
const ROUNDING: f64 = 1e-4;

/// Numbers of cells are multiples of this.
const ROUND: f64 = 100.0;

/// Most cells along each coordinate that the reference solver divides: a difference of order n over N cells loses a part of Nⁿ
/// rounding errors.
pub fn most_cells(problem: &Problem) -> Result<Vec<usize>> {
    let mut names = Names::new(problem)?;
    let states = names.bind_states_opaque(problem);
    let residuals = problem.equations.iter().map(|equation| names.lower(&equation.residual));
    let residuals = residuals.collect::<Result<Vec<_>>>()?;
    let leaves = names.graph.leaves(&residuals);
    let order = |coordinate: usize| {
        let of = |leaf: &Leaf| match leaf {
            Leaf::Derivative(f, index) if states.contains(f) => index.as_slice()[coordinate],
            _ => 0,
        };
        leaves.iter().map(of).max().unwrap_or(0).max(1)
    };
    let most = |order: u8| {
        let cells = (ROUNDING / (WEIGHTS * f64::EPSILON)).powf(1.0 / f64::from(order));
        // In round numbers.
        (cells / ROUND).max(1.0) as usize * ROUND as usize
    };
    Ok(divided(&problem.coordinates).into_iter().map(|coordinate| most(order(coordinate))).collect())
}
