//! `[sample]`: how posteriors are sampled.

use crate::schema::kind::Kind::{Count, Positive, Word};
use crate::settings::table::settings;
use crate::words::{Words, words};

settings! {
    /// How posteriors are sampled.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SampleOptions {
        "chains" chains: usize = 4;
            Count(2, Some(64)), "chains, each from a start of its own: fewer than two cannot be compared";
        "draws" draws: usize = 1000;
            Count(100, Some(10_000_000)), "draws of each chain";
        "tuning" tuning: usize = 1000;
            Count(20, Some(1_000_000)), "draws of each chain before, in which it finds its step and its metric";
        "acceptance" acceptance: f64 = 0.8;
            Positive, "the mean probability of acceptance that steps are chosen for; more makes them shorter";
        "solver" solver: SampledBy = SampledBy::Automatic;
            Word(SampledBy::NAMES),
            "what solves the equations at each step: a dictionary, the reference solver, or what found the estimate";
    }
}

/// What solves the equations where a posterior is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampledBy {
    /// What found the estimate.
    Automatic,
    /// A basis expansion.
    Dictionary,
    /// The reference solver.
    Reference,
}

words!(SampledBy { "automatic" => Automatic, "dictionary" => Dictionary, "reference" => Reference });
