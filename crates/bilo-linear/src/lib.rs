//! Dense matrix products on slices of f32 and f64, on the calling thread, so that the order of summation depends on the
//! shapes and on the instruction set alone.
//!
//! - [`Scalar`]: f32 or f64, with the few operations that loops over them need, written so that these vectorise.
//! - [`Matrix`], [`MatrixMut`]: matrices seen in slices. [`product`] and [`add_product`] are the only doors to the library
//!   `gemm`.
//! - [`Packed`]: a matrix that many others are multiplied with, laid out for that once; [`product_packed`] and
//!   [`add_outer`] have kernels for AVX-512 and AMX.
//! - [`Simd`]: the instruction set, chosen at run time; a loop that is written as a [`Job`] is compiled for each.
//!   [`clear_upper_halves`] ends what other libraries leave behind, which slows loops that are compiled for none.
//!
//! ```
//! use bilo_linear::{Matrix, MatrixMut, Packed, Simd, product, product_packed};
//!
//! let (left, right) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
//! let (a, b) = (Matrix::new(&left, 2, 2), Matrix::new(&right, 2, 2));
//! let mut result = [0.0; 4];
//! product(MatrixMut::new(&mut result, 2, 2), a, b.transposed(), false);
//! assert_eq!(result, [17.0, 23.0, 39.0, 53.0]);
//!
//! // The right factor laid out once, for many left ones.
//! let packed = Packed::new(b, Simd::detect());
//! product_packed(MatrixMut::new(&mut result, 2, 2), &left, &packed, false);
//! assert_eq!(result, [19.0, 22.0, 43.0, 50.0]);
//! ```

mod aligned;
#[cfg(target_arch = "x86_64")]
mod amx_support;
mod matrix;
mod number;
mod packed;
mod scalar;
mod simd;

pub use aligned::Aligned;
pub use matrix::{Matrix, MatrixMut, add_product, product};
pub use number::{Number, sigmoid_and_tail, tanh_and_slope};
pub use packed::{Packed, squares};
pub use scalar::{Scalar, add_outer, product_packed};
pub use simd::{Job, Simd, clear_upper_halves};
