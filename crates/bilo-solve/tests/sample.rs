//! Values between the nodes. The algebraic equation `u - f` puts exact values
//! of `f` on the nodes, so that all error is the interpolation's.

use crate::common;

use std::f64::consts::PI;

use bilo_solve::Solution;
use common::{Text, UNIT, assert_order};

fn exact_nodes(f: &str, time: bool, periodic: bool, cells: usize) -> Solution {
    let residual = format!("u - ({f})");
    let initial = [f];
    let text = Text {
        time: time.then_some((0.0, 1.0)),
        periodic: if periodic { &["x"] } else { &[] },
        interior: &[&residual],
        initial: if time { &initial } else { &[] },
        ..UNIT
    };
    text.solve(&[], cells, cells).expect("algebraic")
}

/// A derivative of u at points (x, t), the time being left out if steady.
fn sample(solution: &Solution, orders: [usize; 2], points: &[(f64, f64)]) -> Vec<f64> {
    let (x, t): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    if solution.t.len() == 1 {
        return solution.sample(0, &orders[..1], &[&x]);
    }
    solution.sample(0, &orders, &[&x, &t])
}

/// Points that hit no node, both ends of the domain among them.
fn points() -> Vec<(f64, f64)> {
    (0..=97).map(|i| f64::from(i) / 97.0).map(|s| (s, (s * 5.3).fract())).collect()
}

fn largest_error(values: &[f64], points: &[(f64, f64)], exact: impl Fn(f64, f64) -> f64) -> f64 {
    values.iter().zip(points).map(|(v, &(x, t))| (v - exact(x, t)).abs()).fold(0.0, f64::max)
}

#[test]
fn values_at_nodes_are_exact() {
    let solution = exact_nodes("exp(x)*cos(3*t)", true, false, 7);
    let mut nodes = Vec::new();
    for &t in &solution.t {
        nodes.extend(solution.axes[0].iter().map(|&x| (x, t)));
    }
    assert_eq!(sample(&solution, [0, 0], &nodes), solution.field(0));
}

#[test]
fn cubic_polynomials_are_reproduced() {
    let solution = exact_nodes("x^3*t^3 - x^2 + t", true, false, 9);
    let points = points();
    let close = |ox, ot, exact: fn(f64, f64) -> f64, tolerance: f64| {
        let error = largest_error(&sample(&solution, [ox, ot], &points), &points, exact);
        assert!(error < tolerance, "order ({ox}, {ot}): {error}");
    };
    // Rounding grows by 9 = 1/h per order of derivative.
    close(0, 0, |x, t| (x * t).powi(3) - x * x + t, 1e-14);
    close(1, 0, |x, t| 3.0 * x * x * t.powi(3) - 2.0 * x, 1e-12);
    close(0, 1, |x, t| 3.0 * x.powi(3) * t * t + 1.0, 1e-12);
    close(2, 1, |x, t| 18.0 * x * t * t, 1e-10);
}

#[test]
fn values_and_derivatives_are_of_fourth_order() {
    let points = points();
    // The smooth function is not symmetric, so that no error cancels.
    type Case = (usize, usize, fn(f64, f64) -> f64);
    let cases: [Case; 4] = [
        (0, 0, |x, t| (x + 2.0 * t).exp()),
        (1, 0, |x, t| (x + 2.0 * t).exp()),
        (2, 0, |x, t| (x + 2.0 * t).exp()),
        (0, 1, |x, t| 2.0 * (x + 2.0 * t).exp()),
    ];
    for (order_x, order_t, exact) in cases {
        let error_at = |cells: usize| {
            let solution = exact_nodes("exp(x + 2*t)", true, false, cells);
            // Points at a fixed place within their cells, so that the error
            // constants are the same on every grid.
            let points: Vec<_> = points
                .iter()
                .map(|&(x, t)| {
                    let n = cells as f64;
                    let cell = |s: f64| ((s * n).floor().min(n - 1.0) + 0.37) / n;
                    (cell(x), cell(t))
                })
                .collect();
            let values = sample(&solution, [order_x, order_t], &points);
            largest_error(&values, &points, exact)
        };
        let rate = (error_at(40) / error_at(80)).log2();
        assert!((rate - 4.0).abs() < 0.3, "order ({order_x}, {order_t}): rate {rate}");
    }
}

#[test]
fn a_periodic_axis_wraps_and_stays_of_fourth_order() {
    let points: Vec<(f64, f64)> = points().iter().map(|&(x, t)| (3.0 * x - 1.0, t)).collect();
    for (order, exact) in [
        (0, (|x, _| (2.0 * PI * x).sin()) as fn(f64, f64) -> f64),
        (1, |x, _| 2.0 * PI * (2.0 * PI * x).cos()),
    ] {
        let error_at = |cells: usize| {
            let solution = exact_nodes("sin(2*pi*x)", false, true, cells);
            largest_error(&sample(&solution, [order, 0], &points), &points, exact)
        };
        let rate = (error_at(32) / error_at(64)).log2();
        assert!((rate - 4.0).abs() < 0.3, "order {order}: rate {rate}");
    }
    let solution = exact_nodes("sin(2*pi*x)", false, true, 16);
    let same = sample(&solution, [0, 0], &[(0.0, 0.0), (1.0, 0.0), (-3.0, 0.0), (5.0, 0.0)]);
    assert_eq!(same, [0.0; 4]);
}

#[test]
fn derivatives_of_a_solution_are_of_the_order_of_the_solution() {
    // u_x and u_xx of Poisson's equation, through the solver's own error.
    let text = Text { interior: &["u_xx + pi^2*sin(pi*x)"], lower: &["u"], upper: &["u"], ..UNIT };
    let points = points();
    for (order, exact) in
        [(1, (|x, _| PI * (PI * x).cos()) as fn(f64, f64) -> f64), (2, |x, _| -PI * PI * (PI * x).sin())]
    {
        assert_order(2.0, |refinement| {
            let solution = text.solve(&[], 40 * refinement, 0).expect("linear");
            largest_error(&sample(&solution, [order, 0], &points), &points, exact)
        });
    }
}
