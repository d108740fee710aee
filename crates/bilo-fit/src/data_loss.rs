//! The data loss of the upper level for values from any solver, and as a function of the unknowns
//! alone where the reference solver solves the PDE for them.

use bilo_problem::diagnostic::Result;
use bilo_problem::sites::Sites;
use bilo_problem::{Problem, Table};

/// L_data = Σ_o weight_o Σ_i w_i l(value_i, data_i, sigma_i), where w_i and l are those of the observation's
/// likelihood: for normal errors the mean of ((value - data)/sigma)².
#[derive(Clone, Copy)]
pub struct DataLoss<'a> {
    problem: &'a Problem,
    tables: &'a [Table],
}

/// What all data make of observed values.
#[derive(Clone, Debug, PartialEq)]
pub struct LossTerms {
    /// The term of each observation, without its weight.
    pub terms: Vec<f64>,
    /// The derivatives of the loss by the observed values, by observation.
    pub by_values: Vec<Vec<f64>>,
    /// Square roots of half the expected second derivatives by the values, over all observations: if the
    /// errors are normal, what multiplies value - data in the square root of the loss.
    pub roots: Vec<f64>,
    /// The weighted sum of the terms.
    pub loss: f64,
    /// The size of a loss from which nothing more can be gained.
    pub size: f64,
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

    /// Where each observation is evaluated, at these variables.
    pub fn sites(&self, eta: &[f64]) -> Result<Vec<Sites>> {
        let thetas = self.problem.thetas(eta);
        let observations = self.problem.observations.iter().zip(self.tables);
        observations
            .map(|(observation, table)| Sites::new(self.problem, observation, table, &thetas))
            .collect()
    }

    /// What the data make of observed values.
    pub fn terms(&self, sites: &[Sites], values: &[Vec<f64>]) -> Result<LossTerms> {
        let mut loss_terms =
            LossTerms { terms: vec![], by_values: vec![], roots: vec![], loss: 0.0, size: 0.0 };
        for ((observation, sites), values) in self.problem.observations.iter().zip(sites).zip(values) {
            let weight = observation.weight;
            let found = sites.terms(values)?;
            loss_terms.by_values.push(found.by_values.into_iter().map(|slope| weight * slope).collect());
            loss_terms
                .roots
                .extend(found.curvature.into_iter().map(|curvature| (weight * curvature / 2.0).sqrt()));
            loss_terms.size += weight * observation.likelihood.size(found.term);
            loss_terms.loss += weight * found.term;
            loss_terms.terms.push(found.term);
        }
        Ok(loss_terms)
    }

    /// The weighted sum of the terms.
    pub fn total(&self, terms: &[f64]) -> f64 {
        self.problem.observations.iter().zip(terms).map(|(observation, term)| observation.weight * term).sum()
    }
}

impl LossTerms {
    /// The derivatives of the loss by variables, from those of the observed values.
    pub fn gradient(&self, slopes: &[Vec<f64>]) -> Vec<f64> {
        let product = |column: &Vec<f64>| {
            column.iter().zip(self.by_values.iter().flatten()).map(|(slope, by_value)| slope * by_value).sum()
        };
        slopes.iter().map(product).collect()
    }
}
