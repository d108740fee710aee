//! From the tree of a problem file to a [`Problem`].

mod given;
pub(crate) mod known;
pub(crate) mod points;

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::dictionary::{self, OperatorKind};
use crate::evaluate::input::read_input;
use crate::evaluate::names::NET;
use crate::files::folder::Folder;
use crate::likelihood::{Likelihood, read_likelihood};
use crate::model::observation::{Data, Made, Observation};
use crate::model::{
    Constant, Coordinate, Equation, Formula, GradientMode, Problem, Recipe, State, Transform, Unknown,
    UnknownFunction,
};
use crate::picture::read_picture;
use crate::resolve::argument::Variables;
use crate::resolve::check;
use crate::resolve::data_file::{DataFile, read_particles, read_table};
use crate::tree::reader::{Reader, number, pair, string, table};
use crate::tree::{Entry, Node, Places, Table, Value, join};
use crate::unknown_function::{is_function, read_function};
use crate::written::points::Ground;
use crate::{classical, learning, neighbour, schema, settings};
use given::read_given;
use points::{example_counts, read_held, read_spec, with_renewal};

/// Reads and checks a whole problem; data files are found relative to `folder`.
pub(crate) fn read_problem(mut tree: Table, folder: Folder<'_>) -> Result<Problem> {
    let top_origin = Origin::none();
    let constants = read_constants(&tree)?;
    let top = Reader::new(&tree, "", &top_origin, &constants, &schema::PROBLEM.names())?;
    let name = string(top.require("name", "\"my-problem\"")?, "name")?.to_string();
    let about = top.string("about")?.unwrap_or_default();
    let (network, mut training) = settings::read(&mut tree, &constants)?;
    let places = Places::of(&tree);
    let coordinates = read_coordinates(&tree, &constants)?;
    let given = read_given(&tree, &coordinates, &constants, folder)?;
    let classical = classical::read(&tree, &coordinates, &constants)?;
    let states = read_each(&tree, "state", read_state)?;
    let state_names: Vec<&str> = states.iter().map(|state| state.name.as_str()).collect();
    let variables = Variables { coordinates: &coordinates, states: &state_names };
    let (unknowns, functions) = read_unknowns(&tree, variables, &constants, training.recipe, folder)?;
    let of_state = functions.iter().any(|function| function.state().is_some());
    if of_state && settings::sub_table(&tree, "train", "gradient")?.is_none() {
        training.gradient = GradientMode::Exact;
    }
    let inputs = read_each(&tree, "input", read_input)?;
    let mut operator = dictionary::read(&mut tree, training.recipe, &coordinates, &inputs, &constants)?;
    let stated = |table: &str, key: &str| settings::sub_table(&tree, table, key).map(|node| node.is_some());
    let pointwise = stated("train", "gradient")? && training.gradient == GradientMode::Pointwise;
    if pointwise && !stated("operator", "kind")? && operator.kind == OperatorKind::Automatic {
        // Only networks have that gradient.
        operator.kind = OperatorKind::Network;
    }

    let room = Room {
        coordinates: &coordinates,
        constants: &constants,
        unknowns: &unknowns,
        states: &states,
        places: &places,
        folder,
    };
    let equations = read_each(&tree, "equation", |path, entry| room.equation(path, entry))?;
    let observations = read_each(&tree, "observation", |path, entry| room.observation(path, entry))?;
    let pictures =
        read_each(&tree, "picture", |path, entry| read_picture(path, entry, room.ground(), &observations))?;
    let learning = learning::read(&tree, &coordinates, &unknowns, &functions, &constants)?;
    let neighbours = neighbour::read(&tree, &unknowns, &functions, &constants)?;
    let problem = Problem {
        name,
        about,
        coordinates,
        constants,
        given,
        unknowns,
        functions,
        inputs,
        states,
        equations,
        observations,
        pictures,
        operator,
        network,
        training,
        classical,
        learning,
        neighbours,
    };
    check::check(&problem, &places)?;
    Ok(problem)
}

/// Reads each entry of the table `kind`, such as `[unknown.D]` and `[unknown.rho]`.
fn read_each<T>(tree: &Table, kind: &str, read: impl Fn(&str, &Entry) -> Result<T>) -> Result<Vec<T>> {
    let Some(node) = tree.get(kind) else {
        return Ok(Vec::new());
    };
    let entries = &table(node, kind)?.entries;
    entries.iter().map(|entry| read(&join(kind, &entry.key), entry)).collect()
}

/// Constants may use those above them.
fn read_constants(tree: &Table) -> Result<Vec<Constant>> {
    let mut constants = Vec::new();
    if let Some(node) = tree.get("constants") {
        for entry in &table(node, "constants")?.entries {
            let value = number(&entry.node, &entry.key, &constants)?;
            constants.push(Constant { name: entry.key.clone(), value });
        }
    }
    Ok(constants)
}

fn read_coordinates(tree: &Table, constants: &[Constant]) -> Result<Vec<Coordinate>> {
    read_each(tree, "coordinates", |path, entry| {
        let (range, time, periodic) = match &entry.node.value {
            Value::Table(_) => {
                let reader = Reader::of(&entry.node, path, constants, &schema::COORDINATE.names())?;
                let range = reader.require("range", "[0.0, 1.0]")?;
                (range, reader.boolean("time")?, reader.boolean("periodic")?)
            }
            _ => (&entry.node, None, None),
        };
        let (lo, hi) = pair(range, &entry.key, constants)?;
        Ok(Coordinate {
            name: entry.key.clone(),
            lo,
            hi,
            time: time.unwrap_or(false),
            periodic: periodic.unwrap_or(false),
        })
    })
}

/// Numbers and functions, the latter told by `of`.
fn read_unknowns(
    tree: &Table,
    variables: Variables<'_>,
    constants: &[Constant],
    recipe: Recipe,
    folder: Folder<'_>,
) -> Result<(Vec<Unknown>, Vec<UnknownFunction>)> {
    let (mut numbers, mut functions) = (vec![], vec![]);
    let Some(node) = tree.get("unknown") else {
        return Ok((numbers, functions));
    };
    for entry in &table(node, "unknown")?.entries {
        let path = join("unknown", &entry.key);
        if is_function(entry) {
            functions.push(read_function(&path, entry, variables, constants, recipe, folder)?);
        } else {
            numbers.push(read_unknown(&path, entry, constants)?);
        }
    }
    Ok((numbers, functions))
}

fn read_unknown(path: &str, entry: &Entry, constants: &[Constant]) -> Result<Unknown> {
    refuse_keys_of_functions(entry)?;
    let reader = Reader::of(&entry.node, path, constants, &schema::UNKNOWN.names())?;
    let transforms = [("identity", Transform::Identity), ("log", Transform::Log)];
    let bounds = reader.get("bounds").map(|node| pair(node, "bounds", constants)).transpose()?;
    Ok(Unknown {
        name: entry.key.clone(),
        guess: number(reader.require("guess", "1.0")?, "guess", constants)?,
        truth: reader.number("truth")?,
        bounds,
        scale: reader.number("scale")?.unwrap_or(1.0),
        transform: reader.choice("transform", &transforms)?.unwrap_or(Transform::Identity),
        rate: reader.number("rate")?,
        unit: reader.string("unit")?,
    })
}

/// Keys that only functions have, without `of`.
fn refuse_keys_of_functions(entry: &Entry) -> Result<()> {
    let Value::Table(table) = &entry.node.value else {
        return Ok(());
    };
    let (functions, numbers) = (schema::FUNCTION.names(), schema::UNKNOWN.names());
    let only_of_functions = |key: &str| functions.contains(&key) && !numbers.contains(&key);
    match table.entries.iter().find(|e| only_of_functions(&e.key)) {
        None => Ok(()),
        Some(found) => {
            let message = format!("`{}` belongs to an unknown function", found.key);
            let help = "say which coordinates or which state it depends on: `of = [\"x\"]`";
            Err(Diagnostic::new(message, found.key_origin.clone()).help(help).into())
        }
    }
}

fn read_state(path: &str, entry: &Entry) -> Result<State> {
    let reader = Reader::of(&entry.node, path, &[], &schema::STATE.names())?;
    let form = match reader.formula("form")? {
        Some(form) => form,
        None => Formula::parse(NET, Origin::none())?,
    };
    Ok(State { name: entry.key.clone(), form, truth: reader.formula("truth")? })
}

/// What equations and observations refer to.
struct Room<'a> {
    coordinates: &'a [Coordinate],
    constants: &'a [Constant],
    unknowns: &'a [Unknown],
    states: &'a [State],
    places: &'a Places,
    folder: Folder<'a>,
}

impl Room<'_> {
    fn ground(&self) -> Ground<'_> {
        Ground { coordinates: self.coordinates, constants: self.constants, unknowns: self.unknowns }
    }

    fn equation(&self, path: &str, entry: &Entry) -> Result<Equation> {
        let reader = Reader::of(&entry.node, path, self.constants, &schema::EQUATION.names())?;
        let residual = reader.formula("residual")?;
        let residual = residual.ok_or_else(|| reader.missing("residual", "\"u_xx - f\""))?;
        let example = format!("{{ grid = {{ {} }} }}", example_counts(self.coordinates));
        let points = reader.require("points", &example)?;
        let points_path = join(path, "points");
        let keys = schema::EQUATION_POINTS.names();
        let points_reader = Reader::of(points, &points_path, self.constants, &keys)?;
        let spec = with_renewal(read_spec(&points_reader, self.ground(), self.folder)?, &points_reader)?;
        Ok(Equation {
            name: entry.key.clone(),
            residual,
            trained: reader.formula("trained")?,
            points: spec.resolve(self.ground(), &points_path, self.places)?,
            weight: reader.number("weight")?.unwrap_or(1.0),
        })
    }

    fn observation(&self, path: &str, entry: &Entry) -> Result<Observation> {
        let reader = Reader::of(&entry.node, path, self.constants, &schema::OBSERVATION.names())?;
        let likelihood = read_likelihood(&reader, self.coordinates)?;
        let places = matches!(likelihood, Likelihood::PoissonProcess { .. });
        let value = match (reader.formula("value")?, self.states) {
            (Some(value), _) => value,
            (None, [only]) => Formula::parse(&only.name, Origin::none())?,
            (None, _) => return Err(reader.missing("value", "\"u\"")),
        };
        let data = reader.require("data", "{ file = \"data.csv\" }")?;
        Ok(Observation {
            name: entry.key.clone(),
            value,
            data: self.data(&join(path, "data"), data, places)?,
            likelihood,
            weight: reader.number("weight")?.unwrap_or(1.0),
        })
    }

    /// Values at points, or `places` of particles only.
    fn data(&self, path: &str, node: &Node, places: bool) -> Result<Data> {
        let reader = Reader::of(node, path, self.constants, &schema::DATA.names())?;
        match (reader.get("synthetic"), reader.get("file")) {
            (Some(synthetic), None) if places => match table(synthetic, "synthetic")?.entries.first() {
                None => Ok(Data::Drawn),
                Some(entry) => {
                    let message = format!("`{}` does not belong to synthetic particles", entry.key);
                    let help = "the likelihood's quadrature says where they may be: write `synthetic = {}`";
                    Err(Diagnostic::new(message, entry.key_origin.clone()).help(help).into())
                }
            },
            (Some(synthetic), None) => self.synthetic(&join(path, "synthetic"), synthetic),
            (None, Some(file)) => {
                let held = read_held(&reader, self.coordinates)?;
                let name = string(file, "file")?;
                let (folder, coordinates) = (self.folder, self.coordinates);
                let file = DataFile { name, folder, origin: &file.origin, coordinates, held: &held };
                Ok(Data::Table(if places { read_particles(&file)? } else { read_table(&file)? }))
            }
            _ => {
                let error =
                    Diagnostic::new("data are either `synthetic` or from a `file`", node.origin.clone());
                Err(error.help("write `{ file = \"data.csv\" }`").into())
            }
        }
    }

    fn synthetic(&self, path: &str, node: &Node) -> Result<Data> {
        let reader = Reader::of(node, path, self.constants, &schema::SYNTHETIC.names())?;
        let spec = read_spec(&reader, self.ground(), self.folder)?;
        Ok(Data::Synthetic {
            points: spec.resolve(self.ground(), path, self.places)?,
            noise: reader.number("noise")?.unwrap_or(0.0),
            made: read_made(&reader)?.map(Box::new),
        })
    }
}

/// What synthetic data are made of, if that is stated.
fn read_made(reader: &Reader<'_>) -> Result<Option<Made>> {
    let field = match reader.get("field") {
        None => None,
        Some(node) => {
            let path = reader.path("field");
            let inner = Reader::of(node, &path, reader.constants(), &schema::FIELD.names())?;
            let number =
                |key: &str, example: &str| inner.number(key)?.ok_or_else(|| inner.missing(key, example));
            Some((number("sd", "1.0")?, number("length", "0.1")?))
        }
    };
    match (reader.formula("value")?, field) {
        (Some(value), field) => Ok(Some(Made { value, field })),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(reader.missing("value", "\"u + 0.1*field\"")),
    }
}
