//! What pre-training fits beside the residuals.

use super::{Sum, gaussian_density, on_nodes};
use crate::operator::{LocalOperator, with_shifts};
use bilo_jet::{DensityId, Device, Moves};
use bilo_problem::diagnostic::Result;
use bilo_problem::{Problem, Table};

/// Pre-training's extra terms: mean |u - u_0|² for every state over W, and mean |f - f_0|² for every
/// unknown function over V.
#[derive(Default)]
pub struct Fit {
    densities: Vec<DensityId>,
    names: Vec<String>,
    unknowns: usize,
}

impl Fit {
    /// Loads the guess of every unknown function into the device.
    pub fn new(problem: &Problem, operator: &mut LocalOperator, device: &mut dyn Device) -> Result<Self> {
        let mut fit = Self { unknowns: operator.operator.unknowns.len(), ..Self::default() };
        // Coefficients of given functions start at their guess; networks have to be trained to it.
        let networks = operator.functions.networks.len();
        for (number, function) in problem.functions.iter().enumerate().take(networks) {
            let density = gaussian_density(operator, operator.functions.values[number]);
            let (with_data, origin) = (operator.for_function_with_data(number), function.guess.origin());
            let sum = Sum { density, operator: with_data, moves: Moves::Functions, origin };
            let table = on_nodes(problem, function, Some(&function.guess))?;
            fit.densities.push(sum.load_mean(&mut operator.names, device, table)?.id);
            fit.names.push(format!("fit.{}", function.name));
        }
        Ok(fit)
    }

    /// Loads the values of u_0 of states, by number, into the device.
    pub fn with_start(
        mut self,
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        start: Vec<(usize, Table)>,
    ) -> Result<Self> {
        for (number, table) in start {
            let state = &problem.states[number];
            let density = gaussian_density(operator, operator.states[number]);
            let (with_data, origin) = (operator.with_data_columns(), &state.form.origin);
            let sum = Sum { density, operator: with_data, moves: Moves::States, origin };
            self.densities.push(sum.load_mean(&mut operator.names, device, table)?.id);
            self.names.push(format!("fit.{}", state.name));
        }
        Ok(self)
    }

    /// Names of the terms.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Its densities on the device.
    pub(crate) fn densities(&self) -> &[DensityId] {
        &self.densities
    }

    /// The terms; adds the gradient of their sum with respect to W and V.
    pub fn loss(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        gradient: &mut [f64],
    ) -> Result<Vec<f64>> {
        let unknowns = with_shifts(eta, self.unknowns);
        let mut term = |&id| Ok(device.density(id, weights, &unknowns, Some(gradient))?.0);
        self.densities.iter().map(&mut term).collect()
    }
}
