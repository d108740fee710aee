//! Matrices seen in slices, and their products: the only door to the `gemm` crate.

use crate::number::Number;

/// A matrix seen in a slice.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) row_stride: usize,
    pub(crate) column_stride: usize,
}

/// A row-major matrix that is written.
#[derive(Debug)]
pub struct MatrixMut<'a, T> {
    pub(crate) data: &'a mut [T],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// A row-major matrix.
    pub fn new(data: &'a [T], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "shape of a matrix");
        Self { data, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// A row-major matrix with so many columns.
    pub fn with_columns(data: &'a [T], columns: usize) -> Self {
        Self::new(data, data.len() / columns, columns)
    }

    /// The transposed matrix, without moving anything.
    pub fn transposed(self) -> Self {
        Self {
            data: self.data,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The matrix itself, if it is one of f32.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn singles(self) -> Option<Matrix<'a, f32>>
    where
        T: Number,
    {
        let Self { data, rows, columns, row_stride, column_stride } = self;
        T::singles(data).map(|data| Matrix { data, rows, columns, row_stride, column_stride })
    }

    /// All numbers, row by row.
    pub(crate) fn numbers(self) -> impl Iterator<Item = T>
    where
        T: Copy,
    {
        let row = move |row: usize| (0..self.columns).map(move |column| (row, column));
        (0..self.rows)
            .flat_map(row)
            .map(move |(row, column)| self.data[row * self.row_stride + column * self.column_stride])
    }
}

impl<'a, T> MatrixMut<'a, T> {
    /// A row-major matrix.
    pub fn new(data: &'a mut [T], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "shape of a matrix");
        Self { data, rows, columns }
    }

    /// The matrix itself, if it is one of f32.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn singles(self) -> Option<MatrixMut<'a, f32>>
    where
        T: Number,
    {
        let Self { data, rows, columns } = self;
        T::singles_mut(data).map(|data| MatrixMut { data, rows, columns })
    }
}

/// result = left · right, or result += left · right.
pub fn product<T: Number>(result: MatrixMut<'_, T>, left: Matrix<'_, T>, right: Matrix<'_, T>, add: bool) {
    multiply(result, T::ONE, left, right, add);
}

/// result += factor · left · right.
pub fn add_product<T: Number>(
    result: MatrixMut<'_, T>,
    factor: f64,
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
) {
    multiply(result, T::cast(factor), left, right, true);
}

fn multiply<T: Number>(
    result: MatrixMut<'_, T>,
    factor: T,
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
            T::ONE,
            factor,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers, with which every order of summation is exact.
    #[test]
    fn products_with_a_factor_agree_with_their_definition() {
        let (rows, inner, columns) = (5, 7, 3);
        let left: Vec<f32> = (0..rows * inner).map(|i| ((i * 7) % 11) as f32 - 5.0).collect();
        let right: Vec<f32> = (0..columns * inner).map(|i| ((i * 5) % 13) as f32 - 6.0).collect();
        let mut result = vec![1.0; rows * columns];
        let (a, b) = (Matrix::with_columns(&left, inner), Matrix::with_columns(&right, inner));
        add_product(MatrixMut::new(&mut result, rows, columns), -2.0, a, b.transposed());
        for (place, value) in result.iter().enumerate() {
            let (row, column) = (place / columns, place % columns);
            let dot: f32 = (0..inner).map(|k| left[row * inner + k] * right[column * inner + k]).sum();
            assert_eq!(*value, 1.0 - 2.0 * dot);
        }
    }
}
