//! Matrices that are laid out once for many products, and our own kernels for these: [`strips`] of vectors, tiles of
//! `amx`.

#[cfg(target_arch = "x86_64")]
pub(crate) mod amx;
mod strips;

use crate::aligned::Aligned;
use crate::matrix::{Matrix, MatrixMut, product};
use crate::number::Number;
use crate::simd::Simd;
use strips::{Narrow, Outer, Product};

/// Rows and columns of the squares that tile registers multiply.
const SIDE: usize = 32;

/// The side of the squares that a product of these sizes is made of, if it is: then many rows are best whole squares.
pub fn squares<T: Number>(simd: Simd, inner: usize, columns: usize) -> Option<usize> {
    let whole = |length: usize| length > 0 && length.is_multiple_of(SIDE);
    (simd.has_tiles() && size_of::<T>() == 4 && whole(inner) && whole(columns)).then_some(SIDE)
}

/// Most columns of a narrow matrix.
const NARROW: usize = 4;

/// A matrix that many others are multiplied with from the left, laid out for that.
#[derive(Clone, Debug)]
pub struct Packed<T> {
    layout: Layout<T>,
    rows: usize,
    columns: usize,
    simd: Simd,
}

#[derive(Clone, Debug)]
enum Layout<T> {
    /// For tile registers.
    #[cfg(target_arch = "x86_64")]
    Squares(Vec<amx::Square>),
    /// For whole vectors of 16 or of 8 numbers.
    Strips(Aligned<T>),
    /// Transposed: so few columns that each number is a product of two vectors by itself.
    Narrow(Aligned<T>),
    /// Row by row, for the library.
    Rows(Aligned<T>),
}

/// What [`Scalar`](crate::Scalar) is asked for, with as many numbers as a vector of 512 bits has: these functions are compiled here, once
/// for each of the two types.
pub(crate) fn packed<T: Number, const N: usize>(from: Matrix<'_, T>, simd: Simd) -> Packed<T> {
    let (rows, columns) = (from.rows, from.columns);
    Packed { layout: layout::<T, N>(from, simd), rows, columns, simd }
}

fn layout<T: Number, const N: usize>(from: Matrix<'_, T>, simd: Simd) -> Layout<T> {
    #[cfg(target_arch = "x86_64")]
    if let (Some(_), Some(from)) = (squares::<T>(simd, from.rows, from.columns), from.singles()) {
        // SAFETY: `Simd::detect` has found AMX and AVX-512.
        return Layout::Squares(unsafe { amx::pack(from) });
    }
    if simd.has_512_bits() && from.columns.is_multiple_of(N) {
        let mut strips = Aligned::zeros(from.rows * from.columns);
        strips::pack::<T, N>(from, &mut strips);
        Layout::Strips(strips)
    } else if simd.has_512_bits() && from.columns <= NARROW && from.rows.is_multiple_of(N) {
        Layout::Narrow(from.transposed().numbers().collect())
    } else {
        Layout::Rows(from.numbers().collect())
    }
}

/// The product with a matrix that is laid out.
pub(crate) fn product_in<T: Number, const N: usize>(
    result: MatrixMut<'_, T>,
    left: &[T],
    right: &Packed<T>,
    add: bool,
) {
    let &Packed { ref layout, rows: inner, columns, simd } = right;
    assert_eq!((result.rows * inner, result.columns), (left.len(), columns), "shapes of a product");
    match layout {
        #[cfg(target_arch = "x86_64")]
        Layout::Squares(right) => {
            let (result, left) = result.singles().zip(T::singles(left)).expect("squares are of f32 only");
            // SAFETY: `Simd::detect` has found AMX and AVX-512.
            unsafe { amx::product(result, left, right, inner, add) };
        }
        Layout::Strips(right) => simd.run_512(Product::<T, N> { result, left, right, inner, add }),
        Layout::Narrow(right) => simd.run_512(Narrow::<T, N> { result, left, right, inner, add }),
        Layout::Rows(right) => {
            let left = Matrix::new(left, result.rows, inner);
            product(result, left, Matrix::new(right, inner, columns), add);
        }
    }
}

/// The outer product.
pub(crate) fn outer_in<T: Number, const N: usize>(
    result: MatrixMut<'_, T>,
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
    simd: Simd,
) {
    let (width, columns) = (left.columns, right.columns);
    assert!(
        (result.rows, result.columns, left.rows) == (width, columns, right.rows)
            && left.column_stride == 1
            && right.column_stride == 1,
        "shapes of an outer product"
    );
    #[cfg(target_arch = "x86_64")]
    if let (Some(_), Some(left), Some(right)) =
        (squares::<T>(simd, width, columns), T::singles(left.data), T::singles(right.data))
    {
        // SAFETY: `Simd::detect` has found AMX and AVX-512.
        return unsafe { amx::add_outer(result.singles().expect("as the factors"), left, right) };
    }
    let fits = |few: usize, many: usize| {
        (1..=NARROW).contains(&few) && simd.has_512_bits() && many.is_multiple_of(N)
    };
    let (a, b, width, columns, swapped) = if fits(width, columns) {
        (left.data, right.data, width, columns, false)
    } else if fits(columns, width) {
        (right.data, left.data, columns, width, true)
    } else {
        // Neither factor is known before, so the library's way with large ones is as good as any.
        return product(result, left.transposed(), right, true);
    };
    simd.run_512(Outer::<T, N> { result, left: a, right: b, width, columns, swapped });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scalar, add_outer, product_packed};

    /// Small whole numbers, with which every order of summation is exact.
    fn numbers<T: Scalar>(count: usize, seed: usize) -> Vec<T> {
        (0..count).map(|i| T::cast(((i * 7 + seed * 5) % 11) as f64 - 5.0)).collect()
    }

    fn naive<T: Scalar>(start: &[T], left: Matrix<'_, T>, right: Matrix<'_, T>) -> Vec<T> {
        let mut result = start.to_vec();
        for (place, value) in result.iter_mut().enumerate() {
            let (row, column) = (place / right.columns, place % right.columns);
            for k in 0..left.columns {
                let a = left.data[row * left.row_stride + k * left.column_stride];
                *value += a * right.data[k * right.row_stride + column * right.column_stride];
            }
        }
        result
    }

    fn check<T: Scalar + std::fmt::Debug>(simd: Simd, rows: usize, inner: usize, columns: usize) {
        let (left, right) = (numbers::<T>(rows * inner, 1), numbers::<T>(inner * columns, 2));
        let (a, b) = (Matrix::new(&left, rows, inner), Matrix::new(&right, inner, columns));
        let turned: Vec<T> = b.transposed().numbers().collect();
        let turned = Matrix::new(&turned, columns, inner).transposed();
        for (packed, add) in [(b, false), (b, true), (turned, false), (turned, true)] {
            let mut result = numbers::<T>(rows * columns, 3);
            let start = if add { result.clone() } else { vec![T::ZERO; rows * columns] };
            let target = MatrixMut::new(&mut result, rows, columns);
            product_packed(target, &left, &Packed::new(packed, simd), add);
            assert_eq!(result, naive(&start, a, b), "{rows} x {inner} x {columns}, add: {add}");
        }
        let mut result = numbers::<T>(rows * columns, 4);
        let expected = naive(&result, a, b);
        let turned: Vec<T> = a.transposed().numbers().collect();
        let target = MatrixMut::new(&mut result, rows, columns);
        add_outer(target, Matrix::new(&turned, inner, rows), b, simd);
        assert_eq!(result, expected, "outer {rows} x {inner} x {columns}");
    }

    /// The instruction sets that this machine has of those with kernels of their own.
    fn sets() -> Vec<Simd> {
        let best = Simd::detect();
        let mut sets = vec![Simd::BASELINE, best];
        sets.extend(best.without_tiles());
        sets
    }

    /// Sizes around those of blocks, strips and vectors, in both precisions.
    #[test]
    fn products_agree_with_their_definition() {
        for simd in sets() {
            for rows in [1, 2, 3, 4, 5, 6, 7, 14, 16, 32, 48, 64] {
                for inner in [1, 2, 16, 32, 33, 100, 160] {
                    for columns in [1, 2, 4, 5, 8, 16, 24, 32, 48, 64, 80, 128] {
                        check::<f32>(simd, rows, inner, columns);
                        check::<f64>(simd, rows, inner, columns);
                    }
                }
            }
        }
    }

    /// Numbers of all sizes and both signs, with all bits of their mantissas in use.
    fn rough(count: usize, seed: usize) -> Vec<f32> {
        let number = |i: usize| ((i * 7919 + seed * 104_729) as f64).sin() * 2_f64.powi((i % 41) as i32 - 20);
        (0..count).map(|i| number(i) as f32).collect()
    }

    /// A result that is a single product has all the bits of f32, up to the last: a term of the factors that is lost or
    /// goes to a wrong place is about 2⁻¹⁷ of it.
    #[test]
    fn single_products_are_rounded_as_f32_are() {
        const SIZE: usize = 64;
        let (numbers, right) = (rough(SIZE, 1), rough(SIZE * SIZE, 2));
        let mut left = vec![0.0; SIZE * SIZE];
        let source = |row: usize| (row * 37 + 5) % SIZE;
        (0..SIZE).for_each(|row| left[row * SIZE + source(row)] = numbers[row]);
        let turned: Vec<f32> = Matrix::new(&left, SIZE, SIZE).transposed().numbers().collect();
        let (mut result, mut outer) = (vec![0.0; SIZE * SIZE], vec![0.0; SIZE * SIZE]);
        let b = Matrix::new(&right, SIZE, SIZE);
        let packed = Packed::new(b, Simd::detect());
        product_packed(MatrixMut::new(&mut result, SIZE, SIZE), &left, &packed, false);
        let target = MatrixMut::new(&mut outer, SIZE, SIZE);
        add_outer(target, Matrix::new(&turned, SIZE, SIZE), b, Simd::detect());
        for (place, (&result, &outer)) in result.iter().zip(&outer).enumerate() {
            let (row, column) = (place / SIZE, place % SIZE);
            let exact = f64::from(numbers[row]) * f64::from(right[source(row) * SIZE + column]);
            let off = (f64::from(result) - exact).abs().max((f64::from(outer) - exact).abs());
            assert!(off <= 2_f64.powi(-23) * exact.abs(), "{row}, {column}: {result}, {outer} for {exact}");
        }
    }

    /// Sums have the error of a sum of as many f32 numbers, about √n half units of the largest partial sum, however they
    /// are computed.
    #[test]
    fn sums_of_products_are_as_accurate_everywhere() {
        const SIZE: usize = 128;
        let number = |i: usize| (i as f64 * 0.7391).sin() as f32;
        let left: Vec<f32> = (0..SIZE * SIZE).map(number).collect();
        let right: Vec<f32> = (0..SIZE * SIZE).map(|i| number(3 * i + 1)).collect();
        let (a, b) = (Matrix::new(&left, SIZE, SIZE), Matrix::new(&right, SIZE, SIZE));
        let wide = |numbers: &[f32]| -> Vec<f64> { numbers.iter().map(|&x| f64::from(x)).collect() };
        let (wide_left, wide_right) = (wide(&left), wide(&right));
        let exact = naive(
            &[0.0; SIZE * SIZE],
            Matrix::new(&wide_left, SIZE, SIZE),
            Matrix::new(&wide_right, SIZE, SIZE),
        );
        let error = |result: &[f32]| {
            let squares = result.iter().zip(&exact).map(|(&value, exact)| (f64::from(value) - exact).powi(2));
            (squares.sum::<f64>() / exact.len() as f64).sqrt()
        };
        let mut result = vec![0.0; SIZE * SIZE];
        product(MatrixMut::new(&mut result, SIZE, SIZE), a, b, false);
        let library = error(&result);
        product_packed(
            MatrixMut::new(&mut result, SIZE, SIZE),
            &left,
            &Packed::new(b, Simd::detect()),
            false,
        );
        let ours = error(&result);
        assert!(ours < 1.5 * library, "{ours:e} against the library's {library:e}");
    }
}
