//! Sparse matrices of a fixed pattern and their LU factorisation.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::LuError;
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par};

/// The matrix is called singular beyond this condition number: fewer than two
/// digits of the solution would be left.
const SINGULAR: f64 = 1e14;

/// Corrections that shrink less than this call for a new factorisation.
const SLOW: f64 = 0.02;

/// Relative correction at which a refined solution is exact.
const REFINED: f64 = 1e-14;

/// Where each entry of the matrix is stored, by compressed columns, and how
/// its factorisation goes.
#[derive(Debug)]
pub(crate) struct Pattern {
    columns: SymbolicSparseColMat<usize>,
    lu: SymbolicLu<usize>,
}

impl Pattern {
    /// The pattern of the listed (row, column) pairs, repeated ones allowed,
    /// and the place of each pair among the stored entries.
    pub(crate) fn new(size: usize, pairs: &[(usize, usize)]) -> (Pattern, Vec<usize>) {
        let mut entries: Vec<(usize, usize)> = pairs.iter().map(|&(r, c)| (c, r)).collect();
        entries.sort_unstable();
        entries.dedup();
        let starts: Vec<usize> = (0..=size).map(|c| entries.partition_point(|&e| e.0 < c)).collect();
        let rows: Vec<usize> = entries.iter().map(|&(_, r)| r).collect();
        let places = pairs
            .iter()
            .map(|&(r, c)| starts[c] + rows[starts[c]..starts[c + 1]].partition_point(|&row| row < r))
            .collect();
        let columns = SymbolicSparseColMat::new_checked(size, size, starts, None, rows);
        let lu = factorize_symbolic_lu(columns.as_ref(), Default::default())
            .expect("the pattern fits in memory and its indices in a machine word");
        (Pattern { columns, lu }, places)
    }

    pub(crate) fn size(&self) -> usize {
        self.columns.nrows()
    }

    pub(crate) fn entries(&self) -> usize {
        self.columns.row_idx().len()
    }

    /// Calls `visit(row, column, value)` for every stored entry.
    pub(crate) fn for_each(&self, values: &[f64], mut visit: impl FnMut(usize, usize, f64)) {
        let (starts, rows) = (self.columns.col_ptr(), self.columns.row_idx());
        for column in 0..self.size() {
            for place in starts[column]..starts[column + 1] {
                visit(rows[place], column, values[place]);
            }
        }
    }
}

/// LU factorisation of matrices of one pattern. Rows are scaled to largest
/// entry one, so that pivots of interior and boundary equations compare.
pub(crate) struct Factorisation<'a> {
    pattern: &'a Pattern,
    numeric: NumericLu<usize, f64>,
    memory: MemBuffer,
    row_scale: Vec<f64>,
    scaled: Vec<f64>,
}

/// The matrix has no usable inverse; the estimate of its condition number.
#[derive(Debug)]
pub(crate) struct Degenerate(pub(crate) f64);

impl<'a> Factorisation<'a> {
    /// Prepares for matrices of this pattern.
    pub(crate) fn new(pattern: &'a Pattern) -> Factorisation<'a> {
        let lu = &pattern.lu;
        let factorise = lu.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        let solve = lu.solve_in_place_scratch::<f64>(1, Par::Seq);
        let solve_transposed = lu.solve_transpose_in_place_scratch::<f64>(1, Par::Seq);
        Factorisation {
            memory: MemBuffer::new(factorise.or(solve).or(solve_transposed)),
            pattern,
            numeric: NumericLu::new(),
            row_scale: vec![1.0; pattern.size()],
            scaled: vec![0.0; pattern.entries()],
        }
    }

    /// Factorises the matrix with these entries.
    pub(crate) fn factorise(&mut self, values: &[f64]) -> Result<(), Degenerate> {
        self.scale_rows(values);
        let matrix = SparseColMatRef::new(self.pattern.columns.as_ref(), &self.scaled);
        let outcome = self.pattern.lu.factorize_numeric_lu(
            &mut self.numeric,
            matrix,
            Par::Seq,
            MemStack::new(&mut self.memory),
            Default::default(),
        );
        match outcome {
            Ok(_) => {}
            Err(LuError::SymbolicSingular { .. }) => return Err(Degenerate(f64::INFINITY)),
            Err(LuError::Generic(error)) => panic!("sparse LU ran out of memory: {error:?}"),
        }
        let condition = self.condition();
        // An exactly singular matrix leaves an estimate that is not a number.
        if condition < SINGULAR {
            Ok(())
        } else if condition.is_finite() {
            Err(Degenerate(condition))
        } else {
            Err(Degenerate(f64::INFINITY))
        }
    }

    /// Replaces the right-hand side by the solution.
    pub(crate) fn solve(&mut self, rhs: &mut [f64]) {
        self.scale(rhs);
        self.solve_scaled(rhs);
    }

    /// Replaces the right-hand side by the solution with the transposed matrix.
    pub(crate) fn solve_transposed(&mut self, rhs: &mut [f64]) {
        self.solve_scaled_transposed(rhs);
        self.scale(rhs);
    }

    /// Brings residuals to the units of the solution, row by row.
    pub(crate) fn scale(&self, residual: &mut [f64]) {
        for (r, scale) in residual.iter_mut().zip(&self.row_scale) {
            *r *= scale;
        }
    }

    fn scale_rows(&mut self, values: &[f64]) {
        let mut largest = vec![0.0_f64; self.pattern.size()];
        self.pattern.for_each(values, |row, _, v| largest[row] = largest[row].max(v.abs()));
        for (scale, m) in self.row_scale.iter_mut().zip(largest) {
            *scale = if m > 0.0 { m.recip() } else { 1.0 };
        }
        for ((scaled, v), &row) in self.scaled.iter_mut().zip(values).zip(self.pattern.columns.row_idx()) {
            *scaled = v * self.row_scale[row];
        }
    }

    fn solve_scaled(&mut self, rhs: &mut [f64]) {
        let rows = rhs.len();
        LuRef::new_unchecked(&self.pattern.lu, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(rhs, rows, 1),
            Par::Seq,
            MemStack::new(&mut self.memory),
        );
    }

    fn solve_scaled_transposed(&mut self, rhs: &mut [f64]) {
        let rows = rhs.len();
        LuRef::new_unchecked(&self.pattern.lu, &self.numeric).solve_transpose_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(rhs, rows, 1),
            Par::Seq,
            MemStack::new(&mut self.memory),
        );
    }

    /// Condition number of the scaled matrix, estimated by one power step on
    /// its inverse. The smallest singular value of a singular matrix stands
    /// alone, where one step from a generic vector is accurate.
    fn condition(&mut self) -> f64 {
        // Multiples of the golden ratio: deterministic, and orthogonal to no
        // vector that discretised equations produce.
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let size = self.pattern.size();
        let mut v: Vec<f64> = (1..=size).map(|i| (i as f64 * golden).fract() - 0.5).collect();
        self.solve_scaled(&mut v);
        let length = norm(&v);
        v.iter_mut().for_each(|a| *a /= length);
        self.solve_scaled_transposed(&mut v);
        let mut row_sums = vec![0.0; size];
        self.pattern.for_each(&self.scaled, |row, _, a| row_sums[row] += a.abs());
        norm(&v) * row_sums.into_iter().fold(0.0, f64::max)
    }
}

/// Exact solves with a sequence of matrices of one pattern that change little
/// from one to the next: a factorisation serves, with iterative refinement,
/// until the corrections no longer shrink fast.
pub(crate) struct Refined<'a> {
    pattern: &'a Pattern,
    factorisation: Factorisation<'a>,
    ready: bool,
    /// Factorisations made.
    pub(crate) factorisations: usize,
}

impl<'a> Refined<'a> {
    pub(crate) fn new(pattern: &'a Pattern) -> Refined<'a> {
        Refined { pattern, factorisation: Factorisation::new(pattern), ready: false, factorisations: 0 }
    }

    /// The solution for the matrix with these entries, or with its transpose.
    pub(crate) fn solve(
        &mut self,
        values: &[f64],
        transposed: bool,
        rhs: &[f64],
    ) -> Result<Vec<f64>, Degenerate> {
        if self.ready
            && let Some(solution) = self.refine(values, transposed, rhs, false)
        {
            return Ok(solution);
        }
        self.ready = false;
        self.factorisation.factorise(values)?;
        self.factorisations += 1;
        self.ready = true;
        self.refine(values, transposed, rhs, true).ok_or(Degenerate(f64::INFINITY))
    }

    /// `None` if the corrections shrink slowly; with a `fresh` factorisation
    /// that means that only rounding is left.
    fn refine(&mut self, values: &[f64], transposed: bool, rhs: &[f64], fresh: bool) -> Option<Vec<f64>> {
        let mut solution = vec![0.0; rhs.len()];
        let mut rest = rhs.to_vec();
        let mut last = f64::INFINITY;
        loop {
            if transposed {
                self.factorisation.solve_transposed(&mut rest);
            } else {
                self.factorisation.solve(&mut rest);
            }
            let size = norm(&rest);
            if size > SLOW * last {
                return fresh.then_some(solution);
            }
            solution.iter_mut().zip(&rest).for_each(|(x, d)| *x += d);
            // What is left shrinks at least as fast as it just did.
            let left = if last.is_finite() { size * size / last } else { size };
            if left <= REFINED * norm(&solution) {
                return Some(solution);
            }
            last = size;
            rest.copy_from_slice(rhs);
            self.pattern.for_each(values, |row, column, v| {
                let (row, column) = if transposed { (column, row) } else { (row, column) };
                rest[row] -= v * solution[column];
            });
        }
    }
}

/// Euclidean length.
pub(crate) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|a| a * a).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tridiagonal(n: usize, corner: f64) -> (Pattern, Vec<f64>) {
        let mut pairs = Vec::new();
        let mut entries = Vec::new();
        for i in 0..n {
            for j in i.saturating_sub(1)..(i + 2).min(n) {
                pairs.push((i, j));
                let diagonal = if i == 0 || i == n - 1 { corner } else { 2.0 };
                entries.push(if i == j { diagonal } else { -1.0 });
            }
        }
        let (pattern, places) = Pattern::new(n, &pairs);
        let mut values = vec![0.0; pattern.entries()];
        for (&place, entry) in places.iter().zip(entries) {
            values[place] += entry;
        }
        (pattern, values)
    }

    #[test]
    fn solves_to_rounding() {
        let n = 50;
        let (pattern, values) = tridiagonal(n, 2.0);
        let exact: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut rhs = vec![0.0; n];
        pattern.for_each(&values, |row, column, v| rhs[row] += v * exact[column]);
        let mut lu = Factorisation::new(&pattern);
        lu.factorise(&values).expect("positive definite");
        lu.solve(&mut rhs);
        for (x, e) in rhs.iter().zip(&exact) {
            // Condition number about n^2 = 2500 times machine epsilon.
            assert!((x - e).abs() < 1e-12);
        }
    }

    #[test]
    fn a_kept_factorisation_is_refined_and_a_useless_one_replaced() {
        let n = 50;
        let (pattern, values) = tridiagonal(n, 2.0);
        let mut refined = Refined::new(&pattern);
        for (factor, factorisations) in [(1.0, 1), (1.01, 1), (4.0, 2)] {
            let values: Vec<f64> =
                values.iter().map(|v| if *v > 0.0 { factor * v + 1.0 } else { *v }).collect();
            for transposed in [false, true] {
                let exact: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
                let mut rhs = vec![0.0; n];
                pattern.for_each(&values, |row, column, v| rhs[row] += v * exact[column]);
                let found = refined.solve(&values, transposed, &rhs).expect("positive definite");
                let error = found.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(error < 1e-13, "{error}");
            }
            assert_eq!(refined.factorisations, factorisations);
        }
    }

    #[test]
    fn a_transposed_solve_undoes_a_transposed_product() {
        let (pattern, values) = tridiagonal(20, 2.0);
        // Rows of different size, so that the matrix is not symmetric.
        let mut skew = values.clone();
        let mut place = 0;
        pattern.for_each(&values, |row, _, v| {
            skew[place] = v * (1.0 + row as f64);
            place += 1;
        });
        let exact: Vec<f64> = (0..20).map(|i| f64::from(i).cos()).collect();
        let mut rhs = vec![0.0; 20];
        pattern.for_each(&skew, |row, column, v| rhs[column] += v * exact[row]);
        let mut lu = Factorisation::new(&pattern);
        lu.factorise(&skew).expect("regular");
        lu.solve_transposed(&mut rhs);
        assert!(rhs.iter().zip(&exact).all(|(x, e)| (x - e).abs() < 1e-12));
    }

    #[test]
    fn a_matrix_with_a_null_vector_is_refused() {
        // Constants are in the null space: the discrete Neumann problem.
        for n in [5, 50, 801, 3000] {
            let (pattern, values) = tridiagonal(n, 1.0);
            let outcome = Factorisation::new(&pattern).factorise(&values);
            assert!(outcome.is_err(), "n = {n}");
        }
    }

    #[test]
    fn the_condition_number_is_right_to_a_factor_of_three() {
        // Rows are already of largest entry 2; eigenvalues 2 - 2 cos(k pi/(n+1)).
        let n = 200;
        let (pattern, values) = tridiagonal(n, 2.0);
        let mut lu = Factorisation::new(&pattern);
        lu.factorise(&values).expect("positive definite");
        let exact = 4.0 / (std::f64::consts::PI / (n as f64 + 1.0)).powi(2);
        let estimate = lu.condition();
        assert!(estimate > exact / 3.0 && estimate < exact * 3.0);
    }
}
