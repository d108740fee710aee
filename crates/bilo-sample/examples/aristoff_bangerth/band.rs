//! The Cholesky factorisation of a positive definite matrix with a narrow band.

/// Columns that are eliminated at once: what follows them is read and written once for all of them.
const PANEL: usize = 4;
/// Entries that are computed side by side.
const GROUP: usize = 4;

/// The lower half of a symmetric matrix whose entries more than `BAND` off the diagonal are zero, or its factor L.
pub(crate) struct Banded {
    /// Entry `d` of column `j` is that of row `j + d`. Zeros fill up each column, and columns the matrix, so that no
    /// loop has to look where these end.
    columns: Vec<[f64; Banded::HEIGHT]>,
    size: usize,
}

impl Banded {
    /// The farthest entry off the diagonal.
    pub(crate) const BAND: usize = 32;
    const HEIGHT: usize = Banded::BAND + PANEL + GROUP;

    /// A matrix of zeros.
    pub(crate) fn zero(size: usize) -> Banded {
        let columns = size.next_multiple_of(PANEL) + Banded::BAND;
        Banded { columns: vec![[0.0; Banded::HEIGHT]; columns], size }
    }

    /// Becomes the matrix whose columns are given from the diagonal down, as pairs of a distance from it and an entry.
    pub(crate) fn set<const N: usize>(&mut self, column: impl Fn(usize) -> [(usize, f64); N]) {
        for (j, entries) in self.columns.iter_mut().enumerate() {
            *entries = [0.0; Banded::HEIGHT];
            match j < self.size {
                true => column(j).into_iter().for_each(|(distance, entry)| entries[distance] = entry),
                // Any positive number will do beyond the matrix.
                false => entries[0] = 1.0,
            }
        }
    }

    /// Puts the factor in place of the matrix, with the inverse of its diagonal on the diagonal; none if the matrix is
    /// not positive definite.
    #[must_use]
    pub(crate) fn factor(&mut self) -> Option<()> {
        for first in (0..self.size).step_by(PANEL) {
            let (panel, rest) = self.columns[first..].split_first_chunk_mut::<PANEL>()?;
            for j in 0..PANEL {
                let (before, column) = panel.split_at_mut(j);
                let column = &mut column[0];
                for (i, earlier) in before.iter().enumerate() {
                    subtract(column, earlier[j - i], &earlier[j - i..]);
                }
                // NaN is not positive either.
                if !(column[0] > 0.0 && column[0].is_finite()) {
                    return None;
                }
                let inverse = column[0].sqrt().recip();
                column.iter_mut().for_each(|entry| *entry *= inverse);
                column[0] = inverse;
            }
            eliminate(panel, rest);
        }
        Some(())
    }

    /// Solves with the factor, in place. The vector has [`Banded::padded`] entries, zero beyond the matrix.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        for j in 0..self.size {
            let column = &self.columns[j];
            x[j] *= column[0];
            let known = x[j];
            subtract(&mut x[j + 1..=j + Banded::BAND], known, &column[1..]);
        }
        for j in (0..self.size).rev() {
            let column = &self.columns[j];
            x[j] = column[0] * (x[j] - dot(&column[1..=Banded::BAND], &x[j + 1..=j + Banded::BAND]));
        }
    }

    /// The length of vectors to be solved for.
    pub(crate) fn padded(&self) -> usize {
        self.size + Banded::BAND
    }
}

/// Takes what a finished panel makes of them off the columns behind it.
fn eliminate(panel: &[[f64; Banded::HEIGHT]; PANEL], rest: &mut [[f64; Banded::HEIGHT]]) {
    for (after, column) in rest[..Banded::BAND].iter_mut().enumerate() {
        // The column of the panel nearest to it reaches farthest down; the others have zeros there, and so have all of them
        // where the last group is longer.
        let groups = (Banded::BAND - after).div_ceil(GROUP);
        let [a, b, c, d] = std::array::from_fn(|i| &panel[i][after + PANEL - i..]);
        let [fa, fb, fc, fd] = [a[0], b[0], c[0], d[0]];
        let [a, b, c, d] = [a, b, c, d].map(|source| &source.as_chunks::<GROUP>().0[..groups]);
        for (k, entries) in column.as_chunks_mut::<GROUP>().0[..groups].iter_mut().enumerate() {
            for i in 0..GROUP {
                entries[i] -= (fa * a[k][i] + fb * b[k][i]) + (fc * c[k][i] + fd * d[k][i]);
            }
        }
    }
}

fn subtract(from: &mut [f64], factor: f64, what: &[f64]) {
    from.iter_mut().zip(what).for_each(|(x, y)| *x -= factor * y);
}

/// The sum of products, in eight sums that do not wait for each other.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum()
}
