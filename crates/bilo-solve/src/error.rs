//! What can go wrong, and what to do about it.

use thiserror::Error;

/// Why a problem could not be solved.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SolveError {
    /// A list has the wrong length.
    #[error("{found} {what} given where {expected} are needed: {help}")]
    WrongCount {
        /// What is counted.
        what: &'static str,
        /// How many the problem asks for.
        expected: usize,
        /// How many there are.
        found: usize,
        /// What to do.
        help: &'static str,
    },
    /// An axis is empty, reversed or not finite.
    #[error("the range of `{name}` is [{lo}, {hi}]: give two finite ends, the lower one first")]
    EmptyAxis {
        /// The coordinate.
        name: String,
        /// Its lower end.
        lo: f64,
        /// Its upper end.
        hi: f64,
    },
    /// A state is not a function of the coordinates of the problem.
    #[error(
        "the state `{state}` must be a function of exactly the space coordinates \
         and, if the problem evolves, time"
    )]
    StateInputs {
        /// The state.
        state: String,
    },
    /// A coefficient is not a function of space coordinates.
    #[error("the coefficient `{coefficient}` must be a function of one or all space coordinates")]
    CoefficientInputs {
        /// The coefficient.
        coefficient: String,
    },
    /// A side of an axis that space does not have.
    #[error(
        "a boundary equation names space axis number {axis}, but they are numbered from 0 and there are {axes}"
    )]
    NoSuchSide {
        /// The axis named.
        axis: usize,
        /// How many there are.
        axes: usize,
    },
    /// Time was declared to be a ring.
    #[error("time cannot be periodic: only space axes can")]
    PeriodicTime,
    /// A second or higher time derivative.
    #[error(
        "`{derivative}` is not supported: write the equation as a first-order system in \
         time, with a second state for the time derivative"
    )]
    OrderInTime {
        /// The derivative as written.
        derivative: String,
    },
    /// An expression uses something that has no value here.
    #[error(
        "`{leaf}` in {place} has no value: only coordinates, parameters, coefficients and (outside \
         initial values) derivatives of the states may be used"
    )]
    UnknownLeaf {
        /// What is used.
        leaf: String,
        /// Where.
        place: &'static str,
    },
    /// A mask that depends on more than the place.
    #[error("`{leaf}` in the mask has no fixed value: a mask is an expression of the space coordinates only")]
    MaskInputs {
        /// What is used.
        leaf: String,
    },
    /// A position of the interface that depends on more than the parameters.
    #[error(
        "`{leaf}` in the position of the interface has no value: it is an expression of the parameters only"
    )]
    InterfaceInputs {
        /// What is used.
        leaf: String,
    },
    /// An interface in the plane or on a ring.
    #[error("an interface needs one space axis that is not periodic")]
    InterfaceSpace,
    /// A derivative in an interface residual.
    #[error(
        "`{leaf}` in an interface residual has no single value there: use values of the states \
         and the jumps of their slopes"
    )]
    InterfaceDerivative {
        /// The derivative.
        leaf: String,
    },
    /// The interface is not inside the domain.
    #[error("the interface at {position} is not inside the domain from {lo} to {hi}")]
    InterfaceOutside {
        /// Where it is.
        position: f64,
        /// Lower end of the domain.
        lo: f64,
        /// Upper end of the domain.
        hi: f64,
    },
    /// No way to give every state an equation of its own.
    #[error(
        "the interior residuals cannot determine every state: each state must occur in \
         a residual of its own"
    )]
    Undetermined,
    /// The grid is too coarse for the stencils.
    #[error("{cells} cells along `{name}` are too few: use at least {needed}")]
    TooCoarse {
        /// The coordinate.
        name: String,
        /// Cells asked for.
        cells: usize,
        /// Fewest that work.
        needed: usize,
    },
    /// An evolving problem without time steps.
    #[error("an evolving problem needs at least one time step")]
    NoSteps,
    /// A number is not finite.
    #[error(
        "{what} is not finite at {place}: look for a division by zero or a \
         logarithm or root of a negative number, or start from a better guess"
    )]
    NonFinite {
        /// Which number.
        what: &'static str,
        /// Where and when, such as `x = 0.5, t = 1`.
        place: String,
    },
    /// The linearised equations have no unique solution.
    #[error(
        "the equations{} do not fix the solution (condition number about \
         {condition:.1e}): a constant may be left free, as with derivative conditions at both \
         ends of a steady problem, or the guess may be a point where the linearised equations \
         degenerate", at(*.t)
    )]
    Singular {
        /// When (0 if steady).
        t: f64,
        /// Estimated condition number, infinite if exactly singular.
        condition: f64,
    },
    /// Newton's iteration stalled.
    #[error(
        "Newton's iteration did not converge{} (residual {residual:.1e} relative to \
         its terms): give a better guess if steady, take more time steps if evolving, and check \
         that a solution exists for these parameters", at(*.t)
    )]
    NoConvergence {
        /// When (0 if steady).
        t: f64,
        /// Largest residual relative to the size of the terms it is made of.
        residual: f64,
    },
    /// Somebody asked to stop, or the time was up.
    #[error("interrupted")]
    Interrupted,
}

/// When; nothing if steady.
fn at(t: f64) -> String {
    if t == 0.0 { String::new() } else { format!(" at t = {t}") }
}
