//! All tests of the crate that see it from outside, as one program: linking one is faster than linking many.

mod adjoint;
#[path = "data/arrays.rs"]
mod arrays;
mod audit;
mod bad_input;
mod check;
mod checkpoint;
mod common;
mod conditions;
mod defined_states;
mod dictionary;
mod experiments;
mod flow;
mod function_uncertainty;
mod functionals;
mod functions;
mod functions_of_state;
mod functions_of_time;
mod fuzz;
mod gallery;
mod given;
mod glioblastoma;
mod images;
mod input;
mod jumps;
mod known;
mod levels;
mod likelihoods;
mod moving;
mod near;
mod npy;
mod odes;
mod on_device;
mod orders;
mod out_of_step;
mod pictures;
mod point_process;
mod posterior;
#[path = "common/pretrained.rs"]
mod pretrained;
mod problem_file;
mod problems;
mod reference;
mod renewal;
mod rivals;
mod schema;
mod series;
mod slopes;
#[path = "common/source.rs"]
mod source;
mod statistics;
mod uncertainty;
mod units;
