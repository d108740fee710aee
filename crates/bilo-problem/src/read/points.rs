//! The points of an equation or an observation.

use crate::diagnostic::{Diagnostic, Error, Result, list, suggest};
use crate::model::domain::Coordinate;
use crate::model::formula::Formula;
use crate::model::unknown::Unknown;
use crate::read::Statement;
use crate::schema;
use crate::tree::reader::{Reader, count, formula, number, numbers, string, table};
use crate::tree::{Entry, Node, Value};
use crate::written::points::PointsSpec;

/// The ways to lay out points.
const LAYOUTS: [&str; 4] = ["grid", "random", "sobol", "file"];

/// The points of an equation, which training may renew.
pub(super) fn of_equation(node: &Node, path: &str, statement: &Statement<'_>) -> Result<PointsSpec> {
    let keys = schema::EQUATION_POINTS.names();
    let reader = Reader::of(node, path, statement.constants, &keys)?;
    let spec = read_spec(&reader, statement)?;
    Ok(match (reader.count("resample")?, reader.count("batch")?) {
        (None, None) => spec,
        (every, batch) => spec.renew(every.unwrap_or(1), batch),
    })
}

/// Reads points as stated; `reader` is over their table.
pub(super) fn read_spec(reader: &Reader<'_>, statement: &Statement<'_>) -> Result<PointsSpec> {
    let stated: Vec<&str> = LAYOUTS.into_iter().filter(|key| reader.get(key).is_some()).collect();
    let spec = match stated[..] {
        [] if reader.get("at").is_some() => PointsSpec::grid([]),
        [] => return Err(no_layout(reader, statement.coordinates)),
        ["grid"] => read_grid(reader)?,
        ["random"] => PointsSpec::random(reader.count("random")?.unwrap_or(0)),
        ["sobol"] => PointsSpec::sobol(reader.count("sobol")?.unwrap_or(0)),
        ["file"] => PointsSpec::file(string(reader.require("file", "\"points.csv\"")?, "file")?),
        _ => {
            let message = format!("points are laid out in one way, found {}", list(stated));
            return Err(Diagnostic::new(message, reader.origin().clone()).into());
        }
    };
    let spec = read_at(spec, reader, statement.unknowns)?;
    Ok(match reader.expression("where")? {
        Some(filter) => spec.keep(&filter),
        None => spec,
    })
}

fn no_layout(reader: &Reader<'_>, coordinates: &[Coordinate]) -> Error {
    let help = format!(
        "write `grid = {{ {} }}`, `random = 1000`, `sobol = 1024` or `file = \"points.csv\"`, or hold all by `at`",
        example_counts(coordinates)
    );
    Diagnostic::new("the points are not laid out", reader.origin().clone()).help(help).into()
}

/// `x = 51, t = 51`
pub(super) fn example_counts(coordinates: &[Coordinate]) -> String {
    let counts: Vec<String> = coordinates.iter().map(|c| format!("{} = 51", c.name)).collect();
    counts.join(", ")
}

fn read_grid(reader: &Reader<'_>) -> Result<PointsSpec> {
    let mut counts = Vec::new();
    if let Some(node) = reader.get("grid") {
        for entry in &table(node, "grid")?.entries {
            counts.push((entry.key.as_str(), count(&entry.node, &entry.key)?));
        }
    }
    Ok(PointsSpec::grid(counts))
}

/// Numbers, or a place that follows unknowns; beside a file one number.
pub(super) fn read_at(mut spec: PointsSpec, reader: &Reader<'_>, unknowns: &[Unknown]) -> Result<PointsSpec> {
    let Some(node) = reader.get("at") else { return Ok(spec) };
    let beside_file = reader.get("file").is_some();
    for Entry { key, node, .. } in &table(node, "at")?.entries {
        spec = match moving_place(node, unknowns)? {
            _ if beside_file => spec.hold(key, [number(node, key, reader.constants())?]),
            Some(place) => spec.follow(key, &place.text),
            None => spec.hold(key, numbers(node, key, reader.constants())?),
        };
    }
    Ok(spec)
}

/// The expression of a place, if it names an unknown; such a place must be the only one.
fn moving_place(node: &Node, unknowns: &[Unknown]) -> Result<Option<Formula>> {
    let written = |node: &Node| match node.value {
        Value::Text(_) => {
            formula(node, "at").map(|place| Some(place).filter(|place| place.names_any(unknowns)))
        }
        _ => Ok(None),
    };
    let Value::List(places) = &node.value else { return written(node) };
    for place in places {
        if let Some(place) = written(place)? {
            let message = "a place that follows an unknown must be the only one";
            let help = "give each such place an equation of its own";
            return Err(Diagnostic::new(message, place.origin).help(help).into());
        }
    }
    Ok(None)
}

/// The number of the coordinate that a key names.
pub(super) fn coordinate_number(entry: &Entry, coordinates: &[Coordinate]) -> Result<usize> {
    coordinates.iter().position(|c| c.name == entry.key).ok_or_else(|| {
        let error = Diagnostic::new(format!("unknown coordinate `{}`", entry.key), entry.key_origin.clone());
        error.help(suggest(&entry.key, coordinates.iter().map(|c| c.name.as_str()))).into()
    })
}
