//! Evolving problems against exact solutions.

use crate::common;

use std::f64::consts::PI;

use bilo_solve::{Solver, Values, Work};
use common::{Text, UNIT, assert_order, largest_error};

/// From time 0 to 1.
const EVOLVING: Text<'static> = Text { time: Some((0.0, 1.0)), ..UNIT };

const HEAT: Text<'static> = Text {
    parameters: &["k"],
    interior: &["u_t - k*u_xx"],
    lower: &["u"],
    upper: &["u"],
    initial: &["sin(pi*x)"],
    ..EVOLVING
};

/// Fisher-KPP as in the paper's first experiment.
const FISHER: Text<'static> = Text {
    parameters: &["D", "rho"],
    interior: &["u_t - 0.01*D*u_xx - rho*u*(1 - u)"],
    lower: &["u"],
    upper: &["u"],
    initial: &["0.5*sin(pi*x)^2"],
    ..EVOLVING
};

/// Second order when cells and steps are doubled together.
fn assert_second_order(
    text: Text<'_>,
    parameters: &[f64],
    (cells, steps): (usize, usize),
    state: usize,
    exact: impl Fn(f64, f64) -> f64,
) {
    let solver = text.solver().expect("well posed");
    assert_order(2.0, |refinement| {
        let resolution = text.resolution(cells * refinement, steps * refinement);
        let solution = solver.solve(&Values::parameters(parameters), &resolution).expect("solvable");
        assert_eq!(solution.t.len(), resolution.steps + 1);
        largest_error(&solution, state, &exact)
    });
}

#[test]
fn a_decaying_mode_of_the_heat_equation_is_of_second_order() {
    assert_second_order(HEAT, &[0.3], (8, 8), 0, |x, t| (-0.3 * PI * PI * t).exp() * (PI * x).sin());
}

#[test]
fn time_alone_is_of_second_order() {
    // Quadratic in x, where central differences are exact: only SDIRK2 errs.
    let text = Text {
        interior: &["u_t - u_xx + u^3 + x*(1-x)*sin(3*t)*3 - 2*cos(3*t) - (x*(1-x)*cos(3*t))^3"],
        lower: &["u"],
        upper: &["u"],
        initial: &["x*(1-x)"],
        ..EVOLVING
    };
    let solver = text.solver().expect("well posed");
    assert_order(2.0, |refinement| {
        let resolution = text.resolution(8, 20 * refinement);
        let solution = solver.solve(&Values::default(), &resolution).expect("solvable");
        largest_error(&solution, 0, |x, t| x * (1.0 - x) * (3.0 * t).cos())
    });
}

#[test]
fn space_alone_is_of_second_order() {
    // Linear in t, where SDIRK2 is exact: only the stencils err.
    let text = Text {
        interior: &["u_t - u_xx - u^2 - sin(pi*x)*(1 + pi^2*(1+t)) + ((1+t)*sin(pi*x))^2"],
        lower: &["u"],
        upper: &["u"],
        initial: &["sin(pi*x)"],
        ..EVOLVING
    };
    let solver = text.solver().expect("well posed");
    assert_order(2.0, |refinement| {
        let resolution = text.resolution(10 * refinement, 3);
        let solution = solver.solve(&Values::default(), &resolution).expect("solvable");
        largest_error(&solution, 0, |x, t| (1.0 + t) * (PI * x).sin())
    });
}

#[test]
fn periodic_advection_and_diffusion_is_of_second_order() {
    let text = Text {
        periodic: &["x"],
        parameters: &["c", "nu", "s"],
        interior: &["u_t + c*u_x - nu*u_xx - s"],
        initial: &["sin(2*pi*x)"],
        ..EVOLVING
    };
    let (c, nu, s, k) = (0.5, 0.02, 0.3, 2.0 * PI);
    assert_second_order(text, &[c, nu, s], (40, 40), 0, |x, t| {
        s * t + (-nu * k * k * t).exp() * (k * (x - c * t)).sin()
    });
}

#[test]
fn a_travelling_wave_of_fisher_kpp_is_of_second_order() {
    // Ablowitz and Zeppetella (1979): speed 5/sqrt(6).
    let wave = "(1 + exp((x - 5*t/sqrt(6))/sqrt(6)))^(-2)";
    let end = format!("u - {wave}");
    let text = Text {
        x: (-10.0, 15.0),
        interior: &["u_t - u_xx - u*(1 - u)"],
        lower: &[&end],
        upper: &[&end],
        initial: &[wave],
        ..EVOLVING
    };
    assert_second_order(text, &[], (50, 10), 0, |x, t| {
        let root = 6.0_f64.sqrt();
        (1.0 + ((x - 5.0 * t / root) / root).exp()).powi(-2)
    });
}

#[test]
fn a_system_of_two_states_is_of_second_order() {
    let text = Text {
        states: &["u", "v"],
        parameters: &["nu", "w"],
        interior: &["u_t - nu*u_xx - w*v", "v_t - nu*v_xx + w*u"],
        lower: &["u", "v"],
        upper: &["u", "v"],
        initial: &["sin(pi*x)", "0"],
        ..EVOLVING
    };
    let (nu, w) = (0.1_f64, 2.0_f64);
    let decay = move |x: f64, t: f64| (-nu * PI * PI * t).exp() * (PI * x).sin();
    let size = (16, 16);
    assert_second_order(text, &[nu, w], size, 0, |x, t| decay(x, t) * (w * t).cos());
    assert_second_order(text, &[nu, w], size, 1, |x, t| -decay(x, t) * (w * t).sin());
}

#[test]
fn transport_keeps_its_equation_at_the_outflow_and_is_of_second_order() {
    // The profile enters at x = 0 (c > 0) or at x = 1 (c < 0).
    let profile = "u - sin(2*pi*(x - c*t))";
    for (c, lower, upper) in [(1.0, &[profile][..], &[][..]), (-1.0, &[], &[profile])] {
        let text = Text {
            parameters: &["c"],
            interior: &["u_t + c*u_x"],
            lower,
            upper,
            initial: &["sin(2*pi*x)"],
            ..EVOLVING
        };
        assert_second_order(text, &[c], (40, 40), 0, |x, t| (2.0 * PI * (x - c * t)).sin());
    }
}

#[test]
fn waves_as_a_first_order_system_are_of_second_order() {
    let text = Text {
        states: &["u", "v"],
        interior: &["u_t - v_x", "v_t - u_x"],
        lower: &["u"],
        upper: &["u"],
        initial: &["sin(pi*x)", "0"],
        ..EVOLVING
    };
    assert_second_order(text, &[], (20, 20), 0, |x, t| (PI * x).sin() * (PI * t).cos());
}

#[test]
fn mixed_derivatives_are_of_second_order() {
    // u_t - u_xxt = u_xx: the mode sin(pi x) decays at pi^2/(1 + pi^2).
    let text = Text {
        interior: &["u_t - u_xxt - u_xx"],
        lower: &["u"],
        upper: &["u"],
        initial: &["sin(pi*x)"],
        ..EVOLVING
    };
    assert_second_order(text, &[], (10, 10), 0, |x, t| {
        (-PI * PI / (1.0 + PI * PI) * t).exp() * (PI * x).sin()
    });
}

#[test]
fn a_state_without_time_derivative_follows_its_constraint_at_second_order() {
    // p_xx = -u at every time; then u = exp((1/pi^2 - pi^2) t) sin(pi x), p = u/pi^2.
    let text = Text {
        time: Some((0.0, 0.2)),
        states: &["u", "p"],
        interior: &["u_t - u_xx - p", "p_xx + u"],
        lower: &["u", "p"],
        upper: &["u", "p"],
        initial: &["sin(pi*x)", "sin(pi*x)/pi^2"],
        ..EVOLVING
    };
    assert_second_order(text, &[], (10, 10), 1, |x, t| {
        ((1.0 / (PI * PI) - PI * PI) * t).exp() * (PI * x).sin() / (PI * PI)
    });
}

#[test]
fn a_flux_condition_that_moves_in_time_is_of_second_order() {
    let text = Text {
        interior: &["u_t - u_xx - exp(x)*(cos(t) - sin(t))"],
        lower: &["u_x - sin(t)"],
        upper: &["u_x + u - 2*e*sin(t)"],
        initial: &["0"],
        ..EVOLVING
    };
    assert_second_order(text, &[], (20, 20), 0, |x, t| x.exp() * t.sin());
}

#[test]
fn the_order_of_the_inputs_of_a_state_does_not_matter() {
    let mut statement = HEAT.statement();
    let (x, t) = (statement.space[0].symbol, statement.time.expect("evolving").symbol);
    let graph = &mut statement.graph;
    let inputs = vec![graph.leaf(t), graph.leaf(x)];
    let u = graph.function("u", inputs);
    let value = graph.value(u);
    let (u_t, u_x) = (graph.diff(value, t), graph.diff(value, x));
    let u_xx = graph.diff(u_x, x);
    let k = graph.leaf(statement.parameters[0]);
    let flux = graph.mul(k, u_xx);
    statement.interior = vec![graph.sub(u_t, flux)];
    statement.boundary[0].residual = value;
    statement.boundary[1].residual = value;
    statement.states = vec![u];
    let size = HEAT.resolution(10, 10);
    let swapped = Solver::new(statement)
        .and_then(|solver| solver.solve(&Values::parameters(&[0.3]), &size))
        .expect("the heat equation");
    let usual = HEAT.solve(&[0.3], 10, 10).expect("the heat equation");
    assert_eq!(swapped.field(0), usual.field(0));
}

#[test]
fn the_initial_values_are_kept_as_given() {
    // They do not satisfy the boundary equations, and need not.
    let text = Text { initial: &["1 + x"], ..HEAT };
    let solution = text.solve(&[0.3], 8, 4).expect("the heat equation");
    for (u, x) in solution.field(0)[..9].iter().zip(&solution.axes[0]) {
        assert_eq!(*u, 1.0 + x);
    }
    assert_eq!(solution.field(0)[9], 0.0);
}

#[test]
fn an_extrapolated_guess_outside_the_domain_of_the_equation_is_given_up() {
    // The jump at the ends makes the first slopes steep; along them u < 0.
    let text = Text {
        interior: &["u_t - u_xx + 0.01*sqrt(u)"],
        lower: &["u - 0.4"],
        upper: &["u - 0.4"],
        initial: &["1"],
        ..EVOLVING
    };
    let solution = text.solve(&[], 50, 50).expect("positive solution");
    assert!(solution.field(0).iter().all(|u| (0.0..=1.0).contains(u)));
}

#[test]
fn a_linear_problem_is_factorised_once_and_takes_one_update_per_stage() {
    let solution = HEAT.solve(&[0.3], 100, 40).expect("the heat equation");
    assert_eq!(solution.work, Work { newton_iterations: 80, factorisations: 1, steps: 40 });
}

#[test]
fn fisher_kpp_takes_the_frozen_amount_of_work() {
    let solution = FISHER.solve(&[2.0, 2.0], 100, 100).expect("solvable");
    assert_eq!(solution.work, Work { newton_iterations: 581, factorisations: 1, steps: 100 });
}
