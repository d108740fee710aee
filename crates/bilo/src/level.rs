//! The two levels of the method, and what each may touch:
//!
//! ```text
//! lower level over the weights W:     { residual, residual gradient }   at fixed theta
//! upper level over the unknowns:      { data }                          at fixed W
//! ```
//!
//! Data never reach W, residuals never reach theta; so nothing has to be balanced.

use crate::diagnostic::{Origin, Result};
use crate::finite::require_finite;
use crate::operator::{LocalOperator, program_error};
use crate::problem::{Points, Problem, Table};
use crate::seeds::{Purpose, seed_for};
use bilo_expr::Expr;
use bilo_jet::{
    Column, DensityId, DensityProgram, Device, PointSource, ResidualId, ResidualProgram, ResidualWeights,
};

/// L_LO = Σ_e weight_e (L_res,e + w_rgrad L_rgrad,e).
pub struct Lower {
    blocks: Vec<Block>,
    names: Vec<String>,
}

/// Equations that share their points.
struct Block {
    id: ResidualId,
    weights: ResidualWeights,
}

impl Lower {
    /// Loads every equation into the device; equations at the same points go together.
    pub fn new(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        seed: u64,
    ) -> Result<Self> {
        let mut groups: Vec<(&Points, Vec<usize>)> = vec![];
        for (number, equation) in problem.equations.iter().enumerate() {
            match groups.iter_mut().find(|(points, _)| *points == &equation.points) {
                Some((_, members)) => members.push(number),
                None => groups.push((&equation.points, vec![number])),
            }
        }
        let mut lower = Self { blocks: vec![], names: vec![] };
        for (points, members) in groups {
            let residuals: Vec<Expr> = members.iter().map(|&e| operator.residuals[e]).collect();
            let graph = &mut operator.names.graph;
            let origin = &problem.equations[members[0]].residual.origin;
            let program = ResidualProgram::new(graph, &operator.operator, &residuals)
                .map_err(|error| program_error(graph, &error, origin))?;
            let expanded = ResidualProgram::expanded(graph, &operator.operator, &residuals)
                .map_err(|error| program_error(graph, &error, origin))?;
            let points = points.source(problem, seed_for(seed, Purpose::EquationPoints, members[0]))?;
            let equations: Vec<_> = members.iter().map(|&member| &problem.equations[member]).collect();
            require_finite(problem, &equations, &expanded, &points)?;
            let id = device.load_residual(program, points);
            let equation = members.iter().map(|&e| problem.equations[e].weight).collect();
            let weights = ResidualWeights { equation, gradient: problem.training.rgrad_weight };
            lower.blocks.push(Block { id, weights });
            let name = |kind: &str, e: &usize| format!("{kind}.{}", problem.equations[*e].name);
            lower.names.extend(members.iter().map(|e| name("residual", e)));
            lower.names.extend(members.iter().map(|e| name("residual-gradient", e)));
        }
        Ok(lower)
    }

    /// Names of the terms.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// L_LO and its terms; adds its gradient with respect to W, at fixed theta.
    pub fn loss(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        mut gradient: Option<&mut [f64]>,
    ) -> (f64, Vec<f64>) {
        let (mut total, mut terms) = (0.0, vec![]);
        for block in &self.blocks {
            let loss = device.residual(block.id, weights, eta, &block.weights, gradient.as_deref_mut());
            for (q, weight) in block.weights.equation.iter().enumerate() {
                total += weight * (loss.residual[q] + block.weights.gradient * loss.gradient[q]);
            }
            terms.extend(loss.residual);
            terms.extend(loss.gradient);
        }
        (total, terms)
    }
}

/// Σ_o weight_o L_data,o.
pub struct Upper {
    observations: Vec<(DensityId, f64)>,
    names: Vec<String>,
}

impl Upper {
    /// Loads every observation into the device.
    pub fn new(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        tables: Vec<Table>,
    ) -> Result<Self> {
        let mut upper = Self { observations: vec![], names: vec![] };
        for (number, (observation, table)) in problem.observations.iter().zip(tables).enumerate() {
            let density = gaussian_density(operator, operator.observed[number]);
            let id = load_mean(operator, device, density, table, &observation.value.origin)?;
            upper.observations.push((id, observation.weight));
            upper.names.push(format!("data.{}", observation.name));
        }
        Ok(upper)
    }

    /// Names of the terms.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The terms and the gradient of their weighted sum with respect to the unknowns, at fixed W.
    pub fn loss(&self, device: &mut dyn Device, weights: &[f64], eta: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut terms, mut gradient) = (vec![], vec![0.0; eta.len()]);
        for &(id, weight) in &self.observations {
            let (value, slope) = device.density(id, weights, eta, None);
            terms.push(value);
            gradient.iter_mut().zip(slope).for_each(|(sum, slope)| *sum += weight * slope);
        }
        (terms, gradient)
    }
}

/// Pre-training's extra term: mean |u - u_0|² for every state, over W.
pub struct Fit {
    states: Vec<DensityId>,
    names: Vec<String>,
}

impl Fit {
    /// Loads the values of u_0 of every state into the device.
    pub fn new(
        problem: &Problem,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        start: Vec<Table>,
    ) -> Result<Self> {
        let mut fit = Self { states: vec![], names: vec![] };
        for (number, (state, table)) in problem.states.iter().zip(start).enumerate() {
            let density = gaussian_density(operator, operator.states[number]);
            fit.states.push(load_mean(operator, device, density, table, &state.form.origin)?);
            fit.names.push(format!("fit.{}", state.name));
        }
        Ok(fit)
    }

    /// Names of the terms.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The terms; adds the gradient of their sum with respect to W.
    pub fn loss(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        gradient: &mut [f64],
    ) -> Vec<f64> {
        self.states.iter().map(|&id| device.density(id, weights, eta, Some(gradient)).0).collect()
    }
}

/// ((value - data)/sigma)².
fn gaussian_density(operator: &mut LocalOperator, value: Expr) -> Expr {
    let graph = &mut operator.names.graph;
    let (data, sigma) = (graph.leaf(operator.datum), graph.leaf(operator.sigma));
    let misfit = graph.sub(value, data);
    let scaled = graph.div(misfit, sigma);
    graph.mul(scaled, scaled)
}

/// Loads the mean of a density over the rows of a table; sigma is one where the table has none.
fn load_mean(
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    density: Expr,
    table: Table,
    origin: &Origin,
) -> Result<DensityId> {
    let with_data = operator.with_data_columns();
    let graph = &mut operator.names.graph;
    let program = DensityProgram::new(graph, &with_data, density)
        .map_err(|error| program_error(graph, &error, origin))?;
    let count = table.values.len();
    let sigma = table.sigma.map_or_else(|| Column::uniform(1.0), Column::stored);
    let stored = table.coordinates.into_iter().chain([table.values]).map(Column::stored);
    let points = PointSource::new(stored.chain([sigma]).collect(), count);
    Ok(device.load_density(program, points, Column::uniform(1.0 / count as f64)))
}
