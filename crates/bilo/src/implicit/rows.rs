//! The lower level as a problem of least squares.

use crate::level::Lower;
use crate::operator::with_shifts;
use bilo_jet::{Device, Linearisation};
use faer::{Mat, MatRef};

/// Residuals √(weight) r at all points of all equations: their sum of squares is Σ_e weight_e L_res,e.
pub(crate) struct Rows {
    /// The residuals.
    pub(crate) residual: Vec<f64>,
    /// Their derivatives by each unknown, at fixed weights.
    pub(crate) by_unknown: Vec<Vec<f64>>,
}

impl Rows {
    fn new(parts: &[Linearisation], roots: &[Vec<Vec<f64>>], unknowns: usize) -> Rows {
        let (mut residual, mut by_unknown) = (vec![], vec![vec![]; unknowns]);
        for (part, roots) in parts.iter().zip(roots) {
            for (q, (values, roots)) in part.residuals.iter().zip(roots).enumerate() {
                residual.extend(scaled(values, roots));
                for (j, column) in by_unknown.iter_mut().enumerate() {
                    column.extend(scaled(&part.by_unknown[q * unknowns + j], roots));
                }
            }
        }
        Rows { residual, by_unknown }
    }

    /// Σ_e weight_e L_res,e.
    pub(crate) fn loss(&self) -> f64 {
        self.residual.iter().map(|r| r * r).sum()
    }
}

impl Lower {
    /// The rows at some weights and unknowns.
    pub(crate) fn rows(&self, device: &mut dyn Device, weights: &[f64], eta: &[f64]) -> Rows {
        let unknowns = with_shifts(eta, self.unknowns);
        let parts: Vec<Linearisation> =
            self.blocks.iter().map(|block| device.linearise(block.id, weights, &unknowns, false)).collect();
        Rows::new(&parts, &self.roots(), self.unknowns)
    }

    /// The rows with their derivatives J by the weights.
    pub(crate) fn with_jacobian(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
    ) -> (Rows, Mat<f64>) {
        let unknowns = with_shifts(eta, self.unknowns);
        let parts: Vec<Linearisation> =
            self.blocks.iter().map(|block| device.linearise(block.id, weights, &unknowns, true)).collect();
        let roots = self.roots();
        let rows = Rows::new(&parts, &roots, self.unknowns);
        let mut jacobian = Mat::zeros(rows.residual.len(), weights.len());
        let mut first = 0;
        for (values, roots) in parts.iter().flat_map(|part| &part.by_weight).zip(roots.iter().flatten()) {
            let block = MatRef::from_row_major_slice(values, roots.len(), weights.len());
            for (j, column) in block.col_iter().enumerate() {
                let target = jacobian.col_mut(j).subrows_mut(first, roots.len());
                target.iter_mut().zip(column.iter().zip(roots)).for_each(|(entry, (value, root))| {
                    *entry = value * root;
                });
            }
            first += roots.len();
        }
        (rows, jacobian)
    }

    /// The rows with J J^T, for fewer rows than weights.
    pub(crate) fn with_kernel(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
    ) -> (Rows, Mat<f64>) {
        let (rows, jacobian) = self.with_jacobian(device, weights, eta);
        let gram = &jacobian * jacobian.transpose();
        (rows, gram)
    }

    /// J^T times one number for each row.
    pub(crate) fn pulled_back(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        numbers: &[f64],
    ) -> Vec<f64> {
        let (_, jacobian) = self.with_jacobian(device, weights, eta);
        let b = Mat::from_fn(numbers.len(), 1, |i, _| numbers[i]);
        let g = jacobian.transpose() * b;
        (0..weights.len()).map(|i| g[(i, 0)]).collect()
    }

    /// Number of rows.
    pub(crate) fn count(&self) -> usize {
        self.roots().iter().flatten().map(Vec::len).sum()
    }

    fn roots(&self) -> Vec<Vec<Vec<f64>>> {
        self.blocks.iter().map(|block| block.roots()).collect()
    }
}

fn scaled(values: &[f64], roots: &[f64]) -> impl Iterator<Item = f64> {
    values.iter().zip(roots).map(|(value, root)| value * root)
}
