//! Where the lower level is linear: rows at some weights and unknowns, and what undoes them.

use super::rows::Rows;
use super::tangent::{Change, Factor, Tangent};
use crate::level::Lower;
use bilo_jet::{Device, DualFactors, DualSystem};
use bilo_problem::diagnostic::Result;
use std::rc::Rc;

/// Where the rows are taken.
pub(crate) struct Place<'a> {
    pub(crate) lower: &'a Lower,
    pub(crate) device: &'a mut dyn Device,
    pub(crate) weights: Vec<f64>,
    pub(crate) eta: &'a [f64],
    /// Threads to work on.
    pub(crate) threads: usize,
}

/// J, in the form that is cheapest to solve with.
pub(crate) enum Linear {
    /// Written out.
    Here(Tangent),
    /// Fewer rows than weights: J J^T alone, on the device, for x = J^T (J J^T + lambda)^-1 b.
    Kernel(Box<dyn DualSystem>),
}

/// A linear problem with its matrix factorised.
#[derive(Clone)]
pub(crate) enum Factorised {
    Here(Rc<Factor>),
    Kernel(Rc<dyn DualFactors>),
}

impl Factorised {
    /// Whether the matrix is that of J here.
    pub(crate) fn is_of(&self, linear: &Linear) -> bool {
        match (self, linear) {
            (Factorised::Here(factor), Linear::Here(tangent)) => factor.is_of(tangent),
            _ => false,
        }
    }
}

impl Factorised {
    /// These factors for J here, where it would cost much to make its own.
    pub(crate) fn near(&self, linear: &Linear) -> Option<Factorised> {
        match (self, linear) {
            (Factorised::Here(factor), Linear::Here(tangent)) => {
                factor.near(tangent).map(|factor| Factorised::Here(factor.into()))
            }
            _ => None,
        }
    }
}

impl Place<'_> {
    /// The rows with J; `linear` tells that they are linear in the weights but for the form.
    pub(crate) fn linearise(&mut self, linear: bool) -> Result<(Rows, Linear)> {
        let Place { lower, device, weights, eta, threads } = self;
        if !linear && lower.count() < weights.len() {
            let (rows, system) = lower.with_kernel(*device, weights, eta)?;
            return Ok((rows, Linear::Kernel(system)));
        }
        if linear && let Some((rows, jacobian)) = lower.with_entries(*device, weights, eta)? {
            return Ok((rows, Linear::Here(Tangent::Sparse(jacobian.into()))));
        }
        if linear {
            let (rows, blocks) = lower.with_blocks(*device, weights, eta, *threads)?;
            return Ok((rows, Linear::Here(Tangent::Columns(blocks.into()))));
        }
        let (rows, jacobian) = lower.with_jacobian(*device, weights, eta)?;
        Ok((rows, Linear::Here(Tangent::primal(jacobian))))
    }

    /// None if the matrix is singular with this damping.
    pub(crate) fn factorise(&mut self, linear: &Linear, damping: f64) -> Result<Option<Factorised>> {
        Ok(match linear {
            Linear::Here(tangent) => {
                let factor = tangent.factorise(damping, self.weights.len(), self.threads);
                factor.map(|factor| Factorised::Here(factor.into()))
            }
            Linear::Kernel(system) => {
                system.factorise(damping)?.map(|factors| Factorised::Kernel(factors.into()))
            }
        })
    }

    /// The change of the weights that undoes each of several columns of rows; none if the factors are not near enough.
    pub(crate) fn solve(
        &mut self,
        factor: &Factorised,
        right: &[impl AsRef<[f64]>],
    ) -> Result<Option<Vec<Change>>> {
        let negative = |rows: &[f64]| rows.iter().map(|value| -value).collect();
        let right: Vec<Vec<f64>> = right.iter().map(|rows| negative(rows.as_ref())).collect();
        let right: Vec<&[f64]> = right.iter().map(Vec::as_slice).collect();
        match factor {
            Factorised::Here(factor) => Ok(factor.solve(&right, self.threads)),
            Factorised::Kernel(factors) => {
                let Place { lower, device, weights, eta, .. } = self;
                let mut pulled = |numbers: &[f64]| lower.pulled_back(*device, weights, eta, numbers);
                let changes = factors
                    .solve(&right)?
                    .into_iter()
                    .map(|solved| Ok(Change { weights: pulled(&solved.numbers)?, rows: solved.product }));
                changes.collect::<Result<_>>().map(Some)
            }
        }
    }

    /// The residuals at other weights.
    pub(crate) fn rows_at(&mut self, weights: &[f64]) -> Result<Rows> {
        self.lower.rows(self.device, weights, self.eta)
    }
}
