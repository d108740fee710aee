//! Products of f32 matrices by AMX, the tile registers of Intel's processors since Sapphire Rapids.
//!
//! They multiply bf16 numbers only (8 bits of mantissa), but 16 times as many at a time as AVX-512 multiplies
//! f32. And every f32 number is the sum of three bf16 numbers, x = x₀ + x₁ + x₂, of which x₁ is at most 2⁻⁸ and x₂ at
//! most 2⁻¹⁶ of x. So
//!
//! ```text
//! x y = x₀y₀ + (x₀y₁ + x₁y₀) + (x₀y₂ + x₁y₁ + x₂y₀) + at most 2⁻²³ |x y|, 2⁻²⁶ as a rule
//! ```
//!
//! and six products of tiles, whose sums are kept in f32, make one product of f32 matrices as accurate as any other.

mod split;

pub(in crate::packed) use split::Square;

use super::SIDE;
use crate::matrix::{Matrix, MatrixMut};
use split::{Line, PAIRS, QUARTERS, split_left, split_left_transposed, split_right, split_right_transposed};
use std::arch::asm;
use std::cell::Cell;

/// Lays a right factor out: strips of 32 columns, squares from top to bottom.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
pub(super) fn pack(from: Matrix<'_, f32>) -> Vec<Square> {
    let (inner, columns) = (from.rows, from.columns);
    let count = inner / SIDE;
    let mut squares = vec![Square::ZERO; count * (columns / SIDE)];
    for (strip, squares) in squares.chunks_exact_mut(count).enumerate() {
        let column = strip * SIDE;
        if from.column_stride == 1 {
            (0..SIDE * count).for_each(|piece| split_right(from.data, columns, column, piece, squares));
        } else {
            let rows = &from.data[column * inner..(column + SIDE) * inner];
            (0..QUARTERS * count).for_each(|piece| split_right_transposed(rows, inner, piece, squares));
        }
    }
    squares
}

/// result = left · right, or result += left · right, with the left factor row by row.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
pub(super) fn product(result: MatrixMut<'_, f32>, left: &[f32], right: &[Square], inner: usize, add: bool) {
    let (columns, count) = (result.columns, inner / SIDE);
    let mut room = Room::new(2 * count);
    let (mut now, mut next) = room.squares().split_at_mut(count);
    let mut blocks = left.chunks(SIDE * inner);
    let mut rows = blocks.next().unwrap_or_default();
    (0..SIDE * count).for_each(|piece| split_left(rows, inner, piece, now));
    for target in result.data.chunks_mut(SIDE * columns) {
        let real = target.len() / columns;
        rows = blocks.next().unwrap_or_default();
        let pieces = if rows.is_empty() { 0 } else { SIDE * count };
        let mut splitting = Pieces::new(pieces, (columns / SIDE) * count);
        for (strip, right) in right.chunks_exact(count).enumerate() {
            block(now, right, &mut target[strip * SIDE..], columns, real, add, || {
                splitting.some(|piece| split_left(rows, inner, piece, next));
            });
        }
        splitting.rest(|piece| split_left(rows, inner, piece, next));
        std::mem::swap(&mut now, &mut next);
    }
}

/// Rows of an outer product's factors that are split at a time: 32 columns of each stay in the nearest cache.
const CHUNK: usize = 128;

/// result += leftᵀ · right, with both factors row by row.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
pub(super) fn add_outer(result: MatrixMut<'_, f32>, left: &[f32], right: &[f32]) {
    let (width, columns) = (result.rows, result.columns);
    let blocks = width / SIDE;
    for (left, right) in left.chunks(CHUNK * width).zip(right.chunks(CHUNK * columns)) {
        let count = (left.len() / width).div_ceil(SIDE);
        let mut room = Room::new(count * (blocks + 2));
        let (across, strips) = room.squares().split_at_mut(count * blocks);
        let (mut now, mut next) = strips.split_at_mut(count);
        (0..SIDE * count).for_each(|piece| split_right(right, columns, 0, piece, now));
        for column in (0..columns).step_by(SIDE) {
            let after = column + SIDE;
            let pieces = if after < columns { SIDE * count } else { 0 };
            let mut splitting = Pieces::new(pieces, blocks * count);
            for (number, across) in across.chunks_exact_mut(count).enumerate() {
                let row = number * SIDE;
                if column == 0 {
                    (0..QUARTERS * count)
                        .for_each(|piece| split_left_transposed(left, width, row, piece, across));
                }
                block(across, now, &mut result.data[row * columns + column..], columns, SIDE, true, || {
                    splitting.some(|piece| split_right(right, columns, after, piece, next));
                });
            }
            splitting.rest(|piece| split_right(right, columns, after, piece, next));
            std::mem::swap(&mut now, &mut next);
        }
    }
}

/// Splitting, piece by piece: while tiles are multiplied the vector units have nothing else to do, but the processor looks
/// ahead over a few products of tiles only, so that a few pieces must be done between any two of them.
struct Pieces {
    next: usize,
    end: usize,
    /// How many at a time.
    some: usize,
}

impl Pieces {
    /// So many pieces beside the products of so many squares.
    fn new(pieces: usize, squares: usize) -> Self {
        Self { next: 0, end: pieces, some: pieces.div_ceil(PAUSES * squares) }
    }

    #[inline(always)]
    fn some(&mut self, mut split: impl FnMut(usize)) {
        let end = self.end.min(self.next + self.some);
        (self.next..end).for_each(&mut split);
        self.next = end;
    }

    #[inline(always)]
    fn rest(self, split: impl FnMut(usize)) {
        (self.next..self.end).for_each(split);
    }
}

/// Rows of numbers as large as the four tiles of a result.
#[repr(C, align(64))]
struct Corner([f32; SIDE * SIDE]);

/// target (`real` rows, `stride` numbers apart, of 32 numbers) = or += Σ left · right.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
fn block(
    left: &[Square],
    right: &[Square],
    target: &mut [f32],
    stride: usize,
    real: usize,
    add: bool,
    pause: impl FnMut(),
) {
    assert!(left.len() == right.len() && real > 0 && target.len() >= (real - 1) * stride + SIDE);
    if real == SIDE {
        // SAFETY: 32 rows are there.
        unsafe { multiply(left, right, target.as_mut_ptr(), stride, add, pause) };
        return;
    }
    let mut corner = Corner([0.0; SIDE * SIDE]);
    // SAFETY: the corner has 32 rows.
    unsafe { multiply(left, right, corner.0.as_mut_ptr(), SIDE, false, pause) };
    for (target, row) in target.chunks_mut(stride).zip(corner.0.chunks_exact(SIDE)).take(real) {
        for (target, &value) in target.iter_mut().zip(row) {
            *target = if add { *target + value } else { value };
        }
    }
}

/// What the tile registers look like: eight of 16 rows of 64 bytes.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start: u8,
    reserved: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

static CONFIGURATION: Configuration = Configuration {
    palette: 1,
    start: 0,
    reserved: [0; 14],
    bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

thread_local! {
    /// What [`Room`] leaves for the next one.
    static SQUARES: Cell<Vec<Square>> = const { Cell::new(vec![]) };
}

/// Room for squares, and the tile registers: both are given back, the registers so that no one saves them in vain.
struct Room {
    squares: Vec<Square>,
    count: usize,
}

impl Room {
    fn new(count: usize) -> Self {
        let mut squares = SQUARES.take();
        if squares.len() < count {
            squares.resize(count, Square::ZERO);
        }
        // SAFETY: squares are made only where `available` has found AMX, and the configuration is a valid one.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &CONFIGURATION, options(nostack, readonly)) };
        Self { squares, count }
    }

    fn squares(&mut self) -> &mut [Square] {
        &mut self.squares[..self.count]
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
        SQUARES.set(std::mem::take(&mut self.squares));
    }
}

/// Pauses in the products of two squares.
const PAUSES: usize = 6;

/// target = or += Σ left · right: four tiles of the result stay in registers, of the factors two each at a time.
///
/// # Safety
///
/// The tiles are configured, and the target has 32 rows, `stride` numbers apart, of 32 numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
unsafe fn multiply(
    left: &[Square],
    right: &[Square],
    target: *mut f32,
    stride: usize,
    add: bool,
    mut pause: impl FnMut(),
) {
    /// What happens to the registers stays there until the next instruction for tiles: the compiler does not use them.
    macro_rules! tiles {
        ($($text:expr),+; $($operand:tt)*) => {
            // SAFETY: by the contract, and squares are read from their beginning to their end.
            unsafe {
                asm!(
                    $($text,)+
                    $($operand)*
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                )
            }
        };
    }
    /// The two tiles of a term: of the left factor into the registers 4 and 5, of the right one into 6 and 7.
    macro_rules! load {
        ($first:literal, $second:literal, $term:expr) => {
            tiles!(
                concat!("tileloadd tmm", $first, ", [{0} + {1}]"),
                concat!("tileloadd tmm", $second, ", [{0} + {1} + 1024]");
                in(reg) &$term, in(reg) size_of::<Line>(),)
        };
    }
    macro_rules! multiply_and_pause {
        () => {
            tiles!("tdpbf16ps tmm0, tmm4, tmm6", "tdpbf16ps tmm1, tmm4, tmm7",
                "tdpbf16ps tmm2, tmm5, tmm6", "tdpbf16ps tmm3, tmm5, tmm7";);
            pause();
        };
    }
    // SAFETY: by the contract.
    let bottom = unsafe { target.add(PAIRS * stride) };
    let bytes = size_of::<f32>() * stride;
    if add {
        tiles!("tileloadd tmm0, [{0} + {2}]", "tileloadd tmm1, [{0} + {2} + 64]",
            "tileloadd tmm2, [{1} + {2}]", "tileloadd tmm3, [{1} + {2} + 64]";
            in(reg) target, in(reg) bottom, in(reg) bytes,);
    } else {
        tiles!("tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3";);
    }
    // The small ones first, and one factor new each time.
    for (Square(left), Square(right)) in left.iter().zip(right) {
        load!(4, 5, left[2]);
        load!(6, 7, right[0]);
        multiply_and_pause!();
        load!(4, 5, left[1]);
        multiply_and_pause!();
        load!(6, 7, right[1]);
        multiply_and_pause!();
        load!(4, 5, left[0]);
        multiply_and_pause!();
        load!(6, 7, right[2]);
        multiply_and_pause!();
        load!(6, 7, right[0]);
        multiply_and_pause!();
    }
    tiles!("tilestored [{0} + {2}], tmm0", "tilestored [{0} + {2} + 64], tmm1",
        "tilestored [{1} + {2}], tmm2", "tilestored [{1} + {2} + 64], tmm3";
        in(reg) target, in(reg) bottom, in(reg) bytes,);
}
