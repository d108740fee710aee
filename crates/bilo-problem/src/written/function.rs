//! Unknown functions as a user states them.

use crate::model::function::{FunctionBasis, Regulariser, RegulariserKind};
use crate::tree::Node;
use crate::written::known::KnownSpec;

/// An unknown function as a user states it, with formulas as text.
#[derive(Clone, Debug)]
pub struct FunctionSpec {
    pub(crate) name: String,
    pub(crate) of: Vec<String>,
    pub(crate) range: Option<(f64, f64)>,
    /// `net` alone if it is not stated.
    pub(crate) form: Option<String>,
    pub(crate) guess: KnownSpec,
    pub(crate) truth: Option<KnownSpec>,
    pub(crate) threshold: Option<f64>,
    pub(crate) nodes: Option<Vec<usize>>,
    pub(crate) basis: FunctionBasis,
    pub(crate) modes: Option<Vec<usize>>,
    pub(crate) regulariser: Option<Regulariser>,
    /// What an L2 regulariser holds the function to.
    pub(crate) reference: Option<KnownSpec>,
    pub(crate) network: NetworkSpec,
    pub(crate) scale: f64,
    pub(crate) rate: Option<f64>,
    pub(crate) unit: Option<String>,
}

/// What is stated of the network of a function.
#[derive(Clone, Debug)]
pub(crate) enum NetworkSpec {
    /// A table of a file.
    Table(Node),
    /// Assignments such as `width=64`.
    Set(Vec<String>),
}

impl FunctionSpec {
    /// A function of some coordinates, or of one state, and where the search starts: an expression, as a
    /// rule.
    pub fn new<'a>(name: &str, of: impl IntoIterator<Item = &'a str>, guess: impl Into<KnownSpec>) -> Self {
        Self {
            name: name.to_string(),
            of: of.into_iter().map(str::to_string).collect(),
            range: None,
            form: None,
            guess: guess.into(),
            truth: None,
            threshold: None,
            nodes: None,
            basis: FunctionBasis::Chebyshev,
            modes: None,
            regulariser: None,
            reference: None,
            network: NetworkSpec::Set(vec![]),
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
        Self { form: Some(form.to_string()), ..self }
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
        Self { regulariser: Some(Regulariser::new(kind, weight)), ..self }
    }

    /// What is added to the upper-level loss with a weight that the data choose.
    pub fn regularise_by_data(self, kind: RegulariserKind) -> Self {
        Self { regulariser: Some(Regulariser::automatic(kind)), ..self }
    }

    /// What an L2 regulariser holds it to, in place of the guess.
    pub fn reference(self, reference: impl Into<KnownSpec>) -> Self {
        Self { reference: Some(reference.into()), ..self }
    }

    /// A setting of its network, such as `width=64`.
    pub fn network(mut self, assignment: &str) -> Self {
        match &mut self.network {
            NetworkSpec::Set(set) => set.push(assignment.to_owned()),
            NetworkSpec::Table(_) => self.network = NetworkSpec::Set(vec![assignment.to_owned()]),
        }
        self
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
}
