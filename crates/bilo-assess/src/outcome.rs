//! What a run returns, and what stands in `outcome.json`.
//!
//! An [`Outcome`] is written and read by the same type: keys are added by later versions, never renamed. What is not known
//! is `null`. Solutions, data and pictures stand in files of their own.
//!
//! ```
//! use bilo_assess::outcome::Outcome;
//!
//! let text = include_str!("../tests/data/outcome.json");
//! let outcome = Outcome::from_json(text)?;
//! assert_eq!(outcome.unknowns.numbers[0].name, "D");
//! assert_eq!(Outcome::from_json(&outcome.to_json())?, outcome);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod checks;
mod drawing;
mod goodness;
mod json;
mod operator;
mod profile;
mod unknowns;
mod verdict;

pub use bilo_fit::stop::{Divergence, Stop};
pub use bilo_operator::implicit::Work;
pub use bilo_problem::fields::{Field, Fields};
pub use checks::{
    At, Audit, Discretisation, Fit, MisfitOutcome, Near, NearState, Noise, NoiseSource,
    RegularisationOutcome, StateOutcome,
};
pub use drawing::{Drawing, Line, Shown, Whose};
pub use goodness::{ChiSquare, Goodness, ObservationFit, Outlier, ResidualTest, TestKind};
pub use operator::{DictionaryOutcome, Kind, LearnedOutcome, LearnedSeconds, OperatorOutcome, SolvedBy};
pub use profile::{Flat, ProfileOutcome, ProfilePoint};
pub use unknowns::{DerivedOutcome, FunctionOutcome, ScalarOutcome, Unknowns};
pub use verdict::{Colour, Minimum, Reason, ReasonKind, StartOutcome, Verdict};

use bilo_problem::Problem;
use json::{list, named, numbers, rows};
use serde::{Deserialize, Serialize};

/// The number of the format that this version writes.
const FORMAT: u32 = 1;

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcome {
    /// Number of the format of `outcome.json`; 0 where none was written.
    pub format: u32,
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
    /// Whether the answer may be used.
    pub verdict: Verdict,
    /// The unknowns.
    pub unknowns: Unknowns,
    /// What follows from the unknowns.
    #[serde(default, with = "named")]
    pub derived: Vec<DerivedOutcome>,
    /// The states.
    #[serde(with = "named")]
    pub states: Vec<StateOutcome>,
    /// What solved the equations where the unknowns were found.
    pub solved_by: SolvedBy,
    /// What stood for the solution; none for a method without a local operator.
    pub operator: Option<OperatorOutcome>,
    /// What a neural operator learned from, if one stood for the solution.
    pub learned: Option<LearnedOutcome>,
    /// Last value of every loss term by name, in the order of the history.
    #[serde(with = "numbers")]
    pub losses: Vec<(String, f64)>,
    /// How well both solutions at the estimate fit the data.
    #[serde(rename = "data_misfit", with = "named")]
    pub misfits: Vec<MisfitOutcome>,
    /// Whether the model fits the data.
    pub goodness: Goodness,
    /// The error that the reference solver's grid makes, if that is known.
    pub discretisation: Option<Discretisation>,
    /// BiLO's gradient against the exact one, where both are known.
    pub audit: Vec<Audit>,
    /// The operator of the guess where unknowns have other values, wherever the problem asks for it.
    pub near: Vec<Near>,
    /// Correlations of the scalar unknowns' estimates by the reference solver's sensitivities, a row for each; empty if
    /// unknown.
    #[serde(deserialize_with = "rows")]
    pub correlations: Vec<Vec<f64>>,
    /// Singular values of the sensitivities of the observed values to relative changes of the unknowns
    /// at the estimate, largest first; empty if unknown.
    #[serde(deserialize_with = "list")]
    pub singular_values: Vec<f64>,
    /// The combination of relative changes of the unknowns that the data see least, in words; empty if unknown.
    pub weakest: String,
    /// The log-likelihood of the data at the estimate, by the reference solution if there is one; unknown noise levels at
    /// their best.
    pub log_likelihood: Option<f64>,
    /// The logarithm of the evidence of the model by Laplace's method; none unless every unknown has a prior.
    pub log_evidence: Option<f64>,
    /// What searches from other starts came to, the best first.
    pub starts: Vec<StartOutcome>,
    /// Other minima of the data loss that fit the data as well.
    pub minima: Vec<Minimum>,
    /// The noise that the standard deviations are for.
    #[serde(with = "named")]
    pub noise: Vec<Noise>,
    /// Where functions are unknown: what the logarithm of likelihood and regularisers would rise by at the best fit, by the
    /// reference solver.
    pub expected_gain: Option<f64>,
    /// How many unknowns the data then determine: the effective number of degrees of freedom of the functions.
    pub fitted_unknowns: Option<f64>,
    /// The weights of regularisers that the data chose; empty where none was to be chosen.
    #[serde(with = "named")]
    pub regularisation: Vec<RegularisationOutcome>,
    /// What helps where the estimate is not the best fit; empty if unknown.
    pub remedy: String,
    /// What is worth knowing, a sentence each.
    pub notes: Vec<String>,
    /// What deserves attention, a sentence each.
    pub warnings: Vec<String>,
    /// Steps taken.
    pub steps: Steps,
    /// Wall-clock times.
    pub seconds: Seconds,
    /// The most bytes of memory that the program had in use, if that is known.
    pub peak_memory_bytes: Option<u64>,
    /// The most bytes of the hardware's own memory in use, if it has such.
    pub device_memory_bytes: Option<u64>,
    /// What the reference solver said if it could not solve again at the estimate.
    pub classical_failure: Option<String>,
    /// What was seen, if the run diverged.
    pub diverged: Option<Divergence>,
    /// Solutions on a grid.
    #[serde(skip)]
    pub fields: Fields,
    /// What the problem's pictures show.
    #[serde(skip)]
    pub drawings: Vec<Drawing>,
}

/// Steps taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// Of pre-training.
    pub pretrain: usize,
    /// Of the two levels.
    pub train: usize,
}

/// Wall-clock seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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

impl Outcome {
    /// A run at its beginning.
    pub fn begun(problem: &Problem, method: &str, seed: u64) -> Outcome {
        let numbers = ScalarOutcome::all(problem, &problem.eta_of_guess());
        Outcome {
            format: FORMAT,
            problem: problem.name.clone(),
            method: method.to_owned(),
            recipe: problem.training.recipe.name().to_owned(),
            seed,
            device: String::new(),
            precision: "f64".to_owned(),
            stop: Stop::Steps,
            verdict: Verdict::default(),
            unknowns: Unknowns { numbers, functions: vec![] },
            derived: vec![],
            states: problem.states.iter().map(|state| StateOutcome::alone(&state.name)).collect(),
            solved_by: SolvedBy::default(),
            operator: None,
            learned: None,
            losses: vec![],
            misfits: vec![],
            goodness: Goodness::default(),
            discretisation: None,
            audit: vec![],
            near: vec![],
            correlations: vec![],
            singular_values: vec![],
            weakest: String::new(),
            log_likelihood: None,
            log_evidence: None,
            starts: vec![],
            minima: vec![],
            noise: vec![],
            expected_gain: None,
            fitted_unknowns: None,
            regularisation: vec![],
            remedy: String::new(),
            notes: vec![],
            warnings: vec![],
            steps: Steps::default(),
            seconds: Seconds::default(),
            peak_memory_bytes: None,
            device_memory_bytes: None,
            classical_failure: None,
            diverged: None,
            fields: Fields::default(),
            drawings: vec![],
        }
    }

    /// A run that was stopped in the middle of a computation: the unknowns of its last step, at first the guess, and nothing
    /// that was checked.
    pub fn interrupted(problem: &Problem, method: &str, seed: u64) -> Outcome {
        let unchecked = "the run was stopped in the middle of a computation: these are the values of its last step, and \
                         nothing was checked";
        let mut outcome = Outcome {
            stop: Stop::Interrupted,
            classical_failure: Some("interrupted".to_owned()),
            warnings: vec![unchecked.to_owned()],
            ..Outcome::begun(problem, method, seed)
        };
        outcome.judge();
        outcome
    }

    /// Writes values of the numbers, in the order of the problem.
    pub fn set_estimates(&mut self, values: &[f64]) {
        self.unknowns.numbers.iter_mut().zip(values).for_each(|(number, value)| number.estimate = *value);
    }

    /// The text of `outcome.json`; numbers that are not finite become null.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("plain data with names as keys");
        text + "\n"
    }

    /// Reads the text of `outcome.json`, of this version or an earlier one.
    pub fn from_json(text: &str) -> serde_json::Result<Outcome> {
        serde_json::from_str(text)
    }
}
