//! For tests: gradients against central differences, and the same bits for any number of threads.

use crate::train::{Schedule, Training, train};
use crate::{Frozen, Samples, Split, Surrogate};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Step of central differences of smooth functions of order one: their truncation, about h²/6 of the third
/// derivative, is 2e-9, and rounding of values, 1e-16/h, is 1e-12. So 1e-7 of the largest slope is well
/// above both and far below what any wrong term would change.
const STEP: f64 = 1e-4;
const TOLERANCE: f64 = 1e-7;

pub(crate) fn random_samples(count: usize, parameters: usize, coordinates: usize, points: usize) -> Samples {
    let mut random = Pcg64::seed_from_u64(11);
    let mut table = |rows: usize, columns: usize| -> Vec<Vec<f64>> {
        (0..rows).map(|_| (0..columns).map(|_| random.random_range(-2.0..3.0)).collect()).collect()
    };
    let (parameters, columns) = (table(count, parameters), table(coordinates, points));
    let solutions = table(count, points).iter().map(|row| row.iter().map(|&v| v as f32).collect()).collect();
    Samples::new(parameters, columns, solutions)
}

/// Central difference in one variable.
fn slope(x: &[f64], place: usize, value: &mut dyn FnMut(&[f64]) -> f64) -> f64 {
    let mut at = |shift: f64| {
        let mut moved = x.to_vec();
        moved[place] += shift;
        value(&moved)
    };
    (at(STEP) - at(-STEP)) / (2.0 * STEP)
}

fn check(x: &[f64], gradient: &[f64], value: &mut dyn FnMut(&[f64]) -> f64) {
    let largest = gradient.iter().fold(0.0, |largest: f64, slope| largest.max(slope.abs()));
    assert!(largest > 1e-6, "a gradient that says nothing");
    for (place, &exact) in gradient.iter().enumerate() {
        let difference = slope(x, place, value);
        assert!((exact - difference).abs() < TOLERANCE * largest, "{place}: {exact} {difference} {largest}");
    }
}

/// A loss that writes its gradient by the weights.
pub(crate) fn check_loss(weights: &[f64], loss: &mut dyn FnMut(&[f64], &mut [f64]) -> f64) {
    let mut gradient = vec![0.0; weights.len()];
    loss(weights, &mut gradient);
    let mut unused = vec![0.0; weights.len()];
    check(weights, &gradient, &mut |weights| loss(weights, &mut unused));
}

/// The pullback of random adjoints.
pub(crate) fn check_pullback(frozen: &dyn Frozen, parameters: &[f64]) {
    let mut random = Pcg64::seed_from_u64(13);
    let adjoint: Vec<f64> =
        frozen.predict(parameters).iter().map(|_| random.random_range(-1.0..1.0)).collect();
    let gradient = frozen.pullback(parameters, &adjoint);
    check(parameters, &gradient, &mut |parameters| {
        frozen.predict(parameters).iter().zip(&adjoint).map(|(value, weight)| value * weight).sum()
    });
}

/// A loss computed in f32 against the frozen model in f64; 1e-5 is a hundred roundings of f32.
pub(crate) fn check_loss_of_frozen(
    model: &dyn Surrogate,
    weights: &[f64],
    samples: &Samples,
    batch: &[usize],
    loss: f64,
) {
    let frozen = model.freeze(weights, samples.points());
    let unit = crate::Units::of(samples, &(0..samples.count()).collect::<Vec<_>>()).solution.spread;
    let mut squares = vec![];
    for &number in batch {
        let predicted = frozen.predict(&samples.parameters()[number]);
        let each = predicted.iter().zip(&samples.solutions()[number]);
        squares.extend(each.map(|(value, &solution)| ((value - f64::from(solution)) / unit).powi(2)));
    }
    let expected = squares.iter().sum::<f64>() / squares.len() as f64;
    assert!((loss / expected - 1.0).abs() < 1e-5, "{loss} {expected}");
}

/// Some steps of training with one thread and with two.
pub(crate) fn same_bits_for_any_threads(model: &dyn Surrogate, samples: &Samples) {
    let training = Training { steps: 7, batch: 50, rate: 1e-2, schedule: Schedule::Cosine, seed: 2 };
    let split = Split::new(samples.count(), 0.1, 1);
    let [one, two] = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| train(model, samples, &split, &training, &mut |_, _| true))
    });
    assert_eq!(one, two);
    assert_ne!(one.weights, model.initial_weights(2));
}
