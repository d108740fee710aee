//! The reference solver against exact solutions: its order, and its derivatives by the unknowns against differences.

use bilo::problem::{Observation, Overrides, Problem, Sampling};
use bilo::reference::ReferenceSolver;
use std::f64::consts::PI;
use std::path::Path;

/// A problem with the unknown `k`, and what is observed as an exact function of the place and of k.
struct Case {
    name: &'static str,
    text: &'static str,
    cells: usize,
    k: f64,
    places: &'static [&'static [f64]],
    exact: fn(&[f64], f64) -> Vec<f64>,
}

const SCATTERED: &[&[f64]] = &[&[0.13, 0.21], &[0.42, 0.77], &[0.55, 0.34], &[0.81, 0.93], &[0.29, 0.62]];

const CASES: &[Case] = &[
    Case {
        name: "wave",
        text: r#"
            [coordinates]
            x = [0.0, 1.0]
            t = { range = [0.0, 1.0], time = true }
            [equation.wave]
            holds = "u_tt = k*u_xx"
            [condition.start]
            at = { t = 0.0 }
            holds = "u = sin(pi*x)"
            [condition.still]
            at = { t = 0.0 }
            holds = "u_t = 0"
            [condition.ends]
            at = { x = [0.0, 1.0] }
            holds = "u = 0"
            [observation.u]
            value = "u"
        "#,
        cells: 50,
        k: 0.7,
        places: SCATTERED,
        exact: |at, k| vec![(PI * at[0]).sin() * (PI * k.sqrt() * at[1]).cos()],
    },
    Case {
        name: "telegraph",
        text: r#"
            [coordinates]
            x = [0.0, 1.0]
            t = { range = [0.0, 1.0], time = true }
            [equation.telegraph]
            holds = "u_tt + 2*u_t = k*u_xx - u"
            [condition.start]
            at = { t = 0.0 }
            holds = "u = cos(pi*x)"
            [condition.falls]
            at = { t = 0.0 }
            holds = "u_t = -cos(pi*x)"
            [condition.ends]
            at = { x = [0.0, 1.0] }
            holds = "u_x = 0"
            [observation.u]
            value = "u"
        "#,
        cells: 50,
        k: 0.7,
        places: SCATTERED,
        exact: |at, k| vec![(PI * at[0]).cos() * (-at[1]).exp() * (PI * k.sqrt() * at[1]).cos()],
    },
    Case {
        name: "beam that swings",
        text: r#"
            [coordinates]
            x = [0.0, 1.0]
            t = { range = [0.0, 1.0], time = true }
            [equation.beam]
            holds = "u_tt = -k*u_xxxx"
            [condition.start]
            at = { t = 0.0 }
            holds = "u = sin(pi*x)"
            [condition.still]
            at = { t = 0.0 }
            holds = "u_t = 0"
            [condition.ends]
            at = { x = [0.0, 1.0] }
            holds = "u = 0"
            [condition.hinges]
            at = { x = [0.0, 1.0] }
            holds = "u_xx = 0"
            [observation.u]
            value = "u"
        "#,
        cells: 100,
        k: 0.05,
        places: SCATTERED,
        exact: |at, k| vec![(PI * at[0]).sin() * (PI * PI * k.sqrt() * at[1]).cos()],
    },
    Case {
        name: "heat flux that changes in time",
        text: r#"
            [coordinates]
            x = [0.0, 1.0]
            t = { range = [0.0, 1.0], time = true }
            [equation.heat]
            holds = "u_t = k*u_xx"
            [condition.start]
            at = { t = 0.0 }
            holds = "u = sin(2*x + 0.3)"
            [condition.flux]
            at = { x = 0.0 }
            holds = "-k*u_x = -2*k*exp(-4*k*t)*cos(0.3)"
            [condition.end]
            at = { x = 1.0 }
            holds = "u = exp(-4*k*t)*sin(2.3)"
            [observation.u]
            value = "u"
        "#,
        cells: 50,
        k: 0.4,
        places: SCATTERED,
        exact: |at, k| vec![(2.0 * at[0] + 0.3).sin() * (-4.0 * k * at[1]).exp()],
    },
    Case {
        name: "integral",
        text: r#"
            [coordinates]
            x = [0.0, 1.0]
            t = { range = [0.0, 1.0], time = true }
            [equation.heat]
            holds = "u_t = k*u_xx"
            [condition.start]
            at = { t = 0.0 }
            holds = "u = sin(pi*x)"
            [condition.ends]
            at = { x = [0.0, 1.0] }
            holds = "u = 0"
            [observation.u]
            value = "integral(u, x = [0, 0.3])"
        "#,
        cells: 50,
        k: 0.2,
        places: SCATTERED,
        exact: |at, k| vec![(1.0 - (0.3 * PI).cos()) / PI * (-k * PI * PI * at[1]).exp()],
    },
    // Kovasznay, Proc. Camb. Phil. Soc. 44, 58 (1948): the wake of a grid, k its viscosity. The values on the sides follow it.
    Case {
        name: "flow",
        text: r#"
            [coordinates]
            x = [-0.5, 1.0]
            y = [-0.5, 1.5]
            [equation.along]
            holds = "u*u_x + v*u_y = -p_x + k*lap(u)"
            [equation.across]
            holds = "u*v_x + v*v_y = -p_y + k*lap(v)"
            [equation.mass]
            holds = "u_x + v_y = 0"
            [condition.u-ends]
            at = { x = [-0.5, 1.0] }
            holds = "u = 1 - exp((1/(2*k) - sqrt(1/(4*k^2) + 4*pi^2))*x)*cos(2*pi*y)"
            [condition.u-sides]
            at = { y = [-0.5, 1.5] }
            holds = "u = 1 - exp((1/(2*k) - sqrt(1/(4*k^2) + 4*pi^2))*x)*cos(2*pi*y)"
            [condition.v-ends]
            at = { x = [-0.5, 1.0] }
            holds = "v = (1/(2*k) - sqrt(1/(4*k^2) + 4*pi^2))/(2*pi)*exp((1/(2*k) - sqrt(1/(4*k^2) + 4*pi^2))*x)*sin(2*pi*y)"
            [condition.v-sides]
            at = { y = [-0.5, 1.5] }
            holds = "v = (1/(2*k) - sqrt(1/(4*k^2) + 4*pi^2))/(2*pi)*exp((1/(2*k) - sqrt(1/(4*k^2) + 4*pi^2))*x)*sin(2*pi*y)"
            [condition.level]
            at = { x = 0.25, y = 0.5 }
            holds = "p = (1 - exp(2*(1/(2*k) - sqrt(1/(4*k^2) + 4*pi^2))*0.25))/2"
            [observation.u]
            value = "u"
            [observation.v]
            value = "v"
            [observation.p]
            value = "p"
        "#,
        cells: 24,
        k: 0.025,
        places: &[&[-0.2, 0.1], &[0.3, 0.9], &[0.7, -0.3], &[0.1, 1.2], &[0.85, 0.55]],
        exact: |at, k| {
            let rate = 0.5 / k - (0.25 / (k * k) + 4.0 * PI * PI).sqrt();
            let decay = (rate * at[0]).exp();
            let (sin, cos) = (2.0 * PI * at[1]).sin_cos();
            vec![1.0 - decay * cos, rate / (2.0 * PI) * decay * sin, (1.0 - decay * decay) / 2.0]
        },
    },
];

impl Case {
    fn problem(&self, cells: usize) -> Problem {
        let text =
            format!("name = \"case\"\n{}\n[unknown.k]\nguess = {}\ntruth = {}\n", self.text, self.k, self.k);
        let data = "data = { synthetic = { sobol = 10, noise = 0.1 } }\n";
        let mut stated = String::new();
        for line in text.lines() {
            stated += &format!("{}\n", line.trim());
            if line.trim().starts_with("value =") {
                stated += data;
            }
        }
        let set = [format!("classical.cells={cells}"), format!("classical.steps={cells}")];
        Problem::from_toml(self.name, &stated, Path::new("."), &Overrides::of(set.iter().map(String::as_str)))
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    fn sampling(&self, problem: &Problem, observation: &Observation) -> Sampling {
        let column = |axis: usize| self.places.iter().map(|place| place[axis]).collect();
        Sampling::new(problem, observation, (0..2).map(column).collect()).unwrap()
    }

    /// Everything observed with that many cells, and its derivative by k.
    fn solved(&self, cells: usize, k: f64) -> (Vec<f64>, Vec<f64>) {
        let problem = self.problem(cells);
        let reference =
            ReferenceSolver::new(&problem).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let unknown = &problem.unknowns[0];
        let eta = unknown.eta_of(k);
        let solution = reference.solve(&[eta][..]).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let (mut values, mut slopes) = (vec![], vec![]);
        for observation in &problem.observations {
            let found =
                solution.observed_with_slopes(observation, &self.sampling(&problem, observation)).unwrap();
            slopes.extend(found.slopes[0].iter().map(|slope| slope / unknown.theta_slope(eta)));
            values.extend(found.values);
        }
        (values, slopes)
    }

    fn error(&self, cells: usize) -> f64 {
        let exact: Vec<Vec<f64>> = self.places.iter().map(|place| (self.exact)(place, self.k)).collect();
        let (found, _) = self.solved(cells, self.k);
        let count = self.places.len();
        let off = found.iter().enumerate().map(|(i, value)| value - exact[i % count][i / count]);
        off.map(|off| off * off).sum::<f64>().sqrt()
    }
}

/// Halving the cells and the steps makes the error four times smaller: 3.4 to 4.6 at grids as coarse as these, more where a
/// higher order still shows.
#[test]
fn errors_are_of_second_order() {
    for case in CASES {
        let [coarse, fine] = [case.cells, 2 * case.cells].map(|cells| case.error(cells));
        let order = (coarse / fine).log2();
        assert!(order > 1.8, "{}: order {order:.2}, error {fine:.1e}", case.name);
        assert!(fine < 1e-2, "{}: error {fine:.1e}", case.name);
    }
}

/// Tangents are exact for what the solver returns, so that differences of its values, whose own error is 1e-7 of the slope,
/// agree to 1e-6; the adjoint gradient of a sum of values is the sum of their tangents up to rounding.
#[test]
fn derivatives_are_those_of_the_discrete_solution() {
    for case in CASES {
        let step = 1e-4 * case.k;
        let (_, slopes) = case.solved(case.cells, case.k);
        let at = |k: f64| case.solved(case.cells, k).0;
        // Of fourth order: the error of a difference over one step would be 1e-8 of the third derivative.
        let (a, b, c, d) =
            (at(case.k - 2.0 * step), at(case.k - step), at(case.k + step), at(case.k + 2.0 * step));
        let size = slopes.iter().fold(0.0_f64, |size, slope| size.max(slope.abs()));
        for (i, slope) in slopes.iter().enumerate() {
            let difference = (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * step);
            assert!(
                (slope - difference).abs() < 1e-6 * size,
                "{}: tangent {slope:e}, difference {difference:e}",
                case.name
            );
        }
        let problem = case.problem(case.cells);
        let reference = ReferenceSolver::new(&problem).unwrap();
        let eta = problem.unknowns[0].eta_of(case.k);
        let solution = reference.solve(&[eta][..]).unwrap();
        let count = case.places.len();
        for (number, observation) in problem.observations.iter().enumerate() {
            let sampling = case.sampling(&problem, observation);
            let gradient = solution.observed_gradient(observation, &sampling, &vec![1.0; count]).unwrap();
            let gradient = gradient.eta[0] / problem.unknowns[0].theta_slope(eta);
            let sum: f64 = slopes[number * count..(number + 1) * count].iter().sum();
            assert!(
                (gradient - sum).abs() < 1e-8 * size,
                "{}: adjoint {gradient:e}, tangents {sum:e}",
                case.name
            );
        }
    }
}
