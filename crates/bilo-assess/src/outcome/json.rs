//! How parts of an outcome stand in `outcome.json`: named lists as objects, numbers that are not finite as null.

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// An entry of a list that is an object in JSON, with its name as the key.
pub(super) trait Named {
    /// Its name.
    fn name(&self) -> &str;

    /// The entry under a name.
    fn named(self, name: String) -> Self;
}

/// A list of named entries, for `#[serde(with)]`.
pub(super) mod named {
    use super::*;

    pub(crate) fn serialize<T: Named + Serialize, S: Serializer>(
        list: &[T],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(list.iter().map(|entry| (entry.name(), entry)))
    }

    pub(crate) fn deserialize<'de, T: Named + Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error> {
        let pairs = pairs::deserialize(deserializer)?;
        Ok(pairs.into_iter().map(|(name, entry): (String, T)| entry.named(name)).collect())
    }
}

/// A list of names and values, for `#[serde(with)]`.
pub(super) mod pairs {
    use super::*;

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        list: &[(String, T)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(list.len()))?;
        list.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, T)>, D::Error> {
        deserializer.deserialize_map(Pairs(PhantomData))
    }
}

/// Names and numbers, for `#[serde(with)]`.
pub(super) mod numbers {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(list: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
        pairs::serialize(list, serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, f64)>, D::Error> {
        let pairs: Vec<(String, Option<f64>)> = pairs::deserialize(deserializer)?;
        Ok(pairs.into_iter().map(|(name, value)| (name, value.unwrap_or(f64::NAN))).collect())
    }
}

struct Pairs<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
    type Value = Vec<(String, T)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = vec![];
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}

/// A number, not finite where it is null, for `#[serde(deserialize_with)]`.
pub(super) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Rows of numbers, for `#[serde(deserialize_with)]`.
pub(super) fn rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<f64>>, D::Error> {
    let rows: Vec<Vec<Option<f64>>> = Vec::deserialize(deserializer)?;
    Ok(rows.into_iter().map(finite_or_not).collect())
}

/// A list of numbers, for `#[serde(deserialize_with)]`.
pub(super) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    Ok(finite_or_not(Vec::deserialize(deserializer)?))
}

/// Two numbers, for `#[serde(deserialize_with)]`.
pub(super) fn pair<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(f64, f64), D::Error> {
    match list(deserializer)?[..] {
        [first, second] => Ok((first, second)),
        _ => Err(D::Error::custom("two numbers are needed")),
    }
}

/// Two numbers or nothing, for `#[serde(deserialize_with)]`.
pub(super) fn optional_pair<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<(f64, f64)>, D::Error> {
    let pair: Option<(Option<f64>, Option<f64>)> = Option::deserialize(deserializer)?;
    Ok(pair.map(|(first, second)| (first.unwrap_or(f64::NAN), second.unwrap_or(f64::NAN))))
}

fn finite_or_not(values: Vec<Option<f64>>) -> Vec<f64> {
    values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect()
}
