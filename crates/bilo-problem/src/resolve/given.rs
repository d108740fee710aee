//! Given fields: functions of coordinates that are known by their values on a grid, such as images.

use crate::diagnostic::{Diagnostic, Origin, Result, suggest};
use crate::evaluate::names::Names;
use crate::grid::raster::Raster;
use crate::model::{Constant, Coordinate, Problem};
use crate::resolve::diffuse::Diffuse;
use crate::spline::{Interpolation, Spline};
use bilo_expr::Leaf;
use std::sync::Arc;

/// A function of coordinates by its values on a grid of even spacing.
#[derive(Clone, Debug)]
pub struct GivenField {
    /// Its name in expressions.
    pub name: String,
    /// The coordinates that it depends on, by number, ascending: the axes of the spline.
    pub of: Vec<usize>,
    /// The function.
    pub spline: Arc<Spline>,
    /// The smallest and the largest value at the nodes.
    pub range: (f64, f64),
    /// Where the values come from, in words.
    pub source: String,
    /// Where the problem names them.
    pub origin: Origin,
}

/// Two are the same if they say the same, wherever they were written.
impl PartialEq for GivenField {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.of, &self.spline) == (&other.name, &other.of, &other.spline)
    }
}

impl GivenField {
    /// A derivative, of these orders along its coordinates, at points given by one column per coordinate of
    /// the problem.
    pub fn at(&self, columns: &[Vec<f64>], orders: &[u8]) -> Vec<f64> {
        let own: Vec<&[f64]> = self.of.iter().map(|&c| &columns[c][..]).collect();
        self.spline.at(&own, orders)
    }

    /// Its values at points given by one column per coordinate of its own.
    pub fn at_own(&self, columns: &[Vec<f64>]) -> Vec<f64> {
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        self.spline.at(&columns, &vec![0; columns.len()])
    }
}

/// A given field as it is stated in Rust.
#[derive(Clone, Debug)]
pub struct GivenSpec {
    name: String,
    content: SpecContent,
}

#[derive(Clone, Debug)]
enum SpecContent {
    Grid { of: Vec<String>, nodes: Vec<Vec<f64>>, values: Vec<f64>, interpolation: Interpolation },
    Diffuse { condition: String, width: f64, floor: f64 },
}

impl GivenSpec {
    /// Values in row-major order over nodes of even distance along some coordinates, by cubic splines.
    pub fn grid<'a>(
        name: &str,
        of: impl IntoIterator<Item = &'a str>,
        nodes: Vec<Vec<f64>>,
        values: Vec<f64>,
    ) -> Self {
        let of = of.into_iter().map(str::to_string).collect();
        let content = SpecContent::Grid { of, nodes, values, interpolation: Interpolation::Cubic };
        Self { name: name.to_string(), content }
    }

    /// The places where a condition of other given fields holds, as a smooth function that rises from
    /// 5 % to 95 % over a width.
    pub fn diffuse(name: &str, condition: &str, width: f64) -> Self {
        let content =
            SpecContent::Diffuse { condition: condition.to_string(), width, floor: Diffuse::DEFAULT_FLOOR };
        Self { name: name.to_string(), content }
    }

    /// What is between the nodes of values on a grid.
    pub fn interpolation(mut self, chosen: Interpolation) -> Self {
        if let SpecContent::Grid { interpolation, .. } = &mut self.content {
            *interpolation = chosen;
        }
        self
    }

    /// The value far from where a condition holds.
    pub fn floor(mut self, chosen: f64) -> Self {
        if let SpecContent::Diffuse { floor, .. } = &mut self.content {
            *floor = chosen;
        }
        self
    }

    /// The fields over coordinates that are known by now.
    pub(crate) fn resolve(
        specs: Vec<GivenSpec>,
        coordinates: &[Coordinate],
        constants: &[Constant],
    ) -> Result<Vec<GivenField>> {
        let stated = specs.into_iter().map(|spec| spec.stated(coordinates)).collect::<Result<Vec<_>>>()?;
        resolve(stated, coordinates, constants)
    }

    fn stated(self, coordinates: &[Coordinate]) -> Result<Stated> {
        let path = format!("given.{}", self.name);
        let content = match self.content {
            SpecContent::Grid { of, nodes, values, interpolation } => {
                let failed = |why: String| Diagnostic::new(format!("{path}: {why}"), Origin::none());
                let of: Vec<&str> = of.iter().map(String::as_str).collect();
                let of = numbers_of(&of, coordinates).map_err(|(why, _)| failed(why))?;
                if of.len() != nodes.len() {
                    let why = format!("nodes along {} coordinates for {}", nodes.len(), of.len());
                    return Err(failed(why).into());
                }
                let raster = Raster::over_nodes(&nodes, values).map_err(failed)?;
                Content::Values(Values::new(raster, &of, interpolation))
            }
            SpecContent::Diffuse { condition, width, floor } => {
                Content::Diffuse(Diffuse::parse(&path, &condition, width, floor)?)
            }
        };
        Ok(Stated { name: self.name, content, source: "on a grid".to_owned(), origin: Origin::none() })
    }
}

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

/// Values over coordinates, by number, ascending.
#[derive(Clone)]
pub(crate) struct Values {
    pub(crate) of: Vec<usize>,
    pub(crate) raster: Raster,
    pub(crate) interpolation: Interpolation,
}

impl Values {
    /// A raster whose axes are along these coordinates, in any order.
    pub(crate) fn new(raster: Raster, of: &[usize], interpolation: Interpolation) -> Self {
        let mut order: Vec<usize> = (0..of.len()).collect();
        order.sort_by_key(|&axis| of[axis]);
        let ascending = order.iter().map(|&axis| of[axis]).collect();
        Self { of: ascending, raster: raster.reordered(&order), interpolation }
    }

    fn fault(&self, coordinates: &[Coordinate]) -> Option<String> {
        let own: Vec<&Coordinate> = self.of.iter().map(|&c| &coordinates[c]).collect();
        self.raster.fault(&own, self.interpolation.least_nodes())
    }
}

impl Stated {
    /// An error about it; without a file to show, the message names the field.
    pub(crate) fn error(&self, message: String) -> Diagnostic {
        let message = if self.origin.is_none() { format!("given.{}: {message}", self.name) } else { message };
        Diagnostic::new(message, self.origin.clone())
    }
}

/// The fields, checked: those with values first, since the others are made from them.
pub(crate) fn resolve(
    stated: Vec<Stated>,
    coordinates: &[Coordinate],
    constants: &[Constant],
) -> Result<Vec<GivenField>> {
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
            Content::Diffuse(diffuse) => diffuse.values(field, &sources, constants)?,
        };
        let Raster { axes, values: numbers } = values.raster;
        let range =
            numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        fields.push(GivenField {
            name: field.name.clone(),
            of: values.of,
            spline: Arc::new(Spline::new(values.interpolation, axes, numbers)),
            range,
            source: field.source.clone(),
            origin: field.origin.clone(),
        });
    }
    Ok(fields)
}

/// Networks know nothing of given fields: says so where an input uses one.
pub(crate) fn refuse_in_inputs(problem: &Problem) -> Result<()> {
    let mut names = Names::new(problem)?;
    for input in &problem.inputs {
        let value = names.lower(&input.value)?;
        let field = names.graph.leaves(&[value]).into_iter().find_map(|leaf| match leaf {
            Leaf::Derivative(function, _) => names.given_field(function),
            Leaf::Symbol(_) => None,
        });
        if let Some(field) = field {
            let message = format!("the input `{}` uses the given field `{}`", input.name, field.name);
            let help = "an input is an expression of coordinates, constants and unknown numbers";
            return Err(Diagnostic::new(message, input.value.origin.clone()).help(help).into());
        }
    }
    Ok(())
}

/// The numbers of coordinates by their names, each once; else why not and which name is at fault.
pub(crate) fn numbers_of(
    names: &[&str],
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
