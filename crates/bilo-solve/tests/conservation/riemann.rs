//! Two constant states: shocks, rarefactions and both at once.

use bilo_solve::conservation::Mesh;

use super::{Text, l1_error, orders};

const SHOCK: Text<'static> = Text {
    space: (0.0, 1.0),
    end: 1.0,
    parameters: &["a"],
    flux: super::BURGERS,
    is_speed: false,
    ends: Some(["out", "out"]),
    initial: Some("if(x < 0.25, 1, if(x > 0.25, 0.2, 0.6))"),
};

/// Rankine and Hugoniot: (f(1) - f(0.2))/(1 - 0.2).
fn shock_at(a: f64, t: f64) -> f64 {
    0.25 + 0.5 * a * (1.0 + 0.2) * t
}

#[test]
fn a_shock_is_within_one_cell_of_its_place_at_all_times() {
    let (cells, a) = (200, 0.9);
    let evolution = SHOCK.evolution(&[a], Mesh::new(cells, 10));
    for (k, &t) in evolution.t.iter().enumerate() {
        let level = evolution.level(k);
        let crossing = level.iter().position(|&u| u < 0.6).unwrap();
        let fraction = (level[crossing - 1] - 0.6) / (level[crossing - 1] - level[crossing]);
        let place = evolution.x[crossing - 1] + fraction / cells as f64;
        assert!((place - shock_at(a, t)).abs() < 1.0 / cells as f64, "{place} at {t}");
        // Sharp: beyond six cells on either side nothing of it is left.
        for (&x, &u) in evolution.x.iter().zip(level) {
            let far = (x - shock_at(a, t)).abs() > 6.5 / cells as f64;
            let exact = if x < shock_at(a, t) { 1.0 } else { 0.2 };
            assert!(!far || (u - exact).abs() < 1e-3, "{u} at {x}, {t}");
        }
    }
}

#[test]
fn a_shock_converges_with_order_one() {
    // At a = 5/6 the shock ends at 0.75, in the middle of a cell on all grids, so
    // that the error is the same number of cells: within 0.05 of order 1.
    let a = 5.0 / 6.0;
    let error = |cells| {
        let evolution = SHOCK.evolution(&[a], Mesh::new(cells, 1));
        l1_error(&evolution, 1, |x| if x < shock_at(a, 1.0) { 1.0 } else { 0.2 })
    };
    let orders = orders(100, error);
    assert!(orders.iter().all(|order| (order - 1.0).abs() < 0.05), "{orders:?}");
    assert!(error(800) < 2.0 / 800.0);
}

#[test]
fn a_transonic_rarefaction_has_no_jump_at_the_sonic_point() {
    let text = Text {
        space: (-1.0, 1.0),
        end: 0.5,
        parameters: &[],
        flux: "u^2/2",
        // Between two nodes: no state is sonic at the start.
        initial: Some("if(x < 0, -1, 1)"),
        ..Text::default()
    };
    let exact = |x: f64| (x / 0.5).clamp(-1.0, 1.0);
    let error = |cells| l1_error(&text.evolution(&[], Mesh::new(cells, 1)), 1, exact);
    // The theory is h log(1/h), whose order here is about 0.8; an expansion shock
    // would not converge at all.
    let orders = orders(200, error);
    assert!(orders.iter().all(|order| (0.7..1.0).contains(order)), "{orders:?}");
    let cells = 400;
    let evolution = text.evolution(&[], Mesh::new(cells, 1));
    let steepest = evolution.level(1).windows(2).map(|u| u[1] - u[0]).fold(0.0, f64::max);
    // The sonic flux 0 lies between two cells, whose states obey u' = -u^2/(2h) for the
    // right one: they come as close as 4 h/t.
    let h = 2.0 / cells as f64;
    assert!(steepest < 4.0 * h / 0.5, "{steepest}");
}

/// At m = 1/2 the shock, of speed (1 + sqrt(3))/2, is at 1/2 then: in the middle
/// of a cell on all grids.
const END: f64 = 0.366_025_403_784_438_6;

/// Two-phase flow, f = u^2/(u^2 + m (1-u)^2): not convex.
const BUCKLEY_LEVERETT: Text<'static> = Text {
    space: (0.0, 1.0),
    end: END,
    parameters: &["m"],
    flux: "u^2/(u^2 + m*(1-u)^2)",
    is_speed: false,
    ends: Some(["1", "out"]),
    initial: Some("0"),
};

fn speed(u: f64, m: f64) -> f64 {
    2.0 * m * u * (1.0 - u) / (u * u + m * (1.0 - u) * (1.0 - u)).powi(2)
}

/// A rarefaction from 1 down to sqrt(m/(1+m)), where the chord from 0 touches the
/// flux (Welge's tangent), then a shock to 0.
fn compound_wave(x: f64, t: f64, m: f64) -> f64 {
    let top = (m / (1.0 + m)).sqrt();
    if x > speed(top, m) * t {
        return 0.0;
    }
    let (mut lo, mut hi) = (top, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (lo + hi);
        *(if speed(middle, m) > x / t { &mut lo } else { &mut hi }) = middle;
    }
    lo
}

#[test]
fn buckley_leverett_gives_the_compound_wave() {
    let m = 0.5;
    // LeVeque's example: top of the shock at 1/sqrt(3), speed (1 + sqrt(3))/2.
    let top = (1.0_f64 / 3.0).sqrt();
    assert!((speed(top, m) - 0.5 * (1.0 + 3.0_f64.sqrt())).abs() < 1e-12);
    let error = |cells| {
        let evolution = BUCKLEY_LEVERETT.evolution(&[m], Mesh::new(cells, 1));
        l1_error(&evolution, 1, |x| compound_wave(x, END, m))
    };
    // As for any rarefaction, h log(1/h).
    let orders = orders(100, error);
    assert!(orders.iter().all(|order| (0.7..1.0).contains(order)), "{orders:?}");
    let cells = 800;
    assert!(error(cells) < 0.004, "{}", error(cells));
    let level = BUCKLEY_LEVERETT.evolution(&[m], Mesh::new(cells, 1)).level(1).to_vec();
    let front = level.iter().position(|&u| u < 0.5 * top).unwrap();
    let place = front as f64 / cells as f64;
    // The state behind the shock moves as fast as the shock does, which smears it over a few cells.
    assert!((place - 0.5).abs() < 4.0 / cells as f64, "{place}");
}

#[test]
fn an_integrated_speed_gives_the_same_solution_as_the_flux() {
    let by_speed = Text { is_speed: true, flux: "2*m*u*(1-u)/(u^2 + m*(1-u)^2)^2", ..BUCKLEY_LEVERETT };
    let mesh = Mesh::new(100, 5);
    let [a, b] = [BUCKLEY_LEVERETT, by_speed].map(|text| text.evolution(&[0.5], mesh));
    assert_eq!(a.steps, b.steps);
    for (a, b) in a.field().iter().zip(b.field()) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn a_flux_with_many_extrema_gives_the_upper_envelope() {
    // Down from 1.8 to 0 the solution follows the upper concave envelope of
    // sin(5u) (Osher): the curve up to its maximum at pi/10, a chord to the next
    // maximum at pi/2, and the curve again. So there are two rarefactions,
    // where 5 cos(5u) = x/t, with a shock at rest between them.
    let text = Text {
        space: (-2.0, 2.0),
        end: 0.25,
        parameters: &[],
        flux: "sin(5*u)",
        initial: Some("if(x < 0, 1.8, 0)"),
        ..Text::default()
    };
    let pi = std::f64::consts::PI;
    let exact = |x: f64| {
        let cosine = (x / 0.25 / 5.0).clamp(-1.0, 1.0);
        if x > 0.0 {
            if cosine >= 1.0 { 0.0 } else { cosine.acos() / 5.0 }
        } else {
            (2.0 * pi + cosine.acos()).min(9.0) / 5.0
        }
    };
    let error = |cells| l1_error(&text.evolution(&[], Mesh::new(cells, 1)), 1, exact);
    let orders = orders(100, error);
    assert!(orders.iter().all(|order| (0.7..1.1).contains(order)), "{orders:?}");
    assert!(error(800) < 0.02, "{}", error(800));
}
