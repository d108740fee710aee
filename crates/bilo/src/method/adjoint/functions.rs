//! Functions at the nodes of their grids: Gauss-Newton, and L-BFGS where there are too many data or values for that. On a
//! coarse grid first where that is cheaper.

use super::Found;
use bilo_assess::RunContext;
use bilo_assess::function_uncertainty::{COARSE, Derivatives, FunctionFit, weighted_residuals};
use bilo_fit::gauss_newton::Iterate;
use bilo_fit::monitor::Monitor;
use bilo_fit::phase::Phase;
use bilo_fit::stop::Stop;
use bilo_problem::diagnostic::Result;
use bilo_problem::theta::Theta;
use bilo_reference::descent::{self, ObjectiveAt, Target};
use bilo_reference::misfit::ReferenceLoss;

/// Most steps of Gauss-Newton; if these are not enough, L-BFGS goes on ..
const MOST: usize = 25;

/// .. unless the last step promised no more of the logarithm of the likelihood than this: then the end is near, and so many steps are
/// enough.
const NEARLY: f64 = 1.0;
const MOST_TO_THE_END: usize = 50;

/// Converged when the logarithm of the likelihood rises by less than this ..
const LITTLE: f64 = 1e-4;

/// .. or cannot be made to rise, and should not by more than this.
const NOTHING: f64 = 0.05;

/// Derivatives serve as long as a step gains this part of what they promise.
const AS_PROMISED: f64 = 0.8;

/// The shortest part of a step that is tried.
const SHORTEST: f64 = 1e-3;

pub(super) fn search<'a>(
    run: &RunContext<'_>,
    loss: ReferenceLoss<'a>,
    monitor: &mut Monitor<'_>,
) -> Result<Found<'a>> {
    if let Some(near) = run.near {
        return on_grid(run, loss, &Start { theta: near.clone(), steps: 0 }, monitor);
    }
    let mut so_far = Start { theta: Theta::guess(loss.data.problem())?, steps: 0 };
    if let Some(reference) = run.cheaper_reference(COARSE) {
        let coarse = on_grid(run, ReferenceLoss { reference: &reference, ..loss }, &so_far, monitor)?;
        so_far = Start { theta: coarse.evaluation.theta, steps: coarse.steps };
    }
    on_grid(run, loss, &so_far, monitor)
}

/// Where a search begins, and the steps that led there.
struct Start {
    theta: Theta,
    steps: usize,
}

fn on_grid<'a>(
    run: &RunContext<'_>,
    loss: ReferenceLoss<'a>,
    start: &Start,
    monitor: &mut Monitor<'_>,
) -> Result<Found<'a>> {
    let target = Target::new(loss)?;
    monitor.name_losses(target.names());
    let (steps, here) = match gauss_newton(run, &target, start, monitor)? {
        Newton::Ended(found) => return Ok(found),
        Newton::At(here, steps) => (start.steps + steps, here.evaluation.theta),
    };
    monitor.enter(Phase::Train, steps + descent::MAX_ITERATIONS);
    let problem = loss.data.problem();
    let found = descent::descend(&target, &here, &mut |iterate: &Iterate<'_>| {
        monitor.rare_step(steps + iterate.step, iterate.terms, &problem.thetas(iterate.eta)).stop
    })?;
    Ok(ended(found.end, found.stop, steps + found.steps))
}

/// What came of Gauss-Newton.
enum Newton<'a> {
    Ended(Found<'a>),
    /// Where it went, in so many steps, without an end.
    At(ObjectiveAt<'a>, usize),
}

fn gauss_newton<'a>(
    run: &RunContext<'_>,
    target: &Target<'a>,
    start: &Start,
    monitor: &mut Monitor<'_>,
) -> Result<Newton<'a>> {
    let (mut nets, mut here) = (target.nets(&start.theta)?, target.evaluate(&start.theta)?);
    monitor.enter(Phase::Train, start.steps + MOST);
    // The loss is 2/N times minus the logarithm of the likelihood, or moves as that does where it is small.
    let unit = 2.0 / run.data().joint().count().max(1.0);
    let mut derivatives: Option<Derivatives> = None;
    for step in 1..=MOST_TO_THE_END {
        let eta = run.problem.thetas(&here.evaluation.theta.eta);
        if let Some(stop) = monitor.rare_step(start.steps + step, &here.terms, &eta).stop {
            return Ok(Newton::Ended(ended(here, stop, start.steps + step)));
        }
        let fresh = derivatives.is_none();
        if fresh {
            derivatives = Derivatives::new(run, &here.evaluation)?;
        }
        let Some(known) = &derivatives else { return Ok(Newton::At(here, step - 1)) };
        let Some(fit) = FunctionFit::with(run, &here.evaluation, known)? else {
            return Ok(Newton::At(here, step - 1));
        };
        let residuals = weighted_residuals(&here.evaluation);
        let promised = fit.expected_gain(&residuals);
        let change = fit.newton_step(&here.evaluation.theta, &residuals);
        let log_likelihood = unit * here.total.abs();
        let mut gain = 0.0;
        if let Some((next, moved)) = descended(target, &here, &nets, &change)? {
            gain = here.total - next.total;
            (here, nets) = (next, moved);
        }
        match gain <= LITTLE * log_likelihood {
            true if promised <= NOTHING * log_likelihood => {
                return Ok(Newton::Ended(ended(here, Stop::Converged, start.steps + step)));
            }
            true if fresh => return Ok(Newton::At(here, step)),
            _ if step >= MOST && promised > NEARLY * log_likelihood => return Ok(Newton::At(here, step)),
            _ if gain < AS_PROMISED * promised => derivatives = None,
            _ => {}
        }
    }
    Ok(Newton::At(here, MOST_TO_THE_END))
}

/// A part of a change that makes the loss no larger, and `net` of the functions there; none if there is no such.
fn descended<'a>(
    target: &Target<'a>,
    here: &ObjectiveAt<'a>,
    nets: &[Vec<f64>],
    change: &Theta,
) -> Result<Option<(ObjectiveAt<'a>, Vec<Vec<f64>>)>> {
    let mut part = 1.0;
    while part >= SHORTEST {
        let (theta, moved) = target.moved(&here.evaluation.theta, nets, change, part);
        match target.evaluate(&theta) {
            Ok(there) if there.total <= here.total => return Ok(Some((there, moved))),
            Err(error) if error.ends_search() => return Err(error),
            // Too far, where the equations may have no solution.
            _ => part *= 0.5,
        }
    }
    Ok(None)
}

fn ended(end: ObjectiveAt<'_>, stop: Stop, steps: usize) -> Found<'_> {
    Found { evaluation: end.evaluation, losses: end.terms, stop, steps, starts: vec![] }
}
