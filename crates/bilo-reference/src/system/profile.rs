//! Unknown functions as the solver sees them.

use bilo_problem::diagnostic::Result;
use bilo_problem::function::Lattice;
use bilo_problem::theta::Theta;
use bilo_problem::{Evaluator, Problem, UnknownFunction};

/// An unknown function at some value.
pub(super) enum Profile {
    /// By its values at the nodes of its grid.
    Nodal(Vec<f64>),
    /// As it is stated: what is known needs no grid.
    Known(Evaluator),
}

impl Profile {
    /// The unknown functions of a value of everything unknown.
    pub(super) fn of(theta: &Theta) -> Vec<Profile> {
        theta.functions.iter().cloned().map(Profile::Nodal).collect()
    }

    /// The truth of each unknown function, or its guess where none is stated; by its values where these are parameters, so many
    /// for each function.
    pub(super) fn stated(problem: &Problem, nodal: &[usize]) -> Result<Vec<Profile>> {
        let known = |(function, &nodal): (&UnknownFunction, &usize)| {
            let known = function.truth.as_ref().unwrap_or(&function.guess);
            match nodal {
                0 => function.evaluator(problem, known).map(Profile::Known),
                _ => function.on_nodes(problem, known).map(Profile::Nodal),
            }
        };
        problem.functions.iter().zip(nodal).map(known).collect()
    }

    /// Its values at points, given by one column per argument of the function.
    pub(super) fn sample(&self, lattice: &Lattice, columns: &[&[f64]]) -> Vec<f64> {
        match self {
            Profile::Nodal(values) => lattice.sample(values, columns),
            Profile::Known(known) => known.at(columns),
        }
    }
}
