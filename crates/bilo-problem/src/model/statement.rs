//! States, the equations that they obey, and extra inputs of networks.

use crate::model::formula::Formula;
use crate::model::points::Points;

/// An extra input of every network of the states, beside the coordinates: u is net(x, phi). Where phi has a
/// kink, u may have one too.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name in expressions: `u_x` is the total derivative, through phi too, and `u_phi` the partial
    /// one, with the coordinates held fixed.
    pub name: String,
    /// An expression of coordinates, constants and scalar unknowns.
    pub value: Formula,
}

/// A quantity that follows from the unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Its name, which no other expression may use.
    pub name: String,
    /// An expression of unknown numbers and constants.
    pub value: Formula,
}

/// A state variable of the PDE.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its name in expressions.
    pub name: String,
    /// The state as an expression of `net`, coordinates and unknowns; boundary and initial values
    /// that it holds are exact for every network.
    pub form: Formula,
    /// The exact solution at the unknowns' truths, an expression of coordinates and unknowns, if it
    /// is known: `bilo check` holds it against everything else that is stated.
    pub truth: Option<Formula>,
}

/// A residual, the points where it must vanish, and its weight in the lower-level loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Equation {
    /// Its name.
    pub name: String,
    /// The expression that must vanish.
    pub residual: Formula,
    /// What vanishes for the networks, where that is something else: the equation with a little viscosity,
    /// say, because a network cannot jump.
    pub trained: Option<Formula>,
    /// Where.
    pub points: Points,
    /// Weight of its mean square (and of its residual-gradient term).
    pub weight: f64,
}

/// What holds on a part of the domain: an initial, boundary or interior condition as it was stated.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Its name.
    pub name: String,
    /// What equals what.
    pub holds: Formula,
    /// Where, in words.
    pub at: String,
    /// What sees to it.
    pub held_by: HeldBy,
}

/// What sees to it that a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// The forms of states, exactly.
    Form,
    /// An equation of its name.
    Equation,
}

impl Equation {
    /// The residual of the networks.
    pub fn of_networks(&self) -> &Formula {
        self.trained.as_ref().unwrap_or(&self.residual)
    }
}
