//! Tangents and adjoints against finite differences, Taylor remainders and
//! each other.

use crate::common;

use bilo_solve::{Resolution, Solution, Solver, Values};
use common::{SQUARE, Text, UNIT};

/// A solver, what it is solved for, and where its solution is observed.
struct Case {
    solver: Solver,
    values: Values,
    resolution: Resolution,
    /// State and orders of what is observed at the points.
    observed: Vec<(usize, Vec<usize>)>,
    /// One column per coordinate.
    points: Vec<Vec<f64>>,
}

impl Case {
    /// Coefficients are given as functions of their first coordinate and of
    /// their last one.
    fn new(
        text: Text<'_>,
        parameters: &[f64],
        coefficients: &[fn(f64, f64) -> f64],
        (cells, steps): (usize, usize),
    ) -> Case {
        let solver = text.solver().expect("well posed");
        let mut resolution = text.resolution(cells, steps);
        // Different along the two axes, so that they cannot be confused.
        resolution.cells.iter_mut().skip(1).for_each(|cells| *cells += 1);
        let nodal = |(i, f): (usize, &fn(f64, f64) -> f64)| {
            let nodes = solver.coefficient_nodes(i, parameters, &resolution).expect("fine enough");
            let last = nodes.last().expect("at least one axis");
            match nodes.len() {
                1 => last.iter().map(|&x| f(x, x)).collect(),
                _ => nodes[0].iter().flat_map(|&x| last.iter().map(move |&y| f(x, y))).collect(),
            }
        };
        let coefficients = coefficients.iter().enumerate().map(nodal).collect();
        let coordinates = resolution.cells.len() + usize::from(text.time.is_some());
        let column =
            |c: usize| (1..8).map(|i| (f64::from(i) * (0.6180339 + 0.1 * c as f64)).fract()).collect();
        let mut observed = vec![(0, vec![0; coordinates]), (text.states.len() - 1, vec![0; coordinates])];
        observed[1].1[0] = 1;
        Case {
            values: Values { parameters: parameters.to_vec(), coefficients },
            solver,
            resolution,
            observed,
            points: (0..coordinates).map(column).collect(),
        }
    }

    fn points(&self) -> Vec<&[f64]> {
        self.points.iter().map(|column| &column[..]).collect()
    }

    fn solve(&self, values: &Values) -> Solution {
        self.solver.solve(values, &self.resolution).expect("solvable")
    }

    /// J = sum (s + 1)^2 / 2 over all samples s.
    fn objective(&self, values: &Values) -> f64 {
        let solution = self.solve(values);
        let of = |(state, orders): &(usize, Vec<usize>)| -> f64 {
            let samples = solution.sample(*state, orders, &self.points());
            samples.iter().map(|s| 0.5 * (s + 1.0).powi(2)).sum()
        };
        self.observed.iter().map(of).sum()
    }

    fn gradient(&self) -> Values {
        let solution = self.solve(&self.values);
        let mut load = solution.load();
        for (state, orders) in &self.observed {
            let samples = solution.sample(*state, orders, &self.points());
            let weights: Vec<f64> = samples.iter().map(|s| s + 1.0).collect();
            solution.scatter(&mut load, *state, orders, &self.points(), &weights);
        }
        self.solver.adjoint(&solution, &load).expect("regular")
    }

    /// dJ/dparameters by the tangents.
    fn gradient_by_tangents(&self) -> Vec<f64> {
        let solution = self.solve(&self.values);
        let tangents = self.solver.tangents(&solution, 0..self.values.parameters.len()).expect("regular");
        let by_one = |tangent: &Solution| {
            let of = |(state, orders): &(usize, Vec<usize>)| -> f64 {
                let samples = solution.sample(*state, orders, &self.points());
                let slopes = tangent.sample(*state, orders, &self.points());
                samples.iter().zip(&slopes).map(|(s, ds)| (s + 1.0) * ds).sum()
            };
            self.observed.iter().map(of).sum()
        };
        tangents.iter().map(by_one).collect()
    }

    fn check(&self) {
        let gradient = self.gradient();
        for (adjoint, tangent) in gradient.parameters.iter().zip(self.gradient_by_tangents()) {
            let scale = adjoint.abs().max(tangent.abs());
            assert!((adjoint - tangent).abs() <= 1e-10 * scale, "adjoint {adjoint}, tangent {tangent}");
        }
        for direction in self.directions() {
            self.check_along(&direction, dot(&gradient, &direction));
        }
    }

    /// Every parameter alone, one entry of each coefficient alone, and all
    /// values together, in the size of the values.
    fn directions(&self) -> Vec<Values> {
        let zero = scaled(&self.values, 0.0);
        let mut directions = Vec::new();
        for (j, p) in self.values.parameters.iter().enumerate() {
            directions.push(zero.clone());
            directions.last_mut().expect("just made").parameters[j] = p.abs();
        }
        for (c, nodal) in self.values.coefficients.iter().enumerate() {
            directions.push(zero.clone());
            let i = nodal.len() / 3;
            directions.last_mut().expect("just made").coefficients[c][i] = 1.0;
        }
        let mut all = scaled(&self.values, 0.7);
        let everything = all.parameters.iter_mut().chain(all.coefficients.iter_mut().flatten());
        everything.enumerate().for_each(|(i, v)| *v += 0.5 * (i as f64).sin());
        directions.push(all);
        directions
    }

    fn check_along(&self, direction: &Values, slope: f64) {
        let at = |e: f64| self.objective(&plus(&self.values, e, direction));
        // Fourth-order differences: error e^4 and rounding 1e-13/e. Larger steps
        // would let nodes that move with a break pass the points.
        let e = 2e-4;
        let difference = (8.0 * (at(e) - at(-e)) - (at(2.0 * e) - at(-2.0 * e))) / (12.0 * e);
        let error = (difference - slope).abs() / slope.abs();
        assert!(error < 1e-6, "differences {difference}, adjoint {slope}, error {error:.1e}");
        let start = at(0.0);
        let remainders = [4.0 * e, 2.0 * e, e].map(|e| {
            let change = at(e) - start;
            (change.abs(), (change - e * slope).abs())
        });
        // Where J is nearly quadratic the first remainder has some curvature.
        for pair in remainders.windows(2) {
            let rates = ((pair[0].0 / pair[1].0).log2(), (pair[0].1 / pair[1].1).log2());
            assert!((rates.0 - 1.0).abs() < 0.2, "first Taylor rate {}", rates.0);
            assert!((rates.1 - 2.0).abs() < 0.2, "second Taylor rate {}", rates.1);
        }
    }
}

fn scaled(values: &Values, factor: f64) -> Values {
    let mut scaled = values.clone();
    scaled.parameters.iter_mut().chain(scaled.coefficients.iter_mut().flatten()).for_each(|v| *v *= factor);
    scaled
}

fn plus(values: &Values, e: f64, direction: &Values) -> Values {
    let mut sum = values.clone();
    let steps = direction.parameters.iter().chain(direction.coefficients.iter().flatten());
    let all = sum.parameters.iter_mut().chain(sum.coefficients.iter_mut().flatten());
    all.zip(steps).for_each(|(v, d)| *v += e * d);
    sum
}

fn dot(a: &Values, b: &Values) -> f64 {
    let flat = |v: &Values| -> Vec<f64> {
        v.parameters.iter().chain(v.coefficients.iter().flatten()).copied().collect()
    };
    flat(a).iter().zip(flat(b)).map(|(a, b)| a * b).sum()
}

const EVOLVING: Text<'static> = Text { time: Some((0.0, 1.0)), ..UNIT };

#[test]
fn fisher_kpp() {
    let text = Text {
        parameters: &["D", "rho"],
        interior: &["u_t - 0.01*D*u_xx - rho*u*(1 - u)"],
        lower: &["u"],
        upper: &["u"],
        initial: &["0.5*sin(pi*x)^2"],
        ..EVOLVING
    };
    Case::new(text, &[2.0, 2.0], &[], (20, 10)).check();
}

#[test]
fn poisson_with_a_coefficient_at_nodes() {
    let text = Text {
        parameters: &["s"],
        coefficients: &[("D", &["x"])],
        interior: &["-div(D*grad(u)) - s*pi^2*sin(pi*x)"],
        lower: &["u"],
        upper: &["D*u_x + u - D"],
        ..UNIT
    };
    Case::new(text, &[1.3], &[|x, _| 1.0 + 0.5 * x.min(1.0 - x)], (24, 0)).check();
}

#[test]
fn darcy_with_a_coefficient_at_nodes() {
    let text = Text {
        parameters: &["c"],
        coefficients: &[("A", &["x", "y"]), ("f", &["y"])],
        interior: &["-div((A + c*x)*grad(u)) - f - f_y*u_x"],
        ..SQUARE
    };
    let a = |x: f64, y: f64| if x + y < 1.0 { 3.0 } else { 12.0 };
    Case::new(text, &[0.4], &[a, |_, y| 50.0 + 10.0 * y * y], (10, 0)).check();
}

#[test]
fn a_parameter_in_a_piecewise_flux() {
    let text = Text {
        y: Some((0.0, 1.0)),
        parameters: &["k", "g"],
        interior: &["-div(if(x + y < 0.8, k, 1)*grad(u)) - 20"],
        bottom: &["u_y + g*u"],
        ..SQUARE
    };
    Case::new(text, &[3.0, 0.5], &[], (8, 0)).check();
}

#[test]
fn heat_with_an_unknown_initial_function() {
    let text = Text {
        parameters: &["k", "a"],
        coefficients: &[("f", &["x"])],
        interior: &["u_t - k*u_xx"],
        lower: &["u"],
        upper: &["u_x + a*u"],
        initial: &["f + a*x^2 + 0.01*f_x"],
        ..EVOLVING
    };
    Case::new(text, &[0.1, 0.5], &[|x, _| x * (1.0 - x)], (16, 6)).check();
}

#[test]
fn two_states_that_feed_on_each_other() {
    // A variable time coefficient and a flux that couples the states as well.
    let text = Text {
        states: &["u", "v"],
        parameters: &["a", "b", "chi"],
        interior: &[
            "(1 + 0.2*v^2)*u_t - 0.1*u_xx - a*u*(1 - v) + div(chi*u*grad(v))",
            "v_t - 0.05*v_xx + b*v*u - x*t",
        ],
        lower: &["u_x", "v - b"],
        upper: &["u_x", "v_x"],
        initial: &["1 + 0.3*cos(pi*x)", "b*(1 - 0.2*x^2)"],
        ..EVOLVING
    };
    Case::new(text, &[1.0, 0.8, 0.1], &[], (16, 8)).check();
}

#[test]
fn a_state_without_a_time_derivative() {
    let text = Text {
        states: &["u", "p"],
        parameters: &["k"],
        interior: &["u_t - k*u_xx - p^2", "p_xx + k*u - p^3"],
        lower: &["u", "p"],
        upper: &["u", "p"],
        initial: &["sin(pi*x)", "0"],
        ..EVOLVING
    };
    Case::new(text, &[0.5], &[], (12, 6)).check();
}

#[test]
fn parameters_in_robin_conditions() {
    let text = Text {
        parameters: &["h", "g", "q"],
        interior: &["u_xx - q*u^3 + x"],
        lower: &["u_x - h*(u - g)"],
        upper: &["u_x + u^2 - g*h"],
        ..UNIT
    };
    Case::new(text, &[2.0, 0.7, 0.4], &[], (20, 0)).check();
}

#[test]
fn advection_and_diffusion_on_a_ring() {
    let text = Text {
        periodic: &["x"],
        parameters: &["c", "nu"],
        coefficients: &[("D", &["x"])],
        interior: &["u_t + c*u_x - div((nu + D)*grad(u)) - D_x*u"],
        initial: &["sin(2*pi*x) + D^2"],
        ..EVOLVING
    };
    let d = |x: f64, _: f64| 0.05 * (2.0 + (2.0 * std::f64::consts::PI * x).cos());
    Case::new(text, &[0.5, 0.02], &[d], (16, 8)).check();
}

#[test]
fn growth_in_the_plane() {
    let text = Text {
        y: Some((0.0, 1.0)),
        time: Some((0.0, 1.0)),
        periodic: &["y"],
        parameters: &["D", "rho"],
        coefficients: &[("P", &["x", "y"])],
        interior: &["u_t - D*div(P*grad(u)) - rho*u*(1 - u)"],
        lower: &["u_x"],
        upper: &["u_x"],
        initial: &["0.2 + 0.1*P"],
        ..UNIT
    };
    Case::new(text, &[0.05, 2.0], &[|x, y| 1.0 + 0.5 * (x - y).sin()], (6, 4)).check();
}

#[test]
fn parameters_inside_and_outside_a_mask() {
    let text = Text {
        time: Some((0.0, 1.0)),
        parameters: &["a", "b"],
        coefficients: &[("A", &["x", "y"])],
        interior: &["u_t - a*div(A*grad(u)) - b*u^2"],
        initial: &["b*x"],
        inside: Some("0.2 - (x - 0.5)^2 - (y - 0.5)^2"),
        outside: &["A + a*b*t"],
        ..SQUARE
    };
    Case::new(text, &[0.3, 0.6], &[|x, y| 1.0 + 0.5 * (x - y).sin()], (9, 4)).check();
}

#[test]
fn the_place_of_a_point_source() {
    let text = Text {
        parameters: &["lambda", "mu", "z"],
        interior: &["u_xx - mu*u*(1 + 0.1*u)"],
        lower: &["u"],
        upper: &["u_x + u"],
        interface: Some(("z^2", &["u_jump + lambda - 0.1*u*x"])),
        ..UNIT
    };
    // z^2 = 0.3721, 7.44 of 20 cells: finite differences keep the 7 of them.
    Case::new(text, &[3.0, 2.5, 0.61], &[], (20, 0)).check();
}

#[test]
fn a_moving_break_with_fluxes_and_coefficients() {
    let text = Text {
        parameters: &["k", "z"],
        coefficients: &[("D", &["x"])],
        interior: &["u_t - div((D + k*x)*grad(u)) - D_x*u - x"],
        lower: &["u_x - k"],
        upper: &["u"],
        initial: &["(1 - x^2)*z + 0.1*D_x"],
        interface: Some(("z + 0.1*k", &["(D + k*x)*u_jump + 2 + u"])),
        ..EVOLVING
    };
    Case::new(text, &[0.3, 0.44], &[|x, _| 1.0 + x * x], (16, 5)).check();
}

#[test]
fn scatter_is_the_transpose_of_sample() {
    let text = Text {
        y: Some((0.0, 1.0)),
        time: Some((0.0, 1.0)),
        periodic: &["x"],
        interior: &["u - sin(2*pi*x)*y*t"],
        initial: &["0"],
        ..UNIT
    };
    let solution = text.solve(&[], 6, 3).expect("algebraic");
    let points: [&[f64]; 3] = [&[0.13, 0.97, -0.2], &[0.5, 0.21, 0.9], &[0.0, 0.4, 0.77]];
    let weights = [1.5, -2.0, 0.3];
    for orders in [[0, 0, 0], [1, 0, 0], [0, 2, 1]] {
        let mut load = solution.load();
        solution.scatter(&mut load, 0, &orders, &points, &weights);
        let by_load: f64 = load.field(0).iter().zip(solution.field(0)).map(|(w, u)| w * u).sum();
        let samples = solution.sample(0, &orders, &points);
        let by_sample: f64 = samples.iter().zip(weights).map(|(s, w)| s * w).sum();
        assert!((by_load - by_sample).abs() < 1e-12, "{by_load} {by_sample}");
    }
}

#[test]
fn a_linear_problem_needs_one_factorisation_for_all_tangents() {
    let text = Text {
        parameters: &["k", "a"],
        interior: &["u_t - k*u_xx"],
        lower: &["u - a"],
        upper: &["u"],
        initial: &["a*sin(pi*x)"],
        ..EVOLVING
    };
    let solver = text.solver().expect("well posed");
    let solution = solver.solve(&Values::parameters(&[0.1, 2.0]), &text.resolution(20, 10)).expect("linear");
    let tangents = solver.tangents(&solution, 0..2).expect("regular");
    assert_eq!(tangents[0].work.factorisations, 1);
    // u is proportional to a.
    for (du, u) in tangents[1].field(0).iter().zip(solution.field(0)) {
        assert!((2.0 * du - u).abs() < 1e-13);
    }
}

/// Bands give the tangents of any group of parameters to the bit; groups of a plane are the same whatever the threads.
#[test]
fn tangents_of_groups_are_those_of_all() {
    let text = Text {
        parameters: &["k", "a", "b", "c", "d"],
        interior: &["u_t - k*u_xx - b*u - c*x"],
        lower: &["u - a*t"],
        upper: &["u"],
        initial: &["d*sin(pi*x)"],
        ..EVOLVING
    };
    let solver = text.solver().expect("well posed");
    let values = Values::parameters(&[0.1, 2.0, 0.3, 0.7, 1.1]);
    let solution = solver.solve(&values, &text.resolution(20, 10)).expect("linear");
    let all = solver.tangents(&solution, 0..5).expect("regular");
    let groups = solver.groups(&solution, 5, 2);
    assert_eq!(groups, [0..2, 2..5]);
    for group in groups {
        let own = solver.tangents(&solution, group.clone()).expect("regular");
        for (own, all) in own.iter().zip(&all[group]) {
            assert!(own.field(0).iter().zip(all.field(0)).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
    let interior: &[&str] = &["u_t - k*lap(u) - b*u - c*x"];
    let plane = Text { y: Some((0.0, 1.0)), interior, bottom: &["u"], top: &["u"], ..text };
    let solver = plane.solver().expect("well posed");
    let solution = solver.solve(&values, &plane.resolution(20, 2)).expect("linear");
    for threads in [1, 2, 8] {
        assert_eq!(solver.groups(&solution, 5, threads), [0..2, 2..5]);
    }
}

const OF_STATE: Text<'static> = Text {
    parameters: &["c", "D0", "D1", "D2", "q0", "q1", "q2"],
    interior: &["u_t - 0.1*div(D*grad(u)) - c*u"],
    lower: &["u_x - q"],
    upper: &["D*u_x + u - 1"],
    initial: &["1 + 0.3*cos(pi*x)"],
    ..EVOLVING
};

const OF_STATE_AT: [f64; 7] = [0.4, 1.0, 0.6, -0.2, 0.5, -0.3, 0.1];

/// A diffusivity of the state, in divergence form and in a condition, and a flux over time.
#[test]
fn functions_of_a_state_and_of_time() {
    let text = Text { curves: &[("D", "u"), ("q", "t")], ..OF_STATE };
    Case::new(text, &OF_STATE_AT, &[], (16, 8)).check();
}

/// The same parabolas written out: the same equations, solved to 1e-12.
#[test]
fn functions_of_a_state_are_what_they_are_written_out() {
    let curves = Text { curves: &[("D", "u"), ("q", "t")], ..OF_STATE };
    let written = Text {
        interior: &["u_t - 0.1*div((D0 + D1*u + D2*u^2)*grad(u)) - c*u"],
        lower: &["u_x - (q0 + q1*t + q2*t^2)"],
        upper: &["(D0 + D1*u + D2*u^2)*u_x + u - 1"],
        ..OF_STATE
    };
    let [a, b] = [curves, written].map(|text| text.solve(&OF_STATE_AT, 16, 8).expect("solvable"));
    assert!(a.field(0).iter().zip(b.field(0)).all(|(a, b)| (a - b).abs() < 1e-11 * b.abs()));
}

/// Of a state, of the other's and its own value with a place and a parameter, in the plane.
#[test]
fn a_function_of_an_expression() {
    let text = Text {
        parameters: &["k", "A0", "A1", "A2"],
        curves: &[("A", "k*u + x*y")],
        interior: &["-div(A*grad(u)) - 5"],
        bottom: &["u_y - 0.3*A*u"],
        ..SQUARE
    };
    Case::new(text, &[0.7, 1.0, 0.4, 0.2], &[], (8, 0)).check();
}

#[test]
fn a_function_of_a_state_beside_an_interface() {
    let text = Text {
        parameters: &["z", "lambda", "mu0", "mu1", "mu2"],
        curves: &[("mu", "u")],
        interior: &["u_xx - mu*u + x"],
        lower: &["u"],
        upper: &["u"],
        interface: Some(("z", &["u_jump + lambda*mu"])),
        ..UNIT
    };
    Case::new(text, &[0.437, 2.0, 1.0, 0.5, 0.3], &[], (24, 0)).check();
}

/// Each of many numbers has the derivatives that it has alone, to the last bit: bands are factorised at each time, whatever is
/// solved with them.
#[test]
fn adjoints_of_many_numbers_are_those_of_each() {
    let text = Text { curves: &[("D", "u"), ("q", "t")], ..OF_STATE };
    let case = Case::new(text, &OF_STATE_AT, &[], (16, 8));
    let solution = case.solve(&case.values);
    let load = |point: usize| {
        let columns: Vec<&[f64]> = case.points.iter().map(|column| &column[point..=point]).collect();
        let mut load = solution.load();
        solution.scatter(&mut load, 0, &[0, 0], &columns, &[1.0]);
        load
    };
    let loads: Vec<_> = (0..case.points[0].len()).map(load).collect();
    let together = case.solver.adjoints(&solution, &loads).expect("regular");
    for (load, found) in loads.iter().zip(&together) {
        assert_eq!(*found, case.solver.adjoint(&solution, load).expect("regular"));
        assert!(found.parameters.iter().any(|&slope| slope != 0.0));
    }
}
