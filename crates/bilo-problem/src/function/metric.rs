//! Variables in which neighbouring values move together.
//!
//! A gradient by values at nodes says how the loss falls if each node moves alone. A descent in these is
//! slow, and where a form saturates it leaves nodes behind that have no slope of their own. With
//! M = Π_axes (1 + length² (-d²/dx²)) = B Bᵀ and variables w = Bᵀ net, steepest descent in w is net moved by
//! M⁻¹ times the gradient: the gradient of the Sobolev space H1 (along each axis), which is smooth.

/// Distance over which values move together, in parts of an axis.
const LENGTH: f64 = 0.1;

/// The factors B of M, one per axis of a tensor grid.
pub struct Metric {
    axes: Vec<Factor>,
}

/// A lower bidiagonal matrix, applied along lines of nodes that lie `stride` apart.
struct Factor {
    diagonal: Vec<f64>,
    below: Vec<f64>,
    stride: usize,
}

impl Metric {
    /// For values in row-major order over so many nodes along each axis.
    pub fn new(nodes: &[usize]) -> Self {
        let stride = |axis: usize| nodes[axis + 1..].iter().product();
        Self { axes: (0..nodes.len()).map(|axis| Factor::new(nodes[axis], stride(axis))).collect() }
    }

    /// w = Bᵀ net.
    pub fn variables(&self, mut net: Vec<f64>) -> Vec<f64> {
        self.each_line(&mut net, |factor, line| {
            for i in 0..factor.below.len() {
                line[i] = factor.diagonal[i] * line[i] + factor.below[i] * line[i + 1];
            }
            let last = factor.below.len();
            line[last] *= factor.diagonal[last];
        });
        net
    }

    /// net = B⁻ᵀ w.
    pub fn net(&self, mut variables: Vec<f64>) -> Vec<f64> {
        self.each_line(&mut variables, |factor, line| {
            let last = factor.below.len();
            line[last] /= factor.diagonal[last];
            for i in (0..last).rev() {
                line[i] = (line[i] - factor.below[i] * line[i + 1]) / factor.diagonal[i];
            }
        });
        variables
    }

    /// The derivatives by w, from those by net: B⁻¹ of them.
    pub fn pull_back(&self, mut by_net: Vec<f64>) -> Vec<f64> {
        self.each_line(&mut by_net, |factor, line| {
            line[0] /= factor.diagonal[0];
            for i in 0..factor.below.len() {
                line[i + 1] = (line[i + 1] - factor.below[i] * line[i]) / factor.diagonal[i + 1];
            }
        });
        by_net
    }

    /// Acts on all lines of nodes along each axis in turn.
    fn each_line(&self, values: &mut [f64], act: impl Fn(&Factor, &mut [f64])) {
        for factor in &self.axes {
            let (count, stride) = (factor.diagonal.len(), factor.stride);
            for first in (0..values.len()).filter(|node| node / stride % count == 0) {
                let mut line: Vec<f64> = (0..count).map(|i| values[first + i * stride]).collect();
                act(factor, &mut line);
                line.iter().enumerate().for_each(|(i, value)| values[first + i * stride] = *value);
            }
        }
    }
}

impl Factor {
    /// Cholesky's factor of 1 - length² d²/dx² with no slope at the ends.
    fn new(nodes: usize, stride: usize) -> Self {
        let link = (LENGTH * (nodes - 1) as f64).powi(2);
        let (mut diagonal, mut below) = (vec![(1.0 + link).sqrt()], vec![]);
        for i in 1..nodes {
            let links = if i + 1 < nodes { 2.0 } else { 1.0 };
            below.push(-link / diagonal[i - 1]);
            diagonal.push((1.0 + links * link - below[i - 1].powi(2)).sqrt());
        }
        Self { diagonal, below, stride }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: [usize; 2] = [4, 3];

    /// Numbers without a pattern.
    fn some(count: usize, seed: f64) -> Vec<f64> {
        (0..count).map(|i| (seed + 12.9898 * i as f64).sin()).collect()
    }

    /// w·w = net·M net with M the product of 1 - length² d²/dx² along both axes, by differences.
    #[test]
    fn the_length_of_the_variables_is_that_of_the_space() {
        let net = some(12, 0.3);
        let along = |values: &[f64], axis: usize| -> Vec<f64> {
            let (count, stride) = (NODES[axis], [NODES[1], 1][axis]);
            let link = (LENGTH * (count - 1) as f64).powi(2);
            let at = |node: usize| {
                let place = node / stride % count;
                let before = if place > 0 { values[node] - values[node - stride] } else { 0.0 };
                let after = if place + 1 < count { values[node] - values[node + stride] } else { 0.0 };
                values[node] + link * (before + after)
            };
            (0..values.len()).map(at).collect()
        };
        let expected: f64 = net.iter().zip(along(&along(&net, 0), 1)).map(|(a, b)| a * b).sum();
        let found: f64 = Metric::new(&NODES).variables(net).iter().map(|w| w * w).sum();
        assert!((found - expected).abs() < 1e-13 * expected, "{found} and {expected}");
    }

    #[test]
    fn net_inverts_variables_and_pull_back_is_its_transpose() {
        let metric = Metric::new(&NODES);
        let (net, slopes) = (some(12, 0.3), some(12, 1.7));
        let variables = metric.variables(net.clone());
        let back = metric.net(variables.clone());
        net.iter().zip(&back).for_each(|(a, b)| assert!((a - b).abs() < 1e-14));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let difference = dot(&slopes, &net) - dot(&metric.pull_back(slopes.clone()), &variables);
        assert!(difference.abs() < 1e-14, "{difference:e}");
    }
}
