//! The defaults of each recipe.

use crate::model::{
    GradientMode, Levels, NetworkChoice, Recipe, Schedule, ThetaOptimiser, Training, WeightOptimiser,
};
use bilo_jet::{Activation, Precision};

impl Recipe {
    /// The recipes by name.
    pub const ALL: [(&'static str, Recipe); 2] = [("paper", Recipe::Paper), ("fast", Recipe::Fast)];

    /// Its name in a problem file.
    pub fn name(self) -> &'static str {
        match self {
            Recipe::Paper => "paper",
            Recipe::Fast => "fast",
        }
    }

    /// The settings that a problem starts from.
    pub fn defaults(self) -> (NetworkChoice, Training) {
        match self {
            Recipe::Paper => paper(),
            Recipe::Fast => fast(),
        }
    }
}

/// The settings of the paper's experiments.
fn paper() -> (NetworkChoice, Training) {
    let network = NetworkChoice {
        width: 128,
        layers: 2,
        activation: Activation::Tanh,
        fourier: None,
        residual: false,
        modified: false,
        separate: false,
    };
    let training = Training {
        recipe: Recipe::Paper,
        precision: Precision::F32,
        levels: Levels::Simultaneous,
        optimiser: WeightOptimiser::Adam,
        theta_optimiser: ThetaOptimiser::Adam,
        schedule: Schedule::Constant,
        pretrain_steps: 10_000,
        train_steps: 50_000,
        rate: 1e-3,
        theta_rate: 1e-3,
        rgrad_weight: 0.1,
        data_weight: 1.0,
        lower_steps: 64,
        inverse_steps: 32,
        gradient: GradientMode::Pointwise,
        pretrain_on_solution: true,
        settle_tolerance: 0.0,
        settle_steps: 1000,
        time_limit: None,
        record_every: 10,
    };
    (network, training)
}

/// A small network with residual connections bears ten times the paper's learning rate, and so do the
/// unknowns; falling rates then remove the noise that large steps leave.
fn fast() -> (NetworkChoice, Training) {
    let (network, training) = paper();
    let network = NetworkChoice { width: 48, residual: true, ..network };
    let training = Training {
        recipe: Recipe::Fast,
        schedule: Schedule::Cosine,
        pretrain_steps: 1000,
        train_steps: 4000,
        rate: 1e-2,
        theta_rate: 0.01,
        settle_tolerance: 1e-6,
        settle_steps: 500,
        ..training
    };
    (network, training)
}
