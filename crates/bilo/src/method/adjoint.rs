//! The PDE-constrained optimum of the data loss, with no network: what a perfect method returns.

mod functions;

use super::Method;
use bilo_assess::minima::{BETTER, OTHER_STARTS, Origin, Searches};
use bilo_assess::outcome::StartOutcome;
use bilo_assess::predictor::ReferencePredictor;
use bilo_assess::{Estimate, Remedy, RunContext, explains_little, is_misfit};
use bilo_fit::gauss_newton::{self, Iterate};
use bilo_fit::monitor::Monitor;
use bilo_fit::phase::Phase;
use bilo_fit::stop::Stop;
use bilo_problem::diagnostic::Result;
use bilo_problem::theta::Theta;
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use std::time::{Duration, Instant};

/// Iterations on the stated grid where the data are not fitted: enough for a minimum that the coarse grid has too.
const FEW: usize = 5;

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
        let Found { evaluation, losses, stop, steps, starts } = found?;
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
            starts,
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
    /// What searches from other starts came to.
    starts: Vec<StartOutcome>,
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
    let coarse = run.cheaper_reference(run.coarse());
    let Some(coarse) = coarse else { return gauss_newton(loss, &guess, monitor) };
    let first = ReferenceLoss { reference: &coarse, ..loss };
    match gauss_newton(first, &guess, monitor) {
        Ok(found) => {
            let (starts, theta) = elsewhere(run, &found.evaluation, monitor);
            // Somebody who stops here is told about the solution of the stated grid.
            run.interrupt.grant(GRACE);
            let near = Some(&found.evaluation).filter(|found| found.theta == theta);
            let from = loss.evaluate_near(&theta, near)?;
            let most = if is_misfit(run, &from) { FEW } else { usize::MAX };
            let fine = gauss_newton_from(loss, from, (found.steps, most), monitor)?;
            Ok(Found { starts, ..fine })
        }
        Err(error) if error.ends_search() => Err(error),
        Err(_) => gauss_newton(loss, &guess, monitor),
    }
}

/// Where to go on from the end of a search on a coarse grid: a finer one is no use for data that are not fitted there, and
/// other starts may lead to a better place.
fn elsewhere(
    run: &RunContext<'_>,
    found: &Evaluation<'_>,
    monitor: &mut Monitor<'_>,
) -> (Vec<StartOutcome>, Theta) {
    let here = found.theta.clone();
    let is_fitted = !is_misfit(run, found) && !explains_little(run, found);
    if run.problem.training.starts.is_some() || run.interrupt.is_due() || is_fitted {
        return (vec![], here);
    }
    monitor.note(&format!("the data are not fitted: searching from {OTHER_STARTS} other starts"));
    let origin = Origin::misfit(run.problem.thetas(&here.eta));
    let Some(searches) = Searches::new(run, 0..OTHER_STARTS, &origin) else { return (vec![], here) };
    let (starts, place) = searches.best(run.problem, BETTER);
    let Some(place) = place else { return (starts, here) };
    let unknowns = run.problem.unknowns.iter().zip(&place);
    let eta = unknowns.map(|(unknown, &theta)| unknown.project(unknown.eta_of(theta))).collect();
    (starts, Theta { eta, ..here })
}

/// From some values.
fn gauss_newton<'a>(loss: ReferenceLoss<'a>, from: &Theta, monitor: &mut Monitor<'_>) -> Result<Found<'a>> {
    let from = loss.evaluate(from)?;
    gauss_newton_from(loss, from, (0, usize::MAX), monitor)
}

/// After so many steps, so many more at most.
fn gauss_newton_from<'a>(
    mut loss: ReferenceLoss<'a>,
    from: Evaluation<'a>,
    (steps, most): (usize, usize),
    monitor: &mut Monitor<'_>,
) -> Result<Found<'a>> {
    let problem = loss.data.problem();
    let found = gauss_newton::minimise(&mut loss, from, &mut |iterate: &Iterate<'_>| {
        let said = monitor.rare_step(steps + iterate.step, iterate.terms, &problem.thetas(iterate.eta)).stop;
        said.or((iterate.step >= most).then_some(Stop::Steps))
    })?;
    let losses = found.evaluation.loss_terms.terms.clone();
    Ok(Found {
        evaluation: found.evaluation,
        losses,
        stop: found.stop,
        steps: steps + found.steps,
        starts: vec![],
    })
}
