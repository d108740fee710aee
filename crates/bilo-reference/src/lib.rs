//! The reference solver: the equations of a [`Problem`](bilo_problem::Problem) by finite differences or finite volumes.
//!
//! 1. [`solver`]: boundary and initial values are read off the forms and the equations of a problem, and what comes of it is a
//!    statement for `bilo-solve`. It knows nothing of networks.
//! 2. [`data`]: tables from files, or made by the solver at the truth.
//! 3. [`misfit`]: the data loss as a function of the unknowns alone, with tangents and adjoint; [`descent`] minimises it over
//!    functions, and Gauss-Newton of `bilo-fit` over numbers.
//!    Unknowns that say where equations [jump](jumps) are differentiated by more solutions.
//! 4. [`forward`] and [`loss_map`](mod@loss_map): the equation alone, and the loss over a plane.
//!
//! ```
//! use bilo_problem::{Coordinate, DataSpec, PointsSpec, Problem, Unknown};
//! use bilo_reference::solver::ReferenceSolver;
//!
//! let problem = Problem::builder("decay")
//!     .coordinate(Coordinate::time("t", 0.0, 1.0))
//!     .unknown(Unknown::new("k", 1.0).truth(2.0))
//!     .state("u", "1 + net*t")
//!     .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 21)]))
//!     .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.0))
//!     .build()?;
//! let solver = ReferenceSolver::new(&problem)?;
//! let at_end = solver.solve(&[3.0])?.state(0, &[vec![1.0]])[0];
//! assert!((at_end - (-3.0_f64).exp()).abs() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cost;
pub mod coupling;
pub mod data;
pub mod descent;
pub mod forward;
pub mod jumps;
pub mod loss_map;
pub mod misfit;
mod process;
pub mod solver;
mod system;
