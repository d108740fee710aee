//! From a statement to a solver.

use bilo_expr::{Comparison, Tape};

use crate::check;
use crate::compile::{self, Block};
use crate::compiled::{Compiled, Condition, Flux, Pinned, Place};
use crate::error::SolveError;
use crate::flux::{self, Split};
use crate::solver::Solver;
use crate::statement::{Axis, Boundary, Interface, Mask, Pin, Side, Statement};
use crate::switches::Switches;

impl Solver {
    /// Checks the statement and compiles residuals and Jacobians.
    pub fn new(mut statement: Statement) -> Result<Solver, SolveError> {
        check::axes(&statement)?;
        check::counts(&statement)?;
        compile::check_inputs(&mut statement)?;
        let residuals = statement.interior.clone();
        let switches = Switches::of(&mut statement);
        let mut blocks = vec![compile::block(&mut statement, &residuals, "an interior residual")?];
        let boundary = compile_boundary(&mut statement, &mut blocks)?;
        let replacements = check::boundary(&statement, &blocks, &boundary)?;
        let splits: Vec<Split> = residuals.iter().map(|&r| flux::split(&mut statement, r)).collect();
        let remainders: Vec<_> = splits.iter().map(|split| split.remainder).collect();
        blocks.push(compile::block(&mut statement, &remainders, "an interior residual")?);
        let remainder = blocks.len() - 1;
        let fluxes = compile_fluxes(&mut statement, &mut blocks, &splits)?;
        let mask = compile_mask(&mut statement, &mut blocks)?;
        let interface = compile_interface(&mut statement, &mut blocks)?;
        let pins = compile_pins(&mut statement, &mut blocks)?;
        let starts =
            if statement.time.is_some() { statement.initial.clone() } else { statement.guess.clone() };
        let start = compile::stateless_block(&mut statement, &starts, "an initial value")?;
        let coefficient_axes = |&c| compile::coefficient_axes(&statement, c).expect("inputs are checked");
        let name = |axis: &Axis| statement.graph.symbol_name(axis.symbol).to_string();
        Ok(Solver::of(Compiled {
            blocks,
            plain: 0,
            remainder,
            fluxes,
            has_flux: splits.iter().map(|split| split.fluxes.map(|flux| flux.is_some())).collect(),
            boundary,
            replacements,
            mask,
            interface,
            pins,
            start,
            switches,
            coefficient_axes: statement.coefficients.iter().map(coefficient_axes).collect(),
            parameters: statement.parameters.len(),
            names: statement.space.iter().chain(&statement.time).map(name).collect(),
            space: statement.space,
            time: statement.time,
        }))
    }
}

/// Compiles the boundary equations of every side together.
fn compile_boundary(
    statement: &mut Statement,
    blocks: &mut Vec<Block>,
) -> Result<Vec<Condition>, SolveError> {
    let boundary = statement.boundary.clone();
    let mut sides: Vec<Side> = boundary.iter().map(|b| b.side).collect();
    sides.sort_unstable();
    sides.dedup();
    let place = |b: &Boundary| Condition { block: 0, residual: 0, end: b.side.end };
    let mut places: Vec<Condition> = boundary.iter().map(place).collect();
    for side in sides {
        let mut residuals = Vec::new();
        for (place, b) in places.iter_mut().zip(&boundary).filter(|(_, b)| b.side == side) {
            (place.block, place.residual) = (blocks.len(), residuals.len());
            residuals.push(b.residual);
        }
        blocks.push(compile::block(statement, &residuals, "a boundary residual")?);
    }
    Ok(places)
}

/// Compiles the mask and the equations outside it, and lets the initial values
/// agree with these.
fn compile_mask(
    statement: &mut Statement,
    blocks: &mut Vec<Block>,
) -> Result<Option<(Tape, usize)>, SolveError> {
    let Some(Mask { inside, outside }) = statement.mask.clone() else {
        return Ok(None);
    };
    let tape = compile::mask(statement, inside)?;
    compile::stateless_block(statement, &outside, "a value outside the mask")?;
    let graph = &mut statement.graph;
    let zero = graph.constant(0.0);
    let is_inside = graph.compare(Comparison::Greater, inside, zero);
    for (initial, &outside) in statement.initial.iter_mut().zip(&outside) {
        *initial = graph.select(is_inside, *initial, outside);
    }
    let equation = |(&state, &outside)| {
        let u = graph.value(state);
        graph.sub(u, outside)
    };
    let residuals: Vec<_> = statement.states.iter().zip(&outside).map(equation).collect();
    blocks.push(compile::block(statement, &residuals, "a value outside the mask")?);
    Ok(Some((tape, blocks.len() - 1)))
}

/// Compiles the place and the residuals of the interface.
fn compile_interface(
    statement: &mut Statement,
    blocks: &mut Vec<Block>,
) -> Result<Option<Place>, SolveError> {
    let Some(Interface { position, residuals, .. }) = statement.interface.clone() else {
        return Ok(None);
    };
    let position = compile::position(statement, position)?;
    blocks.push(compile::interface_block(statement, &residuals)?);
    Ok(Some(Place { position, block: blocks.len() - 1 }))
}

/// Compiles the equations at single nodes.
fn compile_pins(statement: &mut Statement, blocks: &mut Vec<Block>) -> Result<Vec<Pinned>, SolveError> {
    let mut pins = Vec::new();
    for Pin { at, residual, instead } in statement.pins.clone() {
        pins.push(Pinned { block: blocks.len(), at, instead });
        blocks.push(compile::block(statement, &[residual], "an equation at a node")?);
    }
    Ok(pins)
}

/// Compiles the fluxes of all interior residuals along every axis that has any.
///
/// In the plane a jump along a grid line runs through the faces across it.
/// Their flux is the mean of both sides, a quarter of a cell to the left and to
/// the right.
fn compile_fluxes(
    statement: &mut Statement,
    blocks: &mut Vec<Block>,
    splits: &[Split],
) -> Result<Vec<Vec<Flux>>, SolveError> {
    let zero = statement.graph.constant(0.0);
    let mut all = Vec::new();
    for axis in 0..statement.space.len() {
        let mut along_axis = Vec::new();
        if splits.iter().any(|split| split.fluxes[axis].is_some()) {
            let fluxes: Vec<_> = splits.iter().map(|split| split.fluxes[axis].unwrap_or(zero)).collect();
            let pieces = fluxes.iter().any(|&flux| flux::has_kinks(&statement.graph, flux));
            let nudges: &[f64] = if pieces && statement.space.len() > 1 { &[-0.25, 0.25] } else { &[0.0] };
            for &nudge in nudges {
                along_axis.push(Flux { block: blocks.len(), nudge });
                blocks.push(compile::block(statement, &fluxes, "an interior residual")?);
            }
        }
        all.push(along_axis);
    }
    Ok(all)
}
