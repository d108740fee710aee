//! What searches from other starts come to, by the reference solver on a coarse grid.

use super::{ALIKE, SAME, differ, height, minimum};
use crate::context::RunContext;
use crate::outcome::{Minimum, Outcome, StartOutcome, Stop};
use crate::relaxed;
use bilo_fit::data_loss::DataLoss;
use bilo_fit::gauss_newton::minimise;
use bilo_fit::parallel;
use bilo_problem::diagnostic::ErrorKind;
use bilo_problem::{Problem, Transform, Unknown};
use bilo_reference::misfit::ReferenceLoss;
use faer::{Mat, Side};
use std::ops::Range;

/// No grid moves values by more than this part of them, unless they are no minimum on another.
const FAR: f64 = 0.3;

/// Most iterations from one start; where a solution costs more than next to nothing, after the first few only the most promising
/// go on.
pub(super) const ITERATIONS: usize = 30;
const FIRST: usize = 8;
const PROMISING: usize = 3;

/// Most states of which other starts are searched from as a matter of course: about a second in all.
const FEW_STATES: usize = 12;

/// Numbers of sizes further apart than this are not of one kind, and have no place to exchange.
const ALIKE_IN_SIZE: f64 = 30.0;

/// Most pairs of numbers that exchange their places for a start.
const MOST_PAIRS: usize = 6;

/// How far along a valley another minimum is looked for, in standard deviations.
const VALLEY: f64 = 4.0;

/// Starts from which a relaxed equation is tried where the data are not fitted, the guess among them.
const RELAXED: usize = 2;

/// Whether searches from other starts cost next to nothing: along one coordinate.
pub fn is_cheap(problem: &Problem) -> bool {
    problem.coordinates.len() == 1 && problem.states.len() <= FEW_STATES
}

/// What searches came to, on one coarse grid: from where the estimate is, and from other starts, the best first.
pub struct Searches {
    /// None where the equations have no solution at the estimate.
    from_estimate: Option<StartOutcome>,
    starts: Vec<StartOutcome>,
}

/// Where searches from other starts set out from.
pub struct Origin {
    /// The estimate, or where a first search ended.
    pub estimate: Vec<f64>,
    /// Whether it fits the data.
    pub is_fitted: bool,
    /// Values along what the data see least of it.
    valley: Vec<Vec<f64>>,
}

impl Origin {
    /// The end of a search that does not fit the data.
    pub fn misfit(estimate: Vec<f64>) -> Origin {
        Origin { estimate, is_fitted: false, valley: vec![] }
    }

    /// The estimate of an outcome.
    pub fn of(outcome: &Outcome) -> Origin {
        let estimate = estimate_of(outcome);
        Origin { is_fitted: is_fitted(outcome), valley: along_the_valley(outcome, &estimate), estimate }
    }
}

/// Where a search begins, and whether positive numbers keep their sign on the way.
struct Start {
    thetas: Vec<f64>,
    by_logarithms: bool,
}

impl Searches {
    /// Searches from the guess and from other starts, those of some numbers, and from what a relaxed equation comes to; from
    /// more of these where the data are not fitted.
    pub fn new(run: &RunContext<'_>, starts: Range<usize>, origin: &Origin) -> Option<Searches> {
        let coarse = Self::on_grid(run, run.coarse(), starts.clone(), origin);
        // Along one coordinate the stated grid costs little too, where a coarse one has no solution.
        match coarse {
            Some(coarse) if coarse.from_estimate.is_some() || !is_cheap(run.problem) => Some(coarse),
            coarse => Self::on_grid(run, usize::MAX, starts, origin).or(coarse),
        }
    }

    fn on_grid(
        run: &RunContext<'_>,
        most: usize,
        numbers: Range<usize>,
        origin: &Origin,
    ) -> Option<Searches> {
        let problem = run.problem;
        let estimate = &origin.estimate[..];
        // Starts are searched from at the same time; then nothing is left for systems that are not coupled.
        let reference = run.coarse_reference(most)?.on_threads(Some(1));
        let loss = ReferenceLoss { data: run.data(), reference: &reference };
        // The grid moves the minimum of the estimate too.
        let from_estimate = searched(run, loss, estimate, ITERATIONS);
        if run.interrupt.is_due() {
            return None;
        }
        let from_estimate = from_estimate.filter(|found| found.log_likelihood.is_some());
        let logged = by_logarithms(problem);
        let logged_run = run.with(&logged);
        let logged_reference = logged_run.coarse_reference(most)?.on_threads(Some(1));
        let logged_data = DataLoss::new(&logged, run.tables);
        let logged_loss = ReferenceLoss { data: logged_data, reference: &logged_reference };
        let best = from_estimate.as_ref().map_or(estimate, |found| &found.end);
        let starts = starts(run, numbers, best, origin);
        let search = |by_logarithms: bool, from: &[f64], most: usize| match by_logarithms {
            true => searched(&logged_run, logged_loss, from, most),
            false => searched(run, loss, from, most),
        };
        let threads = parallel::threads(run.threads);
        let most = if is_cheap(problem) { ITERATIONS } else { FIRST };
        let first =
            |start: &Start| Some((search(start.by_logarithms, &start.thetas, most)?, start.by_logarithms));
        let mut found: Vec<(StartOutcome, bool)> =
            parallel::each(threads, &starts, first).into_iter().flatten().collect();
        found.sort_by(|(a, _), (b, _)| b.height().total_cmp(&a.height()));
        if !is_cheap(problem) {
            let promising = &found[..PROMISING.min(found.len())];
            let on = parallel::each(threads, promising, |(found, by_logarithms)| match found.converged {
                true => None,
                false => search(*by_logarithms, &found.end, ITERATIONS),
            });
            for ((found, _), on) in found.iter_mut().zip(on) {
                *found =
                    on.map_or_else(|| found.clone(), |on| StartOutcome { start: found.start.clone(), ..on });
            }
        }
        let mut starts: Vec<StartOutcome> = found.into_iter().map(|(found, _)| found).collect();
        starts.sort_by(|a, b| b.height().total_cmp(&a.height()));
        Some(Searches { from_estimate, starts })
    }

    /// The best minimum, if it is another one than that of the estimate and better by so much.
    pub fn better(&self, problem: &Problem, outcome: &Outcome, by: f64) -> Option<&StartOutcome> {
        let estimate = estimate_of(outcome);
        // The search from an estimate may leave it on another grid: then that was no minimum. One that had not come to its
        // end is left as a matter of course.
        let left =
            |found: &&StartOutcome| outcome.stop == Stop::Converged && is_far(problem, &estimate, &found.end);
        let from_estimate = self.from_estimate.as_ref();
        let (own, height) = match (from_estimate, outcome.log_likelihood) {
            (Some(found), None) => (&found.end, found.height()),
            (Some(found), Some(_)) if !left(&found) => (&found.end, found.height()),
            (_, log_likelihood) => (&estimate, log_likelihood.unwrap_or(f64::NEG_INFINITY)),
        };
        // A search that has not come to its end may still be far better; the method goes on from there.
        let best = self.starts.first().into_iter().chain(from_estimate.filter(left));
        let best = best.max_by(|a, b| a.height().total_cmp(&b.height()))?;
        (best.height() - height > by && differ(problem, own, &best.end)).then_some(best)
    }

    /// What they came to, the best first, and where the best is if it is better by so much than where they set out from.
    pub fn best(self, problem: &Problem, by: f64) -> (Vec<StartOutcome>, Option<Vec<f64>>) {
        let own = self.from_estimate.as_ref().map_or(f64::NEG_INFINITY, StartOutcome::height);
        let better = self.starts.first().filter(|start| start.height() - own > by);
        let known = self.from_estimate.as_ref().map(|found| &found.end);
        let other = |start: &&StartOutcome| known.is_none_or(|known| differ(problem, known, &start.end));
        let place = better.filter(other).map(|start| start.end.clone());
        (self.starts, place)
    }

    /// With the starts of other searches, which set out from somewhere else.
    pub fn with_starts_of(mut self, others: Option<Searches>) -> Searches {
        self.starts.extend(others.into_iter().flat_map(|others| others.starts));
        self.starts.sort_by(|a, b| b.height().total_cmp(&a.height()));
        self
    }

    /// Adds what they came to, and the minima among them that fit as well as the estimate; where that was `found_here`, the best
    /// of them is no other.
    pub fn add_to(self, outcome: &mut Outcome, run: &RunContext<'_>, found_here: bool) {
        let problem = run.problem;
        let own = self.from_estimate.as_ref().map_or(f64::NEG_INFINITY, StartOutcome::height);
        let best = self.starts.iter().map(StartOutcome::height).fold(own, f64::max);
        let estimate = estimate_of(outcome);
        let mut known: Vec<Vec<f64>> = self.from_estimate.into_iter().map(|found| found.end).collect();
        known.push(estimate.clone());
        known.extend(self.starts.first().filter(|_| found_here).map(|best| best.end.clone()));
        // Along one coordinate a search that has not come to its end goes on below.
        for start in self.starts.iter().filter(|start| start.converged || is_cheap(problem)) {
            let below = best - start.height();
            if below < ALIKE && known.iter().all(|other| differ(problem, other, &start.end)) {
                known.push(start.end.clone());
                let other = on_stated_grid(run, start, &estimate, &known[0], below);
                outcome.minima.extend(other.filter(|other| !is_within_error_bars(outcome, other)));
            }
        }
        outcome.starts = self.starts;
    }
}

/// Whether the error bars of the estimate say already that it may be there.
fn is_within_error_bars(outcome: &Outcome, other: &Minimum) -> bool {
    other.unknowns.iter().all(|(name, there)| {
        let number = outcome.unknowns.numbers.iter().find(|number| number.name == *name);
        number.is_some_and(|number| number.sd.is_some_and(|sd| (there - number.estimate).abs() < sd))
    })
}

/// A minimum that fits as well as the estimate, or what a search from it came to on the coarse grid, if it does so on the stated
/// one: a coarse grid may have minima of its own. Where a search there costs too much it is taken as it is.
fn on_stated_grid(
    run: &RunContext<'_>,
    start: &StartOutcome,
    estimate: &[f64],
    coarse: &[f64],
    below: f64,
) -> Option<Minimum> {
    let problem = run.problem;
    let Some(reference) = run.reference.as_ref().ok().filter(|_| is_cheap(problem)) else {
        return Some(minimum(problem, coarse, &start.end, below));
    };
    let loss = ReferenceLoss { data: run.data(), reference };
    let to_minimum = |from: &[f64]| searched(run, loss, from, ITERATIONS);
    // Where the estimate has no solution on that grid, nothing can be compared with it.
    let own = to_minimum(estimate).filter(|own| own.log_likelihood.is_some())?;
    let other = to_minimum(&start.end)?;
    let below = own.height() - other.height();
    let another = other.converged && below < ALIKE && differ(problem, &own.end, &other.end);
    another.then(|| minimum(problem, &own.end, &other.end, below))
}

/// The guess, points around it, the best fit with two of its numbers in each other's place, points along what the data see least
/// of it, and what a relaxed equation comes to.
fn starts(run: &RunContext<'_>, numbers: Range<usize>, best: &[f64], origin: &Origin) -> Vec<Start> {
    let problem = run.problem;
    let around = problem.starts(numbers.end).split_off(numbers.start);
    let start = |by_logarithms: bool| move |thetas: Vec<f64>| Start { thetas, by_logarithms };
    // Those that are near the guess have its sign.
    if numbers.start > 0 {
        return around.into_iter().map(start(true)).collect();
    }
    let guess: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.guess).collect();
    let first = [guess].into_iter().chain(around.iter().cloned()).take(RELAXED).collect::<Vec<_>>();
    let relaxable = if origin.is_fitted { &first[..1] } else { &first[..] };
    let relaxed =
        parallel::each(parallel::threads(run.threads), relaxable, |start| relaxed::start(run, start));
    let from_best = match is_cheap(problem) {
        true => [exchanged(best), origin.valley.clone()].concat(),
        false => vec![],
    };
    // Of the points around the guess every other one may change its sign.
    let around = around
        .into_iter()
        .enumerate()
        .map(|(number, thetas)| Start { thetas, by_logarithms: number % 2 == 0 });
    let guess = first.into_iter().take(1).map(start(true));
    let others = relaxed.into_iter().flatten().chain(from_best).map(start(false));
    guess.chain(around).chain(others).collect()
}

/// Values with two of them in each other's place, where they are of a size.
fn exchanged(best: &[f64]) -> Vec<Vec<f64>> {
    let pairs = (0..best.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    let alike = |&(i, j): &(usize, usize)| {
        let ratio = (best[i] / best[j]).abs();
        ratio != 1.0 && (1.0 / ALIKE_IN_SIZE..ALIKE_IN_SIZE).contains(&ratio)
    };
    let exchange = |(i, j): (usize, usize)| {
        let mut other = best.to_vec();
        other.swap(i, j);
        other
    };
    pairs.filter(alike).take(MOST_PAIRS).map(exchange).collect()
}

/// Values on both sides of the best ones, along the longest axis of the error ellipsoid: in a long valley there may be another
/// minimum.
fn along_the_valley(outcome: &Outcome, best: &[f64]) -> Vec<Vec<f64>> {
    let numbers = &outcome.unknowns.numbers;
    let sd: Option<Vec<f64>> = numbers
        .iter()
        .map(|number| number.sd.filter(|sd| sd.is_finite() && *sd < number.estimate.abs()))
        .collect();
    let correlations = &outcome.correlations;
    let whole = correlations.len() == best.len() && correlations.iter().all(|row| row.len() == best.len());
    let (Some(sd), true) = (sd, whole) else { return vec![] };
    let matrix = Mat::from_fn(best.len(), best.len(), |i, j| correlations[i][j]);
    let Ok(axes) = matrix.self_adjoint_eigen(Side::Lower) else { return vec![] };
    let last = best.len() - 1;
    let length = axes.S()[last].max(0.0).sqrt();
    let step = |j: usize| VALLEY * length * axes.U()[(j, last)] * sd[j];
    [1.0, -1.0].map(|side| best.iter().enumerate().map(|(j, best)| best + side * step(j)).collect()).to_vec()
}

/// Whether nothing speaks against the fit of the data.
fn is_fitted(outcome: &Outcome) -> bool {
    !outcome.verdict.doubts_fit() && !outcome.verdict.ran_away()
}

fn estimate_of(outcome: &Outcome) -> Vec<f64> {
    outcome.unknowns.numbers.iter().map(|number| number.estimate).collect()
}

/// The problem with the logarithms of its positive guesses in place of numbers that nobody kept from changing their sign.
fn by_logarithms(problem: &Problem) -> Problem {
    let mut logged = problem.clone();
    let free = |unknown: &&mut Unknown| unknown.guess > 0.0 && unknown.bounds.is_none() && !unknown.signed;
    logged.unknowns.iter_mut().filter(free).for_each(|unknown| unknown.transform = Transform::Log);
    logged
}

/// Whether values of the unknowns are apart by more than a grid moves them.
fn is_far(problem: &Problem, a: &[f64], b: &[f64]) -> bool {
    // A number that may be zero has no size of its own there; one over decades has one everywhere.
    let least = |unknown: &Unknown| if unknown.is_positive() { SAME } else { 1.0 } * unknown.guess.abs();
    let apart = |(unknown, (a, b)): (&Unknown, (&f64, &f64))| {
        (a - b).abs() > FAR * a.abs().max(b.abs()).max(least(unknown))
    };
    problem.unknowns.iter().zip(a.iter().zip(b)).any(apart)
}

impl StartOutcome {
    fn height(&self) -> f64 {
        self.log_likelihood.unwrap_or(f64::NEG_INFINITY)
    }
}

/// What a search from one start comes to after so many iterations at most; none if it was interrupted.
pub(super) fn searched(
    run: &RunContext<'_>,
    mut loss: ReferenceLoss<'_>,
    start: &[f64],
    most: usize,
) -> Option<StartOutcome> {
    let unknowns = run.problem.unknowns.iter().zip(start);
    let eta: Vec<f64> = unknowns.map(|(unknown, &theta)| unknown.project(unknown.eta_of(theta))).collect();
    let searched = loss.evaluate(&eta).and_then(|evaluation| {
        minimise(&mut loss, evaluation, &mut |iterate| {
            (iterate.step >= most || run.interrupt.is_due()).then_some(Stop::Steps)
        })
    });
    match searched {
        Ok(optimum) => Some(StartOutcome {
            start: start.to_vec(),
            end: run.problem.thetas(&optimum.evaluation.theta.eta),
            log_likelihood: Some(-height(&loss, &optimum.evaluation)),
            converged: optimum.stop == Stop::Converged,
        }),
        Err(error) if error.kind() == ErrorKind::Interrupted => None,
        Err(_) => {
            Some(StartOutcome { start: start.to_vec(), end: start.to_vec(), ..StartOutcome::default() })
        }
    }
}
