//! The number of a law that nobody stated: the scale of errors, or the dispersion of counts.
//!
//! It is found with every set of values, where the likelihood of the data is largest: what is left is the concentrated
//! likelihood of the values, whose slopes are those at a fixed number.

use super::Part;
use crate::diagnostic::{Diagnostic, Result};
use crate::{Likelihood, Observation, Sigma, Table};
use bilo_expr::{Input, Scratch, Tape};
use std::f64::consts::{PI, TAU};

/// Scales from the largest to so small a part of the residuals are looked at: an outlier may be as large beside the others.
const SMALLEST: f64 = 1e-6;

/// Residuals as small as this part of the data are none.
const ROUNDING: f64 = 1e-12;

/// Dispersions that are looked at, from variances of a thousand squared means to Poisson's.
const DISPERSIONS: [f64; 2] = [1e-3, 1e6];

/// Golden sections: 0.618^50 of the interval is less than rounding makes of a minimum.
const SECTIONS: usize = 50;

/// A number that was found, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Where the likelihood is largest.
    pub value: f64,
    /// As the likelihood curves there; infinite where it does not.
    pub error: f64,
}

impl Likelihood {
    /// Minus the logarithm of what multiplies exp(-l/2) in the density of a datum, beside the number that the law has.
    pub fn normaliser(&self, datum: f64, scale: f64) -> f64 {
        let normal = scale.ln() + 0.5 * TAU.ln();
        let log_gamma = libm::lgamma;
        match self {
            Likelihood::Gaussian => normal,
            Likelihood::LogNormal => normal + datum.ln(),
            Likelihood::Poisson => log_gamma(datum + 1.0),
            Likelihood::NegativeBinomial { .. } => {
                log_gamma(scale) + log_gamma(datum + 1.0) - log_gamma(datum + scale)
            }
            Likelihood::Binomial { .. } => {
                log_gamma(datum + 1.0) + log_gamma(scale - datum + 1.0) - log_gamma(scale + 1.0)
            }
            Likelihood::Censored { below, above } => {
                let beyond = below.is_some_and(|lo| datum <= lo) || above.is_some_and(|hi| datum >= hi);
                if beyond { 0.0 } else { normal }
            }
            Likelihood::Huber { threshold: k, .. } => {
                let core = TAU.sqrt() * libm::erf(k / 2.0_f64.sqrt());
                scale.ln() + (core + 2.0 * (-k * k / 2.0).exp() / k).ln()
            }
            Likelihood::Student { freedom: nu, .. } => {
                scale.ln() + 0.5 * (nu * PI).ln() + log_gamma(nu / 2.0) - log_gamma((nu + 1.0) / 2.0)
            }
            // Zeros and ones have a density of one; the others are no densities of data, or nobody knows.
            Likelihood::Bernoulli
            | Likelihood::MeanSquare
            | Likelihood::RelativeL2
            | Likelihood::PoissonProcess { .. }
            | Likelihood::Custom(_) => 0.0,
        }
    }

    fn scale_key(&self) -> &'static str {
        if let Likelihood::NegativeBinomial { .. } = self { "dispersion" } else { "sigma" }
    }

    /// Whether its law has a number that can be found where the likelihood of the data is largest. (That of normal errors has
    /// a formula, and several observations may share it.)
    fn has_scale(&self) -> bool {
        matches!(
            self,
            Likelihood::NegativeBinomial { .. }
                | Likelihood::Censored { .. }
                | Likelihood::Huber { .. }
                | Likelihood::Student { .. }
        )
    }
}

impl Observation {
    /// The number of the law for each datum, as far as it is stated.
    pub fn stated_scale(&self, table: &Table) -> Option<Vec<f64>> {
        let of_law = match self.likelihood {
            Likelihood::NegativeBinomial { dispersion } => dispersion,
            Likelihood::Binomial { trials } => trials,
            Likelihood::Huber { sigma, .. } | Likelihood::Student { sigma, .. } => {
                sigma.or(self.stated_noise())
            }
            Likelihood::Censored { .. } => self.stated_noise(),
            Likelihood::Gaussian | Likelihood::LogNormal | Likelihood::Custom(_) => None,
            _ => return None,
        };
        table.sigma.clone().or(of_law.map(|number| vec![number; table.values.len()]))
    }

    /// Whether the number of the law is to be found with the values; a column of the data then says how they differ.
    pub fn has_free_scale(&self, table: &Table) -> bool {
        let nobody_knows = self.sigma == Sigma::Estimated || self.stated_scale(table).is_none();
        self.likelihood.has_scale() && nobody_knows
    }

    /// An error if somebody who needs the number of the law is not given it.
    pub fn require_stated_scale(&self, table: &Table, who: &str) -> Result<()> {
        if !self.has_free_scale(table) {
            return Ok(());
        }
        let (name, key) = (self.likelihood.name(), self.likelihood.scale_key());
        let message = format!("{who} need the `{key}` of the likelihood `{name}`: they do not estimate it");
        let help = format!("state the `{key}`, or take a dictionary (operator.kind = \"dictionary\")");
        Err(Diagnostic::new(message, self.value.origin.clone()).help(help).into())
    }
}

impl Part {
    /// The law's number where the likelihood of the data beside these values is largest.
    pub(super) fn scale(&self, tape: &Tape, likelihood: &Likelihood, values: &[f64]) -> Scale {
        let (lo, hi) = self.range(likelihood, values);
        let mut scratch = Scratch::new();
        let mut height = |log: f64| self.height(tape, likelihood, values, log.exp(), &mut scratch);
        let (log, step) = (least(&mut height, lo, hi), 1e-3);
        let bend = (height(log + step) + height(log - step) - 2.0 * height(log)) / (step * step);
        // Half of the sum of `height` over all data is minus the log-likelihood.
        let error = (0.5 * bend * self.data.len() as f64).max(0.0).sqrt().recip();
        Scale { value: log.exp(), error: log.exp() * error }
    }

    /// Twice minus the log-likelihood on average.
    fn height(
        &self,
        tape: &Tape,
        likelihood: &Likelihood,
        values: &[f64],
        scale: f64,
        scratch: &mut Scratch<f64>,
    ) -> f64 {
        let column = self.scaled(scale);
        let inputs = [Input::Column(values), Input::Column(&self.data), Input::Column(&column)];
        tape.eval(&inputs, self.data.len(), scratch);
        let densities = scratch.output(tape, 0).iter().zip(&self.weights);
        densities.map(|(l, weight)| l * weight).sum::<f64>() + self.normalisers(likelihood, &column)
    }

    /// What the law's numbers add to twice minus the log-likelihood on average.
    pub(super) fn normalisers(&self, likelihood: &Likelihood, scales: &[f64]) -> f64 {
        let each = self.data.iter().zip(scales).zip(&self.weights);
        each.map(|((&datum, &scale), weight)| 2.0 * weight * likelihood.normaliser(datum, scale)).sum()
    }

    /// The law's number for each datum.
    pub(super) fn scaled(&self, scale: f64) -> Vec<f64> {
        match &self.sigma {
            Some(relative) => relative.iter().map(|relative| scale * relative).collect(),
            None => vec![scale; self.data.len()],
        }
    }

    /// Logarithms between which the number is.
    fn range(&self, likelihood: &Likelihood, values: &[f64]) -> (f64, f64) {
        if let Likelihood::NegativeBinomial { .. } = likelihood {
            let [lo, hi] = DISPERSIONS.map(f64::ln);
            return (lo, hi);
        }
        let relative = |i: usize| self.sigma.as_ref().map_or(1.0, |sigma| sigma[i]);
        let largest = |of: &dyn Fn(usize) -> f64| {
            (0..self.data.len()).map(|i| of(i).abs() / relative(i)).fold(0.0, f64::max)
        };
        let residual = largest(&|i| values[i] - self.data[i]);
        let rounding = (ROUNDING * largest(&|i| self.data[i])).max(f64::MIN_POSITIVE.sqrt());
        let hi = 10.0 * residual.max(rounding);
        ((SMALLEST * hi).max(rounding).ln(), hi.ln())
    }
}

/// Where a function of one number with one minimum is least.
fn least(of: &mut dyn FnMut(f64) -> f64, mut lo: f64, mut hi: f64) -> f64 {
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut left, mut right) = (hi - golden * (hi - lo), lo + golden * (hi - lo));
    let (mut at_left, mut at_right) = (of(left), of(right));
    for _ in 0..SECTIONS {
        if at_left < at_right {
            (hi, right, at_right) = (right, left, at_left);
            left = hi - golden * (hi - lo);
            at_left = of(left);
        } else {
            (lo, left, at_left) = (left, right, at_right);
            right = lo + golden * (hi - lo);
            at_right = of(right);
        }
    }
    0.5 * (lo + hi)
}
