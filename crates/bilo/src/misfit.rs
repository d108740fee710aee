//! The data loss of the upper level for values from any solver, and as a function of the unknowns
//! alone where the classical twin solves the PDE for them.

use crate::diagnostic::{Diagnostic, Result};
use crate::likelihood::Sites;
use crate::optimum::{Judgeable, Landscape};
use crate::problem::{Problem, Table, Unknown};
use crate::theta::Theta;
use crate::twin::{Twin, TwinSolution, WithSlopes};

/// L_data = Σ_o weight_o Σ_i w_i l(value_i, data_i, sigma_i), where w_i and l are those of the observation's
/// likelihood: for normal errors the mean of ((value - data)/sigma)².
#[derive(Clone, Copy)]
pub struct DataLoss<'a> {
    problem: &'a Problem,
    tables: &'a [Table],
}

/// What all data make of observed values.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
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
    pub fn judge(&self, sites: &[Sites], values: &[Vec<f64>]) -> Result<Judged> {
        let mut judged = Judged { terms: vec![], by_values: vec![], roots: vec![], loss: 0.0, size: 0.0 };
        for ((observation, sites), values) in self.problem.observations.iter().zip(sites).zip(values) {
            let weight = observation.weight;
            let found = sites.judge(values)?;
            judged.by_values.push(found.by_values.into_iter().map(|slope| weight * slope).collect());
            judged
                .roots
                .extend(found.curvature.into_iter().map(|curvature| (weight * curvature / 2.0).sqrt()));
            judged.size += weight * observation.likelihood.size(found.term);
            judged.loss += weight * found.term;
            judged.terms.push(found.term);
        }
        Ok(judged)
    }

    /// The weighted sum of the terms.
    pub fn total(&self, terms: &[f64]) -> f64 {
        self.problem.observations.iter().zip(terms).map(|(observation, term)| observation.weight * term).sum()
    }
}

/// The derivatives of the observed values over all observations, one column per variable.
pub(crate) fn columns(observed: &[WithSlopes]) -> Vec<Vec<f64>> {
    let column = |j: usize| observed.iter().flat_map(|observed| observed.slopes[j].clone()).collect();
    (0..observed.first().map_or(0, |first| first.slopes.len())).map(column).collect()
}

impl Judged {
    /// The derivatives of the loss by variables, from those of the observed values.
    pub fn gradient(&self, slopes: &[Vec<f64>]) -> Vec<f64> {
        let product = |column: &Vec<f64>| {
            column.iter().zip(self.by_values.iter().flatten()).map(|(slope, by_value)| slope * by_value).sum()
        };
        slopes.iter().map(product).collect()
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

impl<'a> Landscape for TwinLoss<'a> {
    type Visit = Visit<'a>;

    fn unknowns(&self) -> &[Unknown] {
        &self.data.problem.unknowns
    }

    fn visit(&mut self, _near: &Visit<'a>, eta: &[f64]) -> Result<Visit<'a>> {
        TwinLoss::visit(self, eta)
    }

    fn observed(&mut self, visit: &Visit<'a>) -> Result<Vec<WithSlopes>> {
        self.slopes(visit)
    }
}

impl Judgeable for Visit<'_> {
    fn eta(&self) -> &[f64] {
        &self.theta.eta
    }

    fn judged(&self) -> &Judged {
        &self.judged
    }
}

/// The solution at some value of the unknowns and what it says of the observations.
pub struct Visit<'a> {
    /// Where.
    pub theta: Theta,
    /// The solution.
    pub solution: TwinSolution<'a>,
    /// Where the observations are evaluated.
    pub sites: Vec<Sites>,
    /// The observed quantities, by observation.
    pub values: Vec<Vec<f64>>,
    /// What the data make of them.
    pub judged: Judged,
}

impl<'a> TwinLoss<'a> {
    /// Solves at a value of everything unknown.
    pub fn visit(&self, theta: impl Into<Theta>) -> Result<Visit<'a>> {
        let theta = theta.into();
        let solution = self.twin.solve(&theta)?;
        let sites = self.data.sites(&theta.eta)?;
        let observations = self.data.problem.observations.iter().zip(&sites);
        let values = observations
            .map(|(observation, sites)| solution.observe(&observation.value, &sites.coordinates))
            .collect::<Result<Vec<_>>>()?;
        if values.iter().flatten().any(|value| !value.is_finite()) {
            return Err(Diagnostic::new("an observed value is not finite", Default::default()).into());
        }
        let judged = self.data.judge(&sites, &values)?;
        Ok(Visit { theta, solution, sites, values, judged })
    }

    /// The observed quantities with their derivatives by eta.
    pub fn slopes(&self, visit: &Visit<'_>) -> Result<Vec<WithSlopes>> {
        let observations = self.data.problem.observations.iter().zip(&visit.sites);
        observations
            .map(|(observation, sites)| {
                visit.solution.observe_with_slopes(&observation.value, &sites.coordinates)
            })
            .collect()
    }

    /// The derivatives of L_data by everything unknown, by the adjoint.
    pub fn gradient(&self, visit: &Visit<'_>) -> Result<Theta> {
        let mut gradient = visit.theta.zeros();
        let observations = self.data.problem.observations.iter().zip(&visit.sites);
        for ((observation, sites), weights) in observations.zip(&visit.judged.by_values) {
            gradient.add(&visit.solution.gradient(&observation.value, &sites.coordinates, weights)?);
        }
        Ok(gradient)
    }
}
