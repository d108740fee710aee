//! The evidence of a model, the density of its data averaged over its priors, by Laplace's method about the estimate:
//!
//! log p(data) = log L + log p(θ) + d/2 log 2π + ½ log det C,
//!
//! with L the likelihood, p the priors' density within the bounds, and C the covariance of the d unknowns. A noise level σ
//! that is estimated has the density 1/σ: all models of the same data share it, so that its scale does not matter.

use crate::outcome::{Noise, Outcome, ScalarOutcome};
use bilo_fit::joint_likelihood::JointLikelihood;
use bilo_problem::{Prior, Problem};
use faer::linalg::solvers::Llt;
use faer::{Mat, Side};
use statrs::distribution::{
    Beta, Cauchy, Continuous, ContinuousCDF, Exp, Gamma, InverseGamma, LogNormal, Normal, Uniform,
};
use statrs::function::gamma::ln_gamma;
use std::f64::consts::{LN_2, TAU};

/// Writes the evidence into the outcome; nothing where a prior is missing, or where bounds cut the density off within a standard
/// deviation of the estimate.
pub(crate) fn add(outcome: &mut Outcome, problem: &Problem, joint: &JointLikelihood) {
    if problem.functions.is_empty() {
        outcome.log_evidence = log_evidence(outcome, problem, joint);
    }
}

fn log_evidence(outcome: &Outcome, problem: &Problem, joint: &JointLikelihood) -> Option<f64> {
    let numbers = &outcome.unknowns.numbers;
    let priors = problem.unknowns.iter().zip(numbers).map(|(unknown, number)| {
        let (prior, bounds) = (unknown.prior?, unknown.bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY)));
        let (lo, hi) = within(prior.support(), bounds);
        let (estimate, sd) = (number.estimate, number.sd?);
        (lo + sd..=hi - sd).contains(&estimate).then(|| log_prior_density(prior, bounds, estimate)).flatten()
    });
    let priors: f64 = priors.sum::<Option<f64>>()?;
    let normal: f64 = joint.groups().iter().map(|group| log_average_of_noise(group.count())).sum();
    let noise = normal + log_average_of_scales(outcome, problem);
    let dimension = numbers.len() as f64;
    let volume = dimension / 2.0 * TAU.ln() + log_determinant(numbers, &outcome.correlations)? / 2.0;
    Some(outcome.log_likelihood? + priors + noise + volume).filter(|evidence| evidence.is_finite())
}

/// The same as [`log_average_of_noise`] for other laws whose number was found, by Laplace's method.
fn log_average_of_scales(outcome: &Outcome, problem: &Problem) -> f64 {
    let observations = problem.observations.iter().zip(&outcome.noise);
    let others = observations.filter(|(observation, _)| !observation.likelihood.is_normal());
    let relative = |noise: &Noise| {
        let of = |value: Option<f64>, error: Option<f64>| Some(error? / value?);
        of(noise.sd, noise.sd_error).or(of(noise.dispersion, noise.dispersion_error))
    };
    let errors = others.filter_map(|(_, noise)| relative(noise)).filter(|error| error.is_finite());
    errors.map(|error| 0.5 * TAU.ln() + error.ln()).sum()
}

/// log of ∫ L(σ)/σ dσ over the largest L, for n normal errors: ½ Γ(n/2) (2e/n)^(n/2).
fn log_average_of_noise(count: f64) -> f64 {
    let half = count / 2.0;
    ln_gamma(half) - LN_2 + half * (1.0 - half.ln())
}

/// Of the covariance of the unknowns.
fn log_determinant(numbers: &[ScalarOutcome], correlations: &[Vec<f64>]) -> Option<f64> {
    let count = numbers.len();
    let deviations = numbers.iter().map(|number| Some(number.sd?.ln())).sum::<Option<f64>>()?;
    let whole = correlations.len() == count && correlations.iter().all(|row| row.len() == count);
    let matrix = whole.then(|| Mat::from_fn(count, count, |i, j| correlations[i][j]))?;
    let factors = Llt::new(matrix.as_ref(), Side::Lower).ok()?;
    Some(2.0 * deviations + (0..count).map(|i| 2.0 * factors.L()[(i, i)].ln()).sum::<f64>())
}

/// The logarithm of a prior's density within bounds, normalised there.
pub fn log_prior_density(prior: Prior, bounds: (f64, f64), x: f64) -> Option<f64> {
    let (lo, hi) = within(prior.support(), bounds);
    let normalised =
        |of: &dyn Density| (lo..=hi).contains(&x).then(|| of.log_density(x) - of.mass(lo, hi).ln());
    let density = match prior {
        Prior::Normal(mean, sd) => normalised(&Normal::new(mean, sd).ok()?),
        Prior::LogNormal(mu, sigma) => normalised(&LogNormal::new(mu, sigma).ok()?),
        Prior::Uniform(lo, hi) => normalised(&Uniform::new(lo, hi).ok()?),
        Prior::HalfNormal(sd) => normalised(&Normal::new(0.0, sd).ok()?),
        Prior::HalfCauchy(scale) => normalised(&Cauchy::new(0.0, scale).ok()?),
        Prior::Gamma(shape, rate) => normalised(&Gamma::new(shape, rate).ok()?),
        Prior::Beta(a, b) => normalised(&Beta::new(a, b).ok()?),
        Prior::InverseGamma(shape, scale) => normalised(&InverseGamma::new(shape, scale).ok()?),
        Prior::Exponential(rate) => normalised(&Exp::new(rate).ok()?),
    };
    density.filter(|density| density.is_finite())
}

fn within(support: (f64, f64), bounds: (f64, f64)) -> (f64, f64) {
    (bounds.0.max(support.0), bounds.1.min(support.1))
}

/// What is needed of a distribution, whatever its type.
trait Density {
    fn log_density(&self, x: f64) -> f64;
    fn mass(&self, lo: f64, hi: f64) -> f64;
}

impl<T: Continuous<f64, f64> + ContinuousCDF<f64, f64>> Density for T {
    fn log_density(&self, x: f64) -> f64 {
        self.ln_pdf(x)
    }

    fn mass(&self, lo: f64, hi: f64) -> f64 {
        let below = |x: f64| match x {
            f64::INFINITY => 1.0,
            f64::NEG_INFINITY => 0.0,
            _ => self.cdf(x),
        };
        below(hi) - below(lo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The density is one over the bounds, by the trapezoidal rule, and has the shape that the search sees.
    #[test]
    fn densities_are_normalised_within_the_bounds() {
        let (lo, hi, steps) = (0.1, 0.9, 20_000);
        for prior in [
            Prior::Normal(1.0, 0.5),
            Prior::LogNormal(-0.3, 0.7),
            Prior::Uniform(-1.0, 4.0),
            Prior::HalfNormal(2.0),
            Prior::HalfCauchy(0.5),
            Prior::Gamma(2.5, 3.0),
            Prior::Beta(2.0, 3.5),
            Prior::InverseGamma(3.0, 1.5),
            Prior::Exponential(0.7),
        ] {
            let density = |x: f64| log_prior_density(prior, (lo, hi), x).unwrap();
            let h = (hi - lo) / steps as f64;
            let end = |k: usize| if k == 0 || k == steps { 0.5 } else { 1.0 };
            let sum: f64 = (0..=steps).map(|k| end(k) * density(lo + h * k as f64).exp()).sum();
            assert!((sum * h - 1.0).abs() < 1e-7, "{prior}: {}", sum * h);
            let difference = density(0.7) - density(0.3) + prior.at(0.7).value - prior.at(0.3).value;
            assert!(difference.abs() < 1e-10, "{prior}: {difference}");
            assert_eq!(log_prior_density(prior, (lo, hi), 1.0), None, "{prior}");
        }
    }

    /// Two errors with sum of squares S: ∫ (2πσ²)⁻¹ exp(-S/(2σ²)) dσ/σ = 1/(2π S), and the largest is (2πe S/2)⁻¹.
    #[test]
    fn the_noise_is_averaged_over() {
        assert!((log_average_of_noise(2.0) - (std::f64::consts::E / 2.0).ln()).abs() < 1e-12);
    }
}
