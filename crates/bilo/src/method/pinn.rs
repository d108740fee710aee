//! Physics-informed networks.

use super::{Method, trained};
use bilo_assess::{Estimate, RunContext};
use bilo_fit::monitor::Monitor;
use bilo_problem::diagnostic::Result;

/// A physics-informed network (PINN; Raissi, Perdikaris & Karniadakis 2019): residuals and data pull at the same weights,
/// and the unknowns move down the residuals.
pub struct Pinn;

impl Method for Pinn {
    fn name(&self) -> &'static str {
        "pinn"
    }

    fn about(&self) -> &'static str {
        "train a physics-informed network, with equation and data in one loss"
    }

    fn solve<'a>(&self, run: &RunContext<'a>, monitor: &mut Monitor<'_>) -> Result<Estimate<'a>> {
        trained::require_training(run)?;
        trained::train(run, trained::Scheme::Joint, None, monitor)
    }
}
