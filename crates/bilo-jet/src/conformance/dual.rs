//! The dual form against rows that agree with the oracle.

use super::{Case, dot, norm};
use crate::device::{Device, Dual, Fault, Jacobian, Linearisation, ResidualId};
use crate::program::ResidualProgram;

/// Factors of rows, neither alike nor near zero.
fn scales() -> impl Iterator<Item = f64> {
    (0..).map(|i| 1.5 + f64::cos(f64::from(i)))
}

/// By how much residuals and their derivatives by unknowns differ, relative to the largest of a column.
fn parts_differ(found: &[Linearisation], exact: &[Linearisation]) -> f64 {
    assert_eq!(found.len(), exact.len());
    let mut worst = 0.0_f64;
    for (found, exact) in found.iter().zip(exact) {
        assert!(found.by_weight.is_empty() && found.by_slot.is_empty());
        let columns = [(&found.residuals, &exact.residuals), (&found.by_unknown, &exact.by_unknown)];
        for (found, exact) in columns.into_iter().flat_map(|(found, exact)| found.iter().zip(exact)) {
            assert_eq!(found.len(), exact.len());
            let size = exact.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
            for (found, exact) in found.iter().zip(exact).filter(|_| size > 0.0) {
                worst = worst.max((found - exact).abs() / size);
            }
        }
    }
    worst
}

impl Case {
    /// K = S J Jᵀ S over two programs of different plans and points, against the rows of both: K y, and (K + damping) y
    /// against b, each entry relative to the sizes of the rows that it adds up.
    pub(super) fn check_kernel(&mut self, device: &mut dyn Device) -> Result<f64, Fault> {
        let (graph, operator, residuals) = (&mut self.graph, &self.operator, &self.residuals);
        let first = ResidualProgram::new(graph, operator, residuals).expect("a valid case");
        let second = ResidualProgram::expanded(graph, operator, &residuals[..1]).expect("a valid case");
        let ids = [
            device.load_residual(first, self.points.clone())?,
            device.load_residual(second, self.grid.clone())?,
        ];
        let mut linear = vec![];
        for id in ids {
            linear.push(device.linearise(id, &self.weights, &self.unknowns, Jacobian::Weights)?);
        }
        let rows = linear.iter().flat_map(|linear| linear.rows(self.weights.len()));
        let rows: Vec<Vec<f64>> = (rows.zip(scales()))
            .map(|(row, scale)| row.iter().map(|slope| scale * slope).collect())
            .collect();
        let scales: Vec<f64> = scales().take(rows.len()).collect();
        let Dual { parts, system } = device.dual(&ids, &self.weights, &self.unknowns, &scales)?;
        let damping = 0.1 * rows.iter().map(|row| dot(row, row)).sum::<f64>() / rows.len() as f64;
        let factors = system.factorise(damping)?.expect("it is positive definite");
        // What else is asked of the device leaves both as they are.
        device.dual(
            &ids[..1],
            &self.weights,
            &self.unknowns,
            &vec![1.0; linear[0].residuals.len() * self.points.len()],
        )?;
        drop(system.factorise(2.0 * damping)?);
        let right: Vec<Vec<f64>> =
            (1..4).map(|k| (0..rows.len()).map(|i| f64::sin((k * (1 + i)) as f64)).collect()).collect();
        let solved = factors.solve(&right.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        let mut worst = parts_differ(&parts, &linear);
        for (b, found) in right.iter().zip(&solved) {
            for (i, row) in rows.iter().enumerate() {
                let terms = rows.iter().zip(&found.numbers).map(|(other, y)| dot(row, other) * y);
                let product: f64 = terms.sum();
                let sizes = rows.iter().zip(&found.numbers).map(|(other, y)| norm(other) * y.abs());
                let scale = norm(row) * sizes.sum::<f64>();
                let left = product + damping * found.numbers[i] - b[i];
                worst = worst.max((found.product[i] - product).abs() / scale);
                worst = worst.max(left.abs() / (scale + b[i].abs()));
            }
        }
        Ok(worst)
    }

    /// Jᵀ seeds along the random direction of weights, relative to the sizes of the rows that it adds up.
    pub(super) fn check_pullback(
        &mut self,
        device: &mut dyn Device,
        id: ResidualId,
        linear: &Linearisation,
    ) -> Result<f64, Fault> {
        let seed = |number: usize| (1.0 + number as f64).sin();
        let points = self.points.len();
        let seeds: Vec<Vec<f64>> = (0..self.residuals.len())
            .map(|q| (0..points).map(|point| seed(q * points + point)).collect())
            .collect();
        let mut gradient = vec![0.5; self.weights.len()];
        device.pullback(id, &self.weights, &self.unknowns, &seeds, &mut gradient)?;
        let (mut exact, mut scale) = (0.0, 0.0);
        for (q, seeds) in seeds.iter().enumerate() {
            for (point, seed) in seeds.iter().enumerate() {
                exact += seed * self.expression_values(self.residuals[q], point).1;
                scale += seed.abs() * norm(&self.row(linear, q, point)) * norm(&self.direction);
            }
        }
        gradient.iter_mut().for_each(|slope| *slope -= 0.5);
        Ok((dot(&gradient, &self.direction) - exact).abs() / scale)
    }
}
