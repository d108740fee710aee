//! Residuals at all points with their first derivatives.

use super::{Block, by_tile, cast};
use crate::device::Linearisation;
use crate::program::ResidualProgram;
use crate::scalar::Scalar;
use crate::tile::{LinearPart, LinearTask};

impl<T: Scalar> Block<T, ResidualProgram> {
    pub(super) fn linearise(
        &self,
        pool: &rayon::ThreadPool,
        weights: &[f64],
        unknowns: &[f64],
        jacobian: bool,
    ) -> Linearisation {
        let (count, points) = (self.program.residuals, self.points.len());
        let columns = |number: usize, length: usize| vec![vec![0.0; length]; number];
        let mut result = Linearisation {
            residuals: columns(count, points),
            by_unknown: columns(count * unknowns.len(), points),
            by_weight: columns(if jacobian { count } else { 0 }, points * weights.len()),
        };
        let (tiles, length) = (self.points.tiles(), self.points.tile());
        let each = by_tile(&mut result.residuals, tiles, length)
            .into_iter()
            .zip(by_tile(&mut result.by_unknown, tiles, length))
            .zip(by_tile(&mut result.by_weight, tiles, length * weights.len()));
        let parts: Vec<LinearPart<'_>> = each
            .map(|((residuals, by_unknown), by_weight)| LinearPart { residuals, by_unknown, by_weight })
            .collect();
        let task = LinearTask { weights: self.points.weights(weights), unknowns: cast(unknowns) };
        self.map_parts(pool, parts, |tile, runner, part| {
            task.run(&self.program, &self.points, tile, runner, part);
        });
        result
    }
}
