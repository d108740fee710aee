//! Weights of regularisers that the data choose: search, look where the evidence is largest, search again.

use super::Method;
use bilo_assess::outcome::{Outcome, SolvedBy, Stop};
use bilo_assess::{RunContext, assess};
use bilo_fit::monitor::Monitor;
use bilo_problem::diagnostic::Result;
use bilo_problem::text::digits;
use bilo_problem::theta::Theta;
use bilo_problem::{Matern, OperatorKind, Problem, Regulariser, RegulariserKind, UnknownFunction};

/// Most searches.
const ROUNDS: usize = 8;

/// A weight that moves by less than this part of a decade has settled.
const SETTLED: f64 = 0.05;

/// Lengths of a Gaussian field that are tried, in units of the function's domain.
const LENGTHS: [f64; 7] = [0.05, 0.08, 0.13, 0.2, 0.35, 0.6, 1.0];

/// The standard deviation of a field where the search for it begins, beside the scale of its function.
const FIRST_SD: f64 = 0.5;

/// The problem with the weights of Gaussian fields, 1/(N sd²), beside a loss of N data.
pub(super) fn of_fields(problem: &Problem, count: f64) -> Problem {
    let mut problem = problem.clone();
    for function in &mut problem.functions {
        let scale = function.scale;
        if let Some(Regulariser { kind: RegulariserKind::Field(field), weight, .. }) =
            &mut function.regulariser
        {
            let sd = field.sd.unwrap_or(FIRST_SD * scale);
            *weight = 1.0 / (count.max(1.0) * sd * sd);
        }
    }
    problem
}

/// The outcome with the length of a Gaussian field that has the largest evidence, where one is to be found.
pub(super) fn chosen(
    run: &RunContext<'_>,
    method: &dyn Method,
    monitor: &mut Monitor<'_>,
) -> Result<Outcome> {
    let free = |function: &UnknownFunction| field_of(function).filter(|field| field.length.is_none());
    let Some(number) = run.problem.functions.iter().position(|function| free(function).is_some()) else {
        return with_weights_by_data(run, method, monitor);
    };
    let mut best: Option<Outcome> = None;
    for share in LENGTHS {
        let mut problem = run.problem.clone();
        let regulariser = problem.functions[number].regulariser.as_mut().expect("found above");
        if let RegulariserKind::Field(field) = &mut regulariser.kind {
            field.length = Some(share * field.width);
        }
        let outcome =
            with_weights_by_data(&RunContext { from: None, ..run.with(&problem) }, method, monitor)?;
        let evidence = |outcome: &Outcome| outcome.regularisation.first().map(|found| found.log_evidence);
        if matches!(outcome.stop, Stop::Interrupted | Stop::TimeLimit) {
            return Ok(best.unwrap_or(outcome));
        }
        if best.as_ref().is_none_or(|best| evidence(&outcome) > evidence(best)) {
            best = Some(outcome);
        }
    }
    Ok(best.expect("several were tried"))
}

fn field_of(function: &UnknownFunction) -> Option<Matern> {
    match function.regulariser.as_ref()?.kind {
        RegulariserKind::Field(field) => Some(field),
        _ => None,
    }
}

/// The outcome of the method with weights that the data chose, where they are to choose any.
fn with_weights_by_data(
    run: &RunContext<'_>,
    method: &dyn Method,
    monitor: &mut Monitor<'_>,
) -> Result<Outcome> {
    let mut before: Option<(Problem, Theta)> = None;
    let mut round = 1;
    loop {
        let run = match &before {
            None => *run,
            Some((problem, theta)) => RunContext { from: None, near: Some(theta), ..run.with(problem) },
        };
        let mut estimate = method.solve(&run, monitor)?;
        let theta = estimate.predictor.theta(run.problem)?;
        let outcome = assess(&run, estimate)?;
        let moves = |weight: f64, better: f64| (better / weight).log10().abs() > SETTLED;
        let settled = !outcome.regularisation.iter().any(|found| moves(found.weight, found.by_evidence));
        let ended = matches!(outcome.stop, Stop::Interrupted | Stop::TimeLimit | Stop::Diverged);
        if settled || ended || round == ROUNDS {
            return Ok(outcome);
        }
        round += 1;
        before = Some((with_weights(run.problem, &outcome, monitor), theta));
    }
}

/// The problem with the weights of the largest evidence.
fn with_weights(problem: &Problem, outcome: &Outcome, monitor: &mut Monitor<'_>) -> Problem {
    let mut problem = problem.clone();
    // What stands for the solution stays what it was, so that searches can be compared.
    if outcome.solved_by == SolvedBy::Dictionary {
        problem.operator.kind = OperatorKind::Dictionary;
    }
    for found in &outcome.regularisation {
        let (name, better) = (&found.name, found.by_evidence);
        monitor
            .note(&format!("the data choose the weight {} for the regulariser of {name}", digits(better, 3)));
        let functions = problem.functions.iter_mut().filter(|function| function.name == *name);
        functions
            .filter_map(|function| function.regulariser.as_mut())
            .for_each(|regulariser| regulariser.weight = better);
    }
    problem
}
