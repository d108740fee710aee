//! Pictures of a result over two coordinates: read from `[picture.NAME]`.

use crate::diagnostic::{Diagnostic, Origin, Result, suggest};
use crate::evaluate::names::Names;
use crate::evaluate::points::place_at;
use crate::model::observation::Observation;
use crate::model::{Coordinate, Formula, Problem};
use crate::read::points::read_held;
use crate::schema;
use crate::tree::reader::{Reader, formula, number, string, wrong_type};
use crate::tree::{Entry, Node, Value};
use crate::written::points::Ground;

/// A picture of the result of a run: a field in colours and contours, over two coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its name, which its file has too.
    pub name: String,
    /// The coordinates to the right and upwards, by number.
    pub axes: [usize; 2],
    /// Where every other coordinate is held.
    pub at: Vec<(usize, f64)>,
    /// In grey behind all else, an expression like an observation's.
    pub background: Option<Formula>,
    /// In colours, an expression like an observation's.
    pub field: Option<Formula>,
    /// Lines.
    pub contours: Vec<Contour>,
}

/// Where a quantity passes a level, and where observed values pass one half.
#[derive(Clone, Debug, PartialEq)]
pub struct Contour {
    /// The quantity, an expression like an observation's.
    pub value: Formula,
    /// The level, an expression of constants and unknown numbers, which stand for their estimates.
    pub level: Formula,
    /// The observation, by number, whose contour is drawn beside it.
    pub data: Option<usize>,
    /// For people.
    pub name: String,
}

impl Contour {
    /// The level at these values of the unknown numbers.
    pub fn level_at(&self, problem: &Problem, theta: &[f64]) -> Result<f64> {
        place_at(&self.level, &problem.constants, &problem.unknowns, theta)
    }
}

impl Picture {
    fn formulas(&self) -> impl Iterator<Item = &Formula> {
        let values = self.contours.iter().map(|contour| &contour.value);
        self.background.iter().chain(&self.field).chain(values)
    }

    /// Every formula has a meaning: `names` has the states, and levels know numbers only.
    pub(crate) fn check_formulas(&self, problem: &Problem, names: &mut Names) -> Result<()> {
        self.formulas().try_for_each(|formula| names.lower(formula).map(drop))?;
        let guess: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.guess).collect();
        self.contours.iter().try_for_each(|contour| contour.level_at(problem, &guess).map(drop))
    }
}

/// Reads a table `[picture.NAME]`.
pub(crate) fn read_picture(
    path: &str,
    entry: &Entry,
    ground: Ground<'_>,
    observations: &[Observation],
) -> Result<Picture> {
    let reader = Reader::of(&entry.node, path, ground.constants, &schema::PICTURE.names())?;
    let axes = read_axes(&reader, ground.coordinates)?;
    let picture = Picture {
        name: entry.key.clone(),
        at: read_rest(&reader, ground.coordinates, axes)?,
        axes,
        background: reader.formula("background")?,
        field: reader.formula("field")?,
        contours: read_contours(&reader, observations)?,
    };
    if picture.formulas().next().is_none() {
        let error = Diagnostic::new("the picture shows nothing", reader.origin().clone());
        let help = "add `field = \"u\"`, `contours = [{ value = \"u\", level = 0.5 }]` or a `background`";
        return Err(error.help(help).into());
    }
    Ok(picture)
}

/// Two coordinates; those of space come first if none are named.
fn read_axes(reader: &Reader<'_>, coordinates: &[Coordinate]) -> Result<[usize; 2]> {
    let Some(node) = reader.get("axes") else {
        let mut all: Vec<usize> = (0..coordinates.len()).collect();
        all.sort_by_key(|&c| coordinates[c].time);
        let [first, second, ..] = all[..] else {
            let message = "a picture is over two coordinates, and the problem has one";
            return Err(Diagnostic::new(message, reader.origin().clone()).into());
        };
        return Ok([first, second]);
    };
    let two = match &node.value {
        Value::List(items) => <&[Node; 2]>::try_from(&items[..]).ok(),
        _ => None,
    };
    let Some([right, up]) = two else {
        let message = "`axes` must name two coordinates";
        return Err(Diagnostic::new(message, node.origin.clone())
            .help("write `axes = [\"x\", \"y\"]`")
            .into());
    };
    let find = |node: &Node| find(string(node, "axes")?, &node.origin, "coordinate", names(coordinates));
    let axes = [find(right)?, find(up)?];
    if axes[0] == axes[1] {
        return Err(Diagnostic::new("the axes must be different", node.origin.clone()).into());
    }
    Ok(axes)
}

/// Where the coordinates are that are no axes; the time is at its end if nothing else is said.
fn read_rest(reader: &Reader<'_>, coordinates: &[Coordinate], axes: [usize; 2]) -> Result<Vec<(usize, f64)>> {
    let held = read_held(reader, coordinates)?;
    if let Some(held) = held.iter().find(|held| axes.contains(&held.coordinate)) {
        let message = format!("`{}` is an axis of the picture", coordinates[held.coordinate].name);
        return Err(Diagnostic::new(message, held.origin.clone()).into());
    }
    let mut rest = vec![];
    for (c, coordinate) in coordinates.iter().enumerate().filter(|(c, _)| !axes.contains(c)) {
        let value = held.iter().find(|held| held.coordinate == c).map(|held| held.value);
        let Some(value) = value.or(coordinate.time.then_some(coordinate.hi)) else {
            let name = &coordinate.name;
            let message = format!("the picture does not say where `{name}` is");
            let help = format!("add `{name}` to `axes`, or `at = {{ {name} = {:?} }}`", coordinate.lo);
            return Err(Diagnostic::new(message, reader.origin().clone()).help(help).into());
        };
        rest.push((c, value));
    }
    Ok(rest)
}

fn read_contours(reader: &Reader<'_>, observations: &[Observation]) -> Result<Vec<Contour>> {
    let Some(node) = reader.get("contours") else { return Ok(vec![]) };
    let Value::List(items) = &node.value else {
        return Err(wrong_type(node, "contours", "a list of tables"));
    };
    let path = reader.path("contours");
    let keys = schema::CONTOUR.names();
    let read = |node: &Node| read_contour(&Reader::of(node, &path, reader.constants(), &keys)?, observations);
    items.iter().map(read).collect()
}

fn read_contour(reader: &Reader<'_>, observations: &[Observation]) -> Result<Contour> {
    let value = formula(reader.require("value", "\"u\"")?, "value")?;
    let level = reader.require("level", "0.5")?;
    let level = match &level.value {
        Value::Text(_) => formula(level, "level")?,
        _ => Formula::parse(&format!("{:?}", number(level, "level", &[])?), level.origin.clone())?,
    };
    let observed: Vec<&str> = observations.iter().map(|observation| observation.name.as_str()).collect();
    let data = reader.get("data");
    let data = data.map(|node| find(string(node, "data")?, &node.origin, "observation", observed.clone()));
    let data = data.transpose()?;
    let own = || data.map_or_else(|| format!("{} = {}", value.text, level.text), |d| observed[d].to_string());
    let name = reader.string("name")?.unwrap_or_else(own);
    Ok(Contour { value, level, data, name })
}

fn names(coordinates: &[Coordinate]) -> Vec<&str> {
    coordinates.iter().map(|coordinate| coordinate.name.as_str()).collect()
}

/// The number of a name among those of its kind.
fn find(name: &str, origin: &Origin, kind: &str, names: Vec<&str>) -> Result<usize> {
    names.iter().position(|other| *other == name).ok_or_else(|| {
        let error = Diagnostic::new(format!("unknown {kind} `{name}`"), origin.clone());
        error.help(suggest(name, names)).into()
    })
}
