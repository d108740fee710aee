//! Fourier neural operator on an interval or a rectangle (Li et al. 2021), in the default shape of the
//! `neuraloperator` library: lifting, layers of convolutions and perceptrons of the channels, projection.

mod block;
mod grid;
mod spectral;

use crate::activation::Activation;
use crate::mlp::{Mlp, Pass};
use crate::product::{add_wide, cast};
use crate::real::Real;
use crate::samples::{Samples, Units};
use crate::{Frozen, Surrogate};
use block::{Block, BlockPass};
use grid::Grid;
pub use grid::GridAxis;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use spectral::Transform;

/// Numbers of one channel that one thread computes together, and most samples of these: so much of one
/// layer still lies in a nearby cache.
const TOGETHER: usize = 16_384;
const SAMPLES_TOGETHER: usize = 16;

/// Shape of an FNO. Its parameters are the scalars, then the values of each function at all nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct FnoSpec {
    /// The grid: one axis or two, the last of which runs fastest.
    pub axes: Vec<GridAxis>,
    /// Parameters that are numbers: a constant channel each.
    pub scalars: usize,
    /// Parameters that are functions on the grid: a channel each.
    pub functions: usize,
    /// Channels between lifting and projection, whose hidden layers have twice as many.
    pub width: usize,
    /// Layers.
    pub layers: usize,
}

/// An FNO. Its weights are those of the lifting, of each layer and of the projection.
#[derive(Clone, Debug, PartialEq)]
pub struct Fno {
    grid: Grid,
    scalars: usize,
    functions: usize,
    units: Units,
    lifting: Mlp,
    blocks: Vec<Block>,
    projection: Mlp,
    transform: Transform<f64>,
}

impl Fno {
    /// A model of this shape. Panics if the units are not those of its parameters and coordinates, or if the
    /// grid is too coarse for the modes.
    pub fn new(spec: FnoSpec, units: Units) -> Self {
        let FnoSpec { axes, scalars, functions, width, layers } = spec;
        let (grid, transform) = (Grid::new(axes.clone()), Transform::new(&axes));
        assert_eq!(units.parameters.len(), scalars + functions * grid.nodes(), "number of parameters");
        assert_eq!(units.coordinates.len(), axes.len(), "number of coordinates");
        let channels = scalars + functions + axes.len();
        let block = |layer| Block::new(width, transform.modes(), layer == layers);
        Self {
            lifting: Mlp::new(&[channels, 2 * width, width], Activation::Gelu, None),
            blocks: (1..=layers).map(block).collect(),
            projection: Mlp::new(&[width, 2 * width, 1], Activation::Gelu, None),
            grid,
            scalars,
            functions,
            units,
            transform,
        }
    }

    /// The points of its grid as columns, on which its samples must be.
    pub fn points(&self) -> Vec<Vec<f64>> {
        self.grid.points()
    }

    fn channels(&self) -> usize {
        self.scalars + self.functions + self.grid.axes().len()
    }

    /// Channels by node and sample: parameters in units, and where the node is in the period, as the library
    /// counts it.
    fn input<T: Real>(&self, samples: &[&[f64]]) -> Vec<T> {
        let (nodes, scalars) = (self.grid.nodes(), self.scalars);
        let inward: Vec<Vec<f64>> =
            samples.iter().map(|own| self.units.parameters_inward(own).collect()).collect();
        let mut input = Vec::with_capacity(nodes * samples.len() * self.channels());
        for node in 0..nodes {
            for parameters in &inward {
                input.extend(parameters[..scalars].iter().map(|&value| T::cast(value)));
                input.extend((0..self.functions).map(|f| T::cast(parameters[scalars + f * nodes + node])));
                let places = self.grid.numbers(node);
                input.extend(places.map(|(axis, number)| T::cast(number as f64 / axis.nodes as f64)));
            }
        }
        input
    }

    /// The gradient by one sample's parameters from that by its channels.
    fn gather(&self, by_input: &[f64]) -> Vec<f64> {
        let rows = || by_input.chunks_exact(self.channels());
        let mut gradient: Vec<f64> = (0..self.scalars).map(|s| rows().map(|row| row[s]).sum()).collect();
        for function in 0..self.functions {
            gradient.extend(rows().map(|row| row[self.scalars + function]));
        }
        self.units.gradient_outward(&gradient)
    }

    fn loss_in<T: Real>(
        &self,
        weights: &[f64],
        samples: &Samples,
        batch: &[usize],
        gradient: &mut [f64],
    ) -> f64 {
        assert_eq!(gradient.len(), self.weights(), "number of weights");
        self.assert_grid(samples);
        let weights = cast::<f64, T>(weights);
        let transform = self.transform.cast::<T>();
        let with = Weighted { model: self, weights: &weights, transform: &transform };
        let terms = (batch.len() * self.grid.nodes()) as f64;
        let chunks: Vec<(f64, Vec<T>)> = batch
            .par_chunks(self.samples_together())
            .map(|chunk| with.chunk_loss(samples, chunk, terms))
            .collect();
        gradient.fill(0.0);
        chunks.iter().for_each(|(_, by_chunk)| add_wide(gradient, by_chunk));
        chunks.iter().map(|(loss, _)| loss).sum()
    }

    /// Never a matter of the number of threads, which so cannot show.
    fn samples_together(&self) -> usize {
        (TOGETHER / self.grid.nodes()).clamp(1, SAMPLES_TOGETHER)
    }

    fn assert_grid(&self, samples: &Samples) {
        let (nodes, points) = (self.points(), samples.points());
        assert!(nodes.len() == points.len() && nodes[0].len() == points[0].len(), "samples on the nodes");
        for (axis, (nodes, points)) in self.grid.axes().iter().zip(nodes.iter().zip(points)) {
            let near = 1e-6 * (axis.interval[1] - axis.interval[0]);
            assert!(nodes.iter().zip(points).all(|(a, b)| (a - b).abs() < near), "samples on the nodes");
        }
    }
}

/// A model with weights in some precision.
struct Weighted<'a, T> {
    model: &'a Fno,
    weights: &'a [T],
    transform: &'a Transform<T>,
}

/// What a forward pass leaves for the way back.
struct FnoPass<T> {
    lifting: Pass<T>,
    blocks: Vec<BlockPass<T>>,
    projection: Pass<T>,
}

impl<T: Real> Weighted<'_, T> {
    /// Values in units by node and sample.
    fn forward(&self, samples: &[&[f64]]) -> FnoPass<T> {
        let Fno { lifting, blocks, projection, .. } = self.model;
        let mut lifting_pass = lifting.forward(self.weights, self.model.input(samples));
        let mut values = std::mem::take(&mut lifting_pass.output);
        let (mut start, mut passes) = (lifting.weights(), vec![]);
        for block in blocks {
            let own = &self.weights[start..start + block.weights()];
            let (output, pass) = block.forward(own, self.transform, values);
            passes.push(pass);
            values = output;
            start += block.weights();
        }
        let projection = projection.forward(&self.weights[start..], values);
        FnoPass { lifting: lifting_pass, blocks: passes, projection }
    }

    /// Adjoint of the channels from that of the values; adds to the gradient by the weights if asked.
    fn backward(&self, pass: &FnoPass<T>, adjoint: Vec<T>, mut gradient: Option<&mut [T]>) -> Vec<T> {
        let Fno { lifting, blocks, projection, .. } = self.model;
        let mut start = self.weights.len() - projection.weights();
        let own = gradient.as_deref_mut().map(|gradient| &mut gradient[start..]);
        let mut adjoint = projection.backward(&self.weights[start..], &pass.projection, adjoint, own);
        for (block, pass) in blocks.iter().zip(&pass.blocks).rev() {
            let end = start;
            start -= block.weights();
            let own = gradient.as_deref_mut().map(|gradient| &mut gradient[start..end]);
            adjoint = block.backward(&self.weights[start..end], self.transform, pass, adjoint, own);
        }
        lifting.backward(self.weights, &pass.lifting, adjoint, gradient)
    }

    /// The part of the loss, a mean of so many squares, that a chunk of samples has, and its gradient.
    fn chunk_loss(&self, samples: &Samples, chunk: &[usize], terms: f64) -> (f64, Vec<T>) {
        let parameters: Vec<&[f64]> = chunk.iter().map(|&i| &samples.parameters()[i][..]).collect();
        let mut pass = self.forward(&parameters);
        let mut values = std::mem::take(&mut pass.projection.output);
        let units = self.model.units.solution;
        let mut loss = 0.0;
        for (node, row) in values.chunks_exact_mut(chunk.len()).enumerate() {
            for (value, &number) in row.iter_mut().zip(chunk) {
                let misfit = *value - T::cast(units.inward(samples.solutions()[number][node].into()));
                loss += misfit.wide().powi(2) / terms;
                *value = misfit * T::cast(2.0 / terms);
            }
        }
        let mut gradient = vec![T::ZERO; self.weights.len()];
        self.backward(&pass, values, Some(&mut gradient));
        (loss, gradient)
    }
}

impl Surrogate for Fno {
    fn parameters(&self) -> usize {
        self.units.parameters.len()
    }

    fn weights(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Block::weights).sum();
        self.lifting.weights() + blocks + self.projection.weights()
    }

    fn numbers(&self) -> usize {
        self.weights() - self.blocks.iter().map(Block::complex).sum::<usize>()
    }

    fn initial_weights(&self, seed: u64) -> Vec<f64> {
        let (mut random, mut weights) = (Pcg64::seed_from_u64(seed), vec![]);
        self.lifting.append_initial(&mut random, &mut weights);
        self.blocks.iter().for_each(|block| block.append_initial(&mut random, &mut weights));
        self.projection.append_initial(&mut random, &mut weights);
        weights
    }

    fn loss(&self, weights: &[f64], samples: &Samples, batch: &[usize], gradient: &mut [f64]) -> f64 {
        self.loss_in::<f32>(weights, samples, batch, gradient)
    }

    /// Between nodes the solution is linear along each axis; sites outside take the nearest value.
    fn freeze(&self, weights: &[f64], sites: &[Vec<f64>]) -> Box<dyn Frozen> {
        assert_eq!(weights.len(), self.weights(), "number of weights");
        let sites = self.grid.around(sites);
        Box::new(FrozenFno { model: self.clone(), weights: weights.to_vec(), sites })
    }
}

struct FrozenFno {
    model: Fno,
    weights: Vec<f64>,
    /// For each site the nodes around it and their shares.
    sites: Vec<Vec<(usize, f64)>>,
}

impl FrozenFno {
    fn weighted(&self) -> Weighted<'_, f64> {
        Weighted { model: &self.model, weights: &self.weights, transform: &self.model.transform }
    }
}

impl Frozen for FrozenFno {
    fn predict(&self, parameters: &[f64]) -> Vec<f64> {
        let values = self.weighted().forward(&[parameters]).projection.output;
        let at = |around: &Vec<(usize, f64)>| {
            let value = around.iter().map(|&(node, share)| share * values[node]).sum();
            self.model.units.solution.outward(value)
        };
        self.sites.iter().map(at).collect()
    }

    fn pullback(&self, parameters: &[f64], adjoint: &[f64]) -> Vec<f64> {
        assert_eq!(adjoint.len(), self.sites.len(), "an adjoint for each site");
        let mut by_values = vec![0.0; self.model.grid.nodes()];
        for (around, adjoint) in self.sites.iter().zip(adjoint) {
            let adjoint = self.model.units.solution.spread * adjoint;
            around.iter().for_each(|&(node, share)| by_values[node] += share * adjoint);
        }
        let weighted = self.weighted();
        self.model.gather(&weighted.backward(&weighted.forward(&[parameters]), by_values, None))
    }
}

#[cfg(test)]
mod tests;
