//! Two space dimensions against exact solutions.

use crate::common;

use std::f64::consts::PI;

use bilo_solve::{Resolution, SolveError, Values};
use common::{SQUARE, Text, UNIT, assert_order, largest_error_2d};

/// Second order when all cells (and steps) are doubled together.
fn assert_second_order(
    text: Text<'_>,
    parameters: &[f64],
    (cells, steps): (usize, usize),
    exact: impl Fn(f64, f64) -> f64,
) {
    let solver = text.solver().expect("well posed");
    assert_order(2.0, |refinement| {
        // Different along the two axes, so that they cannot be confused.
        let cells = vec![cells * refinement, (cells + 2) * refinement];
        let resolution = Resolution { cells, steps: steps * refinement };
        let solution = solver.solve(&Values::parameters(parameters), &resolution).expect("solvable");
        largest_error_2d(&solution, 0, &exact)
    });
}

#[test]
fn poisson_is_of_second_order() {
    let text = Text { interior: &["lap(u) + 5*pi^2*sin(pi*x)*sin(2*pi*y)"], ..SQUARE };
    assert_second_order(text, &[], (8, 0), |x, y| (PI * x).sin() * (2.0 * PI * y).sin());
}

#[test]
fn sides_with_different_conditions_are_of_second_order() {
    // u = exp(x) cos(y): Dirichlet left, Neumann right, Robin below, Dirichlet above.
    let text = Text {
        interior: &["lap(u) - 2*u + 2*exp(x)*cos(y)"],
        lower: &["u - cos(y)"],
        upper: &["u_x - e*cos(y)"],
        bottom: &["u_y - u + exp(x)"],
        top: &["u - exp(x)*cos(1)"],
        ..SQUARE
    };
    assert_second_order(text, &[], (10, 0), |x, y| x.exp() * y.cos());
}

#[test]
fn flux_conditions_all_around_are_of_second_order() {
    // Every corner has two derivative conditions.
    let text = Text {
        interior: &["lap(u) - u + exp(x)*cos(y)"],
        lower: &["u_x - cos(y)"],
        upper: &["u_x - e*cos(y)"],
        bottom: &["u_y"],
        top: &["u_y + exp(x)*sin(1)"],
        ..SQUARE
    };
    assert_second_order(text, &[], (20, 0), |x, y| x.exp() * y.cos());
}

#[test]
fn the_dirichlet_side_owns_the_corner() {
    // At a corner with u given on one side only, u is right to rounding.
    let text = Text {
        interior: &["lap(u) - 2*exp(x + y)"],
        lower: &["u_x - exp(x + y)"],
        upper: &["u_x - exp(x + y)"],
        bottom: &["u - exp(x + y)"],
        top: &["u - exp(x + y)"],
        ..SQUARE
    };
    let solution = text.solve(&[], 8, 0).expect("linear");
    let field = solution.field(0);
    for (i, exact) in [(0, 1.0), (8, 1.0_f64.exp()), (72, 1.0_f64.exp()), (80, 2.0_f64.exp())] {
        assert!((field[i] - exact).abs() < 1e-14, "corner {i}: {}", field[i]);
    }
    assert!((field[4] - 0.5_f64.exp()).abs() > 1e-6, "the middle of the left side has an error");
}

#[test]
fn a_mixed_derivative_is_of_second_order() {
    let text = Text {
        interior: &["u_xx + u_xy + 2*u_yy - exp(x)*(4*exp(2*y) + exp(2*y)*3 + exp(2*y)*4)"],
        lower: &["u - exp(2*y)"],
        upper: &["u - exp(1 + 2*y)"],
        bottom: &["u - exp(x)"],
        top: &["u - exp(x + 2)"],
        ..SQUARE
    };
    assert_second_order(text, &[], (10, 0), |x, y| (x + 2.0 * y).exp());
}

#[test]
fn one_periodic_axis_and_one_with_sides_is_of_second_order() {
    let text = Text {
        periodic: &["x"],
        interior: &["lap(u) + c*u_x - 2*pi*cos(2*pi*x)*c*sin(pi*y) + 5*pi^2*sin(2*pi*x)*sin(pi*y)"],
        parameters: &["c"],
        bottom: &["u"],
        top: &["u"],
        y: Some((0.0, 1.0)),
        ..UNIT
    };
    assert_second_order(text, &[3.0], (12, 0), |x, y| (2.0 * PI * x).sin() * (PI * y).sin());
    let solution = text.solve(&[3.0], 8, 0).expect("linear");
    assert_eq!(solution.field(0)[..9], solution.field(0)[72..]);
}

#[test]
fn a_torus_is_of_second_order() {
    let text = Text {
        y: Some((0.0, 1.0)),
        periodic: &["x", "y"],
        interior: &["lap(u) - u + (1 + 8*pi^2)*sin(2*pi*x)*cos(2*pi*y)"],
        ..UNIT
    };
    assert_second_order(text, &[], (12, 0), |x, y| (2.0 * PI * x).sin() * (2.0 * PI * y).cos());
}

#[test]
fn a_clamped_plate_is_of_second_order() {
    // lap lap u = f with u = (sin(pi x) sin(pi y))^2, clamped on all sides.
    let text = Text {
        interior: &["u_xxxx + 2*u_xxyy + u_yyyy \
             - 4*pi^4*(4*cos(2*pi*x)*cos(2*pi*y) - cos(2*pi*x) - cos(2*pi*y))"],
        lower: &["u", "u_x"],
        upper: &["u", "u_x"],
        bottom: &["u", "u_y"],
        top: &["u", "u_y"],
        ..SQUARE
    };
    // The one-sided slopes reach their order late: 1.87 here, 1.94 with twice the cells.
    let exact = |x: f64, y: f64| ((PI * x).sin() * (PI * y).sin()).powi(2);
    let error = |cells| largest_error_2d(&text.solve(&[], cells, 0).expect("linear"), 0, exact);
    let rate = (error(32) / error(64)).log2();
    assert!((rate - 2.0).abs() < 0.15, "rate {rate}");
}

#[test]
fn a_nonlinear_equation_is_of_second_order() {
    // Liouville: u = log(8 b) - 2 log(1 + b r^2) solves lap u + exp(u) = 0, for b = 0.2.
    let side = "u - log(1.6) + 2*log(1 + 0.2*(x^2 + y^2))";
    let text = Text {
        interior: &["lap(u) + exp(u)"],
        lower: &[side],
        upper: &[side],
        bottom: &[side],
        top: &[side],
        ..SQUARE
    };
    assert_second_order(text, &[], (6, 0), |x, y| 1.6_f64.ln() - 2.0 * (1.0 + 0.2 * (x * x + y * y)).ln());
}

#[test]
fn heat_is_of_second_order_in_space_and_time() {
    let text = Text {
        time: Some((0.0, 0.1)),
        interior: &["u_t - lap(u)"],
        initial: &["sin(pi*x)*sin(pi*y)"],
        ..SQUARE
    };
    assert_second_order(text, &[], (8, 8), |x, y| (-0.2 * PI * PI).exp() * (PI * x).sin() * (PI * y).sin());
}

#[test]
fn a_system_of_two_states_is_of_second_order() {
    // v = -lap u, lap v = -f: the plate with hinged sides.
    let text = Text {
        states: &["u", "v"],
        interior: &["lap(u) + v", "lap(v) + 4*pi^4*sin(pi*x)*sin(pi*y)"],
        lower: &["u", "v"],
        upper: &["u", "v"],
        bottom: &["u", "v"],
        top: &["u", "v"],
        ..SQUARE
    };
    assert_second_order(text, &[], (8, 0), |x, y| (PI * x).sin() * (PI * y).sin());
}

/// The unit disc inside a box.
const DISC: Text<'static> =
    Text { x: (-1.2, 1.2), y: Some((-1.2, 1.2)), inside: Some("1 - x^2 - y^2"), outside: &["0"], ..SQUARE };

#[test]
fn a_disc_is_of_first_order_at_its_staircase() {
    let text = Text { interior: &["-lap(u) - 4"], ..DISC };
    let error = |cells: usize| {
        let solution = text.solve(&[], cells, 0).expect("linear");
        largest_error_2d(&solution, 0, |x, y| (1.0 - x * x - y * y).max(0.0))
    };
    // The staircase moves irregularly with the grid, so one rate over four
    // halvings; the error of a node next to it is at most 2 h.
    let errors = [error(12), error(192)];
    let rate = (errors[0] / errors[1]).log2() / 4.0;
    assert!(rate > 0.9, "rate {rate}, errors {errors:?}");
    assert!(errors[1] < 2.0 * 2.4 / 192.0, "{errors:?}");
}

#[test]
fn outside_the_mask_states_keep_their_values_from_the_start() {
    let text = Text {
        time: Some((0.0, 1.0)),
        parameters: &["k"],
        interior: &["u_t - k*lap(u) + u"],
        lower: &["u - 7"],
        initial: &["3"],
        outside: &["x + k*t"],
        ..DISC
    };
    let solution = text.solve(&[0.5], 12, 4).expect("linear");
    for (k, &t) in solution.t.iter().enumerate() {
        for (i, &x) in solution.axes[0].iter().enumerate() {
            for (j, &y) in solution.axes[1].iter().enumerate() {
                let u = solution.field(0)[(k * 13 + i) * 13 + j];
                // Some nodes are on the circle but for rounding.
                if x * x + y * y > 1.01 {
                    assert!((u - x - 0.5 * t).abs() < 1e-14, "{u} at {x} {y} {t}");
                }
            }
        }
    }
    // The middle is not outside.
    assert_eq!(solution.field(0)[6 * 13 + 6], 3.0);
}

#[test]
fn a_mask_depends_on_the_place_only() {
    let text = Text { parameters: &["r"], inside: Some("r - x"), interior: &["lap(u)"], ..DISC };
    let error = text.solver().expect_err("r is a parameter");
    assert_eq!(error, SolveError::MaskInputs { leaf: "r".to_string() });
}

#[test]
fn samples_between_the_nodes_are_of_fourth_order() {
    let error_at = |cells: usize| {
        let text = Text {
            y: Some((0.0, 1.0)),
            time: Some((0.0, 1.0)),
            interior: &["u - exp(x + 2*y)*cos(t)"],
            initial: &["exp(x + 2*y)*cos(t)"],
            ..UNIT
        };
        let solution = text.solve(&[], cells, cells).expect("algebraic");
        // The middle of a cell on every grid.
        let at = 0.5 / cells as f64 + 0.25;
        let value = solution.sample(0, &[1, 1, 0], &[&[at], &[2.0 * at], &[at]])[0];
        (value - 2.0 * (5.0 * at).exp() * at.cos()).abs()
    };
    let rate = (error_at(16) / error_at(32)).log2();
    assert!((rate - 4.0).abs() < 0.4, "rate {rate}");
}

#[test]
fn each_axis_needs_its_own_boundary_equations() {
    let text = Text { interior: &["lap(u)"], lower: &["u", "u_x"], upper: &["u", "u_x"], ..SQUARE };
    let error = text.solver().expect_err("four along x");
    assert!(matches!(error, SolveError::WrongCount { expected: 2, found: 4, .. }), "{error}");
    let error = Text { interior: &["lap(u)"], top: &[], ..SQUARE }.solver().expect_err("one along y");
    assert!(matches!(error, SolveError::WrongCount { expected: 2, found: 1, .. }), "{error}");
}
