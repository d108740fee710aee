//! Unknown functions of variables that are known.

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::evaluate::names::NET;
use crate::model::domain::Coordinate;
use crate::model::function::{Regulariser, RegulariserKind, UnknownFunction};
use crate::resolve::argument::{Placed, Variables};
use crate::resolve::known::Knowns;
use crate::schema;
use crate::settings::{Context, NetworkChoice, Recipe, Settings, read_over};
use crate::tree::reader::Reader;
use crate::tree::{Assignment, Node, Table, Value};
use crate::written::function::{FunctionSpec, NetworkSpec};

/// Nodes of a function of one argument.
const ON_A_LINE: usize = 101;

/// Nodes along each of several coordinates.
const IN_SPACE: usize = 41;

/// Polynomials of a function of one coordinate, and of a state.
const MODES_ON_A_LINE: usize = 12;

/// Polynomials along each of several coordinates.
const MODES_IN_SPACE: usize = 6;

/// What functions are stated in terms of.
#[derive(Clone, Copy)]
pub(crate) struct Functions<'a> {
    pub(crate) variables: Variables<'a>,
    pub(crate) context: &'a Context<'a>,
    pub(crate) recipe: Recipe,
    pub(crate) knowns: Knowns<'a>,
}

impl Functions<'_> {
    /// A function, its formulas parsed and its files read.
    pub(crate) fn resolve(&self, spec: FunctionSpec) -> Result<UnknownFunction> {
        let path = |key: &str| format!("unknown.{}.{key}", spec.name);
        let places = self.knowns.places;
        let named: Vec<Placed<&str>> =
            spec.of.iter().map(|name| (&name[..], places.get(&path("of")))).collect();
        let range = spec.range.map(|range| (range, places.get(&path("range"))));
        let of = self.variables.arguments(&named, range).map_err(|error| {
            let message = format!("{}: {}", path("of"), error.message);
            Diagnostic { message, ..error }
        })?;
        let axes: Vec<Coordinate> = of.iter().map(|argument| argument.axis.clone()).collect();
        let known = |key: &str, known| self.knowns.resolve(known, &path(key), &axes);
        Ok(UnknownFunction {
            form: places.formula(&path("form"), spec.form.as_deref().unwrap_or(NET))?,
            guess: known("guess", &spec.guess)?,
            truth: spec.truth.as_ref().map(|truth| known("truth", truth)).transpose()?,
            threshold: spec.threshold,
            nodes: spec.nodes.clone().unwrap_or_else(|| default_nodes(of.len())),
            basis: spec.basis,
            modes: spec.modes.clone().unwrap_or_else(|| default_modes(of.len())),
            of,
            regulariser: self.regulariser(&spec, &axes)?,
            network: self.network(&spec.network, &path("network"))?,
            scale: spec.scale,
            rate: spec.rate,
            unit: spec.unit.clone(),
            name: spec.name,
        })
    }

    fn regulariser(&self, spec: &FunctionSpec, axes: &[Coordinate]) -> Result<Option<Regulariser>> {
        let mut regulariser = spec.regulariser.clone();
        let Some(stated) = &spec.reference else { return Ok(regulariser) };
        let path = format!("unknown.{}.regularise.reference", spec.name);
        let Some(Regulariser { kind: RegulariserKind::L2 { reference }, .. }) = &mut regulariser else {
            let message = "`reference` belongs to `kind = \"l2\"`";
            return Err(self.knowns.places.error(&path, message).into());
        };
        *reference = Some(self.knowns.resolve(stated, &path, axes)?);
        Ok(regulariser)
    }

    /// Half as wide as that of the states, unless stated.
    fn network(&self, stated: &NetworkSpec, path: &str) -> Result<NetworkChoice> {
        let default = NetworkChoice::of(self.recipe);
        let mut network = NetworkChoice { width: default.width / 2, ..default };
        let node = match stated {
            NetworkSpec::Table(node) => node.clone(),
            NetworkSpec::Set(set) => {
                let mut table = Table::default();
                for text in set {
                    table.merge(Assignment::from(text).table(path)?);
                }
                Node { value: Value::Table(table), origin: Origin::none() }
            }
        };
        let keys = schema::NETWORK_SETTINGS.names();
        let reader = Reader::of(&node, path, self.context.constants, &keys)?;
        read_over(&reader, self.context, &mut network)?;
        Ok(network)
    }
}

fn default_modes(arguments: usize) -> Vec<usize> {
    vec![if arguments == 1 { MODES_ON_A_LINE } else { MODES_IN_SPACE }; arguments]
}

fn default_nodes(arguments: usize) -> Vec<usize> {
    vec![if arguments == 1 { ON_A_LINE } else { IN_SPACE }; arguments]
}
