//! Residuals on one tile with their first derivatives, point by point.

use super::{Points, TileRunner};
use crate::program::ResidualProgram;
use crate::scalar::Number;
use crate::sweep::Weights;
use std::ops::Range;

/// r_q, dr_q/dη_j and, where there is room for them, the derivatives of r_q by the weights.
pub(crate) struct LinearTask<T> {
    pub(crate) weights: Vec<Weights<T>>,
    pub(crate) unknowns: Vec<T>,
}

/// The stretches of the results that belong to a tile.
pub(crate) struct LinearPart<'a> {
    /// By q.
    pub(crate) residuals: Vec<&'a mut [f64]>,
    /// By q and unknown.
    pub(crate) by_unknown: Vec<&'a mut [f64]>,
    /// By q: one row of weights per point. Empty if they are not wanted.
    pub(crate) by_weight: Vec<&'a mut [f64]>,
    /// By q and slot. Empty if they are not wanted.
    pub(crate) by_slot: Vec<&'a mut [f64]>,
}

impl<T: Number> LinearTask<T> {
    pub(crate) fn run(
        &self,
        program: &ResidualProgram,
        points: &Points<T>,
        tile: usize,
        runner: &mut TileRunner<T>,
        part: LinearPart<'_>,
    ) {
        points.linearise(program, tile, &self.weights, &self.unknowns, runner);
        let residuals = (0..program.residuals).map(|q| runner.first.output(&program.linearisation, q));
        part.residuals.into_iter().zip(residuals).for_each(widen);
        let by_unknown = runner.seeds[program.residuals * points.tile..].chunks_exact(points.tile);
        part.by_unknown.into_iter().zip(by_unknown).for_each(widen);
        let by_slot = (program.residuals..).map(|place| runner.first.output(&program.linearisation, place));
        part.by_slot.into_iter().zip(by_slot).for_each(widen);
        for (q, rows) in part.by_weight.into_iter().enumerate() {
            points.rows(runner, q, rows);
        }
    }
}

/// Copies what there is room for: the real points of a tile.
fn widen<T: Number>((target, values): (&mut [f64], &[T])) {
    target.iter_mut().zip(values).for_each(|(target, value)| *target = value.wide());
}

impl<T: Number> Points<T> {
    /// r_q and dr_q/dη_j: jets forward, the tape's linearisation, then one sweep back to the parameters
    /// for each q. Leaves r_q in the first tape's outputs, dr_q/dη_j in the seeds after the first q, and
    /// the adjoints λ_q in the workspaces.
    pub(super) fn linearise(
        &self,
        program: &ResidualProgram,
        tile: usize,
        weights: &[Weights<T>],
        unknowns: &[T],
        runner: &mut TileRunner<T>,
    ) {
        self.forward(tile, weights, unknowns, runner);
        let (q_count, slots) = (program.residuals, self.slots.len());
        let tape = &program.linearisation;
        let inputs = self.tape_inputs(&runner.slots, &runner.columns, unknowns);
        tape.eval(&inputs, self.tile, &mut runner.first);
        for q in 0..q_count {
            let rho = (0..slots).map(|slot| runner.first.output(tape, q_count + q * slots + slot));
            self.seed(&mut runner.rooms, 1 + q, rho);
        }
        for (number, carrier) in self.moved() {
            carrier.network.reverse_directions(&weights[number], &mut runner.rooms[number].work);
        }
        let explicit = q_count * (1 + slots);
        let columns = runner.seeds[q_count * self.tile..].chunks_exact_mut(self.tile);
        for (number, column) in columns.enumerate() {
            let (q, unknown) = (number / self.unknowns, number % self.unknowns);
            column.copy_from_slice(runner.first.output(tape, explicit + number));
            self.add_unknown_adjoint(&runner.rooms, 1 + q, unknown, column);
            self.add_leading_adjoint(&runner.rooms, 1 + q, unknown, column);
        }
    }

    /// The weights that the lower level moves, of the networks that something asks for.
    pub(crate) fn moved_weights(&self) -> Vec<Range<usize>> {
        self.moved().map(|(_, carrier)| carrier.stretch()).collect()
    }

    /// The derivatives of r_q by those weights, one row per real point of the tile.
    fn rows(&self, runner: &TileRunner<T>, q: usize, rows: &mut [f64]) {
        let length: usize = self.moved().map(|(_, carrier)| carrier.stretch().len()).sum();
        for (point, row) in rows.chunks_exact_mut(length.max(1)).enumerate() {
            let mut rest = row;
            for (number, carrier) in self.moved() {
                let (own, others) = rest.split_at_mut(carrier.stretch().len());
                carrier.network.row(&runner.rooms[number].work, 1 + q, point, own);
                rest = others;
            }
        }
    }
}
