//! Where a local operator stands: its weights at a value of the unknowns.

/// What training moves: the weights W, the weights V of unknown functions, and the variables eta of the
/// scalar unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorState {
    /// The networks' weights, V before W.
    pub weights: Vec<f64>,
    /// The scalars' variables, then the coefficients of functions that are sums of given ones.
    pub eta: Vec<f64>,
    /// dW/deta_j, if the weights are solved for at every eta; empty if the unknowns are inputs of networks.
    pub slopes: Vec<Vec<f64>>,
}

impl OperatorState {
    /// Networks with the unknowns among their inputs.
    pub fn new(weights: Vec<f64>, eta: Vec<f64>) -> OperatorState {
        OperatorState { weights, eta, slopes: vec![] }
    }

    /// Another value of the variables, with the weights as they move with them.
    pub fn moved_to(&self, eta: Vec<f64>) -> OperatorState {
        let mut weights = self.weights.clone();
        for ((slopes, to), from) in self.slopes.iter().zip(&eta).zip(&self.eta) {
            weights.iter_mut().zip(slopes).for_each(|(weight, slope)| *weight += (to - from) * slope);
        }
        OperatorState { weights, eta, slopes: self.slopes.clone() }
    }
}
