//! The inverse problem as plain, validated data: what a problem file or the builder produces and
//! everything downstream reads.

pub(crate) mod formula;
pub(crate) mod observation;
pub(crate) mod random_field;

use crate::diagnostic::Origin;
use crate::dictionary::OperatorChoice;
use crate::known::KnownFunction;
use crate::learning::Learning;
use crate::model::observation::Observation;
use crate::neighbour::Neighbour;
use crate::picture::Picture;
use crate::resolve::given::GivenField;
use bilo_expr::Ast;
use bilo_jet::{Activation, Precision};

/// A whole inverse problem: the PDE, its unknowns, the data and how to train.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Short name, used for the run directory.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// Space and time, in the order of files and plots.
    pub coordinates: Vec<Coordinate>,
    /// Named numbers.
    pub constants: Vec<Constant>,
    /// Known functions of coordinates by their values on grids: images.
    pub given: Vec<GivenField>,
    /// The scalar parameters theta to be inferred.
    pub unknowns: Vec<Unknown>,
    /// The functions to be inferred.
    pub functions: Vec<UnknownFunction>,
    /// What networks see beside the coordinates.
    pub inputs: Vec<Input>,
    /// What the PDE is about; several states make a system.
    pub states: Vec<State>,
    /// Residuals that must vanish: the PDE itself and soft conditions.
    pub equations: Vec<Equation>,
    /// The data.
    pub observations: Vec<Observation>,
    /// What is drawn of the result.
    pub pictures: Vec<Picture>,
    /// What stands for the solution as a function of coordinates and unknowns.
    pub operator: OperatorChoice,
    /// The network behind the local operator, if it is one.
    pub network: NetworkChoice,
    /// How to train it.
    pub training: Training,
    /// How the reference solver solves.
    pub classical: Classical,
    /// What neural operators learn from, and how.
    pub learning: Learning,
    /// Where the audit holds the local operator against the classical solution, beside the guess.
    pub neighbours: Vec<Neighbour>,
}

/// One coordinate of the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinate {
    /// Its name in expressions.
    pub name: String,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// Whether it is the time-like one.
    pub time: bool,
    /// Whether the two ends are the same point (space only).
    pub periodic: bool,
}

/// A named number.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name in expressions.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// A scalar parameter of the PDE to be inferred.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Its name in expressions.
    pub name: String,
    /// Where the search starts.
    pub guess: f64,
    /// The true value, if known: makes synthetic data and scores the result.
    pub truth: Option<f64>,
    /// Values it may not leave.
    pub bounds: Option<(f64, f64)>,
    /// Typical size: the method works with theta/scale.
    pub scale: f64,
    /// The variable that the method moves.
    pub transform: Transform,
    /// Its own learning rate; else the training's `theta-rate`.
    pub rate: Option<f64>,
    /// Unit, for people.
    pub unit: Option<String>,
}

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
    /// What `net` is a sum of under [`GradientMode::Exact`] ..
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
}

/// The density of a regulariser.
#[derive(Clone, Debug, PartialEq)]
pub enum RegulariserKind {
    /// |grad f|²: smooth functions.
    H1,
    /// Σ_i (sqrt(f_{x_i}² + s²) - s): total variation, |f_{x_i}| rounded off over slopes of size s;
    /// functions with few jumps.
    Tv {
        /// The slope s.
        smoothing: f64,
    },
    /// (f - reference)²: functions near one that is known; near the guess if none is given.
    L2 {
        /// The function that is known.
        reference: Option<KnownFunction>,
    },
}

impl RegulariserKind {
    /// The name in a problem file.
    pub fn name(&self) -> &'static str {
        match self {
            RegulariserKind::H1 => "h1",
            RegulariserKind::Tv { .. } => "tv",
            RegulariserKind::L2 { .. } => "l2",
        }
    }
}

/// An extra input of every network of the states, beside the coordinates: u is net(x, phi). Where phi has a
/// kink, u may have one too.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name in expressions: `u_x` is the total derivative, through phi too, and `u_phi` the partial
    /// one, with the coordinates held fixed.
    pub name: String,
    /// An expression of coordinates, constants and scalar unknowns.
    pub value: Formula,
}

/// The variable eta that the method moves in place of an unknown theta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// theta = scale * eta.
    Identity,
    /// theta = scale * exp(eta): positive.
    Log,
}

/// A state variable of the PDE.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its name in expressions.
    pub name: String,
    /// The state as an expression of `net`, coordinates and unknowns; boundary and initial values
    /// that it holds are exact for every network.
    pub form: Formula,
    /// The exact solution at the unknowns' truths, an expression of coordinates and unknowns, if it
    /// is known: `bilo check` holds it against everything else that is stated.
    pub truth: Option<Formula>,
}

/// A residual, the points where it must vanish, and its weight in the lower-level loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Equation {
    /// Its name.
    pub name: String,
    /// The expression that must vanish.
    pub residual: Formula,
    /// What vanishes for the networks, where that is something else: the equation with a little viscosity,
    /// say, because a network cannot jump.
    pub trained: Option<Formula>,
    /// Where.
    pub points: Points,
    /// Weight of its mean square (and of its residual-gradient term).
    pub weight: f64,
}

impl Equation {
    /// The residual of the networks.
    pub fn of_networks(&self) -> &Formula {
        self.trained.as_ref().unwrap_or(&self.residual)
    }
}

/// A set of points of the domain, generated when a run starts (random ones from its seed).
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// How the free coordinates are laid out.
    pub layout: Layout,
    /// Coordinates (by number) that are held at one or several values.
    pub at: Vec<(usize, Vec<f64>)>,
    /// Those of them that follow unknowns, with the expression whose value at the guess stands in `at`.
    pub moving: Vec<(usize, Formula)>,
    /// Keeps only the points where this is true (nonzero); unknowns stand for their guess.
    pub filter: Option<Formula>,
    /// Whether training takes other points as it goes on.
    pub renewal: Option<Renewal>,
}

/// Training takes other points as it goes on, so that none is learnt by heart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// Steps between two draws.
    pub every: usize,
    /// So many of the points at a time, spread over all of them; none to draw all of them afresh.
    pub batch: Option<usize>,
}

/// How points are laid out over the coordinates that are not held.
#[derive(Clone, Debug, PartialEq)]
pub enum Layout {
    /// Tensor grid: (coordinate, count), ends included (the upper end of a periodic one left out).
    Grid(Vec<(usize, usize)>),
    /// So many uniformly random points.
    Random(usize),
    /// So many points of a scrambled Sobol sequence.
    Sobol(usize),
    /// The points themselves, one column per coordinate.
    List(Vec<Vec<f64>>),
}

/// Shape of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkChoice {
    /// Neurons of every hidden layer.
    pub width: usize,
    /// Square hidden layers after the embedding.
    pub layers: usize,
    /// Nonlinearity.
    pub activation: Activation,
    /// Random Fourier features in front: (count, scale).
    pub fourier: Option<(usize, f64)>,
    /// Residual connections between the square layers.
    pub residual: bool,
    /// Modified MLP (two gates from the input).
    pub modified: bool,
    /// One network for each state rather than one with several outputs.
    pub separate: bool,
}

/// Which set of defaults a run starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// The paper's settings.
    Paper,
    /// The best settings known for a few CPU cores.
    Fast,
}

/// How the two levels take turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Levels {
    /// One step of each level per iteration (the paper's algorithm).
    Simultaneous,
    /// Lower steps until the lower loss is below `tolerance` (at most `max_lower`), then one upper step.
    Alternating {
        /// Bound on the lower loss.
        tolerance: f64,
        /// Most lower steps between two upper steps.
        max_lower: usize,
    },
}

/// Which gradient moves unknown functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientMode {
    /// The derivative of the data loss under the PDE: every value of the function moves the solution
    /// everywhere. The function is a sum of a few given ones, and their coefficients are inputs of the
    /// local operator like scalars.
    Exact,
    /// The paper's: du(x) = u_z(x, f(x)) df(x), as if a value of the function moved the solution at the
    /// same place only, by what a uniform shift of the function does there. The function is a network.
    Pointwise,
}

impl GradientMode {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            GradientMode::Exact => "exact",
            GradientMode::Pointwise => "pointwise",
        }
    }
}

/// How learning rates change over a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// They do not.
    Constant,
    /// Half a cosine from the rate down to a hundredth of it.
    Cosine,
}

impl Schedule {
    /// The factor of a rate after a share of all steps.
    pub fn factor(self, share: f64) -> f64 {
        match self {
            Schedule::Constant => 1.0,
            Schedule::Cosine => 0.01 + 0.99 * 0.5 * (1.0 + (std::f64::consts::PI * share).cos()),
        }
    }
}

/// Optimiser of the network's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightOptimiser {
    /// Adam with amsgrad.
    Adam,
    /// Adam in the eigenbasis of the gradients' covariance, for each matrix of weights.
    Soap,
    /// L-BFGS (pre-training and the lower level of alternating levels).
    Lbfgs,
    /// Levenberg-Marquardt: the weights are solved for at every step of the unknowns, which move by
    /// Gauss-Newton.
    Lm,
}

/// Optimiser of the unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThetaOptimiser {
    /// Adam with amsgrad.
    Adam,
    /// Adam in the eigenbasis of the gradients' covariance, for all scalars and coefficients together and for
    /// each matrix of weights.
    Soap,
}

/// All settings of a training run, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// The defaults they started from.
    pub recipe: Recipe,
    /// Arithmetic of the network.
    pub precision: Precision,
    /// How the levels take turns.
    pub levels: Levels,
    /// Optimiser of the weights.
    pub optimiser: WeightOptimiser,
    /// Optimiser of the unknowns.
    pub theta_optimiser: ThetaOptimiser,
    /// How learning rates change.
    pub schedule: Schedule,
    /// Steps of pre-training at the guess.
    pub pretrain_steps: usize,
    /// Iterations of the two levels.
    pub train_steps: usize,
    /// Learning rate of the weights.
    pub rate: f64,
    /// Learning rate of the unknowns.
    pub theta_rate: f64,
    /// w_rgrad, the weight of the residual-gradient loss.
    pub rgrad_weight: f64,
    /// w_dat: weight of the data in the one loss of a physics-informed network.
    pub data_weight: f64,
    /// Steps of the lower level before each of the upper one, for BPN.
    pub lower_steps: usize,
    /// Iterations for the inverse Hessian, for BPN.
    pub inverse_steps: usize,
    /// Which gradient moves unknown functions.
    pub gradient: GradientMode,
    /// Pre-training also fits u_0, the classical solution at the guess.
    pub pretrain_on_solution: bool,
    /// Converged when every unknown moved less than this (relative) over `settle_steps` iterations
    /// and the losses no longer fall; zero turns the test off.
    pub settle_tolerance: f64,
    /// Window of the convergence test.
    pub settle_steps: usize,
    /// Seconds after which training stops with what it has.
    pub time_limit: Option<f64>,
    /// A row of the history every so many steps.
    pub record_every: usize,
}

/// How the reference solver solves.
#[derive(Clone, Debug, PartialEq)]
pub struct Classical {
    /// Cells along each space coordinate, in their order; along time if it is the only coordinate.
    pub cells: Vec<usize>,
    /// Steps in time.
    pub steps: usize,
    /// What it makes of the equations.
    pub scheme: Scheme,
    /// The flux of a conservation law, of the state and the unknowns; none to find it in the residual.
    pub flux: Option<Formula>,
}

/// What the reference solver makes of the equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Godunov's scheme for conservation laws whose speed depends on the state, else central
    /// differences.
    Automatic,
    /// Central differences, implicit in time.
    Central,
    /// Godunov's scheme, for conservation laws u_t + f(u)_x = 0.
    Godunov,
}

/// An expression, as written and as parsed, that knows where it was written.
#[derive(Clone, Debug)]
pub struct Formula {
    /// As written.
    pub text: String,
    /// As parsed.
    pub ast: Ast,
    /// Where it was written.
    pub origin: Origin,
}

/// Two formulas are the same if they say the same, wherever they were written.
impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
