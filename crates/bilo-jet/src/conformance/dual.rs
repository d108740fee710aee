//! The dual form against rows that agree with the oracle.

use super::{Case, dot, norm};
use crate::device::{Device, Jacobian, Linearisation, ResidualId};
use crate::program::ResidualProgram;

impl Case {
    /// J Jᵀ over two programs of different plans and points, against the rows of both: each entry relative
    /// to the sizes of its two rows.
    pub(super) fn check_kernel(&mut self, device: &mut dyn Device) -> f64 {
        let (graph, operator, residuals) = (&mut self.graph, &self.operator, &self.residuals);
        let first = ResidualProgram::new(graph, operator, residuals).expect("a valid case");
        let second = ResidualProgram::expanded(graph, operator, &residuals[..1]).expect("a valid case");
        let ids = [
            device.load_residual(first, self.points.clone()),
            device.load_residual(second, self.grid.clone()),
        ];
        let linear = ids.map(|id| device.linearise(id, &self.weights, &self.unknowns, Jacobian::Weights));
        let found = device.kernel(&ids, &self.weights, &self.unknowns);
        let rows: Vec<&[f64]> = linear
            .iter()
            .flat_map(|linear| &linear.by_weight)
            .flat_map(|rows| rows.chunks_exact(self.weights.len()))
            .collect();
        assert_eq!(found.gram.len(), rows.len().pow(2));
        for (part, linear) in found.parts.iter().zip(&linear) {
            let (residuals, by_unknown) = (linear.residuals.clone(), linear.by_unknown.clone());
            assert_eq!(*part, Linearisation { residuals, by_unknown, by_weight: vec![], by_slot: vec![] });
        }
        let mut worst = 0.0_f64;
        for (entries, a) in found.gram.chunks_exact(rows.len()).zip(&rows) {
            for (entry, b) in entries.iter().zip(&rows) {
                worst = worst.max((entry - dot(a, b)).abs() / (norm(a) * norm(b)));
            }
        }
        worst
    }

    /// Jᵀ seeds along the random direction of weights, relative to the sizes of the rows that it adds up.
    pub(super) fn check_pullback(
        &mut self,
        device: &mut dyn Device,
        id: ResidualId,
        linear: &Linearisation,
    ) -> f64 {
        let seed = |number: usize| (1.0 + number as f64).sin();
        let points = self.points.len();
        let seeds: Vec<Vec<f64>> = (0..self.residuals.len())
            .map(|q| (0..points).map(|point| seed(q * points + point)).collect())
            .collect();
        let mut gradient = vec![0.5; self.weights.len()];
        device.pullback(id, &self.weights, &self.unknowns, &seeds, &mut gradient);
        let (mut exact, mut scale) = (0.0, 0.0);
        for (q, seeds) in seeds.iter().enumerate() {
            for (point, seed) in seeds.iter().enumerate() {
                exact += seed * self.expression_values(self.residuals[q], point).1;
                scale += seed.abs() * norm(self.row(linear, q, point)) * norm(&self.direction);
            }
        }
        gradient.iter_mut().for_each(|slope| *slope -= 0.5);
        (dot(&gradient, &self.direction) - exact).abs() / scale
    }
}
