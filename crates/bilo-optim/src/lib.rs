//! Optimisers on flat vectors. They know nothing of PDEs or networks: an objective is a function
//! that returns its value at x and writes its gradient.
//!
//! ```
//! use bilo_optim::{Lbfgs, Optimizer};
//!
//! // Rosenbrock's valley; the minimum is at (1, 1).
//! let mut valley = |x: &[f64], g: &mut [f64]| {
//!     let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
//!     g.copy_from_slice(&[-2.0 * a - 400.0 * b * x[0], 200.0 * b]);
//!     a * a + 100.0 * b * b
//! };
//! let mut x = [-1.2, 1.0];
//! let mut lbfgs = Lbfgs::new(10);
//! while lbfgs.step(&mut x, &mut valley).progress {}
//! assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6);
//! ```

mod adam;
mod lbfgs;
mod line_search;
mod soap;

pub use adam::Adam;
pub use lbfgs::Lbfgs;
pub use line_search::{Wolfe, strong_wolfe};
pub use soap::Soap;

/// The value of a function at x; its gradient is written into the second argument.
pub type Objective<'a> = dyn FnMut(&[f64], &mut [f64]) -> f64 + 'a;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The objective before the step.
    pub value: f64,
    /// Whether the point moved. An optimiser that cannot improve any more says no.
    pub progress: bool,
}

/// An optimiser that needs a gradient at each point and nothing else.
pub trait GradientMethod {
    /// Moves x against the gradient there.
    fn step_along(&mut self, x: &mut [f64], gradient: &[f64]);

    /// Multiplies the step size from now on.
    fn scale_rate(&mut self, factor: f64);
}

impl<M: GradientMethod> Optimizer for M {
    fn step(&mut self, x: &mut [f64], objective: &mut Objective<'_>) -> Step {
        let mut gradient = vec![0.0; x.len()];
        let value = objective(x, &mut gradient);
        self.step_along(x, &gradient);
        Step { value, progress: true }
    }

    fn scale_rate(&mut self, factor: f64) {
        GradientMethod::scale_rate(self, factor);
    }

    fn objective_changed(&mut self) {}
}

/// Something that moves a point downhill.
pub trait Optimizer {
    /// One step.
    fn step(&mut self, x: &mut [f64], objective: &mut Objective<'_>) -> Step;

    /// Multiplies the step size from now on, where the optimiser has one.
    fn scale_rate(&mut self, factor: f64);

    /// Tells that the objective has changed, so that values remembered from the last step are void.
    fn objective_changed(&mut self);
}
