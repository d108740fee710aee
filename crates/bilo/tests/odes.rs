//! Ordinary equations, stiff and not: solutions and their derivatives by the unknowns against another program.
//!
//! `data/odes.csv` has for some times of every state the value and its derivatives by the logarithms of the unknowns: the
//! variational equations solved with the states by SciPy's Radau at a relative tolerance of 1e-11.

use bilo::identify::identifiability;
use bilo::observer::Silent;
use bilo::problem::{Data, Overrides, Problem, Table};
use bilo::reference::ReferenceSolver;
use bilo::{Job, run};
use std::path::Path;

const EXPECTED: &str = include_str!("data/odes.csv");

struct Ode {
    name: &'static str,
    end: f64,
    /// With their values.
    unknowns: &'static [(&'static str, f64)],
    equations: &'static [&'static str],
    start: &'static [(&'static str, f64)],
    /// Derivatives are compared up to this time.
    smooth_until: f64,
}

const ODES: &[Ode] = &[
    Ode {
        name: "robertson",
        end: 400.0,
        unknowns: &[("k1", 0.04), ("k2", 3e7), ("k3", 1e4)],
        equations: &["A_t = -k1*A + k3*B*C", "B_t = k1*A - k3*B*C - k2*B^2", "C_t = k2*B^2"],
        start: &[("A", 1.0), ("B", 0.0), ("C", 0.0)],
        smooth_until: f64::INFINITY,
    },
    Ode {
        name: "van-der-pol",
        end: 900.0,
        unknowns: &[("mu", 1000.0)],
        equations: &["x_t = y", "y_t = mu*(1 - x^2)*y - x"],
        start: &[("x", 2.0), ("y", 0.0)],
        smooth_until: 800.0,
    },
    Ode {
        name: "lotka-volterra",
        end: 20.0,
        unknowns: &[("a", 0.5), ("b", 0.025), ("c", 0.9), ("g", 0.025)],
        equations: &["h_t = a*h - b*h*l", "l_t = -c*l + g*h*l"],
        start: &[("h", 30.0), ("l", 4.0)],
        smooth_until: f64::INFINITY,
    },
    Ode {
        name: "hindmarsh-rose",
        end: 60.0,
        unknowns: &[("I", 3.1), ("r", 0.01)],
        equations: &["x_t = y - x^3 + 3*x^2 - z + I", "y_t = 1 - 5*x^2 - y", "z_t = r*(4*(x + 1.6) - z)"],
        start: &[("x", -1.3), ("y", -7.4), ("z", 2.1)],
        smooth_until: f64::INFINITY,
    },
    Ode {
        name: "pharmacokinetics",
        end: 24.0,
        unknowns: &[("ka", 1.2), ("CL", 5.0), ("V", 20.0), ("Q", 3.0)],
        equations: &["g_t = -ka*g", "c_t = ka*g - CL/V*c - Q/V*c + Q/30*p", "p_t = Q/V*c - Q/30*p"],
        start: &[("g", 100.0), ("c", 0.0), ("p", 0.0)],
        smooth_until: f64::INFINITY,
    },
    Ode {
        name: "sir",
        end: 60.0,
        unknowns: &[("beta", 0.5), ("gamma", 0.2)],
        equations: &["S_t = -beta*S*I/1000", "I_t = beta*S*I/1000 - gamma*I"],
        start: &[("S", 999.0), ("I", 1.0)],
        smooth_until: f64::INFINITY,
    },
];

impl Ode {
    fn problem(&self, set: &[&str]) -> Problem {
        let mut text = format!(
            "name = \"{}\"\n[coordinates]\nt = {{ range = [0.0, {}], time = true }}\n",
            self.name, self.end
        );
        for (name, value) in self.unknowns {
            text += &format!("[unknown.{name}]\nguess = {value:e}\ntruth = {value:e}\n");
        }
        for (number, equation) in self.equations.iter().enumerate() {
            text += &format!("[equation.e{number}]\nholds = \"{equation}\"\n");
        }
        for (state, value) in self.start {
            text +=
                &format!("[condition.start-{state}]\nat = {{ t = 0.0 }}\nholds = \"{state} = {value}\"\n");
        }
        for (state, _) in self.start {
            text += &format!(
                "[observation.{state}]\nvalue = \"{state}\"\ndata = {{ synthetic = {{ grid = {{ t = 5 }}, noise = 0.1 }} }}\n"
            );
        }
        Problem::from_toml(self.name, &text, Path::new("."), &Overrides::of(set.iter().copied()))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// The times, and for every state the values and the derivatives by the logarithm of each unknown.
    fn expected(&self) -> (Vec<f64>, Vec<Vec<Vec<f64>>>) {
        let rows = EXPECTED.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let rows: Vec<Vec<&str>> = rows.filter(|row| row[0] == self.name).collect();
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let of = |state: &str| rows.iter().filter(|row| row[2] == state).collect::<Vec<_>>();
        let times = of(self.start[0].0).iter().map(|row| number(row[1])).collect();
        let columns = |(state, _): &(&str, f64)| {
            let own = of(state);
            (3..4 + self.unknowns.len()).map(|k| own.iter().map(|row| number(row[k])).collect()).collect()
        };
        (times, self.start.iter().map(columns).collect())
    }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// The largest relative error of the values of any state, and of any derivative.
fn errors(ode: &Ode, set: &[&str]) -> (f64, f64) {
    let problem = ode.problem(set);
    let reference = ReferenceSolver::new(&problem).unwrap();
    let solution = reference.solve(&problem.eta_of_guess()).unwrap();
    let (times, expected) = ode.expected();
    let off = |found: &[f64], expected: &[f64]| {
        norm(found.iter().zip(expected).map(|(a, b)| a - b)) / norm(expected.iter().copied())
    };
    let (mut of_values, mut of_slopes) = (0.0_f64, 0.0_f64);
    for (observation, expected) in problem.observations.iter().zip(&expected) {
        let found = solution.observe_with_slopes(&observation.value, std::slice::from_ref(&times)).unwrap();
        of_values = of_values.max(off(&found.values, &expected[0]));
        for (j, unknown) in problem.unknowns.iter().enumerate() {
            let eta = unknown.eta_of(unknown.guess);
            let factor = unknown.guess / unknown.theta_slope(eta);
            let slopes: Vec<f64> = found.slopes[j].iter().map(|slope| factor * slope).collect();
            let compared = times.iter().filter(|time| **time < ode.smooth_until).count();
            of_slopes = of_slopes.max(off(&slopes[..compared], &expected[1 + j][..compared]));
        }
    }
    (of_values, of_slopes)
}

/// Values to 3e-5 with the 200 steps that are the default, a hundred times that where bursts amplify every error (Hindmarsh and Rose); with
/// eight times as many derivatives are right to 1e-5. Those of the relaxation oscillator are compared before its jump, whose place
/// moves by a thousand times its own length: after it they are right to 5e-3, and with any number of steps to 3e-4, as Newton's
/// iteration ends at 1e-12.
#[test]
fn solutions_and_derivatives_are_those_of_another_program() {
    for ode in ODES {
        let amplified = if ode.name == "hindmarsh-rose" { 100.0 } else { 1.0 };
        let (values, _) = errors(ode, &[]);
        assert!(values < 3e-5 * amplified, "{}: values are off by {values:.1e}", ode.name);
        let (values, slopes) = errors(ode, &["classical.cells=1600"]);
        assert!(values < 1e-5, "{}: values are off by {values:.1e} with many steps", ode.name);
        assert!(slopes < 1e-5, "{}: derivatives are off by {slopes:.1e}", ode.name);
    }
}

/// The standard deviations that `check` tells are those of the other program's derivatives, with an error of a hundredth of its
/// largest value in every state: within 1 %.
#[test]
fn error_bars_of_check_are_those_of_another_program() {
    for ode in ODES {
        let mut problem = ode.problem(&[]);
        let (times, expected) = ode.expected();
        let unknowns = ode.unknowns.len();
        let mut information = vec![vec![0.0; unknowns]; unknowns];
        for (observation, state) in problem.observations.iter_mut().zip(&expected) {
            let largest = state[0].iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            let sigma = 0.01 * largest;
            observation.data = Data::Table(Table {
                coordinates: vec![times.clone()],
                values: state[0].clone(),
                sigma: Some(vec![sigma; times.len()]),
            });
            for (i, row) in information.iter_mut().enumerate() {
                for (j, entry) in row.iter_mut().enumerate() {
                    let products = state[1 + i].iter().zip(&state[1 + j]).map(|(a, b)| a * b);
                    *entry += products.sum::<f64>() / (sigma * sigma);
                }
            }
        }
        let found = identifiability(&problem).unwrap().unwrap();
        for (j, deviation) in deviations(information).into_iter().enumerate() {
            let found = found.relative_deviation[j];
            let name = ode.unknowns[j].0;
            assert!(
                (found / deviation - 1.0).abs() < 0.01,
                "{}: sd of {name} {found:e}, by the other program {deviation:e}",
                ode.name
            );
        }
    }
}

/// u_t = a - u with a that is 1 until t = 0.37 and 3 from then on, against its exact solution: as exact with the default steps as
/// if nothing jumped, and smooth in what the switch follows.
#[test]
fn steps_end_where_equations_switch() {
    let text = "name = \"switch\"\n[coordinates]\nt = { range = [0.0, 2.0], time = true }\n\
                [unknown.s]\nguess = 0.37\ntruth = 0.37\n[unknown.b]\nguess = 3.0\ntruth = 3.0\n\
                [equation.e]\nholds = \"u_t = if(t < s, 1, b) - u\"\n\
                [condition.c]\nat = { t = 0.0 }\nholds = \"u = 0\"\n\
                [observation.o]\nvalue = \"u\"\n\
                data = { synthetic = { grid = { t = 5 }, noise = 0.1 } }\n";
    let problem = Problem::from_toml("switch", text, Path::new("."), &Overrides::default());
    let problem = problem.unwrap_or_else(|error| panic!("{error}"));
    let reference = ReferenceSolver::new(&problem).unwrap();
    let times = vec![0.2, 0.369, 0.37, 0.38, 1.0, 2.0];
    for s in [0.37, 0.3701, 0.41] {
        let eta = problem.unknowns.iter().zip([s, 3.0]).map(|(unknown, theta)| unknown.eta_of(theta));
        let solution = reference.solve(&eta.collect::<Vec<_>>()).unwrap();
        let found = solution.state(0, std::slice::from_ref(&times));
        for (t, found) in times.iter().zip(found) {
            let at_switch = 1.0 - (-s).exp();
            let after = 3.0 + (at_switch - 3.0) * (s - t).exp();
            let exact = if *t < s { 1.0 - (-t).exp() } else { after };
            assert!((found - exact).abs() < 1e-8, "{found}, not {exact}, at {t}");
        }
    }
}

/// The square roots of the diagonal of the inverse, by Gauss and Jordan.
fn deviations(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let n = matrix.len();
    for (i, row) in matrix.iter_mut().enumerate() {
        row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
    }
    for i in 0..n {
        let pivot = matrix[i].clone();
        for (k, row) in matrix.iter_mut().enumerate() {
            let factor = if k == i { 1.0 - 1.0 / pivot[i] } else { row[i] / pivot[i] };
            row.iter_mut().zip(&pivot).for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
    }
    (0..n).map(|i| matrix[i][n + i].sqrt()).collect()
}

/// A solution that comes to infinity within the time, at t = 1/k, is an error, and the search goes round it: steps do not go on
/// getting shorter for ever.
#[test]
fn what_has_no_solution_to_the_end_is_an_error() {
    let text = r#"
        name = "burst"
        [coordinates]
        t = { range = [0.0, 2.0], time = true }
        [unknown.k]
        guess = 0.6
        truth = 0.4
        [equation.burst]
        holds = "u_t = k*u^2"
        [condition.start]
        at = { t = 0.0 }
        holds = "u = 1"
        [observation.o]
        value = "u"
        data = { synthetic = { grid = { t = 9 }, noise = 0.01 } }
    "#;
    let problem = Problem::from_toml("burst", text, Path::new("."), &Overrides::default()).unwrap();
    let reference = ReferenceSolver::new(&problem).unwrap();
    assert!(reference.solve(&problem.eta_of_guess()).is_err());
    let outcome = run(&problem, &Job::default(), &mut Silent).expect("it runs");
    let found = &outcome.unknowns.numbers[0];
    assert!((found.estimate - 0.4).abs() < 3.0 * found.sd.unwrap(), "{found:?}");
}
