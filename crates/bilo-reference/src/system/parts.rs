//! What a statement is made of, as it is read off a problem.

use super::Axes;
use bilo_expr::{Expr, Function, Symbol};
use bilo_problem::{Equation, Names, Problem};
use bilo_solve::{Boundary, Pin};

/// The parts of a statement as they are read off a problem.
pub(super) struct Parts<'a> {
    pub(super) problem: &'a Problem,
    pub(super) axes: &'a Axes,
    /// The names that all formulas are written in.
    pub(super) names: Names,
    /// The states that are solved for as functions of the graph: of the coordinates and of the departures of
    /// inputs.
    pub(super) states: Vec<Function>,
    /// Every state of the problem: solved for, or in terms of those.
    pub(super) standing: Vec<Standing>,
    /// The equations without those that define states.
    pub(super) equations: Vec<&'a Equation>,
    /// The given fields of the equations, by number: coefficients too, after the unknown functions.
    pub(super) given: Vec<usize>,
    /// The given fields that are functions of time alone, by number.
    pub(super) signals: Vec<usize>,
    /// The parameters of each unknown function: the values at its nodes if it is one of a state or of time.
    pub(super) nodal: Vec<Vec<Symbol>>,
    pub(super) boundary: Vec<Boundary>,
    pub(super) initial: Vec<Option<Expr>>,
    pub(super) interior: Vec<(&'a Equation, Expr)>,
    /// States that stand for the rates of others.
    pub(super) rates: Vec<Rate>,
    /// What holds at points of the plane.
    pub(super) points: Vec<PointCondition<'a>>,
    /// What fixes the level of a pressure.
    pub(super) pins: Vec<Pin>,
    /// The symbols for the widths of cells, where terms have them.
    pub(super) widths: Vec<Symbol>,
    /// What holds at a place inside the domain.
    pub(super) jumps: Vec<JumpCondition<'a>>,
}

/// A state, and the one that stands for its rate; both by number among those that are solved for.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    pub(super) of: usize,
    pub(super) state: usize,
}

/// What stands for a state of the problem.
#[derive(Clone, Copy)]
pub(super) enum Standing {
    /// A state that is solved for, by its number among these.
    Solved(usize),
    /// An expression of these, of unknowns and of coordinates.
    Defined(Expr),
}

/// A condition at a point.
pub(super) struct PointCondition<'a> {
    pub(super) equation: &'a Equation,
    pub(super) residual: Expr,
    /// A place along each coordinate of space.
    pub(super) at: Vec<f64>,
}

/// An equation held at a place inside the domain.
pub(super) struct JumpCondition<'a> {
    pub(super) equation: &'a Equation,
    pub(super) residual: Expr,
    /// The place, which may follow unknowns.
    pub(super) position: Expr,
    /// The slot of the states for the input that has a kink at the place.
    pub(super) slot: usize,
    /// The jump of that input's slope.
    pub(super) kink: Expr,
}
