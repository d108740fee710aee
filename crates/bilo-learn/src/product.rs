//! Products of matrices in slices, and the loops around them.

use bilo_linear::{Matrix, MatrixMut, Scalar};

/// result += factor · left · right, row-major.
pub(crate) fn add_product<T: Scalar>(
    result: &mut [T],
    factor: f64,
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
) {
    let result = MatrixMut::new(result, left.rows(), right.columns());
    bilo_linear::add_product(result, factor, left, right);
}

/// left · right, row-major.
pub(crate) fn product<T: Scalar>(left: Matrix<'_, T>, right: Matrix<'_, T>) -> Vec<T> {
    let mut result = vec![T::ZERO; left.rows() * right.columns()];
    add_product(&mut result, 1.0, left, right);
    result
}

/// Adds every row to the sums.
pub(crate) fn add_rows<T: Scalar>(sums: &mut [T], rows: &[T]) {
    for row in rows.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
    }
}

/// target *= factors, one by one.
pub(crate) fn multiply<T: Scalar>(target: &mut [T], factors: &[T]) {
    target.iter_mut().zip(factors).for_each(|(target, &factor)| *target *= factor);
}

/// The numbers in another precision.
pub(crate) fn cast<T: Scalar, U: Scalar>(values: &[T]) -> Vec<U> {
    values.iter().map(|value| U::cast(value.wide())).collect()
}

/// sums += values, in double precision.
pub(crate) fn add_wide<T: Scalar>(sums: &mut [f64], values: &[T]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value.wide());
}
