//! Whether a statement, and what it is solved for, is complete.

use crate::compile::Block;
use crate::compiled::{Compiled, Condition, Values};
use crate::error::SolveError;
use crate::grid::Grid;
use crate::statement::{End, Statement};
use crate::wellposed::{self, Replacement};

/// An error unless the numbers agree.
pub(crate) fn count(
    what: &'static str,
    expected: usize,
    found: usize,
    help: &'static str,
) -> Result<(), SolveError> {
    if expected == found {
        return Ok(());
    }
    Err(SolveError::WrongCount { what, expected, found, help })
}

/// Ranges are finite and not empty, and there are one or two space axes.
pub(crate) fn axes(statement: &Statement) -> Result<(), SolveError> {
    let dimensions = statement.space.len();
    if !(1..=2).contains(&dimensions) {
        let expected = if dimensions == 0 { 1 } else { 2 };
        return count("space axes", expected, dimensions, "space has one or two dimensions");
    }
    if statement.interface.is_some() && (dimensions > 1 || statement.space[0].periodic) {
        return Err(SolveError::InterfaceSpace);
    }
    if statement.time.is_some_and(|time| time.periodic) {
        return Err(SolveError::PeriodicTime);
    }
    for axis in statement.space.iter().chain(&statement.time) {
        if !(axis.lo < axis.hi && (axis.hi - axis.lo).is_finite()) {
            return Err(SolveError::EmptyAxis {
                name: statement.graph.symbol_name(axis.symbol).to_string(),
                lo: axis.lo,
                hi: axis.hi,
            });
        }
    }
    Ok(())
}

/// The lists of the statement have lengths that agree.
pub(crate) fn counts(statement: &Statement) -> Result<(), SolveError> {
    let states = statement.states.len();
    let evolving = statement.time.is_some();
    if states == 0 {
        return count("states", 1, 0, "name at least one state to solve for");
    }
    count("interior residuals", states, statement.interior.len(), "give one equation per state")?;
    count(
        "initial values",
        if evolving { states } else { 0 },
        statement.initial.len(),
        "an evolving problem has one per state, a steady problem none",
    )?;
    if let Some(mask) = &statement.mask {
        count("values outside the mask", states, mask.outside.len(), "give one per state")?;
    }
    if let Some(interface) = &statement.interface {
        count("interface residuals", states, interface.residuals.len(), "give one per state")?;
        count("jumps", states, interface.jumps.len(), "give one function per state to stand for it")?;
    }
    let guesses = statement.guess.len();
    if guesses == 0 {
        return Ok(());
    }
    count(
        "guesses",
        if evolving { 0 } else { states },
        guesses,
        "a steady problem has one per state or none, an evolving problem starts from its initial values",
    )
}

/// Counts the boundary equations of every axis and finds their rows.
pub(crate) fn boundary(
    statement: &Statement,
    blocks: &[Block],
    conditions: &[Condition],
) -> Result<Vec<Vec<Replacement>>, SolveError> {
    let axes = statement.space.len();
    if let Some(b) = statement.boundary.iter().find(|b| b.side.axis >= axes) {
        return Err(SolveError::NoSuchSide { axis: b.side.axis, axes });
    }
    (0..axes).map(|axis| boundary_along(statement, blocks, conditions, axis)).collect()
}

fn boundary_along(
    statement: &Statement,
    blocks: &[Block],
    conditions: &[Condition],
    axis: usize,
) -> Result<Vec<Replacement>, SolveError> {
    let mine: Vec<usize> =
        (0..conditions.len()).filter(|&b| statement.boundary[b].side.axis == axis).collect();
    if statement.space[axis].periodic {
        count("boundary equations", 0, mine.len(), "a periodic axis has no ends")?;
        return Ok(Vec::new());
    }
    let states = statement.states.len();
    let orders: Vec<Vec<Option<usize>>> =
        (0..states).map(|e| (0..states).map(|s| blocks[0].order(e, s, axis)).collect()).collect();
    let orders = wellposed::orders_of_states(&orders)?;
    count(
        "boundary equations",
        orders.iter().sum(),
        mine.len(),
        "the two ends of an axis together need one per order of the highest derivative along it \
         (a first-order equation has one, at the inflow end)",
    )?;
    let occurs: Vec<Vec<bool>> = mine
        .iter()
        .map(|&b| conditions[b])
        .map(|c| (0..states).map(|s| blocks[c.block].occurs(c.residual, s)).collect())
        .collect();
    let ends: Vec<End> = mine.iter().map(|&b| conditions[b].end).collect();
    let mut replacements = wellposed::replacements(&orders, &ends, &occurs);
    for replacement in &mut replacements {
        replacement.boundary = mine[replacement.boundary];
    }
    Ok(replacements)
}

/// Every coefficient has a value per node.
pub(crate) fn coefficient_values(
    compiled: &Compiled,
    grid: &Grid,
    values: &Values,
) -> Result<(), SolveError> {
    count(
        "coefficients",
        compiled.coefficient_axes.len(),
        values.coefficients.len(),
        "give the nodal values of every coefficient of the statement",
    )?;
    for (axes, nodal) in compiled.coefficient_axes.iter().zip(&values.coefficients) {
        let nodes = axes.iter().map(|&axis| grid.lines[axis].nodes()).product();
        count("values of a coefficient", nodes, nodal.len(), "give one per node of the axes it depends on")?;
    }
    Ok(())
}
