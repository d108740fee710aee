//! Normal equations of rows that touch neighbouring states and all unknowns: a band with a border.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

/// JᵀJ and Jᵀr of rows over states, which are banded, and a few unknowns.
pub(super) struct Bordered {
    states: usize,
    width: usize,
    /// The lower half of the band by rows, the diagonal last.
    band: Vec<f64>,
    /// The states' columns by each unknown.
    border: Vec<Vec<f64>>,
    corner: Mat<f64>,
    right: (Vec<f64>, Vec<f64>),
}

/// A row of J: entries by states (neighbours, by number) and by unknowns, and the residual.
pub(super) struct Row<'a> {
    pub(super) states: &'a [(usize, f64)],
    pub(super) unknowns: &'a [f64],
    pub(super) residual: f64,
}

impl Bordered {
    /// Zeros; no row touches states farther apart than `width`.
    pub(super) fn new(states: usize, width: usize, unknowns: usize) -> Bordered {
        Bordered {
            states,
            width,
            band: vec![0.0; states * (width + 1)],
            border: vec![vec![0.0; states]; unknowns],
            corner: Mat::zeros(unknowns, unknowns),
            right: (vec![0.0; states], vec![0.0; unknowns]),
        }
    }

    pub(super) fn add(&mut self, row: &Row<'_>) {
        for &(i, a) in row.states {
            for &(j, b) in row.states.iter().filter(|&&(j, _)| j <= i) {
                self.band[i * (self.width + 1) + self.width + j - i] += a * b;
            }
            self.right.0[i] += a * row.residual;
            self.border.iter_mut().zip(row.unknowns).for_each(|(column, b)| column[i] += a * b);
        }
        for (i, a) in row.unknowns.iter().enumerate() {
            row.unknowns.iter().enumerate().for_each(|(j, b)| self.corner[(i, j)] += a * b);
            self.right.1[i] += a * row.residual;
        }
    }

    /// The solution with all diagonal entries larger by a part of themselves: first the band (Cholesky), then the unknowns by
    /// their Schur complement. None if that is singular.
    pub(super) fn solve(&self, damping: f64) -> Option<(Vec<f64>, Vec<f64>)> {
        let factor = self.cholesky(damping)?;
        let by_unknown: Vec<Vec<f64>> =
            self.border.iter().map(|column| self.solved(&factor, column)).collect();
        let mut states = self.solved(&factor, &self.right.0);
        let count = self.border.len();
        let mut schur = Mat::from_fn(count, count, |i, j| {
            let damped = if i == j { 1.0 + damping } else { 1.0 };
            damped * self.corner[(i, j)] - dot(&self.border[i], &by_unknown[j])
        });
        // An unknown that no row touches stays where it is.
        (0..count).filter(|&i| self.corner[(i, i)] == 0.0).for_each(|i| schur[(i, i)] = 1.0);
        let right = Mat::from_fn(count, 1, |i, _| self.right.1[i] - dot(&self.border[i], &states));
        let unknowns = schur.llt(Side::Lower).ok()?.solve(&right);
        for (column, j) in by_unknown.iter().zip(0..) {
            states.iter_mut().zip(column).for_each(|(state, by)| *state -= by * unknowns[(j, 0)]);
        }
        let unknowns: Vec<f64> = (0..count).map(|j| unknowns[(j, 0)]).collect();
        states.iter().chain(&unknowns).all(|value| value.is_finite()).then_some((states, unknowns))
    }

    /// L of the damped band, stored as it is.
    fn cholesky(&self, damping: f64) -> Option<Vec<f64>> {
        let (width, stride) = (self.width, self.width + 1);
        let mut factor = self.band.clone();
        let largest = (0..self.states).map(|i| self.band[i * stride + width]).fold(0.0, f64::max);
        for i in 0..self.states {
            factor[i * stride + width] = (1.0 + damping) * self.band[i * stride + width] + 1e-14 * largest;
            for j in i.saturating_sub(width)..=i {
                let from = i.saturating_sub(width).max(j.saturating_sub(width));
                let (row, other) =
                    (&factor[i * stride + width - i + from..], &factor[j * stride + width - j + from..]);
                let known: f64 = row.iter().zip(other).take(j - from).map(|(a, b)| a * b).sum();
                let place = i * stride + width + j - i;
                let rest = factor[place] - known;
                factor[place] = match i == j {
                    true if rest > 0.0 => rest.sqrt(),
                    true => return None,
                    false => rest / factor[j * stride + width],
                };
            }
        }
        Some(factor)
    }

    fn solved(&self, factor: &[f64], right: &[f64]) -> Vec<f64> {
        let (width, stride) = (self.width, self.width + 1);
        let mut x = right.to_vec();
        for i in 0..self.states {
            let from = i.saturating_sub(width);
            let row = &factor[i * stride + width + from - i..=i * stride + width];
            let known: f64 = row.iter().zip(&x[from..i]).map(|(a, b)| a * b).sum();
            x[i] = (x[i] - known) / factor[i * stride + width];
        }
        for i in (0..self.states).rev() {
            x[i] /= factor[i * stride + width];
            let (from, value) = (i.saturating_sub(width), x[i]);
            let row = &factor[i * stride + width + from - i..i * stride + width];
            x[from..i].iter_mut().zip(row).for_each(|(x, a)| *x -= a * value);
        }
        x
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten states and two unknowns, rows over three neighbours and over all unknowns: against the dense normal equations,
    /// whose condition number is below 1e4.
    #[test]
    fn it_solves_the_normal_equations() {
        let (states, unknowns) = (10, 2);
        let number = |i: usize| ((i as f64 + 1.0) * 0.618_034).fract() - 0.5;
        let mut system = Bordered::new(states, 2, unknowns);
        let mut dense = Mat::<f64>::zeros(12, 12);
        let mut right = Mat::<f64>::zeros(12, 1);
        for row in 0..30 {
            let first = row % 8;
            let entries: Vec<(usize, f64)> = (0..3).map(|k| (first + k, number(7 * row + k))).collect();
            let by_unknowns = [number(5 * row + 1), number(3 * row + 2)];
            let residual = number(11 * row);
            system.add(&Row { states: &entries, unknowns: &by_unknowns, residual });
            let all = entries.iter().copied().chain([(10, by_unknowns[0]), (11, by_unknowns[1])]);
            let all: Vec<(usize, f64)> = all.collect();
            for &(i, a) in &all {
                all.iter().for_each(|&(j, b)| dense[(i, j)] += a * b);
                right[(i, 0)] += a * residual;
            }
        }
        (0..12).for_each(|i| dense[(i, i)] *= 1.1);
        let exact = dense.llt(Side::Lower).unwrap().solve(&right);
        let (found, unknowns) = system.solve(0.1).unwrap();
        for (i, found) in found.iter().chain(&unknowns).enumerate() {
            assert!((found - exact[(i, 0)]).abs() < 1e-10, "{i}: {found}");
        }
    }
}
