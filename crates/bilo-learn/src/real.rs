//! The nonlinearities of models with their slopes, in the two floating-point types that models compute in.

use bilo_linear::{Number, Scalar, tanh_and_slope};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// f32 for training, f64 for frozen models and for tests of gradients.
pub(crate) trait Real: Scalar {
    /// tanh z and its derivative.
    fn tanh_and_slope(self) -> (Self, Self);
    /// z Φ(z), with Φ the distribution function of the standard normal, and its derivative.
    fn gelu_and_slope(self) -> (Self, Self);
}

impl Real for f64 {
    fn tanh_and_slope(self) -> (Self, Self) {
        let value = self.tanh();
        (value, 1.0 - value * value)
    }

    fn gelu_and_slope(self) -> (Self, Self) {
        let distribution = 0.5 * libm::erfc(-self * FRAC_1_SQRT_2);
        let density = (-0.5 * self * self).exp() / (2.0 * PI).sqrt();
        (self * distribution, distribution + self * density)
    }
}

/// Written without branches or library calls, so that loops over them vectorise.
impl Real for f32 {
    #[inline(always)]
    fn tanh_and_slope(self) -> (Self, Self) {
        tanh_and_slope(self)
    }

    #[inline(always)]
    fn gelu_and_slope(self) -> (Self, Self) {
        let (scale, p) = Number::exp_parts(-0.5 * self * self);
        let exponential = scale * p + scale;
        let t = 1.0 / (1.0 + NORMAL_TAIL_RATE * self.abs());
        let mut series = 0.0;
        for coefficient in NORMAL_TAIL {
            series = series * t + coefficient;
        }
        let tail = series * t * exponential;
        let distribution = if self < 0.0 { tail } else { 1.0 - tail };
        let density = (1.0 / (2.0 * PI).sqrt()) as f32 * exponential;
        (self * distribution, distribution + self * density)
    }
}

/// Abramowitz & Stegun 7.1.26 for erf(z/√2), halved: Φ(-z) to 8e-8, the rounding of f32.
const NORMAL_TAIL: [f32; 5] = [0.530_702_7, -0.726_576, 0.710_706_9, -0.142_248_37, 0.127_414_8];
const NORMAL_TAIL_RATE: f32 = 0.231_641_9;

#[cfg(test)]
mod tests {
    use super::*;

    /// z, z Φ(z) and Φ(z) + z φ(z) from tables of the normal distribution to 16 digits.
    const GELU: [(f64, f64, f64); 4] = [
        (0.0, 0.0, 0.5),
        (1.0, 0.841_344_746_068_542_9, 1.083_315_470_587_686_2),
        (-1.0, -0.158_655_253_931_457_05, -0.083_315_470_587_686_25),
        (2.0, 1.954_499_736_103_641_6, 1.085_231_801_078_197),
    ];

    /// f64 to a few ulps of 1; f32 to a few of its own (1.2e-7 each).
    #[test]
    fn gelu_has_its_closed_values() {
        for (z, value, slope) in GELU {
            let wide = z.gelu_and_slope();
            assert!((wide.0 - value).abs() < 1e-14 && (wide.1 - slope).abs() < 1e-14, "{z}: {wide:?}");
            let narrow = (z as f32).gelu_and_slope();
            let off = (narrow.0.wide() - value).abs().max((narrow.1.wide() - slope).abs());
            assert!(off < 5e-7, "{z}: {narrow:?}");
        }
    }

    /// The fast f32 functions against f64 everywhere: 5e-7 is four ulps of 1, and gelu grows like z.
    #[test]
    fn f32_agrees_with_f64_along_the_line() {
        for i in -4000..=4000 {
            let z = i as f32 * 0.005;
            for (narrow, wide) in [
                (z.tanh_and_slope(), z.wide().tanh_and_slope()),
                (z.gelu_and_slope(), z.wide().gelu_and_slope()),
            ] {
                let scale = 1.0 + z.abs().wide();
                assert!((narrow.0.wide() - wide.0).abs() < 5e-7 * scale, "{z}: {narrow:?} {wide:?}");
                assert!((narrow.1.wide() - wide.1).abs() < 5e-7 * scale, "{z}: {narrow:?} {wide:?}");
            }
        }
    }

    /// Training stops by itself on what is not a number only if nothing hides it.
    #[test]
    fn what_is_not_a_number_stays_so() {
        assert!(f32::NAN.tanh_and_slope().0.is_nan() && f32::NAN.gelu_and_slope().0.is_nan());
    }
}
