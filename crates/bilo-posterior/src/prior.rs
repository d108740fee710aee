//! What the priors say before the data have a word: draws of the unknowns, and what the solutions at these predict.

use crate::calibration::from_prior;
use crate::column::Column;
use crate::density::Prediction;
use crate::predictions::{Predicted, PredictedObservation};
use crate::summary::derived;
use bilo_assess::RunContext;
use bilo_fit::gauss_newton::Evaluated;
use bilo_fit::parallel;
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use bilo_problem::text::digits;
use bilo_problem::{Problem, Unknown};
use bilo_reference::misfit::ReferenceLoss;
use bilo_sample::diagnostics::{quantile, sorted};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Data of which more than this part lies beyond everything that was drawn are not what the priors expect.
const BEYOND: f64 = 0.05;

/// What priors say before the data: `prior.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PriorOutcome {
    /// Name of the problem.
    pub problem: String,
    /// The seed of everything random.
    pub seed: u64,
    /// What solved the equations, in words.
    pub solver: String,
    /// Draws that have a solution.
    pub draws: usize,
    /// Draws that have none.
    pub unsolved: usize,
    /// Why the first of these has none.
    pub first_failure: Option<String>,
    /// The unknown numbers.
    pub unknowns: Vec<PriorMarginal>,
    /// What follows from them.
    pub derived: Vec<PriorMarginal>,
    /// How the data lie among what is predicted, by observation.
    pub observations: Vec<PriorCheck>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// The prior of one number, within its bounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PriorMarginal {
    /// Its name.
    pub name: String,
    /// Its unit, if the problem states one.
    pub unit: Option<String>,
    /// Its prior, as in a problem file.
    pub prior: Option<String>,
    /// The true value, if known.
    pub truth: Option<f64>,
    /// The middle of the draws.
    pub median: f64,
    /// The middle 68 % of the draws.
    pub interval_68: (f64, f64),
    /// The middle 95 % of the draws.
    pub interval_95: (f64, f64),
}

/// How the data of an observation lie among what the priors predict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PriorCheck {
    /// Name of the observation.
    pub observation: String,
    /// How many data there are.
    pub data: usize,
    /// The part of them in the middle 95 % of the draws; none if the draws are of other places.
    pub covered: Option<f64>,
    /// How many of them are above or below all draws.
    pub beyond: usize,
    /// Whether the draws have errors as the data do, which takes a size that somebody stated.
    pub with_errors: bool,
}

/// What was drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorDraws {
    /// The unknown numbers, as one chain.
    pub unknowns: Vec<Column>,
    /// What follows from them.
    pub derived: Vec<Column>,
    /// What is predicted.
    pub predicted: Predicted,
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
}

/// Draws the unknown numbers from their priors so many times, and solves the equations at each.
pub fn draw_prior(
    run: &RunContext<'_>,
    count: usize,
    watch: &(dyn Fn() + Sync),
) -> Result<(PriorOutcome, PriorDraws)> {
    let (problem, began) = (run.problem, Instant::now());
    let coarse = run.cheaper_reference(run.coarse());
    let reference = match &coarse {
        Some(coarse) => coarse,
        None => run.reference.as_ref().map_err(Clone::clone)?,
    };
    let loss = ReferenceLoss { data: run.data(), reference };
    let numbers: Vec<usize> = (0..count).collect();
    let solved = parallel::each(parallel::threads(run.threads), &numbers, |&number| {
        let solved = solve(run, loss, number);
        watch();
        solved
    });
    let (mut thetas, mut found, mut failures) = (vec![], vec![], vec![]);
    for solved in solved {
        match solved? {
            Ok((theta, prediction)) => {
                thetas.push(theta);
                found.push(prediction);
            }
            Err(reason) => failures.push(reason),
        }
    }
    let Some(first) = thetas.first() else {
        let reason = failures.pop().unwrap_or_else(|| "none was drawn".to_owned());
        return Err(Error::new(
            ErrorKind::Solver,
            format!("no draw from the prior has a solution: {reason}"),
        ));
    };
    let column = |j: usize| Column {
        name: problem.unknowns[j].name.clone(),
        chains: vec![thetas.iter().map(|theta: &Vec<f64>| theta[j]).collect()],
    };
    let unknowns: Vec<Column> = (0..first.len()).map(column).collect();
    let draws = PriorDraws {
        derived: derived(problem, &unknowns)?,
        unknowns,
        predicted: Predicted::of_prior(&run.data(), run.seed, found),
        coordinates: problem.coordinates.iter().map(|coordinate| coordinate.name.clone()).collect(),
    };
    let outcome = PriorOutcome {
        seed: run.seed,
        solver: format!("the reference solver, {}", reference.describe()),
        draws: thetas.len(),
        unsolved: failures.len(),
        first_failure: failures.into_iter().next(),
        seconds: began.elapsed().as_secs_f64(),
        ..summarised(problem, &draws)
    };
    Ok((outcome, draws))
}

/// A draw with what it predicts, or why it has no solution.
fn solve(
    run: &RunContext<'_>,
    loss: ReferenceLoss<'_>,
    number: usize,
) -> Result<std::result::Result<(Vec<f64>, Prediction), String>> {
    if run.interrupt.is_due() {
        return Err(Error::interrupted());
    }
    let theta = from_prior(run.problem, run.seed, number)?;
    let eta: Vec<f64> =
        run.problem.unknowns.iter().zip(&theta).map(|(unknown, &theta)| unknown.eta_of(theta)).collect();
    match loss.evaluate(&eta) {
        Ok(evaluation) => {
            let values = evaluation.values();
            Ok(Ok((theta, Prediction { values, ..Prediction::default() })))
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
        Err(error) => Ok(Err(error.headline())),
    }
}

fn summarised(problem: &Problem, draws: &PriorDraws) -> PriorOutcome {
    let unknown = |(unknown, column): (&Unknown, &Column)| PriorMarginal {
        unit: unknown.unit.clone(),
        prior: unknown.prior.map(|prior| prior.to_string()),
        truth: unknown.truth,
        ..marginal(column)
    };
    PriorOutcome {
        problem: problem.name.clone(),
        unknowns: problem.unknowns.iter().zip(&draws.unknowns).map(unknown).collect(),
        derived: draws.derived.iter().map(marginal).collect(),
        observations: draws.predicted.observations.iter().map(PriorCheck::of).collect(),
        ..PriorOutcome::default()
    }
}

fn marginal(column: &Column) -> PriorMarginal {
    let in_order = sorted(column.all());
    let at = |part: f64| quantile(&in_order, part);
    PriorMarginal {
        name: column.name.clone(),
        median: at(0.5),
        interval_68: (at(0.16), at(0.84)),
        interval_95: (at(0.025), at(0.975)),
        ..PriorMarginal::default()
    }
}

impl PriorCheck {
    fn of(predicted: &PredictedObservation) -> PriorCheck {
        let with_errors = !predicted.again.is_empty();
        let drawn = if with_errors { &predicted.again } else { &predicted.values };
        let draws: Vec<&Vec<f64>> = drawn.iter().flatten().collect();
        let count = predicted.data.len();
        let beside = count > 0 && draws.iter().all(|values| values.len() == count);
        let beyond = |(i, &datum): (usize, &f64)| {
            draws.iter().all(|values| values[i] < datum) || draws.iter().all(|values| values[i] > datum)
        };
        PriorCheck {
            observation: predicted.name.clone(),
            data: count,
            covered: predicted.covered_by(drawn).filter(|_| beside),
            beyond: if beside {
                predicted.data.iter().enumerate().filter(|pair| beyond(*pair)).count()
            } else {
                0
            },
            with_errors,
        }
    }

    /// How the data lie there, in a sentence.
    pub fn in_words(&self) -> Option<String> {
        let PriorCheck { observation, data, covered, beyond, with_errors } = self;
        let errors = if *with_errors { "" } else { ", without errors, whose size nobody stated" };
        let covered = digits(100.0 * (*covered)?, 3);
        let mut words = format!(
            "of the data {observation}, {covered} % lie within the middle 95 % of what the prior predicts{errors}"
        );
        if *beyond as f64 > BEYOND * *data as f64 {
            words += &format!(
                "; {beyond} of {data} lie beyond everything that was drawn: the priors, the bounds or the equations do not expect them"
            );
        }
        Some(words)
    }
}
