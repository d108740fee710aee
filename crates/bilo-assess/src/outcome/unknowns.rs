//! The results for the unknowns, numbers and functions.

use super::json::{Named, optional_pair, pair};
use bilo_problem::{Problem, Unknown};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The results for all unknowns: one object in `outcome.json`, where `kind` tells numbers from functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unknowns {
    /// The numbers.
    pub numbers: Vec<ScalarOutcome>,
    /// The functions.
    pub functions: Vec<FunctionOutcome>,
}

/// The result for one scalar unknown.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct ScalarOutcome {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// Its unit, if the problem states one.
    pub unit: Option<String>,
    /// Where the search started.
    pub guess: f64,
    /// Where it ended.
    #[serde(deserialize_with = "super::json::number")]
    pub estimate: f64,
    /// The true value, if known.
    pub truth: Option<f64>,
    /// The value that is best for the data under the exact PDE; none if the reference solver could
    /// not find it.
    pub data_optimal: Option<f64>,
    /// Standard deviation of the estimate by the reference solver's sensitivities.
    pub sd: Option<f64>,
    /// Standard deviation of the estimate by the local operator's sensitivities.
    pub sd_network: Option<f64>,
    /// The 68 % confidence interval.
    #[serde(default, deserialize_with = "optional_pair")]
    pub interval_68: Option<(f64, f64)>,
    /// The 95 % confidence interval.
    #[serde(default, deserialize_with = "optional_pair")]
    pub interval_95: Option<(f64, f64)>,
    /// Values that it may not leave.
    #[serde(default, deserialize_with = "optional_pair")]
    pub bounds: Option<(f64, f64)>,
    /// Whether it is positive by its statement.
    #[serde(default)]
    pub positive: bool,
}

impl ScalarOutcome {
    /// The unknowns of a problem at the variables where a run ended.
    pub fn all(problem: &Problem, eta: &[f64]) -> Vec<ScalarOutcome> {
        let outcome = |(unknown, &eta): (&Unknown, &f64)| ScalarOutcome {
            name: unknown.name.clone(),
            unit: unknown.unit.clone(),
            guess: unknown.guess,
            estimate: unknown.theta_of(eta),
            truth: unknown.truth,
            bounds: unknown.bounds,
            positive: unknown.is_positive(),
            ..ScalarOutcome::default()
        };
        problem.unknowns.iter().zip(eta).map(outcome).collect()
    }

    /// The network's standard deviation over the classical one: near 1 if both see the data alike.
    pub fn sd_ratio(&self) -> Option<f64> {
        Some(self.sd_network? / self.sd?)
    }

    /// |estimate - truth| / |truth|, or the absolute error where the truth is zero.
    pub fn relative_error(&self) -> Option<f64> {
        self.truth.map(|truth| {
            let error = (self.estimate - truth).abs();
            if truth == 0.0 { error } else { error / truth.abs() }
        })
    }
}

/// With what follows from the rest, for those who read the file without this program.
impl Serialize for ScalarOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("ScalarOutcome", 14)?;
        object.serialize_field("kind", "scalar")?;
        match &self.unit {
            Some(unit) => object.serialize_field("unit", unit)?,
            None => object.skip_field("unit")?,
        }
        object.serialize_field("guess", &self.guess)?;
        object.serialize_field("estimate", &self.estimate)?;
        object.serialize_field("truth", &self.truth)?;
        object.serialize_field("relative_error", &self.relative_error())?;
        object.serialize_field("data_optimal", &self.data_optimal)?;
        object.serialize_field("sd", &self.sd)?;
        object.serialize_field("sd_network", &self.sd_network)?;
        object.serialize_field("sd_ratio", &self.sd_ratio())?;
        object.serialize_field("interval_68", &self.interval_68)?;
        object.serialize_field("interval_95", &self.interval_95)?;
        object.serialize_field("bounds", &self.bounds)?;
        object.serialize_field("positive", &self.positive)?;
        object.end()
    }
}

/// The result for one unknown function. Its values are among the [`Fields`](super::Fields): the estimate under its
/// name, `NAME_guess`, `NAME_truth` and `NAME_sd`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "function")]
pub struct FunctionOutcome {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// The names of the coordinates, or of the state, that it depends on.
    pub of: Vec<String>,
    /// Its unit, if the problem states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// ||estimate - truth|| / ||truth||, if the truth is known.
    pub relative_l2_error: Option<f64>,
    /// ||guess - truth|| / ||truth||, if the truth is known.
    pub relative_l2_error_of_guess: Option<f64>,
    /// ||standard deviation|| / ||estimate||, by the reference solver's sensitivities; the deviations are the field
    /// `NAME_sd`.
    pub relative_sd: Option<f64>,
    /// The share of the domain where the estimate is on the same side of the function's threshold as the
    /// truth, if both are stated.
    pub classification_accuracy: Option<f64>,
    /// Least and greatest value of the estimate.
    #[serde(deserialize_with = "pair")]
    pub range: (f64, f64),
    /// Which gradient moved it: `"pointwise"`, `"exact"`, `"joint"` (that of a physics-informed network's one loss),
    /// `"hypergradient"` (BPN's) or `"learned"`.
    pub gradient: Cow<'static, str>,
}

/// A quantity that follows from the unknowns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DerivedOutcome {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// At the estimate.
    #[serde(deserialize_with = "super::json::number")]
    pub estimate: f64,
    /// At the truth, if that is known.
    pub truth: Option<f64>,
    /// Its standard deviation, to first order in those of the unknowns.
    pub sd: Option<f64>,
    /// The 95 % confidence interval.
    #[serde(default, deserialize_with = "optional_pair")]
    pub interval_95: Option<(f64, f64)>,
}

impl Named for DerivedOutcome {
    fn name(&self) -> &str {
        &self.name
    }

    fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

impl Named for ScalarOutcome {
    fn name(&self) -> &str {
        &self.name
    }

    fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

impl Named for FunctionOutcome {
    fn name(&self) -> &str {
        &self.name
    }

    fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

/// One entry of the object, whichever it is.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Entry<T, U> {
    Function(U),
    Number(T),
}

impl Serialize for Unknowns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = self.numbers.iter().map(|number| (&number.name, Entry::Number(number)));
        let functions = self.functions.iter().map(|function| (&function.name, Entry::Function(function)));
        serializer.collect_map(numbers.chain(functions))
    }
}

impl<'de> Deserialize<'de> for Unknowns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Unknowns;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of unknowns")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unknowns, A::Error> {
        let mut found = Unknowns::default();
        while let Some((name, entry)) = map.next_entry::<String, Entry<ScalarOutcome, FunctionOutcome>>()? {
            match entry {
                Entry::Number(number) => found.numbers.push(number.named(name)),
                Entry::Function(function) => found.functions.push(function.named(name)),
            }
        }
        Ok(found)
    }
}
