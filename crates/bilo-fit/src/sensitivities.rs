//! Observed values with their derivatives by the unknowns, by whatever solver.

/// Values at points and their derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivities {
    /// The values.
    pub values: Vec<f64>,
    /// d value / d eta_j, one column per unknown.
    pub slopes: Vec<Vec<f64>>,
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
