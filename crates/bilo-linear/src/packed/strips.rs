//! Products for 512-bit vectors. A library must take matrices as they come, and spends a part of the time of
//! products as small as a tile's on laying them out; here the weights are laid out once for all tiles, and
//! everything else is read where it lies.
//!
//! The result is computed in blocks that stay in registers: up to [`ROWS`] rows of up to [`VECTORS`] vectors
//! of N numbers, 24 of the 32 registers. A strip of the right factor, as wide as a block, stays in the
//! nearest cache.

use crate::matrix::{Matrix, MatrixMut};
use crate::number::Number;
use crate::simd::Job;

const ROWS: usize = 6;
const VECTORS: usize = 4;

/// Copies a matrix strip by strip: each is row-major by itself. The columns must be whole vectors of N.
pub(super) fn pack<T: Number, const N: usize>(from: Matrix<'_, T>, to: &mut [T]) {
    for start in (0..from.columns).step_by(VECTORS * N) {
        let width = (from.columns - start).min(VECTORS * N);
        let strip = &mut to[start * from.rows..(start + width) * from.rows];
        for (number, row) in strip.chunks_exact_mut(width).enumerate() {
            for (column, value) in row.iter_mut().enumerate() {
                *value = from.data[number * from.row_stride + (start + column) * from.column_stride];
            }
        }
    }
}

/// result = left · right, or result += left · right, with the left factor row by row and the right one packed.
pub(super) struct Product<'a, T, const N: usize> {
    pub(super) result: MatrixMut<'a, T>,
    pub(super) left: &'a [T],
    pub(super) right: &'a [T],
    pub(super) inner: usize,
    pub(super) add: bool,
}

impl<T: Number, const N: usize> Job for Product<'_, T, N> {
    #[inline(always)]
    fn run(mut self) {
        for start in (0..self.result.columns).step_by(VECTORS * N) {
            match (self.result.columns - start) / N {
                1 => self.strip::<1>(start),
                2 => self.strip::<2>(start),
                3 => self.strip::<3>(start),
                _ => self.strip::<4>(start),
            }
        }
    }
}

impl<T: Number, const N: usize> Product<'_, T, N> {
    #[inline(always)]
    fn strip<const V: usize>(&mut self, start: usize) {
        let mut row = 0;
        while row < self.result.rows {
            row += match self.result.rows - row {
                ROWS.. => self.block::<V, ROWS>(row, start),
                3.. => self.block::<V, 3>(row, start),
                _ => self.block::<V, 1>(row, start),
            }
        }
    }

    #[inline(always)]
    fn block<const V: usize, const M: usize>(&mut self, row: usize, start: usize) -> usize {
        let (inner, columns) = (self.inner, self.result.columns);
        let mut rows = [&self.left[..0]; M];
        for (i, row) in (row..row + M).enumerate() {
            rows[i] = &self.left[row * inner..][..inner];
        }
        let strip = &self.right[start * inner..(start + V * N) * inner];
        let mut block = Block::<T, N, V, M>::ZERO;
        if self.add {
            block.load(&self.result.data[row * columns + start..], columns);
        }
        for (k, right) in strip.chunks_exact(V * N).enumerate() {
            block.add(|i| rows[i][k], right);
        }
        block.store(&mut self.result.data[row * columns + start..], columns);
        M
    }
}

/// result += leftᵀ · right, both factors row by row, with one to four columns on the left and whole vectors
/// on the right.
pub(super) struct Outer<'a, T, const N: usize> {
    /// Or its transposed, if `swapped`.
    pub(super) result: MatrixMut<'a, T>,
    pub(super) left: &'a [T],
    pub(super) right: &'a [T],
    /// Columns of the factors.
    pub(super) width: usize,
    pub(super) columns: usize,
    pub(super) swapped: bool,
}

impl<T: Number, const N: usize> Job for Outer<'_, T, N> {
    #[inline(always)]
    fn run(mut self) {
        for start in (0..self.columns).step_by(VECTORS * N) {
            match (self.columns - start) / N {
                1 => self.strip::<1>(start),
                2 => self.strip::<2>(start),
                3 => self.strip::<3>(start),
                _ => self.strip::<4>(start),
            }
        }
    }
}

impl<T: Number, const N: usize> Outer<'_, T, N> {
    #[inline(always)]
    fn strip<const V: usize>(&mut self, start: usize) {
        match self.width {
            1 => self.block::<V, 1>(start),
            2 => self.block::<V, 2>(start),
            3 => self.block::<V, 3>(start),
            _ => self.block::<V, 4>(start),
        }
    }

    #[inline(always)]
    fn block<const V: usize, const M: usize>(&mut self, start: usize) {
        let mut block = Block::<T, N, V, M>::ZERO;
        if !self.swapped {
            block.load(&self.result.data[start..], self.columns);
        }
        for (left, right) in self.left.chunks_exact(M).zip(self.right.chunks_exact(self.columns)) {
            block.add(|i| left[i], &right[start..start + V * N]);
        }
        if self.swapped {
            block.add_transposed(&mut self.result.data[start * M..]);
        } else {
            block.store(&mut self.result.data[start..], self.columns);
        }
    }
}

/// A few rows of a few vectors.
#[derive(Clone, Copy)]
struct Block<T, const N: usize, const V: usize, const M: usize>([[[T; N]; V]; M]);

impl<T: Number, const N: usize, const V: usize, const M: usize> Block<T, N, V, M> {
    const ZERO: Self = Self([[[T::ZERO; N]; V]; M]);

    #[inline(always)]
    fn load(&mut self, from: &[T], stride: usize) {
        for i in 0..M {
            for j in 0..V {
                self.0[i][j].copy_from_slice(&from[i * stride + j * N..][..N]);
            }
        }
    }

    #[inline(always)]
    fn store(self, to: &mut [T], stride: usize) {
        for i in 0..M {
            for j in 0..V {
                to[i * stride + j * N..][..N].copy_from_slice(&self.0[i][j]);
            }
        }
    }

    #[inline(always)]
    fn add_transposed(self, to: &mut [T]) {
        for i in 0..M {
            for (place, &value) in self.0[i].as_flattened().iter().enumerate() {
                to[place * M + i] += value;
            }
        }
    }

    /// Adds the column times the row. The column is asked for number by number: a load can spread one over a
    /// vector for nothing, while numbers in registers would take the place of multiplications.
    #[inline(always)]
    fn add(&mut self, column: impl Fn(usize) -> T, row: &[T]) {
        let mut vectors = [[T::ZERO; N]; V];
        for (vector, part) in vectors.iter_mut().zip(row.chunks_exact(N)) {
            vector.copy_from_slice(part);
        }
        for (i, sums) in self.0.iter_mut().enumerate() {
            let factor = column(i);
            for (sum, &value) in sums.as_flattened_mut().iter_mut().zip(vectors.as_flattened()) {
                *sum = factor.times_plus(value, *sum);
            }
        }
    }
}

/// result = left · rightᵀ, or result += left · rightᵀ, with both factors row by row and few rows on the right; the
/// inner length must be whole vectors of N.
pub(super) struct Narrow<'a, T, const N: usize> {
    pub(super) result: MatrixMut<'a, T>,
    pub(super) left: &'a [T],
    pub(super) right: &'a [T],
    pub(super) inner: usize,
    pub(super) add: bool,
}

impl<T: Number, const N: usize> Job for Narrow<'_, T, N> {
    #[inline(always)]
    fn run(self) {
        let rows = self.result.data.chunks_exact_mut(self.result.columns);
        for (row, left) in rows.zip(self.left.chunks_exact(self.inner)) {
            for (target, right) in row.iter_mut().zip(self.right.chunks_exact(self.inner)) {
                let sum = dot::<T, N>(left, right);
                *target = if self.add { *target + sum } else { sum };
            }
        }
    }
}

#[inline(always)]
fn dot<T: Number, const N: usize>(left: &[T], right: &[T]) -> T {
    let mut sums = [T::ZERO; N];
    for (left, right) in left.chunks_exact(N).zip(right.chunks_exact(N)) {
        for l in 0..N {
            sums[l] = left[l].times_plus(right[l], sums[l]);
        }
    }
    sums.iter().fold(T::ZERO, |sum, &term| sum + term)
}
