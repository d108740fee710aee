//! The benchmark of Aristoff and Bangerth (data/aristoff-bangerth/README.md): its forward model, the gradient of its
//! log-density, and draws from its posterior.

#[path = "../examples/aristoff_bangerth/band.rs"]
mod band;
#[path = "../examples/aristoff_bangerth/model.rs"]
mod model;
#[path = "../examples/aristoff_bangerth/published.rs"]
mod published;

use bilo_sample::diagnostics::rhat;
use bilo_sample::{Chain, LogDensity, Metric, Tuning, dispersed};
use model::{Benchmark, COEFFICIENTS};
use published::{Compared, asymmetry, compare, moments};

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

/// Log-likelihoods are those that were published, to half of their last digit and what rounding may add to that.
#[test]
fn the_forward_model_is_that_of_the_benchmark() {
    let published = [
        (include_str!("data/aristoff-bangerth/coefficients-0.txt"), -228.510844004, 1e-9),
        (include_str!("data/aristoff-bangerth/coefficients-3.txt"), -852.897808712, 1e-9),
        (include_str!("data/aristoff-bangerth/coefficients-5.txt"), -1127.22545783, 1e-8),
    ];
    let mut benchmark = Benchmark::new();
    for (coefficients, theirs, digit) in published {
        let ours = benchmark.log_likelihood(&numbers(coefficients)).expect("a solution");
        assert!((ours - theirs).abs() < 0.6 * digit, "{ours:.10}, published {theirs}");
    }
}

/// The prior is the published one, exp(-Σ (ln a)²/8) in the coefficients, up to a constant: between two points the
/// log-density changes by its share, the change of the likelihood and that of Σ ln a.
#[test]
fn the_prior_is_that_of_the_benchmark() {
    let mut benchmark = Benchmark::new();
    let mut excess = |coefficients: &[f64]| {
        let likelihood = benchmark.log_likelihood(coefficients).expect("a solution");
        let logarithms: Vec<f64> = coefficients.iter().map(|a| a.ln()).collect();
        let density = benchmark.at(&logarithms, &mut [0.0; COEFFICIENTS]).expect("a value");
        density - likelihood - logarithms.iter().map(|m| m - m * m / 8.0).sum::<f64>()
    };
    let ones = excess(&[1.0; COEFFICIENTS]);
    let others = excess(&numbers(include_str!("data/aristoff-bangerth/coefficients-3.txt")));
    assert!((ones - others).abs() < 1e-10, "{ones} and {others}");
}

/// The gradient is that of central differences of fourth order, whose own error is about 1e-9 of the largest slope.
#[test]
fn the_gradient_is_that_of_the_density() {
    const STEP: f64 = 1e-3;
    let mut benchmark = Benchmark::new();
    for text in [
        include_str!("data/aristoff-bangerth/coefficients-0.txt"),
        include_str!("data/aristoff-bangerth/coefficients-5.txt"),
    ] {
        let centre: Vec<f64> = numbers(text).into_iter().map(f64::ln).collect();
        let (mut gradient, mut other) = ([0.0; COEFFICIENTS], [0.0; COEFFICIENTS]);
        benchmark.at(&centre, &mut gradient).expect("a value");
        let largest = gradient.iter().fold(0.0_f64, |most, slope| most.max(slope.abs()));
        for k in 0..COEFFICIENTS {
            let mut at = |steps: f64| {
                let mut moved = centre.clone();
                moved[k] += steps * STEP;
                benchmark.at(&moved, &mut other).expect("a value")
            };
            let near = (at(1.0) - at(-1.0)) / (2.0 * STEP);
            let far = (at(2.0) - at(-2.0)) / (4.0 * STEP);
            let slope = (4.0 * near - far) / 3.0;
            let tolerance = 1e-6 * slope.abs().max(1e-3 * largest);
            assert!((gradient[k] - slope).abs() < tolerance, "{k}: {} and {slope}", gradient[k]);
        }
    }
}

/// The draws of a short chain after tuning. It accepts fewer steps than chains commonly do, and takes at most 63 of them, which
/// is what a test has time for.
fn draws(number: u64) -> Vec<Vec<f64>> {
    const TUNING: Tuning = Tuning { draws: 150, acceptance: 0.6, deepest: 6 };
    const DRAWS: usize = 200;
    let (seed, unit) = ([1, number], Metric::unit(COEFFICIENTS));
    let mut density = Benchmark::new();
    let start = dispersed(&mut density, &[0.0; COEFFICIENTS], &unit, 1.0, seed).expect("a start");
    let mut chain = Chain::new(start, unit, TUNING, seed);
    let all = (0..TUNING.draws + DRAWS).map(|_| chain.draw(&mut density).expect("a draw"));
    all.filter(|draw| !draw.tuning).map(|draw| draw.position).collect()
}

/// Means are within four Monte Carlo errors of the published ones, and of those of the blocks in their mirror images: of 64
/// normal numbers one is farther off in 0.4 % of all cases. Errors are those of chains that agree.
#[test]
fn draws_have_the_published_means() {
    let chains: Vec<Vec<Vec<f64>>> = std::thread::scope(|scope| {
        let threads = [0, 1].map(|number| scope.spawn(move || draws(number)));
        threads.into_iter().map(|thread| thread.join().expect("a chain")).collect()
    });
    let mut compared = Vec::new();
    for (k, published) in moments().into_iter().enumerate() {
        let values: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(|position| position[k]).collect()).collect();
        let slices: Vec<&[f64]> = values.iter().map(|chain| &chain[..]).collect();
        assert!(rhat(&slices) < 1.1, "{k}: R-hat {}", rhat(&slices));
        compared.push(compare(&slices, published));
    }
    for (k, [mean, _]) in compared.iter().enumerate() {
        let Compared { ours, theirs, errors, .. } = mean;
        assert!(errors.abs() < 4.0, "{k}: {ours}, published {theirs}: {errors} errors");
    }
    let [apart, _] = asymmetry(&compared);
    assert!(apart < 4.0, "mirror images are {apart} errors apart");
}
