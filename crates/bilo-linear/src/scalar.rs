//! Numbers with products by the widest vectors that the processor has.

use crate::matrix::{Matrix, MatrixMut};
use crate::number::Number;
use crate::packed::{self, Packed};
use crate::simd::Simd;

/// `f32` or `f64`, as networks are computed in.
pub trait Scalar: Number {
    /// [`Packed::new`].
    #[doc(hidden)]
    fn packed(from: Matrix<'_, Self>, simd: Simd) -> Packed<Self>;
    /// [`product_packed`].
    #[doc(hidden)]
    fn product_packed(result: MatrixMut<'_, Self>, left: &[Self], right: &Packed<Self>, add: bool);
    /// [`add_outer`].
    #[doc(hidden)]
    fn add_outer(result: MatrixMut<'_, Self>, left: Matrix<'_, Self>, right: Matrix<'_, Self>, simd: Simd);
}

macro_rules! scalar {
    ($type:ty, $lanes:expr) => {
        impl Scalar for $type {
            fn packed(from: Matrix<'_, Self>, simd: Simd) -> Packed<Self> {
                packed::packed::<Self, $lanes>(from, simd)
            }
            fn product_packed(result: MatrixMut<'_, Self>, left: &[Self], right: &Packed<Self>, add: bool) {
                packed::product_in::<Self, $lanes>(result, left, right, add);
            }
            fn add_outer(
                result: MatrixMut<'_, Self>,
                left: Matrix<'_, Self>,
                right: Matrix<'_, Self>,
                simd: Simd,
            ) {
                packed::outer_in::<Self, $lanes>(result, left, right, simd);
            }
        }
    };
}

// As many as 512 bits hold.
scalar!(f32, 16);
scalar!(f64, 8);

impl<T: Scalar> Packed<T> {
    /// Lays a matrix out.
    pub fn new(from: Matrix<'_, T>, simd: Simd) -> Self {
        T::packed(from, simd)
    }
}

/// result = left · right, or result += left · right, with the left factor row by row.
pub fn product_packed<T: Scalar>(result: MatrixMut<'_, T>, left: &[T], right: &Packed<T>, add: bool) {
    T::product_packed(result, left, right, add);
}

/// result += leftᵀ · right.
pub fn add_outer<T: Scalar>(result: MatrixMut<'_, T>, left: Matrix<'_, T>, right: Matrix<'_, T>, simd: Simd) {
    T::add_outer(result, left, right, simd);
}
