//! Unknown functions on grids, and the PDE-constrained optimum over them.

use bilo::data::observed_tables;
use bilo::descent::Target;
use bilo::misfit::{DataLoss, TwinLoss};
use bilo::observer::Silent;
use bilo::outcome::{Outcome, Stop};
use bilo::problem::{
    Coordinate, DataSpec, FunctionSpec, Overrides, PointsSpec, Problem, RegulariserKind, Unknown,
};
use bilo::theta::Theta;
use bilo::twin::Twin;
use bilo::{Job, Method, run};
use std::path::Path;

const POISSON: &str = include_str!("../../../problems/poisson-variable.toml");

fn shipped(text: &str, set: &[String]) -> Problem {
    Problem::from_toml("shipped", text, Path::new("."), &Overrides { recipe: None, set: set.to_vec() })
        .expect("a shipped problem")
}

fn adjoint(problem: &Problem, seed: u64) -> Outcome {
    run(problem, &Job { seed, threads: None, method: Method::Adjoint }, &mut Silent).expect("it runs")
}

/// The exact minimiser of the regularised problem: relative errors of D, mean and scatter over 60 noise
/// draws as found with dense Newton steps and finite differences on 100 cells by an independent program.
/// The mean of 10 other draws has a third of the scatter as its standard error.
#[test]
fn variable_poisson_has_the_errors_of_the_exact_minimiser() {
    for (weight, mean, sd) in [(1e-4, 0.0284, 0.0078), (1e-3, 0.0451, 0.0030), (1e-2, 0.0735, 0.0016)] {
        let problem = shipped(POISSON, &[format!("unknown.D.regularise.weight={weight}")]);
        let errors: Vec<f64> = (0..10)
            .map(|seed| {
                let outcome = adjoint(&problem, seed);
                assert_eq!(outcome.stop, Stop::Converged);
                outcome.functions[0].relative_l2_error.expect("a truth")
            })
            .collect();
        let found = errors.iter().sum::<f64>() / errors.len() as f64;
        assert!((found - mean).abs() < sd, "weight {weight:e}: {found:.4} of {errors:.4?}, expected {mean}");
    }
}

/// The linear elements of the paper's adjoint baseline: A(D) u = h² f with A tridiagonal in
/// (D_i + D_{i+1})/2, and with A z = C^T (C u - data) the gradient -2/m z·(dA/dD_i) u. (The paper prints
/// A(D) u = h f and the gradient with the opposite sign.) On 100 cells with D on the same nodes the twin
/// is this scheme, so both gradients are the same up to rounding.
#[test]
fn the_gradient_is_that_of_linear_elements() {
    let n = 100;
    let problem = shipped(POISSON, &[format!("classical.cells={n}"), "unknown.D.regularise.weight=0".into()]);
    let tables = observed_tables(&problem, 0).unwrap();
    let twin = Twin::new(&problem).unwrap();
    let loss = TwinLoss { data: DataLoss::new(&problem, &tables), twin: &twin };
    let x: Vec<f64> = (0..=n).map(|i| i as f64 / n as f64).collect();
    let d: Vec<f64> = x.iter().map(|x| 1.0 + 0.3 * (3.0 * x).sin() * x * (1.0 - x)).collect();
    let visit = loss.visit(Theta { eta: vec![], functions: vec![d.clone()] }).unwrap();
    let found = &loss.gradient(&visit).unwrap().functions[0];

    let h = 1.0 / n as f64;
    let f: Vec<f64> =
        x.iter().map(|x| h * h * (std::f64::consts::PI.powi(2)) * (std::f64::consts::PI * x).sin()).collect();
    let u = tridiagonal(&d, &f);
    let data = &tables[0].values;
    let mut load = vec![0.0; n + 1];
    (0..data.len()).for_each(|i| load[2 * i] = u[2 * i] - data[i]);
    let z = tridiagonal(&d, &load);
    let largest = found.iter().fold(0.0_f64, |largest, g| largest.max(g.abs()));
    for (i, found) in found.iter().enumerate() {
        // (dA/dD_i) u: the two cells beside node i.
        let cell = |a: usize, b: usize| 0.5 * (u[b] - u[a]) * (z[b] - z[a]);
        let sum = if i > 0 { cell(i - 1, i) } else { 0.0 } + if i < n { cell(i, i + 1) } else { 0.0 };
        let expected = -2.0 / data.len() as f64 * sum;
        assert!((found - expected).abs() < 1e-10 * largest, "node {i}: {found} and {expected}");
    }
}

/// Solves -(D u')' on equidistant nodes with u = 0 at both ends, scaled by h².
fn tridiagonal(d: &[f64], right: &[f64]) -> Vec<f64> {
    let n = d.len() - 1;
    let face = |i: usize| 0.5 * (d[i] + d[i + 1]);
    let (mut c, mut r) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    for i in 1..n {
        let pivot = face(i - 1) + face(i) - face(i - 1) * c[i - 1];
        c[i] = face(i) / pivot;
        r[i] = (right[i] + face(i - 1) * r[i - 1]) / pivot;
    }
    let mut u = vec![0.0; n + 1];
    (1..n).rev().for_each(|i| u[i] = r[i] + c[i] * u[i + 1]);
    u
}

/// A scalar and functions in an equation, in an initial value and in an observation.
fn several() -> Problem {
    Problem::builder("several")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::time("t", 0.0, 0.5))
        .unknown(Unknown::new("c", 1.0).truth(1.5).log())
        .unknown_function(
            FunctionSpec::new("k", ["x"], "0.1 + 0.02*x")
                .form("0.05*exp(net)")
                .truth("0.1")
                .nodes([7])
                .regularise(RegulariserKind::Tv { smoothing: 0.01 }, 1e-3),
        )
        .unknown_function(
            FunctionSpec::new("f", ["x"], "sin(pi*x)")
                .form("softplus(net)*x*(1-x)")
                .truth("x*(1-x)")
                .nodes([9])
                .regularise(RegulariserKind::L2 { reference: None }, 1e-2),
        )
        .state("u", "net*x*(1-x)*t + f")
        .equation("heat", "u_t - div(k*grad(u)) + c*u", PointsSpec::grid([("x", 11), ("t", 11)]))
        .observation(
            "profile",
            "u + 0.1*k",
            DataSpec::synthetic(PointsSpec::grid([("x", 6), ("t", 4)]), 0.01),
        )
        .classical(|classical| (classical.cells, classical.steps) = (vec![40], 20))
        .build()
        .expect("a valid problem")
}

/// By every variable: through the PDE, the initial value, the observation, forms and regularisers.
#[test]
fn gradients_agree_with_central_differences() {
    let shock = shock(20);
    for (problem, tolerance) in [(several(), 1e-7), (shock, 1e-6)] {
        let tables = observed_tables(&problem, 0).unwrap();
        let twin = Twin::new(&problem).unwrap();
        let target = Target::new(TwinLoss { data: DataLoss::new(&problem, &tables), twin: &twin }).unwrap();
        let start = target.variables(&Theta::guess(&problem).unwrap()).unwrap();
        let found = target.evaluate(&start).unwrap();
        let largest = found.gradient.iter().fold(0.0_f64, |largest, g| largest.max(g.abs()));
        for i in 0..start.len() {
            let total = |step: f64| {
                let mut moved = start.clone();
                moved[i] += step;
                target.evaluate(&moved).unwrap().total
            };
            let step = 1e-5;
            let expected = (total(step) - total(-step)) / (2.0 * step);
            let error = (found.gradient[i] - expected).abs() / largest;
            assert!(error < tolerance, "{}: variable {i} off by {error:.1e}", problem.name);
        }
    }
}

/// Burgers' equation from an unknown initial value, before and after a shock forms.
fn shock(nodes: usize) -> Problem {
    Problem::builder("shock")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown_function(
            FunctionSpec::new("f", ["x"], "sin(pi*x)")
                .form("net*x*(1-x)")
                .truth("sin(2*pi*x)")
                .nodes([nodes + 1])
                .regularise(RegulariserKind::H1, 1e-5),
        )
        .state("u", "net*x*(1-x)*t + f")
        .equation("burgers", "u_t + 0.2*u*u_x", PointsSpec::grid([("x", 11), ("t", 11)]))
        .observation("end", "u", DataSpec::synthetic(PointsSpec::grid([("x", 41)]).hold("t", [1.0]), 0.0))
        .classical(|classical| (classical.cells, classical.steps) = (vec![100], 10))
        .build()
        .expect("a valid problem")
}

/// From a smooth guess to data with a shock: what was observed is reproduced, and the initial value is
/// far nearer to the truth than the guess was.
#[test]
fn an_initial_value_is_inferred_from_data_with_a_shock() {
    let outcome = adjoint(&shock(40), 0);
    let found = &outcome.functions[0];
    let (error, guess) = (found.relative_l2_error.unwrap(), found.relative_l2_error_of_guess.unwrap());
    assert!(outcome.device.contains("Godunov"));
    assert!(error < guess / 3.0, "error {error}, of the guess {guess}");
}
