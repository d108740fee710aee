//! All tests of the crate that see it from outside, as one program: linking one is faster than linking many.

mod book;
#[path = "common/browser.rs"]
mod browser;
mod commands;
mod common;
mod device;
mod faults;
mod report;
#[path = "common/results.rs"]
mod results;
mod resume;
mod run;
mod sample;
mod schema;
mod serve;
mod signals;
mod solve;
mod structure;
mod study;
