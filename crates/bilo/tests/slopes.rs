//! Derivatives of observed values by the unknowns: tangents against finite differences, the adjoint
//! against the tangents, for every problem that comes with the program.

use bilo::data::observed_tables;
use bilo::data_loss::DataLoss;
use bilo::misfit::ReferenceLoss;
use bilo::problem::{Overrides, Problem};
use bilo::reference::ReferenceSolver;
use std::path::Path;

const PROBLEMS: [(&str, &str); 6] = [
    ("fisher-kpp", include_str!("../../../problems/fisher-kpp.toml")),
    ("bpn-toy", include_str!("../../../problems/bpn-toy.toml")),
    ("bpn-toy-soft", include_str!("../../../problems/bpn-toy-soft.toml")),
    ("poisson-scalar", include_str!("../../../problems/poisson-scalar.toml")),
    ("advection-diffusion", include_str!("../../../problems/advection-diffusion.toml")),
    ("two-species", include_str!("../../../problems/two-species.toml")),
];

fn problem(name: &str, text: &str, set: &[&str]) -> Problem {
    let set = ["classical.cells=40", "classical.steps=30"].iter().chain(set).copied();
    Problem::from_toml(name, text, Path::new("."), &Overrides::of(set)).expect("a shipped problem")
}

fn guess(problem: &Problem) -> Vec<f64> {
    problem.unknowns.iter().map(|unknown| unknown.eta_of(unknown.guess)).collect()
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Slopes against central differences with h = 1e-5, whose error is h² times a third derivative (1.1e-8
/// relative at the steepest front) and rounding over h, and the adjoint against the slopes, which
/// differ by rounding only.
fn check(problem: &Problem, at: &[f64]) {
    let reference = ReferenceSolver::new(problem).unwrap();
    let tables = observed_tables(problem, 0).unwrap();
    let solution = reference.solve(at).unwrap();
    for (observation, table) in problem.observations.iter().zip(&tables) {
        let (formula, columns) = (&observation.value, &table.coordinates);
        let found = solution.observe_with_slopes(formula, columns).unwrap();
        assert_eq!(found.values, solution.observe(formula, columns).unwrap());
        for (j, slope) in found.slopes.iter().enumerate() {
            let h = 1e-5;
            let moved = |step: f64| {
                let mut eta = at.to_vec();
                eta[j] += step;
                reference.solve(&eta).unwrap().observe(formula, columns).unwrap()
            };
            let quotient: Vec<f64> =
                difference(&moved(h), &moved(-h)).iter().map(|difference| difference / (2.0 * h)).collect();
            let error = norm(&difference(slope, &quotient)) / norm(slope);
            assert!(error < 1e-7, "{}: slope {j} is off by {error:.1e}", problem.name);
        }
        let weights: Vec<f64> = (0..table.values.len()).map(|i| (i as f64 + 0.5).sin()).collect();
        let gradient = solution.gradient(formula, columns, &weights).unwrap();
        for (slope, by_adjoint) in found.slopes.iter().zip(gradient.eta) {
            let terms: Vec<f64> = slope.iter().zip(&weights).map(|(slope, weight)| slope * weight).collect();
            let error = (terms.iter().sum::<f64>() - by_adjoint).abs() / norm(&terms);
            assert!(error < 1e-10, "{}: the adjoint is off by {error:.1e}", problem.name);
        }
    }
}

#[test]
fn slopes_of_every_shipped_problem_agree_with_differences_and_with_the_adjoint() {
    for (name, text) in PROBLEMS {
        let problem = problem(name, text, &[]);
        check(&problem, &guess(&problem));
    }
}

/// An observation that holds a slope of the state and both unknowns, one of them moved as its
/// logarithm, beside another one that is the plain state.
#[test]
fn unknowns_inside_an_observation_and_transforms_count() {
    let text = format!(
        "{}\n[observation.flux]\nvalue = \"0.01*D*u_x + rho*u^2\"\n{}\n",
        PROBLEMS[0].1, "data = { synthetic = { grid = { x = 7, t = 6 } } }"
    );
    let problem = problem("flux", &text, &["unknown.D.transform=log", "unknown.rho.scale=3.0"]);
    check(&problem, &[0.3, 0.4]);
}

/// Burgers' equation on a ring with u > 0: all waves move one way, and where the speed does not change its
/// sign Godunov's flux is smooth in the unknowns, through the shock at t = 1/(pi a) too.
const BURGERS: &str = r#"
name = "burgers"
[coordinates]
x = { range = [0.0, 1.0], periodic = true }
t = { range = [0.0, 1.0], time = true }
[unknown.a]
guess = 1.0
truth = 1.2
transform = "log"
[unknown.b]
guess = 1.0
truth = 0.9
[state.u]
form = "b + 0.5*sin(2*pi*x) + net*t"
[equation.burgers]
residual = "u_t + a*u*u_x"
points = { random = 10 }
[observation.state]
value = "u"
data = { synthetic = { grid = { x = 7, t = 6 } } }
[observation.flux]
value = "a*u^2/2"
data = { synthetic = { random = 20 } }
"#;

/// With the flux as stated and as integrated from the speed; a in the flux, b in the initial value.
#[test]
fn slopes_of_a_conservation_law_agree_with_differences_and_with_the_adjoint() {
    for set in [&["classical.flux='a*u^2/2'"][..], &[]] {
        let problem = problem("burgers", BURGERS, set);
        let reference = ReferenceSolver::new(&problem).unwrap();
        assert_eq!(reference.scheme(), "godunov");
        // The scheme is smooth as long as its number of steps stays.
        let steps = |a: f64, b: f64| reference.solve(&[a, b]).unwrap().work().steps;
        assert!([steps(1e-4, 1.0), steps(0.0, 1.0 + 1e-4)].iter().all(|&moved| moved == steps(0.0, 1.0)));
        check(&problem, &guess(&problem));
    }
}

/// L(eta + h d) - L(eta) falls as h, and less h g.d as h²; with g by the adjoint.
#[test]
fn the_data_loss_has_taylor_rates_one_and_two() {
    for (name, text) in PROBLEMS {
        let problem = problem(name, text, &[]);
        let (reference, tables) =
            (ReferenceSolver::new(&problem).unwrap(), observed_tables(&problem, 0).unwrap());
        let loss = ReferenceLoss { data: DataLoss::new(&problem, &tables), reference: &reference };
        let start = guess(&problem);
        let at = |h: f64| {
            let eta: Vec<f64> =
                start.iter().enumerate().map(|(j, eta)| eta + h * (1.0 - 0.3 * j as f64)).collect();
            let evaluation = loss.evaluate(&eta).unwrap();
            (evaluation.loss_terms.loss, evaluation)
        };
        let (value, evaluation) = at(0.0);
        let gradient = loss.gradient(&evaluation).unwrap();
        let slope: f64 = gradient.eta.iter().enumerate().map(|(j, g)| g * (1.0 - 0.3 * j as f64)).sum();
        let remainders = |h: f64| {
            let change = at(h).0 - value;
            (change.abs(), (change - h * slope).abs())
        };
        let (coarse, fine) = (remainders(2e-3), remainders(1e-3));
        let rate = |coarse: f64, fine: f64| (coarse / fine).log2();
        let (first, second) = (rate(coarse.0, fine.0), rate(coarse.1, fine.1));
        assert!((first - 1.0).abs() < 0.05, "{name}: rate {first}");
        assert!((second - 2.0).abs() < 0.05, "{name}: rate {second}");
    }
}
