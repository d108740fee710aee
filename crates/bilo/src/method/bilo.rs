//! BiLO: find a local operator, move the unknowns through it, and hold the result against the classical twin.

mod rung;
mod solved;
mod trained;

use super::Job;
use crate::audit::Audit;
use crate::closing::Inspector;
use crate::data::observed_tables;
use crate::diagnostic::Result;
use crate::function::{network, score};
use crate::level::Upper;
use crate::observer::{Event, Observer};
use crate::operator::LocalOperator;
use crate::outcome::{OperatorOutcome, Outcome, ScalarOutcome, Seconds};
use crate::picture::{self, Networks, Solutions};
use crate::problem::{GradientMode, OperatorKind, Problem, Table, WeightOptimiser};
use crate::train::{Ended, Point};
use crate::twin::Twin;
use crate::verify::verify;
use bilo_jet::Device;
use std::time::Instant;

/// What every way to a local operator needs.
struct Scene<'a> {
    problem: &'a Problem,
    job: &'a Job,
    tables: &'a [Table],
    twin: &'a std::result::Result<Twin, String>,
    began: Instant,
}

/// A local operator at the estimate, and how it came about.
struct Found {
    operator: LocalOperator,
    device: Box<dyn Device>,
    /// The upper level's densities, if they moved the unknowns.
    upper: Option<Upper>,
    point: Point,
    losses: Vec<(String, f64)>,
    at_guess: std::result::Result<Audit, String>,
    description: OperatorOutcome,
    pretrained: Ended,
    trained: Ended,
}

/// Runs the method.
pub(super) fn run(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    let began = Instant::now();
    let tables = observed_tables(problem, job.seed)?;
    let twin = Twin::new(problem).map_err(|error| error.headline());
    let scene = Scene { problem, job, tables: &tables, twin: &twin, began };
    // A dictionary knows the exact gradient only, and is nothing without all digits.
    let exact = solved::exact(problem);
    let scene_of_dictionary = Scene { problem: &exact, ..scene };
    let levenberg_marquardt = problem.training.optimiser == WeightOptimiser::Lm;
    let (scene, found) = match problem.operator.kind {
        OperatorKind::Network if !levenberg_marquardt => (&scene, trained::train(&scene, observer)?),
        OperatorKind::Network | OperatorKind::Dictionary => {
            match solved::solve(&scene_of_dictionary, observer, true)? {
                Ok(found) => (&scene_of_dictionary, found),
                Err(reason) => return Err(solved::does_not_converge(problem, &reason)),
            }
        }
        OperatorKind::Automatic => match solved::suits(problem) {
            Ok(()) => match solved::solve(&scene_of_dictionary, observer, false)? {
                Ok(found) => (&scene_of_dictionary, found),
                Err(reason) => (&scene, instead(&scene, observer, reason)?),
            },
            Err(reason) => (&scene, instead(&scene, observer, reason)?),
        },
    };
    conclude(scene, found)
}

/// A network where a dictionary will not do.
fn instead(scene: &Scene<'_>, observer: &mut dyn Observer, reason: String) -> Result<Found> {
    observer.event(&Event::Note(&format!("a network, not a dictionary: {reason}")));
    let mut found = trained::train(scene, observer)?;
    found.description.why = Some(reason);
    Ok(found)
}

/// The classical twin's word on it.
fn conclude(scene: &Scene<'_>, found: Found) -> Result<Outcome> {
    let Scene { problem, job, tables, twin, began } = *scene;
    let Found { mut operator, mut device, upper, point, losses, at_guess, description, pretrained, trained } =
        found;
    let inspector = Inspector::new(problem, tables, twin, upper.as_ref());
    let estimate = network::theta(problem, &mut operator, device.as_mut(), &point)?;
    let visit = inspector.visit(&estimate);
    let classical = visit.as_ref().map(|visit| &visit.solution).map_err(Clone::clone);
    let verdict = verify(problem, &mut operator, device.as_mut(), &point, classical)?;
    let (train_steps, kind) = (trained.steps, description.kind);
    let mut outcome = Outcome {
        problem: problem.name.clone(),
        method: job.method.name().to_owned(),
        recipe: problem.training.recipe.name().to_owned(),
        seed: job.seed,
        device: device.description(),
        precision: device.precision().name().to_owned(),
        stop: trained.stop,
        unknowns: ScalarOutcome::all(problem, &point.eta),
        functions: vec![],
        states: verdict.states,
        losses,
        operator: Some(description),
        misfits: vec![],
        audit: vec![],
        singular_values: vec![],
        noise: vec![],
        notes: vec![],
        warnings: vec![],
        pretrain_steps: pretrained.steps,
        train_steps,
        seconds: Seconds {
            total: began.elapsed().as_secs_f64(),
            pretrain: pretrained.seconds,
            train: trained.seconds,
            per_step: trained.seconds / train_steps.max(1) as f64,
        },
        fields: verdict.fields,
        drawings: vec![],
        classical_failure: verdict.classical_failure,
    };
    match at_guess {
        Ok(audit) => {
            // The pointwise gradient of a function is another one than the exact, by design.
            let exact = problem.training.gradient == GradientMode::Exact;
            if problem.functions.is_empty() || exact {
                outcome.warnings.extend(audit.warning(kind));
            }
            outcome.audit.push(audit);
        }
        // What holds at the estimate too is told once.
        Err(reason) if outcome.classical_failure.as_ref() == Some(&reason) => {}
        Err(reason) => outcome.warnings.push(format!("no audit at the guess: {reason}")),
    }
    for (number, function) in problem.functions.iter().enumerate() {
        let mut estimate = |columns: &[&[f64]]| {
            network::sample(problem, &mut operator, device.as_mut(), &point, number, columns)
        };
        outcome.functions.push(score::outcome(problem, function, &mut estimate, problem.training.gradient)?);
        score::add_fields(&mut outcome.fields, problem, function, &mut estimate)?;
        score::compare_range(&mut outcome, problem, function);
    }
    let network = Networks { operator: &mut operator, device: device.as_mut(), point: &point };
    let classical = visit.as_ref().ok().map(|visit| &visit.solution);
    let solutions = Solutions { network: Some(network), classical, tables };
    picture::draw(problem, solutions, &mut outcome);
    inspector.close(&mut outcome, &point, visit.ok(), &mut operator, device.as_mut())?;
    outcome.seconds.total = began.elapsed().as_secs_f64();
    Ok(outcome)
}
