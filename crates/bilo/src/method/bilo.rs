//! BiLO: pre-train the local operator at the guess, then move both levels.

use super::Job;
use crate::data::observed_tables;
use crate::diagnostic::Result;
use crate::level::{Fit, Lower, Upper};
use crate::observer::{Event, Observer};
use crate::operator::LocalOperator;
use crate::outcome::{Outcome, ScalarOutcome, Seconds, Stop};
use crate::problem::{Problem, Table};
use crate::seeds::{Purpose, seed_for};
use crate::train::{Ended, Point, Trainer};
use crate::twin::Twin;
use crate::verify::verify;
use bilo_jet::{Device, cpu};
use std::time::Instant;

/// Runs the method.
pub(super) fn run(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    let began = Instant::now();
    let mut device = cpu(problem.training.precision, job.threads);
    let mut operator = LocalOperator::new(problem, job.seed)?;
    let tables = observed_tables(problem, job.seed)?;
    let lower = Lower::new(problem, &mut operator, device.as_mut(), job.seed)?;
    let upper = Upper::new(problem, &mut operator, device.as_mut(), &tables)?;
    let fit = load_start(problem, job.seed, &mut operator, device.as_mut(), observer)?;

    let mut loss_names = [lower.names(), upper.names()].concat();
    loss_names.extend(fit.iter().flat_map(|fit| fit.names().to_vec()));
    let unknown_names: Vec<String> = problem.unknowns.iter().map(|unknown| unknown.name.clone()).collect();
    let mut point = Point {
        weights: operator.initial_weights(job.seed),
        eta: problem.unknowns.iter().map(|unknown| unknown.eta_of(unknown.guess)).collect(),
    };
    let mut trainer = Trainer {
        device: device.as_mut(),
        problem,
        lower: &lower,
        upper: &upper,
        fit: fit.as_ref(),
        loss_names: &loss_names,
        unknown_names: &unknown_names,
        observer,
        began,
    };
    let pretrained = trainer.pretrain(&mut point);
    let trained = match pretrained.stop {
        Stop::Steps => trainer.train(&mut point),
        _ => Ended { steps: 0, seconds: 0.0, ..pretrained.clone() },
    };
    let verdict = verify(problem, &mut operator, device.as_mut(), &point)?;
    let train_steps = trained.steps;
    Ok(Outcome {
        problem: problem.name.clone(),
        method: job.method.name().to_owned(),
        recipe: problem.training.recipe.name().to_owned(),
        seed: job.seed,
        device: device.description(),
        precision: device.precision().name().to_owned(),
        stop: trained.stop,
        unknowns: scalar_outcomes(problem, &point),
        states: verdict.states,
        losses: loss_names.into_iter().zip(trained.losses).collect(),
        pretrain_steps: pretrained.steps,
        train_steps,
        seconds: Seconds {
            total: began.elapsed().as_secs_f64(),
            pretrain: pretrained.seconds,
            train: trained.seconds,
            per_step: trained.seconds / train_steps.max(1) as f64,
        },
        fields: verdict.fields,
        classical_failure: verdict.classical_failure,
    })
}

/// u_0, the classical solution at the guess, at the points of the PDE; none if
/// pre-training is not asked to fit it or the classical solver cannot.
fn load_start(
    problem: &Problem,
    seed: u64,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    observer: &mut dyn Observer,
) -> Result<Option<Fit>> {
    if !problem.training.pretrain_on_solution || problem.training.pretrain_steps == 0 {
        return Ok(None);
    }
    let guess: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.eta_of(unknown.guess)).collect();
    let twin = match Twin::new(problem) {
        Ok(twin) => twin,
        Err(error) => return Ok(skip_start(observer, &error.headline())),
    };
    let solution = match twin.solve(&guess) {
        Ok(solution) => solution,
        Err(error) => return Ok(skip_start(observer, &error.to_string())),
    };
    observer.event(&Event::Note(&format!("classical solution at the guess: {}", twin.describe())));
    // The first equation that holds throughout the domain; a condition at an end has too few points.
    let number = problem.equations.iter().position(|equation| equation.points.at.is_empty()).unwrap_or(0);
    let columns =
        problem.equations[number].points.columns(problem, seed_for(seed, Purpose::EquationPoints, number))?;
    let table =
        |state| Table { coordinates: columns.clone(), values: solution.state(state, &columns), sigma: None };
    let tables: Vec<Table> = (0..problem.states.len()).map(table).collect();
    Fit::new(problem, operator, device, &tables).map(Some)
}

fn skip_start(observer: &mut dyn Observer, reason: &str) -> Option<Fit> {
    observer.event(&Event::Note(&format!("pre-training without the classical solution: {reason}")));
    None
}

fn scalar_outcomes(problem: &Problem, point: &Point) -> Vec<ScalarOutcome> {
    let outcome = |(unknown, &eta): (&crate::problem::Unknown, &f64)| ScalarOutcome {
        name: unknown.name.clone(),
        unit: unknown.unit.clone(),
        guess: unknown.guess,
        estimate: unknown.theta_of(eta),
        truth: unknown.truth,
    };
    problem.unknowns.iter().zip(&point.eta).map(outcome).collect()
}
