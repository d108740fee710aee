//! The two floating-point types and the few operations that loops over them need.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// f32 or f64.
pub trait Number:
    sealed::Sealed
    + Copy
    + Debug
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + MulAssign
    + Send
    + Sync
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Rounds to this type.
    fn cast(value: f64) -> Self;
    /// Widens.
    fn wide(self) -> f64;
    /// |x|.
    fn magnitude(self) -> Self;
    /// |self| with the sign of the other.
    fn with_sign_of(self, other: Self) -> Self;
    /// For x <= 0: (2^k, p) with exp(x) = 2^k (1 + p) and |p| < 0.42; written without branches,
    /// integer casts or library calls, so that loops over it vectorise. What is not a number stays so.
    fn exp_parts(x: Self) -> (Self, Self);
    /// Sine and cosine.
    fn sine_cosine(self) -> (Self, Self);
    /// log(1 + x).
    fn log_one_plus(self) -> Self;
    /// self · factor + summand, rounded once; one instruction where the hardware has it, else slow.
    fn times_plus(self, factor: Self, summand: Self) -> Self;
    /// The numbers themselves, if they are f32.
    #[doc(hidden)]
    fn singles(numbers: &[Self]) -> Option<&[f32]>;
    /// The numbers themselves, if they are f32, to be written.
    #[doc(hidden)]
    fn singles_mut(numbers: &mut [Self]) -> Option<&mut [f32]>;
}

macro_rules! number {
    ($type:ty, $bits:ty, $lowest:expr, $magic:expr, $mantissa:expr, $bias:expr, $ln2_hi:expr, $ln2_lo:expr, $series:expr, $singles:path) => {
        impl Number for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn cast(value: f64) -> Self {
                value as $type
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn with_sign_of(self, other: Self) -> Self {
                self.copysign(other)
            }
            #[inline(always)]
            fn exp_parts(x: Self) -> (Self, Self) {
                // The clamp keeps 2^k normal; exp is below the smallest square there.
                let x = if x < $lowest { $lowest } else { x };
                // Adding the magic number rounds x/log 2 to an integer k in the low mantissa bits.
                let shifted = x * std::f64::consts::LOG2_E as $type + $magic;
                let k = shifted - $magic;
                let r = (x - k * $ln2_hi) - k * $ln2_lo;
                let mut series: $type = 0.0;
                for coefficient in $series {
                    series = series * r + coefficient as $type;
                }
                let exponent =
                    shifted.to_bits().wrapping_sub((($magic) as $type).to_bits()).wrapping_add($bias);
                (<$type>::from_bits(exponent << $mantissa), series * r)
            }
            #[inline(always)]
            fn sine_cosine(self) -> (Self, Self) {
                self.sin_cos()
            }
            #[inline(always)]
            fn log_one_plus(self) -> Self {
                self.ln_1p()
            }
            #[inline(always)]
            fn times_plus(self, factor: Self, summand: Self) -> Self {
                self.mul_add(factor, summand)
            }
            #[inline(always)]
            fn singles(numbers: &[Self]) -> Option<&[f32]> {
                $singles(numbers)
            }
            #[inline(always)]
            fn singles_mut(numbers: &mut [Self]) -> Option<&mut [f32]> {
                $singles(numbers)
            }
        }
    };
}

/// 1/n!, ..., 1/2!, 1/1!: the series of (exp(r) - 1)/r by falling powers.
const fn exp_series<const N: usize>() -> [f64; N] {
    let mut result = [0.0; N];
    let mut factorial = 1.0;
    let mut n = 1;
    while n <= N {
        factorial *= n as f64;
        result[N - n] = 1.0 / factorial;
        n += 1;
    }
    result
}

// |r| <= log(2)/2: the first term left out is below half an ulp of p for 7 terms in f32 and 13 in f64.
number!(f32, u32, -87.0, 12582912.0, 23, 127, 0.693_359_4, -2.121_944_4e-4, exp_series::<7>(), Some);
number!(
    f64,
    u64,
    -708.0,
    6755399441055744.0,
    52,
    1023,
    0.693_147_180_369_123_8,
    1.908_214_929_270_587_7e-10,
    exp_series::<13>(),
    none
);

/// Nothing of anything.
fn none<A, B>(_: A) -> Option<B> {
    None
}

/// (tanh z, its derivative), accurate relative to each for every z.
#[inline(always)]
pub fn tanh_and_slope<T: Number>(z: T) -> (T, T) {
    let two = T::cast(2.0);
    let (scale, p) = T::exp_parts(-two * z.magnitude());
    let e = scale * p + scale;
    let minus_one = scale * p + (scale - T::cast(1.0)); // e - 1 without cancellation at small z
    let plus_one = two + minus_one;
    // One division for both: nothing else here takes as long.
    let inverse = T::ONE / plus_one;
    let a = -minus_one * inverse;
    (a.with_sign_of(z), T::cast(4.0) * e * inverse * inverse)
}

/// (logistic sigmoid of z, exp(-|z|)).
#[inline(always)]
pub fn sigmoid_and_tail<T: Number>(z: T) -> (T, T) {
    let one = T::cast(1.0);
    let (scale, p) = T::exp_parts(-z.magnitude());
    let e = scale * p + scale;
    let q = one / (one + e);
    (if z < T::cast(0.0) { e * q } else { q }, e)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep() -> impl Iterator<Item = f64> {
        (-4000..=4000).map(|i| f64::from(i) * 0.005).chain([1e-12, -1e-6, 1e-4, 300.0, -800.0])
    }

    /// Relative to the exact value: 1e-6 in f32 and 1e-14 in f64 (a few ulps), where 1 - a^2 would
    /// be off by 6 % at z = 8 in f32.
    #[test]
    fn tanh_and_its_slope_keep_relative_accuracy() {
        for z in sweep() {
            let slope_exact = z.cosh().powi(-2);
            let (a, slope) = tanh_and_slope(z);
            assert!((a - z.tanh()).abs() <= 1e-14 * z.tanh().abs(), "tanh {z}");
            if slope_exact > 1e-300 {
                assert!((slope / slope_exact - 1.0).abs() < 1e-13, "slope {z}: {slope} {slope_exact}");
            }
            let z32 = z as f32;
            let exact = f64::from(z32).tanh();
            let (a, slope) = tanh_and_slope(z32);
            assert!((f64::from(a) - exact).abs() <= 5e-7 * exact.abs(), "tanh f32 {z}: {a} {exact}");
            let slope_exact = f64::from(z32).cosh().powi(-2);
            if slope_exact > 1e-37 {
                assert!((f64::from(slope) / slope_exact - 1.0).abs() < 1e-6, "slope f32 {z}");
            }
        }
    }

    /// Training stops by itself on what is not a number only if nothing hides it.
    #[test]
    fn what_is_not_a_number_stays_so() {
        assert!(tanh_and_slope(f32::NAN).0.is_nan() && tanh_and_slope(f64::NAN).1.is_nan());
        assert!(sigmoid_and_tail(f32::NAN).0.is_nan() && sigmoid_and_tail(f64::NAN).1.is_nan());
    }

    #[test]
    fn sigmoid_matches_the_library() {
        for z in sweep().filter(|z| z.abs() < 700.0) {
            let exact = 1.0 / (1.0 + (-z).exp());
            assert!((sigmoid_and_tail(z).0 / exact - 1.0).abs() < 1e-14, "{z}");
        }
    }
}
