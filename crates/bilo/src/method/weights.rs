//! Weights of regularisers that the data choose: search, look where the evidence is largest, search again.

use super::Job;
use bilo_assess::outcome::{Outcome, SolvedBy, Stop};
use bilo_assess::{RunContext, assess};
use bilo_fit::monitor::Monitor;
use bilo_problem::diagnostic::Result;
use bilo_problem::text::digits;
use bilo_problem::{OperatorKind, Problem};

/// Most searches.
const ROUNDS: usize = 8;

/// A weight that moves by less than this part of a decade has settled.
const SETTLED: f64 = 0.05;

/// The outcome of the method with weights that the data chose, where they are to choose any.
pub(super) fn chosen(run: &RunContext<'_>, job: &Job, monitor: &mut Monitor<'_>) -> Result<Outcome> {
    let mut problem: Option<Problem> = None;
    let mut round = 1;
    loop {
        let outcome = match &problem {
            None => assess(run, job.method.solve(run, monitor)?)?,
            Some(problem) => {
                let run = &RunContext { from: None, ..run.with(problem) };
                assess(run, job.method.solve(run, monitor)?)?
            }
        };
        let moves = |weight: f64, better: f64| (better / weight).log10().abs() > SETTLED;
        let settled = !outcome.regularisation.iter().any(|found| moves(found.weight, found.by_evidence));
        let ended = matches!(outcome.stop, Stop::Interrupted | Stop::TimeLimit | Stop::Diverged);
        if settled || ended || round == ROUNDS {
            return Ok(outcome);
        }
        round += 1;
        problem = Some(with_weights(run.problem, &outcome, monitor));
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
