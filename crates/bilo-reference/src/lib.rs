//! The reference solver: the equations of a problem by finite differences.

pub mod data;
pub mod descent;
pub mod forward;
pub mod loss_map;
pub mod misfit;
mod process;
pub mod solver;
