//! One layer of an FNO: a convolution and a perceptron of the channels, each with a way around it.
//!
//! h = s(K x + b + S x), then s(P(h) + g·x), where K convolves, S is a matrix, P a perceptron, g a factor for
//! each channel and s gelu, which the last layer leaves out.

use super::spectral::Transform;
use crate::activation::Activation;
use crate::mlp::{Mlp, Pass, append_uniform};
use crate::product::{add_product, add_rows, multiply};
use crate::real::Real;
use bilo_linear::Matrix;
use rand::RngExt;
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

/// Shape of a layer. Its weights are those of K, b, S, P and g in this order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    width: usize,
    modes: usize,
    perceptron: Mlp,
    /// After both halves.
    activation: Option<Activation>,
}

/// What a forward pass leaves for the way back.
pub(super) struct BlockPass<T> {
    input: Vec<T>,
    coefficients: Vec<T>,
    /// Slopes after the first half; empty without a nonlinearity, as are the others.
    first_slopes: Vec<T>,
    perceptron: Pass<T>,
    last_slopes: Vec<T>,
}

/// The weights of a layer or their gradient.
struct Parts<S> {
    spectral: S,
    bias: S,
    skip: S,
    perceptron: S,
    gate: S,
}

impl Block {
    pub(super) fn new(width: usize, modes: usize, last: bool) -> Self {
        assert!(width > 1, "channels for a perceptron of half as many");
        let perceptron = Mlp::new(&[width, width / 2, width], Activation::Gelu, None);
        Self { width, modes, perceptron, activation: (!last).then_some(Activation::Gelu) }
    }

    pub(super) fn weights(&self) -> usize {
        self.sizes().iter().sum()
    }

    /// Complex weights, which are two real ones each.
    pub(super) fn complex(&self) -> usize {
        self.modes * self.width * self.width
    }

    fn sizes(&self) -> [usize; 5] {
        let square = self.width * self.width;
        [2 * self.complex(), self.width, square, self.perceptron.weights(), self.width]
    }

    fn parts<'a, T>(&self, mut weights: &'a [T]) -> Parts<&'a [T]> {
        let [spectral, bias, skip, perceptron, gate] = self.sizes().map(|size| {
            let (own, rest) = weights.split_at(size);
            weights = rest;
            own
        });
        Parts { spectral, bias, skip, perceptron, gate }
    }

    fn parts_mut<'a, T>(&self, mut weights: &'a mut [T]) -> Parts<&'a mut [T]> {
        let [spectral, bias, skip, perceptron, gate] = self.sizes().map(|size| {
            let (own, rest) = std::mem::take(&mut weights).split_at_mut(size);
            weights = rest;
            own
        });
        Parts { spectral, bias, skip, perceptron, gate }
    }

    /// Appends initial weights as the library does: a complex normal number has its variance from both parts.
    pub(super) fn append_initial(&self, random: &mut Pcg64, weights: &mut Vec<f64>) {
        let deviation = (1.0 / self.width as f64).sqrt(); // √(2/(in + out))
        let mut normal = |count: usize, deviation: f64, weights: &mut Vec<f64>| {
            weights.extend((0..count).map(|_| deviation * random.sample::<f64, _>(StandardNormal)));
        };
        normal(2 * self.complex(), deviation * 0.5_f64.sqrt(), weights);
        normal(self.width, deviation, weights);
        append_uniform(random, self.width, self.width * self.width, weights);
        self.perceptron.append_initial(random, weights);
        weights.extend(std::iter::repeat_n(1.0, self.width));
    }

    /// The layer's values and what is left for the way back.
    pub(super) fn forward<T: Real>(
        &self,
        weights: &[T],
        transform: &Transform<T>,
        input: Vec<T>,
    ) -> (Vec<T>, BlockPass<T>) {
        let parts = self.parts(weights);
        let (coefficients, mut middle) = transform.convolve(parts.spectral, self.width, &input);
        let skip = Matrix::with_columns(parts.skip, self.width);
        add_product(&mut middle, 1.0, Matrix::with_columns(&input, self.width), skip);
        for row in middle.chunks_exact_mut(self.width) {
            row.iter_mut().zip(parts.bias).for_each(|(value, &bias)| *value += bias);
        }
        let first_slopes = self.activate(&mut middle);
        let mut perceptron = self.perceptron.forward(parts.perceptron, middle);
        let mut output = std::mem::take(&mut perceptron.output);
        for (row, x) in output.chunks_exact_mut(self.width).zip(input.chunks_exact(self.width)) {
            row.iter_mut().zip(x).zip(parts.gate).for_each(|((value, &x), &gate)| *value += gate * x);
        }
        let last_slopes = self.activate(&mut output);
        (output, BlockPass { input, coefficients, first_slopes, perceptron, last_slopes })
    }

    fn activate<T: Real>(&self, values: &mut [T]) -> Vec<T> {
        self.activation.map_or(vec![], |activation| activation.apply(values))
    }

    /// Adjoint of the input from that of the output; adds to the gradient by the weights if asked.
    pub(super) fn backward<T: Real>(
        &self,
        weights: &[T],
        transform: &Transform<T>,
        pass: &BlockPass<T>,
        mut adjoint: Vec<T>,
        gradient: Option<&mut [T]>,
    ) -> Vec<T> {
        let parts = self.parts(weights);
        let mut by_parts = gradient.map(|gradient| self.parts_mut(gradient));
        multiply(&mut adjoint, &pass.last_slopes);
        let mut by_input = adjoint.clone();
        by_input.chunks_exact_mut(self.width).for_each(|row| multiply(row, parts.gate));
        if let Some(by) = &mut by_parts {
            let mut shares = adjoint.clone();
            multiply(&mut shares, &pass.input);
            add_rows(by.gate, &shares);
        }
        let by_perceptron = by_parts.as_mut().map(|by| &mut *by.perceptron);
        let mut adjoint =
            self.perceptron.backward(parts.perceptron, &pass.perceptron, adjoint, by_perceptron);
        multiply(&mut adjoint, &pass.first_slopes);
        let by_middle = Matrix::with_columns(&adjoint, self.width);
        if let Some(by) = &mut by_parts {
            add_rows(by.bias, &adjoint);
            add_product(by.skip, 1.0, Matrix::with_columns(&pass.input, self.width).transposed(), by_middle);
        }
        add_product(&mut by_input, 1.0, by_middle, Matrix::with_columns(parts.skip, self.width).transposed());
        let by_spectral = by_parts.map(|by| by.spectral);
        let (weights, coefficients) = (parts.spectral, &pass.coefficients);
        transform.pull_back(weights, self.width, coefficients, &adjoint, by_spectral, &mut by_input);
        by_input
    }
}
