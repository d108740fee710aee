//! The audit of a local operator: whether the gradient that moved the unknowns is the one of the exact
//! PDE. BiLO is right if its operator knows how the solution moves with the unknowns, and nothing
//! in its own losses proves that.

pub(crate) mod functions;
pub mod near;

use crate::outcome::{At, Audit, Kind};
use bilo_fit::data_loss::DataLoss;
use bilo_fit::sensitivities::{Sensitivities, columns, values};
use bilo_jet::Device;
use bilo_operator::function_values::theta;
use bilo_operator::level::Upper;
use bilo_operator::observed::network_observed;
use bilo_operator::operator::LocalOperator;
use bilo_operator::state::OperatorState;
use bilo_problem::GradientMode;
use bilo_problem::diagnostic::Result;
use bilo_problem::sites::Sites;
use bilo_problem::theta::Theta;
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use bilo_reference::solver::ReferenceSolver;
use functions::{by_coefficients, by_variables, network_by_shifts, pointwise_gradient};

/// Smallest cosine of an operator that can be trusted.
const COSINE: f64 = 0.9;

/// Largest relative error of a gradient that can be trusted: about the sine of that angle, for problems
/// with one unknown, whose cosine is a sign.
const RELATIVE_ERROR: f64 = 0.5;

/// A network whose values are further than this from the classical ones, relative to them, is no solution,
/// and a small gradient is no excuse for it.
const NEAR: f64 = 0.05;

/// A gradient that promises to lower the loss by no more than this part of its size is zero: the search ended.
const GAIN: f64 = 1e-8;

impl Audit {
    /// Compares the gradient of the upper level with the one of the classical solution.
    pub fn new(
        at: At,
        data: &DataLoss<'_>,
        sites: &[Sites],
        gradient: &[f64],
        network: &[Sensitivities],
        classical: &[Sensitivities],
    ) -> Result<Self> {
        let (theirs, ours) = (values(network).concat(), values(classical).concat());
        let loss_terms = |observed: &[Sensitivities]| data.terms(sites, &values(observed));
        let (by_theirs, by_ours) = (loss_terms(network)?, loss_terms(classical)?);
        let columns = columns(classical);
        let exact = by_ours.gradient(&columns);
        // How far the gradient moves with the values' distance, entry by entry, is at most this.
        let distance = norm(&difference(&by_theirs.by_values.concat(), &by_ours.by_values.concat()));
        let noise: Vec<f64> = columns.iter().map(|column| norm(column) * distance).collect();
        // What each unknown can gain alone, (g/2)²/curvature.
        let curvature = |column: &Vec<f64>| -> f64 {
            column.iter().zip(&by_ours.roots).map(|(slope, root)| (slope * root).powi(2)).sum()
        };
        let gain: f64 = exact.iter().zip(&columns).map(|(g, column)| g * g / 4.0 / curvature(column)).sum();
        let (size, near) = (norm(&exact), norm(&difference(&theirs, &ours)) <= NEAR * norm(&ours));
        Ok(Self {
            at,
            cosine: dot(gradient, &exact) / (norm(gradient) * size),
            relative_error: norm(&difference(gradient, &exact)) / size,
            below_noise: (size <= norm(&noise) || gain <= GAIN * by_ours.size) && near,
        })
    }

    /// Compares two gradients by everything unknown.
    pub fn of_functions(at: At, gradient: &[f64], exact: &[f64]) -> Self {
        let size = norm(exact);
        Self {
            at,
            cosine: dot(gradient, exact) / (norm(gradient) * size),
            relative_error: norm(&difference(gradient, exact)) / size,
            below_noise: false,
        }
    }

    /// A sentence if an operator of this kind is not to be trusted.
    pub fn warning(&self, kind: Kind) -> Option<String> {
        // What is not a number is not fine either.
        let fine = self.cosine >= COSINE && self.relative_error <= RELATIVE_ERROR;
        if fine || self.below_noise {
            return None;
        }
        let remedy = match kind {
            Kind::Dictionary => "more functions (operator.modes, operator.enrich)",
            Kind::Network => "more pre-training (train.pretrain-steps) or a larger train.rgrad-weight",
        };
        Some(format!(
            "the {} does not know how the solution moves with the unknowns: at the {} its gradient has \
             cosine {:.3} and relative error {:.1e} against the classical one, so do not trust the unknowns; \
             try {remedy}",
            kind.name(),
            self.at.name(),
            self.cosine,
            self.relative_error
        ))
    }
}

/// The gradient that moved the unknowns.
#[derive(Clone, Copy)]
pub enum GradientSource<'a> {
    /// The gradient of the upper level at fixed weights.
    Upper(&'a Upper),
    /// The derivatives of the observed values.
    Slopes,
}

/// Compares a local operator with the reference solver.
pub struct Inspector<'a> {
    /// The data loss.
    pub data: DataLoss<'a>,
    /// The reference solver, or why there is none.
    pub reference: Result<&'a ReferenceSolver>,
    /// The gradient that moved the unknowns.
    pub source: GradientSource<'a>,
}

/// A local operator somewhere.
pub struct OperatorAt<'a> {
    /// The formulas.
    pub operator: &'a mut LocalOperator,
    /// What evaluates them.
    pub device: &'a mut dyn Device,
    /// The weights and the unknowns.
    pub state: &'a OperatorState,
}

impl<'a> Inspector<'a> {
    /// The data loss by the reference solver, or why there is none.
    pub fn loss(&self) -> Result<ReferenceLoss<'a>> {
        Ok(ReferenceLoss { data: self.data, reference: self.reference.clone()? })
    }

    /// The reference solution at some value of the unknowns, or why there is none.
    pub fn evaluate(&self, theta: &Theta) -> Result<Evaluation<'a>> {
        self.loss()?.evaluate(theta)
    }

    /// The reference solution at the guess with its derivatives by the scalars, or why there is none.
    pub fn evaluate_guess(&self) -> Result<Evaluation<'a>> {
        let evaluation = self.evaluate(&Theta::guess(self.data.problem())?)?;
        // The tangents stay with the solution.
        self.slopes(&evaluation)?;
        Ok(evaluation)
    }

    /// The observed quantities with their derivatives by the scalars, by the reference solver.
    pub fn slopes(&self, evaluation: &Evaluation<'_>) -> Result<Vec<Sensitivities>> {
        self.loss()?.slopes(evaluation)
    }

    /// The audit of an operator at the guess; the reason if the reference solver cannot solve there.
    pub fn audit_guess(&self, at: &mut OperatorAt<'_>) -> Result<Result<Audit>> {
        let theta = theta(self.data.problem(), at.operator, at.device, at.state)?;
        self.audit_at(self.evaluate(&theta), at)
    }

    /// The audit of an operator at the guess, where the reference solver has been.
    pub fn audit_at(
        &self,
        evaluation: Result<Evaluation<'_>>,
        at: &mut OperatorAt<'_>,
    ) -> Result<Result<Audit>> {
        let sites = self.data.sites(&at.state.eta)?;
        let network = network_observed(&self.data, &sites, at.operator, at.device, at.state)?;
        Ok(evaluation.and_then(|evaluation| self.audit(At::Guess, at, &network, &evaluation)))
    }

    /// The gradient that moved the unknowns against the one by the reference solver.
    pub(crate) fn audit(
        &self,
        place: At,
        at: &mut OperatorAt<'_>,
        network: &[Sensitivities],
        evaluation: &Evaluation<'_>,
    ) -> Result<Audit> {
        let ours = self.gradient(at, network, &evaluation.sites)?;
        if self.data.problem().functions.is_empty() {
            let classical = self.slopes(evaluation)?;
            return Audit::new(place, &self.data, &evaluation.sites, &ours, network, &classical);
        }
        let (problem, exact) = (self.data.problem(), self.loss()?.gradient(evaluation)?);
        let by_net = |gradient: &Theta| by_variables(problem, &evaluation.theta, gradient);
        if problem.training.gradient == GradientMode::Exact {
            let by_net = by_net(&exact)?;
            return Ok(Audit::of_functions(place, &ours, &by_coefficients(problem, at.operator, &by_net)));
        }
        let shifts = network_by_shifts(&self.data, &evaluation.sites, at.operator, at.device, at.state)?;
        let mut pointwise = Theta { eta: ours, ..evaluation.theta.zeros() };
        pointwise.add(&pointwise_gradient(&self.data, &evaluation.sites, &values(network), &shifts)?);
        Ok(Audit::of_functions(place, &by_net(&pointwise)?, &by_net(&exact)?))
    }

    /// The derivatives of the data loss by all variables that moved the unknowns.
    fn gradient(
        &self,
        at: &mut OperatorAt<'_>,
        network: &[Sensitivities],
        sites: &[Sites],
    ) -> Result<Vec<f64>> {
        let GradientSource::Upper(upper) = self.source else {
            return Ok(self.data.terms(sites, &values(network))?.gradient(&columns(network)));
        };
        upper.move_places(self.data.problem(), at.device, &at.state.eta)?;
        Ok(upper.data_loss(at.device, &at.state.weights, &at.state.eta)?.by_eta)
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
