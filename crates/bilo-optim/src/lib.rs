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

    /// All that later steps depend on beside the point and the rates.
    fn state(&self) -> State;

    /// Takes up the state of another of the same kind and size; whether it is one.
    fn restore(&mut self, state: &State) -> bool;
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

    fn state(&self) -> State {
        GradientMethod::state(self)
    }

    fn restore(&mut self, state: &State) -> bool {
        GradientMethod::restore(self, state)
    }
}

/// Something that moves a point downhill.
pub trait Optimizer {
    /// One step.
    fn step(&mut self, x: &mut [f64], objective: &mut Objective<'_>) -> Step;

    /// Multiplies the step size from now on, where the optimiser has one.
    fn scale_rate(&mut self, factor: f64);

    /// Tells that the objective has changed, so that values remembered from the last step are void.
    fn objective_changed(&mut self);

    /// All that later steps depend on beside the point and the rates.
    fn state(&self) -> State;

    /// Takes up the state of another of the same kind and size; whether it is one.
    fn restore(&mut self, state: &State) -> bool;
}

/// What an optimiser remembers, as lists of numbers (counts among them), so that it can be kept and taken up again to
/// the last bit.
pub type State = Vec<Vec<f64>>;

#[cfg(test)]
mod tests {
    use super::*;

    /// A curved valley in six variables.
    fn valley(x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for i in 0..6 {
            let (a, b) = (x[i] - 0.1 * i as f64, x[i] - x[(i + 1) % 6].powi(2));
            value += a * a + 10.0 * b * b;
            gradient[i] += 2.0 * a + 20.0 * b;
            gradient[(i + 1) % 6] -= 40.0 * b * x[(i + 1) % 6];
        }
        value
    }

    fn descend(optimiser: &mut dyn Optimizer, x: &mut [f64], steps: usize) {
        for _ in 0..steps {
            optimiser.step(x, &mut |x, gradient| {
                gradient.fill(0.0);
                valley(x, gradient)
            });
        }
    }

    /// Steps after a state was kept and taken up by a fresh optimiser are the same to the last bit.
    #[test]
    fn a_state_that_is_taken_up_goes_on_as_if_nothing_had_happened() {
        let fresh: [fn() -> Box<dyn Optimizer>; 3] = [
            || Box::new(Adam::new(vec![1e-2; 6])),
            || Box::new(Soap::new(vec![1e-2; 6], &[(2, 2), (2, 1)])),
            || Box::new(Lbfgs::new(3)),
        ];
        for fresh in fresh {
            let (mut through, mut x) = (fresh(), [0.5; 6]);
            descend(through.as_mut(), &mut x, 27);
            let (state, mut y) = (through.state(), x);
            descend(through.as_mut(), &mut x, 13);
            let mut again = fresh();
            assert!(again.restore(&state));
            descend(again.as_mut(), &mut y, 13);
            assert_eq!(x, y);
        }
    }

    #[test]
    fn a_state_of_another_kind_or_size_is_refused() {
        let (adam, soap) = (Adam::new(vec![0.1; 3]), Soap::new(vec![0.1; 4], &[(2, 2)]));
        let mut other = Adam::new(vec![0.1; 2]);
        assert!(!GradientMethod::restore(&mut other, &GradientMethod::state(&adam)));
        assert!(!GradientMethod::restore(&mut other, &GradientMethod::state(&soap)));
        assert!(!GradientMethod::restore(
            &mut Soap::new(vec![0.1; 4], &[(4, 1)]),
            &GradientMethod::state(&soap)
        ));
        assert!(!Lbfgs::new(1).restore(&vec![]));
    }
}
