//! The two floating-point types of the CPU device.

use bilo_expr::Real;
use bilo_linear::Scalar;

/// f32 or f64, for tapes and for networks.
pub(crate) trait Number: Scalar + Real {}

impl<T: Scalar + Real> Number for T {}
