//! `[operator]`: what stands for the solution as a function of coordinates and unknowns.

use crate::model::formula::Formula;
use crate::schema::kind::Kind::{Any, Count, Each, Expression, List, Positive, Word};
use crate::settings::table::settings;
use crate::words::{Words, words};

/// Functions of an extra input, unless stated: a constant and the input itself. With the polynomials of the
/// coordinates these are all that a kink at one place needs.
const OF_AN_INPUT: usize = 2;

settings! {
    /// What stands for the solution as a function of coordinates and unknowns.
    #[derive(Clone, Debug, PartialEq)]
    pub struct OperatorChoice {
        "kind" kind: OperatorKind = OperatorKind::Automatic, paper OperatorKind::Network;
            Word(OperatorKind::NAMES),
            "`\"automatic\"`: a dictionary if the solution converges in it, else a network. A stated \
             `train.gradient = \"pointwise\"` makes it a network, since a dictionary knows the exact gradient only";
    }
    with
        /// What a dictionary holds.
        dictionary: DictionaryChoice = DictionaryChoice::of;
}

settings! {
    /// What a dictionary holds.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DictionaryChoice {
        "basis" basis: Basis = Basis::Chebyshev;
            Word(Basis::NAMES),
            "products of Chebyshev polynomials or of cubic splines on equal cells (waves along periodic \
             coordinates), or ridge functions tanh(w·(x - c)), sin(w·(x - c)) with random slopes w and random \
             places c in the domain";
        "modes" modes: Vec<Option<usize>> = vec![], shown "as many as it takes";
            Each(&Count(1, Some(256))),
            "polynomials along a coordinate, or splines, three more than cells; of an extra [input](#inputname) \
             `2`: one, and the input itself",
            said "table of counts by coordinate or input",
            when |dictionary| dictionary.basis.is_tensor();
        "features" features: Option<usize> = None, shown "as many as it takes";
            Count(1, Some(16384)), "number of ridge functions",
            when |dictionary| !dictionary.basis.is_tensor();
        "scale" scale: f64 = 4.0;
            Positive, "largest slope of a ridge function along a coordinate scaled to [0, 1]",
            when |dictionary| !dictionary.basis.is_tensor();
        "enrich" enrich: Vec<Formula> = vec![], shown "`[]`";
            Any(&[Expression, List(&Expression)]),
            "further functions of coordinates, constants and unknowns, each with a coefficient of its own: a layer, \
             a corner function",
            said "list of expressions";
    }
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

words!(OperatorKind { "automatic" => Automatic, "network" => Network, "dictionary" => Dictionary });

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

words!(Basis { "chebyshev" => Chebyshev, "splines" => Splines, "tanh" => Tanh, "sine" => Sine });

impl Basis {
    /// Whether it consists of products of functions of one coordinate each.
    pub fn is_tensor(self) -> bool {
        matches!(self, Basis::Chebyshev | Basis::Splines)
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        self.word()
    }
}

impl OperatorChoice {
    /// With as many entries of `modes` as there are coordinates and inputs.
    pub(crate) fn completed(mut self, coordinates: usize, inputs: usize) -> OperatorChoice {
        let modes = &mut self.dictionary.modes;
        modes.resize(coordinates, None);
        modes.resize(coordinates + inputs, Some(OF_AN_INPUT));
        self
    }
}
