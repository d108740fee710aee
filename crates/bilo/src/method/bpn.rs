//! Bi-level physics-informed networks.

use super::{Method, trained};
use bilo_assess::{Estimate, RunContext};
use bilo_fit::monitor::Monitor;
use bilo_jet::Precision;
use bilo_problem::diagnostic::Result;

/// The bi-level PINN of Hao et al. (2023): a network for the state alone, and the unknowns move along the gradient through
/// it by an inverse Hessian.
pub struct Bpn;

impl Method for Bpn {
    fn name(&self) -> &'static str {
        "bpn"
    }

    fn about(&self) -> &'static str {
        "train a physics-informed network whose unknowns move through an inverse Hessian"
    }

    fn solve<'a>(&self, run: &RunContext<'a>, monitor: &mut Monitor<'_>) -> Result<Estimate<'a>> {
        let mut problem = run.problem.clone();
        // Second derivatives are differences of gradients, of which single precision leaves nothing.
        problem.training.precision = Precision::F64;
        trained::require_training(&run.with(&problem))?;
        let estimate = trained::train(&run.with(&problem), trained::Scheme::Nested, None, monitor)?;
        Ok(Estimate { problem: Some(problem), ..estimate })
    }
}
