//! What every search for the unknowns shares, whatever solves the equation.

pub mod checkpoint;
pub mod convergence;
pub mod data_loss;
pub mod gauss_newton;
pub mod monitor;
pub mod observer;
pub mod phase;
pub mod sensitivities;
pub mod spectrum;
pub mod stop;
