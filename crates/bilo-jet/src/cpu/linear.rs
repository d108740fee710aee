//! Residuals at all points with their first derivatives.

use super::crew::Crew;
use super::{Block, by_tile, cast};
use crate::device::{Jacobian, Linearisation};
use crate::program::ResidualProgram;
use crate::scalar::Number;
use crate::tile::{LinearPart, LinearTask};
use std::ops::Range;

impl<T: Number> Block<T, ResidualProgram> {
    pub(super) fn linearise(
        &self,
        crew: &Crew,
        weights: &[f64],
        unknowns: &[f64],
        jacobian: Jacobian,
    ) -> Linearisation {
        let task = LinearTask { weights: self.points.weights(weights), unknowns: cast(unknowns) };
        let mut result = self.zero_linearisation(unknowns.len(), jacobian == Jacobian::Weights);
        if jacobian == Jacobian::Slots {
            let slots = self.program.frame.slots.len();
            result.by_slot = vec![vec![0.0; self.points.len()]; self.program.residuals * slots];
        }
        let parts = self.parts_by_tile(&mut result);
        self.map_parts(crew, parts, |tile, runner, part| {
            task.run(&self.program, &self.points, tile, runner, part);
        });
        result
    }

    /// Room for a linearisation, with rows of weights if they are wanted.
    pub(super) fn zero_linearisation(&self, unknowns: usize, rows: bool) -> Linearisation {
        let (count, points) = (self.program.residuals, self.points.len());
        let weights = self.points.moved_weights();
        let length: usize = weights.iter().map(Range::len).sum();
        let zeros = |length: usize| vec![0.0; length];
        Linearisation {
            residuals: vec![zeros(points); count],
            by_unknown: vec![zeros(points); count * unknowns],
            weights,
            // Each made by itself: zeros take no memory before they are written to, copies of them do.
            by_weight: (0..if rows { count } else { 0 }).map(|_| zeros(points * length)).collect(),
            by_slot: vec![],
        }
    }

    /// The stretches of a linearisation by tile.
    pub(super) fn parts_by_tile<'a>(&self, result: &'a mut Linearisation) -> Vec<LinearPart<'a>> {
        let (tiles, length) = (self.points.tiles(), self.points.tile());
        let row = result.by_weight.first().map_or(0, |rows| rows.len() / self.points.len().max(1));
        by_tile(&mut result.residuals, tiles, length)
            .into_iter()
            .zip(by_tile(&mut result.by_unknown, tiles, length))
            .zip(by_tile(&mut result.by_weight, tiles, length * row))
            .zip(by_tile(&mut result.by_slot, tiles, length))
            .map(|(((residuals, by_unknown), by_weight), by_slot)| LinearPart {
                residuals,
                by_unknown,
                by_weight,
                by_slot,
            })
            .collect()
    }
}
