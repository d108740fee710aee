//! What can go wrong with a conservation law, and what to do about it.

use thiserror::Error;

/// Why a conservation law could not be read or solved.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ConservationError {
    /// A list has the wrong length.
    #[error("{found} {what} given where {expected} are needed")]
    WrongCount {
        /// What is counted.
        what: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many there are.
        found: usize,
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
    /// An expression uses something that has no value there.
    #[error("`{leaf}` in {place} has no value: {allowed}")]
    UnknownLeaf {
        /// What is used.
        leaf: String,
        /// Where.
        place: &'static str,
        /// What may be used there.
        allowed: &'static str,
    },
    /// Too few cells.
    #[error("{cells} cells are too few: use at least {needed}")]
    TooCoarse {
        /// Cells asked for.
        cells: usize,
        /// Fewest that work.
        needed: usize,
    },
    /// No time levels to be stored.
    #[error("the solution is asked for at no time: ask for at least one interval of time")]
    NoLevels,
    /// A Courant number that is not stable.
    #[error("the Courant number {cfl} is not stable: choose one above 0 and at most 1")]
    Courant {
        /// What was asked for.
        cfl: f64,
    },
    /// The speed is so large that the time steps cannot be counted.
    #[error(
        "waves of speed {speed:.1e} would take {steps:.1e} time steps: check the parameters and the flux"
    )]
    TooManySteps {
        /// Largest speed over the range of the data.
        speed: f64,
        /// Steps it asks for.
        steps: f64,
    },
    /// A number is not finite.
    #[error(
        "{what} is not finite at {variable} = {at}: look for a division by zero or a logarithm or \
         root of a negative number"
    )]
    NonFinite {
        /// Which number.
        what: &'static str,
        /// What it depends on: `x`, `t` or `u`.
        variable: &'static str,
        /// Where.
        at: f64,
    },
    /// The residual has another form than `u_t + c(u) u_x`.
    #[error(
        "the residual is not of the form u_t + c(u)*u_x with a speed c free of coordinates and of \
         derivatives, so no flux belongs to it"
    )]
    NotConservative,
    /// A stated flux that does not belong to the residual.
    #[error(
        "the stated flux does not belong to the residual: at u = {u:.6} and trial values of the \
         parameters its slope is {slope:.6}, while the residual carries u with speed {speed:.6}"
    )]
    FluxMismatch {
        /// The state at which they differ.
        u: f64,
        /// Slope of the stated flux.
        slope: f64,
        /// Speed from the residual.
        speed: f64,
    },
    /// A speed that quadrature cannot integrate.
    #[error(
        "the speed is not smooth enough near u = {u:.6} to be integrated numerically: state the flux, \
         whose slope by u is the speed"
    )]
    RoughSpeed {
        /// Where the slope of the integral differs from the speed.
        u: f64,
    },
    /// Somebody asked to stop, or the time was up.
    #[error("interrupted")]
    Interrupted,
}
