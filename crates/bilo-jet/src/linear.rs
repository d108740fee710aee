//! Dense matrix products on slices: the only door to the `gemm` crate, and beside it our own kernels for
//! the products of a training step ([`strips`]).

mod strips;

use crate::scalar::Scalar;
use crate::simd::Simd;
use strips::{Narrow, Outer, Product};

/// A matrix seen in a slice.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

/// A row-major matrix that is written.
pub(crate) struct MatrixMut<'a, T> {
    data: &'a mut [T],
    rows: usize,
    columns: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// A row-major matrix.
    pub(crate) fn new(data: &'a [T], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "shape of a matrix");
        Self { data, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// The transposed matrix, without moving anything.
    pub(crate) fn transposed(self) -> Self {
        Self {
            data: self.data,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }
}

impl<'a, T> MatrixMut<'a, T> {
    /// A row-major matrix.
    pub(crate) fn new(data: &'a mut [T], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "shape of a matrix");
        Self { data, rows, columns }
    }
}

/// result = left · right, or result += left · right; on the calling thread only.
pub(crate) fn product<T: Scalar>(
    result: MatrixMut<'_, T>,
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
    add: bool,
) {
    assert!(
        result.rows == left.rows && result.columns == right.columns && left.columns == right.rows,
        "shapes of a product"
    );
    if result.rows == 0 || result.columns == 0 {
        return;
    }
    // SAFETY: the constructors checked that every matrix lies within its slice and the shapes agree;
    // the result is borrowed mutably, so it does not overlap the factors.
    unsafe {
        gemm::gemm(
            result.rows,
            result.columns,
            left.columns,
            result.data.as_mut_ptr(),
            1,
            result.columns as isize,
            add,
            left.data.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.data.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            T::cast(1.0),
            T::cast(1.0),
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// Who computes a product with so many columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Whole vectors of 16 or of 8 numbers.
    Strips,
    /// So few columns that each number is a product of two vectors by itself.
    Narrow,
    Library,
}

/// Most columns of a narrow matrix.
const NARROW: usize = 4;

fn way<T>(simd: Simd, inner: usize, columns: usize) -> Way {
    let vector = 64 / size_of::<T>();
    match simd {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 if columns.is_multiple_of(vector) => Way::Strips,
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 if columns <= NARROW && inner.is_multiple_of(vector) => Way::Narrow,
        _ => Way::Library,
    }
}

/// A matrix that many others are multiplied with from the left, laid out for that.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    simd: Simd,
}

impl<'a, T: Scalar> Packed<'a, T> {
    /// What [`pack`] has written.
    pub(crate) fn new(data: &'a [T], rows: usize, columns: usize, simd: Simd) -> Self {
        assert_eq!(data.len(), rows * columns, "shape of a matrix");
        Self { data, rows, columns, simd }
    }
}

/// Lays a matrix out for [`product_packed`].
pub(crate) fn pack<T: Scalar>(from: Matrix<'_, T>, to: &mut [T], simd: Simd) {
    assert_eq!(to.len(), from.rows * from.columns, "shape of a matrix");
    let from = match way::<T>(simd, from.rows, from.columns) {
        Way::Strips if size_of::<T>() == 4 => return strips::pack::<T, 16>(from, to),
        Way::Strips => return strips::pack::<T, 8>(from, to),
        Way::Narrow => from.transposed(),
        Way::Library => from,
    };
    for (number, row) in to.chunks_exact_mut(from.columns.max(1)).enumerate() {
        for (column, value) in row.iter_mut().enumerate() {
            *value = from.data[number * from.row_stride + column * from.column_stride];
        }
    }
}

/// result = left · right, or result += left · right, with the left factor row by row.
pub(crate) fn product_packed<T: Scalar>(
    result: MatrixMut<'_, T>,
    left: &[T],
    right: Packed<'_, T>,
    add: bool,
) {
    let Packed { data, rows: inner, columns, simd } = right;
    assert_eq!((result.rows * inner, result.columns), (left.len(), columns), "shapes of a product");
    let wide = size_of::<T>() == 4;
    match way::<T>(simd, inner, columns) {
        Way::Strips if wide => simd.run(Product::<T, 16> { result, left, right: data, inner, add }),
        Way::Strips => simd.run(Product::<T, 8> { result, left, right: data, inner, add }),
        Way::Narrow if wide => simd.run(Narrow::<T, 16> { result, left, right: data, inner, add }),
        Way::Narrow => simd.run(Narrow::<T, 8> { result, left, right: data, inner, add }),
        Way::Library => {
            let left = Matrix::new(left, result.rows, inner);
            product(result, left, Matrix::new(data, inner, columns), add);
        }
    }
}

/// result += leftᵀ · right.
pub(crate) fn add_outer<T: Scalar>(
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
    let fits =
        |few: usize, many: usize| (1..=NARROW).contains(&few) && way::<T>(simd, 0, many) == Way::Strips;
    let (a, b, width, columns, swapped) = if fits(width, columns) {
        (left.data, right.data, width, columns, false)
    } else if fits(columns, width) {
        (right.data, left.data, columns, width, true)
    } else {
        // Neither factor is known before, so the library's way with large ones is as good as any.
        return product(result, left.transposed(), right, true);
    };
    if size_of::<T>() == 4 {
        simd.run(Outer::<T, 16> { result, left: a, right: b, width, columns, swapped });
    } else {
        simd.run(Outer::<T, 8> { result, left: a, right: b, width, columns, swapped });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut packed = vec![T::ZERO; inner * columns];
        pack(b, &mut packed, simd);
        for add in [false, true] {
            let mut result = numbers::<T>(rows * columns, 3);
            let start = if add { result.clone() } else { vec![T::ZERO; rows * columns] };
            let target = MatrixMut::new(&mut result, rows, columns);
            product_packed(target, &left, Packed::new(&packed, inner, columns, simd), add);
            assert_eq!(result, naive(&start, a, b), "{rows} x {inner} x {columns}, add: {add}");
        }
        let mut result = numbers::<T>(rows * columns, 4);
        let expected = naive(&result, a, b);
        let turned = numbers::<T>(rows * inner, 1);
        let turned: Vec<T> = (0..rows * inner).map(|i| turned[i % rows * inner + i / rows]).collect();
        let target = MatrixMut::new(&mut result, rows, columns);
        add_outer(target, Matrix::new(&turned, inner, rows), b, simd);
        assert_eq!(result, expected, "outer {rows} x {inner} x {columns}");
    }

    /// Sizes around those of blocks, strips and vectors, in both precisions.
    #[test]
    fn products_agree_with_their_definition() {
        for simd in [Simd::detect(), Simd::Baseline] {
            for rows in [1, 2, 3, 4, 5, 6, 7, 14, 16, 48] {
                for inner in [1, 2, 16, 33, 100] {
                    for columns in [1, 2, 4, 5, 8, 16, 24, 32, 48, 64, 80, 128] {
                        check::<f32>(simd, rows, inner, columns);
                        check::<f64>(simd, rows, inner, columns);
                    }
                }
            }
        }
    }
}
