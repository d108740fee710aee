//! Tables of solved examples, which of them are trained on, and the units that make them of order one.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// Solved examples: for each its parameters and its solution at the points, which all share.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    parameters: Vec<Vec<f64>>,
    points: Vec<Vec<f64>>,
    solutions: Vec<Vec<f32>>,
}

impl Samples {
    /// Parameters and solutions of the examples, and the points as columns, one for each coordinate.
    /// Panics if their lengths contradict each other or there are no examples, points or coordinates.
    pub fn new(parameters: Vec<Vec<f64>>, points: Vec<Vec<f64>>, solutions: Vec<Vec<f32>>) -> Self {
        assert!(
            !parameters.is_empty() && parameters.len() == solutions.len(),
            "one solution for each example"
        );
        assert!(points.first().is_some_and(|column| !column.is_empty()), "points with coordinates");
        assert!(points.iter().all(|column| column.len() == points[0].len()), "columns of one length");
        assert!(parameters.iter().all(|own| own.len() == parameters[0].len()), "parameters of one length");
        assert!(solutions.iter().all(|own| own.len() == points[0].len()), "a value at each point");
        Self { parameters, points, solutions }
    }

    /// Number of examples; there is at least one.
    pub fn count(&self) -> usize {
        self.parameters.len()
    }

    /// The parameters of each example.
    pub fn parameters(&self) -> &[Vec<f64>] {
        &self.parameters
    }

    /// The points as columns.
    pub fn points(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// The solution of each example at the points.
    pub fn solutions(&self) -> &[Vec<f32>] {
        &self.solutions
    }
}

/// Which examples are trained on and which are held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Numbers of those trained on.
    pub training: Vec<usize>,
    /// Numbers of those held back.
    pub validation: Vec<usize>,
}

impl Split {
    /// Holds back a share of so many examples, drawn by the seed; at least one is left to train on.
    pub fn new(count: usize, share: f64, seed: u64) -> Self {
        assert!(count > 0 && (0.0..1.0).contains(&share), "a share of some examples");
        let mut order: Vec<usize> = (0..count).collect();
        order.shuffle(&mut Pcg64::seed_from_u64(seed));
        let held = ((share * count as f64).round() as usize).min(count - 1);
        let training = order.split_off(held);
        Self { training, validation: order }
    }
}

/// A change of units: a value v is written as (v - centre) / spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// What becomes zero.
    pub centre: f64,
    /// What becomes one unit.
    pub spread: f64,
}

impl Affine {
    /// Mean and standard deviation; numbers that do not vary keep their unit.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count() as f64;
        let centre = values.clone().sum::<f64>() / count;
        let spread = (values.map(|value| (value - centre).powi(2)).sum::<f64>() / count).sqrt();
        // Below this the spread is rounding.
        let varies = spread > 1e-9 * centre.abs();
        Self { centre, spread: if varies { spread } else { 1.0 } }
    }

    /// The value in these units.
    pub fn inward(self, value: f64) -> f64 {
        (value - self.centre) / self.spread
    }

    /// The value that a number in these units stands for.
    pub fn outward(self, value: f64) -> f64 {
        self.centre + self.spread * value
    }
}

/// Units in which the numbers of a training set have mean zero and variance one; part of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Units {
    /// Of each parameter.
    pub parameters: Vec<Affine>,
    /// Of each coordinate.
    pub coordinates: Vec<Affine>,
    /// Of the solution, the same at all points.
    pub solution: Affine,
}

impl Units {
    /// From the examples with these numbers.
    pub fn of(samples: &Samples, which: &[usize]) -> Self {
        assert!(!which.is_empty(), "examples to take units from");
        let parameter = |place: usize| Affine::of(which.iter().map(move |&i| samples.parameters[i][place]));
        let values = which.iter().flat_map(|&i| samples.solutions[i].iter().map(|&value| f64::from(value)));
        Self {
            parameters: (0..samples.parameters[0].len()).map(parameter).collect(),
            coordinates: samples.points.iter().map(|column| Affine::of(column.iter().copied())).collect(),
            solution: Affine::of(values),
        }
    }

    /// Parameters in these units.
    pub(crate) fn parameters_inward<'a>(&'a self, parameters: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        assert_eq!(parameters.len(), self.parameters.len(), "number of parameters");
        self.parameters.iter().zip(parameters).map(|(units, &value)| units.inward(value))
    }

    /// The gradient by parameters from that by parameters in these units.
    pub(crate) fn gradient_outward(&self, gradient: &[f64]) -> Vec<f64> {
        self.parameters.iter().zip(gradient).map(|(units, slope)| slope / units.spread).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_takes_every_example_once_and_follows_its_seed() {
        let split = Split::new(100, 0.2, 7);
        assert_eq!((split.training.len(), split.validation.len()), (80, 20));
        let mut all = [split.training.clone(), split.validation.clone()].concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..100));
        assert_eq!(split, Split::new(100, 0.2, 7));
        assert_ne!(split, Split::new(100, 0.2, 8));
    }

    #[test]
    fn units_have_mean_zero_and_variance_one_and_leave_constants_alone() {
        let values = [1.0, 3.0, 8.0];
        let units = Affine::of(values.into_iter());
        let inward = values.map(|value| units.inward(value));
        assert!(inward.iter().sum::<f64>().abs() < 1e-14);
        assert!((inward.iter().map(|v| v * v).sum::<f64>() / 3.0 - 1.0).abs() < 1e-14);
        assert!((units.outward(inward[2]) - 8.0).abs() < 1e-14);
        assert_eq!(Affine::of([0.1; 7].into_iter()).spread, 1.0);
    }
}
