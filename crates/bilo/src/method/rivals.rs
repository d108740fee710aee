//! Networks that stand for one solution, with no local operator.

use super::networks::{RunContext, conclude};
use super::{Job, trained};
use bilo_assess::outcome::Outcome;
use bilo_fit::observer::Observer;
use bilo_jet::Precision;
use bilo_problem::diagnostic::{Diagnostic, Result};
use bilo_problem::{Problem, WeightOptimiser};
use bilo_reference::data::observed_tables;
use bilo_reference::solver::ReferenceSolver;
use std::time::Instant;

/// A physics-informed network (PINN; Raissi, Perdikaris & Karniadakis 2019): residuals and data pull at the same weights,
/// and the unknowns move down the residuals.
pub(super) fn pinn(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    train(problem, job, observer)
}

/// The bi-level PINN of Hao et al. (2023): the unknowns move along the gradient through the trained state.
pub(super) fn bpn(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    let mut problem = problem.clone();
    // Second derivatives are differences of gradients, of which single precision leaves nothing.
    problem.training.precision = Precision::F64;
    train(&problem, job, observer)
}

fn train(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    if problem.training.optimiser == WeightOptimiser::Lm {
        let message =
            format!("`lm` solves for local operators; the networks of {} are trained", job.method.name());
        let help = "write `optimiser = \"adam\"` or `\"soap\"` in [train]";
        return Err(Diagnostic::new(message, Default::default()).help(help).into());
    }
    let began = Instant::now();
    let tables = observed_tables(problem, job.seed)?;
    let reference = ReferenceSolver::new(problem).map_err(|error| error.headline());
    let scene = RunContext { problem, job, tables: &tables, reference: &reference, began, why: None };
    let found = trained::train(&scene, observer)?;
    conclude(&scene, found)
}
