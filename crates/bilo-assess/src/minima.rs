//! Other values of the unknowns that fit the data as well: mirror images, whole periods, and what searches from other
//! starts come to.

use crate::context::RunContext;
use crate::outcome::{Minimum, Outcome, StartOutcome, Stop};
use bilo_fit::gauss_newton::minimise;
use bilo_problem::diagnostic::ErrorKind;
use bilo_problem::{Formula, Problem, Transform};
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use bilo_reference::solver::ReferenceSolver;
use std::f64::consts::{PI, TAU};

/// Minima whose log-likelihoods differ by less than this explain the data alike.
const ALIKE: f64 = 2.0;

/// Values nearer to each other than this, relative to their size, are one.
const SAME: f64 = 1e-3;

/// Values nearer to each other than so many error bars are one answer.
const APART: f64 = 3.0;

/// Most iterations from one start.
const ITERATIONS: usize = 30;

/// Cells and steps along each coordinate for images and other starts: they are compared on the same coarse grid.
const COARSE: usize = 200;

/// Most images that are looked at.
const MOST_IMAGES: usize = 30;

/// Adds the images of the best fit that fit as well.
pub(crate) fn add_images(outcome: &mut Outcome, run: &RunContext<'_>) {
    let problem = run.problem;
    let Some(reference) = coarse(run) else { return };
    let loss = &ReferenceLoss { data: run.data(), reference: &reference };
    let numbers = outcome.unknowns.numbers.iter();
    let best: Vec<f64> = numbers.map(|number| number.data_optimal.unwrap_or(number.estimate)).collect();
    let Some(height) = height_at(loss, &best) else { return };
    let sd: Vec<f64> = outcome.unknowns.numbers.iter().map(|number| number.sd.unwrap_or(0.0)).collect();
    let far = |image: &Vec<f64>| (0..best.len()).any(|j| (image[j] - best[j]).abs() > APART * sd[j]);
    for image in images(problem, &best).into_iter().filter(far).take(MOST_IMAGES) {
        let Some(other) = height_at(loss, &image).filter(|other| other - height < ALIKE) else { continue };
        outcome.minima.push(minimum(problem, &image, other - height));
    }
}

/// The reference solver on a coarse grid.
fn coarse(run: &RunContext<'_>) -> Option<ReferenceSolver> {
    let problem = Problem { classical: run.problem.classical.at_most(COARSE), ..run.problem.clone() };
    Some(ReferenceSolver::new(&problem).ok()?.interruptible(run.interrupt))
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

/// What searches with the reference solver come to from other starts on a coarse grid, the best first, and the
/// log-likelihood of an estimate on the same grid; none if that cannot be told.
pub fn search_from(run: &RunContext<'_>, count: usize, estimate: &[f64]) -> Option<(Vec<StartOutcome>, f64)> {
    let problem = run.problem;
    let reference = coarse(run)?;
    let mut loss = ReferenceLoss { data: run.data(), reference: &reference };
    let at_estimate = -height_at(&loss, estimate)?;
    let mut found: Vec<StartOutcome> = vec![];
    for start in problem.starts(count) {
        let unknowns = problem.unknowns.iter().zip(&start);
        let eta: Vec<f64> =
            unknowns.map(|(unknown, &theta)| unknown.project(unknown.eta_of(theta))).collect();
        let searched = loss.evaluate(&eta).and_then(|evaluation| {
            minimise(&mut loss, evaluation, &mut |iterate| {
                (iterate.step >= ITERATIONS || run.interrupt.is_due()).then_some(Stop::Steps)
            })
        });
        match searched {
            Ok(optimum) => found.push(StartOutcome {
                start,
                end: problem.thetas(&optimum.evaluation.theta.eta),
                log_likelihood: Some(-height(&loss, &optimum.evaluation)),
                converged: optimum.stop == Stop::Converged,
            }),
            Err(error) if error.kind() == ErrorKind::Interrupted => break,
            Err(_) => found.push(StartOutcome { end: start.clone(), start, ..StartOutcome::default() }),
        }
    }
    let height = |start: &StartOutcome| start.log_likelihood.unwrap_or(f64::NEG_INFINITY);
    found.sort_by(|a, b| height(b).total_cmp(&height(a)));
    Some((found, at_estimate))
}

/// Adds what searches from other starts came to, and the minima among them that fit as well as the estimate.
pub fn add_starts(outcome: &mut Outcome, problem: &Problem, starts: Vec<StartOutcome>, at_estimate: f64) {
    let estimate: Vec<f64> = outcome.unknowns.numbers.iter().map(|number| number.estimate).collect();
    let best = starts.iter().filter_map(|start| start.log_likelihood).fold(at_estimate, f64::max);
    let mut known = vec![estimate];
    for start in starts.iter().filter(|start| start.converged) {
        let Some(below) = start.log_likelihood.map(|found| best - found) else { continue };
        if below < ALIKE && known.iter().all(|other| differ(problem, other, &start.end)) {
            outcome.minima.push(minimum(problem, &start.end, below));
            known.push(start.end.clone());
        }
    }
    outcome.starts = starts;
}
