//! Draws from densities whose moments are known.

use bilo_sample::diagnostics::{ess_bulk, mcse_mean, mcse_sd, mean, rhat, sd};
use bilo_sample::{Chain, Draw, Failure, LogDensity, Metric, Tuning, dispersed};

/// Four chains of so many draws from a dispersed start, those of tuning left out.
fn chains<D: LogDensity>(density: impl Fn() -> D, metric: &Metric, draws: usize) -> Vec<Vec<Draw>> {
    let tuning = Tuning { draws: 1000, ..Tuning::default() };
    let centre = vec![0.0; metric.dimension()];
    let chain = |number: u64| {
        let mut density = density();
        let start = dispersed(&mut density, &centre, metric, 2.0, [1, number]).expect("a start");
        let mut chain = Chain::new(start, metric.clone(), tuning, [1, number]);
        let all = (0..1000 + draws).map(|_| chain.draw(&mut density).expect("a draw"));
        all.filter(|draw| !draw.tuning).collect()
    };
    (0..4).map(chain).collect()
}

/// Mean and standard deviation of a quantity within four Monte Carlo errors of the exact ones, and chains that agree.
fn holds(chains: &[Vec<Draw>], quantity: impl Fn(&[f64]) -> f64, exact: (f64, f64)) {
    let values: Vec<Vec<f64>> =
        chains.iter().map(|chain| chain.iter().map(|draw| quantity(&draw.position)).collect()).collect();
    let slices: Vec<&[f64]> = values.iter().map(|chain| &chain[..]).collect();
    let all = values.concat();
    let (mean, sd) = (mean(&all), sd(&all));
    assert!(rhat(&slices) < 1.01, "rhat {}", rhat(&slices));
    assert!((mean - exact.0).abs() < 4.0 * mcse_mean(&slices), "mean {mean}, exact {}", exact.0);
    assert!((sd - exact.1).abs() < 4.0 * mcse_sd(&slices), "sd {sd}, exact {}", exact.1);
}

/// A correlated normal density of scales from 0.01 to 100.
struct Correlated;

const SCALES: [f64; 3] = [0.01, 1.0, 100.0];
const CORRELATION: f64 = 0.95;

impl LogDensity for Correlated {
    fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        // x0 and x1 are correlated, x2 stands alone.
        let y: Vec<f64> = x.iter().zip(SCALES).map(|(x, scale)| x / scale).collect();
        let rest = 1.0 - CORRELATION * CORRELATION;
        gradient[0] = -(y[0] - CORRELATION * y[1]) / rest / SCALES[0];
        gradient[1] = -(y[1] - CORRELATION * y[0]) / rest / SCALES[1];
        gradient[2] = -y[2] / SCALES[2];
        let square = (y[0] * y[0] - 2.0 * CORRELATION * y[0] * y[1] + y[1] * y[1]) / rest + y[2] * y[2];
        Ok(-square / 2.0)
    }
}

#[test]
fn a_normal_density_of_many_scales() {
    for metric in [Metric::unit(3), Metric::Dense(vec![vec![1.0], vec![0.0, 1.0], vec![0.0, 0.0, 1.0]])] {
        let found = chains(|| Correlated, &metric, 1000);
        for (i, scale) in SCALES.into_iter().enumerate() {
            holds(&found, |x| x[i], (0.0, scale));
        }
        let product = |x: &[f64]| x[0] / SCALES[0] * x[1] / SCALES[1];
        // E[xy] = r and Var[xy] = 1 + r².
        holds(&found, product, (CORRELATION, (1.0 + CORRELATION * CORRELATION).sqrt()));
    }
}

/// The logarithm of a Gamma(3, 2) number: skew, with a heavy tail to the left.
struct LogGamma;

impl LogDensity for LogGamma {
    fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        let y = x[0].exp();
        gradient[0] = 3.0 - 2.0 * y;
        Ok(3.0 * x[0] - 2.0 * y)
    }
}

#[test]
fn a_skew_density() {
    let found = chains(|| LogGamma, &Metric::unit(1), 2000);
    holds(&found, |x| x[0].exp(), (1.5, 0.75_f64.sqrt()));
    // Digamma(3) - ln 2, and the root of trigamma(3).
    holds(&found, |x| x[0], (0.922_784_335_098_467_1 - 2.0_f64.ln(), 0.394_934_066_848_226_4_f64.sqrt()));
}

/// A standard normal density of which one part cannot be computed, and nothing is known beyond 1.
struct Cut;

impl LogDensity for Cut {
    fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        gradient[0] = -x[0];
        match x[0] < 1.0 {
            true => Ok(-x[0] * x[0] / 2.0),
            false => Err(Failure::Unsolvable("no solution".to_owned())),
        }
    }
}

/// Where the density has no value trajectories diverge, and draws are of what remains.
#[test]
fn what_cannot_be_solved_is_a_divergence() {
    let found = chains(|| Cut, &Metric::unit(1), 4000);
    let divergent = found.iter().flatten().filter(|draw| draw.diverged_at.is_some()).count();
    assert!(divergent > 100, "{divergent}");
    assert!(found.iter().flatten().all(|draw| draw.position[0] < 1.0));
    // A normal number below 1: mean -φ(1)/Φ(1), variance 1 - φ(1)/Φ(1) - (φ(1)/Φ(1))².
    let ratio = 0.241_970_724_519_143_37 / 0.841_344_746_068_542_9;
    holds(&found, |x| x[0], (-ratio, (1.0 - ratio - ratio * ratio).sqrt()));
}

/// Chains that are stored after any draw, in tuning or later, go on to the same bits.
#[test]
fn stored_chains_go_on_to_the_same_bits() {
    let tuning = Tuning { draws: 150, ..Tuning::default() };
    let mut whole = Chain::new(vec![0.3; 3], Metric::unit(3), tuning, [5, 2]);
    let mut stored = whole.clone();
    for number in 0..300 {
        let draw = whole.draw(&mut Correlated).expect("a draw");
        if number % 7 == 3 {
            let text = serde_json::to_string(&stored).expect("JSON");
            stored = serde_json::from_str(&text).expect("JSON");
        }
        assert_eq!(stored.draw(&mut Correlated).expect("a draw"), draw, "draw {number}");
    }
    let mut other = Chain::new(vec![0.3; 3], Metric::unit(3), tuning, [5, 3]);
    assert_ne!(other.draw(&mut Correlated).expect("a draw").position, whole.position());
}

/// An end that somebody asks for leaves the chain where it was.
#[test]
fn an_interrupted_draw_is_made_again() {
    struct Patient(usize);
    impl LogDensity for Patient {
        fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
            self.0 = self.0.checked_sub(1).ok_or(Failure::Interrupted)?;
            Correlated.at(x, gradient)
        }
    }
    let tuning = Tuning { draws: 20, ..Tuning::default() };
    let mut whole = Chain::new(vec![0.3; 3], Metric::unit(3), tuning, [5, 2]);
    let mut broken = whole.clone();
    for number in 0..40 {
        let draw = whole.draw(&mut Correlated).expect("a draw");
        let patience = usize::from(number == 0 || number % 2 == 1);
        let failed = broken.clone().draw(&mut Patient(0));
        assert_eq!(failed, Err(Failure::Interrupted), "draw {number}");
        // Each draw takes one gradient at least; some are cut later.
        if broken.draw(&mut Patient(patience)).is_ok() {
            assert_eq!(whole.position(), broken.position());
            continue;
        }
        assert_eq!(broken.draws(), number);
        assert_eq!(broken.draw(&mut Correlated).expect("a draw"), draw, "draw {number}");
    }
}

/// As good as Stan's own sampler is on such a density: more than a third of the draws count in the bulk.
#[test]
fn draws_are_worth_much() {
    let found = chains(|| Correlated, &Metric::unit(3), 1000);
    for i in 0..3 {
        let values: Vec<Vec<f64>> =
            found.iter().map(|chain| chain.iter().map(|draw| draw.position[i]).collect()).collect();
        let slices: Vec<&[f64]> = values.iter().map(|chain| &chain[..]).collect();
        assert!(ess_bulk(&slices) > 1300.0, "{}", ess_bulk(&slices));
    }
}
