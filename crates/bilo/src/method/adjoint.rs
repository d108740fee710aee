//! The PDE-constrained optimum of the data loss, with no network: what a perfect method returns.

use super::Job;
use crate::band;
use crate::closing::{error_bars, misfits};
use crate::data::observed_tables;
use crate::descent::{self, Descent, Target};
use crate::diagnostic::Result;
use crate::function::{Lattice, score};
use crate::misfit::{DataLoss, TwinLoss, Visit};
use crate::observer::{Control, Event, Observer, Phase, Record};
use crate::optimum::{self, Iterate, Optimum};
use crate::outcome::{Outcome, ScalarOutcome, Seconds, Stop};
use crate::picture::{self, Solutions};
use crate::problem::{GradientMode, Problem};
use crate::theta::Theta;
use crate::twin::{Twin, WithSlopes};
use crate::uncertainty::{NoiseLevels, Uncertainty};
use crate::verify::classical_fields;
use std::time::Instant;

/// Runs the method.
pub(super) fn run(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    let began = Instant::now();
    let tables = observed_tables(problem, job.seed)?;
    let twin = Twin::new(problem)?;
    let loss = TwinLoss { data: DataLoss::new(problem, &tables), twin: &twin };
    let start = Instant::now();
    let mut watch = Watch { problem, observer, began };
    let found = match problem.functions.is_empty() {
        true => gauss_newton(loss, &mut watch)?,
        false => lbfgs(loss, &mut watch)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let Found { visit, observed, losses, stop, steps } = found;
    let noise = NoiseLevels::new(&loss.data, &visit.sites, &visit.values)?;
    let mut outcome = Outcome {
        device: format!("classical solver, {}", twin.describe()),
        stop,
        unknowns: ScalarOutcome::all(problem, &visit.theta.eta),
        misfits: misfits(&loss.data, &visit.sites, None, Some(&visit.values))?,
        losses,
        noise: noise.observations.clone(),
        train_steps: steps,
        seconds: Seconds { train: seconds, per_step: seconds / steps as f64, ..Seconds::default() },
        fields: classical_fields(problem, &visit.solution)?,
        ..Outcome::begun(problem, job.method.name(), job.seed)
    };
    for (function, values) in problem.functions.iter().zip(&visit.theta.functions) {
        let lattice = Lattice::new(function);
        let mut estimate = |columns: &[&[f64]]| Ok(lattice.sample(values, columns));
        outcome.functions.push(score::outcome(problem, function, &mut estimate, GradientMode::Exact.name())?);
        score::add_fields(&mut outcome.fields, problem, function, &mut estimate)?;
        score::compare_range(&mut outcome, problem, function);
    }
    match observed {
        Some(observed) => {
            error_bars(&mut outcome, Uncertainty::new(problem, &noise, &observed, &visit.theta.eta));
        }
        None => band::add(&mut outcome, &loss.data, &visit, &noise),
    }
    let solutions = Solutions { network: None, classical: Some(&visit.solution), tables: &tables };
    picture::draw(problem, solutions, &mut outcome);
    if outcome.stop == Stop::Converged {
        outcome.unknowns.iter_mut().for_each(|unknown| unknown.data_optimal = Some(unknown.estimate));
    }
    outcome.seconds.total = began.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Where a search ended.
struct Found<'a> {
    visit: Visit<'a>,
    /// The observed quantities with their derivatives by the scalars, where these are all that is unknown.
    observed: Option<Vec<WithSlopes>>,
    losses: Vec<(String, f64)>,
    stop: Stop,
    steps: usize,
}

/// Few scalars: Gauss-Newton.
fn gauss_newton<'a>(mut loss: TwinLoss<'a>, watch: &mut Watch<'_>) -> Result<Found<'a>> {
    let guess = Theta::guess(loss.data.problem())?;
    let names = loss.data.names();
    watch.observer.event(&Event::Begin(Phase::Train, optimum::MAX_ITERATIONS));
    let found = loss.visit(&guess).and_then(|guess| {
        optimum::minimise(&mut loss, guess, &mut |iterate| {
            watch.step(iterate, &names, optimum::MAX_ITERATIONS)
        })
    });
    watch.observer.event(&Event::End(Phase::Train));
    let Optimum { visit, stop, steps } = found?;
    let observed = loss.slopes(&visit)?;
    let losses = names.into_iter().zip(visit.judged.terms.clone()).collect();
    Ok(Found { visit, observed: Some(observed), losses, stop, steps })
}

/// Functions: L-BFGS.
fn lbfgs<'a>(loss: TwinLoss<'a>, watch: &mut Watch<'_>) -> Result<Found<'a>> {
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
    Ok(Found { visit: end.visit, observed: None, losses, stop, steps })
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
