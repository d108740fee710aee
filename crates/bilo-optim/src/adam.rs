//! Adam with amsgrad (Kingma & Ba 2015; Reddi, Kale & Kumar 2018), in PyTorch's arithmetic.

use crate::{GradientMethod, State};

/// Adam with amsgrad, with one learning rate for each variable.
#[derive(Clone, Debug)]
pub struct Adam {
    rates: Vec<f64>,
    factor: f64,
    steps: i32,
    mean: Vec<f64>,
    square: Vec<f64>,
    largest_square: Vec<f64>,
}

impl Adam {
    /// What stays of the mean gradient at a step.
    pub const BETA1: f64 = 0.9;
    /// What stays of the mean square.
    pub const BETA2: f64 = 0.999;
    /// Added to what is divided by.
    pub const EPSILON: f64 = 1e-8;

    /// A fresh optimiser with the learning rate of every variable.
    pub fn new(rates: Vec<f64>) -> Self {
        let zeros = vec![0.0; rates.len()];
        Self {
            rates,
            factor: 1.0,
            steps: 0,
            mean: zeros.clone(),
            square: zeros.clone(),
            largest_square: zeros,
        }
    }

    /// What the two running means, and the root of the second, are divided by after so many steps, because they began at
    /// zero.
    pub fn corrections(steps: i32) -> [f64; 2] {
        [1.0 - Self::BETA1.powi(steps), (1.0 - Self::BETA2.powi(steps)).sqrt()]
    }
}

impl GradientMethod for Adam {
    fn step_along(&mut self, x: &mut [f64], gradient: &[f64]) {
        self.steps += 1;
        let [correction1, correction2] = Self::corrections(self.steps);
        let state = self.mean.iter_mut().zip(&mut self.square).zip(&mut self.largest_square);
        let each = x.iter_mut().zip(gradient).zip(&self.rates).zip(state);
        for (((x, &g), &rate), ((mean, square), largest)) in each {
            *mean = Self::BETA1 * *mean + (1.0 - Self::BETA1) * g;
            *square = Self::BETA2 * *square + (1.0 - Self::BETA2) * g * g;
            *largest = if *square > *largest { *square } else { *largest };
            *x -= self.factor * rate / correction1 * *mean / (largest.sqrt() / correction2 + Self::EPSILON);
        }
    }

    fn scale_rate(&mut self, factor: f64) {
        self.factor = factor;
    }

    fn state(&self) -> State {
        let steps = vec![f64::from(self.steps)];
        vec![steps, self.mean.clone(), self.square.clone(), self.largest_square.clone()]
    }

    fn restore(&mut self, state: &State) -> bool {
        let [steps, mean, square, largest_square] = &state[..] else { return false };
        let fits = |list: &Vec<f64>| list.len() == self.rates.len();
        let ([steps], true) = (&steps[..], [mean, square, largest_square].into_iter().all(fits)) else {
            return false;
        };
        self.steps = *steps as i32;
        self.mean.clone_from(mean);
        self.square.clone_from(square);
        self.largest_square.clone_from(largest_square);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Optimizer;

    /// x after 1, 2, 10 and 200 steps of `torch.optim.Adam([x], lr=0.1, amsgrad=True)` in float64 on
    /// f(x) = (x0 - 1)^4 + 0.5 (x1 + 2)^2 + x0 x1 from (3, 0.5); PyTorch's own numbers.
    #[test]
    fn agrees_with_pytorch_amsgrad() {
        let expected: [(usize, [f64; 2]); 4] = [
            (1, [2.900000000030769, 0.4000000001818182]),
            (2, [2.8006992529421786, 0.30011366688990043]),
            (10, [2.090980609467171, -0.4845196479268464]),
            (200, [2.000053983194623, -3.9998526681705786]),
        ];
        let mut x = [3.0, 0.5];
        let mut adam = Adam::new(vec![0.1; 2]);
        let mut objective = |x: &[f64], g: &mut [f64]| {
            g[0] = 4.0 * (x[0] - 1.0).powi(3) + x[1];
            g[1] = x[1] + 2.0 + x[0];
            (x[0] - 1.0).powi(4) + 0.5 * (x[1] + 2.0).powi(2) + x[0] * x[1]
        };
        for step in 1..=200 {
            adam.step(&mut x, &mut objective);
            if let Some((_, exact)) = expected.iter().find(|(at, _)| *at == step) {
                for i in 0..2 {
                    assert!((x[i] - exact[i]).abs() < 1e-12, "step {step}: {x:?} {exact:?}");
                }
            }
        }
    }
}
