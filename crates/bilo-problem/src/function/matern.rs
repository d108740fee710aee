//! Gaussian random fields with Matérn covariances, as priors of unknown functions at the nodes of their grids.

use crate::UnknownFunction;
use crate::diagnostic::{Diagnostic, Result};
use crate::function::Lattice;
use crate::model::function::Matern;
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};

/// What is added to each variance, relative to it: smooth fields at near nodes are all but the same.
const NUGGET: f64 = 1e-8;

/// The precision of a field with variance one at the nodes of a function, and a factor of it.
pub struct FieldPrior {
    /// C⁻¹.
    pub precision: Mat<f64>,
    /// W with WᵀW = C⁻¹: what makes values independent of each other, with variance one.
    pub whitening: Mat<f64>,
}

impl FieldPrior {
    /// None if the covariance is singular to working precision.
    pub fn new(function: &UnknownFunction, field: &Matern) -> Option<FieldPrior> {
        let lattice = Lattice::new(function);
        let columns = lattice.columns();
        let distance = |i: usize, j: usize| {
            columns.iter().map(|column| (column[i] - column[j]).powi(2)).sum::<f64>().sqrt()
        };
        let count = lattice.len();
        let covariance = Mat::from_fn(count, count, |i, j| {
            field.correlation(distance(i, j)) + if i == j { NUGGET } else { 0.0 }
        });
        let factors = Llt::new(covariance.as_ref(), Side::Lower).ok()?;
        let lower = factors.L();
        // W = L⁻¹, row by row.
        let mut whitening = Mat::<f64>::zeros(count, count);
        for j in 0..count {
            for i in j..count {
                let sum: f64 = (j..i).map(|k| lower[(i, k)] * whitening[(k, j)]).sum();
                whitening[(i, j)] = (f64::from(i == j) - sum) / lower[(i, i)];
            }
        }
        Some(FieldPrior { precision: factors.inverse(), whitening })
    }
}

impl FieldPrior {
    /// An error in place of none.
    pub fn required(function: &UnknownFunction, field: &Matern) -> Result<FieldPrior> {
        FieldPrior::new(function, field).ok_or_else(|| {
            let message = format!(
                "the covariance of `{}` is singular: its nodes are too near for such a length",
                function.name
            );
            Diagnostic::new(message, function.form.origin.clone())
                .help("take fewer nodes (`grid`) or a lower smoothness")
                .into()
        })
    }
}

impl Matern {
    /// The correlation of values at a distance.
    pub fn correlation(&self, distance: f64) -> f64 {
        let r = distance / self.length();
        match self.smoothness {
            s if s < 1.0 => (-r).exp(),
            s if s < 2.0 => {
                let r = 3.0_f64.sqrt() * r;
                (1.0 + r) * (-r).exp()
            }
            _ => {
                let r = 5.0_f64.sqrt() * r;
                (1.0 + r + r * r / 3.0) * (-r).exp()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KV: [(f64, f64); 3] =
        [(0.5, 0.496_585_303_791_409_64), (1.5, 0.658_137_376_316_584_2), (2.5, 0.706_942_681_904_097_8)];

    /// By scipy.special.kv: 2^(1-ν)/Γ(ν) (√(2ν) r)^ν K_ν(√(2ν) r) at r = 0.7 for ν = 1/2, 3/2, 5/2.
    #[test]
    fn correlations_are_those_of_bessel_functions() {
        for (smoothness, expected) in KV {
            let field = Matern { sd: Some(1.0), length: Some(1.0), smoothness, width: 1.0 };
            assert!((field.correlation(0.7) - expected).abs() < 1e-12, "{smoothness}");
        }
    }
}
