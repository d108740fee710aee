//! The statement: a scalar conservation law and what it is solved for.

use bilo_expr::{Expr, Function, Graph, Symbol};

use crate::statement::Axis;

/// `u_t + flux(u; parameters)_x = 0` for one state in one space dimension.
#[derive(Clone, Debug)]
pub struct ConservationLaw {
    /// Owns every expression below.
    pub graph: Graph,
    /// The space coordinate.
    pub space: Axis,
    /// The time coordinate.
    pub time: Axis,
    /// The state: its value is what stands in the flux.
    pub state: Function,
    /// Scalars whose values are given at each solve.
    pub parameters: Vec<Symbol>,
    /// What is transported.
    pub flux: Flux,
    /// What happens at the ends of space.
    pub ends: Ends,
    /// Where the state starts.
    pub initial: Initial,
}

/// A flux function, of the state's value and the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flux {
    /// The flux itself.
    Formula(Expr),
    /// Its slope by the state, the speed `c(u)`, which must be smooth: the flux
    /// is then its integral by a Gauss rule.
    Speed(Expr),
}

/// The ends of the space axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The two ends are one point.
    Periodic,
    /// Two ends, each with its own condition.
    Open {
        /// At `lo`.
        lower: Side,
        /// At `hi`.
        upper: Side,
    },
}

/// What is outside an open end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A state, as an expression of time and parameters. Godunov's flux between
    /// it and the end decides whether it enters; where the characteristics leave,
    /// it is without effect.
    Prescribed(Expr),
    /// The state of the end itself: everything leaves freely.
    Outflow,
}

/// The state at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// An expression of space and parameters.
    Formula(Expr),
    /// An unknown function: its values at the nodes are given at each solve.
    Nodal,
}

/// What a solve is given. A direction to move in and a gradient have the same
/// shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// One value per parameter of the law.
    pub parameters: Vec<f64>,
    /// For [`Initial::Nodal`] one value per node, both ends included; on a
    /// periodic axis the upper end is the lower one and is left out. Empty for
    /// [`Initial::Formula`].
    pub initial: Vec<f64>,
}

/// How finely to solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mesh {
    /// Intervals between nodes, at least 4.
    pub cells: usize,
    /// When the solution is stored.
    pub levels: Levels,
    /// Largest speed times time step over the width of the smallest cell, at
    /// most 1. At open ends the smallest cell is half an interval wide.
    pub cfl: f64,
}

impl Mesh {
    /// Stored at the ends of `intervals` equal intervals of time; Courant number 0.9.
    pub fn new(cells: usize, intervals: usize) -> Mesh {
        Mesh { cells, levels: Levels::Intervals(intervals), cfl: 0.9 }
    }
}

/// The times at which the solution is stored. The start is always one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// The ends of so many equal intervals; time steps hit them exactly.
    Intervals(usize),
    /// Every time step.
    EveryStep,
}
