//! What a conservative monotone scheme keeps exactly, and the times it stores.

use std::f64::consts::PI;

use bilo_solve::conservation::{Evolution, Inputs, Levels, Mesh};

use super::{Text, widths};

fn mass(evolution: &Evolution, k: usize) -> f64 {
    widths(evolution).iter().zip(evolution.level(k)).map(|(w, u)| w * u).sum()
}

fn total_variation(level: &[f64]) -> f64 {
    level.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum()
}

const ROUGH: &str = "sin(2*pi*x) + 0.5*cos(6*pi*x) + if(x < 0.3, 1, 0.2)";

#[test]
fn a_periodic_law_keeps_its_mass_and_its_variation_never_grows() {
    for flux in ["a*u^2/2", "u^2/(u^2 + a*(1-u)^2)", "sin(4*a*u)"] {
        let text = Text { ends: None, flux, initial: Some(ROUGH), ..Text::default() };
        let mesh = Mesh { levels: Levels::EveryStep, ..Mesh::new(150, 1) };
        let evolution = text.evolution(&[0.7], mesh);
        let start = mass(&evolution, 0);
        let (lo, hi) =
            evolution.level(0).iter().fold((f64::MAX, f64::MIN), |(lo, hi), u| (u.min(lo), u.max(hi)));
        for k in 1..evolution.t.len() {
            // Rounding of 150 terms of order 1.
            assert!((mass(&evolution, k) - start).abs() < 1e-13, "{flux}");
            let [before, now] = [k - 1, k].map(|k| total_variation(evolution.level(k)));
            assert!(now <= before + 1e-12, "{flux}: {before} to {now}");
            assert!(evolution.level(k).iter().all(|u| (lo..=hi).contains(u)), "{flux}");
        }
    }
}

#[test]
fn between_open_ends_mass_changes_by_the_fluxes_at_the_ends() {
    // All waves run to the right and none reaches the upper end: f(0.8) in, f(0.3) out.
    let text = Text {
        ends: Some(["0.8", "out"]),
        initial: Some("0.3 + 20*max(0, (x-0.3)*(0.4-x))"),
        ..Text::default()
    };
    let a = 0.5;
    let evolution = text.evolution(&[a], Mesh::new(120, 7));
    for (k, t) in evolution.t.iter().enumerate() {
        let expected = mass(&evolution, 0) + t * 0.5 * a * (0.64 - 0.09);
        assert!((mass(&evolution, k) - expected).abs() < 1e-13, "{t}");
    }
}

#[test]
fn stored_times_are_hit_exactly_and_do_not_depend_on_how_many_there_are() {
    let text = Text { ends: Some(["0", "0"]), initial: Some("sin(2*pi*x)"), ..Text::default() };
    let evolution = text.evolution(&[0.2], Mesh::new(100, 3));
    assert_eq!(evolution.t, [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]);
    assert_eq!(evolution.steps % 3, 0);
    // Cells of half a width at the ends: 0.2 dt <= 0.9 * 0.005.
    assert_eq!(evolution.steps, 45);
    let all = text.evolution(&[0.2], Mesh { levels: Levels::EveryStep, ..Mesh::new(100, 1) });
    assert_eq!(all.t.len(), 46);
    for (k, level) in [(15, 1), (30, 2), (45, 3)] {
        assert_eq!(all.level(k), evolution.level(level));
    }
}

#[test]
fn samples_are_linear_exact_at_nodes_and_never_overshoot() {
    let text = Text { initial: Some("if(x < 0.5, 1, -1)"), ..Text::default() };
    let evolution = text.evolution(&[0.2], Mesh::new(40, 4));
    let points: Vec<(f64, f64)> =
        (0..2000).map(|i| ((i as f64 * 0.618).fract() * 1.2 - 0.1, (i as f64 * 0.414).fract())).collect();
    // Up to the rounding of four weights.
    assert!(evolution.sample(&points).iter().all(|u| u.abs() <= 1.0 + 1e-15));
    assert_eq!(
        evolution.sample(&[(0.25, 0.5), (7.0, 0.5)]),
        [evolution.level(2)[10], evolution.level(2)[40]]
    );
    let mean = 0.25 * (0..2).flat_map(|k| [19, 20].map(|i| evolution.level(k)[i])).sum::<f64>();
    let middle = evolution.sample(&[(19.5 / 40.0, 0.125)])[0];
    assert!((middle - mean).abs() < 1e-14);
    // Periodic axes wrap.
    let ring = Text { ends: None, initial: Some("cos(2*pi*x)"), ..text }.evolution(&[0.0], Mesh::new(40, 1));
    let [inside, outside] = [0.3, -1.7].map(|x| ring.sample(&[(x, 0.0)])[0]);
    assert!((inside - outside).abs() < 1e-13);
    assert_eq!((ring.x.len(), ring.level(1)[0]), (41, ring.level(1)[40]));
}

#[test]
fn the_same_bits_every_time() {
    let text = Text { initial: Some(ROUGH), ..Text::default() };
    let [a, b] = [(); 2].map(|()| text.evolution(&[0.4], Mesh::new(100, 2)));
    assert_eq!(a.field(), b.field());
}

#[test]
fn a_state_at_the_edge_of_the_flux_s_domain_stays_inside() {
    // u^1.5 has no value below 0, where rounding would lead.
    let text = Text { flux: "a*u^1.5", initial: Some("max(0, sin(2*pi*x))"), ends: None, ..Text::default() };
    let evolution = text.evolution(&[0.9], Mesh::new(200, 4));
    assert!(evolution.field().iter().all(|u| (0.0..=1.0).contains(u)));
    let nodal = Text { initial: None, ..text };
    let initial = (0..200).map(|i| (2.0 * PI * i as f64 / 200.0).sin().max(0.0)).collect();
    let inputs = Inputs { parameters: vec![0.9], initial };
    let godunov = nodal.godunov();
    let run = godunov.solve(&inputs, Mesh::new(200, 4)).unwrap();
    for (a, b) in run.evolution.field().iter().zip(evolution.field()) {
        assert!((a - b).abs() < 1e-13);
    }
}
