//! The problem as a reader of mathematics would state it.

use bilo_expr::{Expr, Function, Graph, Symbol};
use std::sync::Arc;

/// A coordinate and its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The coordinate.
    pub symbol: Symbol,
    /// Lower end (for time: the start).
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// The two ends are one point; such an axis has no sides. Not for time.
    pub periodic: bool,
    /// Nodes are even in its logarithm: for a range above zero over decades, such as that from a well to the end of its
    /// reach.
    pub logarithmic: bool,
}

impl Axis {
    /// The coordinate from `lo` to `hi`.
    pub fn new(symbol: Symbol, lo: f64, hi: f64) -> Axis {
        Axis { symbol, lo, hi, periodic: false, logarithmic: false }
    }

    /// The range closed to a ring.
    pub fn periodic(self) -> Axis {
        Axis { periodic: true, ..self }
    }

    /// The range with nodes that are even in its logarithm.
    pub fn logarithmic(self) -> Axis {
        Axis { logarithmic: true, ..self }
    }
}

/// One end of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// At `lo`.
    Lower,
    /// At `hi`.
    Upper,
}

/// One side of the box: an end of a space axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Side {
    /// Position of the axis in [`Statement::space`].
    pub axis: usize,
    /// Which end.
    pub end: End,
}

/// A boundary equation: its residual vanishes on one side.
///
/// `u - g` is a Dirichlet condition, `u_x - g` a Neumann condition; Robin,
/// nonlinear and coupled conditions are written the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Where it holds.
    pub side: Side,
    /// What vanishes there.
    pub residual: Expr,
}

/// A part of the box on which the equations hold.
#[derive(Clone, Debug)]
pub struct Mask {
    /// An expression of the space coordinates: positive where the equations
    /// hold.
    pub inside: Expr,
    /// What each state is elsewhere.
    pub outside: Vec<Expr>,
}

/// A place inside a one-dimensional domain where slopes may jump.
///
/// The grid has a node there, which no stencil crosses. At that node the
/// interior equations give way to the interface residuals: for
/// `u_xx + lambda*delta(x - z) - mu*u = 0` the interior residual is
/// `u_xx - mu*u` and the interface residual `[u_x] + lambda`.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Where it is: an expression of the parameters.
    pub position: Expr,
    /// For each state an opaque function whose value stands for the jump of the
    /// state's slope: above the interface minus below.
    pub jumps: Vec<Function>,
    /// One residual per state, of values of states, jumps, coordinates,
    /// parameters and values of coefficients.
    pub residuals: Vec<Expr>,
}

/// An equation at one node, in the place of another one.
///
/// It fixes what the other equations leave open, such as the level of a pressure.
#[derive(Clone, Debug)]
pub struct Pin {
    /// Where it holds: at the node nearest to this place.
    pub at: Vec<f64>,
    /// What vanishes there.
    pub residual: Expr,
    /// The state whose equation gives way, at the node nearest to the other place.
    pub instead: (usize, Vec<f64>),
}

/// A known function of time.
#[derive(Clone)]
pub struct Signal {
    /// What stands for it in expressions: an opaque function of time alone.
    pub function: Function,
    /// Its value, or the derivative of an order, at a time.
    pub value: Arc<dyn Fn(f64, usize) -> f64 + Send + Sync>,
    /// Times at which it jumps.
    pub jumps: Vec<f64>,
}

impl std::fmt::Debug for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signal").field("function", &self.function).finish_non_exhaustive()
    }
}

/// The nodes around each of some places and their weights in a function, or in a derivative of it of some order.
pub type CurveWeights = Arc<dyn Fn(&[f64], usize) -> Vec<[(usize, f64); 3]> + Send + Sync>;

/// An unknown function of one number, such as a diffusivity of the state or a flux over time, by its values at nodes, which are
/// parameters.
#[derive(Clone)]
pub struct Curve {
    /// What stands for it in expressions: an opaque function of one input.
    pub function: Function,
    /// What it is a function of: an expression of states, coordinates and parameters, without curves.
    pub argument: Expr,
    /// The position of the first of its values among the parameters of the statement.
    pub first: usize,
    /// How it is made of its values.
    pub weights: CurveWeights,
    /// The times at which its slope jumps, if it is one of time.
    pub corners: Vec<f64>,
}

impl std::fmt::Debug for Curve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Curve")
            .field("function", &self.function)
            .field("first", &self.first)
            .finish_non_exhaustive()
    }
}

impl Curve {
    /// The curve, or a derivative of it, at some places.
    pub(crate) fn at<'a>(
        &'a self,
        parameters: &'a [f64],
        places: &[f64],
        order: usize,
    ) -> impl Iterator<Item = f64> + 'a {
        let values = &parameters[self.first..];
        let value = move |around: [(usize, f64); 3]| {
            around.iter().map(|&(node, weight)| weight * values[node]).sum::<f64>()
        };
        (self.weights)(places, order).into_iter().map(value)
    }
}

/// A well-posed problem on an interval or a rectangle, in expressions.
///
/// The states are opaque functions of the space coordinates and, if evolving,
/// of time (in any order). Expressions may use the derivatives of the states
/// and of the coefficients, the coordinates, the parameters and symbols defined
/// from these.
#[derive(Clone, Default)]
pub struct Statement {
    /// Owns every expression below.
    pub graph: Graph,
    /// One or two space coordinates.
    pub space: Vec<Axis>,
    /// The time coordinate; `None` for a steady problem.
    pub time: Option<Axis>,
    /// What is solved for.
    pub states: Vec<Function>,
    /// Scalars whose values are given at each solve.
    pub parameters: Vec<Symbol>,
    /// Opaque functions of one or all space coordinates whose values at the
    /// nodes are given at each solve. They may stand in every expression.
    pub coefficients: Vec<Function>,
    /// One residual per state, in the order of the states; each vanishes
    /// inside the domain.
    pub interior: Vec<Expr>,
    /// For every axis as many as the highest derivatives along it ask for.
    pub boundary: Vec<Boundary>,
    /// Value of each state at the start; empty if steady.
    pub initial: Vec<Expr>,
    /// Where Newton's iteration starts in a steady problem: one expression per
    /// state, or none for zero.
    pub guess: Vec<Expr>,
    /// The part of the box where the equations hold, if it is not all of it.
    /// Nodes outside, on the sides too, keep their stated values.
    pub mask: Option<Mask>,
    /// A place where slopes jump, in one space dimension.
    pub interface: Option<Interface>,
    /// Known functions of time, such as what a logger wrote down. They may stand in every expression of time.
    pub signals: Vec<Signal>,
    /// Unknown functions of a state or of time. They may stand in every expression.
    pub curves: Vec<Curve>,
    /// Symbols that stand for the length of a cell along each space axis, for
    /// terms that vanish with it; none if no expression has such a term.
    pub widths: Vec<Symbol>,
    /// Equations at single nodes.
    pub pins: Vec<Pin>,
}
