//! PDE inverse problems by bilevel local operator learning (BiLO): state the PDE, give the data, get
//! the unknown parameters back.
//!
//! The path of the data, a crate for each part, all of them reachable from here:
//!
//! 1. [`problem`]: a problem file or the builder becomes a [`Problem`], checked to the last name.
//! 2. [`reference`](mod@reference): the problem for the reference solver; it makes synthetic data ([`data`]) and u_0, and has a
//!    [`misfit`] that can be minimised by itself.
//! 3. [`operator`]: the problem in terms of networks or basis expansions, a local solution operator u(x, theta);
//!    [`level`] has the two levels and what each may touch, [`train`] the loop over them.
//! 4. [`method`]: what moves the unknowns, one file for each method; a [`monitor`] tells an [`observer`] how it goes.
//! 5. [`assess()`](bilo_assess::assess()): the PDE is solved again at the estimate; the result is an [`outcome`], with an
//!    [`audit`] of the gradient and error bars ([`uncertainty`]).
//!
//! [`sample()`] draws from the [`posterior`] around what a run found; [`examine`](mod@examine) looks at a problem before any training, and [`forward`] solves the PDE alone at stated values
//! of the unknowns.
//!
//! ```
//! use bilo::problem::{Coordinate, DataSpec, PointsSpec, Problem, Unknown};
//! use bilo::{Job, observer::Silent, run};
//!
//! let problem = Problem::builder("decay")
//!     .coordinate(Coordinate::time("t", 0.0, 1.0))
//!     .unknown(Unknown::new("k", 1.0).truth(2.0))
//!     .state("u", "1 + net*t")
//!     .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 21)]))
//!     .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.0))
//!     .build()?;
//! let outcome = run(&problem, &Job::default(), &mut Silent)?;
//! // The data are the classical solution, which is of second order.
//! assert!(outcome.unknowns.numbers[0].relative_error().unwrap() < 1e-4);
//! # Ok::<(), bilo::Error>(())
//! ```

#[cfg(feature = "learn")]
mod cache;
pub mod method;
mod sample;

pub use bilo_assess::examine::{self, Examination, examine};
pub use bilo_assess::{audit, function_uncertainty, identify, noise, outcome, profile, uncertainty, verify};
pub use bilo_fit::{checkpoint, data_loss, gauss_newton, joint_likelihood, monitor, observer, sensitivities};
pub use bilo_operator::hardware::Hardware;
pub use bilo_operator::{level, observed, operator, state, train};
pub use bilo_posterior as posterior;
pub use bilo_problem as problem;
pub use bilo_problem::diagnostic::{self, Error, Result};
pub use bilo_problem::{Problem, function, nifti, npy, sites, spline, theta};
pub use bilo_reference::loss_map::loss_map;
pub use bilo_reference::{cost, data, descent, forward, misfit, solver as reference};
pub use method::{Job, METHODS, Method, profiles, run};
pub use sample::{
    calibrate, draw_prior, require_calibration, require_estimate, require_posterior, sample, with_density,
};
