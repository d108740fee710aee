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
use bilo_reference::misfit::{Evaluation, ReferenceLoss};

pub(super) fn search<'a>(
    run: &RunContext<'_>,
    loss: ReferenceLoss<'a>,
    monitor: &mut Monitor<'_>,
) -> Result<Found<'a>> {
    if let Some(near) = run.near {
        return on_grid(run, loss, &Start { theta: near, near: None, steps: 0 }, monitor);
    }
    let guess = Theta::guess(loss.data.problem())?;
    let guess = Start { theta: &guess, near: None, steps: 0 };
    let Some(reference) = run.cheaper_reference(COARSE) else { return on_grid(run, loss, &guess, monitor) };
    let coarse = on_grid(run, ReferenceLoss { reference: &reference, ..loss }, &guess, monitor)?;
    let here = &coarse.evaluation;
    on_grid(run, loss, &Start { theta: &here.theta, near: Some(here), steps: coarse.steps }, monitor)
}

/// Where a search begins, a solution nearby if there is one, and the steps that led there.
struct Start<'s> {
    theta: &'s Theta,
    near: Option<&'s Evaluation<'s>>,
    steps: usize,
}

fn on_grid<'a>(
    run: &RunContext<'_>,
    loss: ReferenceLoss<'a>,
    start: &Start<'_>,
    monitor: &mut Monitor<'_>,
) -> Result<Found<'a>> {
    let target = Target::new(loss)?;
    monitor.name_losses(target.names());
    monitor.enter(Phase::Train, start.steps + MOST);
    let problem = loss.data.problem();
    let watch = |monitor: &mut Monitor<'_>, before: usize, iterate: &Iterate<'_>| {
        monitor.rare_step(before + iterate.step, iterate.terms, &problem.thetas(iterate.eta)).stop
    };
    let begun = target.evaluate_near(start.theta, start.near)?;
    let found = gauss_newton(run, &target, begun, &mut |iterate| watch(monitor, start.steps, iterate))?;
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
