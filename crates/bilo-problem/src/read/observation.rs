//! The tables `[observation.NAME]`.

use crate::diagnostic::{Diagnostic, Result, suggest};
use crate::model::domain::Coordinate;
use crate::model::likelihood::Likelihood;
use crate::model::observation::Sigma;
use crate::read::Statement;
use crate::read::likelihood::read_likelihood;
use crate::read::points::{coordinate_number, read_spec};
use crate::schema;
use crate::tree::reader::{Reader, number, string, table, wrong_type};
use crate::tree::{Entry, Node, Value, join};
use crate::written::ObservationSpec;
use crate::written::data::{DataChoice, Decimal, FileLayout, FileSpec, Missing, SyntheticSpec};

impl Statement<'_> {
    pub(super) fn observation(&self, path: &str, entry: &Entry) -> Result<ObservationSpec> {
        let reader = Reader::of(&entry.node, path, self.constants, &schema::OBSERVATION.names())?;
        let likelihood = read_likelihood(&reader, self.coordinates)?;
        let particles = matches!(likelihood, Likelihood::PoissonProcess { .. });
        let data = reader.require("data", "{ file = \"data.csv\" }")?;
        Ok(ObservationSpec {
            name: entry.key.clone(),
            value: reader.expression("value")?,
            data: self.data(&join(path, "data"), data, particles)?.into(),
            likelihood,
            sigma: read_sigma(&reader)?,
            unit: reader.string("unit")?,
            weight: reader.number("weight")?.unwrap_or(1.0),
        })
    }

    /// Values at points, or places of `particles` only.
    fn data(&self, path: &str, node: &Node, particles: bool) -> Result<DataChoice> {
        let reader = Reader::of(node, path, self.constants, &schema::DATA.names())?;
        match (reader.get("synthetic"), reader.get("file")) {
            (Some(synthetic), None) if particles => drawn(synthetic),
            (Some(synthetic), None) => self.synthetic(&join(path, "synthetic"), synthetic),
            (None, Some(file)) => {
                let (name, at) = (string(file, "file")?.to_owned(), read_held(&reader)?);
                let layout = FileLayout {
                    columns: read_columns(&reader, self.coordinates, &["value", "sigma", "trials"])?,
                    origin: self.origins(&reader)?,
                    rows: read_rows(&reader)?,
                    skip_missing: reader.word::<Missing>("missing")? == Some(Missing::Skip),
                    decimal_comma: reader.word::<Decimal>("decimal")? == Some(Decimal::Comma),
                };
                Ok(DataChoice::File(FileSpec { name, at, layout }))
            }
            _ => {
                let error =
                    Diagnostic::new("data are either `synthetic` or from a `file`", node.origin.clone());
                Err(error.help("write `{ file = \"data.csv\" }`").into())
            }
        }
    }

    /// What is subtracted from coordinates.
    fn origins(&self, reader: &Reader<'_>) -> Result<Vec<(String, f64)>> {
        let Some(node) = reader.get("origin") else { return Ok(vec![]) };
        let entries = table(node, "origin")?.entries.iter();
        let origin = |entry: &Entry| {
            coordinate_number(entry, self.coordinates)?;
            Ok((entry.key.clone(), number(&entry.node, &entry.key, self.constants)?))
        };
        entries.map(origin).collect()
    }

    fn synthetic(&self, path: &str, node: &Node) -> Result<DataChoice> {
        let reader = Reader::of(node, path, self.constants, &schema::SYNTHETIC.names())?;
        let (value, field) = (reader.expression("value")?, read_field(&reader)?);
        if value.is_none() && field.is_some() {
            return Err(reader.missing("value", "\"u + 0.1*field\""));
        }
        let noise = reader.number("noise")?.unwrap_or(0.0);
        Ok(DataChoice::Synthetic(SyntheticSpec { points: read_spec(&reader, self)?, noise, value, field }))
    }
}

/// What the columns of a file are called: those of coordinates, and of these further ones.
pub(super) fn read_columns(
    reader: &Reader<'_>,
    coordinates: &[Coordinate],
    further: &[&str],
) -> Result<Vec<(String, String)>> {
    let Some(node) = reader.get("columns") else { return Ok(vec![]) };
    let roles: Vec<&str> =
        coordinates.iter().map(|c| c.name.as_str()).chain(further.iter().copied()).collect();
    let mut columns = vec![];
    for entry in &table(node, "columns")?.entries {
        if !roles.contains(&entry.key.as_str()) {
            let further: Vec<String> = further.iter().map(|role| format!("`{role}`")).collect();
            let message = format!("`{}` is no coordinate, nor {}", entry.key, further.join(" or "));
            let error = Diagnostic::new(message, entry.key_origin.clone());
            return Err(error.help(suggest(&entry.key, roles)).into());
        }
        columns.push((entry.key.clone(), string(&entry.node, &entry.key)?.to_owned()));
    }
    Ok(columns)
}

/// The rows of a table to take: what one column says, or may say.
fn read_rows(reader: &Reader<'_>) -> Result<Vec<(String, Vec<String>)>> {
    let Some(node) = reader.get("rows") else { return Ok(vec![]) };
    let said = |node: &Node, column: &str| match &node.value {
        Value::Text(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        _ => Err(wrong_type(node, column, "what the column says: a string or a number, or a list of such")),
    };
    let mut rows = vec![];
    for entry in &table(node, "rows")?.entries {
        let allowed = match &entry.node.value {
            Value::List(items) => items.iter().map(|item| said(item, &entry.key)).collect::<Result<_>>()?,
            _ => vec![said(&entry.node, &entry.key)?],
        };
        rows.push((entry.key.clone(), allowed));
    }
    Ok(rows)
}

/// `sigma`: a number, or the word `estimate`.
fn read_sigma(reader: &Reader<'_>) -> Result<Sigma> {
    if reader.is_estimate("sigma") {
        return Ok(Sigma::Estimated);
    }
    Ok(reader.number("sigma")?.map_or(Sigma::OfData, Sigma::Known))
}

fn drawn(synthetic: &Node) -> Result<DataChoice> {
    let Some(entry) = table(synthetic, "synthetic")?.entries.first() else { return Ok(DataChoice::Drawn) };
    let message = format!("`{}` does not belong to synthetic particles", entry.key);
    let help = "the likelihood's quadrature says where they may be: write `synthetic = {}`";
    Err(Diagnostic::new(message, entry.key_origin.clone()).help(help).into())
}

/// Standard deviation and length of the random field that synthetic data are made of.
fn read_field(reader: &Reader<'_>) -> Result<Option<(f64, f64)>> {
    let Some(node) = reader.get("field") else { return Ok(None) };
    let path = reader.path("field");
    let inner = Reader::of(node, &path, reader.constants(), &schema::FIELD.names())?;
    let number = |key: &str, example: &str| inner.number(key)?.ok_or_else(|| inner.missing(key, example));
    Ok(Some((number("sd", "1.0")?, number("length", "0.1")?)))
}

/// The coordinates that `at` holds at one value each, by name.
pub(super) fn read_held(reader: &Reader<'_>) -> Result<Vec<(String, f64)>> {
    let Some(node) = reader.get("at") else { return Ok(vec![]) };
    let entries = table(node, "at")?.entries.iter();
    entries
        .map(|entry| Ok((entry.key.clone(), number(&entry.node, &entry.key, reader.constants())?)))
        .collect()
}
