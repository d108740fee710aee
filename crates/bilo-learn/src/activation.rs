//! Nonlinearities over slices, compiled for the instruction sets that the machine may have.

use crate::real::Real;
use bilo_linear::{Job, Simd};

/// A nonlinearity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    Tanh,
    /// z Φ(z), with Φ the distribution function of the standard normal.
    Gelu,
}

impl Activation {
    /// Replaces arguments by values; returns the derivatives there.
    pub(crate) fn apply<T: Real>(self, values: &mut [T]) -> Vec<T> {
        let mut slopes = vec![T::ZERO; values.len()];
        Simd::detect().run(Apply { kind: self, values, slopes: &mut slopes });
        slopes
    }
}

struct Apply<'a, T> {
    kind: Activation,
    values: &'a mut [T],
    slopes: &'a mut [T],
}

impl<T: Real> Job for Apply<'_, T> {
    #[inline(always)]
    fn run(self) {
        let each = self.values.iter_mut().zip(self.slopes);
        match self.kind {
            Activation::Tanh => each.for_each(|(value, slope)| (*value, *slope) = value.tanh_and_slope()),
            Activation::Gelu => each.for_each(|(value, slope)| (*value, *slope) = value.gelu_and_slope()),
        }
    }
}
