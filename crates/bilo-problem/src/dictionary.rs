//! The table `[operator]`: what stands for the solution as a function of coordinates and unknowns.

use crate::diagnostic::{Diagnostic, Result};
use crate::model::{Constant, Coordinate, Formula, Input, Recipe};
use crate::schema;
use crate::settings::{RECIPES, sub_table};
use crate::tree::reader::{Reader, formula};
use crate::tree::{Node, Table, Value};

/// Functions of an extra input, unless stated: a constant and the input itself. With the polynomials of the
/// coordinates these are all that a kink at one place needs.
const OF_AN_INPUT: usize = 2;

/// What stands for the solution as a function of coordinates and unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorChoice {
    /// A network, a dictionary, or whichever works.
    pub kind: OperatorKind,
    /// What a dictionary holds.
    pub dictionary: DictionaryChoice,
}

/// A kind of local operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorKind {
    /// A dictionary if the solution converges in it, else a network.
    Automatic,
    /// A network with the unknowns among its inputs.
    Network,
    /// Linear combinations of frozen features, one for the solution and one for its derivative by each
    /// unknown.
    Dictionary,
}

/// What a dictionary holds.
#[derive(Clone, Debug, PartialEq)]
pub struct DictionaryChoice {
    /// The features.
    pub basis: Basis,
    /// Polynomials or splines along each coordinate, then of each extra input; none along a coordinate to take as many
    /// as it needs.
    pub modes: Vec<Option<usize>>,
    /// Ridge functions; none to take as many as it needs.
    pub features: Option<usize>,
    /// Largest slope of a ridge function along a coordinate that is scaled to [0, 1].
    pub scale: f64,
    /// Further functions of coordinates and unknowns, each with a coefficient.
    pub enrich: Vec<Formula>,
}

/// Features of a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Products of Chebyshev polynomials, or waves along periodic coordinates.
    Chebyshev,
    /// Products of cubic splines on equal cells, or waves along periodic coordinates.
    Splines,
    /// tanh(w·(x - c)) with random slopes and places.
    Tanh,
    /// sin(w·(x - c)) with random slopes and places.
    Sine,
}

impl Basis {
    /// All of them by name.
    pub const ALL: [(&'static str, Basis); 4] = [
        ("chebyshev", Basis::Chebyshev),
        ("splines", Basis::Splines),
        ("tanh", Basis::Tanh),
        ("sine", Basis::Sine),
    ];

    /// Whether it consists of products of functions of one coordinate each.
    pub fn is_tensor(self) -> bool {
        matches!(self, Basis::Chebyshev | Basis::Splines)
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, basis)| *basis == self).expect("it is among them").0
    }
}

impl OperatorChoice {
    /// What a recipe starts from.
    pub(crate) fn of_recipe(recipe: Recipe) -> OperatorChoice {
        let kind = match recipe {
            Recipe::Paper => OperatorKind::Network,
            Recipe::Fast => OperatorKind::Automatic,
        };
        let dictionary = DictionaryChoice {
            basis: Basis::Chebyshev,
            modes: vec![],
            features: None,
            scale: 4.0,
            enrich: vec![],
        };
        OperatorChoice { kind, dictionary }
    }

    /// With as many entries of `modes` as there are coordinates and inputs.
    pub(crate) fn completed(mut self, coordinates: usize, inputs: usize) -> OperatorChoice {
        let modes = &mut self.dictionary.modes;
        modes.resize(modes.len().max(coordinates), None);
        modes.resize(coordinates + inputs, Some(OF_AN_INPUT));
        self
    }
}

/// Reads `[operator]` under the recipe's own sub-table.
pub(crate) fn read(
    tree: &mut Table,
    recipe: Recipe,
    coordinates: &[Coordinate],
    inputs: &[Input],
    constants: &[Constant],
) -> Result<OperatorChoice> {
    let mut choice = OperatorChoice::of_recipe(recipe).completed(coordinates.len(), inputs.len());
    let names = coordinates.iter().map(|c| c.name.as_str()).chain(inputs.iter().map(|i| i.name.as_str()));
    let names: Vec<&str> = names.collect();
    // The other recipe's sub-table is read too, so that its mistakes do not lie in wait.
    for name in RECIPES {
        if let Some(node) = sub_table(tree, "operator", name)? {
            let path = format!("operator.{name}");
            let reader = Reader::of(node, &path, constants, &schema::OPERATOR_SETTINGS.names())?;
            read_choice(&reader, &names, &mut choice.clone())?;
        }
    }
    tree.choose("operator", &RECIPES, recipe.name());
    if let Some(node) = tree.get("operator") {
        let reader = Reader::of(node, "operator", constants, &schema::OPERATOR.names())?;
        read_choice(&reader, &names, &mut choice)?;
    }
    Ok(choice)
}

fn read_choice(reader: &Reader<'_>, names: &[&str], choice: &mut OperatorChoice) -> Result<()> {
    let kinds = [
        ("automatic", OperatorKind::Automatic),
        ("network", OperatorKind::Network),
        ("dictionary", OperatorKind::Dictionary),
    ];
    choice.kind = reader.choice("kind", &kinds)?.unwrap_or(choice.kind);
    let dictionary = &mut choice.dictionary;
    dictionary.basis = reader.choice("basis", &Basis::ALL)?.unwrap_or(dictionary.basis);
    dictionary.scale = reader.number("scale")?.unwrap_or(dictionary.scale);
    dictionary.features = reader.count("features")?.or(dictionary.features);
    if let Some(node) = reader.get("modes") {
        read_modes(node, &reader.path("modes"), names, reader.constants(), &mut dictionary.modes)?;
    }
    if let Some(node) = reader.get("enrich") {
        dictionary.enrich = read_formulas(node)?;
    }
    let idle =
        if dictionary.basis.is_tensor() { ["features", "scale"].as_slice() } else { ["modes"].as_slice() };
    match idle.iter().find_map(|key| Some((key, reader.get(key)?))) {
        None => Ok(()),
        Some((key, node)) => {
            let message = format!("`{key}` says nothing about the basis `{}`", dictionary.basis.name());
            let help =
                "`modes` belongs to `chebyshev` and `splines`, `features` and `scale` to `tanh` and `sine`";
            Err(Diagnostic::new(message, node.origin.clone()).help(help).into())
        }
    }
}

/// The numbers of some coordinates and inputs, by name.
fn read_modes(
    node: &Node,
    path: &str,
    names: &[&str],
    constants: &[Constant],
    modes: &mut [Option<usize>],
) -> Result<()> {
    let reader = Reader::of(node, path, constants, names)?;
    for (name, modes) in names.iter().zip(modes) {
        *modes = reader.count(name)?.or(*modes);
    }
    Ok(())
}

fn read_formulas(node: &Node) -> Result<Vec<Formula>> {
    match &node.value {
        Value::List(nodes) => nodes.iter().map(|node| formula(node, "enrich")).collect(),
        _ => Ok(vec![formula(node, "enrich")?]),
    }
}
