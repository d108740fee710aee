//! The one end of all runs: what the reference solver says of an estimate.

use crate::audit::{GradientSource, OperatorAt, near};
use crate::context::RunContext;
use crate::estimate::Estimate;
use crate::misfits::misfits;
use crate::outcome::{At, Audit, Kind, Outcome, ScalarOutcome, Seconds, SolvedBy, Steps, Stop};
use crate::picture::{self, Solutions};
use crate::predictor::{OperatorPredictor, Predictor};
use crate::uncertainty::{NoiseLevels, Uncertainty};
use crate::{best_fit, function_score, function_uncertainty};
use bilo_fit::sensitivities::{Sensitivities, values};
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use bilo_problem::sites::Sites;
use bilo_problem::{GradientMode, Problem};
use bilo_reference::misfit::Evaluation;
use std::time::Duration;

/// How long the checks may go on after somebody asked to stop.
const GRACE: Duration = Duration::from_millis(1000);

/// Solves the PDE again at the estimate, and says what it is worth.
pub fn assess<'a>(run: &RunContext<'a>, mut estimate: Estimate<'a>) -> Result<Outcome> {
    run.interrupt.grant(GRACE);
    let own = estimate.problem.take();
    match &own {
        Some(problem) => assessed(&run.with(problem), estimate),
        None => assessed(run, estimate),
    }
}

fn assessed<'b, 'a: 'b>(run: &RunContext<'b>, estimate: Estimate<'a>) -> Result<Outcome> {
    let mut outcome = begun(run, &estimate);
    let Estimate { mut predictor, at_guess, near, remedy, .. } = estimate;
    let (problem, predictor) = (run.problem, predictor.as_mut());
    let theta = predictor.theta(problem)?;
    outcome.unknowns.numbers = ScalarOutcome::all(problem, &theta.eta);
    let searched_with: Option<Evaluation<'b>> = predictor.take_evaluation();
    let is_best_fit = searched_with.is_some();
    let inspector = run.inspector(GradientSource::Slopes);
    let evaluation = searched_with.map_or_else(|| inspector.evaluate(&theta), Ok);
    let solution = evaluation.as_ref().map(|evaluation| &evaluation.solution);
    let verdict = predictor.verify(problem, solution.map_err(Clone::clone))?;
    (outcome.states, outcome.fields) = (verdict.states, verdict.fields);
    outcome.classical_failure = verdict.classical_failure;
    let unsolved = evaluation.as_ref().err().map(Error::kind);
    add_guess(&mut outcome, problem, at_guess, unsolved);
    add_near(&mut outcome, near);
    add_functions(&mut outcome, problem, predictor)?;
    add_pictures(&mut outcome, run, predictor, evaluation.as_ref().ok());
    let sites = run.data().sites(&theta.eta)?;
    let observed = predictor.observed(&run.data(), &sites)?;
    let noise = add_misfits(&mut outcome, run, &sites, observed.as_deref(), evaluation.as_ref().ok())?;
    let operator = predictor.operator().zip(observed);
    let audited = operator.is_some();
    if let Some((operator, observed)) = operator {
        add_audit(&mut outcome, run, operator, &observed, &noise, &evaluation);
    }
    let Ok(evaluation) = evaluation else { return Ok(outcome) };
    // The optima of scalars mean little beside functions that are held fixed.
    if !problem.functions.is_empty() {
        if audited || is_best_fit {
            function_uncertainty::add(&mut outcome, &run.data(), &evaluation, &noise);
        }
        return Ok(outcome);
    }
    let slopes = inspector.slopes(&evaluation).ok();
    let found = slopes.and_then(|slopes| Uncertainty::new(problem, &noise, &slopes, &evaluation.theta.eta));
    error_bars(&mut outcome, found);
    if !is_best_fit {
        best_fit::add(&mut outcome, inspector.loss()?, evaluation, remedy);
    } else if outcome.stop == Stop::Converged {
        outcome.unknowns.numbers.iter_mut().for_each(|number| number.data_optimal = Some(number.estimate));
    }
    Ok(outcome)
}

/// What is known before any check.
fn begun(run: &RunContext<'_>, estimate: &Estimate<'_>) -> Outcome {
    let (predictor, (steps, seconds)) = (&estimate.predictor, estimate.searched);
    Outcome {
        device: predictor.device(),
        precision: predictor.precision().to_owned(),
        device_memory_bytes: predictor.device_memory(),
        stop: estimate.stop,
        diverged: estimate.diverged.clone(),
        losses: estimate.losses.clone(),
        solved_by: solved_by(estimate),
        operator: estimate.operator.clone(),
        learned: estimate.learned.clone(),
        warnings: estimate.warnings.clone(),
        steps: Steps { pretrain: estimate.pretrained.0, train: steps },
        seconds: Seconds {
            pretrain: estimate.pretrained.1,
            train: seconds,
            per_step: seconds / steps.max(1) as f64,
            ..Seconds::default()
        },
        ..Outcome::begun(run.problem, run.method, run.seed)
    }
}

fn solved_by(estimate: &Estimate<'_>) -> SolvedBy {
    match &estimate.operator {
        Some(operator) if operator.kind == Kind::Dictionary => SolvedBy::Dictionary,
        None if estimate.learned.is_some() => SolvedBy::LearnedOperator,
        None if estimate.predictor.is_reference() => SolvedBy::ReferenceSolver,
        _ => SolvedBy::Network,
    }
}

/// The audit at the guess.
fn add_guess(
    outcome: &mut Outcome,
    problem: &Problem,
    at_guess: Option<Result<Audit>>,
    unsolved: Option<ErrorKind>,
) {
    match at_guess {
        None => {}
        Some(Ok(audit)) => {
            let kind = outcome.operator.as_ref().map_or(Kind::Network, |operator| operator.kind);
            // The pointwise gradient of a function is another one than the exact, by design.
            if problem.functions.is_empty() || problem.training.gradient == GradientMode::Exact {
                outcome.warnings.extend(audit.warning(kind));
            }
            outcome.audit.push(audit);
        }
        // What holds at the estimate too is told once.
        Some(Err(error)) if unsolved == Some(error.kind()) => {}
        Some(Err(error)) => outcome.warnings.push(format!("no audit at the guess: {}", error.headline())),
    }
}

/// The operator of the guess beside it.
fn add_near(outcome: &mut Outcome, near: Vec<near::Found>) {
    for found in near {
        match found {
            Ok((near, fields)) => {
                outcome.near.push(near);
                outcome.fields.arrays.extend(fields);
            }
            Err(reason) => outcome.warnings.push(reason),
        }
    }
}

/// The unknown functions, with their errors and fields.
fn add_functions<'a>(
    outcome: &mut Outcome,
    problem: &Problem,
    predictor: &mut (dyn Predictor<'a> + 'a),
) -> Result<()> {
    let gradient = predictor.gradient(problem.training.gradient);
    for (number, function) in problem.functions.iter().enumerate() {
        let mut estimate = |columns: &[&[f64]]| predictor.function(problem, number, columns);
        let scored = function_score::outcome(problem, function, &mut estimate, gradient)?;
        outcome.unknowns.functions.push(scored);
        function_score::add_fields(&mut outcome.fields, problem, function, &mut estimate)?;
        function_score::compare_range(outcome, problem, function);
    }
    Ok(())
}

fn add_pictures<'a>(
    outcome: &mut Outcome,
    run: &RunContext<'_>,
    predictor: &mut (dyn Predictor<'a> + 'a),
    evaluation: Option<&Evaluation<'_>>,
) {
    let theta: Vec<f64> = outcome.unknowns.numbers.iter().map(|number| number.estimate).collect();
    let classical = evaluation.map(|evaluation| &evaluation.solution);
    let (drawings, warnings) =
        picture::draw(run.problem, Solutions { predictor, classical, tables: run.tables }, &theta);
    outcome.drawings.extend(drawings);
    outcome.warnings.extend(warnings);
}

/// What both solutions make of the data, and the noise that this leaves.
fn add_misfits(
    outcome: &mut Outcome,
    run: &RunContext<'_>,
    sites: &[Sites],
    observed: Option<&[Sensitivities]>,
    evaluation: Option<&Evaluation<'_>>,
) -> Result<NoiseLevels> {
    let (data, ours) = (run.data(), observed.map(values));
    let theirs = evaluation.map(|evaluation| &evaluation.values[..]);
    outcome.misfits = misfits(&data, sites, ours.as_deref(), theirs)?;
    let noise = NoiseLevels::new(&data, sites, theirs.or(ours.as_deref()).unwrap_or_default())?;
    outcome.noise = noise.observations.clone();
    Ok(noise)
}

/// The error bars of a local operator by its own derivatives, and the audit of its gradient.
fn add_audit(
    outcome: &mut Outcome,
    run: &RunContext<'_>,
    predictor: &mut OperatorPredictor,
    observed: &[Sensitivities],
    noise: &NoiseLevels,
    evaluation: &Result<Evaluation<'_>>,
) {
    let OperatorPredictor { operator, device, state, moved } = predictor;
    if let Some(found) = Uncertainty::new(run.problem, noise, observed, &state.eta) {
        let numbers = outcome.unknowns.numbers.iter_mut().zip(&found.sd);
        numbers.for_each(|(number, sd)| number.sd_network = Some(*sd));
    }
    let Ok(evaluation) = evaluation else { return };
    let inspector = run.inspector(moved.source());
    let mut at = OperatorAt { operator, device: device.as_mut(), state };
    match inspector.audit(At::Estimate, &mut at, observed, evaluation) {
        Ok(audit) => outcome.audit.push(audit),
        Err(error) => {
            outcome.warnings.push(format!("no audit at the estimate: {}", error.headline()));
        }
    }
}

/// Writes the standard deviations by the reference solver and what goes with them into the outcome.
fn error_bars(outcome: &mut Outcome, found: Option<Uncertainty>) {
    let Some(found) = found else {
        outcome.warnings.push("no error bars: the sensitivities are not finite".to_owned());
        return;
    };
    outcome.unknowns.numbers.iter_mut().zip(found.sd).for_each(|(number, sd)| number.sd = Some(sd));
    outcome.correlations = found.correlations;
    outcome.singular_values = found.singular_values;
    outcome.warnings.extend(found.warnings);
}
