//! Methods that solve an inverse problem, one file each.

mod adjoint;
mod bilo;
mod learned;
mod networks;
mod rivals;
mod trained;

use bilo_assess::outcome::Outcome;
use bilo_fit::checkpoint::Checkpoint;
use bilo_fit::observer::Observer;
use bilo_operator::hardware::Hardware;
use bilo_problem::Problem;
use bilo_problem::diagnostic::Result;
use std::str::FromStr;
use std::sync::Arc;

/// A method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Bilevel local operator learning.
    #[default]
    Bilo,
    /// The minimum of the same data loss under the exact PDE, by the reference solver.
    Adjoint,
    /// A physics-informed network: equation and data in one loss.
    Pinn,
    /// Bi-level physics-informed network: a network for the state alone, and the gradient through it by an inverse
    /// Hessian.
    Bpn,
    /// A DeepONet that learned examples, and descent through it.
    DeepOnet,
    /// The same with a Fourier neural operator.
    Fno,
}

impl Method {
    /// The names of all methods.
    pub fn names() -> &'static [&'static str] {
        &["bilo", "adjoint", "pinn", "bpn", "deeponet", "fno"]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Bilo => "bilo",
            Method::Adjoint => "adjoint",
            Method::Pinn => "pinn",
            Method::Bpn => "bpn",
            Method::DeepOnet => "deeponet",
            Method::Fno => "fno",
        }
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        match name {
            "bilo" => Ok(Method::Bilo),
            "adjoint" => Ok(Method::Adjoint),
            "pinn" => Ok(Method::Pinn),
            "bpn" => Ok(Method::Bpn),
            "deeponet" => Ok(Method::DeepOnet),
            "fno" => Ok(Method::Fno),
            _ => Err(format!("there is no method `{name}`; the methods are: {}", Method::names().join(", "))),
        }
    }
}

/// What a run needs beside the problem.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Fixes every random number.
    pub seed: u64,
    /// Threads; all cores if none is given. The result does not depend on it.
    pub threads: Option<usize>,
    /// The method.
    pub method: Method,
    /// What trains networks.
    pub hardware: Hardware,
    /// Where an earlier run of the same problem, method and seed came to.
    pub from: Option<Arc<Checkpoint>>,
}

/// Solves an inverse problem.
pub fn run(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    job.hardware.require()?;
    match job.method {
        Method::Bilo => bilo::run(problem, job, observer),
        Method::Adjoint => adjoint::run(problem, job, observer),
        Method::Pinn => rivals::pinn(problem, job, observer),
        Method::Bpn => rivals::bpn(problem, job, observer),
        Method::DeepOnet | Method::Fno => learned::run(problem, job, observer),
    }
}
