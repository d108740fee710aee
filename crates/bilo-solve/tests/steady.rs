//! Steady problems against exact solutions.

use crate::common;

use std::f64::consts::PI;

use bilo_solve::{Known, Solution, Solver, Values};
use common::{Text, UNIT, assert_order, largest_error};

/// Second order in space, over three halvings from `coarsest` cells.
fn assert_second_order(text: Text<'_>, parameters: &[f64], coarsest: usize, exact: impl Fn(f64) -> f64) {
    let solver = text.solver().expect("well posed");
    assert_order(2.0, |refinement| {
        let resolution = text.resolution(coarsest * refinement, 0);
        let solution = solver.solve(&Values::parameters(parameters), &resolution).expect("solvable");
        assert_eq!(solution.t, [0.0]);
        largest_error(&solution, 0, |x, _| exact(x))
    });
}

#[test]
fn poisson_is_of_second_order() {
    let text = Text {
        parameters: &["D"],
        interior: &["D*u_xx + pi^2*sin(pi*x)"],
        lower: &["u"],
        upper: &["u"],
        ..UNIT
    };
    assert_second_order(text, &[2.0], 10, |x| (PI * x).sin() / 2.0);
}

/// Bratu's problem.
const BRATU: Text<'static> = Text {
    parameters: &["lambda"],
    interior: &["u_xx + lambda*exp(u)"],
    lower: &["u"],
    upper: &["u"],
    ..UNIT
};

/// Its solution for a root of s = sqrt(2 lambda) cosh(s/4).
fn bratu(s: f64, x: f64) -> f64 {
    -2.0 * (((x - 0.5) * s / 2.0).cosh() / (s / 4.0).cosh()).ln()
}

#[test]
fn bratu_is_of_second_order() {
    let [lower, _] = bratu_roots(2.0);
    assert_second_order(BRATU, &[2.0], 10, |x| bratu(lower, x));
}

/// The roots, one on each side of the largest difference, by halving: the lower and the upper solution.
fn bratu_roots(lambda: f64) -> [f64; 2] {
    let excess = |s: f64| s - (2.0 * lambda).sqrt() * (s / 4.0).cosh();
    let top = 4.0 * (4.0 / (2.0 * lambda).sqrt()).asinh();
    [0.0, 40.0].map(|outside| {
        let (mut below, mut above) = (outside, top);
        for _ in 0..200 {
            let middle = 0.5 * (below + above);
            *(if excess(middle) < 0.0 { &mut below } else { &mut above }) = middle;
        }
        above
    })
}

#[test]
fn of_two_solutions_the_one_nearby_is_found_on_other_grids_too() {
    let solver = BRATU.solver().expect("well posed");
    let middle = |solution: &Solution| solution.sample(0, &[0], &[&[0.5]])[0];
    let solve = |lambda, cells, known: Known<'_>| {
        let resolution = BRATU.resolution(cells, 0);
        solver.solve_with(&Values::parameters(&[lambda]), &resolution, known).expect("solvable")
    };
    let [[lower, upper], [_, next]] = [1.5, 1.6].map(bratu_roots);
    let nodes = solver.nodes(&[1.5], &BRATU.resolution(200, 0)).expect("a grid");
    let start: Vec<f64> = nodes[0].iter().map(|&x| bratu(upper, x)).collect();
    let on_upper = solve(1.5, 200, Known { start: Some(&start), ..Known::default() });
    let there = solve(1.6, 320, Known { near: Some(&on_upper), ..Known::default() });
    let on_lower = solve(1.5, 200, Known::default());
    // Second order: h^2 is 2.5e-5, and the upper solution is steep.
    for (found, s) in [(&on_upper, upper), (&there, next), (&on_lower, lower)] {
        assert!((middle(found) - bratu(s, 0.5)).abs() < 5e-3, "{} not {}", middle(found), bratu(s, 0.5));
    }
    // The two are far from each other.
    assert!(bratu(upper, 0.5) > 2.0 * bratu(lower, 0.5));
}

#[test]
fn neumann_and_robin_ends_are_of_second_order() {
    let text =
        Text { interior: &["u_xx - exp(x)"], lower: &["u_x - 1"], upper: &["u_x + 2*u - 3*e"], ..UNIT };
    assert_second_order(text, &[], 20, f64::exp);
}

#[test]
fn a_nonlinear_end_is_of_second_order() {
    // Radiation: u' + u^4 given; another root is negative, so start near 2.
    let text = Text {
        interior: &["u_xx - exp(x)"],
        lower: &["u - 1"],
        upper: &["u_x + u^4 - e - e^4"],
        guess: &["2"],
        ..UNIT
    };
    assert_second_order(text, &[], 20, f64::exp);
}

#[test]
fn a_variable_coefficient_is_of_second_order() {
    // D = 1 + x^2 and u = sin(pi x); (D u')' by hand.
    let text = Text {
        interior: &["div((1 + x^2)*grad(u)) + (1 + x^2)*pi^2*sin(pi*x) - 2*x*pi*cos(pi*x)"],
        lower: &["u"],
        upper: &["u"],
        ..UNIT
    };
    assert_second_order(text, &[], 20, |x| (PI * x).sin());
}

#[test]
fn a_clamped_beam_is_of_second_order() {
    let text = Text {
        x: (0.0, 2.0),
        interior: &["u_xxxx - sin(x)"],
        lower: &["u", "u_x - 1"],
        upper: &["u - sin(2)", "u_x - cos(2)"],
        ..UNIT
    };
    assert_second_order(text, &[], 16, f64::sin);
}

#[test]
fn a_third_order_equation_is_of_second_order_accuracy() {
    let text =
        Text { interior: &["u_xxx + cos(x)"], lower: &["u", "u_x - 1"], upper: &["u - sin(1)"], ..UNIT };
    assert_second_order(text, &[], 20, f64::sin);
}

#[test]
fn both_conditions_at_one_end_are_allowed() {
    for (lower, upper) in [(&["u", "u_x - 1"][..], &[][..]), (&[], &["u - sin(1)", "u_x - cos(1)"])] {
        let text = Text { interior: &["u_xx + u"], lower, upper, ..UNIT };
        assert_second_order(text, &[], 20, f64::sin);
    }
}

#[test]
fn a_first_order_system_is_of_second_order_accuracy() {
    // u' = v, v' = -u with u given at both ends: one of them stands for v.
    let text = Text {
        states: &["u", "v"],
        interior: &["u_x - v", "v_x + u"],
        lower: &["u"],
        upper: &["u - sin(1)"],
        ..UNIT
    };
    assert_second_order(text, &[], 80, f64::sin);
}

#[test]
fn quadratic_solution_with_parameters_in_the_boundary_values_is_exact() {
    let text = Text {
        parameters: &["a", "b"],
        interior: &["u_xx - 2"],
        lower: &["u - a"],
        upper: &["u - b"],
        ..UNIT
    };
    let solver = text.solver().expect("well posed");
    for (a, b) in [(1.0, 1.0), (0.0, 1.0), (-3.0, 2.5)] {
        let values = Values::parameters(&[a, b]);
        let solution = solver.solve(&values, &text.resolution(64, 0)).expect("linear");
        // Central differences have no error on x^2; rounding times the
        // condition number 64^2 remains.
        let error = largest_error(&solution, 0, |x, _| x * x + (b - a - 1.0) * x + a);
        assert!(error < 1e-12, "{error}");
    }
}

#[test]
fn a_steady_periodic_problem_closes_on_itself() {
    let text = Text { periodic: &["x"], interior: &["u_xx - u + (1 + 4*pi^2)*sin(2*pi*x)"], ..UNIT };
    assert_second_order(text, &[], 16, |x| (2.0 * PI * x).sin());
    let solution = text.solve(&[], 16, 0).expect("solvable");
    assert_eq!(solution.axes[0].len(), 17);
    assert_eq!(solution.field(0)[0], solution.field(0)[16]);
}

#[test]
fn damping_carries_newton_from_a_far_guess() {
    // Undamped Newton on atan overshoots without end from |u| > 1.39.
    let text = Text {
        interior: &["1e-6*u_xx - atan(u - 1)"],
        lower: &["u - 1"],
        upper: &["u - 1"],
        guess: &["20"],
        ..UNIT
    };
    let solution = text.solve(&[], 20, 0).expect("damped Newton converges");
    assert!(largest_error(&solution, 0, |_, _| 1.0) < 1e-11);
}

#[test]
fn a_step_to_where_exponentials_overflow_is_shortened_until_they_do_not() {
    // Carriers of a semiconductor: from zero, where there are hardly any, the first step goes to exp(10^5).
    let text = Text {
        periodic: &["x"],
        parameters: &["K"],
        interior: &["u_xx + 8*pi^2*cos(2*pi*x) + K*(exp(14 + 2*cos(2*pi*x)) - exp(u))"],
        ..UNIT
    };
    assert_second_order(text, &[1e-3], 64, |x| 14.0 + 2.0 * (2.0 * PI * x).cos());
}

#[test]
fn a_coefficient_that_is_singular_where_a_boundary_equation_holds_does_no_harm() {
    // Polar Laplacian: u'' + u'/x = 4 has u = x^2; 1/x is never needed at 0.
    let text = Text { interior: &["u_xx + u_x/x - 4"], lower: &["u_x"], upper: &["u - 1"], ..UNIT };
    let solution = text.solve(&[], 32, 0).expect("linear");
    assert!(largest_error(&solution, 0, |x, _| x * x) < 1e-12);
}

#[test]
fn defined_symbols_stand_for_their_definitions() {
    let text = Text { parameters: &["D"], interior: &["D*u_xx + 1"], lower: &["u"], upper: &["u"], ..UNIT };
    let plain = text.solve(&[3.0], 8, 0).expect("linear");
    let mut statement = text.statement();
    let residual = statement.interior[0];
    let symbol = statement.graph.define("balance", residual);
    statement.interior[0] = statement.graph.leaf(symbol);
    let defined = Solver::new(statement)
        .and_then(|solver| solver.solve(&Values::parameters(&[3.0]), &text.resolution(8, 0)))
        .expect("linear");
    assert_eq!(plain.field(0), defined.field(0));
}
