//! The PDE-constrained optimum.

use crate::common;
use bilo::data::observed_tables;
use bilo::observer::{Control, Event, Observer, Silent};
use bilo::outcome::{Outcome, Stop};
use bilo::problem::{Coordinate, DataSpec, Likelihood, Overrides, PointsSpec, Problem, Table, Unknown};
use bilo::{Job, run};
use std::path::Path;

const FISHER: &str = include_str!("../../../problems/fisher-kpp.toml");

fn shipped(text: &str, set: &[&str]) -> Problem {
    Problem::from_toml("shipped", text, Path::new("."), &Overrides::of(set.iter().copied()))
        .expect("a shipped problem")
}

fn adjoint(problem: &Problem, seed: u64) -> Outcome {
    run(problem, &Job { seed, threads: None, method: &bilo::method::Adjoint, ..Job::default() }, &mut Silent)
        .expect("it runs")
}

fn largest_error(outcome: &Outcome) -> f64 {
    outcome
        .unknowns
        .numbers
        .iter()
        .map(|unknown| unknown.relative_error().expect("a truth"))
        .fold(0.0, f64::max)
}

/// The data are the solver's own: only the tolerance of the search is left.
#[test]
fn clean_data_of_the_same_solver_give_the_truth() {
    for text in [
        FISHER,
        include_str!("../../../problems/bpn-toy.toml"),
        include_str!("../../../problems/bpn-toy-soft.toml"),
        include_str!("../../../problems/poisson-scalar.toml"),
        include_str!("../../../problems/advection-diffusion.toml"),
        include_str!("../../../problems/two-species.toml"),
    ] {
        let outcome = adjoint(&shipped(text, &["classical.cells=100", "classical.steps=50"]), 0);
        let error = largest_error(&outcome);
        assert_eq!(outcome.stop, Stop::Converged, "{}", outcome.problem);
        assert!(error < 1e-7, "{}: off by {error:.1e}", outcome.problem);
        assert!(outcome.steps.train < 15, "{}: {} iterations", outcome.problem, outcome.steps.train);
        assert_eq!((outcome.method.as_str(), outcome.precision.as_str()), ("adjoint", "f64"));
    }
}

/// `bilo run fisher-kpp --method adjoint`: nothing coarser than what a user gets.
#[test]
fn fisher_kpp_as_shipped_converges_to_the_truth() {
    let problem = shipped(FISHER, &[]);
    assert_eq!(observed_tables(&problem, 0).unwrap()[0].values.len(), 51 * 51);
    let outcome = adjoint(&problem, 0);
    assert_eq!(outcome.stop, Stop::Converged);
    for unknown in &outcome.unknowns.numbers {
        assert!((unknown.estimate - 2.0).abs() < 1e-4, "{unknown:?}");
    }
}

/// Data of the solver at 800 x 800, inferred at coarser resolutions: the error is that of the
/// discretisation, 7 h² for D, and falls with its square.
#[test]
fn data_of_a_finer_grid_are_fitted_up_to_the_error_of_the_discretisation() {
    let mut problem = shipped(FISHER, &[]);
    let table = observed_tables(&problem, 0).unwrap().remove(0);
    problem.observations[0].data = bilo::problem::Data::Table(table);
    let errors = [50, 100, 200].map(|n| {
        (problem.classical.cells, problem.classical.steps) = (vec![n], n);
        common::errors_on_own_grid(&problem).into_iter().fold(0.0, f64::max)
    });
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.3, "order {order}, errors {errors:?}");
    }
    assert!(errors[2] < 2e-4, "{errors:?}");
    // A run sees that its grid is too coarse for data without noise, and refines it.
    let outcome = adjoint(&problem, 0);
    assert!(
        outcome.discretisation.as_ref().is_some_and(|grid| grid.refined && grid.grids > 2),
        "{:?}",
        outcome.discretisation
    );
    assert!(largest_error(&outcome) < errors[2] / 4.0, "{errors:?}");
}

/// u' = -k u + a with exact data of k = 2, a = 0: the optimum lies outside the bounds of a.
fn decay(bounds: (f64, f64), guess: f64) -> Problem {
    let t: Vec<f64> = (0..=10).map(|i| f64::from(i) / 10.0).collect();
    let values = t.iter().map(|t| (-2.0 * t).exp()).collect();
    Problem::builder("decay")
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("k", 1.0).log())
        .unknown(Unknown::new("a", guess).bounds(bounds.0, bounds.1))
        .state("u", "1 + net*t")
        .equation("decay", "u_t + k*u - a", PointsSpec::grid([("t", 21)]))
        .observation("samples", "u", DataSpec::table(Table { coordinates: vec![t], values, sigma: None }))
        .build()
        .unwrap()
}

/// With a held at its bound, k is what is optimal there: the loss does not fall to either side of it.
#[test]
fn the_optimum_respects_bounds() {
    let free = adjoint(&decay((-1.0, 1.0), 0.5), 0);
    assert!((free.unknowns.numbers[0].estimate - 2.0).abs() < 1e-4, "{:?}", free.unknowns.numbers);
    assert!(free.unknowns.numbers[1].estimate.abs() < 1e-4, "{:?}", free.unknowns.numbers);

    let held = adjoint(&decay((0.2, 1.0), 0.5), 0);
    assert_eq!(held.unknowns.numbers[1].estimate, 0.2);
    assert_eq!(held.stop, Stop::Converged);
    let loss = |k: f64| {
        // u = a/k + (1 - a/k) exp(-k t)
        let u = |t: f64| 0.2 / k + (1.0 - 0.2 / k) * (-k * t).exp();
        (0..=10).map(|i| f64::from(i) / 10.0).map(|t| (u(t) - (-2.0 * t).exp()).powi(2)).sum::<f64>()
    };
    let k = held.unknowns.numbers[0].estimate;
    assert!(loss(k) < loss(k * 1.002) && loss(k) < loss(k / 1.002), "{k}");
}

/// Two observations of different weight and points of different sigma: the optimum of the weighted
/// means, which is known for a solution that is the unknown itself.
#[test]
fn weights_and_sigmas_count_as_in_the_upper_level() {
    let table = |values: [f64; 2], sigma: Option<Vec<f64>>| Table {
        coordinates: vec![vec![0.5, 1.0]],
        values: values.to_vec(),
        sigma,
    };
    let mut problem = Problem::builder("level")
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("c", 1.0))
        .state("u", "c + net*t")
        .equation("still", "u_t", PointsSpec::grid([("t", 11)]))
        .observation("one", "u", DataSpec::table(table([1.0, 2.0], Some(vec![0.5, 1.0]))))
        .observation("two", "2*u", DataSpec::table(table([6.0, 6.0], None)))
        .likelihood(Likelihood::MeanSquare)
        .build()
        .unwrap();
    problem.observations[1].weight = 0.25;
    // Minimum of [4 (c-1)² + (c-2)²]/2 + 0.25 [(2c-6)² + (2c-6)²]/2.
    let expected = (4.0 + 2.0 + 2.0 * 3.0) / (4.0 + 1.0 + 2.0);
    let outcome = adjoint(&problem, 0);
    assert!((outcome.unknowns.numbers[0].estimate - expected).abs() < 1e-9, "{:?}", outcome.unknowns.numbers);
    let terms: Vec<f64> = outcome.losses.iter().map(|(_, loss)| *loss).collect();
    let first = (4.0 * (expected - 1.0_f64).powi(2) + (expected - 2.0_f64).powi(2)) / 2.0;
    assert!((terms[0] - first).abs() < 1e-9 && (terms[1] - (2.0 * expected - 6.0_f64).powi(2)).abs() < 1e-9);
    assert_eq!(outcome.losses[1].0, "data.two");
}

/// Keeps unknowns and losses of every step, and stops after some.
struct Keep {
    steps: Vec<(Vec<f64>, Vec<f64>)>,
    most: usize,
}

impl Observer for Keep {
    fn event(&mut self, event: &Event<'_>) -> Control {
        if let Event::Step(record) = event {
            assert!(record.keep && record.step == self.steps.len() + 1);
            self.steps.push((record.unknowns.to_vec(), record.losses.to_vec()));
        }
        if self.steps.len() >= self.most { Control::Stop } else { Control::Continue }
    }
}

#[test]
fn every_iteration_is_reported_from_the_guess_on_with_falling_losses() {
    let problem = shipped(FISHER, &["classical.cells=50", "classical.steps=25"]);
    let job = Job { method: &bilo::method::Adjoint, ..Job::default() };
    let mut keep = Keep { steps: vec![], most: 99 };
    let outcome = run(&problem, &job, &mut keep).unwrap();
    assert_eq!(keep.steps.len(), outcome.steps.train);
    assert_eq!(keep.steps[0].0, [1.0, 1.0]);
    assert!(keep.steps.windows(2).all(|pair| pair[1].1[0] < pair[0].1[0]), "{:?}", keep.steps);

    let mut two = Keep { steps: vec![], most: 2 };
    let stopped = run(&problem, &job, &mut two).unwrap();
    assert_eq!((stopped.stop, stopped.steps.train), (Stop::Interrupted, 2));
    assert_eq!(stopped.unknowns.numbers[0].estimate, keep.steps[2].0[0]);
}
