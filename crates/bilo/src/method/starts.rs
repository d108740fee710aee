//! Searches from several starts: a method follows the data loss downhill, and may end in the wrong valley.
//!
//! The reference solver looks where other starts lead, which costs a few solutions each; the method itself searches again
//! only from the best of them, if that is better than where it ended.

use super::{Adjoint, Job, Method, weights};
use bilo_assess::RunContext;
use bilo_assess::minima::{BETTER, OTHER_STARTS, Origin, Searches, is_cheap};
use bilo_assess::outcome::{Outcome, SolvedBy, StartOutcome, Stop};
use bilo_fit::monitor::Monitor;
use bilo_problem::OperatorKind;
use bilo_problem::diagnostic::Result;
use bilo_problem::text::digits;

/// What is said where the reference solver gave the answer.
pub(super) const UNCHECKED: &str = "the reference solver searched itself: no second solver has checked it";

/// Further starts, near the guess, where searches cost next to nothing and nothing has fitted yet.
const NEAR_THE_GUESS: usize = 24;

/// Looks for better minima from other starts, if that is asked for or nothing fits, and searches again from the best.
pub(super) fn from_elsewhere(
    run: &RunContext<'_>,
    job: &Job,
    outcome: Outcome,
    monitor: &mut Monitor<'_>,
) -> Result<Outcome> {
    let count = match run.problem.training.starts {
        Some(count) => count - 1,
        None if job.method.begins_again() && (outcome.verdict.doubts_fit() || is_cheap(run.problem)) => {
            OTHER_STARTS
        }
        None => 0,
    };
    let scalars = !run.problem.unknowns.is_empty() && run.problem.functions.is_empty();
    let ended = !matches!(outcome.stop, Stop::Converged | Stop::Steps);
    // A method that has searched from other starts on its way has found what there is.
    if count == 0 || !scalars || ended || !outcome.starts.is_empty() {
        return Ok(outcome);
    }
    let unstated = run.problem.training.starts.is_none() && is_cheap(run.problem);
    let near = if unstated { NEAR_THE_GUESS } else { 0 };
    let (mut outcome, mut all, mut found_here) = (outcome, None::<Searches>, false);
    for (starts, words) in [(0..count, "other starts"), (count..count + near, "more starts near the guess")] {
        if starts.is_empty() || (starts.start > 0 && outcome.passes_chi_square()) {
            break;
        }
        monitor.note(&format!("searching from {} {words}", starts.len()));
        let Some(searches) = Searches::new(run, starts, &Origin::of(&outcome)) else { break };
        if let Some(found) = searches.better(run.problem, &outcome, BETTER).cloned() {
            let better;
            (outcome, better) = again(run, job, outcome, &found, monitor)?;
            found_here |= better;
        }
        all = Some(searches.with_starts_of(all));
    }
    if let Some(searches) = all {
        searches.add_to(&mut outcome, run, found_here);
        outcome.judge();
    }
    Ok(outcome)
}

/// The method from what a search found, and whether that came to something better; else the outcome as it was. Where a method that
/// may choose leaves the minimum that the reference solver had found, that is taken from there.
fn again(
    run: &RunContext<'_>,
    job: &Job,
    first: Outcome,
    found: &StartOutcome,
    monitor: &mut Monitor<'_>,
) -> Result<(Outcome, bool)> {
    let start = &found.end[..];
    let unknowns = run.problem.unknowns.iter().zip(start);
    let named = unknowns.map(|(unknown, &value)| format!("{} = {}", unknown.name, digits(value, 4)));
    let place = named.collect::<Vec<_>>().join(", ");
    monitor.note(&format!("a better minimum is near {place}: searching again from there"));
    let mut best: Option<Outcome> = None;
    // Where a kind of operator is stated, nothing else answers.
    let is_free = run.problem.operator.kind == OperatorKind::Automatic;
    let may_choose = is_free && job.method.begins_again() && job.method.name() != Adjoint.name();
    // A dictionary that gave no answer before is asked again where that costs next to nothing.
    let methods: &[&dyn Method] = match (may_choose, first.solved_by) {
        (true, SolvedBy::ReferenceSolver) if !is_cheap(run.problem) => &[&Adjoint],
        (true, _) => &[job.method, &Adjoint],
        (false, _) => &[job.method],
    };
    for method in methods {
        match started_at(run, *method, start, monitor) {
            Ok(second) if best.as_ref().is_none_or(|best| second.log_likelihood > best.log_likelihood) => {
                best = Some(second);
            }
            Ok(_) => {}
            Err(error) if error.ends_search() => return Err(error),
            Err(error) => monitor.note(&format!("no search from there: {}", error.headline())),
        }
        let stayed = |best: &Outcome| best.log_likelihood > found.log_likelihood.map(|there| there - BETTER);
        if best.as_ref().is_some_and(stayed) {
            break;
        }
    }
    let Some(mut second) = best.filter(|best| best.log_likelihood > first.log_likelihood) else {
        return Ok((first, false));
    };
    let is_said = second.notes.iter().any(|note| note == UNCHECKED);
    if may_choose && !is_said && second.solved_by == SolvedBy::ReferenceSolver {
        second.notes.push(UNCHECKED.to_owned());
    }
    second
        .notes
        .push(format!("the search from the guess ended in a worse minimum; this one was found from {place}"));
    Ok((second, true))
}

/// What a method comes to from other values than the stated guesses; judged by those, since a number that ran away from
/// them did so wherever it started.
pub(super) fn started_at(
    run: &RunContext<'_>,
    method: &dyn Method,
    start: &[f64],
    monitor: &mut Monitor<'_>,
) -> Result<Outcome> {
    let mut problem = run.problem.clone();
    problem.unknowns.iter_mut().zip(start).for_each(|(unknown, &value)| unknown.guess = value);
    // Nobody looks elsewhere from there once more.
    problem.training.starts = Some(1);
    let there = RunContext { from: None, ..run.with(&problem) };
    let mut outcome = weights::chosen(&there, method, monitor)?;
    let stated = run.problem.unknowns.iter().map(|unknown| unknown.guess);
    outcome.unknowns.numbers.iter_mut().zip(stated).for_each(|(number, guess)| number.guess = guess);
    outcome.judge();
    Ok(outcome)
}
