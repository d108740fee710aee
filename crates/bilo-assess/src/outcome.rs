//! What a run returns. Later versions add fields and never rename these.

use crate::audit::Audit;
use crate::audit::near::Near;
use crate::picture::Drawing;
use crate::uncertainty::Noise;
pub use bilo_fit::stop::Stop;
pub use bilo_operator::implicit::Work;
use bilo_operator::operator::Size;
pub use bilo_problem::fields::{Field, Fields};
use bilo_problem::{Problem, Unknown};

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
    /// The value that is best for the data under the exact PDE; none if the reference solver could
    /// not find it.
    pub data_optimal: Option<f64>,
    /// Standard deviation of the estimate by the reference solver's sensitivities.
    pub sd: Option<f64>,
    /// The same by the network's.
    pub sd_network: Option<f64>,
}

impl ScalarOutcome {
    /// The unknowns of a problem at the variables where a run ended.
    pub fn all(problem: &Problem, eta: &[f64]) -> Vec<ScalarOutcome> {
        let outcome = |(unknown, &eta): (&Unknown, &f64)| ScalarOutcome {
            name: unknown.name.clone(),
            unit: unknown.unit.clone(),
            guess: unknown.guess,
            estimate: unknown.theta_of(eta),
            truth: unknown.truth,
            data_optimal: None,
            sd: None,
            sd_network: None,
        };
        problem.unknowns.iter().zip(eta).map(outcome).collect()
    }

    /// The network's standard deviation over the classical one: near 1 if both see the data alike.
    pub fn sd_ratio(&self) -> Option<f64> {
        Some(self.sd_network? / self.sd?)
    }

    /// |estimate - truth| / |truth|, or the absolute error where the truth is zero.
    pub fn relative_error(&self) -> Option<f64> {
        self.truth.map(|truth| {
            let error = (self.estimate - truth).abs();
            if truth == 0.0 { error } else { error / truth.abs() }
        })
    }
}

/// The result for one unknown function. Its values are among the [`Fields`]: the estimate under its
/// name, `NAME_guess`, `NAME_truth` and `NAME_sd`.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionOutcome {
    /// Its name.
    pub name: String,
    /// The names of the coordinates, or of the state, that it depends on.
    pub of: Vec<String>,
    /// Its unit, if the problem states one.
    pub unit: Option<String>,
    /// Least and greatest value of the estimate.
    pub range: (f64, f64),
    /// ||estimate - truth|| / ||truth||, if the truth is known.
    pub relative_l2_error: Option<f64>,
    /// The same of the guess.
    pub relative_l2_error_of_guess: Option<f64>,
    /// ||standard deviation|| / ||estimate||, by the reference solver's sensitivities; the deviations are the field
    /// `NAME_sd`.
    pub relative_sd: Option<f64>,
    /// The share of the domain where the estimate is on the same side of the function's threshold as the
    /// truth, if both are stated.
    pub classification_accuracy: Option<f64>,
    /// Which gradient moved it: `"pointwise"`, `"exact"`, `"joint"` (that of a physics-informed network's one loss)
    /// or `"hypergradient"` (BPN's).
    pub gradient: &'static str,
}

/// The result for one state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateOutcome {
    /// Its name.
    pub name: String,
    /// ||u_NN - u_classical|| / ||u_classical|| with the classical solution at the estimate; none
    /// if the classical solver failed (see [`Outcome::classical_failure`]), if it put the state in terms of
    /// others, or if there is no network to compare with it.
    pub relative_l2_vs_classical: Option<f64>,
    /// The same at the end of the time alone, if there is a time.
    pub relative_l2_at_end: Option<f64>,
}

impl StateOutcome {
    /// A state of which there is the classical solution only.
    pub(crate) fn alone(name: &str) -> StateOutcome {
        StateOutcome { name: name.to_owned(), relative_l2_vs_classical: None, relative_l2_at_end: None }
    }
}

/// The data loss of one observation at the estimate: for normal errors the mean of ((value - data)/sigma)².
#[derive(Clone, Debug, PartialEq)]
pub struct MisfitOutcome {
    /// The observation.
    pub name: String,
    /// By the network's solution, if there is a network.
    pub network: Option<f64>,
    /// By the classical solution, if there is one.
    pub classical: Option<f64>,
    /// For a segmentation, the overlap 2 |A and B| / (|A| + |B|) of the network's and the observed set.
    pub dice_network: Option<f64>,
    /// The same of the classical solution.
    pub dice_classical: Option<f64>,
    /// Value by value.
    pub fit: Fit,
}

/// What was observed, and what the solutions at the estimate say instead, place by place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// Name and values of each coordinate.
    pub coordinates: Vec<(String, Vec<f64>)>,
    /// The data; none for particles, whose places are the data.
    pub data: Option<Vec<f64>>,
    /// Their standard deviations, if they have such.
    pub sigma: Option<Vec<f64>>,
    /// By the network's solution, if there is a network.
    pub network: Option<Vec<f64>>,
    /// By the classical solution, if there is one.
    pub classical: Option<Vec<f64>>,
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

/// What stood for the solution as a function of coordinates and unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorOutcome {
    /// `"network"` or `"dictionary"`.
    pub kind: &'static str,
    /// Why it is what it is, if the program chose it.
    pub why: Option<String>,
    /// What a dictionary held.
    pub dictionary: Option<DictionaryOutcome>,
    /// What it took to solve for the weights, if they were solved for.
    pub work: Option<Work>,
}

/// What a dictionary held, and how well that was enough.
#[derive(Clone, Debug, PartialEq)]
pub struct DictionaryOutcome {
    /// Name of the features.
    pub basis: &'static str,
    /// Functions along each coordinate and of each extra input, by name; none for ridge functions.
    pub modes: Vec<(String, usize)>,
    /// Number of features.
    pub features: usize,
    /// Root mean square of the residuals at points where they were not made small.
    pub residual: f64,
    /// Relative change of the solution from the dictionary before, if there was one.
    pub change: Option<f64>,
}

impl OperatorOutcome {
    /// Networks, with what it took to solve for their weights if they were not trained.
    pub fn network(work: Option<Work>) -> OperatorOutcome {
        OperatorOutcome { kind: "network", why: None, dictionary: None, work }
    }

    /// A dictionary of some size, with the residual it leaves and the change from the one before.
    pub fn dictionary(
        problem: &Problem,
        size: &Size,
        residual: f64,
        change: Option<f64>,
        work: Work,
    ) -> OperatorOutcome {
        let names = problem.coordinates.iter().map(|c| &c.name).chain(problem.inputs.iter().map(|i| &i.name));
        let modes = match size {
            Size::Modes(modes) => names.cloned().zip(modes.iter().copied()).collect(),
            Size::Ridges(_) => vec![],
        };
        let basis = problem.operator.dictionary.basis.name();
        let dictionary = DictionaryOutcome { basis, modes, features: size.features(), residual, change };
        OperatorOutcome { kind: "dictionary", why: None, dictionary: Some(dictionary), work: Some(work) }
    }
}

/// What a neural operator learned from, and how well.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedOutcome {
    /// Solved examples.
    pub examples: usize,
    /// Whether they were there from an earlier run.
    pub cached: bool,
    /// Numbers that were trained, complex ones counted once.
    pub numbers: usize,
    /// Steps of training.
    pub steps: usize,
    /// Relative error over the examples trained on.
    pub training_error: f64,
    /// Relative error over those held back.
    pub validation_error: Option<f64>,
    /// Seconds that the examples took, and those of training.
    pub seconds: [f64; 2],
}

impl Outcome {
    /// A run at its beginning.
    pub fn begun(problem: &Problem, method: &str, seed: u64) -> Outcome {
        Outcome {
            problem: problem.name.clone(),
            method: method.to_owned(),
            recipe: problem.training.recipe.name().to_owned(),
            seed,
            device: String::new(),
            device_memory: None,
            precision: "f64".to_owned(),
            stop: Stop::Steps,
            unknowns: ScalarOutcome::all(problem, &problem.eta_of_guess()),
            functions: vec![],
            states: problem.states.iter().map(|state| StateOutcome::alone(&state.name)).collect(),
            operator: None,
            learned: None,
            losses: vec![],
            misfits: vec![],
            audit: vec![],
            near: vec![],
            correlations: vec![],
            singular_values: vec![],
            noise: vec![],
            notes: vec![],
            warnings: vec![],
            pretrain_steps: 0,
            train_steps: 0,
            seconds: Seconds::default(),
            fields: Fields::default(),
            drawings: vec![],
            classical_failure: None,
        }
    }
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
    /// The most bytes of the hardware's own memory in use, if it has such.
    pub device_memory: Option<u64>,
    /// `f32` or `f64`.
    pub precision: String,
    /// Why it ended.
    pub stop: Stop,
    /// The scalar unknowns.
    pub unknowns: Vec<ScalarOutcome>,
    /// The unknown functions.
    pub functions: Vec<FunctionOutcome>,
    /// The states.
    pub states: Vec<StateOutcome>,
    /// What stood for the solution; none for a method without a local operator.
    pub operator: Option<OperatorOutcome>,
    /// What a neural operator learned from, if one stood for the solution.
    pub learned: Option<LearnedOutcome>,
    /// Last value of every loss term by name, in the order of the history.
    pub losses: Vec<(String, f64)>,
    /// How well both solutions at the estimate fit the data.
    pub misfits: Vec<MisfitOutcome>,
    /// BiLO's gradient against the exact one, where both are known.
    pub audit: Vec<Audit>,
    /// The operator of the guess where unknowns have other values, wherever the problem asks for it.
    pub near: Vec<Near>,
    /// Correlations of the scalar unknowns' estimates by the reference solver's sensitivities, a row for each; empty if unknown.
    pub correlations: Vec<Vec<f64>>,
    /// Singular values of the sensitivities of the observed values to relative changes of the unknowns
    /// at the estimate, largest first; empty if unknown.
    pub singular_values: Vec<f64>,
    /// The noise that the standard deviations are for.
    pub noise: Vec<Noise>,
    /// What is worth knowing, a sentence each.
    pub notes: Vec<String>,
    /// What deserves attention, a sentence each.
    pub warnings: Vec<String>,
    /// Steps of pre-training taken.
    pub pretrain_steps: usize,
    /// Iterations of the two levels taken.
    pub train_steps: usize,
    /// Wall-clock times.
    pub seconds: Seconds,
    /// Solutions on a grid.
    pub fields: Fields,
    /// What the problem's pictures show.
    pub drawings: Vec<Drawing>,
    /// What the classical solver said if it could not re-solve at the estimate.
    pub classical_failure: Option<String>,
}
