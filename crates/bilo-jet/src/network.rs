//! Networks as short lists of nodes, each a jet map: what is computed, not how.
//!
//! h_0 = s(W_x x + W_θ θ + b), then `layers` times h = s(W h + b), then a linear output. The
//! parameters θ enter through their own columns without a bias of their own.
//!
//! A dictionary is a network too: frozen features of the coordinates, then a linear output.

use crate::activation::Activation;
use crate::dictionary::{Axis, DictionarySpec, Features, Ridge};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// Shape of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSpec {
    /// Inputs that vary from point to point: coordinates and functions of them.
    pub coordinates: usize,
    /// Inputs that are the same at all points: the parameters θ.
    pub parameters: usize,
    /// Outputs.
    pub outputs: usize,
    /// Neurons of each hidden layer.
    pub width: usize,
    /// Square hidden layers after the embedding.
    pub layers: usize,
    /// Nonlinearity.
    pub activation: Activation,
    /// Frozen random Fourier features of the coordinates in front.
    pub fourier: Option<Fourier>,
    /// Adds the input of every square layer to its output.
    pub residual: bool,
    /// Modified MLP: every square layer blends two gates computed from the inputs.
    pub modified: bool,
}

/// Random Fourier features sin(2π B x), cos(2π B x) with Gaussian B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fourier {
    /// Rows of B; twice as many features.
    pub features: usize,
    /// Standard deviation of the entries of B.
    pub scale: f64,
}

/// Where an affine map finds its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Offset into the trained weights.
    Trained(usize),
    /// Offset into the numbers that never change.
    Frozen(usize),
}

/// One source of an affine map with its matrix (rows of the target's width, row-major).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The node.
    pub node: usize,
    /// The matrix.
    pub matrix: Store,
}

/// What a node computes from earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The coordinates at each point.
    Coordinates,
    /// The parameters θ.
    Parameters,
    /// Sum of matrices times sources, plus a bias.
    Affine {
        /// The sources.
        sources: Vec<Source>,
        /// The bias.
        bias: Store,
    },
    /// All products of functions of one coordinate each.
    Tensor(Vec<Axis>),
    /// A nonlinearity of one node.
    Activate {
        /// The argument.
        source: usize,
        /// Which one.
        kind: Activation,
    },
    /// Sum of two nodes.
    Add(usize, usize),
    /// u + gate * (v - u).
    Blend {
        /// The weight of v.
        gate: usize,
        /// Where the gate is zero.
        u: usize,
        /// Where the gate is one.
        v: usize,
    },
}

/// A node and its width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it computes.
    pub operation: Operation,
    /// Its neurons.
    pub width: usize,
    /// Whether it depends on neither trained weights nor θ, so that it has no tangent and needs no
    /// adjoint.
    pub fixed: bool,
}

/// Trained weights that belong together: a matrix, or a bias as one row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    columns: usize,
    rows: usize,
    /// For the initialisation.
    fan_in: usize,
}

/// A network: its nodes in order of computation (the last one is the output) and its frozen numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    coordinates: usize,
    parameters: usize,
    nodes: Vec<Node>,
    frozen: Vec<f64>,
    blocks: Vec<Block>,
    weights: usize,
}

impl Network {
    /// Lays out the network; the seed fixes the frozen features.
    pub fn new(spec: NetworkSpec, seed: u64) -> Self {
        let mut network = Self::with_inputs(spec.coordinates, spec.parameters);
        network.lay_out(&spec, seed);
        network
    }

    /// Lays out a dictionary: frozen features of the coordinates, which the seed fixes, and one head for
    /// each output. It has no parameters.
    pub fn dictionary(spec: &DictionarySpec, seed: u64) -> Self {
        let mut network = Self::with_inputs(spec.coordinates, 0);
        match &spec.features {
            Features::Tensor(axes) => {
                let width = axes.iter().map(|axis| axis.count).product();
                let features = network.push(Operation::Tensor(axes.clone()), width, true);
                network.heads(features, spec.outputs);
            }
            Features::Ridge(ridge) => {
                let features = network.ridge_functions(ridge, seed);
                network.affine(&[features], spec.outputs);
            }
        }
        network
    }

    /// A dictionary of products whose features are some linear combinations of this one's, with the coefficients of each;
    /// none of any other network. One head for each output, as here.
    pub fn reduced(&self, combinations: &[Vec<f64>]) -> Option<Network> {
        let (features, outputs) = (2, self.nodes.last()?.width);
        let Operation::Tensor(axes) = &self.nodes[features].operation else { return None };
        let mut network = Self::with_inputs(self.coordinates, 0);
        let width = self.nodes[features].width;
        let features = network.push(Operation::Tensor(axes.clone()), width, true);
        let sources = vec![Source { node: features, matrix: network.freeze(&combinations.concat()) }];
        let bias = network.freeze(&vec![0.0; combinations.len()]);
        let combined = network.push(Operation::Affine { sources, bias }, combinations.len(), true);
        network.heads(combined, outputs);
        Some(network)
    }

    /// The node of the features of a dictionary that was reduced.
    pub(crate) fn combined(&self) -> Option<usize> {
        let [.., features, _] = &self.nodes[..] else { return None };
        let combined = features.fixed && matches!(features.operation, Operation::Affine { .. });
        combined.then(|| self.nodes.len() - 2)
    }

    /// The inputs alone: coordinates are node 0, parameters node 1.
    fn with_inputs(coordinates: usize, parameters: usize) -> Self {
        let mut network =
            Self { coordinates, parameters, nodes: vec![], frozen: vec![], blocks: vec![], weights: 0 };
        network.push(Operation::Coordinates, coordinates, true);
        network.push(Operation::Parameters, parameters, false);
        network
    }

    /// Inputs that vary from point to point.
    pub fn coordinates(&self) -> usize {
        self.coordinates
    }

    /// Inputs that are the same at all points.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Whether jets are multiplied with each other anywhere.
    pub(crate) fn has_products(&self) -> bool {
        let product = |node: &Node| matches!(node.operation, Operation::Blend { .. } | Operation::Tensor(_));
        self.nodes.iter().any(product)
    }

    /// Its nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Numbers that are not trained.
    pub fn frozen(&self) -> &[f64] {
        &self.frozen
    }

    /// Number of trained weights.
    pub fn weights(&self) -> usize {
        self.weights
    }

    /// The matrices and biases that the trained weights are, one after the other: (columns, rows), where
    /// entries of a row are neighbours. A bias is one row.
    pub fn shapes(&self) -> Vec<(usize, usize)> {
        self.blocks.iter().map(|block| (block.columns, block.rows)).collect()
    }

    /// Initial weights: uniform in ±1/sqrt(fan-in), as PyTorch's `Linear` does.
    pub fn initial_weights(&self, seed: u64) -> Vec<f64> {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut weights = vec![0.0; self.weights];
        let mut rest = &mut weights[..];
        for block in &self.blocks {
            let bound = 1.0 / (block.fan_in.max(1) as f64).sqrt();
            let (own, others) = rest.split_at_mut(block.columns * block.rows);
            own.iter_mut().for_each(|weight| *weight = random.random_range(-bound..bound));
            rest = others;
        }
        weights
    }

    fn lay_out(&mut self, spec: &NetworkSpec, seed: u64) {
        let mut input = 0;
        if let Some(fourier) = spec.fourier {
            input = self.fourier_features(input, fourier, seed);
        }
        let gates = spec.modified.then(|| {
            let u = self.embedding(spec, input);
            let v = self.embedding(spec, input);
            (u, v)
        });
        let mut hidden = self.embedding(spec, input);
        for _ in 0..spec.layers {
            hidden = self.square_layer(spec, hidden, gates);
        }
        self.affine(&[hidden], spec.outputs);
    }

    fn push(&mut self, operation: Operation, width: usize, fixed: bool) -> usize {
        self.nodes.push(Node { operation, width, fixed });
        self.nodes.len() - 1
    }

    /// sin(2π B x) and cos(2π B x) = sin(2π B x + π/2) as one frozen layer.
    fn fourier_features(&mut self, input: usize, fourier: Fourier, seed: u64) -> usize {
        let mut random = Pcg64::seed_from_u64(seed);
        let columns = self.nodes[input].width;
        let matrix: Vec<f64> = (0..fourier.features * columns)
            .map(|_| {
                let normal: f64 = StandardNormal.sample(&mut random);
                std::f64::consts::TAU * fourier.scale * normal
            })
            .collect();
        let zero_and_quarter =
            [vec![0.0; fourier.features], vec![std::f64::consts::FRAC_PI_2; fourier.features]];
        self.frozen_layer(
            input,
            &[&matrix[..], &matrix].concat(),
            &zero_and_quarter.concat(),
            Activation::Sin,
        )
    }

    /// s(w·(x - c)) with planes w·(x - c) = 0 through random points c of the unit cube.
    fn ridge_functions(&mut self, ridge: &Ridge, seed: u64) -> usize {
        let mut random = Pcg64::seed_from_u64(seed);
        let (mut matrix, mut bias) = (vec![], vec![]);
        for _ in 0..ridge.count {
            let slopes: Vec<f64> =
                (0..self.coordinates).map(|_| ridge.scale * random.random_range(-1.0..1.0)).collect();
            bias.push(-slopes.iter().map(|slope| slope * random.random_range(0.0..1.0)).sum::<f64>());
            matrix.extend(slopes);
        }
        self.frozen_layer(0, &matrix, &bias, ridge.activation)
    }

    /// s(W x + b) with numbers that never change.
    fn frozen_layer(&mut self, input: usize, matrix: &[f64], bias: &[f64], kind: Activation) -> usize {
        let place = self.freeze(matrix);
        let sources = vec![Source { node: input, matrix: place }];
        let affine = Operation::Affine { sources, bias: self.freeze(bias) };
        let source = self.push(affine, bias.len(), true);
        self.push(Operation::Activate { source, kind }, bias.len(), true)
    }

    fn freeze(&mut self, numbers: &[f64]) -> Store {
        self.frozen.extend(numbers);
        Store::Frozen(self.frozen.len() - numbers.len())
    }

    /// s(W_x x + W_θ θ + b).
    fn embedding(&mut self, spec: &NetworkSpec, input: usize) -> usize {
        let affine = self.affine(&[input, 1], spec.width);
        self.activate(spec, affine)
    }

    fn square_layer(&mut self, spec: &NetworkSpec, hidden: usize, gates: Option<(usize, usize)>) -> usize {
        let affine = self.affine(&[hidden], spec.width);
        let mut result = self.activate(spec, affine);
        if let Some((u, v)) = gates {
            result = self.push(Operation::Blend { gate: result, u, v }, spec.width, false);
        }
        if spec.residual {
            result = self.push(Operation::Add(result, hidden), spec.width, false);
        }
        result
    }

    fn activate(&mut self, spec: &NetworkSpec, source: usize) -> usize {
        self.push(Operation::Activate { source, kind: spec.activation }, spec.width, false)
    }

    /// Linear maps of features that hold the constant already: without a bias.
    fn heads(&mut self, features: usize, outputs: usize) -> usize {
        let columns = self.nodes[features].width;
        let matrix = self.take(Block { columns, rows: outputs, fan_in: columns });
        let bias = self.freeze(&vec![0.0; outputs]);
        self.push(
            Operation::Affine { sources: vec![Source { node: features, matrix }], bias },
            outputs,
            false,
        )
    }

    /// A trained affine map; the bias has the fan-in of the first source. Sources without columns
    /// are left out.
    fn affine(&mut self, sources: &[usize], width: usize) -> usize {
        let fan_in = self.nodes[sources[0]].width;
        let sources: Vec<usize> =
            sources.iter().copied().filter(|&node| self.nodes[node].width > 0).collect();
        let sources = (sources.into_iter())
            .map(|node| {
                let columns = self.nodes[node].width;
                let matrix = self.take(Block { columns, rows: width, fan_in: columns });
                Source { node, matrix }
            })
            .collect();
        let bias = self.take(Block { columns: width, rows: 1, fan_in });
        self.push(Operation::Affine { sources, bias }, width, false)
    }

    /// A block of trained weights after those there are.
    fn take(&mut self, block: Block) -> Store {
        let offset = self.weights;
        self.weights += block.columns * block.rows;
        self.blocks.push(block);
        Store::Trained(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_network_for_fisher_kpp_has_33793_weights() {
        let spec = NetworkSpec {
            coordinates: 2,
            parameters: 2,
            outputs: 1,
            width: 128,
            layers: 2,
            activation: Activation::Tanh,
            fourier: None,
            residual: false,
            modified: false,
        };
        assert_eq!(Network::new(spec, 0).weights(), 33_793);
    }
}
