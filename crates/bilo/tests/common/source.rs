//! A point source, u_xx + lambda delta(x - z) - mu u = 0 with u = 0 at both ends of [0, 1]: problems about it, and its
//! exact solution.

use bilo::problem::{Overrides, Problem};
use std::path::Path;

pub(crate) fn try_read(text: &str, set: &[&str]) -> bilo::Result<Problem> {
    Problem::from_toml("source.toml", text, Path::new("."), &Overrides::of(set.iter().copied()))
}

pub(crate) fn read(text: &str, set: &[&str]) -> Problem {
    try_read(text, set).expect("a valid problem")
}

pub(crate) fn exact(x: f64, [z, lambda, mu]: [f64; 3]) -> f64 {
    let s = f64::sqrt(mu);
    lambda / s * (s * x.min(z)).sinh() * (s * (1.0 - x.max(z))).sinh() / s.sinh()
}
