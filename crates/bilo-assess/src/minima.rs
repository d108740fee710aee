//! Other values of the unknowns that fit the data as well: mirror images, whole periods, and what searches from other
//! starts come to.

mod same;
mod searches;

use crate::context::RunContext;
use crate::outcome::{Minimum, Outcome};
use bilo_problem::{Formula, Problem, Transform};
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use searches::{ITERATIONS, searched};
pub use searches::{Origin, Searches, is_cheap};
use std::f64::consts::{PI, TAU};

/// Minima whose log-likelihoods differ by less than this explain the data alike.
const ALIKE: f64 = 2.0;

/// Starts beside the guess where the data are not fitted, or where they cost next to nothing, and nobody asked for more or fewer.
pub const OTHER_STARTS: usize = 8;

/// A log-likelihood has to be better by so much to be another answer.
pub const BETTER: f64 = 2.0;

/// Values nearer to each other than this, relative to their size, are one.
const SAME: f64 = 1e-3;

/// Values nearer to each other than so many error bars are one answer.
const APART: f64 = 3.0;

/// Most images that are looked at.
const MOST_IMAGES: usize = 30;

/// Adds the images of the best fit that fit as well.
pub(crate) fn add_images(outcome: &mut Outcome, run: &RunContext<'_>) {
    let problem = run.problem;
    let Some(reference) = run.coarse_reference(run.coarse()) else { return };
    let loss = &ReferenceLoss { data: run.data(), reference: &reference };
    let numbers = outcome.unknowns.numbers.iter();
    let best: Vec<f64> = numbers.map(|number| number.data_optimal.unwrap_or(number.estimate)).collect();
    // A coarse grid moves the minimum too, and images are those of the minimum there.
    let Some(found) = searched(run, *loss, &best, ITERATIONS) else { return };
    let (best, Some(height)) = (found.end, found.log_likelihood.map(|found| -found)) else { return };
    let sd: Vec<f64> = outcome.unknowns.numbers.iter().map(|number| number.sd.unwrap_or(0.0)).collect();
    let far = |image: &Vec<f64>| (0..best.len()).any(|j| (image[j] - best[j]).abs() > APART * sd[j]);
    for image in images(problem, &best).into_iter().filter(far).take(MOST_IMAGES) {
        // One that fits better by far is no image of the best fit: on this grid that is none.
        let below = height_at(loss, &image).map(|other| other - height);
        let alike = below.filter(|below| (-ALIKE..ALIKE).contains(below));
        outcome.minima.extend(alike.map(|below| minimum(problem, &best, &image, below)));
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

/// Other values than the best ones.
fn minimum(problem: &Problem, best: &[f64], thetas: &[f64], below: f64) -> Minimum {
    let same_equations = same::state_the_same(problem, best, thetas);
    let names = problem.unknowns.iter().map(|unknown| unknown.name.clone()).zip(thetas.iter().copied());
    // Where the equations are the same only what is named otherwise tells anything.
    let size = |j: usize| best[j].abs().max(thetas[j].abs());
    let renamed = |j: usize| (thetas[j] - best[j]).abs() > SAME * size(j);
    let told = names.enumerate().filter(|(j, _)| !same_equations || renamed(*j));
    let unknowns = told.map(|(_, named)| named).collect();
    Minimum { unknowns, log_likelihood_below: below, same_equations }
}

/// Whether two values of the unknowns are not the same.
fn differ(problem: &Problem, a: &[f64], b: &[f64]) -> bool {
    let size = |j: usize| a[j].abs().max(b[j].abs()).max(SAME * problem.unknowns[j].guess.abs());
    (0..a.len()).any(|j| (a[j] - b[j]).abs() > SAME * size(j))
}
