//! The one end of all runs: what the reference solver says of an estimate.

use crate::audit::{GradientSource, OperatorAt, near};
use crate::context::RunContext;
use crate::estimate::{Estimate, Remedy};
use crate::evidence::Evidence;
use crate::function_search::gauss_newton;
use crate::function_uncertainty::FunctionFit;
use crate::goodness::goodness;
use crate::misfits::misfits;
use crate::noise::{Fitted, NoiseLevels};
use crate::outcome::{
    At, Audit, Kind, NoiseSource, Outcome, RegularisationOutcome, ScalarOutcome, Seconds, SolvedBy, Steps,
    Stop,
};
use crate::picture::{self, Solutions};
use crate::predictor::{OperatorPredictor, Predictor, ReferencePredictor};
use crate::solver_error::{self, Grid};
use crate::uncertainty::Uncertainty;
use crate::{best_fit, derived, function_score, function_uncertainty, intervals, laplace, minima};
use bilo_fit::gauss_newton::minimise;
use bilo_fit::sensitivities::{Sensitivities, values};
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use bilo_problem::sites::Sites;
use bilo_problem::theta::Theta;
use bilo_problem::{GradientMode, Problem, Regulariser, RegulariserKind};
use bilo_reference::descent::Target;
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use std::time::Duration;

/// How long the checks may go on after somebody asked to stop.
const GRACE: Duration = Duration::from_millis(1000);

/// Solves the PDE again at the estimate, and says what it is worth.
pub fn assess<'a>(run: &RunContext<'a>, mut estimate: Estimate<'a>) -> Result<Outcome> {
    run.interrupt.grant(GRACE);
    let own = estimate.problem.take();
    let mut outcome = match &own {
        Some(problem) => on_fine_grid(&run.with(problem), estimate),
        None => on_fine_grid(run, estimate),
    }?;
    outcome.judge();
    Ok(outcome)
}

/// Takes a grid for the reference solver whose error is small beside the error bars, as far as that is to be had.
fn on_fine_grid<'b, 'a: 'b>(run: &RunContext<'b>, mut estimate: Estimate<'a>) -> Result<Outcome> {
    let theta = estimate.predictor.theta(run.problem)?;
    let searched_with: Option<Evaluation<'b>> = estimate.predictor.take_evaluation();
    let is_best_fit = searched_with.is_some();
    let inspector = run.inspector(GradientSource::Slopes);
    let mut state =
        |state: usize, columns: &[Vec<f64>]| estimate.predictor.state(run.problem, state, columns);
    let evaluation = match searched_with {
        Some(evaluation) => Ok(evaluation),
        None => inspector.loss().and_then(|loss| loss.evaluate_from(&theta, &mut state)),
    };
    let mut grid =
        evaluation.as_ref().ok().and_then(|evaluation| solver_error::find(run, evaluation, is_best_fit));
    let Some((problem, solver)) = grid.as_mut().and_then(|grid| grid.finer.take()) else {
        return assessed(run, estimate, Place { theta, evaluation, is_best_fit, grid });
    };
    let reference = Ok(solver);
    let run = RunContext { problem: &problem, reference: &reference, ..*run };
    let loss = run.inspector(GradientSource::Slopes).loss();
    let evaluation = loss.and_then(|loss| loss.evaluate_near(&theta, evaluation.as_ref().ok()));
    let place = Place { theta, evaluation, is_best_fit: false, grid };
    let place = if is_best_fit { place.searched_again(&run)? } else { place };
    if is_best_fit {
        estimate.predictor =
            Box::new(ReferencePredictor::at(place.theta.clone(), estimate.predictor.device()));
    }
    let mut outcome = assessed(&run, estimate, place)?;
    let resolution = run.reference.as_ref().map(|reference| reference.describe()).unwrap_or_default();
    outcome.notes.push(format!("the grid of the reference solver was refined: {resolution}"));
    Ok(outcome)
}

impl<'b> Place<'b> {
    /// Where the reference solver's own search ends on a finer grid; as it was if that does not converge.
    fn searched_again(self, run: &RunContext<'b>) -> Result<Self> {
        let loss = run.inspector(GradientSource::Slopes).loss()?;
        let evaluation = match self.evaluation {
            Ok(evaluation) => evaluation,
            unsolved => return Ok(Place { evaluation: unsolved, ..self }),
        };
        let (evaluation, is_best_fit) = match run.problem.functions.is_empty() {
            true => best_numbers(loss, evaluation),
            false => best_functions(run, loss, evaluation),
        }?;
        let theta = evaluation.theta.clone();
        let unknowns = |theta: &Theta| run.problem.thetas(&theta.eta);
        let grid = self.grid.map(|grid| match grid.explains(&unknowns(&self.theta), &unknowns(&theta)) {
            true => grid,
            false => solver_error::of_grid(run, &evaluation).unwrap_or(grid),
        });
        Ok(Place { theta, evaluation: Ok(evaluation), is_best_fit, grid })
    }
}

/// Where a search for numbers ends, and whether that is a best fit.
fn best_numbers<'b>(mut loss: ReferenceLoss<'b>, from: Evaluation<'b>) -> Result<(Evaluation<'b>, bool)> {
    let optimum = minimise(&mut loss, from, &mut |_| None)?;
    Ok((optimum.evaluation, optimum.stop == Stop::Converged))
}

/// Where a search for functions goes on to, and whether nobody ended it: without an end of its own it is a best fit all the same, no
/// worse than the one that it began at.
fn best_functions<'b>(
    run: &RunContext<'b>,
    loss: ReferenceLoss<'b>,
    from: Evaluation<'b>,
) -> Result<(Evaluation<'b>, bool)> {
    let target = Target::new(loss)?;
    let begun = target.evaluate_near(&from.theta, Some(&from));
    match begun.and_then(|here| gauss_newton(run, &target, here, &mut |_| None)) {
        Ok(found) => Ok((found.end.evaluation, true)),
        Err(error) if error.ends_search() => Ok((from, false)),
        Err(error) => Err(error),
    }
}

/// Where a search ended.
struct Place<'b> {
    theta: Theta,
    /// The reference solution there, or why there is none.
    evaluation: Result<Evaluation<'b>>,
    /// Whether the reference solver itself searched there, on the same grid.
    is_best_fit: bool,
    /// What is known of the error of that.
    grid: Option<Grid>,
}

fn assessed<'b, 'a: 'b>(run: &RunContext<'b>, estimate: Estimate<'a>, place: Place<'b>) -> Result<Outcome> {
    let mut outcome = begun(run, &estimate);
    let Estimate { mut predictor, at_guess, near, remedy, .. } = estimate;
    let (problem, predictor) = (run.problem, predictor.as_mut());
    let Place { theta, evaluation, is_best_fit, grid } = place;
    outcome.unknowns.numbers = ScalarOutcome::all(problem, &theta.eta);
    let solution = evaluation.as_ref().map(|evaluation| &evaluation.solution);
    let verified = predictor.verify(problem, solution.map_err(Clone::clone))?;
    (outcome.states, outcome.fields) = (verified.states, verified.fields);
    outcome.classical_failure = verified.classical_failure;
    let unsolved = evaluation.as_ref().err().map(Error::kind);
    add_guess(&mut outcome, problem, at_guess, unsolved);
    add_near(&mut outcome, near);
    add_functions(&mut outcome, problem, predictor)?;
    add_pictures(&mut outcome, run, predictor, evaluation.as_ref().ok());
    let sites = run.data().sites(&theta.eta)?;
    let mut observed = predictor.observed(&run.data(), &sites)?;
    if let Some(observed) = &mut observed {
        observed.extend(run.data().prior_values(&theta.eta));
    }
    let seen =
        Seen::new(run, &mut outcome, (&sites, &theta.eta), observed.as_deref(), evaluation.as_ref().ok());
    let noise = add_misfits(&mut outcome, run, &seen, evaluation.as_ref().ok(), grid.as_ref())?;
    let operator = predictor.operator().zip(observed.as_deref());
    let audited = operator.is_some();
    if let Some((operator, observed)) = operator {
        add_audit(&mut outcome, run, operator, observed, &noise, &evaluation);
    }
    if let (Ok(evaluation), Some(fit)) = (&evaluation, &seen.functions) {
        add_regularisation(&mut outcome, problem, evaluation, fit, &noise, run.data().joint().count());
    }
    outcome.discretisation = grid.map(|grid| grid.outcome);
    let Seen { slopes, functions, .. } = seen;
    if let (Some(fit), true) = (&functions, audited || is_best_fit) {
        function_uncertainty::add(&mut outcome, problem, &theta, fit, &noise);
    }
    // The optima of scalars mean little beside functions that are held fixed.
    if let (Ok(evaluation), true) = (evaluation, problem.functions.is_empty()) {
        let found = slopes.and_then(|slopes| Uncertainty::new(problem, &noise, &slopes, &theta.eta));
        error_bars(&mut outcome, problem, found);
        add_best_fit(&mut outcome, run, evaluation, is_best_fit, remedy)?;
        minima::add_images(&mut outcome, run);
        if let (Ok(reference), true) = (run.reference, is_best_fit && outcome.stop == Stop::Converged) {
            solver_error::take_off(&mut outcome, reference.order());
        }
    }
    intervals::add(&mut outcome, problem);
    derived::add(&mut outcome, problem)?;
    laplace::add(&mut outcome, problem, &run.data().joint());
    Ok(outcome)
}

/// The values that fit the data best by the reference solver: the estimate itself where that has searched.
fn add_best_fit<'b>(
    outcome: &mut Outcome,
    run: &RunContext<'b>,
    evaluation: Evaluation<'b>,
    is_best_fit: bool,
    remedy: Remedy,
) -> Result<()> {
    if !is_best_fit {
        outcome.remedy = remedy.in_words();
        best_fit::add(outcome, run.inspector(GradientSource::Slopes).loss()?, evaluation);
    } else if outcome.stop == Stop::Converged {
        outcome.unknowns.numbers.iter_mut().for_each(|number| number.data_optimal = Some(number.estimate));
    }
    Ok(())
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
        starts: estimate.starts.clone(),
        notes: estimate.notes.clone(),
        warnings: [&estimate.warnings[..], &run.problem.remarks].concat(),
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

/// What is known of the observed values at the estimate.
struct Seen<'a> {
    sites: &'a [Sites],
    /// The variables of the unknown numbers.
    eta: &'a [f64],
    /// By what stood for the solution.
    observed: Option<&'a [Sensitivities]>,
    /// By the reference solver, with the derivatives by the unknown numbers.
    slopes: Option<Vec<Sensitivities>>,
    /// The derivatives by everything, where functions are unknown.
    functions: Option<FunctionFit>,
}

impl<'a> Seen<'a> {
    fn new(
        run: &RunContext<'_>,
        outcome: &mut Outcome,
        (sites, eta): (&'a [Sites], &'a [f64]),
        observed: Option<&'a [Sensitivities]>,
        evaluation: Option<&Evaluation<'_>>,
    ) -> Seen<'a> {
        let inspector = run.inspector(GradientSource::Slopes);
        let numbers = run.problem.functions.is_empty();
        let slopes = evaluation.filter(|_| numbers).and_then(|at| inspector.slopes(at).ok());
        let fitted = evaluation.filter(|_| !numbers).map(|at| FunctionFit::new(run, at));
        let functions = fitted.transpose().unwrap_or_else(|error| {
            outcome.warnings.push(format!("no error bars of functions: {}", error.headline()));
            None
        });
        Seen { sites, eta, observed, slopes, functions: functions.flatten() }
    }

    /// How many unknowns each observation determines.
    fn fitted(&self, run: &RunContext<'_>, values: &[Vec<f64>]) -> Result<Fitted> {
        let (data, counts) = (run.data(), values.iter().map(Vec::len).collect::<Vec<_>>());
        if let Some(fit) = &self.functions {
            return Ok(Fitted::split(&fit.leverages(), &counts));
        }
        let slopes = self.slopes.as_deref().or(self.observed).filter(|_| run.problem.functions.is_empty());
        let mut terms = data.terms(self.sites, values)?;
        data.add_priors(&mut terms, self.eta)?;
        Ok(Fitted::new(&data, &terms, slopes.filter(|slopes| !slopes[0].slopes.is_empty())))
    }
}

/// What both solutions make of the data, the noise that this leaves, and whether it is noise.
fn add_misfits(
    outcome: &mut Outcome,
    run: &RunContext<'_>,
    seen: &Seen<'_>,
    evaluation: Option<&Evaluation<'_>>,
    grid: Option<&Grid>,
) -> Result<NoiseLevels> {
    let (data, ours) = (run.data(), seen.observed.map(values));
    let theirs = evaluation.map(|evaluation| &evaluation.values[..]);
    outcome.misfits = misfits(&data, seen.sites, ours.as_deref(), theirs)?;
    let values = theirs.or(ours.as_deref()).unwrap_or_default();
    let fitted = seen.fitted(run, values)?;
    let noise = NoiseLevels::new(&data, seen.sites, values, &fitted, seen.eta)?;
    let errors = grid.map(|grid| &grid.values[..]);
    let known = run.problem.functions.is_empty() || seen.functions.is_some();
    let leverages = known.then_some(&fitted.leverages[..]);
    outcome.goodness = goodness(&data, seen.sites, values, leverages, &noise.observations, errors);
    let terms = data.terms(seen.sites, values)?.terms;
    let likelihood = -data.joint().negative_log_likelihood(&terms);
    outcome.log_likelihood = Some(likelihood).filter(|likelihood| likelihood.is_finite());
    outcome.noise = noise.observations.clone();
    outcome.notes.extend(data.joint().pooled(run.problem));
    Ok(noise)
}

/// How far the estimate of functions is from the best one, and what the data say of the weights of regularisers that they
/// are to choose.
fn add_regularisation(
    outcome: &mut Outcome,
    problem: &Problem,
    evaluation: &Evaluation<'_>,
    fit: &FunctionFit,
    noise: &NoiseLevels,
    count: f64,
) {
    let stated = noise.observations.iter().all(|noise| noise.source != NoiseSource::Residuals);
    let spread = noise.spread().iter().map(|sd| sd * sd).sum::<f64>() / noise.spread().len().max(1) as f64;
    let residuals = function_uncertainty::weighted_residuals(evaluation);
    if spread > 0.0 && !outcome.goodness.observations.iter().all(|fit| fit.noise_free) {
        outcome.expected_gain = Some(fit.expected_gain(&residuals) / (2.0 * spread));
        outcome.fitted_unknowns = Some(fit.leverages().iter().sum());
    }
    let evidence = Evidence { fit, residuals, noise: stated.then_some(spread) };
    let Some(factors) = evidence.factors() else { return };
    for function in &problem.functions {
        let Some(Regulariser { automatic: true, weight, kind }) = &function.regulariser else { continue };
        let weight = *weight;
        let field = match kind {
            RegulariserKind::Field(field) => Some(((count * weight).sqrt().recip(), field.length())),
            _ => None,
        };
        outcome.regularisation.push(RegularisationOutcome {
            name: function.name.clone(),
            weight,
            by_evidence: factors.evidence * weight,
            by_discrepancy: factors.discrepancy.map(|factor| factor * weight),
            by_l_curve: factors.l_curve.map(|factor| factor * weight),
            log_evidence: factors.log_evidence,
            field,
        });
    }
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
fn error_bars(outcome: &mut Outcome, problem: &Problem, found: Option<Uncertainty>) {
    let Some(found) = found else {
        outcome.warnings.push("no error bars: the sensitivities are not finite".to_owned());
        return;
    };
    outcome.weakest = found.weakest_in_words(problem);
    outcome.correlations = found.correlations;
    outcome.singular_values = found.singular_values;
    // Without noise there is nothing that an estimate could scatter by.
    if outcome.goodness.observations.iter().all(|fit| fit.noise_free) {
        outcome.unknowns.numbers.iter_mut().for_each(|number| number.sd_network = None);
        return;
    }
    outcome.unknowns.numbers.iter_mut().zip(found.sd).for_each(|(number, sd)| number.sd = Some(sd));
}
