//! The choice among what can solve the equations: a dictionary, which is fastest, the reference solver, which is safest, and
//! networks where there is nothing else.

use super::bilo::{networks, with_dictionary};
use super::starts::{UNCHECKED, started_at};
use super::{Adjoint, Bilo, Method};
use bilo_assess::outcome::{Outcome, ReasonKind, SolvedBy, Stop};
use bilo_assess::{Estimate, RunContext};
use bilo_fit::monitor::Monitor;
use bilo_problem::diagnostic::Result;
use bilo_problem::{OperatorKind, Recipe};
use bilo_reference::cost;

/// Operations of linear algebra in the time of a unit of the reference solver's cost, and in some seconds.
const OPERATIONS: f64 = 700.0;
const SOME_SECONDS: f64 = 6e10;

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
        let reason = match jumps(run) {
            Some(reason) => reason,
            None => match with_dictionary(run, monitor, allowance(run))? {
                Ok(estimate) => return Ok(estimate),
                Err(reason) => reason,
            },
        };
        if run.reference.is_err() {
            return networks(run, Some(&reason), monitor);
        }
        monitor.note(&format!("the reference solver, not a dictionary: {reason}"));
        match Adjoint.solve(run, monitor) {
            Ok(mut estimate) => {
                estimate.notes.push(format!("no dictionary: {reason}"));
                estimate.notes.push(UNCHECKED.to_owned());
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
        match started_at(run, &Adjoint, &best_known(&outcome), monitor) {
            Ok(mut second) if is_better(&second, &outcome) => {
                let ours = outcome.solved_by.name();
                second.notes.push(format!("the {ours}'s estimate was not the reference solver's best fit"));
                second.notes.push(UNCHECKED.to_owned());
                Ok(second)
            }
            Err(error) if error.ends_search() => Err(error),
            _ => Ok(outcome),
        }
    }
}

/// Why a dictionary is of no use where an unknown says where the equations jump: their derivatives by it vanish.
fn jumps(run: &RunContext<'_>) -> Option<String> {
    let jump = run.reference.as_ref().ok()?.jumps().first()?;
    let name = &run.problem.unknowns[jump.unknown].name;
    Some(format!(
        "{name} says where the equations jump, and only whole solutions tell how they move with that"
    ))
}

/// What dictionaries may cost, in operations, where the reference solver can search too: not much more than that would,
/// which has to check them anyway; and some seconds at least, since they are more exact.
fn allowance(run: &RunContext<'_>) -> f64 {
    let stated = &run.problem.operator.dictionary;
    let is_stated = stated.features.is_some() || stated.modes.iter().any(Option::is_some);
    if run.reference.is_err() || is_stated {
        return f64::INFINITY;
    }
    (2.0 * OPERATIONS * cost::of_search(run.problem)).max(SOME_SECONDS)
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

/// The best values that are known.
fn best_known(outcome: &Outcome) -> Vec<f64> {
    outcome.unknowns.numbers.iter().map(|number| number.data_optimal.unwrap_or(number.estimate)).collect()
}

fn is_better(second: &Outcome, first: &Outcome) -> bool {
    let (ours, theirs) = (second.verdict.colour, first.verdict.colour);
    ours < theirs || (ours == theirs && second.log_likelihood > first.log_likelihood)
}
