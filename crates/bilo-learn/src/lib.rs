//! Neural operators: models learned from tables of solved examples (parameters to solution), which then
//! stand for the solver while parameters are sought. They know nothing of PDEs, files or problems.
//!
//! The way of the data, in order:
//!
//! 1. [`Samples`]: the table; [`Split`]: which examples are held back; [`Units`]: numbers of order one.
//! 2. [`Surrogate`]: a model, which is [`DeepOnet`] or [`Fno`].
//! 3. [`train`]: its weights from the table.
//! 4. [`Frozen`]: the model with these weights at given sites, and its pullback to the parameters.
//!
//! Every result is the same to the last bit for any number of threads of rayon's pool.
//!
//! ```
//! use bilo_learn::*;
//!
//! // u(x; a) = a sin(πx) from 40 examples at 21 points.
//! let points: Vec<f64> = (0..21).map(|i| f64::from(i) / 20.0).collect();
//! let amplitudes: Vec<f64> = (0..40).map(|i| f64::from(i) / 20.0).collect();
//! let solve = |a: &f64| points.iter().map(|x| (a * (3.1416 * x).sin()) as f32).collect();
//! let solutions: Vec<Vec<f32>> = amplitudes.iter().map(solve).collect();
//! let samples = Samples::new(amplitudes.iter().map(|&a| vec![a]).collect(), vec![points], solutions);
//!
//! let split = Split::new(samples.count(), 0.1, 0);
//! let units = Units::of(&samples, &split.training);
//! let model = DeepOnet::new(DeepOnetSpec { branch: vec![16, 16], trunk: vec![16, 16] }, units);
//! let training = Training { steps: 500, batch: 12, rate: 1e-2, schedule: Schedule::Cosine, seed: 1 };
//! let trained = train(&model, &samples, &split, &training, &mut |_step, _loss| true);
//! assert!(trained.validation_error.is_some_and(|error| error < 0.05));
//!
//! // How u(1/2) depends on a.
//! let frozen = model.freeze(&trained.weights, &[vec![0.5]]);
//! assert!((frozen.predict(&[1.3])[0] - 1.3).abs() < 0.1);
//! assert!((frozen.pullback(&[1.3], &[1.0])[0] - 1.0).abs() < 0.1);
//! ```

mod activation;
mod deeponet;
#[cfg(test)]
mod differences;
mod fno;
mod mlp;
mod product;
mod real;
mod samples;
mod train;

pub use deeponet::{DeepOnet, DeepOnetSpec};
pub use fno::{Fno, FnoSpec, GridAxis};
pub use samples::{Affine, Samples, Split, Units};
pub use train::{Schedule, Trained, Training, relative_error, train};

/// A model that is learned from samples.
pub trait Surrogate: Sync {
    /// Number of parameters of an example.
    fn parameters(&self) -> usize;

    /// Real numbers that are trained.
    fn weights(&self) -> usize;

    /// Numbers that are trained, a complex one counted once.
    fn numbers(&self) -> usize;

    /// Weights to start from.
    fn initial_weights(&self, seed: u64) -> Vec<f64>;

    /// Mean square of prediction minus solution, in the units of the solution, over the samples with
    /// these numbers and all points; writes its gradient by the weights. Computed in f32, sums over
    /// chunks in f64.
    fn loss(&self, weights: &[f64], samples: &Samples, batch: &[usize], gradient: &mut [f64]) -> f64;

    /// The model with these weights at these sites, given as columns, one for each coordinate.
    fn freeze(&self, weights: &[f64], sites: &[Vec<f64>]) -> Box<dyn Frozen>;
}

/// A model with fixed weights, seen at fixed sites: a function of the parameters alone, in f64.
pub trait Frozen: Send + Sync {
    /// The solution at the sites.
    fn predict(&self, parameters: &[f64]) -> Vec<f64>;

    /// The gradient by the parameters of something whose gradient by the prediction is the adjoint.
    fn pullback(&self, parameters: &[f64], adjoint: &[f64]) -> Vec<f64>;
}

/// Rows that one thread computes together: at most sixteen chunks, so that adding them up costs little,
/// and none too small for fast products. Never a matter of the number of threads, which so cannot show.
fn rows_together(count: usize) -> usize {
    count.div_ceil(16).max(32)
}
