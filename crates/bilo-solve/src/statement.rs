//! The problem as a reader of mathematics would state it.

use bilo_expr::{Expr, Function, Graph, Symbol};

/// A coordinate and its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The coordinate.
    pub symbol: Symbol,
    /// Lower end (for time: the start).
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

/// One end of the space axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// At `lo`.
    Lower,
    /// At `hi`.
    Upper,
}

/// A boundary equation: its residual vanishes at one end.
///
/// `u - g` is a Dirichlet condition, `u_x - g` a Neumann condition; Robin,
/// nonlinear and coupled conditions are written the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Where it holds.
    pub end: End,
    /// What vanishes there.
    pub residual: Expr,
}

/// A well-posed problem in one space dimension, in expressions.
///
/// The states are opaque functions of the space coordinate and, if evolving,
/// of time (in either order). Expressions may use the derivatives of the
/// states, the coordinates, the parameters and symbols defined from these.
#[derive(Clone)]
pub struct Statement {
    /// Owns every expression below.
    pub graph: Graph,
    /// The space coordinate.
    pub space: Axis,
    /// The two ends of space are one point; there are no boundary equations.
    pub periodic: bool,
    /// The time coordinate; `None` for a steady problem.
    pub time: Option<Axis>,
    /// What is solved for.
    pub states: Vec<Function>,
    /// Scalars whose values are given at each solve.
    pub parameters: Vec<Symbol>,
    /// One residual per state, in the order of the states; each vanishes
    /// inside the domain.
    pub interior: Vec<Expr>,
    /// As many as the highest space derivatives ask for.
    pub boundary: Vec<Boundary>,
    /// Value of each state at the start; empty if steady.
    pub initial: Vec<Expr>,
    /// Where Newton's iteration starts in a steady problem: one expression per
    /// state, or none for zero.
    pub guess: Vec<Expr>,
}
