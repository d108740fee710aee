//! Unknown functions: read from `[unknown.NAME]` with `of`, stated in Rust, evaluated.

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::evaluate::names::{NET, Names};
use crate::files::folder::Folder;
use crate::known::KnownSpec;
use crate::model::{
    Argument, Constant, Formula, FunctionBasis, NetworkChoice, Problem, Recipe, Regulariser, RegulariserKind,
    UnknownFunction,
};
use crate::read::known::KnownReader;
use crate::resolve::argument::{Placed, Variables};
use crate::schema;
use crate::settings::read_network;
use crate::tree::reader::{Reader, count, pair, string, wrong_type};
use crate::tree::{Entry, Node, Value};
use bilo_expr::{Input, Leaf, Scratch, Tape};

/// Nodes of a function of one argument.
const ON_A_LINE: usize = 101;

/// Nodes along each of several coordinates.
const IN_SPACE: usize = 41;

/// Polynomials of a function of one coordinate, and of a state.
const MODES_ON_A_LINE: usize = 12;

/// Polynomials along each of several coordinates.
const MODES_IN_SPACE: usize = 6;

/// Slopes over which |slope| is rounded off, unless stated.
const SMOOTHING: f64 = 1e-3;

const BASES: [(&str, FunctionBasis); 2] =
    [("chebyshev", FunctionBasis::Chebyshev), ("splines", FunctionBasis::Splines)];

/// Whether a table `[unknown.NAME]` states a function.
pub(crate) fn is_function(entry: &Entry) -> bool {
    matches!(&entry.node.value, Value::Table(table) if table.get("of").is_some())
}

/// Reads a table `[unknown.NAME]` with `of`; files are found relative to `folder`.
pub(crate) fn read_function(
    path: &str,
    entry: &Entry,
    variables: Variables<'_>,
    constants: &[Constant],
    recipe: Recipe,
    folder: Folder<'_>,
) -> Result<UnknownFunction> {
    let reader = Reader::of(&entry.node, path, constants, &schema::FUNCTION.names())?;
    let of = read_of(&reader, variables)?;
    let form = match reader.formula("form")? {
        Some(form) => form,
        None => Formula::parse(NET, Origin::none())?,
    };
    let known = KnownReader { axes: of.iter().map(|argument| argument.axis.clone()).collect(), folder };
    let guess = known.read(&reader, "guess")?.ok_or_else(|| reader.missing("guess", "\"1\""))?;
    let regularise = reader.get("regularise");
    let regularise = regularise
        .map(|node| read_regulariser(node, &format!("{path}.regularise"), constants, &known))
        .transpose()?;
    let counts = |key: &str, default: Vec<usize>| match reader.get(key) {
        Some(node) => read_counts(node, &format!("{path}.{key}"), &of, constants),
        None => Ok(default),
    };
    let (nodes, modes) =
        (counts("grid", default_nodes(of.len()))?, counts("modes", default_modes(of.len()))?);
    let mut network = default_network(recipe);
    if let Some(node) = reader.get("network") {
        let path = format!("{path}.network");
        read_network(&Reader::of(node, &path, constants, &schema::NETWORK_SETTINGS.names())?, &mut network)?;
    }
    Ok(UnknownFunction {
        name: entry.key.clone(),
        form,
        guess,
        truth: known.read(&reader, "truth")?,
        threshold: reader.number("threshold")?,
        nodes,
        basis: reader.choice("basis", &BASES)?.unwrap_or(FunctionBasis::Chebyshev),
        modes,
        of,
        regulariser: regularise,
        network,
        scale: reader.number("scale")?.unwrap_or(1.0),
        rate: reader.number("rate")?,
        unit: reader.string("unit")?,
    })
}

fn default_modes(arguments: usize) -> Vec<usize> {
    vec![if arguments == 1 { MODES_ON_A_LINE } else { MODES_IN_SPACE }; arguments]
}

/// Half as wide as that of the states.
fn default_network(recipe: Recipe) -> NetworkChoice {
    let (network, _) = recipe.defaults();
    NetworkChoice { width: network.width / 2, ..network }
}

fn default_nodes(arguments: usize) -> Vec<usize> {
    vec![if arguments == 1 { ON_A_LINE } else { IN_SPACE }; arguments]
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

fn read_regulariser(
    node: &Node,
    path: &str,
    constants: &[Constant],
    known: &KnownReader<'_>,
) -> Result<Regulariser> {
    let reader = Reader::of(node, path, constants, &schema::REGULARISE.names())?;
    let kinds = [("h1", RegulariserName::H1), ("tv", RegulariserName::Tv), ("l2", RegulariserName::L2)];
    let kind = reader.choice("kind", &kinds)?.ok_or_else(|| reader.missing("kind", "\"h1\""))?;
    let weight = reader.number("weight")?.ok_or_else(|| reader.missing("weight", "1e-3"))?;
    let belongs = |key: &str, to: RegulariserName, word: &str| match reader.get(key) {
        Some(node) if kind != to => {
            let message = format!("`{key}` belongs to `kind = \"{word}\"`");
            Err(Diagnostic::new(message, node.origin.clone()))
        }
        _ => Ok(()),
    };
    belongs("smoothing", RegulariserName::Tv, "tv")?;
    belongs("reference", RegulariserName::L2, "l2")?;
    let kind = match kind {
        RegulariserName::H1 => RegulariserKind::H1,
        RegulariserName::Tv => {
            RegulariserKind::Tv { smoothing: reader.number("smoothing")?.unwrap_or(SMOOTHING) }
        }
        RegulariserName::L2 => RegulariserKind::L2 { reference: known.read(&reader, "reference")? },
    };
    Ok(Regulariser { kind, weight })
}

#[derive(Clone, Copy, PartialEq)]
enum RegulariserName {
    H1,
    Tv,
    L2,
}

/// An unknown function as it is stated in Rust, with formulas as text.
#[derive(Clone, Debug)]
pub struct FunctionSpec {
    name: String,
    of: Vec<String>,
    range: Option<(f64, f64)>,
    form: String,
    guess: KnownSpec,
    truth: Option<KnownSpec>,
    threshold: Option<f64>,
    nodes: Option<Vec<usize>>,
    basis: FunctionBasis,
    modes: Option<Vec<usize>>,
    regulariser: Option<Regulariser>,
    scale: f64,
    rate: Option<f64>,
    unit: Option<String>,
}

impl FunctionSpec {
    /// A function of some coordinates, or of one state, and where the search starts: an expression, as a
    /// rule.
    pub fn new<'a>(name: &str, of: impl IntoIterator<Item = &'a str>, guess: impl Into<KnownSpec>) -> Self {
        Self {
            name: name.to_string(),
            of: of.into_iter().map(str::to_string).collect(),
            range: None,
            form: NET.to_string(),
            guess: guess.into(),
            truth: None,
            threshold: None,
            nodes: None,
            basis: FunctionBasis::Chebyshev,
            modes: None,
            regulariser: None,
            scale: 1.0,
            rate: None,
            unit: None,
        }
    }

    /// The values of the state for which a function of a state is wanted; only such a function has a range.
    pub fn range(self, lo: f64, hi: f64) -> Self {
        Self { range: Some((lo, hi)), ..self }
    }

    /// The true function.
    pub fn truth(self, truth: impl Into<KnownSpec>) -> Self {
        Self { truth: Some(truth.into()), ..self }
    }

    /// The value that divides the domain in two classes, to score how much of it is in the right one.
    pub fn threshold(self, threshold: f64) -> Self {
        Self { threshold: Some(threshold), ..self }
    }

    /// The function as an expression of `net` and its arguments.
    pub fn form(self, form: &str) -> Self {
        Self { form: form.to_string(), ..self }
    }

    /// Nodes along each of its arguments.
    pub fn nodes(self, nodes: impl Into<Vec<usize>>) -> Self {
        Self { nodes: Some(nodes.into()), ..self }
    }

    /// What it is a sum of under the exact gradient.
    pub fn basis(self, basis: FunctionBasis) -> Self {
        Self { basis, ..self }
    }

    /// Polynomials or splines along each of its arguments, under the exact gradient.
    pub fn modes(self, modes: impl Into<Vec<usize>>) -> Self {
        Self { modes: Some(modes.into()), ..self }
    }

    /// What is added to the upper-level loss.
    pub fn regularise(self, kind: RegulariserKind, weight: f64) -> Self {
        Self { regulariser: Some(Regulariser { kind, weight }), ..self }
    }

    /// Its typical size.
    pub fn scale(self, scale: f64) -> Self {
        Self { scale, ..self }
    }

    /// The learning rate of its network.
    pub fn rate(self, rate: f64) -> Self {
        Self { rate: Some(rate), ..self }
    }

    /// Its unit, for people.
    pub fn unit(self, unit: &str) -> Self {
        Self { unit: Some(unit.to_string()), ..self }
    }

    /// Whether it is a function of a state.
    pub(crate) fn is_of_state(&self) -> bool {
        self.range.is_some()
    }

    /// The function of variables that are known by now.
    pub(crate) fn resolve(self, variables: Variables<'_>, recipe: Recipe) -> Result<UnknownFunction> {
        let path = |key: &str| format!("unknown.{}.{key}", self.name);
        let named: Vec<Placed<&str>> = self.of.iter().map(|name| (&name[..], Origin::none())).collect();
        let range = self.range.map(|range| (range, Origin::none()));
        let of = variables.arguments(&named, range).map_err(|error| {
            let message = format!("{}: {}", path("of"), error.message);
            Diagnostic { message, ..error }
        })?;
        let axes: Vec<_> = of.iter().map(|argument| argument.axis.clone()).collect();
        Ok(UnknownFunction {
            form: Formula::parse(&self.form, Origin::text(path("form"), &self.form))?,
            guess: self.guess.resolve(&path("guess"), &axes)?,
            truth: self.truth.as_ref().map(|truth| truth.resolve(&path("truth"), &axes)).transpose()?,
            threshold: self.threshold,
            nodes: self.nodes.unwrap_or_else(|| default_nodes(of.len())),
            basis: self.basis,
            modes: self.modes.unwrap_or_else(|| default_modes(of.len())),
            of,
            name: self.name,
            regulariser: self.regulariser,
            network: default_network(recipe),
            scale: self.scale,
            rate: self.rate,
            unit: self.unit,
        })
    }
}

impl UnknownFunction {
    /// Its form, compiled; the inputs are its arguments, then `net`.
    pub(crate) fn form_tape(&self, problem: &Problem) -> Result<Tape> {
        self.tape(problem, &self.form, Some(NET))
    }

    /// A formula of its arguments, and perhaps of one more name, compiled; these are the inputs.
    pub(crate) fn tape(&self, problem: &Problem, formula: &Formula, more: Option<&str>) -> Result<Tape> {
        let mut names = Names::without_unknowns(problem);
        let more = more.map(|name| {
            let symbol = names.graph.symbol(name);
            let value = names.graph.leaf(symbol);
            names.scope.bind(name, value);
            Leaf::Symbol(symbol)
        });
        let arguments = names.arguments(self);
        let value = names.lower_within(self, &arguments, formula)?;
        let inputs: Vec<Leaf> = arguments.into_iter().map(Leaf::Symbol).chain(more).collect();
        Tape::compile(&names.graph, &[value], &inputs).map_err(|leaf| {
            let message =
                format!("`{}` is a function of {} only", self.name, self.argument_names().join(", "));
            let help = match (leaf, self.state()) {
                (Leaf::Derivative(..), _) => {
                    "given fields stand in equations, observations and forms of states"
                }
                (_, Some(_)) => "a function depends on coordinates or on one state",
                (_, None) => "name all the coordinates that it depends on in `of`",
            };
            Diagnostic::new(message, formula.origin.clone()).help(help).into()
        })
    }

    /// The value that its form holds at a place whatever `net` is, if it does.
    pub fn held_at(&self, problem: &Problem, place: &[f64]) -> Result<Option<f64>> {
        let tape = self.form_tape(problem)?;
        let inputs: Vec<Input<'_, f64>> = place.iter().chain(&[0.5]).map(|&v| Input::Uniform(v)).collect();
        let mut scratch = Scratch::new();
        tape.eval(&inputs, 1, &mut scratch);
        let value = scratch.output(&tape, 0)[0];
        tape.adjoint(&[Input::Uniform(1.0)], &mut scratch);
        Ok((scratch.input_adjoint(&tape, place.len())[0] == 0.0).then_some(value))
    }
}

/// The one output of a tape whose inputs are columns.
pub fn evaluate(tape: &Tape, columns: &[&[f64]]) -> Vec<f64> {
    let inputs: Vec<Input<'_, f64>> = columns.iter().map(|column| Input::Column(column)).collect();
    let mut scratch = Scratch::new();
    tape.eval(&inputs, columns[0].len(), &mut scratch);
    scratch.output(tape, 0).to_vec()
}
