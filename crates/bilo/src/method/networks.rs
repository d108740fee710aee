//! What all methods with networks have in common: the scene of a run, and its conclusion.

use super::{Job, Method};
use bilo_assess::assess::{GradientSource, Inspector};
use bilo_assess::audit::{Audit, near};
use bilo_assess::function_score;
use bilo_assess::outcome::{OperatorOutcome, Outcome, ScalarOutcome, Seconds};
use bilo_assess::picture::{self, Networks, Solutions};
use bilo_assess::verify::verify;
use bilo_jet::Device;
use bilo_operator::function_values;
use bilo_operator::level::Upper;
use bilo_operator::operator::LocalOperator;
use bilo_operator::state::OperatorState;
use bilo_operator::train::Ended;
use bilo_problem::diagnostic::Result;
use bilo_problem::{GradientMode, Problem, Table};
use bilo_reference::solver::ReferenceSolver;
use std::time::Instant;

/// What every way to networks needs.
#[derive(Clone, Copy)]
pub(super) struct RunContext<'a> {
    pub(super) problem: &'a Problem,
    pub(super) job: &'a Job,
    pub(super) tables: &'a [Table],
    pub(super) reference: &'a std::result::Result<ReferenceSolver, String>,
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
    pub(super) point: OperatorState,
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

/// The reference solver's word on it.
pub(super) fn conclude(scene: &RunContext<'_>, found: Found) -> Result<Outcome> {
    let RunContext { problem, job, tables, reference, began, .. } = *scene;
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
        Method::Pinn => GradientSource::Joint,
        Method::Bpn => GradientSource::Hypergradient,
        _ => upper.as_ref().map_or(GradientSource::Slopes, GradientSource::Upper),
    };
    let inspector = Inspector::new(problem, tables, reference, mover);
    let estimate = function_values::theta(problem, &mut operator, device.as_mut(), &point)?;
    let evaluation = inspector.evaluate(&estimate);
    let classical = evaluation.as_ref().map(|evaluation| &evaluation.solution).map_err(Clone::clone);
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
            function_values::sample(problem, &mut operator, device.as_mut(), &point, number, columns)
        };
        outcome.functions.push(function_score::outcome(problem, function, &mut estimate, gradient)?);
        function_score::add_fields(&mut outcome.fields, problem, function, &mut estimate)?;
        function_score::compare_range(&mut outcome, problem, function);
    }
    let network = Networks { operator: &mut operator, device: device.as_mut(), point: &point };
    let classical = evaluation.as_ref().ok().map(|evaluation| &evaluation.solution);
    let solutions = Solutions { network: Some(network), classical, tables };
    picture::draw(problem, solutions, &mut outcome);
    inspector.close(&mut outcome, &point, evaluation.ok(), &mut operator, device.as_mut())?;
    outcome.seconds.total = earlier + began.elapsed().as_secs_f64();
    Ok(outcome)
}
