//! Solutions with a kink, against the exact solution of
//! `u'' + lambda delta(x - z) - mu u = 0` with `u = 0` at both ends.

use crate::common;

use bilo_solve::{SolveError, Values};
use common::{SQUARE, Text, UNIT, assert_order, largest_error};

const SOURCE: Text<'static> = Text {
    parameters: &["lambda", "mu", "z"],
    interior: &["u_xx - mu*u"],
    lower: &["u"],
    upper: &["u"],
    interface: Some(("z", &["u_jump + lambda"])),
    ..UNIT
};

fn exact(x: f64, [lambda, mu, z]: [f64; 3]) -> f64 {
    let s = f64::sqrt(mu);
    lambda / s * (s * x.min(z)).sinh() * (s * (1.0 - x.max(z))).sinh() / s.sinh()
}

#[test]
fn a_point_source_is_of_second_order_at_and_away_from_the_kink() {
    let solver = SOURCE.solver().expect("well posed");
    for parameters in [[500.0, 2.5, 0.5], [3.0, 10.0, 0.3], [3.0, 10.0, 0.77]] {
        let solve = |cells| {
            let resolution = SOURCE.resolution(cells, 0);
            solver.solve(&Values::parameters(&parameters), &resolution).expect("linear")
        };
        // A multiple of ten, so that refinements of the two sides are halvings,
        // or nearly so at z = 0.77.
        assert_order(2.0, |refinement| {
            largest_error(&solve(100 * refinement), 0, |x, _| exact(x, parameters))
        });
        assert_order(2.0, |refinement| {
            let solution = solve(100 * refinement);
            let kink = solution.sample(0, &[0], &[&[parameters[2]]])[0];
            assert!(solution.axes[0].contains(&parameters[2]), "a node at the kink");
            (kink - exact(parameters[2], parameters)).abs()
        });
    }
}

#[test]
fn samples_do_not_cross_the_kink() {
    // u'' = 0: both sides are straight, and so are all samples.
    let solver = SOURCE.solver().expect("well posed");
    let values = Values::parameters(&[4.0, 0.0, 0.4]);
    let solution = solver.solve(&values, &SOURCE.resolution(10, 0)).expect("linear");
    let x = [0.1, 0.39, 0.4, 0.41, 0.43, 0.9];
    let line = |x: f64| 4.0 * x.min(0.4) * (1.0 - x.max(0.4));
    for (value, x) in solution.sample(0, &[0], &[&x]).iter().zip(x) {
        assert!((value - line(x)).abs() < 1e-13, "u({x}) = {value}");
    }
    // At the kink itself the slope is that below.
    let slopes = solution.sample(0, &[1], &[&x]);
    for (value, expected) in slopes.iter().zip([2.4, 2.4, 2.4, -1.6, -1.6, -1.6]) {
        assert!((value - expected).abs() < 1e-11, "{slopes:?}");
    }
}

#[test]
fn tangents_are_the_derivatives_of_the_exact_solution() {
    let solver = SOURCE.solver().expect("well posed");
    let parameters = [3.0, 10.0, 0.37];
    let x = [0.11, 0.3, 0.45, 0.81];
    for j in 0..3 {
        assert_order(2.0, |refinement| {
            // 37 of 100 cells below the kink, whatever the refinement.
            let resolution = SOURCE.resolution(100 * refinement, 0);
            let solution = solver.solve(&Values::parameters(&parameters), &resolution).expect("linear");
            let tangent = &solver.tangents(&solution, 0..3).expect("regular")[j];
            let error = |(du, x): (&f64, f64)| {
                let e = 1e-5;
                let [mut low, mut high] = [parameters; 2];
                (low[j], high[j]) = (low[j] - e, high[j] + e);
                (du - (exact(x, high) - exact(x, low)) / (2.0 * e)).abs()
            };
            tangent.sample(0, &[0], &[&x]).iter().zip(x).map(error).fold(0.0, f64::max)
        });
    }
}

#[test]
fn a_flux_on_either_side_of_a_kink_stays_of_second_order() {
    // (D u')' = 0 with D = 1 + x^2: u' = a/D below, b/D above z.
    let text = Text {
        parameters: &["z"],
        interior: &["div((1 + x^2)*grad(u))"],
        lower: &["u"],
        upper: &["u"],
        interface: Some(("0.5*z + 0.1", &["(1 + x^2)*u_jump + 2"])),
        ..UNIT
    };
    let solver = text.solver().expect("well posed");
    let z: f64 = 0.4;
    // a atan(z) = -b (atan(1) - atan(z)) and b - a = -2.
    let (kink, end) = (z.atan(), 1.0_f64.atan());
    let a = 2.0 * (end - kink) / end;
    assert_order(2.0, |refinement| {
        let resolution = text.resolution(20 * refinement, 0);
        let solution = solver.solve(&Values::parameters(&[0.6]), &resolution).expect("linear");
        largest_error(&solution, 0, |x, _| if x < z { a * x.atan() } else { (a - 2.0) * (x.atan() - end) })
    });
}

#[test]
fn what_an_interface_cannot_be_is_told() {
    let refusal = |text: Text<'_>| text.solver().expect_err("not an interface");
    let derivative = Text { interface: Some(("z", &["u_x + lambda"])), ..SOURCE };
    assert_eq!(refusal(derivative), SolveError::InterfaceDerivative { leaf: "u_x".to_string() });
    let inside = Text { interior: &["u_xx - u_jump"], ..SOURCE };
    let error = inside.solve(&[1.0, 1.0, 0.5], 10, 0).expect_err("a jump inside");
    assert!(matches!(error, SolveError::UnknownLeaf { .. }), "{error}");
    let moving = Text { interface: Some(("x", &["u_jump"])), ..SOURCE };
    assert_eq!(refusal(moving), SolveError::InterfaceInputs { leaf: "x".to_string() });
    let ring = Text { periodic: &["x"], lower: &[], upper: &[], ..SOURCE };
    assert_eq!(refusal(ring), SolveError::InterfaceSpace);
    let plane = Text { interior: &["lap(u)"], interface: Some(("0.5", &["u_jump"])), ..SQUARE };
    assert_eq!(refusal(plane), SolveError::InterfaceSpace);
    let error = SOURCE.solve(&[1.0, 1.0, 1.5], 10, 0).expect_err("beyond the end");
    assert_eq!(error, SolveError::InterfaceOutside { position: 1.5, lo: 0.0, hi: 1.0 });
    let error = SOURCE.solve(&[1.0, 1.0, 0.5], 7, 0).expect_err("four cells on each side");
    assert_eq!(error, SolveError::TooCoarse { name: "x".to_string(), cells: 7, needed: 8 });
}
