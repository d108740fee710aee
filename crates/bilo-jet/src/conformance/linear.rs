//! Calls of second order against the oracle: residuals and their derivatives at every point.

use super::{Case, dot, norm};
use crate::device::{Device, Linearisation};
use crate::program::ResidualProgram;

impl Case {
    /// Residuals and their derivatives by weights, along a random direction; then those by unknowns.
    pub(super) fn check_linearisation(&mut self, device: &mut dyn Device) -> (f64, f64) {
        let program =
            ResidualProgram::new(&mut self.graph, &self.operator, &self.residuals).expect("a valid case");
        let id = device.load_residual(program, self.points_before.clone());
        device.move_residual(id, self.points.clone());
        let found = device.linearise(id, &self.weights, &self.unknowns, true);
        let (mut rows, mut by_unknown) = (0.0_f64, 0.0_f64);
        for q in 0..self.residuals.len() {
            for point in 0..self.points.len() {
                rows = rows.max(self.check_row(&found, q, point));
                by_unknown = by_unknown.max(self.check_by_unknown(&found, q, point));
            }
        }
        (rows, by_unknown)
    }

    /// A residual relative to its largest value, and its row relative to the row's size: what their
    /// rounding is relative to.
    fn check_row(&mut self, found: &Linearisation, q: usize, point: usize) -> f64 {
        let (value, change) = self.expression_values(self.residuals[q], point);
        let scale = found.residuals[q].iter().fold(1e-3_f64, |scale, value| scale.max(value.abs()));
        let row = &found.by_weight[q][point * self.weights.len()..][..self.weights.len()];
        let value = (found.residuals[q][point] - value).abs() / scale;
        value.max((dot(row, &self.direction) - change).abs() / (norm(row) * norm(&self.direction)))
    }

    fn check_by_unknown(&mut self, found: &Linearisation, q: usize, point: usize) -> f64 {
        let unknowns = self.unknowns.len();
        let mut worst = 0.0_f64;
        for j in 0..unknowns {
            let (exact, size) = self.derivative_by_unknown(self.residuals[q], j, point);
            worst = worst.max((found.by_unknown[q * unknowns + j][point] - exact).abs() / (size + 1e-3));
        }
        worst
    }
}
