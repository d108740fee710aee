//! The shipped problems, trained as a user would, against their truths. The tolerances are the
//! project's targets: 1 % for every unknown, 0.01 for the toy problem within 80 iterations.

use bilo::data::observed_tables;
use bilo::observer::{Control, Event, Observer, Phase, Silent};
use bilo::outcome::Outcome;
use bilo::problem::{Overrides, Problem};
use bilo::{Job, run};
use std::path::Path;

const NETWORK: &str = "operator.kind=network";

fn read(text: &str, set: &[&str]) -> Problem {
    Problem::from_toml("shipped", text, Path::new("."), &Overrides::of(set.iter().copied()))
        .expect("a shipped problem")
}

fn outcome(problem: &Problem, kind: &str) -> Outcome {
    let outcome = run(problem, &Job::default(), &mut Silent).expect("it runs");
    assert_eq!(outcome.operator.as_ref().expect("a local operator").kind.name(), kind);
    outcome
}

/// A network within 1 %, and what is used by default, a dictionary, within 1e-4: the project's target for it.
fn assert_both(text: &str) {
    assert_within(&outcome(&read(text, &[NETWORK]), "network"), 1e-2, 5e-3);
    let by_default = outcome(&read(text, &[]), "dictionary");
    assert_within(&by_default, 1e-4, 1e-4);
    assert!(by_default.steps.train <= 10, "{} iterations", by_default.steps.train);
}

fn assert_within(outcome: &Outcome, tolerance: f64, state_tolerance: f64) {
    for unknown in &outcome.unknowns.numbers {
        let error = unknown.relative_error().expect("a truth");
        assert!(error < tolerance, "{}: {} is off by {error:.2e}", unknown.name, unknown.estimate);
    }
    for state in &outcome.states {
        let distance = state.relative_l2_vs_classical.expect("a classical solution");
        assert!(distance < state_tolerance, "{} is off by {distance:.2e}", state.name);
    }
    let guess = &outcome.audit[0];
    assert!(guess.at.name() == "guess" && guess.cosine > 0.99, "{guess:?}");
    assert_eq!(outcome.warnings, Vec::<String>::new());
}

#[test]
fn fisher_kpp() {
    assert_both(include_str!("../../../problems/fisher-kpp.toml"));
}

#[test]
fn poisson_scalar() {
    assert_both(include_str!("../../../problems/poisson-scalar.toml"));
}

#[test]
fn advection_diffusion() {
    assert_both(include_str!("../../../problems/advection-diffusion.toml"));
}

#[test]
fn two_species() {
    assert_both(include_str!("../../../problems/two-species.toml"));
}

/// Functions by default: as far from the truth as the minimum that the classical search over nodal values finds, up
/// to what the two discretisations of the function differ by. (So too for `poisson-variable`, in `dictionary.rs`.)
/// For `reaction-coefficient` that is much, 1.5e-2 against 3.8e-2 from the truth at the same data loss: there the
/// polynomials are held to be no worse only.
#[test]
fn functions_by_default_are_those_of_the_classical_search() {
    for (text, least) in [
        (include_str!("../../../problems/heat-initial.toml"), 0.95),
        (include_str!("../../../problems/reaction-coefficient.toml"), 0.0),
    ] {
        let problem = read(text, &[]);
        let ours = outcome(&problem, "dictionary");
        let adjoint = Job { method: &bilo::method::Adjoint, ..Job::default() };
        let classical = run(&problem, &adjoint, &mut Silent).expect("it runs");
        let error = |outcome: &Outcome| outcome.unknowns.functions[0].relative_l2_error.expect("a truth");
        let (ours, classical) = (error(&ours), error(&classical));
        assert!((least..1.05).contains(&(ours / classical)), "{}: {ours} {classical}", problem.name);
    }
}

/// The place of a source among the unknowns: by default the maximum of the likelihood, which the reference solver finds up to
/// its own error, 5e-6 of u.
#[test]
fn point_process_position() {
    let found =
        outcome(&read(include_str!("../../../problems/point-process-position.toml"), &[]), "dictionary");
    for unknown in &found.unknowns.numbers {
        let (optimal, sd) = (unknown.data_optimal.expect("converged"), unknown.sd.expect("an error bar"));
        let distance = (unknown.estimate - optimal).abs() / sd;
        assert!(distance < 0.02, "{}: {distance} sd", unknown.name);
    }
    assert_eq!(found.warnings, Vec::<String>::new());
}

/// A shock is in the data, and another one comes out when the initial value found is solved for again: within
/// 5 % of the data. The networks' own solution is smooth, with a layer where the shock is. Half the steps of a
/// user's run, for time.
#[test]
fn burgers_initial_with_a_moving_shock() {
    let set = [NETWORK, "train.pretrain-steps=500", "train.train-steps=2000"];
    let problem = read(include_str!("../../../problems/burgers-initial-2.toml"), &set);
    let outcome = outcome(&problem, "network");
    let f = &outcome.unknowns.functions[0];
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
    let problem = read(text, &[NETWORK]);
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
    assert_eq!(outcome.steps.pretrain, 1000);
    assert_within(&outcome, 5e-3, 2e-2);
}

/// y is a polynomial of second degree: Newton's method on the exact solution, and rounding is all that is left. A
/// tenth of the paper's iterations.
fn assert_toy_by_default(text: &str) {
    let problem = read(text, &[]);
    let mut distance = Distance { truth: vec![0.0, 1.0], by_iteration: vec![] };
    let outcome = run(&problem, &Job::default(), &mut distance).expect("it runs");
    assert_eq!(outcome.operator.as_ref().expect("a local operator").kind.name(), "dictionary");
    assert!(outcome.steps.train <= 8, "{} iterations", outcome.steps.train);
    assert!(distance.by_iteration.iter().any(|&error| error < 1e-2), "{:?}", distance.by_iteration);
    assert_within(&outcome, 1e-9, 1e-9);
}

#[test]
fn bpn_toy_within_80_iterations() {
    assert_toy(include_str!("../../../problems/bpn-toy.toml"));
    assert_toy_by_default(include_str!("../../../problems/bpn-toy.toml"));
}

#[test]
fn bpn_toy_soft_within_80_iterations() {
    assert_toy(include_str!("../../../problems/bpn-toy-soft.toml"));
    assert_toy_by_default(include_str!("../../../problems/bpn-toy-soft.toml"));
}
