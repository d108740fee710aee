//! Functions at the nodes of their grids: Gauss-Newton, and L-BFGS where there are too many data or values for that. On a
//! coarse grid first where that is cheaper.

use super::Found;
use bilo_assess::RunContext;
use bilo_assess::function_search::{MOST, gauss_newton};
use bilo_assess::function_uncertainty::COARSE;
use bilo_fit::gauss_newton::Iterate;
use bilo_fit::monitor::Monitor;
use bilo_fit::phase::Phase;
use bilo_fit::stop::Stop;
use bilo_problem::diagnostic::Result;
use bilo_problem::theta::Theta;
use bilo_reference::descent::{self, ObjectiveAt, Target};
use bilo_reference::misfit::ReferenceLoss;

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
    monitor.enter(Phase::Train, start.steps + MOST);
    let problem = loss.data.problem();
    let watch = |monitor: &mut Monitor<'_>, before: usize, iterate: &Iterate<'_>| {
        monitor.rare_step(before + iterate.step, iterate.terms, &problem.thetas(iterate.eta)).stop
    };
    let found =
        gauss_newton(run, &target, &start.theta, &mut |iterate| watch(monitor, start.steps, iterate))?;
    let before = start.steps + found.steps;
    if let Some(stop) = found.stop {
        return Ok(ended(found.end, stop, before));
    }
    monitor.enter(Phase::Train, before + descent::MAX_ITERATIONS);
    let here = found.end.evaluation.theta;
    let found = descent::descend(&target, &here, &mut |iterate| watch(monitor, before, iterate))?;
    Ok(ended(found.end, found.stop, before + found.steps))
}

fn ended(end: ObjectiveAt<'_>, stop: Stop, steps: usize) -> Found<'_> {
    Found { evaluation: end.evaluation, losses: end.terms, stop, steps, starts: vec![] }
}
