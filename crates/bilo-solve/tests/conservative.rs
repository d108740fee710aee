//! Diffusion whose coefficient jumps, is given at nodes, or depends on states.

use crate::common;

use bilo_solve::{Resolution, Values};
use common::{SQUARE, Text, UNIT, assert_order, largest_error, largest_error_2d};

const TWO_LAYERS: &str = "if(x < 0.5, 1, 4)";

/// -(D u')' = 1 with D = 1 left and 4 right of 1/2, u = 0 at both ends: the
/// flux is c - x, u is piecewise quadratic and continuous.
fn two_layers(x: f64) -> f64 {
    // u(1/2) from the left: c/2 - 1/8; from the right: (3/8 - c/2)/4.
    let c = 0.35;
    if x <= 0.5 { c * x - 0.5 * x * x } else { (0.5 - c - 0.5 * x * x + c * x) / 4.0 }
}

#[test]
fn a_jump_of_the_coefficient_at_a_node_leaves_quadratic_pieces_exact() {
    // The faces carry the flux at their midpoints, which is linear. The forms
    // with D inside and outside the derivative read the same.
    for interior in [format!("div({TWO_LAYERS}*grad(u)) + 1"), format!("{TWO_LAYERS}*u_xx + 1")] {
        let text = Text { interior: &[&interior], lower: &["u"], upper: &["u"], ..UNIT };
        let solution = text.solve(&[], 10, 0).expect("linear");
        let error = largest_error(&solution, 0, |x, _| two_layers(x));
        assert!(error < 1e-14, "{interior}: {error}");
    }
}

#[test]
fn layers_are_of_second_order_with_every_kind_of_end() {
    // (D u')' = f with the flux q = D u' = exp(x), so u = e^x + a on the left
    // and e^x/4 + b on the right, continuous at 1/2.
    let half = 0.5_f64.exp();
    let exact = move |x: f64, _: f64| if x <= 0.5 { x.exp() } else { 0.25 * x.exp() + 0.75 * half };
    let right = format!("u - 0.25*e - 0.75*{half:?}");
    let robin = format!("4*u_x + u - e - 0.25*e - 0.75*{half:?}");
    for (lower, upper) in
        [("u - 1", &right[..]), ("u_x - 1", &right), ("u - 1", "u_x - 0.25*e"), ("u_x - 1", &robin)]
    {
        let interior = format!("div({TWO_LAYERS}*grad(u)) - exp(x)");
        let text = Text { interior: &[&interior], lower: &[lower], upper: &[upper], ..UNIT };
        let solver = text.solver().expect("well posed");
        assert_order(2.0, |refinement| {
            let resolution = text.resolution(20 * refinement, 0);
            let solution = solver.solve(&Values::default(), &resolution).expect("linear");
            largest_error(&solution, 0, exact)
        });
    }
}

#[test]
fn layers_on_a_ring_are_of_second_order() {
    // D = 1 on [0, 1/2), 4 on [1/2, 1); the jump at the seam is one more.
    // q = D u' = cos(2 pi x): u = sin(2 pi x)/(2 pi D), zero at both jumps.
    let pi = std::f64::consts::PI;
    let interior =
        format!("div({TWO_LAYERS}*grad(u)) - u + 2*pi*sin(2*pi*x) + sin(2*pi*x)/(2*pi*{TWO_LAYERS})");
    let text = Text { interior: &[&interior], periodic: &["x"], ..UNIT };
    let solver = text.solver().expect("well posed");
    assert_order(2.0, |refinement| {
        let solution =
            solver.solve(&Values::default(), &text.resolution(16 * refinement, 0)).expect("linear");
        largest_error(&solution, 0, |x, _| {
            (2.0 * pi * x).sin() / (2.0 * pi * if x < 0.5 { 1.0 } else { 4.0 })
        })
    });
}

#[test]
fn a_plane_of_two_layers_is_of_second_order() {
    // div(A grad u) = 0 with A = 1 below and 4 above a line: u is
    // exp(t)*(cos(n) + c*sin(n)) with n the distance from the line, t along it,
    // and c = 4 below, 1 above, so that u and the flux A u_n are continuous.
    let exact = |t: f64, n: f64| t.exp() * (n.cos() + if n < 0.0 { 4.0 } else { 1.0 } * n.sin());
    for (n, t) in [("x", "y"), ("y", "x")] {
        let interior = format!("div(if({n} < 0.5, 1, 4)*grad(u))");
        let s = format!("({n} - 0.5)");
        let side = format!("u - exp({t})*(cos({s}) + if({s} < 0, 4, 1)*sin({s}))");
        let side = &[&side[..]];
        let text =
            Text { interior: &[&interior], lower: side, upper: side, bottom: side, top: side, ..SQUARE };
        let solver = text.solver().expect("well posed");
        assert_order(2.0, |refinement| {
            let resolution = text.resolution(8 * refinement, 0);
            let solution = solver.solve(&Values::default(), &resolution).expect("linear");
            largest_error_2d(
                &solution,
                0,
                |x, y| if n == "x" { exact(y, x - 0.5) } else { exact(x, y - 0.5) },
            )
        });
    }
}

#[test]
fn nonlinear_diffusion_is_of_second_order() {
    // (u^2 u')' = f with u = 1 + x^2.
    let text = Text {
        interior: &["div(u^2*grad(u)) - 2*(1 + x^2)*(1 + 5*x^2)"],
        lower: &["u_x"],
        upper: &["u - 2"],
        guess: &["1.5"],
        ..UNIT
    };
    let solver = text.solver().expect("well posed");
    assert_order(2.0, |refinement| {
        let solution =
            solver.solve(&Values::default(), &text.resolution(16 * refinement, 0)).expect("solvable");
        largest_error(&solution, 0, |x, _| 1.0 + x * x)
    });
}

#[test]
fn a_coefficient_given_at_nodes_is_of_second_order() {
    // D = 1 + x^2 and u = sin(pi x), D along x alone.
    let text = Text {
        coefficients: &[("D", &["x"])],
        interior: &["div(D*grad(u)) + D*pi^2*sin(pi*x) - 2*x*pi*cos(pi*x)"],
        lower: &["u"],
        upper: &["u"],
        ..UNIT
    };
    let solver = text.solver().expect("well posed");
    assert_order(2.0, |refinement| {
        let resolution = text.resolution(16 * refinement, 0);
        let nodes = &solver.coefficient_nodes(0, &[], &resolution).expect("fine enough")[0];
        let d = nodes.iter().map(|x| 1.0 + x * x).collect();
        let values = Values { parameters: vec![], coefficients: vec![d] };
        let solution = solver.solve(&values, &resolution).expect("linear");
        largest_error(&solution, 0, |x, _| (std::f64::consts::PI * x).sin())
    });
}

#[test]
fn derivatives_of_a_coefficient_that_no_flux_absorbs_are_of_second_order() {
    // u = D'' + y D' in the plane, D = exp(2 x) given along x.
    let text =
        Text { y: Some((0.0, 1.0)), coefficients: &[("D", &["x"])], interior: &["u - D_xx - y*D_x"], ..UNIT };
    let solver = text.solver().expect("well posed");
    assert_order(2.0, |refinement| {
        let resolution = Resolution { cells: vec![40 * refinement, 5], steps: 0 };
        let nodes = &solver.coefficient_nodes(0, &[], &resolution).expect("fine enough")[0];
        let d = nodes.iter().map(|x| (2.0 * x).exp()).collect();
        let values = Values { parameters: vec![], coefficients: vec![d] };
        let solution = solver.solve(&values, &resolution).expect("linear");
        largest_error_2d(&solution, 0, |x, y| (4.0 + 2.0 * y) * (2.0 * x).exp())
    });
}
