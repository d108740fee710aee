//! What every search for the unknowns shares, whatever solves the equation.
//!
//! - [`data_loss`]: what all data make of observed values; [`sensitivities`]: such values with their derivatives by the
//!   unknowns, and [`spectrum`]: which directions of the unknowns they see.
//! - [`gauss_newton`]: the minimum over any [`ReducedProblem`](gauss_newton::ReducedProblem).
//! - [`monitor`]: one place that tells an [`observer`] of a run and decides when it stops ([`stop`]); [`convergence`] says
//!   when training has converged, and a [`checkpoint`] is what it can go on from.
//! - [`parallel`]: independent work on several threads.
//!
//! ```
//! use bilo_fit::data_loss::DataLoss;
//! use bilo_problem::{Coordinate, DataSpec, PointsSpec, Problem, Table, Unknown};
//!
//! let table = Table { coordinates: vec![vec![0.5, 1.0]], values: vec![0.4, 0.1], sigma: None };
//! let problem = Problem::builder("decay")
//!     .coordinate(Coordinate::time("t", 0.0, 1.0))
//!     .unknown(Unknown::new("k", 1.0))
//!     .state("u", "1 + net*t")
//!     .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 21)]))
//!     .observation("samples", "u", DataSpec::table(table.clone()))
//!     .build()?;
//! let tables = [table];
//! let loss = DataLoss::new(&problem, &tables);
//! let terms = loss.terms(&loss.sites(&[1.0])?, &[vec![0.5, 0.3]])?;
//! assert!((terms.loss - (0.1_f64.powi(2) + 0.2_f64.powi(2)) / 2.0).abs() < 1e-15);
//! # Ok::<(), bilo_problem::diagnostic::Error>(())
//! ```

pub mod checkpoint;
pub mod convergence;
pub mod data_loss;
pub mod gauss_newton;
pub mod joint_likelihood;
pub mod monitor;
pub mod observer;
pub mod parallel;
pub mod phase;
pub mod sensitivities;
pub mod spectrum;
pub mod stop;
