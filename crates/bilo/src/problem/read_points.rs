//! The points of an equation or an observation.

use super::data::{DataFile, Held, read_points};
use super::folder::Folder;
use super::model::Coordinate;
use super::points_spec::PointsSpec;
use super::reader::{Reader, count, numbers, string, table};
use crate::diagnostic::{Diagnostic, Error, Result, list, suggest};

/// The ways to lay out points.
const LAYOUTS: [&str; 4] = ["grid", "random", "sobol", "file"];

/// The keys of a table of points.
pub(super) const POINTS_KEYS: &[&str] = &["grid", "random", "sobol", "file", "at", "where"];

/// Reads points as stated; `reader` is over their table.
pub(super) fn read_spec(
    reader: &Reader<'_>,
    coordinates: &[Coordinate],
    folder: Folder<'_>,
) -> Result<PointsSpec> {
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
    let spec = read_at(reader)?.into_iter().fold(spec, |spec, (name, values)| spec.hold(&name, values));
    with_filter(spec, reader)
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

fn read_at(reader: &Reader<'_>) -> Result<Vec<(String, Vec<f64>)>> {
    let mut at = Vec::new();
    if let Some(node) = reader.get("at") {
        for entry in &table(node, "at")?.entries {
            at.push((entry.key.clone(), numbers(&entry.node, &entry.key, reader.constants())?));
        }
    }
    Ok(at)
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
pub(super) fn read_held(reader: &Reader<'_>, coordinates: &[Coordinate]) -> Result<Vec<Held>> {
    let Some(node) = reader.get("at") else {
        return Ok(Vec::new());
    };
    let mut held = Vec::new();
    for entry in &table(node, "at")?.entries {
        let Some(number) = coordinates.iter().position(|c| c.name == entry.key) else {
            let error =
                Diagnostic::new(format!("unknown coordinate `{}`", entry.key), entry.key_origin.clone());
            let names = coordinates.iter().map(|c| c.name.as_str());
            return Err(error.help(suggest(&entry.key, names)).into());
        };
        let value = super::reader::number(&entry.node, &entry.key, reader.constants())?;
        if let Some(why) = coordinates[number].excludes(value) {
            return Err(Diagnostic::new(why, entry.node.origin.clone()).into());
        }
        held.push(Held { coordinate: number, value, origin: entry.key_origin.clone() });
    }
    Ok(held)
}
