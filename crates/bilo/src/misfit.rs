//! The data loss of the upper level for values from any solver, and as a function of the unknowns
//! alone where the classical twin solves the PDE for them.

use crate::diagnostic::{Diagnostic, Result};
use crate::problem::{Problem, Table};
use crate::theta::Theta;
use crate::twin::{Twin, TwinSolution, WithSlopes};

/// L_data = Σ_o weight_o mean_i ((value_i - data_i)/sigma_i)², with sigma one where there is none.
#[derive(Clone, Copy)]
pub struct DataLoss<'a> {
    problem: &'a Problem,
    tables: &'a [Table],
}

impl<'a> DataLoss<'a> {
    /// The loss of a problem with the data of all its observations.
    pub fn new(problem: &'a Problem, tables: &'a [Table]) -> Self {
        Self { problem, tables }
    }

    /// The problem.
    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// The data, by observation.
    pub fn tables(&self) -> &'a [Table] {
        self.tables
    }

    /// Names of the terms.
    pub fn names(&self) -> Vec<String> {
        self.problem.observations.iter().map(|observation| format!("data.{}", observation.name)).collect()
    }

    /// The square roots of what multiplies the squares (value - data)² in the loss, over all
    /// observations.
    pub fn root_weights(&self) -> Vec<f64> {
        let of = |(observation, table): (&crate::problem::Observation, &'a Table)| {
            let root = (observation.weight / table.values.len() as f64).sqrt();
            (0..table.values.len()).map(move |i| root / table.sigma.as_ref().map_or(1.0, |sigma| sigma[i]))
        };
        self.problem.observations.iter().zip(self.tables).flat_map(of).collect()
    }

    /// The residuals whose squares make up the loss, over all observations.
    pub fn residuals(&self, values: &[Vec<f64>]) -> Vec<f64> {
        let misfits = values.iter().flatten().zip(self.tables.iter().flat_map(|table| &table.values));
        misfits.zip(self.root_weights()).map(|((value, data), root)| root * (value - data)).collect()
    }

    /// The derivatives of the loss by the observed values, by observation.
    pub fn by_values(&self, values: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let residuals = self.residuals(values);
        let mut all = residuals.iter().zip(self.root_weights()).map(|(residual, root)| 2.0 * root * residual);
        values.iter().map(|values| all.by_ref().take(values.len()).collect()).collect()
    }

    /// The derivatives of the observed values over all observations, one column per unknown.
    pub fn slopes(&self, observed: &[WithSlopes]) -> Vec<Vec<f64>> {
        let column = |j: usize| observed.iter().flat_map(|observed| observed.slopes[j].clone()).collect();
        (0..self.problem.unknowns.len()).map(column).collect()
    }

    /// The derivatives of the residuals, one column per unknown.
    pub fn jacobian(&self, observed: &[WithSlopes]) -> Vec<Vec<f64>> {
        let (mut columns, roots) = (self.slopes(observed), self.root_weights());
        for column in &mut columns {
            column.iter_mut().zip(&roots).for_each(|(slope, root)| *slope *= root);
        }
        columns
    }

    /// The term of each observation, without its weight.
    pub fn terms(&self, values: &[Vec<f64>]) -> Vec<f64> {
        let term = |(table, values): (&Table, &Vec<f64>)| {
            let sigma = |i: usize| table.sigma.as_ref().map_or(1.0, |sigma| sigma[i]);
            let square = |i: usize| ((values[i] - table.values[i]) / sigma(i)).powi(2);
            (0..values.len()).map(square).sum::<f64>() / values.len() as f64
        };
        self.tables.iter().zip(values).map(term).collect()
    }

    /// The weighted sum of the terms.
    pub fn total(&self, terms: &[f64]) -> f64 {
        self.problem.observations.iter().zip(terms).map(|(observation, term)| observation.weight * term).sum()
    }
}

/// The data loss as a function of the unknowns, the PDE solved by the twin.
#[derive(Clone, Copy)]
pub struct TwinLoss<'a> {
    /// The loss.
    pub data: DataLoss<'a>,
    /// What solves the PDE.
    pub twin: &'a Twin,
}

/// The solution at some value of the unknowns and what it says of the observations.
pub struct Visit<'a> {
    /// Where.
    pub theta: Theta,
    /// The solution.
    pub solution: TwinSolution<'a>,
    /// The observed quantities, by observation.
    pub values: Vec<Vec<f64>>,
    /// The terms of the loss.
    pub terms: Vec<f64>,
}

impl<'a> TwinLoss<'a> {
    /// Solves at a value of everything unknown.
    pub fn visit(&self, theta: impl Into<Theta>) -> Result<Visit<'a>> {
        let theta = theta.into();
        let solution = self.twin.solve(&theta)?;
        let observations = self.data.problem.observations.iter().zip(self.data.tables);
        let values = observations
            .map(|(observation, table)| solution.observe(&observation.value, &table.coordinates))
            .collect::<Result<Vec<_>>>()?;
        if values.iter().flatten().any(|value| !value.is_finite()) {
            return Err(Diagnostic::new("an observed value is not finite", Default::default()).into());
        }
        let terms = self.data.terms(&values);
        Ok(Visit { theta, solution, values, terms })
    }

    /// The observed quantities with their derivatives by eta.
    pub fn slopes(&self, visit: &Visit<'_>) -> Result<Vec<WithSlopes>> {
        let observations = self.data.problem.observations.iter().zip(self.data.tables);
        observations
            .map(|(observation, table)| {
                visit.solution.observe_with_slopes(&observation.value, &table.coordinates)
            })
            .collect()
    }

    /// The derivatives of L_data by everything unknown, by the adjoint.
    pub fn gradient(&self, visit: &Visit<'_>) -> Result<Theta> {
        let mut gradient = visit.theta.zeros();
        let observations = self.data.problem.observations.iter().zip(self.data.tables);
        for ((observation, table), weights) in observations.zip(self.data.by_values(&visit.values)) {
            gradient.add(&visit.solution.gradient(&observation.value, &table.coordinates, &weights)?);
        }
        Ok(gradient)
    }
}
