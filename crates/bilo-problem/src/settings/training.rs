//! `[train]`: how a network is trained.

use crate::schema::kind::Kind::{Boolean, Count, NotNegative, Positive, Word};
use crate::settings::network::NetworkChoice;
use crate::settings::recipe::Recipe;
use crate::settings::table::{Settings, settings};
use crate::words::{Words, words};
use bilo_jet::Precision;

impl Recipe {
    /// The settings that a problem starts from.
    pub fn defaults(self) -> (NetworkChoice, Training) {
        (NetworkChoice::of(self), Training::of(self))
    }
}

settings! {
    /// All settings of a training run, resolved.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Training {
        "precision" precision: Precision = Precision::F32;
            Word(Precision::NAMES),
            "arithmetic of the network; `\"tf32\"` is `\"f32\"` with [products by tensor cores](gpu.md#what-happens-there) on a GPU";
        "levels" levels: Levels = Levels::Simultaneous;
            Word(Levels::NAMES), "how the two levels take turns";
        "lower-tolerance" lower_tolerance: f64 = 1e-4;
            Positive, "alternating only: bound on the lower loss before an upper step",
            when |training| training.levels == Levels::Alternating;
        "max-lower-steps" max_lower_steps: usize = 1000;
            Count(1, None), "alternating only: most lower steps between two upper steps",
            when |training| training.levels == Levels::Alternating;
        "optimiser" optimiser: WeightOptimiser = WeightOptimiser::Adam;
            Word(WeightOptimiser::NAMES),
            "of the weights; `\"soap\"` is Adam in the eigenbasis of each matrix's gradients; `\"lbfgs\"` works in \
             pre-training and in alternating levels; `\"lm\"` is Levenberg-Marquardt with \
             [implicit sensitivities](fast-operators.md#networks-that-are-solved-for) in place of both levels' \
             descent";
        "theta-optimiser" theta_optimiser: ThetaOptimiser = ThetaOptimiser::Adam;
            Word(ThetaOptimiser::NAMES),
            "of the unknowns; `\"soap\"` helps where the data see some directions far better than others, and wants \
             smaller rates";
        "schedule" schedule: Schedule = Schedule::Cosine, paper Schedule::Constant;
            Word(Schedule::NAMES), "of the learning rates within each phase";
        "pretrain-steps" pretrain_steps: usize = 1000, paper 10_000;
            Count(0, None), "steps at the guess";
        "train-steps" train_steps: usize = 4000, paper 50_000;
            Count(0, None), "steps of both levels";
        "rate" rate: f64 = 1e-2, paper 1e-3;
            Positive, "learning rate of the weights";
        "theta-rate" theta_rate: f64 = 1e-2, paper 1e-3;
            Positive, "learning rate of the unknowns";
        "rgrad-weight" rgrad_weight: f64 = 0.1;
            NotNegative, "weight of the residual-gradient loss";
        "data-weight" data_weight: f64 = 1.0;
            NotNegative, "method `pinn` only: weight of the data in its one loss";
        "lower-steps" lower_steps: usize = 64;
            Count(0, None), "method `bpn` only: steps of the network before each of the unknowns";
        "inverse-steps" inverse_steps: usize = 32;
            Count(0, None), "method `bpn` only: Broyden iterations for the inverse Hessian";
        "gradient" gradient: GradientMode = GradientMode::Pointwise;
            Word(GradientMode::NAMES),
            "which gradient moves unknown functions; with a function of a state only `\"exact\"`, which is then the \
             default";
        "pretrain-on-solution" pretrain_on_solution: bool = true;
            Boolean, "pre-training also fits the classical solution at the guess";
        "settle-tolerance" settle_tolerance: f64 = 1e-6, paper 0.0;
            NotNegative,
            "converged when every unknown stays within this relative range (times the schedule's factor) over a \
             window and no loss falls; `0` turns the test off";
        "settle-steps" settle_steps: usize = 500, paper 1000;
            Count(1, None), "length of that window";
        "starts" starts: Option<usize> = None;
            Count(1, Some(10_000)),
            "searches from so many places, spread over the `bounds` or around the guess; without it from the guess, and \
             from eight others where no fit is found that the errors of the data allow, or where there is one coordinate";
        "time-limit" time_limit: Option<f64> = None;
            Positive, "seconds after which the search stops with what it has; its checks may take as long again, ten seconds at least";
        "record-every" record_every: usize = 10;
            Count(1, None), "a row of `history.csv` every so many steps";
    }
    with
        /// The defaults that they started from.
        recipe: Recipe = |recipe| recipe;
}

words!(Precision { "f32" => F32, "tf32" => Tf32, "f64" => F64 });

/// How the two levels take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// One step of each level per iteration (the paper's algorithm).
    Simultaneous,
    /// Lower steps until the lower loss is below a tolerance, or so many of them, then one upper step.
    Alternating,
}

words!(Levels { "simultaneous" => Simultaneous, "alternating" => Alternating });

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

words!(GradientMode { "pointwise" => Pointwise, "exact" => Exact });

impl GradientMode {
    /// The name in files.
    pub fn name(self) -> &'static str {
        self.word()
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

words!(Schedule { "constant" => Constant, "cosine" => Cosine });

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

words!(WeightOptimiser { "adam" => Adam, "soap" => Soap, "lbfgs" => Lbfgs, "lm" => Lm });

/// Optimiser of the unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThetaOptimiser {
    /// Adam with amsgrad.
    Adam,
    /// Adam in the eigenbasis of the gradients' covariance, for all scalars and coefficients together and for
    /// each matrix of weights.
    Soap,
}

words!(ThetaOptimiser { "adam" => Adam, "soap" => Soap });
