//! Extra inputs of networks: read from `[input.NAME]`, evaluated.

use super::function::evaluate;
use super::model::{Input, Problem, Unknown};
use super::names::Names;
use super::reader::{Reader, formula, table};
use super::tree::{Entry, Node, Value};
use crate::diagnostic::{Diagnostic, Result};
use bilo_expr::{Leaf, Tape};

/// Reads a table `[input.NAME]`.
pub(super) fn read_input(path: &str, entry: &Entry) -> Result<Input> {
    let reader = Reader::of(&entry.node, path, &[], &["value"])?;
    let value = reader.formula("value")?.ok_or_else(|| reader.missing("value", "\"abs(x - 0.5)\""))?;
    Ok(Input { name: entry.key.clone(), value })
}

/// Points do not move with the unknowns: says so where `at` names one.
pub(super) fn refuse_unknown_places(points: &Reader<'_>, unknowns: &[Unknown]) -> Result<()> {
    let Some(node) = points.get("at") else { return Ok(()) };
    for entry in &table(node, "at")?.entries {
        match &entry.node.value {
            Value::List(places) => {
                places.iter().try_for_each(|place| refuse_unknown_place(place, unknowns))?
            }
            _ => refuse_unknown_place(&entry.node, unknowns)?,
        }
    }
    Ok(())
}

fn refuse_unknown_place(place: &Node, unknowns: &[Unknown]) -> Result<()> {
    let Value::Text(_) = place.value else { return Ok(()) };
    let place = formula(place, "at")?;
    let is_unknown = |(name, _): &(&str, _)| unknowns.iter().any(|unknown| unknown.name == *name);
    match place.ast.names().into_iter().find(is_unknown) {
        None => Ok(()),
        Some((name, _)) => {
            let message =
                format!("points cannot be held at a place that is to be found, the unknown `{name}`");
            let help = format!("make `{name}` one of the [constants]");
            Err(Diagnostic::new(message, place.origin.clone()).help(help).into())
        }
    }
}

/// The inputs of a problem, compiled.
pub(crate) struct InputValues {
    tapes: Vec<Tape>,
}

impl InputValues {
    /// Fails if a value is not one of coordinates and constants alone.
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        let mut names = Names::new(problem)?;
        let coordinates: Vec<Leaf> = names.coordinates.iter().map(|&s| Leaf::Symbol(s)).collect();
        let mut tapes = vec![];
        for input in &problem.inputs {
            let value = names.lower(&input.value)?;
            let tape = Tape::compile(&names.graph, &[value], &coordinates);
            tapes.push(tape.map_err(|leaf| moves_with_unknown(input, &names, &leaf))?);
        }
        Ok(Self { tapes })
    }

    /// The first point, of those given by one column per coordinate, where an input has no finite value; with
    /// the number of the input.
    pub(crate) fn first_without_value(&self, columns: &[Vec<f64>]) -> Option<(usize, usize)> {
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        self.tapes.iter().enumerate().find_map(|(input, tape)| {
            let point = evaluate(tape, &columns).iter().position(|value| !value.is_finite())?;
            Some((input, point))
        })
    }
}

/// Only unknowns are in scope beside what an input may use.
fn moves_with_unknown(input: &Input, names: &Names, leaf: &Leaf) -> Diagnostic {
    let unknown = match leaf {
        Leaf::Symbol(symbol) => names.graph.symbol_name(*symbol),
        Leaf::Derivative(function, _) => names.graph.function_name(*function),
    };
    let message = format!("the input `{}` depends on the unknown `{unknown}`", input.name);
    Diagnostic::new(message, input.value.origin.clone()).help(
        "an input is an expression of coordinates and constants only; networks see unknowns in any case",
    )
}
