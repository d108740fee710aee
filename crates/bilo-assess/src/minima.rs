//! Other values of the unknowns that fit the data as well: mirror images, whole periods, and what searches from other
//! starts come to.

use crate::context::RunContext;
use crate::outcome::{Minimum, Outcome, StartOutcome, Stop};
use crate::relaxed;
use bilo_fit::gauss_newton::minimise;
use bilo_fit::parallel;
use bilo_problem::diagnostic::ErrorKind;
use bilo_problem::{Formula, Problem, Transform, Unknown};
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use std::f64::consts::{PI, TAU};

/// Minima whose log-likelihoods differ by less than this explain the data alike.
const ALIKE: f64 = 2.0;

/// Values nearer to each other than this, relative to their size, are one.
const SAME: f64 = 1e-3;

/// No grid moves values by more than this part of them, unless they are no minimum on another.
const FAR: f64 = 0.3;

/// Values nearer to each other than so many error bars are one answer.
const APART: f64 = 3.0;

/// Most iterations from one start.
const ITERATIONS: usize = 30;

/// Cells and steps along each coordinate for images and other starts: they are compared on the same coarse grid.
const COARSE: usize = 200;

/// Most states of which other starts are searched from as a matter of course: about a second in all.
const FEW_STATES: usize = 12;

/// Most images that are looked at.
const MOST_IMAGES: usize = 30;

/// Adds the images of the best fit that fit as well.
pub(crate) fn add_images(outcome: &mut Outcome, run: &RunContext<'_>) {
    let problem = run.problem;
    let Some(reference) = run.coarse_reference(COARSE) else { return };
    let loss = &ReferenceLoss { data: run.data(), reference: &reference };
    let numbers = outcome.unknowns.numbers.iter();
    let best: Vec<f64> = numbers.map(|number| number.data_optimal.unwrap_or(number.estimate)).collect();
    // A coarse grid moves the minimum too, and images are those of the minimum there.
    let Some(found) = searched(run, *loss, &best) else { return };
    let (best, Some(height)) = (found.end, found.log_likelihood.map(|found| -found)) else { return };
    let sd: Vec<f64> = outcome.unknowns.numbers.iter().map(|number| number.sd.unwrap_or(0.0)).collect();
    let far = |image: &Vec<f64>| (0..best.len()).any(|j| (image[j] - best[j]).abs() > APART * sd[j]);
    for image in images(problem, &best).into_iter().filter(far).take(MOST_IMAGES) {
        let Some(other) = height_at(loss, &image).filter(|other| other - height < ALIKE) else { continue };
        outcome.minima.push(minimum(problem, &image, other - height));
    }
}

/// Values that symmetric or periodic equations cannot tell from these.
fn images(problem: &Problem, best: &[f64]) -> Vec<Vec<f64>> {
    let free = |j: usize| {
        let unknown = &problem.unknowns[j];
        unknown.transform == Transform::Identity && !unknown.is_positive()
    };
    let mut images = vec![];
    let mut moved = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut image = best.to_vec();
        change(&mut image);
        let inside = problem
            .unknowns
            .iter()
            .zip(&image)
            .all(|(unknown, &theta)| unknown.bounds.is_none_or(|(lo, hi)| (lo..=hi).contains(&theta)));
        if inside
            && differ(problem, &image, best)
            && !images.iter().any(|other: &Vec<f64>| !differ(problem, other, &image))
        {
            images.push(image);
        }
    };
    for j in (0..best.len()).filter(|&j| free(j)) {
        moved(&|image| image[j] = -image[j]);
        if is_periodic(problem, &problem.unknowns[j].name) {
            for period in [TAU, -TAU, PI, -PI, 1.0, -1.0] {
                moved(&|image| image[j] += period);
            }
        }
    }
    moved(&|image| (0..image.len()).filter(|&j| free(j)).for_each(|j| image[j] = -image[j]));
    // Two unknowns in each other's place.
    for (i, j) in (0..best.len()).flat_map(|j| (0..j).map(move |i| (i, j))) {
        moved(&|image| image.swap(i, j));
    }
    images
}

/// Whether an unknown occurs in a formula with sines or cosines.
fn is_periodic(problem: &Problem, name: &str) -> bool {
    let formulas = problem.equations.iter().map(|equation| &equation.residual);
    let formulas = formulas.chain(problem.states.iter().map(|state| &state.form));
    let formulas = formulas.chain(problem.observations.iter().map(|observation| &observation.value));
    let periodic = |formula: &Formula| {
        let names = formula.ast.names().iter().any(|(other, _)| *other == name);
        names && ["sin(", "cos("].iter().any(|wave| formula.text.contains(wave))
    };
    formulas.into_iter().any(periodic)
}

/// Minus the log-likelihood at some unknowns; none where the equations have no solution.
fn height_at(loss: &ReferenceLoss<'_>, thetas: &[f64]) -> Option<f64> {
    let unknowns = &loss.data.problem().unknowns;
    let eta: Vec<f64> = unknowns.iter().zip(thetas).map(|(unknown, &theta)| unknown.eta_of(theta)).collect();
    Some(height(loss, &loss.evaluate(&eta).ok()?))
}

fn height(loss: &ReferenceLoss<'_>, evaluation: &Evaluation<'_>) -> f64 {
    let data = &loss.data;
    data.joint().negative_log_likelihood(&evaluation.loss_terms.terms)
        + data.negative_log_prior(&evaluation.theta.eta)
}

fn minimum(problem: &Problem, thetas: &[f64], below: f64) -> Minimum {
    let names = problem.unknowns.iter().map(|unknown| unknown.name.clone());
    Minimum { unknowns: names.zip(thetas.iter().copied()).collect(), log_likelihood_below: below }
}

/// Whether two values of the unknowns are not the same.
fn differ(problem: &Problem, a: &[f64], b: &[f64]) -> bool {
    let size = |j: usize| a[j].abs().max(b[j].abs()).max(SAME * problem.unknowns[j].guess.abs());
    (0..a.len()).any(|j| (a[j] - b[j]).abs() > SAME * size(j))
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

/// What searches came to, on one coarse grid: from where the estimate is, and from other starts, the best first.
pub struct Searches {
    from_estimate: StartOutcome,
    starts: Vec<StartOutcome>,
}

impl Searches {
    /// Searches from so many other starts, and where the data are not `fitted` from one that comes of a relaxed equation; none
    /// if there is no solution at the estimate.
    pub fn new(run: &RunContext<'_>, count: usize, estimate: &[f64], fitted: bool) -> Option<Searches> {
        // Along one coordinate the stated grid costs little too, where a coarse one has no solution.
        let stated =
            || is_cheap(run.problem).then(|| Self::on_grid(run, usize::MAX, count, estimate, fitted));
        Self::on_grid(run, COARSE, count, estimate, fitted).or_else(|| stated().flatten())
    }

    fn on_grid(
        run: &RunContext<'_>,
        most: usize,
        count: usize,
        estimate: &[f64],
        fitted: bool,
    ) -> Option<Searches> {
        // Starts are searched from at the same time; then nothing is left for systems that are not coupled.
        let reference = run.coarse_reference(most)?.on_threads(Some(1));
        let loss = ReferenceLoss { data: run.data(), reference: &reference };
        // The grid moves the minimum of the estimate too.
        let from_estimate = searched(run, loss, estimate).filter(|found| found.log_likelihood.is_some())?;
        let mut starts = run.problem.starts(count);
        starts.extend(if fitted { None } else { relaxed::start(run) });
        let found =
            parallel::each(parallel::threads(run.threads), &starts, |start| searched(run, loss, start));
        let mut starts: Vec<StartOutcome> = found.into_iter().flatten().collect();
        starts.sort_by(|a, b| b.height().total_cmp(&a.height()));
        Some(Searches { from_estimate, starts })
    }

    /// Where the best minimum is, if it is another one than that of the estimate and better by so much.
    pub fn better(&self, problem: &Problem, outcome: &Outcome, by: f64) -> Option<&[f64]> {
        // The search from an estimate may leave it on another grid: then that was no minimum. One that had not come to its
        // end is left as a matter of course.
        let estimate: Vec<f64> = outcome.unknowns.numbers.iter().map(|number| number.estimate).collect();
        let from_estimate = &self.from_estimate;
        let left = outcome.stop == Stop::Converged && is_far(problem, &estimate, &from_estimate.end);
        let (own, height) = match outcome.log_likelihood.filter(|_| left) {
            Some(log_likelihood) => (&estimate, log_likelihood),
            None => (&from_estimate.end, from_estimate.height()),
        };
        // A search that has not come to its end may still be far better; the method goes on from there.
        let best = self.starts.first().into_iter().chain(Some(from_estimate).filter(|_| left));
        let best = best.max_by(|a, b| a.height().total_cmp(&b.height()))?;
        (best.height() - height > by && differ(problem, own, &best.end)).then_some(&best.end)
    }

    /// Adds what they came to, and the minima among them that fit as well as the estimate; where that was `found_here`, the best
    /// of them is no other.
    pub fn add_to(self, outcome: &mut Outcome, problem: &Problem, found_here: bool) {
        let best = self.starts.iter().map(StartOutcome::height).fold(self.from_estimate.height(), f64::max);
        let mut known = vec![self.from_estimate.end];
        known.push(outcome.unknowns.numbers.iter().map(|number| number.estimate).collect());
        known.extend(self.starts.first().filter(|_| found_here).map(|best| best.end.clone()));
        for start in self.starts.iter().filter(|start| start.converged) {
            let below = best - start.height();
            if below < ALIKE && known.iter().all(|other| differ(problem, other, &start.end)) {
                outcome.minima.push(minimum(problem, &start.end, below));
                known.push(start.end.clone());
            }
        }
        outcome.starts = self.starts;
    }
}

impl StartOutcome {
    fn height(&self) -> f64 {
        self.log_likelihood.unwrap_or(f64::NEG_INFINITY)
    }
}

/// What a search from one start comes to; none if it was interrupted.
fn searched(run: &RunContext<'_>, mut loss: ReferenceLoss<'_>, start: &[f64]) -> Option<StartOutcome> {
    let unknowns = run.problem.unknowns.iter().zip(start);
    let eta: Vec<f64> = unknowns.map(|(unknown, &theta)| unknown.project(unknown.eta_of(theta))).collect();
    let searched = loss.evaluate(&eta).and_then(|evaluation| {
        minimise(&mut loss, evaluation, &mut |iterate| {
            (iterate.step >= ITERATIONS || run.interrupt.is_due()).then_some(Stop::Steps)
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

/// Whether searches from other starts cost next to nothing: along one coordinate.
pub fn is_cheap(problem: &Problem) -> bool {
    problem.coordinates.len() == 1 && problem.states.len() <= FEW_STATES
}
