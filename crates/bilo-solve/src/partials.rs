//! Derivatives of the residuals by what they are given besides the states:
//! one reverse sweep over a tape gives those by all its inputs.

use bilo_expr::Input;

use crate::compile::{Block, Slot};
use crate::discrete::Placed;
use crate::solver::Values;
use crate::system::{System, Workspace};

impl Workspace {
    /// The derivative of one residual by each parameter in it, point by point,
    /// where the residuals were last evaluated.
    pub(crate) fn by_parameters(&mut self, block: &Block, residual: usize) -> Vec<(usize, Vec<f64>)> {
        let tape = &block.residuals;
        let seeds: Vec<Input<'_, f64>> = (0..tape.outputs().len())
            .map(|output| Input::Uniform(if output == residual { 1.0 } else { 0.0 }))
            .collect();
        tape.adjoint(&seeds, &mut self.residuals);
        let column = |(i, slot): (usize, &Slot)| match *slot {
            Slot::Parameter(parameter) if tape.depends_on(residual, i) => {
                Some((parameter, self.residuals.input_adjoint(tape, i).to_vec()))
            }
            _ => None,
        };
        block.slots.iter().enumerate().filter_map(column).collect()
    }

    /// Adds the derivative of `sum seeds * residuals` by all values, where the
    /// residuals were last evaluated.
    pub(crate) fn pull_back(
        &mut self,
        block: &Block,
        placed: &Placed,
        seeds: &[Vec<f64>],
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
                Slot::State { .. } | Slot::Space(_) | Slot::Time => {}
            }
        }
    }
}

impl System<'_> {
    /// The derivative of every row by every parameter, the states held fixed,
    /// where the residuals were last evaluated.
    pub(crate) fn by_parameters(&mut self) -> Vec<Vec<f64>> {
        let mut columns = Vec::new();
        for (block, workspace) in self.solver.blocks.iter().zip(&mut self.workspaces) {
            let of_block: Vec<_> =
                (0..block.terms.len()).map(|residual| workspace.by_parameters(block, residual)).collect();
            columns.push(of_block);
        }
        let rows = &self.discrete.rows;
        let mut all = vec![vec![0.0; rows.len()]; self.values.parameters.len()];
        for row in 0..rows.len() {
            for part in rows.parts(row) {
                for (parameter, column) in &columns[part.block][part.residual] {
                    all[*parameter][row] += part.weight * column[part.point];
                }
            }
        }
        all
    }

    /// Adds the derivative of `-sum multipliers * rows` by all values, the states
    /// held fixed, where the residuals were last evaluated.
    pub(crate) fn pull_back(&mut self, multipliers: &[f64], gradient: &mut Values) {
        let blocks = self.solver.blocks.iter().zip(&self.discrete.placed);
        let mut seeds: Vec<Vec<Vec<f64>>> = blocks
            .clone()
            .map(|(block, placed)| vec![vec![0.0; placed.points.len()]; block.terms.len()])
            .collect();
        for (row, multiplier) in multipliers.iter().enumerate() {
            for part in self.discrete.rows.parts(row) {
                seeds[part.block][part.residual][part.point] -= part.weight * multiplier;
            }
        }
        for (((block, placed), workspace), seeds) in blocks.zip(&mut self.workspaces).zip(&seeds) {
            workspace.pull_back(block, placed, seeds, gradient);
        }
    }
}
