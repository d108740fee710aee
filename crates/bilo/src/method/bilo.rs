//! BiLO: find a local operator, move the unknowns through it, and hold the result against the reference solver.

mod discretisation;
mod refinement;

use super::networks::{Found, RunContext, conclude};
use super::{Job, trained};
use bilo_assess::outcome::Outcome;
use bilo_fit::observer::{Event, Observer};
use bilo_problem::diagnostic::Result;
use bilo_problem::{OperatorKind, Problem, WeightOptimiser};
use bilo_reference::data::observed_tables;
use bilo_reference::solver::ReferenceSolver;
use std::time::Instant;

/// Runs the method.
pub(super) fn run(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    let began = Instant::now();
    let tables = observed_tables(problem, job.seed)?;
    let reference = ReferenceSolver::new(problem).map_err(|error| error.headline());
    let scene = RunContext { problem, job, tables: &tables, reference: &reference, began, why: None };
    // A dictionary knows the exact gradient only, and is nothing without all digits.
    let exact = refinement::exact(problem);
    let scene_of_dictionary = RunContext { problem: &exact, ..scene };
    // What has been trained already was decided on before.
    let from = job.from.as_ref().map(|from| from.why.as_deref());
    let levenberg_marquardt = problem.training.optimiser == WeightOptimiser::Lm;
    let (scene, found) = match problem.operator.kind {
        _ if from.is_some() => (&scene, networks(&scene, observer, from.flatten())?),
        OperatorKind::Network if !levenberg_marquardt => (&scene, networks(&scene, observer, None)?),
        OperatorKind::Network | OperatorKind::Dictionary => {
            match refinement::solve(&scene_of_dictionary, observer, true)? {
                Ok(found) => (&scene_of_dictionary, found),
                Err(reason) => return Err(refinement::does_not_converge(problem, &reason)),
            }
        }
        OperatorKind::Automatic => match refinement::suits(problem) {
            Ok(()) => match refinement::solve(&scene_of_dictionary, observer, false)? {
                Ok(found) => (&scene_of_dictionary, found),
                Err(reason) => (&scene, instead(&scene, observer, reason)?),
            },
            Err(reason) => (&scene, instead(&scene, observer, reason)?),
        },
    };
    conclude(scene, found)
}

/// A network where a dictionary will not do.
fn instead(scene: &RunContext<'_>, observer: &mut dyn Observer, reason: String) -> Result<Found> {
    observer.event(&Event::Note(&format!("a network, not a dictionary: {reason}")));
    networks(scene, observer, Some(&reason))
}

/// A trained network, with the reason for it if it took one.
fn networks(scene: &RunContext<'_>, observer: &mut dyn Observer, why: Option<&str>) -> Result<Found> {
    let mut found = trained::train(&RunContext { why, ..*scene }, observer)?;
    if let Some(operator) = &mut found.description {
        operator.why = why.map(str::to_owned);
    }
    Ok(found)
}
