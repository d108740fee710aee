//! Unknown functions.

use crate::model::domain::Coordinate;
use crate::model::formula::Formula;
use crate::model::known::KnownFunction;
use crate::settings::NetworkChoice;
use crate::words::{Words, words};

/// A function to be inferred: of some coordinates (a coefficient, a source, an initial value), or of one
/// state (a conductivity that depends on the temperature).
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownFunction {
    /// Its name in expressions.
    pub name: String,
    /// What it depends on: coordinates in the order of the problem, or one state.
    pub of: Vec<Argument>,
    /// The function as an expression of `net` and its arguments: what is known of it (values at an
    /// end, a sign, a range) holds whatever `net` is.
    pub form: Formula,
    /// Where the search starts.
    pub guess: KnownFunction,
    /// The true function, if known: makes synthetic data and scores the result.
    pub truth: Option<KnownFunction>,
    /// The value that divides the domain in two classes, those of the truth and of the estimate.
    pub threshold: Option<f64>,
    /// Nodes along each of its arguments: where a method without a network holds its values.
    pub nodes: Vec<usize>,
    /// What `net` is a sum of under [`GradientMode::Exact`](crate::GradientMode::Exact) ..
    pub basis: FunctionBasis,
    /// .. and how many along each of its arguments.
    pub modes: Vec<usize>,
    /// What is added to the upper-level loss to make it well-posed.
    pub regulariser: Option<Regulariser>,
    /// The network behind `net` where there is one.
    pub network: NetworkChoice,
    /// Typical size: the local operator takes f/scale.
    pub scale: f64,
    /// The learning rate of its network; else the training's `theta-rate`.
    pub rate: Option<f64>,
    /// Unit, for people.
    pub unit: Option<String>,
}

/// Products of functions of one argument each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionBasis {
    /// Chebyshev polynomials: for smooth functions.
    Chebyshev,
    /// Cubic splines on equal cells: for functions that are rough.
    Splines,
}

words!(FunctionBasis { "chebyshev" => Chebyshev, "splines" => Splines });

/// One argument of an unknown function.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// What it is in the problem.
    pub variable: Variable,
    /// Its name and range: the coordinate itself, or the values of a state for which the function is wanted.
    pub axis: Coordinate,
}

/// What an unknown function depends on, by its number in the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// A coordinate.
    Coordinate(usize),
    /// A state: the function is taken at its value.
    State(usize),
}

/// weight · mean of a density over the domain of an unknown function f.
#[derive(Clone, Debug, PartialEq)]
pub struct Regulariser {
    /// The density.
    pub kind: RegulariserKind,
    /// Its weight beside the data loss, which is a mean too.
    pub weight: f64,
    /// Whether that is only where the search for it begins: the data choose it.
    pub automatic: bool,
}

impl Regulariser {
    /// A density with a weight.
    pub fn new(kind: RegulariserKind, weight: f64) -> Regulariser {
        Regulariser { kind, weight, automatic: false }
    }

    /// A density whose weight the data choose.
    pub fn automatic(kind: RegulariserKind) -> Regulariser {
        Regulariser { kind, weight: FIRST_WEIGHT, automatic: true }
    }
}

/// Where the search for a weight begins.
const FIRST_WEIGHT: f64 = 1e-3;

/// The density of a regulariser.
#[derive(Clone, Debug, PartialEq)]
pub enum RegulariserKind {
    /// |grad f|²: functions without steep slopes.
    H1,
    /// Σ_i f_{x_i x_i}²: functions without sharp bends.
    H2,
    /// Σ_i (sqrt(f_{x_i}² + s²) - s): total variation, |f_{x_i}| rounded off over slopes of size s;
    /// functions with few jumps.
    Tv {
        /// The slope s.
        smoothing: f64,
    },
    /// The inverse covariance of a Gaussian random field about the guess: minus the logarithm of a prior, if its weight is
    /// 1/(N sd²) beside a loss that is 2/N times minus a log-likelihood.
    Field(Matern),
    /// (f - reference)²: functions near one that is known; near the guess if none is given.
    L2 {
        /// The function that is known.
        reference: Option<KnownFunction>,
    },
}

/// A Gaussian random field with a Matérn covariance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matern {
    /// The standard deviation of each value; none if the data are to tell it.
    pub sd: Option<f64>,
    /// The distance over which values are correlated; none if the data are to tell it.
    pub length: Option<f64>,
    /// 1/2, 3/2 or 5/2: how often a field can be differentiated, and a half.
    pub smoothness: f64,
    /// The width of the function's domain, which an unknown length is measured by.
    pub width: f64,
}

impl Matern {
    /// The length, or where the search for it begins.
    pub fn length(&self) -> f64 {
        self.length.unwrap_or(0.2 * self.width)
    }
}

/// The density of a regulariser, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegulariserName {
    H1,
    H2,
    Tv,
    L2,
}

words!(RegulariserName { "h1" => H1, "h2" => H2, "tv" => Tv, "l2" => L2 });

impl RegulariserKind {
    /// The name in a problem file.
    pub fn name(&self) -> &'static str {
        let name = match self {
            RegulariserKind::Field(_) => return "matern",
            RegulariserKind::H1 => RegulariserName::H1,
            RegulariserKind::H2 => RegulariserName::H2,
            RegulariserKind::Tv { .. } => RegulariserName::Tv,
            RegulariserKind::L2 { .. } => RegulariserName::L2,
        };
        name.word()
    }
}

impl UnknownFunction {
    /// The state that it depends on, if it is a function of a state.
    pub fn state(&self) -> Option<usize> {
        self.of.iter().find_map(|argument| match argument.variable {
            Variable::State(state) => Some(state),
            Variable::Coordinate(_) => None,
        })
    }

    /// The names of its arguments.
    pub fn argument_names(&self) -> Vec<&str> {
        self.of.iter().map(|argument| argument.axis.name.as_str()).collect()
    }
}
