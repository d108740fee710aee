//! The choice among what can solve the equations: a dictionary, which is fastest, the reference solver, which is safest, and
//! networks where there is nothing else.

use super::bilo::{networks, with_dictionary};
use super::{Adjoint, Bilo, Method};
use bilo_assess::outcome::{Colour, Outcome, ReasonKind, SolvedBy, Stop};
use bilo_assess::{Estimate, RunContext, assess};
use bilo_fit::monitor::Monitor;
use bilo_problem::diagnostic::Result;
use bilo_problem::{OperatorKind, Problem, Recipe};

/// BiLO with a dictionary, the reference solver or networks, whichever comes to an answer.
pub struct Automatic;

impl Method for Automatic {
    fn name(&self) -> &'static str {
        "automatic"
    }

    fn about(&self) -> &'static str {
        "BiLO with a dictionary, else the reference solver, else networks"
    }

    fn solve<'a>(&self, run: &RunContext<'a>, monitor: &mut Monitor<'_>) -> Result<Estimate<'a>> {
        if !is_free(run) {
            return Bilo.solve(run, monitor);
        }
        let reason = match with_dictionary(run, monitor)? {
            Ok(estimate) => return Ok(estimate),
            Err(reason) => reason,
        };
        if run.reference.is_err() {
            return networks(run, Some(&reason), monitor);
        }
        monitor.note(&format!("the reference solver, not a dictionary: {reason}"));
        match Adjoint.solve(run, monitor) {
            Ok(mut estimate) => {
                estimate.notes.push(format!("the reference solver searched, not a dictionary: {reason}"));
                Ok(estimate)
            }
            Err(error) if error.ends_search() => Err(error),
            Err(error) => {
                let reason = format!("{reason}; and by the reference solver, {}", error.headline());
                networks(run, Some(&reason), monitor)
            }
        }
    }

    fn begins_again(&self) -> bool {
        true
    }

    /// Where a dictionary's answer is not the best fit of the reference solver, that searches itself.
    fn reconsider(
        &self,
        run: &RunContext<'_>,
        outcome: Outcome,
        monitor: &mut Monitor<'_>,
    ) -> Result<Outcome> {
        let ended = matches!(outcome.stop, Stop::Converged | Stop::Steps | Stop::Diverged);
        if !ended || !is_free(run) || run.reference.is_err() || !is_doubtful(&outcome) {
            return Ok(outcome);
        }
        monitor.note("the reference solver searches too, since it disagrees");
        let from = started_at(run.problem, &outcome);
        let there = RunContext { from: None, ..run.with(&from) };
        let second = Adjoint.solve(&there, monitor).and_then(|estimate| assess(&there, estimate));
        match second {
            Ok(second) if is_better(&second, &outcome) => Ok(finished(run, second, &outcome)),
            Err(error) if error.ends_search() => Err(error),
            _ => Ok(outcome),
        }
    }
}

/// Whether nothing was stated that asks for networks or for a kind of operator.
fn is_free(run: &RunContext<'_>) -> bool {
    run.from.is_none()
        && run.problem.operator.kind == OperatorKind::Automatic
        && run.problem.training.recipe != Recipe::Paper
        && run.problem.equations.iter().all(|equation| equation.points.renewal.is_none())
}

fn is_doubtful(outcome: &Outcome) -> bool {
    let doubt = |kind: ReasonKind| {
        matches!(kind, ReasonKind::SolversDisagree | ReasonKind::NotConverged | ReasonKind::Diverged)
    };
    outcome.solved_by != SolvedBy::ReferenceSolver
        && outcome.verdict.reasons.iter().any(|reason| doubt(reason.kind))
}

/// The problem with the best values that are known for guesses.
fn started_at(problem: &Problem, outcome: &Outcome) -> Problem {
    let mut problem = problem.clone();
    for (unknown, found) in problem.unknowns.iter_mut().zip(&outcome.unknowns.numbers) {
        unknown.guess = found.data_optimal.unwrap_or(found.estimate);
    }
    problem
}

fn is_better(second: &Outcome, first: &Outcome) -> bool {
    let rank = |outcome: &Outcome| (outcome.verdict.colour, outcome.log_likelihood.map(|l| -l));
    let ((a, low_a), (b, low_b)) = (rank(second), rank(first));
    a < b || (a == b && (a == Colour::Green || low_a < low_b))
}

/// With the guesses that were stated, and what happened.
fn finished(run: &RunContext<'_>, mut second: Outcome, first: &Outcome) -> Outcome {
    let stated = run.problem.unknowns.iter().map(|unknown| unknown.guess);
    second.unknowns.numbers.iter_mut().zip(stated).for_each(|(number, guess)| number.guess = guess);
    let ours = first.solved_by.name();
    second.notes.push(format!("the reference solver searched: the {ours}'s estimate was not its best fit"));
    second
}
