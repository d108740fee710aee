//! The lower level as a problem of least squares.

use super::tangent::Block;
use crate::level::{self, Lower};
use crate::operator::with_shifts;
use bilo_fit::parallel;
use bilo_jet::{Device, Dual, DualSystem, Jacobian, Linearisation, SparseRows};
use bilo_problem::diagnostic::Result;
use faer::Mat;
use std::ops::Range;

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
        let mut linearise =
            |block: &level::Block| Ok(device.linearise(block.id, weights, unknowns, jacobian)?);
        self.blocks.iter().map(&mut linearise).collect()
    }

    /// The rows with their derivatives J by the weights.
    pub(crate) fn with_jacobian(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
    ) -> Result<(Rows, Mat<f64>)> {
        let (parts, roots) = (self.by_weights(device, weights, eta)?, self.roots());
        let equations = scaled_rows(&parts, &roots);
        let all: Vec<usize> = (0..weights.len()).collect();
        let jacobian = assembled(&equations.iter().collect::<Vec<_>>(), &all);
        Ok((Rows::new(&parts, &roots, self.unknowns), jacobian))
    }

    /// The rows with J in blocks of equations that have weights in common.
    pub(crate) fn with_blocks(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
        threads: usize,
    ) -> Result<(Rows, Vec<Block>)> {
        let (parts, roots) = (self.by_weights(device, weights, eta)?, self.roots());
        let equations = scaled_rows(&parts, &roots);
        let groups = coupled(&equations, weights.len());
        let blocks = parallel::each(threads, &groups, |(members, columns)| {
            let own: Vec<&ScaledRows<'_>> = members.iter().map(|&e| &equations[e]).collect();
            let rows = own.iter().flat_map(|e| e.first..e.first + e.roots.len()).collect();
            Block { rows, matrix: assembled(&own, columns), columns: columns.clone() }
        });
        Ok((Rows::new(&parts, &roots, self.unknowns), blocks))
    }

    fn by_weights(
        &self,
        device: &mut dyn Device,
        weights: &[f64],
        eta: &[f64],
    ) -> Result<Vec<Linearisation>> {
        self.linearised(device, weights, &with_shifts(eta, self.unknowns), Jacobian::Weights)
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
    pub fn count(&self) -> usize {
        self.roots().iter().flatten().map(Vec::len).sum()
    }

    fn roots(&self) -> Vec<Vec<Vec<f64>>> {
        self.blocks.iter().map(|block| block.roots()).collect()
    }
}

/// Derivatives of an equation's residuals by weights, row by row, each to be multiplied by a root.
struct ScaledRows<'a> {
    values: &'a [f64],
    roots: &'a [f64],
    /// Which row of all is its first.
    first: usize,
    /// The weights of a row, in rising stretches.
    weights: &'a [Range<usize>],
}

fn scaled_rows<'a>(parts: &'a [Linearisation], roots: &'a [Vec<Vec<f64>>]) -> Vec<ScaledRows<'a>> {
    let mut first = 0;
    let values = parts.iter().flat_map(|part| part.by_weight.iter().map(|values| (values, &part.weights)));
    let each = values.zip(roots.iter().flatten());
    each.map(|((values, weights), roots)| {
        first += roots.len();
        ScaledRows { values, roots, first: first - roots.len(), weights }
    })
    .collect()
}

/// The equations by the weights that they have in common, and these; weights of none belong to the first.
fn coupled(equations: &[ScaledRows<'_>], weights: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut groups: Vec<(Vec<usize>, Vec<bool>)> = vec![];
    for (number, equation) in equations.iter().enumerate() {
        let (mut members, mut touched) = (vec![number], equation.touched(weights));
        let shares = |mask: &[bool]| mask.iter().zip(&touched).any(|(a, b)| *a && *b);
        let found: Vec<_> = groups.extract_if(.., |(_, mask)| shares(mask)).collect();
        for (others, mask) in found {
            members.extend(others);
            touched.iter_mut().zip(mask).for_each(|(own, other)| *own |= other);
        }
        members.sort_unstable();
        groups.push((members, touched));
    }
    groups.sort_by_key(|(members, _)| members[0]);
    let free: Vec<usize> = (0..weights).filter(|&w| !groups.iter().any(|(_, mask)| mask[w])).collect();
    if let Some((_, mask)) = groups.first_mut() {
        free.into_iter().for_each(|weight| mask[weight] = true);
    }
    let columns = |mask: Vec<bool>| (0..weights).filter(|&weight| mask[weight]).collect();
    groups.into_iter().map(|(members, mask)| (members, columns(mask))).collect()
}

impl ScaledRows<'_> {
    /// Numbers of a row.
    fn length(&self) -> usize {
        self.weights.iter().map(Range::len).sum()
    }

    /// Where in a row the derivatives by some weights are, in rising order; none for those that it does not have.
    fn places(&self, weights: impl Iterator<Item = usize>) -> impl Iterator<Item = Option<usize>> {
        let (mut stretch, mut before) = (0, 0);
        weights.map(move |weight| {
            while self.weights.get(stretch).is_some_and(|own| own.end <= weight) {
                before += self.weights[stretch].len();
                stretch += 1;
            }
            let own = self.weights.get(stretch).filter(|own| own.contains(&weight))?;
            Some(before + weight - own.start)
        })
    }

    /// Which of so many weights it depends on.
    fn touched(&self, weights: usize) -> Vec<bool> {
        let mut seen = vec![false; self.length()];
        let mut unseen: Vec<usize> = (0..self.length()).collect();
        for row in self.values.chunks_exact(self.length().max(1)) {
            unseen.extract_if(.., |place| row[*place] != 0.0).for_each(|place| seen[place] = true);
            // Nearly all are seen in the first rows, and there are thousands.
            if unseen.is_empty() {
                break;
            }
        }
        let places = self.places(0..weights);
        places.map(|place| place.is_some_and(|place| seen[place])).collect()
    }
}

/// Rows that are transposed at a time: as many numbers of a column as share a line of the cache.
const AT_A_TIME: usize = 8;

/// Some columns of the derivatives of equations, below each other.
fn assembled(equations: &[&ScaledRows<'_>], columns: &[usize]) -> Mat<f64> {
    let count = equations.iter().map(|equation| equation.roots.len()).sum();
    let mut matrix = Mat::zeros(count, columns.len());
    let mut first = 0;
    for equation in equations {
        let length = equation.length().max(1);
        let places: Vec<Option<usize>> = equation.places(columns.iter().copied()).collect();
        let rows = equation.values.chunks(AT_A_TIME * length).zip(equation.roots.chunks(AT_A_TIME));
        for (values, roots) in rows {
            for (j, place) in places.iter().enumerate() {
                let Some(place) = *place else { continue };
                let target = matrix.col_mut(j).subrows_mut(first, roots.len());
                let entries = values[place..].iter().step_by(length).zip(roots);
                target.iter_mut().zip(entries).for_each(|(entry, (value, root))| *entry = value * root);
            }
            first += roots.len();
        }
    }
    matrix
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
