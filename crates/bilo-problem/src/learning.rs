//! The tables `[examples]`, `[deeponet]` and `[fno]`: what neural operators learn from, and how.

use crate::diagnostic::{Diagnostic, Result, list};
use crate::model::{Constant, Coordinate, Unknown, UnknownFunction};
use crate::schema;
use crate::tree::reader::{Reader, count, table};
use crate::tree::{Node, Table};

/// Nodes along each coordinate where solutions are learned, unless stated: for one coordinate, and for several.
const NODES: [usize; 2] = [101, 51];

/// More examples than this are a slip.
pub(crate) const MOST_EXAMPLES: usize = 1_000_000;

/// What neural operators learn from, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Learning {
    /// What from; none if the problem does not say.
    pub examples: Option<Examples>,
    /// Shape and training of a DeepONet.
    pub deeponet: DeepOnetChoice,
    /// Shape and training of an FNO.
    pub fno: FnoChoice,
}

/// A set of values of the unknowns for which the PDE is solved.
#[derive(Clone, Debug, PartialEq)]
pub struct Examples {
    /// Nodes along each coordinate where solutions are learned.
    pub grid: Vec<usize>,
    /// How many are drawn at random; none to take all combinations of the scalars' values.
    pub count: Option<usize>,
    /// Of what is drawn; not that of the run, so that runs share their examples.
    pub seed: u64,
    /// Values of each scalar.
    pub scalars: Vec<Span>,
    /// The random field around the guess of each function.
    pub functions: Vec<FieldAround>,
}

/// Equidistant numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The first.
    pub from: f64,
    /// None is beyond.
    pub to: f64,
    /// The distance between two.
    pub step: f64,
}

/// A Gaussian random field with covariance sd² exp(-r²/(2 length²)), added to the guess of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldAround {
    /// Standard deviation of each value.
    pub sd: f64,
    /// Distance over which values are correlated.
    pub length: f64,
}

/// How a model is trained on examples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningOptions {
    /// Steps of Adam.
    pub steps: usize,
    /// Examples of each.
    pub batch: usize,
    /// Learning rate at the start; it falls to zero as a cosine.
    pub rate: f64,
}

/// Shape and training of a DeepONet: branch and trunk have the same layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeepOnetChoice {
    /// Neurons of a layer.
    pub width: usize,
    /// Layers.
    pub layers: usize,
    /// Its training.
    pub lessons: LearningOptions,
}

/// Shape and training of a Fourier neural operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FnoChoice {
    /// Channels.
    pub width: usize,
    /// Layers.
    pub layers: usize,
    /// Modes along each coordinate, those of negative frequency counted.
    pub modes: usize,
    /// Its training.
    pub lessons: LearningOptions,
}

impl Default for Learning {
    /// The paper's shapes.
    fn default() -> Self {
        let lessons = LearningOptions { steps: 10_000, batch: 128, rate: 1e-3 };
        let deeponet = DeepOnetChoice { width: 128, layers: 2, lessons };
        let lessons = LearningOptions { steps: 2000, batch: 64, rate: 3e-3 };
        Learning { examples: None, deeponet, fno: FnoChoice { width: 32, layers: 4, modes: 32, lessons } }
    }
}

impl Learning {
    /// The models alone.
    pub fn without_examples(&self) -> Learning {
        Learning { examples: None, ..self.clone() }
    }
}

impl Span {
    /// The numbers.
    pub fn values(&self) -> Vec<f64> {
        // A last value must not be lost to rounding.
        let count = ((self.to - self.from) / self.step + 1e-9).floor() as usize + 1;
        (0..count).map(|i| self.from + i as f64 * self.step).collect()
    }
}

impl Examples {
    /// How many there are.
    pub fn size(&self) -> usize {
        let sizes = self.scalars.iter().map(|span| span.values().len());
        self.count.unwrap_or_else(|| sizes.fold(1, usize::saturating_mul))
    }
}

/// Reads the three tables.
pub(crate) fn read(
    tree: &Table,
    coordinates: &[Coordinate],
    unknowns: &[Unknown],
    functions: &[UnknownFunction],
    constants: &[Constant],
) -> Result<Learning> {
    let mut learning = Learning::default();
    if let Some(node) = tree.get("examples") {
        learning.examples = Some(read_examples(node, coordinates, unknowns, functions, constants)?);
    }
    if let Some(node) = tree.get("deeponet") {
        let reader = Reader::of(node, "deeponet", constants, &schema::DEEPONET.names())?;
        let DeepOnetChoice { width, layers, lessons } = &mut learning.deeponet;
        read_counts(&reader, [("width", width), ("layers", layers)])?;
        read_lessons(&reader, lessons)?;
    }
    if let Some(node) = tree.get("fno") {
        let reader = Reader::of(node, "fno", constants, &schema::FNO.names())?;
        let FnoChoice { width, layers, modes, lessons } = &mut learning.fno;
        read_counts(&reader, [("width", width), ("layers", layers), ("modes", modes)])?;
        read_lessons(&reader, lessons)?;
    }
    Ok(learning)
}

fn read_lessons(reader: &Reader<'_>, lessons: &mut LearningOptions) -> Result<()> {
    let LearningOptions { steps, batch, rate } = lessons;
    read_counts(reader, [("steps", steps), ("batch", batch)])?;
    if let Some(stated) = reader.number("rate")? {
        *rate = stated;
    }
    Ok(())
}

fn read_counts<const N: usize>(reader: &Reader<'_>, into: [(&str, &mut usize); N]) -> Result<()> {
    for (key, target) in into {
        if let Some(stated) = reader.count(key)? {
            *target = stated;
        }
    }
    Ok(())
}

fn read_examples(
    node: &Node,
    coordinates: &[Coordinate],
    unknowns: &[Unknown],
    functions: &[UnknownFunction],
    constants: &[Constant],
) -> Result<Examples> {
    let reader = Reader::of(node, "examples", constants, &schema::EXAMPLES.names())?;
    let mut grid = vec![NODES[usize::from(coordinates.len() > 1)]; coordinates.len()];
    if let Some(node) = reader.get("grid") {
        let names: Vec<&str> = coordinates.iter().map(|coordinate| coordinate.name.as_str()).collect();
        Reader::of(node, "examples.grid", constants, &names)?;
        for entry in &table(node, "examples.grid")?.entries {
            let place = names.iter().position(|name| *name == entry.key).expect("the key is known");
            grid[place] = count(&entry.node, &entry.key)?;
        }
    }
    let example = "{ .. }, with the values of every unknown";
    let all = reader.require("unknown", example)?;
    let names: Vec<&str> =
        unknowns.iter().map(|u| &u.name[..]).chain(functions.iter().map(|f| &f.name[..])).collect();
    let own = Reader::of(all, "examples.unknown", constants, &names)?;
    let missing = |name: &str, example: &str| own.require(name, example);
    let mut examples =
        Examples { grid, count: reader.count("count")?, seed: 0, scalars: vec![], functions: vec![] };
    examples.seed = reader.count("seed")?.unwrap_or(0) as u64;
    for unknown in unknowns {
        let node = missing(&unknown.name, "{ from = 1.0, to = 3.0, step = 0.1 }")?;
        examples.scalars.push(read_span(node, &own.path(&unknown.name), constants)?);
    }
    for function in functions {
        let node = missing(&function.name, "{ sd = 0.2, length = 0.3 }")?;
        let path = own.path(&function.name);
        let reader = Reader::of(node, &path, constants, &schema::AROUND.names())?;
        let [sd, length] = read_numbers(&reader, [("sd", "0.2"), ("length", "0.3")])?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_reach_their_ends() {
        let span = Span { from: 0.8, to: 3.0, step: 0.05 };
        let values = span.values();
        assert_eq!(values.len(), 45);
        assert!((values[44] - 3.0).abs() < 1e-12);
        assert_eq!(Span { from: 1.0, to: 1.0, step: 2.0 }.values(), [1.0]);
    }
}
