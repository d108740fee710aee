//! What may stand for the solution, where its weights are solved for.

use bilo_assess::RunContext;
use bilo_jet::{Device, Precision, cpu};
use bilo_operator::implicit::Options;
use bilo_operator::level::Lower;
use bilo_operator::operator::{LocalOperator, Size};
use bilo_problem::diagnostic::Result;
use bilo_problem::{OperatorKind, Problem};

/// A network begins at no more points than this. Fewer rows than weights make a step of Levenberg-Marquardt cost
/// the square of their number.
const FIRST_POINTS: usize = 700;

/// From all points to fewer: the cube of the golden ratio, which fits no grid, so that what is left of a grid is
/// spread over it.
const STRIDE: f64 = 4.236_067_977_499_79;

/// A local operator, small or large.
#[derive(Clone, Debug)]
pub(super) enum Discretisation {
    /// Linear combinations of features.
    Dictionary(Size),
    /// A network with the unknowns among its inputs, at every so many of the points.
    Network(f64),
}

impl Discretisation {
    /// Those to be tried, each larger than the one before.
    pub(super) fn ladder(problem: &Problem, seed: u64) -> Result<Vec<Discretisation>> {
        Ok(match problem.operator.kind {
            OperatorKind::Network => {
                let mut most = 0;
                for equation in &problem.equations {
                    most = most.max(equation.points.drawn(problem, seed, 0)?.len());
                }
                let mut strides = vec![1.0];
                while most as f64 / strides[0] > FIRST_POINTS as f64 {
                    strides.insert(0, strides[0] * STRIDE);
                }
                strides.into_iter().map(Discretisation::Network).collect()
            }
            OperatorKind::Dictionary | OperatorKind::Automatic => {
                Size::ladder(problem).into_iter().map(Discretisation::Dictionary).collect()
            }
        })
    }

    /// What solves for it. A dictionary is solved for on the CPU, sooner than a GPU is ready to.
    pub(super) fn device(&self, run: &RunContext<'_>) -> Result<Box<dyn Device>> {
        match self {
            Discretisation::Dictionary(_) => Ok(cpu(Precision::F64, run.threads)),
            Discretisation::Network(_) => run.hardware.device(Precision::F64, run.threads),
        }
    }

    pub(super) fn operator(&self, problem: &Problem, seed: u64) -> Result<LocalOperator> {
        match self {
            Discretisation::Dictionary(size) => LocalOperator::dictionary(problem, size, seed),
            Discretisation::Network(_) => LocalOperator::new(problem, seed),
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
            Discretisation::Dictionary(size) => Lower::clustered(problem, operator, device, size, seed),
            &Discretisation::Network(stride) => Lower::thinned(problem, operator, device, stride, seed),
        }
    }

    pub(super) fn rules(&self, problem: &Problem) -> Options {
        match self {
            Discretisation::Dictionary(_) => Options::dictionary(),
            Discretisation::Network(_) => Options::network(problem.training.pretrain_steps),
        }
    }

    pub(super) fn first_weights(&self, operator: &LocalOperator, seed: u64) -> Vec<f64> {
        match self {
            Discretisation::Dictionary(_) => operator.unit_weights(),
            Discretisation::Network(_) => operator.initial_weights(seed),
        }
    }

    pub(super) fn in_words(&self, operator: &LocalOperator) -> String {
        match self {
            Discretisation::Dictionary(size) => format!("dictionary of {} features", size.features()),
            Discretisation::Network(stride) => {
                let part = if *stride > 1.0 { format!(" at 1 of {stride:.0} points") } else { String::new() };
                format!("network of {} weights{part}", operator.operator.weights())
            }
        }
    }

    /// The weights of the same solution on the next discretisation.
    pub(super) fn prolonged(
        &self,
        next: &LocalOperator,
        operator: &LocalOperator,
        weights: &[f64],
    ) -> Vec<f64> {
        match self {
            Discretisation::Dictionary(_) => next.prolonged(operator, weights),
            Discretisation::Network(_) => weights.to_vec(),
        }
    }

    /// Whether its operator is that of all discretisations.
    pub(super) fn is_network(&self) -> bool {
        matches!(self, Discretisation::Network(_))
    }
}
