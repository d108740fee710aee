//! The two kinds of numbers a tape can be evaluated in.

use super::{Input, Scratch};
use crate::tape::Tape;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
pub trait Real:
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
    + Send
    + Sync
    + 'static
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// The nearest number of this kind.
    fn from_f64(x: f64) -> Self;
    /// Its value in double precision.
    fn to_f64(self) -> f64;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Tangent.
    fn tan(self) -> Self;
    /// Inverse sine.
    fn asin(self) -> Self;
    /// Inverse cosine.
    fn acos(self) -> Self;
    /// Inverse tangent.
    fn atan(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// `ln(1 + x)`, accurate near 0.
    fn ln_1p(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Error function.
    fn erf(self) -> Self;
    /// General power.
    fn powf(self, exponent: Self) -> Self;
    /// [`Tape::eval`].
    #[doc(hidden)]
    fn eval(tape: &Tape, inputs: &[Input<'_, Self>], n: usize, scratch: &mut Scratch<Self>);
    /// [`Tape::adjoint`].
    #[doc(hidden)]
    fn adjoint(tape: &Tape, seeds: &[Input<'_, Self>], scratch: &mut Scratch<Self>);

    /// -1, 0 or 1; NaN stays NaN.
    fn sign(self) -> Self {
        if self > Self::ZERO {
            Self::ONE
        } else if self < Self::ZERO {
            -Self::ONE
        } else {
            self
        }
    }

    /// `1/(1 + exp(-x))` without overflow.
    fn sigmoid(self) -> Self {
        let e = (-self.abs()).exp();
        let numerator = if self < Self::ZERO { e } else { Self::ONE };
        numerator / (Self::ONE + e)
    }

    /// `ln(1 + exp(x))` without overflow.
    fn softplus(self) -> Self {
        let positive_part = if self < Self::ZERO { Self::ZERO } else { self };
        positive_part + (-self.abs()).exp().ln_1p()
    }

    /// Integer power by repeated multiplication.
    fn powi(self, n: i32) -> Self {
        let mut rest = n.unsigned_abs();
        let mut square = self;
        let mut product = Self::ONE;
        while rest > 0 {
            if rest & 1 == 1 {
                product = product * square;
            }
            square = square * square;
            rest >>= 1;
        }
        if n < 0 { Self::ONE / product } else { product }
    }
}

macro_rules! real {
    ($type:ident, $erf:path) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            fn from_f64(x: f64) -> Self {
                x as $type
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn erf(self) -> Self {
                $erf(self)
            }
            fn powf(self, exponent: Self) -> Self {
                $type::powf(self, exponent)
            }
            fn eval(tape: &Tape, inputs: &[Input<'_, Self>], n: usize, scratch: &mut Scratch<Self>) {
                tape.eval_in(inputs, n, scratch);
            }
            fn adjoint(tape: &Tape, seeds: &[Input<'_, Self>], scratch: &mut Scratch<Self>) {
                tape.adjoint_in(seeds, scratch);
            }
            real!(@unary $type: sin cos tan asin acos atan sinh cosh tanh asinh exp ln ln_1p sqrt abs);
        }
    };
    (@unary $type:ident: $($name:ident)*) => {
        $(fn $name(self) -> Self {
            $type::$name(self)
        })*
    };
}

real!(f32, libm::erff);
real!(f64, libm::erf);
