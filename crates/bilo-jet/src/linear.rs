//! Dense matrix products on slices: the only door to the `gemm` crate.

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
pub(crate) fn product<T: crate::scalar::Scalar>(
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
