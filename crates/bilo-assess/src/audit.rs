//! The audit of a local operator: whether the gradient that moved the unknowns is the one of the exact
//! PDE. BiLO is right if its operator knows how the solution moves with the unknowns, and nothing
//! in its own losses proves that.

pub(crate) mod functions;
pub mod near;

use bilo_fit::data_loss::DataLoss;
use bilo_fit::sensitivities::{Sensitivities, columns, values};
use bilo_problem::diagnostic::Result;
use bilo_problem::sites::Sites;

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

/// d L_data/d eta at fixed W against the derivative under the exact PDE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Audit {
    /// Where: `"guess"` (after pre-training) or `"estimate"`.
    pub at: &'static str,
    /// Cosine of the angle between the two gradients.
    pub cosine: f64,
    /// |network - classical| / |classical|.
    pub relative_error: f64,
    /// Whether the classical gradient is smaller than what the (small) distance of the operator's values
    /// from the classical ones can make, or as good as zero: then its direction says nothing about the operator.
    pub below_noise: bool,
}

impl Audit {
    /// Compares the gradient of the upper level with the one of the classical solution.
    pub fn new(
        at: &'static str,
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
    pub fn of_functions(at: &'static str, gradient: &[f64], exact: &[f64]) -> Self {
        let size = norm(exact);
        Self {
            at,
            cosine: dot(gradient, exact) / (norm(gradient) * size),
            relative_error: norm(&difference(gradient, exact)) / size,
            below_noise: false,
        }
    }

    /// A sentence if an operator of this kind is not to be trusted.
    pub fn warning(&self, kind: &str) -> Option<String> {
        // What is not a number is not fine either.
        let fine = self.cosine >= COSINE && self.relative_error <= RELATIVE_ERROR;
        if fine || self.below_noise {
            return None;
        }
        let remedy = match kind {
            "dictionary" => "more functions (operator.modes, operator.enrich)",
            _ => "more pre-training (train.pretrain-steps) or a larger train.rgrad-weight",
        };
        Some(format!(
            "the {kind} does not know how the solution moves with the unknowns: at the {} its gradient has \
             cosine {:.3} and relative error {:.1e} against the classical one, so do not trust the unknowns; \
             try {remedy}",
            self.at, self.cosine, self.relative_error
        ))
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
