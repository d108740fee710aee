//! All tests of the crate that see it from outside, as one program: linking one is faster than linking many.

mod dictionary;
mod dual;
mod fed;
mod jets_against_oracle;
mod local;
mod moved_weights;
mod moving;
mod points;
mod reduced;
