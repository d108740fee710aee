//! What moves what: the two levels of BiLO, or the one loss of a physics-informed network.

use crate::level::{Fit, Joint, Lower, Upper, When};
use bilo_fit::observer::Phase;
use bilo_jet::{Device, Level, Moves, ResidualId, ResidualWeights, Weighted};
use bilo_problem::Problem;
use bilo_problem::diagnostic::Result;

/// The losses of a run. Terms are those of residuals, then those of data and regularisers.
#[derive(Clone, Copy)]
pub enum Losses<'a> {
    /// Residuals and their gradients over W, data over the unknowns.
    Bilevel {
        /// Over W.
        lower: &'a Lower,
        /// Over the unknowns.
        upper: &'a Upper,
    },
    /// All over all: a physics-informed network (PINN).
    Joint(&'a Joint),
    /// Residuals over W; data over the unknowns through what W does when they move, by the inverse of the residuals'
    /// Hessian (BPN).
    Nested(&'a Joint),
}

impl Losses<'_> {
    /// Names of all terms.
    pub fn names(&self) -> Vec<String> {
        [self.residual_names(), self.upper().names()].concat()
    }

    pub(super) fn residual_names(&self) -> &[String] {
        match self {
            Self::Bilevel { lower, .. } => lower.names(),
            Self::Joint(joint) | Self::Nested(joint) => joint.residual_names(),
        }
    }

    /// Data and regularisers.
    pub(super) fn upper(&self) -> &Upper {
        match self {
            Self::Bilevel { upper, .. } => upper,
            Self::Joint(joint) | Self::Nested(joint) => joint.upper(),
        }
    }

    /// Draws points where other ones are asked for.
    pub(super) fn renew(&self, problem: &Problem, device: &mut dyn Device, when: When) -> Result<()> {
        match self {
            Self::Bilevel { lower, .. } => lower.renew(problem, device, when),
            Self::Joint(joint) | Self::Nested(joint) => joint.renew(problem, device, when),
        }
    }

    /// The steps until points are drawn anew, if they are.
    pub(super) fn renewal(&self, problem: &Problem) -> Option<usize> {
        match self {
            Self::Bilevel { lower, .. } => lower.renewal(problem),
            Self::Joint(joint) | Self::Nested(joint) => joint.renewal(problem),
        }
    }

    /// The residuals' terms and their weighted sum; adds its gradient with respect to W, at fixed theta.
    pub(super) fn residuals(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        gradient: &mut [f64],
    ) -> Result<(f64, Vec<f64>)> {
        match self {
            Self::Bilevel { lower, .. } => lower.loss(device, weights, eta, Some(gradient)),
            Self::Joint(joint) | Self::Nested(joint) => {
                let loss = joint.residual_loss(device, weights, eta, Moves::States)?;
                gradient.iter_mut().zip(&loss.by_weights).for_each(|(sum, slope)| *sum += slope);
                Ok((loss.terms.iter().sum(), loss.terms))
            }
        }
    }

    /// The residual programs of a device that takes steps itself.
    pub(super) fn programs(&self) -> Vec<(ResidualId, ResidualWeights)> {
        match self {
            Self::Bilevel { lower, .. } => lower.terms(),
            Self::Joint(_) | Self::Nested(_) => vec![],
        }
    }

    /// The densities of such a device in a phase: residuals that are such, then data or what is fitted.
    pub(super) fn densities(&self, phase: Phase, fit: &Fit) -> Vec<Weighted> {
        let of = |level: Level| move |id| Weighted { id, factor: 1.0, level };
        let (moves, level) = match phase {
            Phase::Examples | Phase::Pretrain => (Moves::States, Level::Lower),
            Phase::Train => (Moves::All, Level::Both),
        };
        let (residuals, of_data): (Vec<Weighted>, Level) = match self {
            Self::Bilevel { .. } => (vec![], Level::Upper),
            Self::Joint(joint) | Self::Nested(joint) => {
                (joint.densities(moves).map(of(level)).collect(), Level::Both)
            }
        };
        let others: Vec<Weighted> = match phase {
            Phase::Examples | Phase::Pretrain => {
                fit.densities().iter().copied().map(of(Level::Lower)).collect()
            }
            Phase::Train => {
                let parts = self.upper().parts().into_iter();
                parts.map(|(id, factor, _)| Weighted { id, factor, level: of_data }).collect()
            }
        };
        [residuals, others].concat()
    }
}
