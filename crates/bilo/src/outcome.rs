//! What a run returns. Later versions add fields and never rename these.

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The unknowns and the losses settled.
    Converged,
    /// All steps were taken.
    Steps,
    /// The time limit was reached.
    TimeLimit,
    /// The observer asked for it.
    Interrupted,
    /// A loss or an unknown was no longer finite or left all bounds; the state of the step before
    /// is what the outcome reports.
    Diverged {
        /// The last step whose state was good.
        last_good_step: usize,
        /// What was seen.
        reason: String,
    },
}

impl Stop {
    /// The name in `outcome.json`.
    pub fn name(&self) -> &'static str {
        match self {
            Stop::Converged => "converged",
            Stop::Steps => "steps",
            Stop::TimeLimit => "time-limit",
            Stop::Interrupted => "interrupted",
            Stop::Diverged { .. } => "diverged",
        }
    }
}

/// The result for one scalar unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarOutcome {
    /// Its name.
    pub name: String,
    /// Its unit, if the problem states one.
    pub unit: Option<String>,
    /// Where the search started.
    pub guess: f64,
    /// Where it ended.
    pub estimate: f64,
    /// The true value, if known.
    pub truth: Option<f64>,
}

impl ScalarOutcome {
    /// |estimate - truth| / |truth|, or the absolute error where the truth is zero.
    pub fn relative_error(&self) -> Option<f64> {
        self.truth.map(|truth| {
            let error = (self.estimate - truth).abs();
            if truth == 0.0 { error } else { error / truth.abs() }
        })
    }
}

/// The result for one state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateOutcome {
    /// Its name.
    pub name: String,
    /// ||u_NN - u_classical|| / ||u_classical|| with the classical solution at the estimate; none
    /// if the classical solver failed (see [`Outcome::classical_failure`]).
    pub relative_l2_vs_classical: Option<f64>,
}

/// Wall-clock seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Everything.
    pub total: f64,
    /// Pre-training.
    pub pretrain: f64,
    /// The two levels.
    pub train: f64,
    /// One iteration of the two levels.
    pub per_step: f64,
}

/// A named array over the grid of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name of the array, e.g. `u_network`, `u_classical`, `residual_front`.
    pub name: String,
    /// Values in row-major order of the axes.
    pub values: Vec<f64>,
}

/// Solutions and residuals on one tensor grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// Name and nodes of each coordinate.
    pub axes: Vec<(String, Vec<f64>)>,
    /// The arrays, each of the shape of the axes.
    pub arrays: Vec<Field>,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Name of the problem.
    pub problem: String,
    /// Name of the method.
    pub method: String,
    /// Name of the recipe.
    pub recipe: String,
    /// The seed of everything random.
    pub seed: u64,
    /// The hardware, in words.
    pub device: String,
    /// `f32` or `f64`.
    pub precision: String,
    /// Why it ended.
    pub stop: Stop,
    /// The unknowns.
    pub unknowns: Vec<ScalarOutcome>,
    /// The states.
    pub states: Vec<StateOutcome>,
    /// Last value of every loss term by name, in the order of the history.
    pub losses: Vec<(String, f64)>,
    /// Steps of pre-training taken.
    pub pretrain_steps: usize,
    /// Iterations of the two levels taken.
    pub train_steps: usize,
    /// Wall-clock times.
    pub seconds: Seconds,
    /// Solutions on a grid.
    pub fields: Fields,
    /// What the classical solver said if it could not re-solve at the estimate.
    pub classical_failure: Option<String>,
}
