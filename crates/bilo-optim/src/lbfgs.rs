//! L-BFGS (Nocedal & Wright, algorithms 7.4 and 7.5) with a strong Wolfe line search.

use crate::line_search::{Wolfe, strong_wolfe};
use crate::{Objective, Optimizer, State, Step};
use std::collections::VecDeque;

/// Limited-memory BFGS.
#[derive(Clone, Debug)]
pub struct Lbfgs {
    memory: usize,
    pairs: VecDeque<Pair>,
    /// Value and gradient at the current point, if they are known.
    here: Option<(f64, Vec<f64>)>,
}

/// s = x' - x, y = g' - g, rho = 1/(s·y).
#[derive(Clone, Debug)]
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
    rho: f64,
}

impl Lbfgs {
    /// Keeps so many pairs.
    pub fn new(memory: usize) -> Self {
        Self { memory, pairs: VecDeque::new(), here: None }
    }

    /// -H g by the two-loop recursion.
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut alphas = vec![];
        for pair in self.pairs.iter().rev() {
            let alpha = pair.rho * dot(&pair.s, &q);
            add(&mut q, -alpha, &pair.y);
            alphas.push(alpha);
        }
        if let Some(last) = self.pairs.back() {
            let scale = 1.0 / (last.rho * dot(&last.y, &last.y));
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for (pair, alpha) in self.pairs.iter().zip(alphas.into_iter().rev()) {
            let beta = pair.rho * dot(&pair.y, &q);
            add(&mut q, alpha - beta, &pair.s);
        }
        q
    }

    fn remember(&mut self, s: Vec<f64>, y: Vec<f64>) {
        let curvature = dot(&s, &y);
        if curvature > 1e-14 * dot(&y, &y).sqrt() * dot(&s, &s).sqrt() {
            if self.pairs.len() == self.memory {
                self.pairs.pop_front();
            }
            self.pairs.push_back(Pair { s, y, rho: 1.0 / curvature });
        }
    }
}

impl Optimizer for Lbfgs {
    fn step(&mut self, x: &mut [f64], objective: &mut Objective<'_>) -> Step {
        let (value, gradient) = self.here.take().unwrap_or_else(|| {
            let mut gradient = vec![0.0; x.len()];
            (objective(x, &mut gradient), gradient)
        });
        let mut direction = self.direction(&gradient);
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 {
            self.pairs.clear();
            direction = self.direction(&gradient);
            slope = dot(&direction, &gradient);
        }
        // Without curvature pairs the length of the gradient means nothing: start small.
        let first =
            if self.pairs.is_empty() { (1.0 / dot(&gradient, &gradient).sqrt()).min(1.0) * 0.1 } else { 1.0 };
        let (mut trial, mut trial_gradient) = (x.to_vec(), gradient.clone());
        let found = strong_wolfe(Wolfe { step: 0.0, value, slope }, first, &mut |step| {
            trial.copy_from_slice(x);
            add(&mut trial, step, &direction);
            let value = objective(&trial, &mut trial_gradient);
            (value, dot(&trial_gradient, &direction))
        });
        let Some(found) = found else {
            let progress = !self.pairs.is_empty(); // once more along the plain gradient
            self.pairs.clear();
            self.here = Some((value, gradient));
            return Step { value, progress };
        };
        let s = direction.iter().map(|d| found.step * d).collect();
        let y = trial_gradient.iter().zip(&gradient).map(|(new, old)| new - old).collect();
        self.remember(s, y);
        x.copy_from_slice(&trial);
        self.here = Some((found.value, trial_gradient));
        Step { value, progress: found.value < value }
    }

    fn scale_rate(&mut self, _: f64) {}

    fn objective_changed(&mut self) {
        self.here = None;
        self.pairs.clear();
    }

    /// The value and the gradient here, if they are known, then s, y and rho of every pair.
    fn state(&self) -> State {
        let mut state = match &self.here {
            Some((value, gradient)) => vec![vec![*value], gradient.clone()],
            None => vec![vec![], vec![]],
        };
        for Pair { s, y, rho } in &self.pairs {
            state.extend([s.clone(), y.clone(), vec![*rho]]);
        }
        state
    }

    fn restore(&mut self, state: &State) -> bool {
        let [value, gradient, pairs @ ..] = &state[..] else { return false };
        if pairs.len() % 3 != 0 || pairs.len() / 3 > self.memory {
            return false;
        }
        self.here = value.first().map(|&value| (value, gradient.clone()));
        self.pairs.clear();
        for of_pair in pairs.chunks(3) {
            let ([s, y, rho], true) = (of_pair, of_pair[2].len() == 1) else { return false };
            self.pairs.push_back(Pair { s: s.clone(), y: y.clone(), rho: rho[0] });
        }
        true
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(target: &mut [f64], factor: f64, values: &[f64]) {
    target.iter_mut().zip(values).for_each(|(target, value)| *target += factor * value);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quadratic with condition number 1e4 in 20 variables: L-BFGS reaches its minimum at
    /// x_i = 1/(i+1) to 1e-8 within 400 steps (PyTorch's needs about as many: 1e-3 after 160).
    #[test]
    fn minimises_an_ill_conditioned_quadratic() {
        let curvature = |i: usize| 10_f64.powf(4.0 * i as f64 / 19.0);
        let mut objective = |x: &[f64], g: &mut [f64]| {
            let mut value = 0.0;
            for i in 0..20 {
                let d = x[i] - 1.0 / (i + 1) as f64;
                g[i] = curvature(i) * d;
                value += 0.5 * curvature(i) * d * d;
            }
            value
        };
        let (mut x, mut lbfgs) = (vec![0.0; 20], Lbfgs::new(20));
        for _ in 0..400 {
            lbfgs.step(&mut x, &mut objective);
        }
        for (i, x) in x.iter().enumerate() {
            assert!((x - 1.0 / (i + 1) as f64).abs() < 1e-8, "x[{i}] = {x}");
        }
    }

    /// The objective never rises, and at a minimum the optimiser says that it cannot improve.
    #[test]
    fn never_rises_and_stops_at_the_minimum() {
        let mut objective = |x: &[f64], g: &mut [f64]| {
            g[0] = 4.0 * (x[0] - 0.3).powi(3) + (x[0] - 0.3);
            (x[0] - 0.3).powi(4) + 0.5 * (x[0] - 0.3).powi(2)
        };
        let (mut x, mut lbfgs, mut last) = ([5.0], Lbfgs::new(5), f64::INFINITY);
        loop {
            let step = lbfgs.step(&mut x, &mut objective);
            assert!(step.value <= last);
            last = step.value;
            if !step.progress {
                break;
            }
        }
        assert!((x[0] - 0.3).abs() < 1e-8);
    }
}
