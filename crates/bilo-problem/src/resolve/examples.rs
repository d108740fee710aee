//! The table `[examples]`: what neural operators learn from.

use crate::diagnostic::{Diagnostic, Result, list};
use crate::model::domain::Constant;
use crate::model::function::UnknownFunction;
use crate::model::unknown::Unknown;
use crate::schema;
use crate::schema::Kind;
use crate::settings::{Context, Examples, FieldAround, Recipe, Settings, Span, counted, in_range, read_over};
use crate::tree::Node;
use crate::tree::reader::{Reader, table};

/// Nodes along each coordinate where solutions are learned, unless stated: for one coordinate, and for several.
const NODES: [usize; 2] = [101, 51];

/// Reads `[examples]`.
pub(crate) fn read(
    node: &Node,
    unknowns: &[Unknown],
    functions: &[UnknownFunction],
    context: &Context<'_>,
) -> Result<Examples> {
    let Context { constants, coordinates, .. } = *context;
    let reader = Reader::of(node, "examples", constants, &schema::EXAMPLES.names())?;
    let mut grid = vec![NODES[usize::from(coordinates.len() > 1)]; coordinates.len()];
    if let Some(node) = reader.get("grid") {
        let names: Vec<&str> = coordinates.iter().map(|coordinate| coordinate.name.as_str()).collect();
        Reader::of(node, "examples.grid", constants, &names)?;
        for entry in &table(node, "examples.grid")?.entries {
            let place = names.iter().position(|name| *name == entry.key).expect("the key is known");
            grid[place] = counted(&entry.node, &entry.key, &Kind::Count(2, Some(100_000)))?;
        }
    }
    let example = "{ .. }, with the values of every unknown";
    let all = reader.require("unknown", example)?;
    let names: Vec<&str> =
        unknowns.iter().map(|u| &u.name[..]).chain(functions.iter().map(|f| &f.name[..])).collect();
    let own = Reader::of(all, "examples.unknown", constants, &names)?;
    let missing = |name: &str, example: &str| own.require(name, example);
    let mut examples = Examples { grid, ..Examples::of(Recipe::Fast) };
    read_over(&reader, context, &mut examples)?;
    for unknown in unknowns {
        let node = missing(&unknown.name, "{ from = 1.0, to = 3.0, step = 0.1 }")?;
        examples.scalars.push(read_span(node, &own.path(&unknown.name), constants)?);
    }
    for function in functions {
        let node = missing(&function.name, "{ sd = 0.2, length = 0.3 }")?;
        let path = own.path(&function.name);
        let reader = Reader::of(node, &path, constants, &schema::AROUND.names())?;
        let [sd, length] = read_numbers(&reader, [("sd", "0.2"), ("length", "0.3")])?;
        in_range(reader.require("sd", "0.2")?, "sd", &Kind::Positive, sd)?;
        in_range(reader.require("length", "0.3")?, "length", &Kind::Positive, length)?;
        examples.functions.push(FieldAround { sd, length });
    }
    if !functions.is_empty() && examples.count.is_none() {
        let names = list(functions.iter().map(|function| &function.name[..]));
        let message = format!("examples of {names} are drawn at random, so say how many");
        let help = "add `count = 1000` to [examples]";
        return Err(Diagnostic::new(message, node.origin.clone()).help(help).into());
    }
    Ok(examples)
}

fn read_span(node: &Node, path: &str, constants: &[Constant]) -> Result<Span> {
    let reader = Reader::of(node, path, constants, &schema::SPAN.names())?;
    let keys = [("from", "1.0"), ("to", "3.0"), ("step", "0.1")];
    let [from, to, step] = read_numbers(&reader, keys)?;
    let fault = match () {
        () if step <= 0.0 => format!("`step` must be positive, found {step}"),
        () if to < from => format!("`to` must not be below `from`, found {to} and {from}"),
        () => return Ok(Span { from, to, step }),
    };
    Err(Diagnostic::new(fault, node.origin.clone()).into())
}

/// Numbers that must be there, each with an example.
fn read_numbers<const N: usize>(reader: &Reader<'_>, keys: [(&str, &str); N]) -> Result<[f64; N]> {
    let mut found = [0.0; N];
    for (number, (key, example)) in found.iter_mut().zip(keys) {
        *number = reader.number(key)?.ok_or_else(|| reader.missing(key, example))?;
    }
    Ok(found)
}
