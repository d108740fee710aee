//! Derivatives of the residuals by what they are given besides the states:
//! one reverse sweep over a tape gives those by all its inputs.
//!
//! The place of the interface counts as one more parameter, the last. It acts
//! through the node positions: through coordinates, through the weights of the
//! stencils, and through those of the fluxes.

use bilo_expr::Input;

use crate::compile::{Block, Slot};
use crate::compiled::Values;
use crate::discrete::{Discrete, Placed};
use crate::rows::Part;
use crate::system::{System, Workspace, nodal_values, outputs};

/// What the rates of the slots of a block are made from.
pub(crate) struct Sources<'a> {
    pub(crate) discrete: &'a Discrete,
    pub(crate) values: &'a Values,
    pub(crate) u: &'a [f64],
    pub(crate) velocity: &'a [f64],
}

impl Sources<'_> {
    /// The derivative of a slot by the place of the interface, nodal values held
    /// fixed; `None` where it does not move.
    fn rates(&self, placed: &Placed, number: usize, slot: &Slot) -> Option<Vec<f64>> {
        self.discrete.mesh.position?;
        match *slot {
            Slot::Space(axis) => Some(placed.coordinate_rates[axis].clone()),
            Slot::Coefficient { coefficient, .. } => {
                Some(placed.operator(number).apply_rates(&self.values.coefficients[coefficient]))
            }
            Slot::Width(_) | Slot::Time | Slot::Signal { .. } | Slot::Parameter(_) => None,
            Slot::State { .. } | Slot::Jump { .. } => {
                let nodes = self.discrete.grid.nodes();
                let source = nodal_values(slot, nodes, self.u, self.velocity)?;
                Some(placed.operator(number).apply_rates(source))
            }
        }
    }
}

impl Workspace {
    /// The derivative of one residual by parameters, point by point, where the
    /// residuals were last evaluated: the number of a parameter and a column. A
    /// number may occur again; the columns add up.
    pub(crate) fn by_parameters(
        &mut self,
        block: &Block,
        placed: &Placed,
        residual: usize,
        sources: &Sources<'_>,
    ) -> Vec<(usize, Vec<f64>)> {
        let tape = &block.residuals;
        let seeds: Vec<Input<'_, f64>> = (0..tape.outputs().len())
            .map(|output| Input::Uniform(if output == residual { 1.0 } else { 0.0 }))
            .collect();
        tape.adjoint(&seeds, &mut self.residuals);
        let mut columns = Vec::new();
        for (i, slot) in block.slots.iter().enumerate().filter(|&(i, _)| tape.depends_on(residual, i)) {
            let adjoint = self.residuals.input_adjoint(tape, i);
            if let Slot::Parameter(parameter) = *slot {
                columns.push((parameter, adjoint.to_vec()));
            }
            if let Some(rates) = sources.rates(placed, i, slot) {
                let product = adjoint.iter().zip(&rates).map(|(a, r)| a * r).collect();
                columns.push((sources.values.parameters.len(), product));
            }
        }
        columns
    }

    /// Adds the derivative of `sum seeds * residuals` by all values, where the
    /// residuals were last evaluated.
    pub(crate) fn pull_back(
        &mut self,
        block: &Block,
        placed: &Placed,
        seeds: &[Vec<f64>],
        sources: &Sources<'_>,
        gradient: &mut Values,
    ) {
        let tape = &block.residuals;
        let seeds: Vec<Input<'_, f64>> = seeds.iter().map(|column| Input::Column(column)).collect();
        tape.adjoint(&seeds, &mut self.residuals);
        for (i, slot) in block.slots.iter().enumerate() {
            let adjoint = self.residuals.input_adjoint(tape, i);
            match *slot {
                Slot::Parameter(parameter) => gradient.parameters[parameter] += adjoint.iter().sum::<f64>(),
                Slot::Coefficient { coefficient, .. } => {
                    placed.operator(i).add_transposed(adjoint, &mut gradient.coefficients[coefficient]);
                }
                _ => {}
            }
            if let Some(rates) = sources.rates(placed, i, slot) {
                let product: f64 = adjoint.iter().zip(&rates).map(|(a, r)| a * r).sum();
                gradient.parameters[sources.values.parameters.len()] += product;
            }
        }
    }
}

impl System<'_> {
    /// The derivative of every row by every parameter, the nodal values held
    /// fixed, where the residuals were last evaluated.
    pub(crate) fn by_parameters(&mut self) -> Vec<Vec<f64>> {
        let sources =
            Sources { discrete: self.discrete, values: self.values, u: &self.u, velocity: &self.velocity };
        let position = self.values.parameters.len();
        let blocks = self.compiled.blocks.iter().zip(&self.discrete.placed);
        // For each parameter, a column of every residual of every block.
        let size = blocks.clone().map(|(block, placed)| block.terms.len() * placed.points.len()).sum();
        let mut columns = vec![vec![0.0; size]; position + 1];
        let mut start = 0;
        for ((block, placed), workspace) in blocks.zip(&mut self.workspaces) {
            for residual in 0..block.terms.len() {
                for (parameter, column) in workspace.by_parameters(block, placed, residual, &sources) {
                    let own = columns[parameter][start..].iter_mut();
                    own.zip(column).for_each(|(sum, value)| *sum += value);
                }
                start += placed.points.len();
            }
        }
        let mut all = vec![vec![0.0; self.discrete.rows.len()]; position + 1];
        let rows = columns.iter().zip(&mut all);
        rows.for_each(|(columns, rows)| self.discrete.residuals.apply(columns, rows));
        if self.discrete.mesh.position.is_some() {
            self.add_rates(&mut all[position]);
        }
        all
    }

    /// Adds the derivative of every row by the place of the interface through the
    /// weights of its parts.
    fn add_rates(&self, rows: &mut [f64]) {
        let outputs = outputs(&self.workspaces, self.compiled, |block| &block.residuals, |w| &w.residuals);
        for (row, parts) in rows.iter_mut().zip(self.discrete.rows.iter()) {
            let value = |part: &Part| part.rate * outputs[part.block][part.residual][part.point];
            *row += parts.iter().map(value).sum::<f64>();
        }
    }

    /// Adds the derivative of `-sum multipliers * rows` by all values, the nodal
    /// values held fixed, where the residuals were last evaluated.
    pub(crate) fn pull_back(&mut self, multipliers: &[f64], gradient: &mut Values) {
        let blocks = self.compiled.blocks.iter().zip(&self.discrete.placed);
        let mut seeds: Vec<Vec<Vec<f64>>> = blocks
            .clone()
            .map(|(block, placed)| vec![vec![0.0; placed.points.len()]; block.terms.len()])
            .collect();
        let outputs = outputs(&self.workspaces, self.compiled, |block| &block.residuals, |w| &w.residuals);
        let position = self.values.parameters.len();
        for (parts, multiplier) in self.discrete.rows.iter().zip(multipliers) {
            for part in parts {
                seeds[part.block][part.residual][part.point] -= part.weight * multiplier;
                let value = outputs[part.block][part.residual][part.point];
                gradient.parameters[position] -= multiplier * part.rate * value;
            }
        }
        let sources =
            Sources { discrete: self.discrete, values: self.values, u: &self.u, velocity: &self.velocity };
        for (((block, placed), workspace), seeds) in blocks.zip(&mut self.workspaces).zip(&seeds) {
            workspace.pull_back(block, placed, seeds, &sources, gradient);
        }
    }
}
