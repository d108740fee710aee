//! Sparse matrices of a fixed pattern and their LU factorisation.

mod banded;
mod sparse;

use banded::{Band, BandedLu};
use faer::sparse::SymbolicSparseColMat;
use faer::sparse::linalg::lu::SymbolicLu;
use sparse::SparseLu;

/// The matrix is called singular beyond this condition number: fewer than two
/// digits of the solution would be left.
const SINGULAR: f64 = 1e14;

/// Corrections that shrink less than this call for a new factorisation.
const SLOW: f64 = 0.02;

/// Relative correction at which a refined solution is exact.
const REFINED: f64 = 1e-14;

/// Bands wider than this are no better than what a general factorisation finds.
const WIDEST: usize = 24;

/// Where each entry of the matrix is stored, by compressed columns, and how
/// its factorisation goes.
#[derive(Debug)]
pub(crate) struct Pattern {
    columns: SymbolicSparseColMat<usize>,
    plan: Plan,
}

/// How matrices of a pattern are factorised.
#[derive(Debug)]
enum Plan {
    /// As a band, where each entry has its place.
    Banded(Band, Vec<usize>),
    Sparse(SymbolicLu<usize>),
}

impl Pattern {
    /// The pattern of the listed (row, column) pairs, repeated ones allowed,
    /// and the place of each pair among the stored entries. Rows and columns
    /// are numbered state by state.
    pub(crate) fn new(size: usize, states: usize, pairs: &[(usize, usize)]) -> (Pattern, Vec<usize>) {
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
        let band = Band::new(size, states, pairs);
        let plan = if band.width() <= WIDEST {
            let places = entries.iter().map(|&(column, row)| band.place(row, column)).collect();
            Plan::Banded(band, places)
        } else {
            Plan::Sparse(sparse::plan(&columns))
        };
        (Pattern { columns, plan }, places)
    }

    pub(crate) fn is_banded(&self) -> bool {
        matches!(self.plan, Plan::Banded(..))
    }

    pub(crate) fn size(&self) -> usize {
        self.columns.nrows()
    }

    pub(crate) fn entries(&self) -> usize {
        self.columns.row_idx().len()
    }

    /// The row of a stored entry.
    pub(crate) fn row(&self, place: usize) -> usize {
        self.columns.row_idx()[place]
    }

    /// Calls `visit(row, column, value)` for every stored entry.
    pub(crate) fn for_each(&self, values: &[f64], mut visit: impl FnMut(usize, usize, f64)) {
        let rows = self.columns.row_idx();
        for (column, ends) in self.columns.col_ptr().windows(2).enumerate() {
            let own = ends[0]..ends[1];
            for (&row, &value) in rows[own.clone()].iter().zip(&values[own]) {
                visit(row, column, value);
            }
        }
    }
}

/// LU factorisation of matrices of one pattern. Rows are scaled to largest
/// entry one, so that pivots of interior and boundary equations compare.
pub(crate) struct Factorisation<'a> {
    pattern: &'a Pattern,
    factors: Factors<'a>,
    row_scale: Vec<f64>,
    scaled: Vec<f64>,
}

enum Factors<'a> {
    Banded(BandedLu, &'a [usize]),
    Sparse(Box<SparseLu<'a>>),
}

/// The matrix has no usable inverse; the estimate of its condition number.
#[derive(Debug)]
pub(crate) struct Degenerate(pub(crate) f64);

impl<'a> Factorisation<'a> {
    /// Prepares for matrices of this pattern.
    pub(crate) fn new(pattern: &'a Pattern) -> Factorisation<'a> {
        let factors = match &pattern.plan {
            Plan::Banded(band, places) => Factors::Banded(BandedLu::new(band), places),
            Plan::Sparse(plan) => Factors::Sparse(Box::new(SparseLu::new(plan))),
        };
        let (size, entries) = (pattern.size(), pattern.entries());
        Factorisation { pattern, factors, row_scale: vec![1.0; size], scaled: vec![0.0; entries] }
    }

    /// Factorises the matrix with these entries.
    pub(crate) fn factorise(&mut self, values: &[f64]) -> Result<(), Degenerate> {
        self.factorise_unchecked(values)?;
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

    /// Factorises without a look at the condition number.
    fn factorise_unchecked(&mut self, values: &[f64]) -> Result<(), Degenerate> {
        self.scale_rows(values);
        match &mut self.factors {
            Factors::Banded(lu, places) => lu.factorise(places, &self.scaled),
            Factors::Sparse(lu) => {
                if !lu.factorise(&self.pattern.columns, &self.scaled) {
                    return Err(Degenerate(f64::INFINITY));
                }
            }
        }
        Ok(())
    }

    /// Replaces the right-hand sides, one after the other, by the solutions.
    pub(crate) fn solve(&mut self, rhs: &mut [f64]) {
        self.scale(rhs);
        self.solve_scaled(rhs);
    }

    /// Replaces the right-hand sides by the solutions with the transposed matrix.
    pub(crate) fn solve_transposed(&mut self, rhs: &mut [f64]) {
        self.solve_scaled_transposed(rhs);
        self.scale(rhs);
    }

    /// Brings residuals to the units of the solution, row by row.
    pub(crate) fn scale(&self, residual: &mut [f64]) {
        for (r, scale) in residual.iter_mut().zip(self.row_scale.iter().cycle()) {
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
        match &mut self.factors {
            Factors::Banded(lu, _) => rhs.chunks_mut(self.row_scale.len()).for_each(|rhs| lu.solve(rhs)),
            Factors::Sparse(lu) => lu.solve(rhs),
        }
    }

    fn solve_scaled_transposed(&mut self, rhs: &mut [f64]) {
        match &mut self.factors {
            Factors::Banded(lu, _) => {
                rhs.chunks_mut(self.row_scale.len()).for_each(|rhs| lu.solve_transposed(rhs));
            }
            Factors::Sparse(lu) => lu.solve_transposed(rhs),
        }
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
/// from one to the next. A band is factorised whenever it changes. In general
/// that would cost many solves: there a factorisation serves, with iterative
/// refinement, until the corrections no longer shrink fast.
pub(crate) struct Refined<'a> {
    pattern: &'a Pattern,
    factorisation: Factorisation<'a>,
    /// The entries of the matrix that is factorised; empty if none is.
    factorised: Vec<f64>,
    /// Factorisations made.
    pub(crate) factorisations: usize,
}

impl<'a> Refined<'a> {
    pub(crate) fn new(pattern: &'a Pattern) -> Refined<'a> {
        let factorisation = Factorisation::new(pattern);
        Refined { pattern, factorisation, factorised: Vec::new(), factorisations: 0 }
    }

    /// The solutions for the matrix with these entries, or with its transpose, and several right-hand sides: going through the factors costs more than what is done with them.
    pub(crate) fn solve_all(
        &mut self,
        values: &[f64],
        transposed: bool,
        all: Vec<Vec<f64>>,
    ) -> Result<Vec<Vec<f64>>, Degenerate> {
        let banded = self.pattern.is_banded();
        if self.factorised != values {
            let kept = !banded && !self.factorised.is_empty();
            if kept && let Some(solutions) = self.refine(values, transposed, &all, false) {
                return Ok(solutions);
            }
            self.factorise(values)?;
        }
        let solutions =
            if banded { self.once(transposed, all) } else { self.refine(values, transposed, &all, true) };
        solutions.ok_or(Degenerate(f64::INFINITY))
    }

    /// The solutions with the factorised matrix, if they are finite.
    fn once(&mut self, transposed: bool, mut all: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
        all.iter_mut().for_each(|rhs| self.solve_in_place(transposed, rhs));
        all.iter().all(|solution| norm(solution).is_finite()).then_some(all)
    }

    fn solve_in_place(&mut self, transposed: bool, rhs: &mut [f64]) {
        if transposed {
            self.factorisation.solve_transposed(rhs);
        } else {
            self.factorisation.solve(rhs);
        }
    }

    /// The condition number is asked for once: the matrices change little, and
    /// the estimate costs as much as a factorisation of a band.
    fn factorise(&mut self, values: &[f64]) -> Result<(), Degenerate> {
        let first = self.factorised.is_empty();
        self.factorised.clear();
        match first {
            true => self.factorisation.factorise(values)?,
            false => self.factorisation.factorise_unchecked(values)?,
        }
        self.factorisations += 1;
        self.factorised.extend_from_slice(values);
        Ok(())
    }

    /// `None` if corrections shrink slowly; with a `fresh` factorisation
    /// that means that only rounding is left.
    fn refine(
        &mut self,
        values: &[f64],
        transposed: bool,
        all: &[Vec<f64>],
        fresh: bool,
    ) -> Option<Vec<Vec<f64>>> {
        let size = self.pattern.size();
        let mut solutions = vec![vec![0.0; size]; all.len()];
        let mut last = vec![f64::INFINITY; all.len()];
        let mut under_way: Vec<usize> = (0..all.len()).collect();
        let mut rest = all.concat();
        while !under_way.is_empty() {
            self.solve_in_place(transposed, &mut rest);
            let mut unfinished = vec![];
            for (&k, correction) in under_way.iter().zip(rest.chunks(size)) {
                let change = norm(correction);
                if !change.is_finite() || (change > SLOW * last[k] && !fresh) {
                    return None;
                }
                if change > SLOW * last[k] {
                    continue;
                }
                solutions[k].iter_mut().zip(correction).for_each(|(x, d)| *x += d);
                // What is left shrinks at least as fast as it just did.
                let left = if last[k].is_finite() { change * change / last[k] } else { change };
                if left > REFINED * norm(&solutions[k]) {
                    unfinished.push(k);
                }
                last[k] = change;
            }
            let left = |&k: &usize| self.residual(values, transposed, &all[k], &solutions[k]);
            rest = unfinished.iter().flat_map(left).collect();
            under_way = unfinished;
        }
        Some(solutions)
    }

    fn residual(&self, values: &[f64], transposed: bool, rhs: &[f64], solution: &[f64]) -> Vec<f64> {
        let mut rest = rhs.to_vec();
        self.pattern.for_each(values, |row, column, v| {
            let (row, column) = if transposed { (column, row) } else { (row, column) };
            rest[row] -= v * solution[column];
        });
        rest
    }
}

/// Euclidean length.
pub(crate) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|a| a * a).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tridiagonal(n: usize, corner: f64, banded: bool) -> (Pattern, Vec<f64>) {
        let mut pairs = Vec::new();
        let mut entries = Vec::new();
        for i in 0..n {
            for j in i.saturating_sub(1)..(i + 2).min(n) {
                pairs.push((i, j));
                let diagonal = if i == 0 || i == n - 1 { corner } else { 2.0 };
                entries.push(if i == j { diagonal } else { -1.0 });
            }
        }
        if !banded {
            // Zeros far from the diagonal, as a plane has entries.
            pairs.extend([(0, n / 2), (n / 2, 0)]);
            entries.extend([0.0, 0.0]);
        }
        let (pattern, places) = Pattern::new(n, 1, &pairs);
        assert_eq!(banded || n <= WIDEST / 2, matches!(pattern.plan, Plan::Banded(..)));
        let mut values = vec![0.0; pattern.entries()];
        for (&place, entry) in places.iter().zip(entries) {
            values[place] += entry;
        }
        (pattern, values)
    }

    #[test]
    fn solves_to_rounding() {
        let n = 50;
        for banded in [true, false] {
            let (pattern, values) = tridiagonal(n, 2.0, banded);
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
    }

    /// Solves with matrices whose diagonals differ by these factors; returns the
    /// factorisations made after each.
    fn solve_in_turn(banded: bool, factors: [f64; 3]) -> [usize; 3] {
        let n = 50;
        let (pattern, values) = tridiagonal(n, 2.0, banded);
        let mut refined = Refined::new(&pattern);
        factors.map(|factor| {
            let values: Vec<f64> =
                values.iter().map(|v| if *v > 0.0 { factor * v + 1.0 } else { *v }).collect();
            for transposed in [false, true] {
                let exact: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
                let mut rhs = vec![0.0; n];
                pattern.for_each(&values, |row, column, v| rhs[row] += v * exact[column]);
                let found = refined.solve_all(&values, transposed, vec![rhs]).expect("positive definite");
                let error = found[0].iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(error < 1e-13, "{error}");
            }
            refined.factorisations
        })
    }

    #[test]
    fn a_kept_factorisation_is_refined_and_a_useless_one_replaced() {
        assert_eq!(solve_in_turn(false, [1.0, 1.01, 4.0]), [1, 1, 2]);
    }

    #[test]
    fn a_band_is_factorised_whenever_it_changes() {
        assert_eq!(solve_in_turn(true, [1.0, 1.01, 1.01]), [1, 2, 2]);
    }

    #[test]
    fn a_transposed_solve_undoes_a_transposed_product() {
        for banded in [true, false] {
            let (pattern, values) = tridiagonal(30, 2.0, banded);
            // Rows of different size, so that the matrix is not symmetric.
            let mut skew = values.clone();
            let mut place = 0;
            pattern.for_each(&values, |row, _, v| {
                skew[place] = v * (1.0 + row as f64);
                place += 1;
            });
            let exact: Vec<f64> = (0..30).map(|i| f64::from(i).cos()).collect();
            let mut rhs = vec![0.0; 30];
            pattern.for_each(&skew, |row, column, v| rhs[column] += v * exact[row]);
            let mut lu = Factorisation::new(&pattern);
            lu.factorise(&skew).expect("regular");
            lu.solve_transposed(&mut rhs);
            assert!(rhs.iter().zip(&exact).all(|(x, e)| (x - e).abs() < 1e-12));
        }
    }

    #[test]
    fn a_matrix_with_a_null_vector_is_refused() {
        // Constants are in the null space: the discrete Neumann problem.
        for (n, banded) in [5, 50, 801, 3000].into_iter().flat_map(|n| [(n, true), (n, false)]) {
            let (pattern, values) = tridiagonal(n, 1.0, banded);
            let outcome = Factorisation::new(&pattern).factorise(&values);
            assert!(outcome.is_err(), "n = {n}");
        }
    }

    #[test]
    fn the_condition_number_is_right_to_a_factor_of_three() {
        // Rows are already of largest entry 2; eigenvalues 2 - 2 cos(k pi/(n+1)).
        let n = 200;
        for banded in [true, false] {
            let (pattern, values) = tridiagonal(n, 2.0, banded);
            let mut lu = Factorisation::new(&pattern);
            lu.factorise(&values).expect("positive definite");
            let exact = 4.0 / (std::f64::consts::PI / (n as f64 + 1.0)).powi(2);
            let estimate = lu.condition();
            assert!(estimate > exact / 3.0 && estimate < exact * 3.0);
        }
    }
}
