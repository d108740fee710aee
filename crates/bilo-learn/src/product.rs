//! Dense matrix products on slices (the only door to the `gemm` crate) and the loops around them.

use crate::real::Real;

/// A matrix seen in a slice.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// A row-major matrix with so many columns.
    pub(crate) fn new(data: &'a [T], columns: usize) -> Self {
        let rows = data.len() / columns;
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

/// result += factor · left · right, row-major; on the calling thread only, so that the order of
/// summation depends on the shapes alone.
pub(crate) fn add_product<T: Real>(result: &mut [T], factor: f64, left: Matrix<'_, T>, right: Matrix<'_, T>) {
    assert!(result.len() == left.rows * right.columns && left.columns == right.rows, "shapes of a product");
    if result.is_empty() {
        return;
    }
    // SAFETY: the constructor checked that every matrix lies within its slice and the shapes agree;
    // the result is borrowed mutably, so it does not overlap the factors.
    unsafe {
        gemm::gemm(
            left.rows,
            right.columns,
            left.columns,
            result.as_mut_ptr(),
            1,
            right.columns as isize,
            true,
            left.data.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.data.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            T::of(1.0),
            T::of(factor),
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// left · right, row-major.
pub(crate) fn product<T: Real>(left: Matrix<'_, T>, right: Matrix<'_, T>) -> Vec<T> {
    let mut result = vec![T::ZERO; left.rows * right.columns];
    add_product(&mut result, 1.0, left, right);
    result
}

/// Adds every row to the sums.
pub(crate) fn add_rows<T: Real>(sums: &mut [T], rows: &[T]) {
    for row in rows.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
    }
}

/// target *= factors, one by one.
pub(crate) fn multiply<T: Real>(target: &mut [T], factors: &[T]) {
    target.iter_mut().zip(factors).for_each(|(target, &factor)| *target *= factor);
}

/// The numbers in another precision.
pub(crate) fn cast<T: Real, U: Real>(values: &[T]) -> Vec<U> {
    values.iter().map(|value| U::of(value.wide())).collect()
}

/// sums += values, in double precision.
pub(crate) fn add_wide<T: Real>(sums: &mut [f64], values: &[T]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value.wide());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers, with which every order of summation is exact.
    #[test]
    fn products_agree_with_their_definition() {
        let (rows, inner, columns) = (5, 7, 3);
        let left: Vec<f32> = (0..rows * inner).map(|i| ((i * 7) % 11) as f32 - 5.0).collect();
        let right: Vec<f32> = (0..columns * inner).map(|i| ((i * 5) % 13) as f32 - 6.0).collect();
        let mut result = vec![1.0; rows * columns];
        add_product(&mut result, -2.0, Matrix::new(&left, inner), Matrix::new(&right, inner).transposed());
        for (place, value) in result.iter().enumerate() {
            let (row, column) = (place / columns, place % columns);
            let dot: f32 = (0..inner).map(|k| left[row * inner + k] * right[column * inner + k]).sum();
            assert_eq!(*value, 1.0 - 2.0 * dot);
        }
    }
}
