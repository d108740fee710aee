//! All tests of the crate that see it from outside, as one program: linking one is faster than linking many.

mod both_ways;
mod define;
mod in_force;
mod rows;
mod vectors;
