//! Observed values with their derivatives by the unknowns, by whatever solver.

use bilo_problem::Sampling;
use bilo_problem::diagnostic::Result;

/// Values at points and their derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivities {
    /// The values.
    pub values: Vec<f64>,
    /// d value / d eta_j, one column per unknown.
    pub slopes: Vec<Vec<f64>>,
}

impl Sensitivities {
    /// What is observed, from what evaluates each term at its sampling.
    pub fn observed(
        sampling: &Sampling,
        mut evaluate: impl FnMut(usize, &[Vec<f64>]) -> Result<Sensitivities>,
    ) -> Result<Sensitivities> {
        let mut sum = evaluate(0, sampling.columns(0))?.gathered(sampling, 0);
        for term in 1..sampling.terms() {
            let found = evaluate(term, sampling.columns(term))?.gathered(sampling, term);
            add(&mut sum.values, &found.values);
            sum.slopes.iter_mut().zip(&found.slopes).for_each(|(sum, found)| add(sum, found));
        }
        Ok(sum)
    }

    fn gathered(self, sampling: &Sampling, term: usize) -> Sensitivities {
        let slopes = self.slopes.into_iter().map(|slope| sampling.gather(term, slope)).collect();
        Sensitivities { values: sampling.gather(term, self.values), slopes }
    }
}

fn add(sum: &mut [f64], terms: &[f64]) {
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

/// The values alone.
pub fn values(observed: &[Sensitivities]) -> Vec<Vec<f64>> {
    observed.iter().map(|observed| observed.values.clone()).collect()
}

/// The derivatives of the observed values over all observations, one column per variable.
pub fn columns(observed: &[Sensitivities]) -> Vec<Vec<f64>> {
    let column = |j: usize| observed.iter().flat_map(|observed| observed.slopes[j].clone()).collect();
    (0..observed.first().map_or(0, |first| first.slopes.len())).map(column).collect()
}
