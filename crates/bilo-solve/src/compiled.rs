//! What a statement is compiled to, and what it is solved for.

use bilo_expr::{Input, Scratch, Tape};

use crate::compile::Block;
use crate::error::SolveError;
use crate::grid::Line;
use crate::statement::{Axis, End};
use crate::switches::Switches;
use crate::wellposed::Replacement;

/// How finely to solve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// Cells of each space axis, at least 4.
    pub cells: Vec<usize>,
    /// Time steps; ignored by steady problems.
    pub steps: usize,
}

/// What a problem is solved for: a number per parameter and nodal values per
/// coefficient, in the order of the statement.
///
/// The values of a coefficient stand in C order on the nodes of the axes it
/// depends on, as [`Solver::coefficient_nodes`](crate::Solver::coefficient_nodes) lists them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// One value per parameter.
    pub parameters: Vec<f64>,
    /// The nodal values of each coefficient.
    pub coefficients: Vec<Vec<f64>>,
}

impl Values {
    /// Parameters of a problem without coefficients.
    pub fn parameters(parameters: &[f64]) -> Values {
        Values { parameters: parameters.to_vec(), coefficients: Vec::new() }
    }
}

/// Where a boundary equation was compiled to, and the end where it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub(crate) block: usize,
    /// Its number within the block.
    pub(crate) residual: usize,
    pub(crate) end: End,
}

/// The fluxes of all interior residuals along one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flux {
    pub(crate) block: usize,
    /// How far off the grid line the coordinates are taken, in cells.
    pub(crate) nudge: f64,
}

/// The interface, compiled.
#[derive(Debug)]
pub(crate) struct Place {
    /// Its position, a function of the parameters.
    pub(crate) position: Tape,
    /// Its residuals.
    pub(crate) block: usize,
}

/// An equation at one node: its block, where it holds, and the state and the
/// place whose equation gives way.
#[derive(Debug)]
pub(crate) struct Pinned {
    pub(crate) block: usize,
    pub(crate) at: Vec<f64>,
    pub(crate) instead: (usize, Vec<f64>),
}

/// All equations of a [`Statement`](crate::Statement), checked and compiled.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) space: Vec<Axis>,
    pub(crate) time: Option<Axis>,
    /// All residuals, by the places where they hold.
    pub(crate) blocks: Vec<Block>,
    /// The interior residuals as they were written.
    pub(crate) plain: usize,
    /// The interior residuals without their fluxes.
    pub(crate) remainder: usize,
    /// The fluxes along each axis: none, one, or two whose mean is taken.
    pub(crate) fluxes: Vec<Vec<Flux>>,
    /// Whether an interior residual has a flux along an axis.
    pub(crate) has_flux: Vec<[bool; 2]>,
    /// The boundary equations, in the order of the statement.
    pub(crate) boundary: Vec<Condition>,
    /// The interior equations that boundary equations replace, by axis.
    pub(crate) replacements: Vec<Vec<Replacement>>,
    /// What is positive inside the mask, and the block that holds outside.
    pub(crate) mask: Option<(Tape, usize)>,
    pub(crate) interface: Option<Place>,
    pub(crate) pins: Vec<Pinned>,
    /// Initial values, or Newton's guess; without residuals for zero.
    pub(crate) start: Block,
    pub(crate) coefficient_axes: Vec<Vec<usize>>,
    /// The times at which equations change.
    pub(crate) switches: Switches,
    pub(crate) parameters: usize,
    /// Names of the coordinates, time last.
    pub(crate) names: Vec<String>,
}

impl Compiled {
    /// The place of the interface and its derivatives by the parameters.
    pub(crate) fn position(&self, parameters: &[f64]) -> Option<(f64, Vec<f64>)> {
        let tape = &self.interface.as_ref()?.position;
        let inputs: Vec<Input<'_, f64>> = parameters.iter().map(|&p| Input::Uniform(p)).collect();
        let mut scratch = Scratch::new();
        tape.eval(&inputs, 1, &mut scratch);
        tape.adjoint(&[Input::Uniform(1.0)], &mut scratch);
        let slopes = (0..inputs.len()).map(|i| scratch.input_adjoint(tape, i)[0]).collect();
        Some((scratch.output(tape, 0)[0], slopes))
    }

    pub(crate) fn states(&self) -> usize {
        self.has_flux.len()
    }

    /// The error of a number that is not finite.
    pub(crate) fn not_finite(&self, what: &'static str, position: &[f64], t: f64) -> SolveError {
        let coordinates = position.iter().chain([&t]).zip(&self.names);
        let place: Vec<String> = coordinates.map(|(value, name)| format!("{name} = {value}")).collect();
        SolveError::NonFinite { what, place: place.join(", ") }
    }

    /// Fewest cells along an axis, on either side of an interface: one where nothing is differentiated along a ring.
    pub(crate) fn cells_needed(&self, axis: usize) -> usize {
        let order = self.blocks.iter().chain([&self.start]).map(|block| block.highest_order(axis)).max();
        match order.unwrap_or(0) {
            0 if self.space[axis].periodic => 1,
            order => Line::cells_needed(order),
        }
    }
}
