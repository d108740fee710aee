//! Numbers as sums of bf16 numbers, where tile registers want them.

use crate::packed::SIDE;
use std::arch::x86_64::*;

/// Pairs of numbers in a row of a tile, and rows of a tile.
pub(super) const PAIRS: usize = 16;

/// One row of a tile: pair j holds the numbers j (its lower half) and j + 16 of 32 along the inner side of a product. The
/// hardware asks only that both factors pair the same ones, and these are paired without moving anything.
pub(super) type Line = [u32; PAIRS];

/// The three terms of two lines of 16 numbers, paired.
type Terms = [Line; 3];

/// 32 × 32 numbers: of every term two tiles, which lie on top of each other in a left factor and side by side in
/// a right one.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(in crate::packed) struct Square(pub(super) [[[Line; PAIRS]; 2]; 3]);

impl Square {
    pub(super) const ZERO: Self = Self([[[[0; PAIRS]; PAIRS]; 2]; 3]);

    fn set(&mut self, tile: usize, line: usize, terms: Terms) {
        for (square, term) in self.0.iter_mut().zip(terms) {
            square[tile][line] = term;
        }
    }

    #[inline(always)]
    fn set_quarter(&mut self, tile: usize, quarter: usize, low: Quarter, high: Quarter) {
        for i in 0..4 {
            self.set(tile, 4 * quarter + i, split(low[i], high[i]));
        }
    }
}

/// Four lines of numbers.
type Quarter = [[f32; PAIRS]; 4];

/// The nearest bf16 number, as the upper half of an f32.
#[inline(always)]
fn nearest(x: f32) -> f32 {
    f32::from_bits(x.to_bits().wrapping_add(1 << 15) & !0xffff)
}

/// Terms of two lines of 16 numbers: each is what is nearest to that which those before it leave.
#[inline(always)]
fn split(mut low: [f32; PAIRS], mut high: [f32; PAIRS]) -> Terms {
    let mut terms = [[0; PAIRS]; 3];
    for term in &mut terms {
        for j in 0..PAIRS {
            let (a, b) = (nearest(low[j]), nearest(high[j]));
            term[j] = a.to_bits() >> 16 | b.to_bits();
            low[j] -= a;
            high[j] -= b;
        }
    }
    terms
}

/// 16 numbers of a row from a column on; zeros where there is no such row.
#[inline(always)]
fn line(numbers: &[f32], columns: usize, row: usize, column: usize) -> &[f32; PAIRS] {
    const ZEROS: &[f32; PAIRS] = &[0.0; PAIRS];
    let start = row * columns + column;
    numbers.get(start..start + PAIRS).map_or(ZEROS, |line| line.try_into().expect("as long as asked for"))
}

/// Splits a piece of up to 32 rows of a left factor: 32 numbers of a row, square by square.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
pub(super) fn split_left(rows: &[f32], inner: usize, piece: usize, squares: &mut [Square]) {
    let (square, row) = (piece / SIDE, piece % SIDE);
    let at = |column: usize| *line(rows, inner, row, square * SIDE + column);
    squares[square].set(row / PAIRS, row % PAIRS, split(at(0), at(PAIRS)));
}

/// Splits a piece of 32 columns of a right factor: 16 numbers of two rows, square by square and tile by tile.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
pub(super) fn split_right(
    numbers: &[f32],
    columns: usize,
    column: usize,
    piece: usize,
    squares: &mut [Square],
) {
    let (square, tile, number) = (piece / SIDE, piece / PAIRS % 2, piece % PAIRS);
    let at = |row: usize| *line(numbers, columns, square * SIDE + row, column + tile * PAIRS);
    squares[square].set(tile, number, split(at(number), at(PAIRS + number)));
}

/// Quarters of the tiles of a square.
pub(super) const QUARTERS: usize = 8;

/// Splits a piece of a left factor whose transposed is given, 32 columns of that: a quarter of a tile.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
pub(super) fn split_left_transposed(
    numbers: &[f32],
    columns: usize,
    column: usize,
    piece: usize,
    squares: &mut [Square],
) {
    let (square, tile, quarter) = (piece / QUARTERS, piece / 4 % 2, piece % 4);
    let column = column + tile * PAIRS + 4 * quarter;
    let low = transposed(numbers, columns, square * SIDE, column);
    let high = transposed(numbers, columns, square * SIDE + PAIRS, column);
    squares[square].set_quarter(tile, quarter, low, high);
}

/// Splits a piece of 32 columns of a right factor that are given as rows: a quarter of a tile.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
pub(super) fn split_right_transposed(rows: &[f32], inner: usize, piece: usize, squares: &mut [Square]) {
    let (square, tile, quarter) = (piece / QUARTERS, piece / 4 % 2, piece % 4);
    let column = square * SIDE + 4 * quarter;
    let low = transposed(rows, inner, tile * PAIRS, column);
    let high = transposed(rows, inner, tile * PAIRS, column + PAIRS);
    squares[square].set_quarter(tile, quarter, low, high);
}

/// Four columns of 16 rows: the numbers of the rows i, i + 4, i + 8 and i + 12 are gathered, then four times four of
/// them woven into each other. Rows that are missing are zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn transposed(numbers: &[f32], columns: usize, row: usize, column: usize) -> Quarter {
    let numbers = numbers.get(row * columns + column..).unwrap_or_default();
    let whole = numbers.len() >= (PAIRS - 1) * columns + 4;
    let four = |i: usize| -> __m128 {
        if whole || numbers.len() >= i * columns + 4 {
            // SAFETY: four numbers are there.
            unsafe { _mm_loadu_ps(numbers.as_ptr().add(i * columns)) }
        } else {
            _mm_setzero_ps()
        }
    };
    let gather = |i: usize| -> __m512 {
        let x = _mm512_castps128_ps512(four(i));
        let x = _mm512_insertf32x4::<1>(x, four(i + 4));
        let x = _mm512_insertf32x4::<2>(x, four(i + 8));
        _mm512_insertf32x4::<3>(x, four(i + 12))
    };
    let (a, b, c, d) = (gather(0), gather(1), gather(2), gather(3));
    let lower = |x, y| -> __m512d { _mm512_castps_pd(_mm512_unpacklo_ps(x, y)) };
    let upper = |x, y| -> __m512d { _mm512_castps_pd(_mm512_unpackhi_ps(x, y)) };
    let (ab, cd, ab_upper, cd_upper) = (lower(a, b), lower(c, d), upper(a, b), upper(c, d));
    let lines = [
        _mm512_unpacklo_pd(ab, cd),
        _mm512_unpackhi_pd(ab, cd),
        _mm512_unpacklo_pd(ab_upper, cd_upper),
        _mm512_unpackhi_pd(ab_upper, cd_upper),
    ];
    let mut result = [[0.0; PAIRS]; 4];
    for i in 0..4 {
        // SAFETY: a line is as long as a vector.
        unsafe { _mm512_storeu_pd(result[i].as_mut_ptr().cast(), lines[i]) };
    }
    result
}
