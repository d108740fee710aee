//! Given fields over coordinates that are known.

use crate::diagnostic::{Diagnostic, Origin, Result, suggest};
use crate::grid::raster::Raster;
use crate::model::domain::{Coordinate, divided};
use crate::model::given::GivenField;
use crate::resolve::diffuse::Diffuse;
use crate::resolve::image::ImageFile;
use crate::resolve::points::Ground;
use crate::resolve::values::Values;
use crate::written::given::{GivenContent, GivenSpec, ImageSpec};
use std::sync::Arc;

/// A given field with its values read, but not looked at.
pub(crate) struct Stated {
    pub(crate) name: String,
    pub(crate) content: Content,
    pub(crate) source: String,
    pub(crate) origin: Origin,
}

pub(crate) enum Content {
    Values(Values),
    Diffuse(Diffuse),
}

impl Stated {
    fn new(spec: GivenSpec, ground: Ground<'_>) -> Result<Stated> {
        let path = format!("given.{}", spec.name);
        let places = ground.places;
        if let Some(message) = spec.misplaced {
            return Err(places.error(&path, message).into());
        }
        let (content, source, origin) = match spec.content {
            GivenContent::Grid { of, nodes, values, interpolation } => {
                let (of, raster) = on_grid(&of, &nodes, values, ground.coordinates)
                    .map_err(|why| places.error(&path, why))?;
                let values = Values::new(raster, &of, interpolation);
                (Content::Values(values), "on a grid".to_owned(), Origin::none())
            }
            GivenContent::Diffuse { condition, width, floor } => {
                let condition = places.formula(&format!("{path}.diffuse"), &condition)?;
                let source = format!("`{}`, smoothed over {width}", condition.text);
                (Content::Diffuse(Diffuse::new(condition, width, floor)), source, places.get(&path))
            }
            GivenContent::Image(image) => {
                let values = from_image(&image, &spec.name, &path, ground)?;
                let origin = places.get(&format!("{path}.file"));
                (Content::Values(values), format!("from {}", image.file), origin)
            }
        };
        Ok(Stated { name: spec.name, content, source, origin })
    }

    /// An error about it; without a file to show, the message names the field.
    pub(crate) fn error(&self, message: String) -> Diagnostic {
        let message = if self.origin.is_none() { format!("given.{}: {message}", self.name) } else { message };
        Diagnostic::new(message, self.origin.clone())
    }
}

/// The fields, checked: those with values first, since the others are made from them.
pub(crate) fn resolve(specs: Vec<GivenSpec>, ground: Ground<'_>) -> Result<Vec<GivenField>> {
    let Ground { coordinates, constants, .. } = ground;
    let stated = specs.into_iter().map(|spec| Stated::new(spec, ground)).collect::<Result<Vec<_>>>()?;
    let mut sources = vec![];
    for field in &stated {
        if let Content::Values(values) = &field.content {
            if let Some(why) = values.fault(coordinates) {
                return Err(field.error(format!("`{}` cannot be used: {why}", field.name)).into());
            }
            sources.push((&field.name[..], values));
        }
    }
    let mut fields = vec![];
    for field in &stated {
        let values = match &field.content {
            Content::Values(values) => values.clone(),
            Content::Diffuse(diffuse) => {
                diffuse.values(|message| field.error(message), &sources, constants)?
            }
        };
        let range = values
            .raster
            .values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        fields.push(GivenField {
            name: field.name.clone(),
            of: values.of,
            spline: Arc::new(values.raster.spline(values.interpolation)),
            range,
            source: field.source.clone(),
            origin: field.origin.clone(),
        });
    }
    Ok(fields)
}

/// The numbers of coordinates by their names, each once; else why not and which name is at fault.
fn numbers_of(
    names: &[String],
    coordinates: &[Coordinate],
) -> std::result::Result<Vec<usize>, (String, usize)> {
    let mut found = vec![];
    for (place, name) in names.iter().enumerate() {
        let Some(number) = coordinates.iter().position(|c| c.name == *name) else {
            let hint = suggest(name, coordinates.iter().map(|c| c.name.as_str()));
            return Err((format!("there is no coordinate `{name}`; {hint}"), place));
        };
        if found.contains(&number) {
            return Err((format!("the coordinate `{name}` stands here twice"), place));
        }
        found.push(number);
    }
    if found.is_empty() {
        return Err(("a given field depends on at least one coordinate".to_owned(), 0));
    }
    Ok(found)
}

/// Values over nodes along named coordinates, with the numbers of these; says why if they are none.
fn on_grid(
    of: &[String],
    nodes: &[Vec<f64>],
    values: Vec<f64>,
    coordinates: &[Coordinate],
) -> std::result::Result<(Vec<usize>, Raster), String> {
    let of = numbers_of(of, coordinates).map_err(|(why, _)| why)?;
    if of.len() != nodes.len() {
        return Err(format!("nodes along {} coordinates for {}", nodes.len(), of.len()));
    }
    Ok((of, Raster::over_nodes(nodes, values)?))
}

fn from_image(image: &ImageSpec, field: &str, path: &str, ground: Ground<'_>) -> Result<Values> {
    let Ground { coordinates, places, folder, .. } = ground;
    let of = axes_of(image, path, ground)?;
    let own = of.iter().map(|&c| &coordinates[c]).collect();
    let raster = ImageFile { spec: image, field, path, own, places, folder }.values()?;
    Ok(Values::new(raster, &of, image.between()))
}

/// The coordinates of an image's axes: all of space, unless stated.
fn axes_of(image: &ImageSpec, path: &str, ground: Ground<'_>) -> Result<Vec<usize>> {
    let Some(names) = &image.of else { return Ok(divided(ground.coordinates)) };
    numbers_of(names, ground.coordinates)
        .map_err(|(why, place)| ground.places.error(&format!("{path}.of.{place}"), why).into())
}
