//! All tests of the crate that see it from outside, as one program: linking one is faster than linking many.

mod common;
mod derivatives;
mod language;
mod random_expressions;
mod tape;
