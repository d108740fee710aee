//! The data loss as a function of the unknowns, the PDE solved by a local operator.

use super::corrector::{Corrector, LowerStep, Options};
use super::penalty::Penalty;
use crate::level::Lower;
use crate::observed::network_observed;
use crate::operator::LocalOperator;
use crate::state::OperatorState;
use bilo_fit::data_loss::{DataLoss, LossTerms};
use bilo_fit::gauss_newton::{Evaluated, ReducedProblem};
use bilo_fit::monitor::Interrupt;
use bilo_fit::parallel;
use bilo_fit::sensitivities::{Sensitivities, values};
use bilo_jet::Device;
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use bilo_problem::{Problem, Unknown};

/// Solves the lower level wherever the search goes.
pub struct LocalSolver<'a> {
    pub(crate) data: DataLoss<'a>,
    /// The operator whose weights are solved for.
    pub operator: &'a mut LocalOperator,
    /// What computes residuals and their derivatives.
    pub device: &'a mut dyn Device,
    pub(crate) lower: &'a Lower,
    /// Newton's method for the weights.
    pub corrector: Corrector,
    penalties: Vec<Penalty>,
}

/// Weights of which nothing is known yet, at the guess: what is left of the residuals is relative to these.
#[derive(Clone, Copy)]
pub struct ReferenceScale<'a> {
    /// The weights before anything is solved.
    pub weights: &'a [f64],
    /// The variables of the guess.
    pub eta: &'a [f64],
}

/// The local operator at some value of the unknowns, and what the data make of it.
#[derive(Clone)]
pub struct LocalEvaluation {
    /// Weights and unknowns, and how the weights move with the unknowns.
    pub point: OperatorState,
    /// Σ_e weight_e L_res,e and the same of the residual gradient.
    pub lower_losses: [f64; 2],
    /// The observed values, then what priors and regularisers see.
    observed: Vec<Sensitivities>,
    /// How many observations there are.
    observations: usize,
    loss_terms: LossTerms,
}

impl<'a> LocalSolver<'a> {
    /// Prepares to solve for the weights of an operator, measuring its residuals by their size at the scale.
    pub fn new(
        data: DataLoss<'a>,
        operator: &'a mut LocalOperator,
        device: &'a mut dyn Device,
        lower: &'a Lower,
        rules: Options,
        untouched: ReferenceScale<'_>,
    ) -> Result<Self> {
        let penalties = Penalty::all(data.problem(), operator)?;
        let size = lower.rows(device, untouched.weights, untouched.eta)?.loss().sqrt();
        Ok(Self { data, operator, device, lower, corrector: Corrector::new(rules, size), penalties })
    }

    /// Ends a solve with an error when the interrupt is due.
    pub fn interruptible(mut self, interrupt: &Interrupt) -> Self {
        self.corrector.interrupt = interrupt.clone();
        self
    }

    /// On so many threads, or on all cores.
    pub fn on_threads(mut self, threads: Option<usize>) -> Self {
        self.corrector.threads = parallel::threads(threads);
        self
    }

    /// Measures residuals by the size that another solver does.
    pub fn measured_as(mut self, other: &LocalSolver<'_>) -> Self {
        self.corrector.measure_as(&other.corrector);
        self
    }

    fn problem(&self) -> &'a Problem {
        self.data.problem()
    }

    /// Names of the terms of the loss.
    pub fn names(&self) -> Vec<String> {
        let regularisers = self.penalties.iter().map(|penalty| penalty.name.clone());
        self.data.names().into_iter().chain(regularisers).collect()
    }

    /// Solves at some unknowns from predicted weights.
    pub fn solve(
        &mut self,
        weights: Vec<f64>,
        eta: &[f64],
        watch: &mut dyn FnMut(LowerStep) -> bool,
    ) -> Result<LocalEvaluation> {
        let corrected = self.corrector.correct(self.lower, self.device, weights, eta, watch)?;
        if !corrected.converged {
            return Err(Error::new(ErrorKind::Solver, "the lower level does not converge"));
        }
        let point = OperatorState { weights: corrected.weights, eta: eta.to_vec(), slopes: corrected.slopes };
        let sites = self.data.sites(&eta[..self.problem().unknowns.len()])?;
        let mut observed = network_observed(&self.data, &sites, self.operator, self.device, &point)?;
        let mut loss_terms = self.data.terms(&sites, &values(&observed))?;
        self.data.add_priors(&mut loss_terms, eta)?;
        let observations = observed.len();
        observed.extend(self.data.prior_values(eta));
        for penalty in &self.penalties {
            let mut term = 0.0;
            for (value, found) in penalty.at(self.operator, self.device, &point)? {
                term += found.term;
                loss_terms
                    .by_values
                    .push(found.by_values.iter().map(|slope| penalty.weight * slope).collect());
                let roots = found.curvature.iter().map(|curvature| (penalty.weight * curvature / 2.0).sqrt());
                loss_terms.roots.extend(roots);
                observed.push(value);
            }
            loss_terms.terms.push(term);
            loss_terms.loss += penalty.weight * term;
            loss_terms.size += penalty.weight * term;
        }
        if !loss_terms.loss.is_finite() {
            return Err(Error::new(ErrorKind::Solver, "an observed value is not finite"));
        }
        let lower_losses = [corrected.loss, corrected.gradient_loss];
        Ok(LocalEvaluation { point, lower_losses, observed, observations, loss_terms })
    }
}

impl ReducedProblem for LocalSolver<'_> {
    type Evaluation = LocalEvaluation;

    fn unknowns(&self) -> &[Unknown] {
        &self.problem().unknowns
    }

    /// Predicts the weights by their slopes, and corrects them.
    fn evaluate(&mut self, near: &LocalEvaluation, eta: &[f64]) -> Result<LocalEvaluation> {
        let mut weights = near.point.weights.clone();
        for ((slope, new), old) in near.point.slopes.iter().zip(eta).zip(&near.point.eta) {
            weights.iter_mut().zip(slope).for_each(|(weight, slope)| *weight += (new - old) * slope);
        }
        self.solve(weights, eta, &mut |_| true)
    }

    fn observed(&mut self, evaluation: &LocalEvaluation) -> Result<Vec<Sensitivities>> {
        Ok(evaluation.observed.clone())
    }
}

impl Evaluated for LocalEvaluation {
    fn eta(&self) -> &[f64] {
        &self.point.eta
    }

    fn loss_terms(&self) -> &LossTerms {
        &self.loss_terms
    }

    fn values(&self) -> Vec<Vec<f64>> {
        values(&self.observed[..self.observations])
    }

    fn lower_losses(&self) -> &[f64] {
        &self.lower_losses
    }
}
