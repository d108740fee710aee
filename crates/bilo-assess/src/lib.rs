//! What a result is worth.
//!
//! 1. A method gets a [`RunContext`] and returns an [`Estimate`], with a [`Predictor`](predictor::Predictor) that stands for
//!    the solution there.
//! 2. [`assess`](assess()) solves the PDE again by the reference solver and writes an [`Outcome`](outcome::Outcome): how far the
//!    two solutions are apart ([`verify`]), whether the gradient was the exact one ([`audit`]), which unknowns fit best,
//!    and how well the data determine them ([`uncertainty`], [`function_uncertainty`]).
//! 3. [`examine`](mod@examine) looks at a problem before anything runs, and [`identify`] at what its data can tell.

mod assess;
pub mod audit;
mod best_fit;
mod context;
mod derived;
mod estimate;
pub mod evidence;
pub mod examine;
mod function_score;
pub mod function_search;
pub mod function_uncertainty;
pub mod goodness;
pub mod identify;
mod intervals;
mod laplace;
pub mod minima;
mod misfits;
pub mod noise;
pub mod outcome;
mod picture;
pub mod predictor;
pub mod profile;
mod relaxed;
mod solver_error;
pub mod uncertainty;
mod verdict;
pub mod verify;

pub use assess::assess;
pub use context::RunContext;
pub use estimate::{Estimate, Remedy};
pub use laplace::log_prior_density;
pub use misfits::explains_little;
pub use solver_error::is_misfit;
