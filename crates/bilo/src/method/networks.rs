//! What all methods with networks have in common: the scene of a run, and its conclusion.

use super::{Job, Method};
use crate::audit::{Audit, near};
use crate::closing::{Inspector, Mover};
use crate::diagnostic::Result;
use crate::function::{network, score};
use crate::level::Upper;
use crate::operator::LocalOperator;
use crate::outcome::{OperatorOutcome, Outcome, ScalarOutcome, Seconds};
use crate::picture::{self, Networks, Solutions};
use crate::problem::{GradientMode, Problem, Table};
use crate::train::{Ended, Point};
use crate::twin::Twin;
use crate::verify::verify;
use bilo_jet::Device;
use std::time::Instant;

/// What every way to networks needs.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) problem: &'a Problem,
    pub(super) job: &'a Job,
    pub(super) tables: &'a [Table],
    pub(super) twin: &'a std::result::Result<Twin, String>,
    pub(super) began: Instant,
    /// Why networks are trained where a dictionary was looked for first.
    pub(super) why: Option<&'a str>,
}

/// Networks at the estimate, and how they came about.
pub(super) struct Found {
    pub(super) operator: LocalOperator,
    pub(super) device: Box<dyn Device>,
    /// The upper level's densities, if they moved the unknowns.
    pub(super) upper: Option<Upper>,
    pub(super) point: Point,
    pub(super) losses: Vec<(String, f64)>,
    /// The audit at the guess, or why there is none; nothing if there is nothing to audit.
    pub(super) at_guess: Option<std::result::Result<Audit, String>>,
    /// The operator beside the guess.
    pub(super) near: Vec<near::Found>,
    /// The local operator, if it is one.
    pub(super) description: Option<OperatorOutcome>,
    pub(super) pretrained: Ended,
    pub(super) trained: Ended,
}

/// The classical twin's word on it.
pub(super) fn conclude(scene: &Scene<'_>, found: Found) -> Result<Outcome> {
    let Scene { problem, job, tables, twin, began, .. } = *scene;
    let earlier = job.from.as_ref().map_or(0.0, |from| from.seconds);
    let Found {
        mut operator,
        mut device,
        upper,
        point,
        losses,
        at_guess,
        near,
        description,
        pretrained,
        trained,
    } = found;
    let mover = match job.method {
        Method::Pinn => Mover::Joint,
        Method::Bpn => Mover::Hypergradient,
        _ => upper.as_ref().map_or(Mover::Slopes, Mover::Upper),
    };
    let inspector = Inspector::new(problem, tables, twin, mover);
    let estimate = network::theta(problem, &mut operator, device.as_mut(), &point)?;
    let visit = inspector.visit(&estimate);
    let classical = visit.as_ref().map(|visit| &visit.solution).map_err(Clone::clone);
    let verdict = verify(problem, &mut operator, device.as_mut(), &point, classical)?;
    let train_steps = trained.steps;
    let kind = description.as_ref().map_or("network", |operator| operator.kind);
    let mut outcome = Outcome {
        device: device.description(),
        device_memory: device.peak_memory(),
        precision: device.precision().name().to_owned(),
        stop: trained.stop,
        unknowns: ScalarOutcome::all(problem, &point.eta),
        states: verdict.states,
        losses,
        operator: description,
        pretrain_steps: pretrained.steps,
        train_steps,
        seconds: Seconds {
            total: earlier + began.elapsed().as_secs_f64(),
            pretrain: pretrained.seconds,
            train: trained.seconds,
            per_step: trained.seconds / train_steps.max(1) as f64,
        },
        fields: verdict.fields,
        classical_failure: verdict.classical_failure,
        ..Outcome::begun(problem, job.method.name(), job.seed)
    };
    match at_guess {
        None => {}
        Some(Ok(audit)) => {
            // The pointwise gradient of a function is another one than the exact, by design.
            let exact = problem.training.gradient == GradientMode::Exact;
            if problem.functions.is_empty() || exact {
                outcome.warnings.extend(audit.warning(kind));
            }
            outcome.audit.push(audit);
        }
        // What holds at the estimate too is told once.
        Some(Err(reason)) if outcome.classical_failure.as_ref() == Some(&reason) => {}
        Some(Err(reason)) => outcome.warnings.push(format!("no audit at the guess: {reason}")),
    }
    for found in near {
        match found {
            Ok((near, fields)) => {
                outcome.near.push(near);
                outcome.fields.arrays.extend(fields);
            }
            Err(reason) => outcome.warnings.push(reason),
        }
    }
    let gradient = mover.gradient(problem.training.gradient);
    for (number, function) in problem.functions.iter().enumerate() {
        let mut estimate = |columns: &[&[f64]]| {
            network::sample(problem, &mut operator, device.as_mut(), &point, number, columns)
        };
        outcome.functions.push(score::outcome(problem, function, &mut estimate, gradient)?);
        score::add_fields(&mut outcome.fields, problem, function, &mut estimate)?;
        score::compare_range(&mut outcome, problem, function);
    }
    let network = Networks { operator: &mut operator, device: device.as_mut(), point: &point };
    let classical = visit.as_ref().ok().map(|visit| &visit.solution);
    let solutions = Solutions { network: Some(network), classical, tables };
    picture::draw(problem, solutions, &mut outcome);
    inspector.close(&mut outcome, &point, visit.ok(), &mut operator, device.as_mut())?;
    outcome.seconds.total = earlier + began.elapsed().as_secs_f64();
    Ok(outcome)
}
