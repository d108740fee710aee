//! Grids that are dense where something happens: radii over decades, times after a jump and around pulses.

use crate::common;

use bilo_solve::{Axis, Known, Resolution, Solution, Solver, Statement, Values};
use common::{Text, UNIT, assert_order};

/// A text whose first axis is divided evenly in its logarithm.
fn in_logarithm(text: Text<'_>) -> Solver {
    let statement = text.statement();
    let space = statement.space.iter().map(|axis| axis.logarithmic()).collect::<Vec<Axis>>();
    Solver::new(Statement { space, ..statement }).expect("well posed")
}

/// The largest error over the nodes.
fn error(solution: &Solution, exact: impl Fn(f64) -> f64) -> f64 {
    let pairs = solution.axes[0].iter().zip(solution.field(0));
    pairs.map(|(r, u)| (u - exact(*r)).abs()).fold(0.0, f64::max)
}

/// From a well of 0.1 m to 1000 m: u = 1/r between spheres and a parabola of log r between cylinders, as written and as a divergence.
#[test]
fn radii_over_decades_are_of_second_order() {
    let ends = Text { x: (0.1, 1000.0), ..UNIT };
    let sphere = Text { interior: &["u_xx + 2/x*u_x"], lower: &["u - 10"], upper: &["u - 0.001"], ..ends };
    let logarithm =
        Text { interior: &["d(x*u_x, x) + 1/x"], lower: &["u_x - 10"], upper: &["u - log(1000)"], ..ends };
    // With h = log(r): -h_ss = 1, so u = c + a s - s^2/2 with s = log(r/0.1).
    let whole = 1e4_f64.ln();
    let exact = |r: f64| {
        let s = (r / 0.1).ln();
        1000_f64.ln() + (s - whole) - 0.5 * (s * s - whole * whole)
    };
    let (sphere, logarithm) = (in_logarithm(sphere), in_logarithm(logarithm));
    let solve = |solver: &Solver, cells| {
        let resolution = Resolution { cells: vec![cells], steps: 0 };
        solver.solve(&Values::default(), &resolution).expect("solvable")
    };
    assert_order(2.0, |refinement| error(&solve(&sphere, 200 * refinement), |r| 1.0 / r));
    assert_order(2.0, |refinement| error(&solve(&logarithm, 200 * refinement), exact));
    // 200 cells do; even ones would be 5 m long.
    assert!(error(&solve(&sphere, 200), |r| 1.0 / r) < 0.01 * 10.0);
}

/// A wall that is suddenly hot: u = erfc(x/(2 sqrt(t))) as long as nothing has come to the other side.
const SUDDEN: Text<'static> = Text {
    time: Some((0.0, 0.02)),
    interior: &["u_t - u_xx"],
    lower: &["u - 1"],
    upper: &["u"],
    initial: &["0"],
    ..UNIT
};

/// Early on, where an even step is as long as all that has passed.
#[test]
fn times_after_a_jump_are_dense() {
    let solver = SUDDEN.solver().expect("well posed");
    let resolution = Resolution { cells: vec![800], steps: 200 };
    let values = Values::default();
    let coarse = Resolution { cells: vec![100], steps: 200 };
    let density = solver.transients(&values, &coarse).expect("solvable").expect("they are needed");
    // x/(2 sqrt(t)) = 0.5, 1 and 1.5; erfc of these as tabulated (Abramowitz and Stegun, table 7.1).
    let (x, t) = ([0.01, 0.02, 0.03], [1e-4; 3]);
    let exact = [0.479_500_122_2, 0.157_299_207_1, 0.033_894_853_5];
    let errors = [None, Some(&density[..])].map(|density| {
        let solution =
            solver.solve_with(&values, &resolution, Known { density, ..Known::default() }).expect("solvable");
        let u = solution.sample(0, &[0, 0], &[&x, &t]);
        u.iter().zip(exact).map(|(u, exact)| (u - exact).abs()).fold(0.0, f64::max)
    });
    assert!(errors[0] > 0.01, "{errors:?}: even steps do not see it");
    assert!(errors[1] < 1e-3, "{errors:?}");
}

/// Where nothing happens suddenly, times are even.
#[test]
fn times_of_a_smooth_solution_are_even() {
    let smooth = Text { initial: &["sin(pi*x)"], lower: &["u"], ..SUDDEN };
    let coarse = Resolution { cells: vec![100], steps: 200 };
    for end in [0.02, 0.2, 1.0] {
        let solver = Text { time: Some((0.0, end)), ..smooth }.solver().expect("well posed");
        assert_eq!(solver.transients(&Values::default(), &coarse), Ok(None), "until {end}");
    }
}

/// A pulse of heat that ends within a step: what came in is known to the last digit, and derivatives follow the pulse's end.
#[test]
fn a_step_ends_where_a_pulse_does() {
    let pulse = Text {
        time: Some((0.0, 1.0)),
        parameters: &["end"],
        interior: &["u_t - u_xx - if(t < end, 3, 0)"],
        lower: &["u_x"],
        upper: &["u_x"],
        initial: &["0"],
        ..UNIT
    };
    let solver = pulse.solver().expect("well posed");
    let resolution = Resolution { cells: vec![20], steps: 50 };
    let coarse = Resolution { cells: vec![20], steps: 200 };
    let at = |end: f64| {
        let values = Values::parameters(&[end]);
        let density = solver.transients(&values, &coarse).expect("solvable").expect("it has a pulse");
        let solution = solver
            .solve_with(&values, &resolution, Known { density: Some(&density), ..Known::default() })
            .expect("solvable");
        solution.sample(0, &[0, 0], &[&[0.5], &[1.0]])[0]
    };
    for end in [0.1234, 0.3, 0.501] {
        assert!((at(end) - 3.0 * end).abs() < 1e-9, "{end}: {}", at(end));
    }
}

/// u' = u^2 from 1: near the pole a long step has no solution, and the ones that were asked for are long.
#[test]
fn steps_without_a_solution_are_divided() {
    let text =
        Text { time: Some((0.0, 0.95)), periodic: &["x"], interior: &["u_t - u^2"], initial: &["1"], ..UNIT };
    let solver = text.solver().expect("well posed");
    let end = |steps| {
        let solution = solver.solve(&Values::default(), &text.resolution(4, steps)).expect("solvable");
        (solution.t.len() - 1, *solution.field(0).last().expect("there is an end"))
    };
    let (steps, coarse) = end(16);
    assert!(steps > 16, "{steps} steps");
    // 1/(1 - 0.95) = 20, which 200 steps come to by themselves, up to an error of second order.
    assert!((coarse - 20.0).abs() < 4.0, "{coarse}");
    let (steps, fine) = end(200);
    assert!(steps == 200 && (fine - 20.0).abs() < 0.05, "{fine} in {steps} steps");
}
