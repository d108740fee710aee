//! Local solution operators: networks and basis expansions u(x, theta; W) that satisfy the equation at theta and near it.
//!
//! 1. [`operator`]: a problem in terms of its networks or basis functions, every formula an expression of them.
//! 2. [`level`]: the lower level moves the weights W by the equation, the upper level the unknowns by the data.
//! 3. [`train`]: the loop over both, on a device of [`hardware`]; or [`implicit`]: the lower level solved at every step of
//!    the upper one, with the derivatives of the weights.
//! 4. [`state`] is where an operator stands, [`observed`] and [`function_values`] what it says there; [`finite`] checks
//!    residuals on the host.
//!
//! ```
//! use bilo_operator::level::Lower;
//! use bilo_operator::operator::LocalOperator;
//! use bilo_problem::{Coordinate, DataSpec, PointsSpec, Problem, Unknown};
//!
//! let problem = Problem::builder("decay")
//!     .coordinate(Coordinate::time("t", 0.0, 1.0))
//!     .unknown(Unknown::new("k", 1.0).truth(2.0))
//!     .state("u", "1 + net*t")
//!     .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 21)]))
//!     .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.0))
//!     .build()?;
//! let mut device = bilo_jet::cpu(problem.training.precision, Some(1));
//! let mut operator = LocalOperator::new(&problem, 0)?;
//! let lower = Lower::new(&problem, &mut operator, device.as_mut(), 0)?;
//! let (loss, terms) = lower.loss(device.as_mut(), &operator.initial_weights(0), &[1.0], None)?;
//! assert!(loss > 0.0 && terms.len() == 2, "the residual, and its derivative by k");
//! # Ok::<(), bilo_problem::diagnostic::Error>(())
//! ```

pub mod finite;
pub mod function_values;
pub mod hardware;
pub mod implicit;
pub mod level;
pub mod observed;
pub mod operator;
pub mod state;
pub mod train;
