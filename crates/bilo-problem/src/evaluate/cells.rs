//! How fine a grid may be before differences of high order are rounding, and where it has to have nodes.

use super::names::Names;
use crate::diagnostic::Result;
use crate::model::domain::{Coordinate, divided};
use crate::model::problem::Problem;
use bilo_expr::{Expr, Function, Leaf, Symbol};

/// Sums of absolute weights of a difference of order n are at most 2^n over the n-th power of the step: four orders, as those of
/// beams, have 16.
const WEIGHTS: f64 = 16.0;

/// The part of a derivative, of a state that changes by its own size over the whole length, that may be rounding.
const ROUNDING: f64 = 1e-4;

/// Numbers of cells are multiples of this.
const ROUND: f64 = 100.0;

/// Places that are so near to nodes, in parts of a cell, lie on them.
const ON_A_NODE: f64 = 1e-6;

/// Numbers of cells that are at least those of the problem's grid, but at most twice as many, and have a node at every fixed place
/// where the equations jump along a coordinate, on the grid of half as many cells too: inside of a cell a jump's error does not
/// shrink as others do. As they are where the places do not allow that.
pub(crate) fn cells_between_jumps(problem: &Problem) -> Result<Vec<usize>> {
    let Lowered { mut names, residuals, .. } = Lowered::of(problem)?;
    let compared = names.graph.jumps(&residuals);
    let axes = divided(&problem.coordinates);
    let aligned = axes.into_iter().zip(&problem.classical.cells).map(|(axis, &cells)| {
        let (Coordinate { lo, hi, time, .. }, symbol) = (&problem.coordinates[axis], names.coordinates[axis]);
        if *time {
            // Steps have their ends there anyhow.
            return cells;
        }
        let places = compared.iter().filter_map(|&difference| zero_of(&mut names, symbol, difference));
        let parts: Vec<f64> =
            places.map(|place| (place - lo) / (hi - lo)).filter(|part| 0.0 < *part && *part < 1.0).collect();
        let on_nodes = |count: usize| {
            let nodes = parts.iter().map(|part| part * count as f64);
            nodes.into_iter().all(|node| (node - node.round()).abs() < ON_A_NODE)
        };
        let fewest = (1..=cells / 2).find(|&count| on_nodes(count));
        fewest.map(|fewest| cells.next_multiple_of(2 * fewest)).filter(|_| !parts.is_empty()).unwrap_or(cells)
    });
    Ok(aligned.collect())
}

/// Where a difference of a coordinate and numbers alone vanishes.
fn zero_of(names: &mut Names, coordinate: Symbol, difference: Expr) -> Option<f64> {
    let (graph, leaf) = (&mut names.graph, Leaf::Symbol(coordinate));
    let slope = graph.partial(difference, &leaf);
    let slope = graph.as_constant(slope).filter(|slope| *slope != 0.0)?;
    let zero = graph.constant(0.0);
    let rest = graph.substitute(difference, &[(leaf, zero)].into());
    Some(-graph.as_constant(rest)? / slope)
}

/// Most cells along each coordinate that the reference solver divides: a difference of order n over N cells loses a part of Nⁿ
/// rounding errors.
pub fn most_cells(problem: &Problem) -> Result<Vec<usize>> {
    let Lowered { names, states, residuals } = Lowered::of(problem)?;
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

/// The equations as expressions of states that nothing is known of.
struct Lowered {
    names: Names,
    states: Vec<Function>,
    residuals: Vec<Expr>,
}

impl Lowered {
    fn of(problem: &Problem) -> Result<Lowered> {
        let mut names = Names::new(problem)?;
        let states = names.bind_states_opaque(problem);
        let residuals = problem.equations.iter().map(|equation| names.lower(&equation.residual));
        let residuals = residuals.collect::<Result<Vec<_>>>()?;
        Ok(Lowered { names, states, residuals })
    }
}
