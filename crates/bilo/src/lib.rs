//! PDE inverse problems by bilevel local operator learning.

pub mod data;
pub mod diagnostic;
pub mod examine;
mod finite;
pub mod identify;
pub mod level;
pub mod method;
pub mod npy;
pub mod observer;
pub mod operator;
pub mod outcome;
pub mod problem;
mod seeds;
mod settle;
pub mod train;
pub mod twin;
pub mod verify;

pub use diagnostic::{Error, Result};
pub use examine::{Examination, examine};
pub use method::{Job, Method, run};
pub use problem::Problem;
