//! The PDE-constrained optimum of the data loss, with no network: what a perfect method returns.

use super::Job;
use crate::closing::{error_bars, misfits};
use crate::data::observed_tables;
use crate::diagnostic::Result;
use crate::misfit::{DataLoss, TwinLoss};
use crate::observer::{Control, Event, Observer, Phase, Record};
use crate::optimum::{Iterate, MAX_ITERATIONS, Optimum, minimise};
use crate::outcome::{Outcome, ScalarOutcome, Seconds, StateOutcome, Stop};
use crate::problem::Problem;
use crate::twin::Twin;
use crate::uncertainty::{NoiseLevels, Uncertainty};
use crate::verify::classical_fields;
use std::time::Instant;

/// Runs the method.
pub(super) fn run(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    let began = Instant::now();
    let tables = observed_tables(problem, job.seed)?;
    let twin = Twin::new(problem)?;
    let loss = TwinLoss { data: DataLoss::new(problem, &tables), twin: &twin };
    let guess: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.eta_of(unknown.guess)).collect();
    let mut watch = Watch { problem, observer, began, loss_names: loss.data.names() };
    watch.observer.event(&Event::Begin(Phase::Train, MAX_ITERATIONS));
    let start = Instant::now();
    let optimum =
        loss.visit(&guess).and_then(|guess| minimise(&loss, guess, &mut |iterate| watch.step(iterate)));
    watch.observer.event(&Event::End(Phase::Train));
    let seconds = start.elapsed().as_secs_f64();
    let Optimum { visit, observed, stop, steps } = optimum?;
    let noise = NoiseLevels::new(&loss.data, &visit.values);
    let uncertainty = Uncertainty::new(&loss.data, &noise, &observed, &visit.eta);
    let mut outcome = Outcome {
        problem: problem.name.clone(),
        method: job.method.name().to_owned(),
        recipe: problem.training.recipe.name().to_owned(),
        seed: job.seed,
        device: format!("classical solver, {}", twin.describe()),
        precision: "f64".to_owned(),
        stop,
        unknowns: ScalarOutcome::all(problem, &visit.eta),
        states: problem.states.iter().map(|state| StateOutcome::alone(&state.name)).collect(),
        misfits: misfits(&loss.data, None, Some(&visit.terms)),
        losses: watch.loss_names.into_iter().zip(visit.terms).collect(),
        audit: vec![],
        singular_values: vec![],
        noise: noise.observations,
        warnings: vec![],
        pretrain_steps: 0,
        train_steps: steps,
        seconds: Seconds {
            total: began.elapsed().as_secs_f64(),
            pretrain: 0.0,
            train: seconds,
            per_step: seconds / steps as f64,
        },
        fields: classical_fields(problem, &visit.solution)?,
        classical_failure: None,
    };
    error_bars(&mut outcome, uncertainty);
    if outcome.stop == Stop::Converged {
        outcome.unknowns.iter_mut().for_each(|unknown| unknown.data_optimal = Some(unknown.estimate));
    }
    outcome.seconds.total = began.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Reports iterations and knows when to stop.
struct Watch<'a> {
    problem: &'a Problem,
    observer: &'a mut dyn Observer,
    began: Instant,
    loss_names: Vec<String>,
}

impl Watch<'_> {
    fn step(&mut self, iterate: &Iterate<'_>) -> Option<Stop> {
        let unknowns = self.problem.unknowns.iter().zip(iterate.eta);
        let thetas: Vec<f64> = unknowns.map(|(unknown, &eta)| unknown.theta_of(eta)).collect();
        let names: Vec<String> = self.problem.unknowns.iter().map(|unknown| unknown.name.clone()).collect();
        let seconds = self.began.elapsed().as_secs_f64();
        let control = self.observer.event(&Event::Step(Record {
            phase: Phase::Train,
            step: iterate.step,
            steps: MAX_ITERATIONS,
            seconds,
            loss_names: &self.loss_names,
            losses: iterate.terms,
            unknown_names: &names,
            unknowns: &thetas,
            keep: true,
        }));
        match control {
            Control::Stop => Some(Stop::Interrupted),
            Control::Continue => {
                let over = self.problem.training.time_limit.is_some_and(|limit| seconds > limit);
                over.then_some(Stop::TimeLimit)
            }
        }
    }
}
