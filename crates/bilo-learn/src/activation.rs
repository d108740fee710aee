//! Nonlinearities over slices, compiled for the instruction sets that the machine may have.

use crate::real::Real;

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
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: the CPU was asked.
                unsafe { apply_avx512(self, values, &mut slopes) };
                return slopes;
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the CPU was asked.
                unsafe { apply_avx2(self, values, &mut slopes) };
                return slopes;
            }
        }
        apply_each(self, values, &mut slopes);
        slopes
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn apply_avx512<T: Real>(kind: Activation, values: &mut [T], slopes: &mut [T]) {
    apply_each(kind, values, slopes);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn apply_avx2<T: Real>(kind: Activation, values: &mut [T], slopes: &mut [T]) {
    apply_each(kind, values, slopes);
}

#[inline(always)]
fn apply_each<T: Real>(kind: Activation, values: &mut [T], slopes: &mut [T]) {
    let each = values.iter_mut().zip(slopes);
    match kind {
        Activation::Tanh => each.for_each(|(value, slope)| (*value, *slope) = value.tanh_and_slope()),
        Activation::Gelu => each.for_each(|(value, slope)| (*value, *slope) = value.gelu_and_slope()),
    }
}
