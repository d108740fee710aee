//! PDE inverse problems by bilevel local operator learning (BiLO): state the PDE, give the data, get
//! the unknown parameters back.
//!
//! The way of the data, one module each:
//!
//! 1. [`problem`]: a problem file or the builder becomes a [`Problem`], checked to the last name.
//! 2. [`twin`]: the same problem for the classical solver; it makes synthetic data ([`data`]) and u_0.
//! 3. [`operator`]: the same problem in terms of networks, a local solution operator u(x, theta).
//! 4. [`level`]: the two levels and what each may touch.
//! 5. [`train`]: pre-training and the loop over the two levels, watched by an [`observer`].
//! 6. [`verify`]: the PDE is solved again at the estimate; the result is an [`outcome`].
//! 7. [`audit`], [`optimum`], [`uncertainty`]: whether the operator's gradient is the exact one, which
//!    unknowns are best for the data under the exact PDE ([`misfit`]), and how well the data determine them.
//! 8. [`picture`]: what the pictures of the problem show of the result.
//!
//! [`method`] puts these together; [`examine`](mod@examine) looks at a problem before any training, and
//! [`forward`] solves the PDE alone at stated values of the unknowns.
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
//! assert!(outcome.unknowns[0].relative_error().unwrap() < 1e-4);
//! # Ok::<(), bilo::Error>(())
//! ```

pub mod audit;
mod band;
mod cache;
pub mod checkpoint;
mod closing;
pub mod data;
pub mod descent;
pub mod diagnostic;
pub mod examine;
mod finite;
pub mod forward;
pub mod function;
mod given;
pub mod hardware;
pub mod identify;
mod implicit;
pub mod level;
pub mod likelihood;
mod loss_map;
pub mod method;
pub mod misfit;
pub mod nifti;
pub mod npy;
pub mod observer;
pub mod operator;
pub mod optimum;
pub mod outcome;
pub mod picture;
pub mod problem;
mod process;
mod seeds;
mod settle;
mod spectrum;
pub mod spline;
pub mod theta;
pub mod train;
mod truth;
pub mod twin;
pub mod uncertainty;
pub mod verify;

pub use diagnostic::{Error, Result};
pub use examine::{Examination, examine};
pub use hardware::Hardware;
pub use loss_map::loss_map;
pub use method::{Job, Method, run};
pub use problem::Problem;
