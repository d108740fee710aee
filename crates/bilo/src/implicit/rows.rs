//! The lower level as a problem of least squares.

use crate::level::Lower;
use crate::operator::with_shifts;
use bilo_jet::{Device, Linearisation};
use faer::Mat;

/// Residuals √(weight) r at all points of all equations: their sum of squares is Σ_e weight_e L_res,e.
pub(crate) struct Rows {
    /// The residuals.
    pub(crate) residual: Vec<f64>,
    /// Their derivatives by each unknown, at fixed weights.
    pub(crate) by_unknown: Vec<Vec<f64>>,
    /// Their derivatives by the weights; empty if not asked for.
    pub(crate) jacobian: Mat<f64>,
}

impl Lower {
    /// The rows at some weights and unknowns.
    pub(crate) fn rows(&self, device: &mut dyn Device, weights: &[f64], eta: &[f64], jacobian: bool) -> Rows {
        let unknowns = with_shifts(eta, self.unknowns);
        let parts: Vec<(Linearisation, Vec<Vec<f64>>)> = (self.blocks.iter())
            .map(|block| (device.linearise(block.id, weights, &unknowns, jacobian), block.roots()))
            .collect();
        let (mut residual, mut by_unknown) = (vec![], vec![vec![]; unknowns.len()]);
        for (part, roots) in &parts {
            for (q, (values, roots)) in part.residuals.iter().zip(roots).enumerate() {
                residual.extend(scaled(values, roots));
                for (j, column) in by_unknown.iter_mut().enumerate() {
                    column.extend(scaled(&part.by_unknown[q * unknowns.len() + j], roots));
                }
            }
        }
        let columns = if jacobian { weights.len() } else { 0 };
        let mut matrix = Mat::zeros(if jacobian { residual.len() } else { 0 }, columns);
        let mut row = 0;
        for (part, roots) in &parts {
            for (values, roots) in part.by_weight.iter().zip(roots) {
                for (values, root) in values.chunks_exact(columns.max(1)).zip(roots) {
                    values.iter().enumerate().for_each(|(j, value)| matrix[(row, j)] = root * value);
                    row += 1;
                }
            }
        }
        Rows { residual, by_unknown, jacobian: matrix }
    }
}

fn scaled(values: &[f64], roots: &[f64]) -> impl Iterator<Item = f64> {
    values.iter().zip(roots).map(|(value, root)| value * root)
}

impl Rows {
    /// Σ_e weight_e L_res,e.
    pub(crate) fn loss(&self) -> f64 {
        self.residual.iter().map(|r| r * r).sum()
    }
}
