//! The inverse problem as plain, validated data: what a problem file or the builder produces and
//! everything downstream reads.

use crate::model::domain::{Constant, Coordinate};
use crate::model::function::{Regulariser, RegulariserKind, UnknownFunction};
use crate::model::given::GivenField;
use crate::model::learning::Learning;
use crate::model::neighbour::Neighbour;
use crate::model::observation::Observation;
use crate::model::picture::Picture;
use crate::model::statement::{Condition, Derived, Equation, Input, State};
use crate::model::unknown::{Transform, Unknown};
use crate::settings::{Classical, NetworkChoice, OperatorChoice, SampleOptions, Training};

/// A whole inverse problem: the PDE, its unknowns, the data and how to train.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Short name, used for the run directory.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// Space and time, in the order of files and plots.
    pub coordinates: Vec<Coordinate>,
    /// Named numbers.
    pub constants: Vec<Constant>,
    /// Known functions of coordinates by their values on grids: images.
    pub given: Vec<GivenField>,
    /// The scalar parameters theta to be inferred.
    pub unknowns: Vec<Unknown>,
    /// The functions to be inferred.
    pub functions: Vec<UnknownFunction>,
    /// What follows from the unknowns and is told with them.
    pub derived: Vec<Derived>,
    /// What networks see beside the coordinates.
    pub inputs: Vec<Input>,
    /// What the PDE is about; several states make a system.
    pub states: Vec<State>,
    /// Residuals that must vanish: the PDE itself and conditions that no form holds.
    pub equations: Vec<Equation>,
    /// Conditions as they were stated, those that forms hold and those that are equations.
    pub conditions: Vec<Condition>,
    /// The data.
    pub observations: Vec<Observation>,
    /// What is drawn of the result.
    pub pictures: Vec<Picture>,
    /// What stands for the solution as a function of coordinates and unknowns.
    pub operator: OperatorChoice,
    /// The network behind the local operator, if it is one.
    pub network: NetworkChoice,
    /// How to train it.
    pub training: Training,
    /// How the reference solver solves.
    pub classical: Classical,
    /// How posteriors are sampled.
    pub sampling: SampleOptions,
    /// What neural operators learn from, and how.
    pub learning: Learning,
    /// Where the audit holds the local operator against the classical solution, beside the guess.
    pub neighbours: Vec<Neighbour>,
    /// What was noticed in the statement and may be meant so.
    pub remarks: Vec<String>,
}

impl Problem {
    /// The problem with its unknowns moved as themselves, so that formulas are in terms of what was stated.
    pub fn with_unknowns_as_stated(&self) -> Problem {
        let mut stated = self.clone();
        for unknown in &mut stated.unknowns {
            (unknown.scale, unknown.transform) = (1.0, Transform::Identity);
        }
        stated
    }

    /// Whether something is known of an unknown number before the data.
    pub fn has_priors_of_numbers(&self) -> bool {
        self.unknowns.iter().any(|unknown| unknown.prior.is_some())
    }

    /// Whether something is known of an unknown before the data, as a density: then the loss is a log-likelihood.
    pub fn has_priors(&self) -> bool {
        let field = |function: &UnknownFunction| {
            matches!(function.regulariser, Some(Regulariser { kind: RegulariserKind::Field(_), .. }))
        };
        self.has_priors_of_numbers() || self.functions.iter().any(field)
    }

    /// The variables eta of the scalars at their guesses.
    pub fn eta_of_guess(&self) -> Vec<f64> {
        self.unknowns.iter().map(|unknown| unknown.eta_of(unknown.guess)).collect()
    }

    /// The names of the scalars.
    pub fn unknown_names(&self) -> Vec<String> {
        self.unknowns.iter().map(|unknown| unknown.name.clone()).collect()
    }

    /// The values of the scalars at some variables; coefficients of functions after these are left out.
    pub fn thetas(&self, eta: &[f64]) -> Vec<f64> {
        self.unknowns.iter().zip(eta).map(|(unknown, &eta)| unknown.theta_of(eta)).collect()
    }

    /// The variables eta of the scalars at their truths, if all have one.
    pub fn eta_of_truth(&self) -> Option<Vec<f64>> {
        self.unknowns.iter().map(|unknown| Some(unknown.eta_of(unknown.truth?))).collect()
    }
}
