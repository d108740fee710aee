//! All tests of the crate that see it from outside, as one program: linking one is faster than linking many.

mod common;
mod conservation;
mod conservative;
mod errors;
mod evolving;
mod interface;
mod plane;
mod sample;
mod sensitivity;
mod steady;
mod uneven;
