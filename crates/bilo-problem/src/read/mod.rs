//! From the tree of a problem file to what was written in it.

mod define;
pub(crate) mod experiment;
mod expressions;
mod function;
mod given;
mod known;
mod likelihood;
mod lists;
mod observation;
mod overrides;
mod picture;
mod points;
mod prior;
mod vectors;

pub use overrides::Overrides;

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::model::domain::{Constant, Coordinate};
use crate::model::unknown::{Transform, Unknown};
use crate::resolve::argument::Variables;
use crate::resolve::compose::states::implied_states;
use crate::schema;
use crate::tree::reader::{Reader, formula, number, pair, string, table};
use crate::tree::{Entry, Table, Value, join};
use crate::written::points::PointsSpec;
use crate::written::{ConditionSpec, EquationSpec, Said, StateSpec, Written};
use bilo_expr::{parse, parse_equation};
use function::{is_function, read_function};
use prior::read_prior;

/// Reads everything but the settings, which wait for what they are about.
pub(crate) fn read(mut tree: Table) -> Result<Written> {
    lists::expand(&mut tree)?;
    define::expand(&mut tree)?;
    vectors::write_out(&mut tree)?;
    let top_origin = Origin::none();
    let constants = read_constants(&tree)?;
    let top = Reader::new(&tree, "", &top_origin, &constants, &schema::PROBLEM.names())?;
    let name = string(top.require("name", "\"my-problem\"")?, "name")?.to_string();
    let about = top.string("about")?.unwrap_or_default();
    let coordinates = read_coordinates(&tree, &constants)?;
    let given =
        read_each(&tree, "given", |path, entry| given::read_given(path, entry, &coordinates, &constants))?;
    let mut written = Written {
        name,
        about,
        coordinates,
        given,
        inputs: read_each(&tree, "input", read_input)?,
        states: read_each(&tree, "state", read_state)?,
        ..Written::default()
    };
    if written.states.is_empty() {
        written.states = read_implied_states(&tree);
    }
    read_unknowns(&tree, &constants, &mut written)?;
    let Written { coordinates, unknowns, .. } = &written;
    let statement = Statement { coordinates, constants: &constants, unknowns };
    let equations = read_each(&tree, "equation", |path, entry| statement.equation(path, entry))?;
    let observations = read_each(&tree, "observation", |path, entry| statement.observation(path, entry))?;
    let pictures = read_each(&tree, "picture", |path, entry| statement.picture(path, entry))?;
    written.conditions = read_each(&tree, "condition", |path, entry| statement.condition(path, entry))?;
    (written.equations, written.observations, written.pictures) = (equations, observations, pictures);
    written.derived = read_each(&tree, "derived", read_derived)?;
    written.constant_units = read_constant_units(&tree)?;
    written.settings = tree.split_off(&schema::SETTINGS);
    written.places.extend(&tree);
    written.constants = constants;
    Ok(written)
}

/// What equations, observations and pictures refer to.
struct Statement<'a> {
    coordinates: &'a [Coordinate],
    constants: &'a [Constant],
    unknowns: &'a [Unknown],
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
            let value = match &entry.node.value {
                Value::Table(_) => {
                    let path = join("constants", &entry.key);
                    let reader = Reader::of(&entry.node, &path, &constants, &schema::CONSTANT.names())?;
                    number(reader.require("value", "1.0")?, "value", &constants)?
                }
                _ => number(&entry.node, &entry.key, &constants)?,
            };
            constants.push(Constant { name: entry.key.clone(), value });
        }
    }
    Ok(constants)
}

fn read_coordinates(tree: &Table, constants: &[Constant]) -> Result<Vec<Coordinate>> {
    read_each(tree, "coordinates", |path, entry| {
        let (range, time, periodic, unit) = match &entry.node.value {
            Value::Table(_) => {
                let reader = Reader::of(&entry.node, path, constants, &schema::COORDINATE.names())?;
                let range = reader.require("range", "[0.0, 1.0]")?;
                (range, reader.boolean("time")?, reader.boolean("periodic")?, reader.string("unit")?)
            }
            _ => (&entry.node, None, None, None),
        };
        let (lo, hi) = pair(range, &entry.key, constants)?;
        Ok(Coordinate {
            name: entry.key.clone(),
            lo,
            hi,
            time: time.unwrap_or(false),
            periodic: periodic.unwrap_or(false),
            unit,
        })
    })
}

/// The units of constants, by name.
fn read_constant_units(tree: &Table) -> Result<Vec<(String, String)>> {
    let Some(Value::Table(constants)) = tree.get("constants").map(|node| &node.value) else {
        return Ok(vec![]);
    };
    let mut units = vec![];
    for entry in &constants.entries {
        let Value::Table(constant) = &entry.node.value else { continue };
        let unit = constant.get("unit").map(|unit| string(unit, "unit")).transpose()?;
        units.extend(unit.map(|unit| (entry.key.clone(), unit.to_owned())));
    }
    Ok(units)
}

/// Numbers and functions, the latter told by `of`.
fn read_unknowns(tree: &Table, constants: &[Constant], written: &mut Written) -> Result<()> {
    let Some(node) = tree.get("unknown") else { return Ok(()) };
    let states: Vec<&str> = written.states.iter().map(|state| state.name.as_str()).collect();
    let variables = Variables { coordinates: &written.coordinates, states: &states };
    for entry in &table(node, "unknown")?.entries {
        let path = join("unknown", &entry.key);
        if is_function(entry) {
            written.functions.push(read_function(&path, entry, variables, constants)?);
        } else {
            written.unknowns.push(read_unknown(&path, entry, constants)?);
        }
    }
    Ok(())
}

fn read_unknown(path: &str, entry: &Entry, constants: &[Constant]) -> Result<Unknown> {
    refuse_keys_of_functions(entry)?;
    let reader = Reader::of(&entry.node, path, constants, &schema::UNKNOWN.names())?;
    let bounds = reader.get("bounds").map(|node| pair(node, "bounds", constants)).transpose()?;
    Ok(Unknown {
        name: entry.key.clone(),
        guess: number(reader.require("guess", "1.0")?, "guess", constants)?,
        truth: reader.number("truth")?,
        bounds,
        scale: reader.number("scale")?.unwrap_or(1.0),
        transform: reader.word("transform")?.unwrap_or(Transform::Identity),
        signed: reader.boolean("signed")?.unwrap_or(false)
            || reader.word("transform")? == Some(Transform::Identity),
        fixed: reader.boolean("fixed")?.unwrap_or(false),
        rate: reader.number("rate")?,
        unit: reader.string("unit")?,
        prior: reader.get("prior").map(|node| read_prior(node, constants)).transpose()?,
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

/// A name and a value.
fn read_input(path: &str, entry: &Entry) -> Result<(String, String)> {
    let reader = Reader::of(&entry.node, path, &[], &schema::INPUT.names())?;
    let value = reader.expression("value")?.ok_or_else(|| reader.missing("value", "\"abs(x - 0.5)\""))?;
    Ok((entry.key.clone(), value))
}

/// The states of a file that lists none: what its equations and conditions differentiate. What cannot be parsed is
/// an error where it is read.
fn read_implied_states(tree: &Table) -> Vec<StateSpec> {
    let keys = |kind: &str| -> Vec<&str> {
        match tree.get(kind).map(|node| &node.value) {
            Some(Value::Table(table)) => table.entries.iter().map(|entry| entry.key.as_str()).collect(),
            _ => vec![],
        }
    };
    let mut statements = vec![];
    for (kind, key) in [("equation", "holds"), ("equation", "residual"), ("condition", "holds")] {
        let Some(Value::Table(table)) = tree.get(kind).map(|node| &node.value) else { continue };
        for entry in &table.entries {
            let Value::Table(inner) = &entry.node.value else { continue };
            let Some(Value::Text(text)) = inner.get(key).map(|node| &node.value) else { continue };
            let parsed = if key == "holds" { parse_equation(text) } else { parse(text) };
            statements.extend(parsed.ok());
        }
    }
    let declared = ["coordinates", "constants", "given", "unknown", "input"].map(keys).concat();
    implied_states(&statements, &keys("coordinates"), &declared)
}

/// A name and an expression.
fn read_derived(_: &str, entry: &Entry) -> Result<(String, String)> {
    Ok((entry.key.clone(), formula(&entry.node, &entry.key)?.text))
}

fn read_state(path: &str, entry: &Entry) -> Result<StateSpec> {
    let reader = Reader::of(&entry.node, path, &[], &schema::STATE.names())?;
    let (form, truth) = (reader.expression("form")?, reader.expression("truth")?);
    Ok(StateSpec { name: entry.key.clone(), form, truth })
}

impl Statement<'_> {
    fn equation(&self, path: &str, entry: &Entry) -> Result<EquationSpec> {
        let reader = Reader::of(&entry.node, path, self.constants, &schema::EQUATION.names())?;
        let said = match (reader.expression("holds")?, reader.expression("residual")?) {
            (Some(holds), None) => Said::Holds(holds),
            (None, Some(residual)) => Said::Residual(residual),
            (None, None) => return Err(reader.missing("holds", "\"u_t = D*u_xx\"")),
            (Some(_), Some(_)) => {
                let message = "an equation is stated by `holds` or by `residual`, not by both";
                return Err(Diagnostic::new(message, entry.key_origin.clone()).into());
            }
        };
        let points = reader.get("points");
        let points = points.map(|node| points::of_equation(node, &join(path, "points"), self));
        Ok(EquationSpec {
            key: entry.key.clone(),
            name: entry.key.clone(),
            said,
            trained: reader.expression("trained")?,
            points: points.transpose()?,
            weight: reader.number("weight")?,
        })
    }

    fn condition(&self, path: &str, entry: &Entry) -> Result<ConditionSpec> {
        let reader = Reader::of(&entry.node, path, self.constants, &schema::CONDITION.names())?;
        reader.require("at", &format!("{{ {} }}", example_place(self.coordinates)))?;
        let holds = reader.expression("holds")?.ok_or_else(|| reader.missing("holds", "\"u = 0\""))?;
        let at = points::read_at(PointsSpec::grid([]), &reader, self.unknowns)?.at;
        let weight = reader.number("weight")?;
        Ok(ConditionSpec { name: entry.key.clone(), at, holds, weight })
    }
}

/// `x = 0.0`: where the first coordinate begins.
fn example_place(coordinates: &[Coordinate]) -> String {
    coordinates.first().map_or("x = 0.0".to_owned(), |c| format!("{} = {:?}", c.name, c.lo))
}
