//! The slow oracle: derivatives of a network by numbers that carry nilpotent parts, one ε for every
//! derivative taken. Nothing is shared with the fast path but the list of nodes.

use crate::activation::Activation;
use crate::dictionary::{Axis, Family};
use crate::network::{Network, Operation, Store};
use bilo_expr::MultiIndex;

/// A number Σ_S c_S Π_{i in S} ε_i with ε_i² = 0: dual numbers, nested as often as there are ε.
/// Coefficients are stored by the bit set S.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperdual(Vec<f64>);

impl Hyperdual {
    /// A plain number among numbers with `generators` ε.
    pub fn constant(value: f64, generators: usize) -> Self {
        let mut coefficients = vec![0.0; 1 << generators];
        coefficients[0] = value;
        Self(coefficients)
    }

    /// Adds slope · ε_generator.
    pub fn perturbed(mut self, generator: usize, slope: f64) -> Self {
        self.0[1 << generator] += slope;
        self
    }

    /// The coefficient of Π ε_i over all generators but those in `without` (a bit set).
    pub fn mixed(&self, without: usize) -> f64 {
        self.0[(self.0.len() - 1) & !without]
    }

    fn plus(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a + b).collect())
    }

    fn times(&self, other: &Self) -> Self {
        let mut product = vec![0.0; self.0.len()];
        for (set, target) in product.iter_mut().enumerate() {
            for (left, factor) in self.0.iter().enumerate().filter(|(left, _)| left & set == *left) {
                *target += factor * other.0[set ^ left];
            }
        }
        Self(product)
    }

    fn scaled(&self, factor: f64) -> Self {
        Self(self.0.iter().map(|a| factor * a).collect())
    }

    /// f(p + ε q) = f(p) + ε f'(p) q, one ε after the other.
    fn apply(&self, function: fn(f64) -> f64, slope: &dyn Fn(&Self) -> Self) -> Self {
        let half = self.0.len() / 2;
        if half == 0 {
            return Self(vec![function(self.0[0])]);
        }
        let (p, q) = (Self(self.0[..half].to_vec()), Self(self.0[half..].to_vec()));
        let mut result = p.apply(function, slope).0;
        result.extend(slope(&p).times(&q).0);
        Self(result)
    }

    fn tanh(&self) -> Self {
        self.apply(f64::tanh, &|p| {
            let a = p.tanh();
            a.times(&a).scaled(-1.0).shifted(1.0)
        })
    }

    fn sin(&self) -> Self {
        self.apply(f64::sin, &|p| p.cos())
    }

    fn cos(&self) -> Self {
        self.apply(f64::cos, &|p| p.sin().scaled(-1.0))
    }

    fn sigmoid(&self) -> Self {
        self.apply(|x| 1.0 / (1.0 + (-x).exp()), &|p| {
            let q = p.sigmoid();
            q.times(&q.scaled(-1.0).shifted(1.0))
        })
    }

    fn softplus(&self) -> Self {
        self.apply(|x| x.max(0.0) + (-x.abs()).exp().ln_1p(), &|p| p.sigmoid())
    }

    fn shifted(mut self, by: f64) -> Self {
        self.0[0] += by;
        self
    }

    fn activate(&self, kind: Activation) -> Self {
        match kind {
            Activation::Tanh => self.tanh(),
            Activation::Sin => self.sin(),
            Activation::Softplus => self.softplus(),
            Activation::Swish => self.times(&self.sigmoid()),
        }
    }
}

/// A network with weights, and a direction in which the weights may move.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The network.
    pub network: &'a Network,
    /// Its trained weights.
    pub weights: &'a [f64],
    /// The direction.
    pub direction: &'a [f64],
}

impl Subject<'_> {
    /// The derivative of an output by its inputs (coordinates, then parameters), and how fast that
    /// derivative changes when the weights move along the direction.
    pub fn derivative(&self, inputs: &[f64], index: &MultiIndex, output: usize) -> (f64, f64) {
        let order = index.order();
        let mut numbers: Vec<_> = inputs.iter().map(|&x| Hyperdual::constant(x, order + 1)).collect();
        let mut generator = 0;
        for (number, &times) in numbers.iter_mut().zip(index.as_slice()) {
            for _ in 0..times {
                *number = number.clone().perturbed(generator, 1.0);
                generator += 1;
            }
        }
        let result = self.evaluate(&numbers, order);
        (result[output].mixed(1 << order), result[output].mixed(0))
    }

    /// All outputs; ε number `generator` moves the weights.
    fn evaluate(&self, inputs: &[Hyperdual], generator: usize) -> Vec<Hyperdual> {
        let coordinates = self.network.coordinates();
        let mut values: Vec<Vec<Hyperdual>> = vec![];
        for node in self.network.nodes() {
            let at = |index: usize| &values[index];
            let value = match &node.operation {
                Operation::Coordinates => inputs[..coordinates].to_vec(),
                Operation::Parameters => inputs[coordinates..].to_vec(),
                Operation::Affine { sources, bias } => (0..node.width)
                    .map(|row| {
                        let mut sum = self.number(*bias, row, generator);
                        for source in sources {
                            let columns = at(source.node).len();
                            for (column, value) in at(source.node).iter().enumerate() {
                                let weight = self.number(source.matrix, row * columns + column, generator);
                                sum = sum.plus(&weight.times(value));
                            }
                        }
                        sum
                    })
                    .collect(),
                Operation::Tensor(axes) => products(axes, at(0)),
                Operation::Activate { source, kind } => {
                    at(*source).iter().map(|z| z.activate(*kind)).collect()
                }
                Operation::Add(a, b) => at(*a).iter().zip(at(*b)).map(|(a, b)| a.plus(b)).collect(),
                Operation::Blend { gate, u, v } => (0..node.width)
                    .map(|i| {
                        let difference = at(*v)[i].plus(&at(*u)[i].scaled(-1.0));
                        at(*u)[i].plus(&at(*gate)[i].times(&difference))
                    })
                    .collect(),
            };
            values.push(value);
        }
        values.pop().expect("a network has an output")
    }

    fn number(&self, store: Store, place: usize, generator: usize) -> Hyperdual {
        match store {
            Store::Trained(offset) => Hyperdual::constant(self.weights[offset + place], generator + 1)
                .perturbed(generator, self.direction[offset + place]),
            Store::Frozen(offset) => {
                Hyperdual::constant(self.network.frozen()[offset + place], generator + 1)
            }
        }
    }
}

/// All products of functions of one coordinate each: cosines cos(n arccos y) as polynomials, by their
/// product rule T_{m+n} + T_{m-n} = 2 T_m T_n with m = n or n + 1.
fn products(axes: &[Axis], coordinates: &[Hyperdual]) -> Vec<Hyperdual> {
    let generators = coordinates[0].0.len().ilog2() as usize;
    let mut products = vec![Hyperdual::constant(1.0, generators)];
    for (axis, x) in axes.iter().zip(coordinates) {
        let along: Vec<Hyperdual> = (0..axis.count)
            .map(|n| match axis.family {
                Family::Waves => wave(n, x, generators),
                Family::Chebyshev => chebyshev(n, &x.scaled(2.0).shifted(-1.0), generators),
                Family::Splines => {
                    spline(&x.scaled((axis.count - 3) as f64).shifted(1.0 - n as f64), generators)
                }
            })
            .collect();
        products = products.iter().flat_map(|a| along.iter().map(|b| a.times(b))).collect();
    }
    products
}

fn chebyshev(n: usize, y: &Hyperdual, generators: usize) -> Hyperdual {
    match n {
        0 => Hyperdual::constant(1.0, generators),
        1 => y.clone(),
        _ => {
            let (low, high) = (chebyshev(n / 2, y, generators), chebyshev(n - n / 2, y, generators));
            let rest = if n.is_multiple_of(2) { Hyperdual::constant(1.0, generators) } else { y.clone() };
            low.times(&high).scaled(2.0).plus(&rest.scaled(-1.0))
        }
    }
}

/// The cubic B-spline around zero, as a sum of truncated powers: Σ_k (-1)^k C(4,k) max(w + 2 - k, 0)³/6.
fn spline(w: &Hyperdual, generators: usize) -> Hyperdual {
    let binomials = [1.0, -4.0, 6.0, -4.0, 1.0];
    let mut sum = Hyperdual::constant(0.0, generators);
    for (k, binomial) in binomials.into_iter().enumerate() {
        let power = w.clone().shifted(2.0 - k as f64);
        if power.0[0] >= 0.0 {
            sum = sum.plus(&power.times(&power).times(&power).scaled(binomial / 6.0));
        }
    }
    sum
}

/// 1, cos 2πx, sin 2πx, cos 4πx, ..
fn wave(n: usize, x: &Hyperdual, generators: usize) -> Hyperdual {
    let angle = x.scaled(std::f64::consts::TAU * n.div_ceil(2) as f64);
    match n {
        0 => Hyperdual::constant(1.0, generators),
        _ if n.is_multiple_of(2) => angle.sin(),
        _ => angle.cos(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// d²/dx² of exp-like compositions by hand: sin(x²) -> 2 cos x² - 4 x² sin x².
    #[test]
    fn second_derivative_of_sin_of_a_square() {
        let x = Hyperdual::constant(0.7, 2).perturbed(0, 1.0).perturbed(1, 1.0);
        let exact = 2.0 * 0.49_f64.cos() - 4.0 * 0.49 * 0.49_f64.sin();
        assert!((x.times(&x).sin().mixed(0) - exact).abs() < 1e-14);
    }
}
