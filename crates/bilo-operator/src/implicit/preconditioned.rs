//! Least squares by conjugate gradients, with the factors of a matrix nearby (Björck, Numerical Methods for Least Squares
//! Problems, 1996, section 7.4): an iteration costs two products with the matrix, a factorisation as many as it has columns.

use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, MatRef, Par};

/// Most iterations. Each makes the rest smaller by the relative change of the matrix.
const MOST: usize = 14;

/// Converged when the gradient is smaller by this factor.
const CONVERGED: f64 = 1e-11;

/// The x for each column b that makes |J x - b| smallest, given the factor R of QR of J/D for a matrix nearby and the
/// lengths D of the columns; none if that is not near enough.
pub(super) fn least_squares(
    jacobian: &Mat<f64>,
    upper: MatRef<'_, f64>,
    lengths: &[f64],
    b: &Mat<f64>,
) -> Option<Mat<f64>> {
    let scale = |matrix: &mut Mat<f64>| {
        for k in 0..matrix.ncols() {
            matrix.col_mut(k).iter_mut().zip(lengths).for_each(|(entry, length)| *entry /= length);
        }
    };
    // x = D⁻¹ R⁻¹ z, and the same the other way round.
    let forth = |z: &Mat<f64>| {
        let mut x = z.clone();
        solve_upper_triangular_in_place(upper, x.as_mut(), Par::Seq);
        scale(&mut x);
        x
    };
    let back = |rest: &Mat<f64>| {
        let mut gradient = jacobian.transpose() * rest;
        scale(&mut gradient);
        solve_lower_triangular_in_place(upper.transpose(), gradient.as_mut(), Par::Seq);
        gradient
    };
    let mut found = Mat::zeros(jacobian.ncols(), b.ncols());
    let mut rest = b.clone();
    let mut gradient = back(&rest);
    let mut direction = gradient.clone();
    let first = squares(&gradient);
    let mut size = first.clone();
    for _ in 0..MOST {
        let step = forth(&direction);
        let moved = jacobian * &step;
        let along: Vec<f64> =
            size.iter().zip(squares(&moved)).map(|(size, moved)| ratio(*size, moved)).collect();
        add(&mut found, &along, &step);
        add(&mut rest, &along.iter().map(|along| -along).collect::<Vec<_>>(), &moved);
        gradient = back(&rest);
        let now = squares(&gradient);
        if now.iter().zip(&first).all(|(now, first)| *now <= CONVERGED * CONVERGED * first) {
            return Some(found);
        }
        let keep: Vec<f64> = now.iter().zip(&size).map(|(now, size)| ratio(*now, *size)).collect();
        for (k, keep) in keep.iter().enumerate() {
            direction.col_mut(k).iter_mut().for_each(|entry| *entry *= keep);
        }
        add(&mut direction, &vec![1.0; keep.len()], &gradient);
        size = now;
    }
    None
}

/// A column that is zero stays as it is.
fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// The sum of squares of each column.
fn squares(matrix: &Mat<f64>) -> Vec<f64> {
    matrix.col_iter().map(|column| column.squared_norm_l2()).collect()
}

/// Adds to each column so much of another.
fn add(sum: &mut Mat<f64>, factors: &[f64], terms: &Mat<f64>) {
    for (k, factor) in factors.iter().enumerate() {
        let terms = terms.col(k);
        sum.col_mut(k).iter_mut().zip(terms.iter()).for_each(|(sum, term)| *sum += factor * term);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::linalg::solvers::SolveLstsq;

    /// Monomials at 60 places, whose columns are nearly dependent, moved by a part of themselves.
    fn matrix(moved: f64) -> Mat<f64> {
        Mat::from_fn(60, 8, |i, j| {
            let x = i as f64 / 59.0;
            x.powi(j as i32) * (1.0 + moved * (3.0 * x + j as f64).sin())
        })
    }

    fn solved(moved: f64) -> Option<(Mat<f64>, Mat<f64>)> {
        let b = Mat::from_fn(60, 3, |i, k| ((k + 1) as f64 * i as f64 / 10.0).cos() * f64::from(k < 2));
        let (near, own) = (matrix(0.0).qr(), matrix(moved));
        let found = least_squares(&own, near.thin_R(), &[1.0; 8], &b)?;
        Some((found, own.qr().solve_lstsq(&b)))
    }

    /// The condition number is 1e5, so that QR itself is right to 1e-11 of the solution; a column of zeros stays zero.
    #[test]
    fn it_is_the_least_squares_solution() {
        let (found, exact) = solved(1e-4).expect("nearby");
        for k in 0..2 {
            let size = exact.col(k).norm_l2();
            let apart = (0..8).map(|j| (found[(j, k)] - exact[(j, k)]).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-8 * size, "{apart:e} of {size:e}");
        }
        assert_eq!(found.col(2).norm_l2(), 0.0);
    }

    #[test]
    fn factors_of_another_matrix_are_refused() {
        assert!(solved(0.5).is_none());
    }
}
