//! The tables `[unknown.NAME]` of functions.

use crate::diagnostic::{Diagnostic, Result};
use crate::model::domain::Constant;
use crate::model::function::{
    Argument, FunctionBasis, Matern, Regulariser, RegulariserKind, RegulariserName,
};
use crate::read::known::read_known;
use crate::resolve::argument::{Placed, Variables};
use crate::schema;
use crate::tree::reader::{Reader, count, pair, string, wrong_type};
use crate::tree::{Entry, Node, Value};
use crate::written::function::{FunctionSpec, NetworkSpec};

/// Slopes over which |slope| is rounded off, unless stated.
const SMOOTHING: f64 = 1e-3;

/// Whether a table `[unknown.NAME]` states a function.
pub(super) fn is_function(entry: &Entry) -> bool {
    matches!(&entry.node.value, Value::Table(table) if table.get("of").is_some())
}

/// Reads a table `[unknown.NAME]` with `of`.
pub(super) fn read_function(
    path: &str,
    entry: &Entry,
    variables: Variables<'_>,
    constants: &[Constant],
) -> Result<FunctionSpec> {
    let reader = Reader::of(&entry.node, path, constants, &schema::FUNCTION.names())?;
    let of = read_of(&reader, variables)?;
    let counts = |key: &str| {
        let read = |node: &Node| read_counts(node, &format!("{path}.{key}"), &of, constants);
        reader.get(key).map(read).transpose()
    };
    let (regulariser, reference) = match reader.get("regularise") {
        Some(node) => {
            let path = reader.path("regularise");
            let inner = Reader::of(node, &path, constants, &schema::REGULARISE.names())?;
            (Some(read_regulariser(&inner)?), read_known(&inner, "reference")?)
        }
        None => (None, None),
    };
    let regulariser = match (regulariser, reader.get("prior")) {
        (Some(_), Some(node)) => {
            let message = "`regularise` and `prior` both say what is known before the data";
            return Err(Diagnostic::new(message, node.origin.clone()).help("state one of them").into());
        }
        (None, Some(node)) => Some(read_field(node, &reader.path("prior"), &of, constants)?),
        (regulariser, None) => regulariser,
    };
    Ok(FunctionSpec {
        name: entry.key.clone(),
        of: of.iter().map(|argument| argument.axis.name.clone()).collect(),
        range: reader.get("range").map(|node| pair(node, "range", constants)).transpose()?,
        form: reader.expression("form")?,
        guess: read_known(&reader, "guess")?.ok_or_else(|| reader.missing("guess", "\"1\""))?,
        truth: read_known(&reader, "truth")?,
        threshold: reader.number("threshold")?,
        nodes: counts("grid")?,
        basis: reader.word("basis")?.unwrap_or(FunctionBasis::Chebyshev),
        modes: counts("modes")?,
        regulariser,
        reference,
        network: reader
            .get("network")
            .map_or(NetworkSpec::Set(vec![]), |node| NetworkSpec::Table(node.clone())),
        scale: reader.number("scale")?.unwrap_or(1.0),
        rate: reader.number("rate")?,
        unit: reader.string("unit")?,
    })
}

/// What a function depends on, and the range of it if it is a state.
fn read_of(reader: &Reader<'_>, variables: Variables<'_>) -> Result<Vec<Argument>> {
    let node = reader.require("of", "[\"x\"]")?;
    let Value::List(items) = &node.value else {
        return Err(wrong_type(node, "of", "a list of coordinates, such as `[\"x\"]`, or of one state"));
    };
    if items.is_empty() {
        let error = Diagnostic::new("a function depends on at least one coordinate", node.origin.clone());
        return Err(error.help("leave `of` out for a number").into());
    }
    let named =
        |item: &Node| -> Result<Placed<String>> { Ok((string(item, "of")?.to_owned(), item.origin.clone())) };
    let of = items.iter().map(named).collect::<Result<Vec<_>>>()?;
    let of: Vec<Placed<&str>> = of.iter().map(|(name, origin)| (&name[..], origin.clone())).collect();
    let placed = |node: &Node| -> Result<Placed<(f64, f64)>> {
        Ok((pair(node, "range", reader.constants())?, node.origin.clone()))
    };
    Ok(variables.arguments(&of, reader.get("range").map(placed).transpose()?)?)
}

fn read_counts(node: &Node, path: &str, of: &[Argument], constants: &[Constant]) -> Result<Vec<usize>> {
    let names: Vec<&str> = of.iter().map(|argument| argument.axis.name.as_str()).collect();
    let reader = Reader::of(node, path, constants, &names)?;
    names.iter().map(|name| count(reader.require(name, "101")?, name)).collect()
}

/// `prior = { matern = { sd = 0.3, length = 0.2 } }`: a Gaussian field about the guess.
fn read_field(node: &Node, path: &str, of: &[Argument], constants: &[Constant]) -> Result<Regulariser> {
    let outer = Reader::of(node, path, constants, &schema::FUNCTION_PRIOR.names())?;
    let inner = outer.require("matern", "{ sd = 0.3, length = 0.2 }")?;
    let path = outer.path("matern");
    let reader = Reader::of(inner, &path, constants, &schema::MATERN.names())?;
    let estimated = |key: &str| {
        reader.get(key).is_none_or(|node| matches!(&node.value, Value::Text(text) if text == "estimate"))
    };
    let number = |key: &str| if estimated(key) { Ok(None) } else { reader.number(key) };
    let (sd, length) = (number("sd")?, number("length")?);
    let smoothness = reader.number("smoothness")?.unwrap_or(1.5);
    let width = of.iter().map(|argument| argument.axis.hi - argument.axis.lo).fold(0.0, f64::max);
    let kind = RegulariserKind::Field(Matern { sd, length, smoothness, width });
    Ok(if sd.is_none() { Regulariser::automatic(kind) } else { Regulariser::new(kind, 1.0) })
}

/// The word for a weight that the data choose.
const AUTO: &str = "auto";

fn read_regulariser(reader: &Reader<'_>) -> Result<Regulariser> {
    let kind = reader.word("kind")?.ok_or_else(|| reader.missing("kind", "\"h1\""))?;
    let automatic =
        reader.get("weight").is_some_and(|node| matches!(&node.value, Value::Text(text) if text == AUTO));
    let weight = match automatic {
        true => None,
        false => Some(reader.number("weight")?.ok_or_else(|| reader.missing("weight", "\"auto\""))?),
    };
    if let (Some(node), true) = (reader.get("weight"), automatic && kind == RegulariserName::Tv) {
        let message = "total variation is no Gaussian prior, so the data cannot choose its weight";
        return Err(Diagnostic::new(message, node.origin.clone()).help("write a number").into());
    }
    if let (Some(node), true) = (reader.get("smoothing"), kind != RegulariserName::Tv) {
        let message = "`smoothing` belongs to `kind = \"tv\"`";
        return Err(Diagnostic::new(message, node.origin.clone()).into());
    }
    let kind = match kind {
        RegulariserName::H1 => RegulariserKind::H1,
        RegulariserName::H2 => RegulariserKind::H2,
        RegulariserName::Tv => {
            RegulariserKind::Tv { smoothing: reader.number("smoothing")?.unwrap_or(SMOOTHING) }
        }
        RegulariserName::L2 => RegulariserKind::L2 { reference: None },
    };
    Ok(weight.map_or_else(
        || Regulariser::automatic(kind.clone()),
        |weight| Regulariser::new(kind.clone(), weight),
    ))
}
