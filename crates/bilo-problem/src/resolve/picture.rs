//! Pictures by the numbers of coordinates and observations.

use crate::diagnostic::{Diagnostic, Result, suggest};
use crate::model::domain::Coordinate;
use crate::model::observation::Observation;
use crate::model::picture::{Contour, Picture};
use crate::resolve::points::Ground;
use crate::written::picture::{ContourSpec, PictureSpec};

/// A picture of what is observed.
pub(crate) fn resolve(
    spec: PictureSpec,
    ground: Ground<'_>,
    observations: &[Observation],
) -> Result<Picture> {
    let path = format!("picture.{}", spec.name);
    let formula = |key: &str, text: &Option<String>| {
        text.as_ref().map(|text| ground.places.formula(&format!("{path}.{key}"), text)).transpose()
    };
    let axes = axes(&spec, &path, ground)?;
    let picture = Picture {
        at: rest(&spec, &path, ground, axes)?,
        axes,
        background: formula("background", &spec.background)?,
        field: formula("field", &spec.field)?,
        contours: contours(&spec.contours, &path, ground, observations)?,
        name: spec.name,
    };
    if picture.formulas().next().is_none() {
        let error = ground.places.error(&path, "the picture shows nothing");
        let help = "add `field = \"u\"`, `contours = [{ value = \"u\", level = 0.5 }]` or a `background`";
        return Err(error.help(help).into());
    }
    Ok(picture)
}

/// Two coordinates; those of space come first if none are named.
fn axes(spec: &PictureSpec, path: &str, ground: Ground<'_>) -> Result<[usize; 2]> {
    let Ground { coordinates, places, .. } = ground;
    let Some([right, up]) = &spec.axes else {
        let mut all: Vec<usize> = (0..coordinates.len()).collect();
        all.sort_by_key(|&c| coordinates[c].time);
        let [first, second, ..] = all[..] else {
            let message = "a picture is over two coordinates, and the problem has one";
            return Err(places.error(path, message).into());
        };
        return Ok([first, second]);
    };
    let names = names(coordinates);
    let find =
        |name: &str, place: &str| find(name, &names, "coordinate", &format!("{path}.axes{place}"), ground);
    let axes = [find(right, ".0")?, find(up, ".1")?];
    if axes[0] == axes[1] {
        return Err(places.error(&format!("{path}.axes"), "the axes must be different").into());
    }
    Ok(axes)
}

/// Where the coordinates are that are no axes; the time is at its end if nothing else is said.
fn rest(spec: &PictureSpec, path: &str, ground: Ground<'_>, axes: [usize; 2]) -> Result<Vec<(usize, f64)>> {
    let Ground { coordinates, places, .. } = ground;
    let held = ground.held(&spec.at, path)?;
    if let Some(held) = held.iter().find(|held| axes.contains(&held.coordinate)) {
        let message = format!("`{}` is an axis of the picture", coordinates[held.coordinate].name);
        return Err(Diagnostic::new(message, held.origin.clone().unwrap_or_default()).into());
    }
    let mut rest = vec![];
    for (c, coordinate) in coordinates.iter().enumerate().filter(|(c, _)| !axes.contains(c)) {
        let value = held.iter().find(|held| held.coordinate == c).map(|held| held.value);
        let Some(value) = value.or(coordinate.time.then_some(coordinate.hi)) else {
            let name = &coordinate.name;
            let help = format!("add `{name}` to `axes`, or `at = {{ {name} = {:?} }}`", coordinate.lo);
            let message = format!("the picture does not say where `{name}` is");
            return Err(places.error(path, message).help(help).into());
        };
        rest.push((c, value));
    }
    Ok(rest)
}

fn contours(
    specs: &[ContourSpec],
    path: &str,
    ground: Ground<'_>,
    observations: &[Observation],
) -> Result<Vec<Contour>> {
    let observed: Vec<&str> = observations.iter().map(|observation| observation.name.as_str()).collect();
    let contour = |(number, spec): (usize, &ContourSpec)| {
        let path = |key: &str| format!("{path}.contours.{number}.{key}");
        let value = ground.places.formula(&path("value"), &spec.value)?;
        let level = ground.places.formula(&path("level"), &spec.level)?;
        let find = |name: &String| find(name, &observed, "observation", &path("data"), ground);
        let data = spec.data.as_ref().map(find).transpose()?;
        let own =
            || data.map_or_else(|| format!("{} = {}", value.text, level.text), |d| observed[d].to_string());
        let name = spec.name.clone().unwrap_or_else(own);
        Ok(Contour { value, level, data, name })
    };
    specs.iter().enumerate().map(contour).collect()
}

fn names(coordinates: &[Coordinate]) -> Vec<&str> {
    coordinates.iter().map(|coordinate| coordinate.name.as_str()).collect()
}

/// The number of a name among those of its kind.
fn find(name: &str, names: &[&str], kind: &str, path: &str, ground: Ground<'_>) -> Result<usize> {
    names.iter().position(|other| *other == name).ok_or_else(|| {
        let error = ground.places.error(path, format!("unknown {kind} `{name}`"));
        error.help(suggest(name, names.iter().copied())).into()
    })
}
