//! Smooth solutions, from characteristics, and the sine wave that steepens.

use std::f64::consts::PI;

use bilo_solve::conservation::{Inputs, Mesh};

use super::{BURGERS, Text, l1_error, orders};

/// Burgers' equation before the shock: u = u0(x - a u t), by fixed-point
/// iteration, which gains a factor 0.9 a step up to 90 % of the time of the shock.
fn characteristic(u0: impl Fn(f64) -> f64, x: f64, at: f64) -> f64 {
    (0..200).fold(u0(x), |u, _| u0(x - at * u))
}

#[test]
fn before_the_shock_characteristics_are_followed_with_order_one() {
    // Periodic, then between ends where u = 0.
    let text = Text { ends: None, end: 0.5, initial: Some("sin(2*pi*x)"), ..Text::default() };
    for text in [text, Text { ends: Some(["0", "0"]), ..text }] {
        let exact = |x| characteristic(|x: f64| (2.0 * PI * x).sin(), x, 0.2 * 0.5);
        let error = |cells| l1_error(&text.evolution(&[0.2], Mesh::new(cells, 1)), 1, exact);
        let orders = orders(200, error);
        assert!(orders.iter().all(|order| (order - 1.0).abs() < 0.1), "{orders:?}");
        assert!(error(800) < 0.002, "{}", error(800));
    }
}

/// u(x, 0) = sin(2 pi x) with exactly opposite values on either side of 1/2.
fn odd_sine(cells: usize) -> Vec<f64> {
    let half: Vec<f64> = (0..cells / 2).map(|i| (2.0 * PI * i as f64 / cells as f64).sin()).collect();
    let mut values = half.clone();
    values.push(0.0);
    values.extend(half.iter().rev().map(|u| -u));
    values
}

#[test]
fn the_sine_wave_keeps_its_symmetry_and_gets_its_shock() {
    let cells = 1000;
    let text = Text { ends: Some(["0", "0"]), ..Text::default() };
    let godunov = text.godunov();
    let inputs = Inputs { parameters: vec![0.2], initial: odd_sine(cells) };
    let evolution = godunov.solve(&inputs, Mesh::new(cells, 20)).unwrap().evolution;
    for k in 0..evolution.t.len() {
        let level = evolution.level(k);
        assert_eq!((level[0], level[cells]), (0.0, 0.0));
        assert!((0..=cells).all(|i| level[i] == -level[cells - i]), "odd at {}", evolution.t[k]);
    }
    // The shock forms at t = 1/(2 pi a) = 0.796. Before, characteristics are followed, to first
    // order; at t = 1 the jump is 2 U with U = sin(2 pi a U), 2 * 0.7093.
    let u = evolution.sample(&[(0.48, 0.7)])[0];
    let exact = characteristic(|x: f64| (2.0 * PI * x).sin(), 0.48, 0.2 * 0.7);
    assert!((u - exact).abs() < 0.01, "{u} {exact}");
    let level = evolution.level(20);
    let jump = level[cells / 2 - 2] - level[cells / 2 + 2];
    let top = (0..400).fold(1.0, |u: f64, _| (2.0 * PI * 0.2 * u).sin());
    assert!((jump - 2.0 * top).abs() < 0.02, "{jump} {top}");
}

#[test]
fn waves_leave_through_an_outflow_end_and_enter_where_prescribed() {
    // Linear transport at speed a: u(x, t) = g(t - x/a) behind the front.
    let text = Text { flux: "a*u", ends: Some(["sin(3*t)", "out"]), initial: Some("0"), ..Text::default() };
    let a = 2.0;
    let exact = |x: f64| (3.0 * (1.0 - x / a)).sin();
    let error = |cells| l1_error(&text.evolution(&[a], Mesh::new(cells, 1)), 1, exact);
    let orders = orders(50, error);
    assert!(orders.iter().all(|order| (order - 1.0).abs() < 0.15), "{orders:?}");
    // With a < 0 nothing enters from below, whatever is prescribed there.
    let evolution = text.evolution(&[-a], Mesh::new(50, 1));
    assert!(evolution.field().iter().all(|&u| u == 0.0));
}

#[test]
fn given_values_that_grow_shorten_the_time_step() {
    // The inflow speeds up to 10 at the end: steps must be short enough for it.
    let text = Text { flux: BURGERS, ends: Some(["10*t", "out"]), initial: Some("0"), ..Text::default() };
    let evolution = text.evolution(&[1.0], Mesh::new(100, 1));
    assert!(evolution.steps as f64 >= 10.0 * 0.99 / (0.9 * 0.005), "{}", evolution.steps);
    // Characteristics carry u = 10 s from x = 0 at time s: x = 10 s (1 - s), so
    // at t = 1 the later half of them fills x < 2.5.
    let u = evolution.sample(&[(0.5, 1.0)])[0];
    let s = 0.5 + (0.25_f64 - 0.05).sqrt();
    assert!((u - 10.0 * s).abs() < 0.1, "{u} {}", 10.0 * s);
}
