//! What may stand for the solution, where its weights are solved for.

use crate::diagnostic::Result;
use crate::implicit::Rules;
use crate::level::Lower;
use crate::operator::{LocalOperator, Size};
use crate::problem::{OperatorKind, Problem};
use bilo_jet::Device;

/// A local operator, small or large.
#[derive(Clone, Debug)]
pub(super) enum Rung {
    /// Linear combinations of features.
    Dictionary(Size),
    /// A network with the unknowns among its inputs.
    Network,
}

impl Rung {
    /// Those to be tried, each larger than the one before.
    pub(super) fn ladder(problem: &Problem) -> Vec<Rung> {
        match problem.operator.kind {
            OperatorKind::Network => vec![Rung::Network],
            OperatorKind::Dictionary | OperatorKind::Automatic => {
                Size::ladder(problem).into_iter().map(Rung::Dictionary).collect()
            }
        }
    }

    pub(super) fn operator(&self, problem: &Problem, seed: u64) -> Result<LocalOperator> {
        match self {
            Rung::Dictionary(size) => LocalOperator::dictionary(problem, size, seed),
            Rung::Network => LocalOperator::new(problem, seed),
        }
    }

    pub(super) fn lower(
        &self,
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        seed: u64,
    ) -> Result<Lower> {
        match self {
            Rung::Dictionary(size) => Lower::clustered(problem, operator, device, size, seed),
            Rung::Network => Lower::new(problem, operator, device, seed),
        }
    }

    pub(super) fn rules(&self, problem: &Problem) -> Rules {
        match self {
            Rung::Dictionary(_) => Rules::dictionary(),
            Rung::Network => Rules::network(problem.training.pretrain_steps),
        }
    }

    pub(super) fn first_weights(&self, operator: &LocalOperator, seed: u64) -> Vec<f64> {
        match self {
            Rung::Dictionary(_) => operator.unit_weights(),
            Rung::Network => operator.initial_weights(seed),
        }
    }

    pub(super) fn in_words(&self, operator: &LocalOperator) -> String {
        match self {
            Rung::Dictionary(size) => format!("dictionary of {} features", size.features()),
            Rung::Network => format!("network of {} weights", operator.operator.weights()),
        }
    }
}
