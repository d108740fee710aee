//! Reduced bases: the solutions of a few unknown numbers lie near a space of few dimensions, which some of them span
//! (Quarteroni, Manzoni, Negri, Reduced Basis Methods for Partial Differential Equations, 2016, chapter 6).

use super::LocalOperator;
use faer::Mat;

/// Directions in which solutions differ by less than this part of the largest one are left out.
const LEAST: f64 = 1e-10;

/// Orthonormal combinations of the features of each state.
#[derive(Clone, Debug)]
pub struct ReducedBasis {
    /// By state: the coefficients of each combination.
    pub(super) states: Vec<Vec<Vec<f64>>>,
}

impl ReducedBasis {
    /// What solutions by a dictionary have in common: the leading left singular vectors of their coefficients. None if
    /// features are no products, or if the combinations would not be far fewer.
    pub fn of(operator: &LocalOperator, solutions: &[Vec<f64>]) -> Option<ReducedBasis> {
        let (mut first, mut states) = (0, vec![]);
        for bound in &operator.operator.networks[..operator.states.len()] {
            let count = bound.network.weights();
            bound.network.reduced(&[vec![0.0; count]])?;
            let matrix = Mat::from_fn(count, solutions.len(), |i, j| solutions[j][first + i]);
            let svd = matrix.thin_svd().ok()?;
            let singular = svd.S().column_vector();
            let enough = singular.iter().take_while(|value| **value > LEAST * singular[0]).count();
            let combination = |k: usize| svd.U().col(k).iter().copied().collect::<Vec<f64>>();
            states.push((0..enough).map(combination).collect::<Vec<_>>());
            first += count;
        }
        let few = |state: &Vec<Vec<f64>>| 3 * state.len() <= state.first().map_or(0, Vec::len);
        states.iter().all(few).then_some(ReducedBasis { states })
    }

    /// Coefficients of the features as those of the combinations; other weights stay.
    pub fn reduced(&self, weights: &[f64]) -> Vec<f64> {
        let (mut rest, mut reduced) = (weights, vec![]);
        for combinations in &self.states {
            let (own, others) = rest.split_at(combinations.first().map_or(0, Vec::len));
            let product =
                |combination: &Vec<f64>| combination.iter().zip(own).map(|(v, w)| v * w).sum::<f64>();
            reduced.extend(combinations.iter().map(product));
            rest = others;
        }
        reduced.extend(rest);
        reduced
    }

    /// Combinations of all states.
    pub fn len(&self) -> usize {
        self.states.iter().map(Vec::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
