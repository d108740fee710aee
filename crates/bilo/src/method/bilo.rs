//! BiLO: find a local operator, and move the unknowns through it.

mod anchored;
mod discretisation;
mod refinement;

pub(crate) use anchored::DictionarySource;

use super::{Method, trained};
use bilo_assess::{Estimate, RunContext};
use bilo_fit::monitor::Monitor;
use bilo_problem::diagnostic::Result;
use bilo_problem::{OperatorKind, WeightOptimiser};
use refinement::Effort;

/// Bilevel local operator learning.
pub struct Bilo;

impl Method for Bilo {
    fn name(&self) -> &'static str {
        "bilo"
    }

    fn about(&self) -> &'static str {
        "find a local operator, and move the unknowns through it"
    }

    fn solve<'a>(&self, run: &RunContext<'a>, monitor: &mut Monitor<'_>) -> Result<Estimate<'a>> {
        // What has been trained already was decided on before.
        if let Some(from) = run.from {
            return networks(run, from.why.as_deref(), monitor);
        }
        let levenberg_marquardt = run.problem.training.optimiser == WeightOptimiser::Lm;
        match run.problem.operator.kind {
            OperatorKind::Network if !levenberg_marquardt => networks(run, None, monitor),
            OperatorKind::Network | OperatorKind::Dictionary => {
                let found = refinement::solve(run, monitor, Effort::Forced)?;
                found.map_err(|reason| refinement::does_not_converge(run.problem, &reason))
            }
            OperatorKind::Automatic => {
                let found = with_dictionary(run, monitor, f64::INFINITY)?;
                found.or_else(|reason| networks(run, Some(&reason), monitor))
            }
        }
    }
}

/// A dictionary in which the solution converges at no more than so many operations, or why there is none.
pub(super) fn with_dictionary<'a>(
    run: &RunContext<'a>,
    monitor: &mut Monitor<'_>,
    allowance: f64,
) -> Result<std::result::Result<Estimate<'a>, String>> {
    match refinement::suits(run.problem) {
        Ok(()) => refinement::solve(run, monitor, Effort::Within(allowance)),
        Err(reason) => Ok(Err(reason)),
    }
}

/// A trained network, with the reason for it if it took one.
pub(super) fn networks<'a>(
    run: &RunContext<'a>,
    why: Option<&str>,
    monitor: &mut Monitor<'_>,
) -> Result<Estimate<'a>> {
    if let Some(reason) = why.filter(|_| run.from.is_none()) {
        monitor.note(&format!("a network, not a dictionary: {reason}"));
    }
    trained::train(run, trained::Scheme::Bilevel, why, monitor)
}
