//! The PDE-constrained optimum of the data loss, with no network: what a perfect method returns.

use super::Job;
use bilo_assess::assess::{error_bars, misfits};
use bilo_assess::outcome::{Outcome, ScalarOutcome, Seconds};
use bilo_assess::picture::{self, Solutions};
use bilo_assess::uncertainty::{NoiseLevels, Uncertainty};
use bilo_assess::verify::classical_fields;
use bilo_assess::{function_score, function_uncertainty};
use bilo_fit::data_loss::DataLoss;
use bilo_fit::gauss_newton::{self, Iterate, Optimum};
use bilo_fit::observer::{Control, Event, Observer, Phase, Record};
use bilo_fit::sensitivities::Sensitivities;
use bilo_fit::stop::Stop;
use bilo_problem::diagnostic::Result;
use bilo_problem::function::Lattice;
use bilo_problem::theta::Theta;
use bilo_problem::{GradientMode, Problem};
use bilo_reference::data::observed_tables;
use bilo_reference::descent::{self, Descent, Target};
use bilo_reference::misfit::{Evaluation, ReferenceLoss};
use bilo_reference::solver::ReferenceSolver;
use std::time::Instant;

/// Runs the method.
pub(super) fn run(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    let began = Instant::now();
    let tables = observed_tables(problem, job.seed)?;
    let reference = ReferenceSolver::new(problem)?;
    let loss = ReferenceLoss { data: DataLoss::new(problem, &tables), reference: &reference };
    let start = Instant::now();
    let mut watch = Watch { problem, observer, began };
    let found = match problem.functions.is_empty() {
        true => gauss_newton(loss, &mut watch)?,
        false => lbfgs(loss, &mut watch)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let Found { evaluation, observed, losses, stop, steps } = found;
    let noise = NoiseLevels::new(&loss.data, &evaluation.sites, &evaluation.values)?;
    let mut outcome = Outcome {
        device: format!("classical solver, {}", reference.describe()),
        stop,
        unknowns: ScalarOutcome::all(problem, &evaluation.theta.eta),
        misfits: misfits(&loss.data, &evaluation.sites, None, Some(&evaluation.values))?,
        losses,
        noise: noise.observations.clone(),
        train_steps: steps,
        seconds: Seconds { train: seconds, per_step: seconds / steps as f64, ..Seconds::default() },
        fields: classical_fields(problem, &evaluation.solution)?,
        ..Outcome::begun(problem, job.method.name(), job.seed)
    };
    for (function, values) in problem.functions.iter().zip(&evaluation.theta.functions) {
        let lattice = Lattice::new(function);
        let mut estimate = |columns: &[&[f64]]| Ok(lattice.sample(values, columns));
        outcome.functions.push(function_score::outcome(
            problem,
            function,
            &mut estimate,
            GradientMode::Exact.name(),
        )?);
        function_score::add_fields(&mut outcome.fields, problem, function, &mut estimate)?;
        function_score::compare_range(&mut outcome, problem, function);
    }
    match observed {
        Some(observed) => {
            error_bars(&mut outcome, Uncertainty::new(problem, &noise, &observed, &evaluation.theta.eta));
        }
        None => function_uncertainty::add(&mut outcome, &loss.data, &evaluation, &noise),
    }
    let solutions = Solutions { network: None, classical: Some(&evaluation.solution), tables: &tables };
    picture::draw(problem, solutions, &mut outcome);
    if outcome.stop == Stop::Converged {
        outcome.unknowns.iter_mut().for_each(|unknown| unknown.data_optimal = Some(unknown.estimate));
    }
    outcome.seconds.total = began.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Where a search ended.
struct Found<'a> {
    evaluation: Evaluation<'a>,
    /// The observed quantities with their derivatives by the scalars, where these are all that is unknown.
    observed: Option<Vec<Sensitivities>>,
    losses: Vec<(String, f64)>,
    stop: Stop,
    steps: usize,
}

/// Few scalars: Gauss-Newton.
fn gauss_newton<'a>(mut loss: ReferenceLoss<'a>, watch: &mut Watch<'_>) -> Result<Found<'a>> {
    let guess = Theta::guess(loss.data.problem())?;
    let names = loss.data.names();
    watch.observer.event(&Event::Begin(Phase::Train, gauss_newton::MAX_ITERATIONS));
    let found = loss.evaluate(&guess).and_then(|guess| {
        gauss_newton::minimise(&mut loss, guess, &mut |iterate| {
            watch.step(iterate, &names, gauss_newton::MAX_ITERATIONS)
        })
    });
    watch.observer.event(&Event::End(Phase::Train));
    let Optimum { evaluation, stop, steps } = found?;
    let observed = loss.slopes(&evaluation)?;
    let losses = names.into_iter().zip(evaluation.loss_terms.terms.clone()).collect();
    Ok(Found { evaluation, observed: Some(observed), losses, stop, steps })
}

/// Functions: L-BFGS.
fn lbfgs<'a>(loss: ReferenceLoss<'a>, watch: &mut Watch<'_>) -> Result<Found<'a>> {
    let guess = Theta::guess(loss.data.problem())?;
    let target = Target::new(loss)?;
    let names = target.names();
    watch.observer.event(&Event::Begin(Phase::Train, descent::MAX_ITERATIONS));
    let found = descent::descend(&target, &guess, &mut |iterate| {
        watch.step(iterate, &names, descent::MAX_ITERATIONS)
    });
    watch.observer.event(&Event::End(Phase::Train));
    let Descent { end, stop, steps } = found?;
    let losses = names.into_iter().zip(end.terms).collect();
    Ok(Found { evaluation: end.evaluation, observed: None, losses, stop, steps })
}

/// Reports iterations and knows when to stop.
struct Watch<'a> {
    problem: &'a Problem,
    observer: &'a mut dyn Observer,
    began: Instant,
}

impl Watch<'_> {
    fn step(&mut self, iterate: &Iterate<'_>, loss_names: &[String], steps: usize) -> Option<Stop> {
        let unknowns = self.problem.unknowns.iter().zip(iterate.eta);
        let thetas: Vec<f64> = unknowns.map(|(unknown, &eta)| unknown.theta_of(eta)).collect();
        let names = self.problem.unknown_names();
        let seconds = self.began.elapsed().as_secs_f64();
        let control = self.observer.event(&Event::Step(Record {
            phase: Phase::Train,
            step: iterate.step,
            steps,
            seconds,
            loss_names,
            losses: iterate.terms,
            unknown_names: &names,
            unknowns: &thetas,
            keep: true,
        }));
        match control {
            Control::Stop => Some(Stop::Interrupted),
            Control::Continue | Control::Keep => {
                let over = self.problem.training.time_limit.is_some_and(|limit| seconds > limit);
                over.then_some(Stop::TimeLimit)
            }
        }
    }
}
