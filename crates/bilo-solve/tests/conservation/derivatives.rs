//! Tangent and adjoint of the scheme, against differences and each other.

use std::f64::consts::PI;

use bilo_solve::conservation::{Godunov, Inputs, Levels, Mesh, Run};

use super::Text;

/// Numbers between -1 and 1 without any pattern that matters.
fn scattered(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| (12.9898 * (i as f64 + seed)).sin()).collect()
}

/// A law, where it is differentiated, and on which mesh.
struct Case {
    name: &'static str,
    godunov: Godunov,
    inputs: Inputs,
    mesh: Mesh,
}

impl Case {
    fn new(name: &'static str, text: Text<'_>, parameters: &[f64], mesh: Mesh) -> Case {
        let nodes = mesh.cells + usize::from(text.ends.is_some());
        let u0 = |i: usize| (2.0 * PI * i as f64 / mesh.cells as f64).sin() + 0.3;
        let initial = if text.initial.is_none() { (0..nodes).map(u0).collect() } else { vec![] };
        let inputs = Inputs { parameters: parameters.to_vec(), initial };
        Case { name, godunov: text.godunov(), inputs, mesh }
    }

    fn run(&self) -> Run<'_> {
        self.solve(&self.inputs)
    }

    fn solve(&self, inputs: &Inputs) -> Run<'_> {
        self.godunov.solve(inputs, self.mesh).expect("the case can be solved")
    }

    fn direction(&self) -> Inputs {
        Inputs {
            parameters: scattered(self.inputs.parameters.len(), 0.4),
            initial: scattered(self.inputs.initial.len(), 0.7),
        }
    }

    /// The inputs moved along the direction.
    fn moved(&self, by: f64) -> Inputs {
        let along = |u: &[f64], d: &[f64]| u.iter().zip(d).map(|(u, d)| u + by * d).collect();
        let direction = self.direction();
        Inputs {
            parameters: along(&self.inputs.parameters, &direction.parameters),
            initial: along(&self.inputs.initial, &direction.initial),
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cases() -> Vec<Case> {
    let default = Text::default();
    let mesh = Mesh::new(60, 3);
    let shock = Text { ends: None, end: 1.5, ..default };
    let two = Text {
        parameters: &["a", "b"],
        flux: "a*u^2/2 + b*sin(3*u)",
        initial: Some("b*cos(pi*x) + a*x^2"),
        ..default
    };
    let sonic = Text { parameters: &["a", "b"], flux: "a*u^2/2 - b*u", ends: None, ..default };
    let given = Text { parameters: &["a", "g"], ends: Some(["0.3 + g*sin(5*t)", "-g*t"]), ..default };
    let phases = Text {
        parameters: &["m"],
        flux: "u^2/(u^2 + m*(1-u)^2)",
        initial: Some("0.5 + 0.4*sin(2*pi*x) + 0.1*m*x"),
        ends: None,
        ..default
    };
    let speed = Text { is_speed: true, flux: "2*m*u*(1-u)/(u^2 + m*(1-u)^2)^2", ..phases };
    vec![
        Case::new("smooth", Text { ends: None, ..default }, &[0.1], mesh),
        Case::new("shock", shock, &[0.71], mesh),
        Case::new("shock, every step", shock, &[0.71], Mesh { levels: Levels::EveryStep, ..mesh }),
        Case::new("a sonic point that moves", sonic, &[0.5, 0.2], mesh),
        Case::new("initial value by formula", two, &[0.4, 0.2], mesh),
        Case::new("given values at the ends", given, &[0.5, 0.2], mesh),
        Case::new("Buckley-Leverett", phases, &[0.6], mesh),
        Case::new("Buckley-Leverett from its speed", speed, &[0.6], mesh),
    ]
}

#[test]
fn the_tangent_agrees_with_central_differences() {
    for case in cases() {
        let tangent = case.run().tangent(&case.direction()).unwrap();
        let eps = 1e-6;
        let [plus, minus] = [eps, -eps].map(|by| case.solve(&case.moved(by)).evolution);
        assert_eq!(plus.steps, minus.steps);
        let largest = tangent.field().iter().fold(0.0, |most: f64, d| most.max(d.abs()));
        for (i, d) in tangent.field().iter().enumerate() {
            let difference = (plus.field()[i] - minus.field()[i]) / (2.0 * eps);
            assert!((difference - d).abs() < 1e-6 * largest, "{}: {difference} {d}", case.name);
        }
    }
}

#[test]
fn tangent_and_adjoint_are_transposes() {
    for case in cases() {
        let run = case.run();
        let direction = case.direction();
        let load = scattered(run.evolution.field().len(), 0.1);
        let forward = dot(run.tangent(&direction).unwrap().field(), &load);
        let gradient = run.adjoint(&load).unwrap();
        let backward =
            dot(&gradient.parameters, &direction.parameters) + dot(&gradient.initial, &direction.initial);
        assert_eq!(gradient.initial.len(), case.inputs.initial.len());
        assert!(
            (forward - backward).abs() < 1e-12 * forward.abs().max(1.0),
            "{}: {forward} {backward}",
            case.name
        );
    }
}

/// Misfit to the value 0.1 at scattered points, and its load.
fn misfit(run: &Run<'_>) -> (f64, Vec<f64>) {
    let points: Vec<(f64, f64)> =
        scattered(50, 0.2).into_iter().zip(scattered(50, 0.5)).map(|(x, t)| (x.abs(), t.abs())).collect();
    let misfits: Vec<f64> = run.evolution.sample(&points).iter().map(|u| u - 0.1).collect();
    let weighted: Vec<(f64, f64, f64)> =
        points.iter().zip(&misfits).map(|(&(x, t), m)| (x, t, 2.0 * m)).collect();
    (dot(&misfits, &misfits), run.evolution.scatter(&weighted))
}

#[test]
fn taylor_remainders_fall_with_rates_one_and_two() {
    for case in cases() {
        let run = case.run();
        let (value, load) = misfit(&run);
        let gradient = run.adjoint(&load).unwrap();
        let direction = case.direction();
        let slope =
            dot(&gradient.parameters, &direction.parameters) + dot(&gradient.initial, &direction.initial);
        let remainders = |eps: f64| {
            let change = misfit(&case.solve(&case.moved(eps))).0 - value;
            [change.abs(), (change - eps * slope).abs()]
        };
        let (coarse, fine) = (remainders(2e-5), remainders(1e-5));
        for (order, expected) in [(0, 1.0), (1, 2.0)] {
            let rate = (coarse[order] / fine[order]).log2();
            assert!((rate - expected).abs() < 0.1, "{}: rate {rate} where {expected} is due", case.name);
        }
    }
}

#[test]
fn a_smoothed_observation_of_a_moving_shock_has_the_right_derivative() {
    // u = 1 up to s = 0.3 + a/2 at t = 1, so the derivative of the integral of w(x) u
    // by a is w(s)/2, and by the height of the whole left state it is the integral
    // of w up to s plus w(s)/2 times a.
    let text = Text {
        parameters: &["a", "h"],
        initial: Some("if(x < 0.3, h, if(x > 0.3, 0, h/2))"),
        ends: Some(["h", "out"]),
        ..Text::default()
    };
    let godunov = text.godunov();
    let (a, cells) = (0.8, 800);
    let weight = |x: f64| (-20.0 * (x - 0.6) * (x - 0.6)).exp();
    let s = 0.3 + 0.5 * a;
    let inputs = Inputs { parameters: vec![a, 1.0], initial: vec![] };
    let run = godunov.solve(&inputs, Mesh::new(cells, 1)).unwrap();
    let h = 1.0 / cells as f64;
    let weighted: Vec<(f64, f64, f64)> = run.evolution.x.iter().map(|&x| (x, 1.0, h * weight(x))).collect();
    let gradient = run.adjoint(&run.evolution.scatter(&weighted)).unwrap();
    let integral: f64 = (0..7000).map(|i| weight((i as f64 + 0.5) * 1e-4) * 1e-4).sum();
    let expected = [0.5 * weight(s), integral + 0.5 * a * weight(s)];
    for (found, expected) in gradient.parameters.iter().zip(expected) {
        // First order: the layer of the shock is a few cells wide.
        assert!((found - expected).abs() < 0.01 * expected, "{found} {expected}");
    }
}

#[test]
fn a_squared_observation_of_a_shock_has_nearly_the_right_derivative_on_any_grid() {
    // The integral of u^2 is s = 0.25 + a/2, so its derivative is 1/2. The crate's page says what to
    // expect: about 1 % off, however fine the grid.
    let text = Text { initial: Some("if(x < 0.25, 1, 0)"), ..Text::default() };
    let godunov = text.godunov();
    let error = |cells: usize| {
        let inputs = Inputs { parameters: vec![0.8], initial: vec![] };
        let run = godunov.solve(&inputs, Mesh::new(cells, 1)).unwrap();
        let values = run.evolution.x.iter().zip(run.evolution.level(1));
        let weighted: Vec<(f64, f64, f64)> = values.map(|(&x, u)| (x, 1.0, 2.0 * u / cells as f64)).collect();
        run.adjoint(&run.evolution.scatter(&weighted)).unwrap().parameters[0] / 0.5 - 1.0
    };
    let errors = [200, 400, 800, 801, 803].map(error);
    assert!(errors.iter().all(|e| e.abs() < 0.02), "{errors:?}");
    assert!((errors[2] / errors[0] - 1.0).abs() < 0.2, "{errors:?}");
}

#[test]
fn wrong_lengths_are_counted() {
    let case = &cases()[0];
    let run = case.run();
    let error = run.adjoint(&[1.0]).expect_err("a load of one entry");
    assert_eq!(error.to_string(), "1 entries of the load given where 244 are needed");
    let error =
        run.tangent(&Inputs { parameters: vec![1.0], initial: vec![] }).expect_err("no initial values");
    assert_eq!(error.to_string(), "0 nodal initial values given where 60 are needed");
}
