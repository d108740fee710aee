//! The PDE-constrained optimum of the data loss, with no network: what a perfect method returns.

mod functions;

use super::Method;
use bilo_assess::predictor::ReferencePredictor;
use bilo_assess::{Estimate, Remedy, RunContext};
use bilo_fit::gauss_newton::{self, Iterate};
use bilo_fit::monitor::Monitor;
use bilo_fit::phase::Phase;
use bilo_fit::stop::Stop;
use bilo_problem::diagnostic::Result;
use bilo_problem::theta::Theta;
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use std::time::{Duration, Instant};

/// Cells and steps along each coordinate of a grid that is searched on first.
const COARSE: usize = 200;

/// How long the solution after a search on a coarse grid may take after somebody asked to stop.
const GRACE: Duration = Duration::from_millis(1000);

/// The minimum of the data loss under the exact PDE, by the reference solver.
pub struct Adjoint;

impl Method for Adjoint {
    fn name(&self) -> &'static str {
        "adjoint"
    }

    fn about(&self) -> &'static str {
        "minimise the same data loss with the reference solver alone"
    }

    fn begins_again(&self) -> bool {
        true
    }

    fn solve<'a>(&self, run: &RunContext<'a>, monitor: &mut Monitor<'_>) -> Result<Estimate<'a>> {
        let reference = run.reference.as_ref().map_err(Clone::clone)?;
        let (loss, start) = (ReferenceLoss { data: run.data(), reference }, Instant::now());
        let found = match run.problem.functions.is_empty() {
            true => numbers(run, loss, monitor),
            false => functions::search(run, loss, monitor),
        };
        monitor.leave();
        let Found { evaluation, losses, stop, steps } = found?;
        let device = format!("classical solver, {}", reference.describe());
        Ok(Estimate {
            predictor: Box::new(ReferencePredictor::new(evaluation, device)),
            problem: None,
            stop: monitor.why().filter(|_| stop == Stop::Interrupted).unwrap_or(stop),
            diverged: None,
            losses: monitor.loss_names().iter().cloned().zip(losses).collect(),
            pretrained: (0, 0.0),
            searched: (steps, start.elapsed().as_secs_f64()),
            operator: None,
            learned: None,
            at_guess: None,
            near: vec![],
            notes: vec![],
            warnings: vec![],
            remedy: Remedy::SOLVERS,
        })
    }
}

/// Where a search ended.
struct Found<'a> {
    evaluation: Evaluation<'a>,
    losses: Vec<f64>,
    stop: Stop,
    steps: usize,
}

/// Few scalars: Gauss-Newton, on a coarse grid first where that costs a lot less.
fn numbers<'a>(
    run: &RunContext<'a>,
    loss: ReferenceLoss<'a>,
    monitor: &mut Monitor<'_>,
) -> Result<Found<'a>> {
    monitor.name_losses(loss.data.names());
    monitor.enter(Phase::Train, gauss_newton::MAX_ITERATIONS);
    let guess = Theta::guess(run.problem)?;
    let Some(coarse) = run.cheaper_reference(COARSE) else { return gauss_newton(loss, &guess, 0, monitor) };
    let first = ReferenceLoss { reference: &coarse, ..loss };
    match gauss_newton(first, &guess, 0, monitor) {
        Ok(found) => {
            // Somebody who stops here is told about the solution of the stated grid.
            run.interrupt.grant(GRACE);
            gauss_newton(loss, &found.evaluation.theta, found.steps, monitor)
        }
        Err(error) if error.ends_search() => Err(error),
        Err(_) => gauss_newton(loss, &guess, 0, monitor),
    }
}

/// From some values, after so many steps.
fn gauss_newton<'a>(
    mut loss: ReferenceLoss<'a>,
    from: &Theta,
    steps: usize,
    monitor: &mut Monitor<'_>,
) -> Result<Found<'a>> {
    let problem = loss.data.problem();
    let start = loss.evaluate(from)?;
    let found = gauss_newton::minimise(&mut loss, start, &mut |iterate: &Iterate<'_>| {
        monitor.rare_step(steps + iterate.step, iterate.terms, &problem.thetas(iterate.eta)).stop
    })?;
    let losses = found.evaluation.loss_terms.terms.clone();
    Ok(Found { evaluation: found.evaluation, losses, stop: found.stop, steps: steps + found.steps })
}
