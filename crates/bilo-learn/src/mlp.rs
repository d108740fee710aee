//! Multilayer perceptrons over rows of inputs, forwards and backwards.

use crate::activation::Activation;
use crate::product::{add_product, add_rows, multiply, product};
use crate::real::Real;
use bilo_linear::Matrix;
use rand::RngExt;
use rand_pcg::Pcg64;

/// Affine layers with a nonlinearity between them. The weights are, layer by layer, the matrix (one row
/// for each input) and the bias.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mlp {
    layers: Vec<Layer>,
    weights: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Layer {
    inputs: usize,
    outputs: usize,
    /// Where its weights begin.
    start: usize,
    activation: Option<Activation>,
}

/// What a forward pass leaves for the way back.
pub(crate) struct Pass<T> {
    /// The input of each layer.
    inputs: Vec<Vec<T>>,
    /// The slopes of each layer's nonlinearity; empty if it has none.
    slopes: Vec<Vec<T>>,
    /// The last layer's values, one row for each row of inputs.
    pub(crate) output: Vec<T>,
}

impl Mlp {
    /// Layers of these widths, the first of them the number of inputs.
    pub(crate) fn new(widths: &[usize], between: Activation, last: Option<Activation>) -> Self {
        assert!(widths.len() > 1 && widths.iter().all(|&width| width > 0), "widths of layers");
        let (mut layers, mut weights) = (vec![], 0);
        for pair in widths.windows(2) {
            layers.push(Layer {
                inputs: pair[0],
                outputs: pair[1],
                start: weights,
                activation: Some(between),
            });
            weights += (pair[0] + 1) * pair[1];
        }
        if let Some(layer) = layers.last_mut() {
            layer.activation = last;
        }
        Self { layers, weights }
    }

    /// Number of weights.
    pub(crate) fn weights(&self) -> usize {
        self.weights
    }

    /// Appends initial weights: uniform in ±1/sqrt(fan-in), as PyTorch's `Linear` does.
    pub(crate) fn append_initial(&self, random: &mut Pcg64, weights: &mut Vec<f64>) {
        for layer in &self.layers {
            append_uniform(random, layer.inputs, (layer.inputs + 1) * layer.outputs, weights);
        }
    }

    /// Values at every row of inputs.
    pub(crate) fn forward<T: Real>(&self, weights: &[T], input: Vec<T>) -> Pass<T> {
        let rows = input.len() / self.layers[0].inputs;
        let mut pass = Pass { inputs: vec![], slopes: vec![], output: input };
        for layer in &self.layers {
            let input = std::mem::take(&mut pass.output);
            let (matrix, bias) = layer.split(weights);
            let mut output = bias.repeat(rows);
            add_product(&mut output, 1.0, Matrix::with_columns(&input, layer.inputs), layer.matrix(matrix));
            pass.slopes.push(layer.activation.map_or(vec![], |activation| activation.apply(&mut output)));
            pass.inputs.push(input);
            pass.output = output;
        }
        pass
    }

    /// Adjoint of the inputs from that of the output; adds to the gradient by the weights if asked.
    pub(crate) fn backward<T: Real>(
        &self,
        weights: &[T],
        pass: &Pass<T>,
        mut adjoint: Vec<T>,
        mut gradient: Option<&mut [T]>,
    ) -> Vec<T> {
        let saved = pass.inputs.iter().zip(&pass.slopes);
        for (layer, (input, slopes)) in self.layers.iter().zip(saved).rev() {
            multiply(&mut adjoint, slopes); // nothing happens without a nonlinearity
            let by_output = Matrix::with_columns(&adjoint, layer.outputs);
            if let Some(gradient) = gradient.as_deref_mut() {
                let own = &mut gradient[layer.start..layer.start + (layer.inputs + 1) * layer.outputs];
                let (matrix, bias) = own.split_at_mut(layer.inputs * layer.outputs);
                add_product(matrix, 1.0, Matrix::with_columns(input, layer.inputs).transposed(), by_output);
                add_rows(bias, &adjoint);
            }
            let (matrix, _) = layer.split(weights);
            adjoint = product(by_output, layer.matrix(matrix).transposed());
        }
        adjoint
    }
}

impl Layer {
    fn split<'a, T>(&self, weights: &'a [T]) -> (&'a [T], &'a [T]) {
        weights[self.start..][..(self.inputs + 1) * self.outputs].split_at(self.inputs * self.outputs)
    }

    fn matrix<'a, T>(&self, matrix: &'a [T]) -> Matrix<'a, T> {
        Matrix::with_columns(matrix, self.outputs)
    }
}

/// Appends numbers uniform in ±1/sqrt(fan-in).
pub(crate) fn append_uniform(random: &mut Pcg64, fan_in: usize, count: usize, weights: &mut Vec<f64>) {
    let bound = 1.0 / (fan_in as f64).sqrt();
    weights.extend((0..count).map(|_| random.random_range(-bound..bound)));
}
