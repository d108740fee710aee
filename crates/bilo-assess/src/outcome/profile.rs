//! Profile likelihoods.

use super::json::{list, number};
use serde::{Deserialize, Serialize};

/// The profile likelihood of an unknown number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileOutcome {
    /// Its name.
    pub name: String,
    /// Its unit, if the problem states one.
    pub unit: Option<String>,
    /// The best fit.
    pub estimate: f64,
    /// The ends of the 68 % interval; none on a side that has none.
    pub interval_68: (Option<f64>, Option<f64>),
    /// The ends of the 95 % interval.
    pub interval_95: (Option<f64>, Option<f64>),
    /// What 2 ΔlogL is at the ends of the 95 % interval.
    pub threshold: f64,
    /// Why there is no lower end of 95 %, if there is none.
    pub below: Option<Flat>,
    /// Why there is no upper one.
    pub above: Option<Flat>,
    /// The curve, from low to high values.
    pub points: Vec<ProfilePoint>,
}

/// A point of a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfilePoint {
    /// The value of the unknown.
    pub value: f64,
    /// Twice what the log-likelihood is below its largest value.
    #[serde(deserialize_with = "number")]
    pub rise: f64,
    /// All unknowns there.
    #[serde(deserialize_with = "list")]
    pub unknowns: Vec<f64>,
}

/// Why a side of a profile has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flat {
    /// These data do not limit the unknown there; better ones may.
    Practically,
    /// No data of this kind can: other unknowns make up for any value.
    Structurally,
}
