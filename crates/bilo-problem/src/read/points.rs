//! The points of an equation or an observation.

use crate::diagnostic::{Diagnostic, Error, Result, list, suggest};
use crate::files::folder::Folder;
use crate::model::{Coordinate, Formula, Unknown};
use crate::resolve::data_file::{DataFile, Held, read_points};
use crate::tree::reader::{Reader, count, formula, numbers, string, table};
use crate::tree::{Entry, Node, Value};
use crate::written::points::{Ground, PointsSpec, names_unknown};

/// The ways to lay out points.
const LAYOUTS: [&str; 4] = ["grid", "random", "sobol", "file"];

/// Adds how often training takes other points.
pub(crate) fn with_renewal(spec: PointsSpec, reader: &Reader<'_>) -> Result<PointsSpec> {
    Ok(match (reader.count("resample")?, reader.count("batch")?) {
        (None, None) => spec,
        (every, batch) => spec.renew(every.unwrap_or(1), batch),
    })
}

/// Reads points as stated; `reader` is over their table.
pub(crate) fn read_spec(reader: &Reader<'_>, ground: Ground<'_>, folder: Folder<'_>) -> Result<PointsSpec> {
    let coordinates = ground.coordinates;
    let given: Vec<&str> = LAYOUTS.into_iter().filter(|key| reader.get(key).is_some()).collect();
    let spec = match given[..] {
        [] if reader.get("at").is_some() => PointsSpec::grid([]),
        [] => return Err(no_layout(reader, coordinates)),
        ["grid"] => read_grid(reader)?,
        ["random"] => PointsSpec::random(reader.count("random")?.unwrap_or(0)),
        ["sobol"] => PointsSpec::sobol(reader.count("sobol")?.unwrap_or(0)),
        ["file"] => return with_filter(read_listed(reader, coordinates, folder)?, reader),
        _ => {
            let message = format!("points are laid out in one way, found {}", list(given));
            return Err(Diagnostic::new(message, reader.origin().clone()).into());
        }
    };
    with_filter(read_at(spec, reader, ground.unknowns)?, reader)
}

fn no_layout(reader: &Reader<'_>, coordinates: &[Coordinate]) -> Error {
    let help = format!(
        "write `grid = {{ {} }}`, `random = 1000`, `sobol = 1024` or `file = \"points.csv\"`, or hold all by `at`",
        example_counts(coordinates)
    );
    Diagnostic::new("the points are not laid out", reader.origin().clone()).help(help).into()
}

/// `x = 51, t = 51`
pub(crate) fn example_counts(coordinates: &[Coordinate]) -> String {
    let counts: Vec<String> = coordinates.iter().map(|c| format!("{} = 51", c.name)).collect();
    counts.join(", ")
}

fn with_filter(spec: PointsSpec, reader: &Reader<'_>) -> Result<PointsSpec> {
    Ok(match reader.formula("where")? {
        Some(filter) => spec.keep_formula(filter),
        None => spec,
    })
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

/// Numbers, or a place that follows unknowns.
fn read_at(mut spec: PointsSpec, reader: &Reader<'_>, unknowns: &[Unknown]) -> Result<PointsSpec> {
    let Some(node) = reader.get("at") else { return Ok(spec) };
    for entry in &table(node, "at")?.entries {
        spec = match moving_place(&entry.node, unknowns)? {
            Some(place) => spec.follow_formula(&entry.key, place),
            None => spec.hold(&entry.key, numbers(&entry.node, &entry.key, reader.constants())?),
        };
    }
    Ok(spec)
}

/// The expression of a place, if it names an unknown; such a place must be the only one.
fn moving_place(node: &Node, unknowns: &[Unknown]) -> Result<Option<Formula>> {
    let written = |node: &Node| match node.value {
        Value::Text(_) => formula(node, "at").map(|place| names_unknown(&place, unknowns).map(|_| place)),
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

/// Points of a file, the coordinates it lacks held by `at`.
fn read_listed(reader: &Reader<'_>, coordinates: &[Coordinate], folder: Folder<'_>) -> Result<PointsSpec> {
    let node = reader.require("file", "\"points.csv\"")?;
    let held = read_held(reader, coordinates)?;
    let name = string(node, "file")?;
    let file = DataFile { name, folder, origin: &node.origin, coordinates, held: &held };
    Ok(PointsSpec::list(read_points(&file)?))
}

/// The coordinates that `at` holds at one value each, beside a file.
pub(crate) fn read_held(reader: &Reader<'_>, coordinates: &[Coordinate]) -> Result<Vec<Held>> {
    let Some(node) = reader.get("at") else {
        return Ok(Vec::new());
    };
    let mut held = Vec::new();
    for entry in &table(node, "at")?.entries {
        let number = coordinate_number(entry, coordinates)?;
        let value = crate::tree::reader::number(&entry.node, &entry.key, reader.constants())?;
        if let Some(why) = coordinates[number].excludes(value) {
            return Err(Diagnostic::new(why, entry.node.origin.clone()).into());
        }
        held.push(Held { coordinate: number, value, origin: entry.key_origin.clone() });
    }
    Ok(held)
}

/// The number of the coordinate that a key names.
pub(crate) fn coordinate_number(entry: &Entry, coordinates: &[Coordinate]) -> Result<usize> {
    coordinates.iter().position(|c| c.name == entry.key).ok_or_else(|| {
        let error = Diagnostic::new(format!("unknown coordinate `{}`", entry.key), entry.key_origin.clone());
        error.help(suggest(&entry.key, coordinates.iter().map(|c| c.name.as_str()))).into()
    })
}
