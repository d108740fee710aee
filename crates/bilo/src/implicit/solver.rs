//! The data loss as a function of the unknowns, the PDE solved by a local operator.

use super::corrector::{Corrector, LowerStep, Rules};
use super::penalty::Penalty;
use crate::audit::{network_observed, values};
use crate::diagnostic::{Diagnostic, Result};
use crate::level::Lower;
use crate::misfit::{DataLoss, Judged};
use crate::operator::LocalOperator;
use crate::optimum::{Judgeable, Landscape};
use crate::problem::{Problem, Unknown};
use crate::train::Point;
use crate::twin::WithSlopes;
use bilo_jet::Device;

/// Solves the lower level wherever the search goes.
pub(crate) struct LocalSolver<'a> {
    pub(crate) data: DataLoss<'a>,
    pub(crate) operator: &'a mut LocalOperator,
    pub(crate) device: &'a mut dyn Device,
    pub(crate) lower: &'a Lower,
    pub(crate) corrector: Corrector,
    penalties: Vec<Penalty>,
}

/// Weights of which nothing is known yet, at the guess: what is left of the residuals is relative to these.
#[derive(Clone, Copy)]
pub(crate) struct Untouched<'a> {
    pub(crate) weights: &'a [f64],
    pub(crate) eta: &'a [f64],
}

/// The local operator at some value of the unknowns, and what the data make of it.
#[derive(Clone)]
pub(crate) struct LocalVisit {
    /// Weights and unknowns, and how the weights move with the unknowns.
    pub(crate) point: Point,
    /// Σ_e weight_e L_res,e and the same of the residual gradient.
    pub(crate) lower_losses: [f64; 2],
    observed: Vec<WithSlopes>,
    judged: Judged,
}

impl<'a> LocalSolver<'a> {
    pub(crate) fn new(
        data: DataLoss<'a>,
        operator: &'a mut LocalOperator,
        device: &'a mut dyn Device,
        lower: &'a Lower,
        rules: Rules,
        untouched: Untouched<'_>,
    ) -> Result<Self> {
        let penalties = Penalty::all(data.problem(), operator)?;
        let size = lower.rows(device, untouched.weights, untouched.eta)?.loss().sqrt();
        Ok(Self { data, operator, device, lower, corrector: Corrector::new(rules, size), penalties })
    }

    fn problem(&self) -> &'a Problem {
        self.data.problem()
    }

    /// Names of the terms of the loss.
    pub(crate) fn names(&self) -> Vec<String> {
        let regularisers = self.penalties.iter().map(|penalty| penalty.name.clone());
        self.data.names().into_iter().chain(regularisers).collect()
    }

    /// Solves at some unknowns from predicted weights.
    pub(crate) fn solve(
        &mut self,
        weights: Vec<f64>,
        eta: &[f64],
        watch: &mut dyn FnMut(LowerStep) -> bool,
    ) -> Result<LocalVisit> {
        let corrected = self.corrector.correct(self.lower, self.device, weights, eta, watch)?;
        if !corrected.converged {
            let message = "the lower level does not converge";
            return Err(Diagnostic::new(message, Default::default()).into());
        }
        let point = Point { weights: corrected.weights, eta: eta.to_vec(), slopes: corrected.slopes };
        let sites = self.data.sites(&eta[..self.problem().unknowns.len()])?;
        let mut observed = network_observed(&self.data, &sites, self.operator, self.device, &point)?;
        let mut judged = self.data.judge(&sites, &values(&observed))?;
        for penalty in &self.penalties {
            let mut term = 0.0;
            for (value, found) in penalty.at(self.operator, self.device, &point)? {
                term += found.term;
                judged.by_values.push(found.by_values.iter().map(|slope| penalty.weight * slope).collect());
                let roots = found.curvature.iter().map(|curvature| (penalty.weight * curvature / 2.0).sqrt());
                judged.roots.extend(roots);
                observed.push(value);
            }
            judged.terms.push(term);
            judged.loss += penalty.weight * term;
            judged.size += penalty.weight * term;
        }
        if !judged.loss.is_finite() {
            return Err(Diagnostic::new("an observed value is not finite", Default::default()).into());
        }
        let lower_losses = [corrected.loss, corrected.gradient_loss];
        Ok(LocalVisit { point, lower_losses, observed, judged })
    }
}

impl Landscape for LocalSolver<'_> {
    type Visit = LocalVisit;

    fn unknowns(&self) -> &[Unknown] {
        &self.problem().unknowns
    }

    /// Predicts the weights by their slopes, and corrects them.
    fn visit(&mut self, near: &LocalVisit, eta: &[f64]) -> Result<LocalVisit> {
        let mut weights = near.point.weights.clone();
        for ((slope, new), old) in near.point.slopes.iter().zip(eta).zip(&near.point.eta) {
            weights.iter_mut().zip(slope).for_each(|(weight, slope)| *weight += (new - old) * slope);
        }
        self.solve(weights, eta, &mut |_| true)
    }

    fn observed(&mut self, visit: &LocalVisit) -> Result<Vec<WithSlopes>> {
        Ok(visit.observed.clone())
    }
}

impl Judgeable for LocalVisit {
    fn eta(&self) -> &[f64] {
        &self.point.eta
    }

    fn judged(&self) -> &Judged {
        &self.judged
    }

    fn lower_losses(&self) -> &[f64] {
        &self.lower_losses
    }
}
