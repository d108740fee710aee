//! Observations that are not values where the data are: means, integrals, values elsewhere.

use bilo::observer::Silent;
use bilo::problem::{Overrides, Problem, Sampling};
use bilo::reference::ReferenceSolver;
use bilo::{Job, method, run};
use std::f64::consts::PI;
use std::path::Path;

/// Heat in a rod whose solution is exp(-D pi² t) sin(pi x), seen in some way at t = 0.1, 0.2, ..
fn rod(value: &str) -> Problem {
    let text = format!(
        r#"
        name = "rod"
        [coordinates]
        x = [0.0, 1.0]
        t = {{ range = [0.0, 1.0], time = true }}
        [constants]
        width = 0.1
        [unknown.D]
        guess = 0.1
        truth = 0.2
        [unknown.gain]
        guess = 1.0
        truth = 2.0
        [equation.heat]
        holds = "u_t = D*u_xx"
        [condition.start]
        at = {{ t = 0 }}
        holds = "u = sin(pi*x)"
        [condition.ends]
        at = {{ x = [0, 1] }}
        holds = "u = 0"
        [observation.seen]
        value = "{value}"
        data = {{ synthetic = {{ grid = {{ t = 11 }}, at = {{ x = 0.5 }}, where = "t > 0.05" }} }}
        [observation.scale]
        value = "gain*u"
        data = {{ synthetic = {{ grid = {{ t = 5 }}, at = {{ x = 0.5 }} }} }}
        "#
    );
    Problem::from_toml("rod", &text, Path::new("."), &Overrides::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// What is observed, and what it is at t where D = 0.2 and gain = 2.
type Case = (&'static str, fn(f64) -> f64);

fn cases() -> Vec<Case> {
    const RATE: f64 = 0.2 * PI * PI;
    fn height(t: f64) -> f64 {
        (-RATE * t).exp()
    }
    vec![
        ("integral(u, x)", |t| 2.0 / PI * height(t)),
        ("gain*mean(u, x = [0, 0.5]) + 3", |t| 2.0 * 2.0 / PI * height(t) + 3.0),
        ("u(x = 0.5) - u(x = 0.25)", |t| height(t) * (1.0 - 0.5_f64.sqrt())),
        ("integral(u, t = [0, t])", |t| (1.0 - height(t)) / RATE),
        ("mean(x*u, x, t = [t - width, t])/gain", |t| (height(t - 0.1) - height(t)) / RATE / 0.1 / PI / 2.0),
        ("-u_x(x = 0) + u", |t| height(t) * (1.0 - PI)),
        ("(integral(u^2, x) + gain)/2 - u(x = 0.75)", |t| {
            (height(t).powi(2) / 2.0 + 2.0) / 2.0 - height(t) * 0.5_f64.sqrt()
        }),
    ]
}

#[test]
fn values_are_those_of_the_exact_solution() {
    for (value, exact) in cases() {
        let problem = rod(value);
        let solver = ReferenceSolver::new(&problem).unwrap();
        let solution = solver.solve_truth(&problem).unwrap().unwrap().unwrap();
        let (x, t): (Vec<f64>, Vec<f64>) = (1..=10).map(|k| (0.5, f64::from(k) / 10.0)).unzip();
        let sampling = Sampling::new(&problem, &problem.observations[0], vec![x, t.clone()]).unwrap();
        let found = solution.observed(&problem.observations[0], &sampling).unwrap();
        for (t, found) in t.into_iter().zip(found) {
            // The grid of 800 cells errs by about 1e-6, its slopes at an end by about 1e-5.
            assert!((found - exact(t)).abs() < 2e-5, "{value} at {t}: {found}, exact {}", exact(t));
        }
    }
}

/// Tangents and adjoint against differences of solutions.
#[test]
fn derivatives_are_those_of_the_values() {
    for (value, _) in cases() {
        let problem = rod(value);
        let solver = ReferenceSolver::new(&problem).unwrap();
        let columns = vec![vec![0.5; 4], vec![0.1, 0.3, 0.45, 1.0]];
        let observation = &problem.observations[0];
        let sampling = Sampling::new(&problem, observation, columns).unwrap();
        let eta = problem.eta_of_truth().unwrap();
        let observed = |eta: &[f64]| solver.solve(eta).unwrap().observed(observation, &sampling).unwrap();
        let solution = solver.solve(&eta[..]).unwrap();
        let found = solution.observed_with_slopes(observation, &sampling).unwrap();
        let weights = [0.3, -1.0, 2.0, 0.7];
        let by_adjoint = solution.observed_gradient(observation, &sampling, &weights).unwrap().eta;
        for j in 0..eta.len() {
            let step = 1e-5;
            let moved = |by: f64| {
                let mut eta = eta.clone();
                eta[j] += by;
                observed(&eta)
            };
            let (up, down) = (moved(step), moved(-step));
            let differences: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * step)).collect();
            for (slope, difference) in found.slopes[j].iter().zip(&differences) {
                assert!((slope - difference).abs() < 1e-6, "{value}, eta {j}: {slope}, {difference}");
            }
            let along: f64 = differences.iter().zip(weights).map(|(slope, weight)| slope * weight).sum();
            assert!((by_adjoint[j] - along).abs() < 1e-6, "{value}, eta {j}: {}, {along}", by_adjoint[j]);
        }
    }
}

/// The two solvers see the same: the estimate by a dictionary from data by finite differences, without noise.
#[test]
fn a_dictionary_finds_the_truth_from_them() {
    for (value, _) in cases() {
        let outcome = run(&rod(value), &Job::default(), &mut Silent).unwrap();
        for (number, truth) in outcome.unknowns.numbers.iter().zip([0.2, 2.0]) {
            // What the grid errs by, divided by how much the data move with the unknown.
            assert!((number.estimate / truth - 1.0).abs() < 1e-4, "{value}: {number:?}");
        }
    }
}

#[test]
fn networks_say_that_they_do_not_take_them() {
    let problem = rod("integral(u, x)");
    let job = Job { method: method::named("pinn").unwrap(), ..Job::default() };
    let error = run(&problem, &job, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("networks take values where the data are"), "{error}");
}
