//! The shipped problems, trained as a user would, against their truths. The tolerances are the
//! project's targets: 1 % for every unknown, 0.01 for the toy problem within 80 iterations.

use bilo::data::observed_tables;
use bilo::observer::{Control, Event, Observer, Phase, Silent};
use bilo::outcome::Outcome;
use bilo::problem::{Overrides, Problem};
use bilo::{Job, run};
use std::path::Path;

fn outcome(text: &str) -> Outcome {
    let problem = Problem::from_toml("shipped", text, Path::new("."), &Overrides::default())
        .expect("a shipped problem");
    run(&problem, &Job::default(), &mut Silent).expect("it runs")
}

fn assert_within(outcome: &Outcome, tolerance: f64, state_tolerance: f64) {
    for unknown in &outcome.unknowns {
        let error = unknown.relative_error().expect("a truth");
        assert!(error < tolerance, "{}: {} is off by {error:.2e}", unknown.name, unknown.estimate);
    }
    for state in &outcome.states {
        let distance = state.relative_l2_vs_classical.expect("a classical solution");
        assert!(distance < state_tolerance, "{} is off by {distance:.2e}", state.name);
    }
    let guess = &outcome.audit[0];
    assert!(guess.at == "guess" && guess.cosine > 0.99, "{guess:?}");
    assert_eq!(outcome.warnings, Vec::<String>::new());
}

#[test]
fn fisher_kpp() {
    let outcome = outcome(include_str!("../../../problems/fisher-kpp.toml"));
    assert_within(&outcome, 1e-2, 5e-3);
}

#[test]
fn poisson_scalar() {
    let outcome = outcome(include_str!("../../../problems/poisson-scalar.toml"));
    assert_within(&outcome, 1e-2, 5e-3);
}

#[test]
fn advection_diffusion() {
    let outcome = outcome(include_str!("../../../problems/advection-diffusion.toml"));
    assert_within(&outcome, 1e-2, 5e-3);
}

#[test]
fn two_species() {
    let outcome = outcome(include_str!("../../../problems/two-species.toml"));
    assert_within(&outcome, 1e-2, 5e-3);
}

/// A shock is in the data, and another one comes out when the initial value found is solved for again: within
/// 5 % of the data. The networks' own solution is smooth, with a layer where the shock is. Half the steps of a
/// user's run, for time.
#[test]
fn burgers_initial_with_a_moving_shock() {
    let steps = ["train.pretrain-steps=500", "train.train-steps=2000"].map(String::from).to_vec();
    let text = include_str!("../../../problems/burgers-initial-2.toml");
    let problem =
        Problem::from_toml("shipped", text, Path::new("."), &Overrides { recipe: None, set: steps })
            .expect("a shipped problem");
    let outcome = run(&problem, &Job::default(), &mut Silent).expect("it runs");
    let f = &outcome.functions[0];
    let (error, of_guess) = (f.relative_l2_error.unwrap(), f.relative_l2_error_of_guess.unwrap());
    assert!(error < of_guess / 3.0, "f is off by {error:.2e}, the guess by {of_guess:.2e}");
    let data = &observed_tables(&problem, 0).unwrap()[0].values;
    let mean_square = data.iter().map(|value| value * value).sum::<f64>() / data.len() as f64;
    let relative = (outcome.misfits[0].classical.unwrap() / mean_square).sqrt();
    assert!(relative < 0.05, "solved again, f gives data off by {relative:.2e}");
    let again = outcome.fields.arrays.iter().find(|field| field.name == "u_classical").unwrap();
    let at_the_end: Vec<f64> = again.values.iter().skip(100).step_by(101).copied().collect();
    let steepest = at_the_end.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f64::max);
    assert!(steepest > 1.0, "the largest fall between neighbouring nodes is {steepest}");
}

/// Watches the distance of the unknowns from the truth.
struct Distance {
    truth: Vec<f64>,
    by_iteration: Vec<f64>,
}

impl Observer for Distance {
    fn event(&mut self, event: &Event<'_>) -> Control {
        if let Event::Step(record) = event
            && record.phase == Phase::Train
        {
            let errors = record.unknowns.iter().zip(&self.truth).map(|(theta, truth)| (theta - truth).abs());
            self.by_iteration.push(errors.fold(0.0, f64::max));
        }
        Control::Continue
    }
}

/// The paper: "below .01 parameter error in less than 80 iterations". Adam's own path on the exact
/// objective crosses 0.01 at iteration 65 with a rate of 0.05, comes back and stays below from 90 on.
fn assert_toy(text: &str) {
    let problem =
        Problem::from_toml("toy", text, Path::new("."), &Overrides::default()).expect("a shipped problem");
    let mut distance = Distance { truth: vec![0.0, 1.0], by_iteration: vec![] };
    let outcome = run(&problem, &Job::default(), &mut distance).expect("it runs");
    let closest =
        distance.by_iteration[..80].iter().fold(f64::INFINITY, |closest, &error| closest.min(error));
    assert!(closest < 1e-2, "closest within 80 iterations: {closest:.2e}");
    assert!(
        distance.by_iteration[120..].iter().all(|&error| error < 1e-2),
        "{:?}",
        &distance.by_iteration[120..]
    );
    assert_eq!(outcome.pretrain_steps, 1000);
    assert_within(&outcome, 5e-3, 2e-2);
}

#[test]
fn bpn_toy_within_80_iterations() {
    assert_toy(include_str!("../../../problems/bpn-toy.toml"));
}

#[test]
fn bpn_toy_soft_within_80_iterations() {
    assert_toy(include_str!("../../../problems/bpn-toy-soft.toml"));
}
