//! Training: minibatches, Adam, and what comes out.

use crate::samples::{Samples, Split};
use crate::{Surrogate, product};
use bilo_optim::{Adam, GradientMethod};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// How a model is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// Steps of Adam.
    pub steps: usize,
    /// Samples of each step; the last of an epoch may have fewer.
    pub batch: usize,
    /// Learning rate at the start.
    pub rate: f64,
    /// What becomes of it.
    pub schedule: Schedule,
    /// Of the initial weights and of the order of samples.
    pub seed: u64,
}

/// How the learning rate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Not at all.
    Constant,
    /// Half a wave of a cosine down to zero at the last step.
    Cosine,
}

impl Schedule {
    fn factor(self, step: usize, steps: usize) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine => 0.5 + 0.5 * (std::f64::consts::PI * step as f64 / steps as f64).cos(),
        }
    }
}

/// A trained model.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// Its weights.
    pub weights: Vec<f64>,
    /// Steps taken.
    pub steps: usize,
    /// Relative error over the samples trained on.
    pub training_error: f64,
    /// Relative error over those held back, if there are any.
    pub validation_error: Option<f64>,
}

/// Trains a model by Adam with amsgrad. After each step `progress` hears how many there were and the loss
/// of the last batch before it; training ends when it says no. It runs on rayon's current pool.
pub fn train(
    model: &dyn Surrogate,
    samples: &Samples,
    split: &Split,
    training: &Training,
    progress: &mut dyn FnMut(usize, f64) -> bool,
) -> Trained {
    let mut weights = model.initial_weights(training.seed);
    let mut adam = Adam::new(vec![training.rate; weights.len()]);
    let mut batches = Batches::new(&split.training, training);
    let mut gradient = vec![0.0; weights.len()];
    let mut steps = 0;
    while steps < training.steps {
        let loss = model.loss(&weights, samples, batches.next(), &mut gradient);
        adam.scale_rate(training.schedule.factor(steps, training.steps));
        adam.step_along(&mut weights, &gradient);
        steps += 1;
        if !progress(steps, loss) {
            break;
        }
    }
    let error = |which: &[usize]| relative_error(model, &weights, samples, which);
    let training_error = error(&split.training);
    let validation_error = (!split.validation.is_empty()).then(|| error(&split.validation));
    Trained { steps, training_error, validation_error, weights }
}

/// ‖prediction - solution‖ / ‖solution‖ over the samples with these numbers and all points together, so that
/// no solution near zero is divided by.
pub fn relative_error(model: &dyn Surrogate, weights: &[f64], samples: &Samples, which: &[usize]) -> f64 {
    let frozen = model.freeze(weights, samples.points());
    let squares = |&number: &usize| {
        let predicted = frozen.predict(&samples.parameters()[number]);
        let mut sums = [0.0; 2];
        for (value, &solution) in predicted.iter().zip(&samples.solutions()[number]) {
            let solution = f64::from(solution);
            product::add_wide(&mut sums, &[(value - solution).powi(2), solution.powi(2)]);
        }
        sums
    };
    // Collected first: a sum over threads would depend on their number.
    let each: Vec<[f64; 2]> = which.par_iter().map(squares).collect();
    let sum = |place: usize| each.iter().map(|sums| sums[place]).sum::<f64>();
    (sum(0) / sum(1)).sqrt()
}

/// Batches without end: every epoch is a shuffle of all samples, cut into pieces.
struct Batches {
    order: Vec<usize>,
    random: Pcg64,
    size: usize,
    /// Where the next batch begins.
    next: usize,
}

impl Batches {
    fn new(samples: &[usize], training: &Training) -> Self {
        assert!(training.batch > 0 && !samples.is_empty(), "batches of samples");
        // Turned over, so that the order does not repeat the numbers that made the weights.
        let random = Pcg64::seed_from_u64(!training.seed);
        Self { order: samples.to_vec(), random, size: training.batch, next: samples.len() }
    }

    fn next(&mut self) -> &[usize] {
        if self.next == self.order.len() {
            self.order.shuffle(&mut self.random);
            self.next = 0;
        }
        let from = self.next;
        self.next = self.order.len().min(from + self.size);
        &self.order[from..self.next]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeepOnet, DeepOnetSpec, Fno, FnoSpec, GridAxis, Units};
    use rand::RngExt;
    use std::f64::consts::PI;

    const POINTS: usize = 33;

    /// Random parameters within bounds and a function of (x, parameters) on a grid of the unit interval.
    fn table(count: usize, bounds: [[f64; 2]; 2], solve: fn(f64, f64, f64) -> f64) -> Samples {
        let mut random = Pcg64::seed_from_u64(21);
        let x: Vec<f64> = (0..POINTS).map(|i| i as f64 / (POINTS - 1) as f64).collect();
        let (mut parameters, mut solutions) = (vec![], vec![]);
        for _ in 0..count {
            let [a, b] = bounds.map(|[low, high]| random.random_range(low..high));
            parameters.push(vec![a, b]);
            solutions.push(x.iter().map(|&x| solve(x, a, b) as f32).collect());
        }
        Samples::new(parameters, vec![x], solutions)
    }

    fn training(steps: usize) -> Training {
        Training { steps, batch: 32, rate: 3e-3, schedule: Schedule::Cosine, seed: 0 }
    }

    #[test]
    fn deeponet_learns_two_waves() {
        let solve = |x: f64, a: f64, b: f64| a * (PI * x).sin() + b * (2.0 * PI * x).sin();
        let samples = table(300, [[-1.0, 1.0], [-1.0, 1.0]], solve);
        let split = Split::new(300, 0.2, 0);
        let spec = DeepOnetSpec { branch: vec![32, 32], trunk: vec![32, 32] };
        let model = DeepOnet::new(spec, Units::of(&samples, &split.training));
        let trained = train(&model, &samples, &split, &training(3000), &mut |_, _| true);
        let error = trained.validation_error.expect("samples were held back");
        assert!(error < 0.02 && trained.training_error < 0.02, "{error} {}", trained.training_error);
    }

    /// -u'' + μ u = λ δ(x - 1/2) with u = 0 at both ends.
    fn source_in_the_middle(x: f64, lambda: f64, mu: f64) -> f64 {
        let (root, low, high) = (mu.sqrt(), x.min(0.5), x.max(0.5));
        lambda / root * (root * low).sinh() * (root * (1.0 - high)).sinh() / root.sinh()
    }

    #[test]
    fn fno_learns_a_response_to_a_source() {
        let samples = table(200, [[1.0, 8.0], [2.0, 20.0]], source_in_the_middle);
        let split = Split::new(200, 0.2, 0);
        let spec = FnoSpec {
            axes: vec![GridAxis { nodes: POINTS, interval: [0.0, 1.0], modes: 16 }],
            scalars: 2,
            functions: 0,
            width: 12,
            layers: 2,
        };
        let model = Fno::new(spec, Units::of(&samples, &split.training));
        let trained = train(&model, &samples, &split, &training(800), &mut |_, _| true);
        let error = trained.validation_error.expect("samples were held back");
        assert!(error < 0.03 && trained.training_error < 0.03, "{error} {}", trained.training_error);
    }

    #[test]
    fn an_epoch_sees_each_sample_once() {
        let samples: Vec<usize> = (5..28).collect();
        let mut batches = Batches::new(&samples, &Training { batch: 10, ..training(0) });
        let mut epoch = || {
            let parts: Vec<Vec<usize>> = (0..3).map(|_| batches.next().to_vec()).collect();
            assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 3]);
            parts.concat()
        };
        let (first, second) = (epoch(), epoch());
        assert_ne!(first, second);
        for mut order in [first, second] {
            order.sort_unstable();
            assert_eq!(order, samples);
        }
    }

    /// Progress hears every step and ends the training.
    #[test]
    fn training_ends_when_told() {
        let samples = table(20, [[0.0, 1.0]; 2], |x, a, b| a * x + b);
        let split = Split::new(20, 0.0, 0);
        let spec = DeepOnetSpec { branch: vec![4], trunk: vec![4] };
        let model = DeepOnet::new(spec, Units::of(&samples, &split.training));
        let mut heard = vec![];
        let trained = train(&model, &samples, &split, &training(100), &mut |step, loss| {
            heard.push((step, loss));
            step < 5
        });
        assert_eq!((trained.steps, trained.validation_error), (5, None));
        assert!(heard.iter().map(|(step, _)| *step).eq(1..=5) && heard.iter().all(|(_, loss)| *loss > 0.0));
    }
}
