//! DeepONet (Lu, Jin, Pang, Zhang & Karniadakis 2021): u(x; p) = Σ_k b_k(p) t_k(x) with two perceptrons,
//! the branch b of the parameters and the trunk t of the coordinates.
//!
//! Hidden layers and the trunk's last have tanh, the branch's last has none: bounded basis functions with
//! unbounded coefficients. There is no bias after the sum.

use crate::activation::Activation;
use crate::mlp::{Mlp, Pass};
use crate::product::{add_product, add_wide, cast, product};
use crate::real::Real;
use crate::samples::{Samples, Units};
use crate::{Frozen, Surrogate, rows_together};
use bilo_linear::Matrix;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// Shape of a DeepONet; the numbers of its inputs come with its units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeepOnetSpec {
    /// Widths of the branch's layers after its input; the last is the number of products.
    pub branch: Vec<usize>,
    /// Widths of the trunk's layers after its input; the last as the branch's.
    pub trunk: Vec<usize>,
}

/// A DeepONet. Its weights are the branch's, then the trunk's.
#[derive(Clone, Debug, PartialEq)]
pub struct DeepOnet {
    branch: Mlp,
    trunk: Mlp,
    products: usize,
    units: Units,
}

impl DeepOnet {
    /// A model of this shape. Panics if branch and trunk end in different widths.
    pub fn new(spec: DeepOnetSpec, units: Units) -> Self {
        assert!(spec.branch.last() == spec.trunk.last(), "branch and trunk end in the same width");
        let widths = |inputs: usize, rest: &[usize]| [&[inputs], rest].concat();
        let branch = widths(units.parameters.len(), &spec.branch);
        let trunk = widths(units.coordinates.len(), &spec.trunk);
        Self {
            products: trunk[trunk.len() - 1],
            branch: Mlp::new(&branch, Activation::Tanh, None),
            trunk: Mlp::new(&trunk, Activation::Tanh, Some(Activation::Tanh)),
            units,
        }
    }

    fn loss_in<T: Real>(
        &self,
        weights: &[f64],
        samples: &Samples,
        batch: &[usize],
        gradient: &mut [f64],
    ) -> f64 {
        assert_eq!((weights.len(), gradient.len()), (self.weights(), self.weights()), "number of weights");
        let weights = cast::<f64, T>(weights);
        let (branch, trunk) = weights.split_at(self.branch.weights());
        gradient.fill(0.0);
        let (by_branch, by_trunk) = gradient.split_at_mut(branch.len());
        let passes = self.coefficients(branch, samples, batch);
        let outputs: Vec<&[T]> = passes.iter().map(|pass| &pass.output[..]).collect();
        let coefficients = outputs.concat();
        let (loss, by_coefficients) = self.over_points(trunk, samples, batch, &coefficients, by_trunk);
        self.back_to_branch(branch, &passes, &by_coefficients, by_branch);
        loss
    }

    /// The branch at the parameters of the batch, a chunk of samples at a time.
    fn coefficients<T: Real>(&self, branch: &[T], samples: &Samples, batch: &[usize]) -> Vec<Pass<T>> {
        let chunk = |chunk: &[usize]| {
            let each = chunk.iter().flat_map(|&i| self.units.parameters_inward(&samples.parameters()[i]));
            self.branch.forward(branch, each.map(T::cast).collect())
        };
        batch.par_chunks(rows_together(batch.len())).map(chunk).collect()
    }

    /// The trunk at points, in units.
    fn basis<T: Real>(&self, trunk: &[T], points: &[Vec<f64>], from: usize, to: usize) -> Pass<T> {
        assert_eq!(points.len(), self.units.coordinates.len(), "number of coordinates");
        let coordinates = |point: usize| {
            let each = self.units.coordinates.iter().zip(points);
            each.map(move |(units, column)| T::cast(units.inward(column[point])))
        };
        self.trunk.forward(trunk, (from..to).flat_map(coordinates).collect())
    }

    /// The loss and its gradient by the branch's values, a chunk of points at a time.
    fn over_points<T: Real>(
        &self,
        trunk: &[T],
        samples: &Samples,
        batch: &[usize],
        coefficients: &[T],
        by_trunk: &mut [f64],
    ) -> (f64, Vec<f64>) {
        let points = samples.points()[0].len();
        let together = rows_together(points);
        let terms = (batch.len() * points) as f64;
        let chunks: Vec<_> = (0..points.div_ceil(together))
            .into_par_iter()
            .map(|chunk| {
                let (from, to) = (chunk * together, points.min((chunk + 1) * together));
                let pass = self.basis(trunk, samples.points(), from, to);
                let basis = Matrix::with_columns(&pass.output, self.products);
                let coefficients = Matrix::with_columns(coefficients, self.products);
                let mut misfit = self.minus_solutions(samples, batch, from, to);
                add_product(&mut misfit, 1.0, coefficients, basis.transposed());
                let squares: f64 = misfit.iter().map(|misfit| misfit.wide().powi(2)).sum();
                misfit.iter_mut().for_each(|misfit| *misfit *= T::cast(2.0 / terms));
                let misfit = Matrix::with_columns(&misfit, to - from);
                let mut gradient = vec![T::ZERO; self.trunk.weights()];
                let by_basis = product(misfit.transposed(), coefficients);
                self.trunk.backward(trunk, &pass, by_basis, Some(&mut gradient));
                (squares, product(misfit, basis), gradient)
            })
            .collect();
        let (mut loss, mut by_coefficients) = (0.0, vec![0.0; coefficients.len()]);
        for (squares, by_chunk, gradient) in chunks {
            loss += squares / terms;
            add_wide(&mut by_coefficients, &by_chunk);
            add_wide(by_trunk, &gradient);
        }
        (loss, by_coefficients)
    }

    /// What is taken from predictions at a stretch of points, in units: one row for each sample.
    fn minus_solutions<T: Real>(&self, samples: &Samples, batch: &[usize], from: usize, to: usize) -> Vec<T> {
        let rows = batch.iter().flat_map(|&i| &samples.solutions()[i][from..to]);
        rows.map(|&value| T::cast(-self.units.solution.inward(value.into()))).collect()
    }

    fn back_to_branch<T: Real>(
        &self,
        branch: &[T],
        passes: &[Pass<T>],
        by_coefficients: &[f64],
        by_branch: &mut [f64],
    ) {
        let mut chunks = vec![];
        let mut rest = by_coefficients;
        for pass in passes {
            let (own, others) = rest.split_at(pass.output.len());
            chunks.push((pass, own));
            rest = others;
        }
        let back = |(pass, adjoint): (&Pass<T>, &[f64])| {
            let mut gradient = vec![T::ZERO; branch.len()];
            self.branch.backward(branch, pass, cast(adjoint), Some(&mut gradient));
            gradient
        };
        let gradients: Vec<Vec<T>> = chunks.into_par_iter().map(back).collect();
        gradients.iter().for_each(|gradient| add_wide(by_branch, gradient));
    }
}

impl Surrogate for DeepOnet {
    fn parameters(&self) -> usize {
        self.units.parameters.len()
    }

    fn weights(&self) -> usize {
        self.branch.weights() + self.trunk.weights()
    }

    fn numbers(&self) -> usize {
        self.weights()
    }

    fn initial_weights(&self, seed: u64) -> Vec<f64> {
        let (mut random, mut weights) = (Pcg64::seed_from_u64(seed), vec![]);
        self.branch.append_initial(&mut random, &mut weights);
        self.trunk.append_initial(&mut random, &mut weights);
        weights
    }

    fn loss(&self, weights: &[f64], samples: &Samples, batch: &[usize], gradient: &mut [f64]) -> f64 {
        self.loss_in::<f32>(weights, samples, batch, gradient)
    }

    fn freeze(&self, weights: &[f64], sites: &[Vec<f64>]) -> Box<dyn Frozen> {
        assert_eq!(weights.len(), self.weights(), "number of weights");
        let (branch, trunk) = weights.split_at(self.branch.weights());
        let basis = self.basis(trunk, sites, 0, sites.first().map_or(0, Vec::len)).output;
        Box::new(FrozenDeepOnet { model: self.clone(), branch: branch.to_vec(), basis })
    }
}

/// The trunk does not depend on the parameters: only its values at the sites are kept.
struct FrozenDeepOnet {
    model: DeepOnet,
    branch: Vec<f64>,
    /// One row for each site.
    basis: Vec<f64>,
}

impl FrozenDeepOnet {
    fn coefficients(&self, parameters: &[f64]) -> Pass<f64> {
        self.model.branch.forward(&self.branch, self.model.units.parameters_inward(parameters).collect())
    }
}

impl Frozen for FrozenDeepOnet {
    fn predict(&self, parameters: &[f64]) -> Vec<f64> {
        let coefficients = self.coefficients(parameters).output;
        let values = product(
            Matrix::with_columns(&self.basis, self.model.products),
            Matrix::with_columns(&coefficients, 1),
        );
        values.into_iter().map(|value| self.model.units.solution.outward(value)).collect()
    }

    fn pullback(&self, parameters: &[f64], adjoint: &[f64]) -> Vec<f64> {
        let DeepOnet { branch, products, units, .. } = &self.model;
        let mut by_coefficients = vec![0.0; *products];
        let basis = Matrix::with_columns(&self.basis, *products);
        let row = Matrix::with_columns(adjoint, adjoint.len().max(1));
        add_product(&mut by_coefficients, units.solution.spread, row, basis);
        let gradient = branch.backward(&self.branch, &self.coefficients(parameters), by_coefficients, None);
        units.gradient_outward(&gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differences::{check_loss, check_pullback, random_samples, same_bits_for_any_threads};
    use crate::samples::Affine;

    fn small(parameters: usize, coordinates: usize) -> (DeepOnet, Samples) {
        let samples = random_samples(70, parameters, coordinates, 40);
        let units = Units::of(&samples, &(0..70).collect::<Vec<_>>());
        (DeepOnet::new(DeepOnetSpec { branch: vec![6, 5, 4], trunk: vec![5, 4] }, units), samples)
    }

    /// Two layers each for a function of 99 values: (99·128 + 128 + 128² + 128) + (2·128 + 128² + 128).
    #[test]
    fn every_layer_has_a_matrix_and_a_bias() {
        let units = Affine { centre: 0.0, spread: 1.0 };
        let units = Units { parameters: vec![units; 99], coordinates: vec![units], solution: units };
        let model = DeepOnet::new(DeepOnetSpec { branch: vec![128; 2], trunk: vec![128; 2] }, units);
        assert_eq!((model.weights(), model.numbers()), (46_080, 46_080));
        assert_eq!(model.initial_weights(3).len(), 46_080);
    }

    /// More samples and points than one chunk holds.
    #[test]
    fn gradient_of_the_loss_is_its_slope() {
        let (model, samples) = small(3, 2);
        let batch: Vec<usize> = (0..70).rev().collect();
        check_loss(&model.initial_weights(5), &mut |weights, gradient| {
            model.loss_in::<f64>(weights, &samples, &batch, gradient)
        });
    }

    #[test]
    fn pullback_is_the_slope_of_the_prediction() {
        let (model, samples) = small(3, 2);
        let frozen = model.freeze(&model.initial_weights(5), samples.points());
        check_pullback(&*frozen, &samples.parameters()[1]);
    }

    /// The loss in f32 is the mean square of what the frozen model predicts in f64.
    #[test]
    fn loss_is_that_of_the_frozen_model() {
        let (model, samples) = small(2, 1);
        let (weights, batch) = (model.initial_weights(9), [4, 11, 2]);
        let loss = model.loss(&weights, &samples, &batch, &mut vec![0.0; model.weights()]);
        crate::differences::check_loss_of_frozen(&model, &weights, &samples, &batch, loss);
    }

    #[test]
    fn threads_do_not_show() {
        let (model, samples) = small(3, 2);
        same_bits_for_any_threads(&model, &samples);
    }
}
