//! Residuals and their derivatives at every point against the oracle.

use super::{Case, Disagreement, dot, norm};
use crate::device::{Device, Fault, Jacobian, Linearisation};
use crate::program::{FieldProgram, ResidualProgram};

impl Case {
    /// What the calls about residuals at every point say.
    pub(super) fn check_linearisation(&mut self, device: &mut dyn Device) -> Result<Disagreement, Fault> {
        let program =
            ResidualProgram::new(&mut self.graph, &self.operator, &self.residuals).expect("a valid case");
        let id = device.load_residual(program, self.points_before.clone())?;
        device.move_residual(id, self.points.clone())?;
        let found = device.linearise(id, &self.weights, &self.unknowns, Jacobian::Weights)?;
        let moved = self.check_moved_weights(device, &found)?;
        let pullback = self.check_pullback(device, id, &found)?;
        let (mut rows, mut by_unknown) = (0.0_f64, 0.0_f64);
        for q in 0..self.residuals.len() {
            for point in 0..self.points.len() {
                rows = rows.max(self.check_row(&found, q, point));
                by_unknown = by_unknown.max(self.check_by_unknown(&found, q, point));
            }
        }
        Ok(Disagreement { rows, by_unknown, moved, pullback, ..Disagreement::default() })
    }

    /// A residual relative to its largest value, and its row relative to the row's size: what their
    /// rounding is relative to.
    fn check_row(&mut self, found: &Linearisation, q: usize, point: usize) -> f64 {
        let (value, change) = self.expression_values(self.residuals[q], point);
        let row = &self.row(found, q, point);
        let value = (found.residuals[q][point] - value).abs() / self.scale(found, q);
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

    /// The residuals as fields, and their derivatives along the unknowns where the weights move along
    /// multiples of the direction.
    fn check_moved_weights(&mut self, device: &mut dyn Device, linear: &Linearisation) -> Result<f64, Fault> {
        let speeds: Vec<f64> = (0..self.unknowns.len()).map(|j| j as f64 - 0.6).collect();
        let slope = |speed: &f64| self.direction.iter().map(|d| speed * d).collect();
        let slopes: Vec<Vec<f64>> = speeds.iter().map(slope).collect();
        let all: Vec<usize> = (0..speeds.len()).collect();
        let program = FieldProgram::along(&mut self.graph, &self.operator, &self.residuals, &all)
            .expect("residuals hold no derivatives by unknowns");
        let found = device.evaluate(&program, self.points.clone(), &self.weights, &self.unknowns, &slopes)?;
        let mut worst = 0.0_f64;
        for q in 0..self.residuals.len() {
            let along = &found[self.residuals.len() + q * speeds.len()..];
            for point in 0..self.points.len() {
                let (value, change) = self.expression_values(self.residuals[q], point);
                worst = worst.max((found[q][point] - value).abs() / self.scale(linear, q));
                for (j, speed) in speeds.iter().enumerate() {
                    let (fixed, size) = self.derivative_by_unknown(self.residuals[q], j, point);
                    let exact = fixed + speed * change;
                    let scale =
                        size + speed.abs() * norm(&self.row(linear, q, point)) * norm(&self.direction);
                    worst = worst.max((along[j][point] - exact).abs() / scale);
                }
            }
        }
        Ok(worst)
    }

    pub(super) fn row(&self, found: &Linearisation, q: usize, point: usize) -> Vec<f64> {
        found.row(q, point, self.weights.len())
    }

    /// The largest value of a residual.
    fn scale(&self, found: &Linearisation, q: usize) -> f64 {
        found.residuals[q].iter().fold(1e-3, |scale, value| scale.max(value.abs()))
    }
}
