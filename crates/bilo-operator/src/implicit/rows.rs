//! The lower level as a problem of least squares.

use crate::level::{Block, Lower};
use crate::operator::with_shifts;
use bilo_jet::{Device, Dual, DualSystem, Jacobian, Linearisation, SparseRows};
use bilo_problem::diagnostic::Result;
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
    pub(crate) fn rows(&self, device: &mut dyn Device, weights: &[f64], eta: &[f64]) -> Result<Rows> {
        let unknowns = with_shifts(eta, self.unknowns);
        let parts = self.linearised(device, weights, &unknowns, Jacobian::None)?;
        Ok(Rows::new(&parts, &self.roots(), self.unknowns))
    }

    fn linearised(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        unknowns: &[f64],
        jacobian: Jacobian,
    ) -> Result<Vec<Linearisation>> {
        let mut linearise = |block: &Block| Ok(device.linearise(block.id, weights, unknowns, jacobian)?);
        self.blocks.iter().map(&mut linearise).collect()
    }

    /// The rows with their derivatives J by the weights.
    pub(crate) fn with_jacobian(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
    ) -> Result<(Rows, Mat<f64>)> {
        let unknowns = with_shifts(eta, self.unknowns);
        let parts = self.linearised(device, weights, &unknowns, Jacobian::Weights)?;
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
        Ok((rows, jacobian))
    }

    /// The rows with J by its entries, if the operator is a dictionary whose features live in few places.
    pub(crate) fn with_entries(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
    ) -> Result<Option<(Rows, SparseRows)>> {
        let unknowns = with_shifts(eta, self.unknowns);
        let features: Option<Vec<_>> = self.blocks.iter().map(|block| block.features(&unknowns)).collect();
        let Some(features) = features else { return Ok(None) };
        let parts = self.linearised(device, weights, &unknowns, Jacobian::Slots)?;
        let roots = self.roots();
        let mut jacobian = SparseRows { starts: vec![0], ..SparseRows::default() };
        for ((part, features), roots) in parts.iter().zip(&features).zip(&roots) {
            let slots = part.by_slot.len() / roots.len().max(1);
            for (by_slot, roots) in part.by_slot.chunks(slots).zip(roots) {
                append(&mut jacobian, features.rows(by_slot), roots);
            }
        }
        Ok(Some((Rows::new(&parts, &roots, self.unknowns), jacobian)))
    }

    /// The rows, with J J^T on the device, for fewer rows than weights.
    pub(crate) fn with_kernel(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
    ) -> Result<(Rows, Box<dyn DualSystem>)> {
        let unknowns = with_shifts(eta, self.unknowns);
        let ids: Vec<_> = self.blocks.iter().map(|block| block.id).collect();
        let roots = self.roots();
        let scales: Vec<f64> = roots.iter().flatten().flatten().copied().collect();
        let Dual { parts, system } = device.dual(&ids, weights, &unknowns, &scales)?;
        Ok((Rows::new(&parts, &roots, self.unknowns), system))
    }

    /// J^T times one number for each row.
    pub(crate) fn pulled_back(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        numbers: &[f64],
    ) -> Result<Vec<f64>> {
        let unknowns = with_shifts(eta, self.unknowns);
        let (mut rest, mut gradient) = (numbers, vec![0.0; weights.len()]);
        for (block, roots) in self.blocks.iter().zip(self.roots()) {
            let mut seeds = vec![];
            for roots in &roots {
                let (own, others) = rest.split_at(roots.len());
                seeds.push(scaled(own, roots).collect());
                rest = others;
            }
            device.pullback(block.id, weights, &unknowns, &seeds, &mut gradient)?;
        }
        Ok(gradient)
    }

    /// Number of rows.
    pub(crate) fn count(&self) -> usize {
        self.roots().iter().flatten().map(Vec::len).sum()
    }

    fn roots(&self) -> Vec<Vec<Vec<f64>>> {
        self.blocks.iter().map(|block| block.roots()).collect()
    }
}

/// Adds rows, each times a number, below those that are there.
fn append(matrix: &mut SparseRows, rows: SparseRows, factors: &[f64]) {
    for (row, factor) in factors.iter().enumerate() {
        matrix.values.extend(rows.row(row).map(|(_, value)| factor * value));
        matrix.starts.push(matrix.values.len());
    }
    matrix.columns.extend(rows.columns);
}

fn scaled(values: &[f64], roots: &[f64]) -> impl Iterator<Item = f64> {
    values.iter().zip(roots).map(|(value, root)| value * root)
}
