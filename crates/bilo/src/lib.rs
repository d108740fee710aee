//! Placeholder.
pub mod diagnostic;
pub mod observer;
pub mod outcome;
pub mod problem;
