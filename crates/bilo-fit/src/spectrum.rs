//! What the data see of the unknowns: the singular value decomposition of the observed values'
//! derivatives by relative changes of the unknowns.

use crate::sensitivities::Sensitivities;
use bilo_problem::{Problem, Unknown};
use faer::Mat;

/// Smallest singular value, relative to the largest, below which unknowns count as inseparable.
const SEPARABLE: f64 = 1e-4;

/// An unknown whose change by its own size moves the observations by less than this share of their
/// size counts as unseen. Rounding leaves less of a derivative that is zero: 3e-13 where terms cancel after
/// 800 time steps.
const SEEN: f64 = 1e-10;

/// Singular values below this part of the largest are zero: columns that depend on each other.
const DEPENDENT: f64 = 1e-10;

/// Derivatives of the observed values by relative changes of the unknowns.
pub struct RelativeSensitivities {
    /// Over all observations, one column per unknown.
    columns: Vec<Vec<f64>>,
    /// The unknowns, by number, that leave a trace in the observations.
    seen: Vec<usize>,
}

impl RelativeSensitivities {
    /// From observed values and their derivatives by eta, at eta, by any solver; changes are in these
    /// units.
    pub fn new(unknowns: &[Unknown], eta: &[f64], units: &[f64], observed: &[Sensitivities]) -> Self {
        let column = |j: usize| -> Vec<f64> {
            let by_eta = units[j] / unknowns[j].theta_slope(eta[j]);
            observed.iter().flat_map(|observed| &observed.slopes[j]).map(|slope| slope * by_eta).collect()
        };
        let columns: Vec<Vec<f64>> = (0..unknowns.len()).map(column).collect();
        let trace = SEEN * norm(observed.iter().flat_map(|observed| &observed.values));
        // What is not a number is not small.
        let unseen = |j: usize| norm(&columns[j]) <= trace;
        let seen = (0..unknowns.len()).filter(|&j| !unseen(j)).collect();
        Self { columns, seen }
    }

    /// The unknowns, by number, that leave no trace in the observations.
    pub fn unseen(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|j| !self.seen.contains(j)).collect()
    }

    /// The decomposition with value i multiplied by a weight; none if that is not finite.
    pub fn spectrum(&self, weight: impl Fn(usize) -> f64) -> Option<Spectrum> {
        let weighted = |&j: &usize| -> Vec<f64> {
            self.columns[j].iter().enumerate().map(|(i, slope)| weight(i) * slope).collect()
        };
        Spectrum::new(&self.seen.iter().map(weighted).collect::<Vec<_>>(), self)
    }
}

/// A singular value decomposition.
pub struct Spectrum {
    /// Largest first; zero for the unknowns that are not seen.
    pub singular_values: Vec<f64>,
    /// The direction of the smallest singular value among the unknowns that are seen.
    pub weakest: Vec<f64>,
    seen: Vec<usize>,
    left: Mat<f64>,
    right: Mat<f64>,
}

impl Spectrum {
    /// Of one column per unknown that is seen.
    fn new(
        columns: &[Vec<f64>],
        RelativeSensitivities { columns: all, seen }: &RelativeSensitivities,
    ) -> Option<Self> {
        if columns.iter().flatten().any(|slope| !slope.is_finite()) {
            return None;
        }
        // Fewer values than unknowns: rows of zeros do not change what the data see.
        let rows = columns.first().map_or(0, Vec::len).max(columns.len());
        let matrix = Mat::from_fn(rows, columns.len(), |i, j| columns[j].get(i).copied().unwrap_or(0.0));
        let svd = matrix.thin_svd().ok()?;
        let (mut singular_values, mut weakest) = (vec![0.0; all.len()], vec![0.0; all.len()]);
        for (place, &unknown) in seen.iter().enumerate() {
            singular_values[place] = svd.S().column_vector()[place];
            weakest[unknown] = svd.V()[(place, seen.len() - 1)];
        }
        let (left, right) = (svd.U().to_owned(), svd.V().to_owned());
        Some(Self { singular_values, weakest, seen: seen.clone(), left, right })
    }

    /// Relative standard deviations of the unknowns if the weighted value i has noise of this standard
    /// deviation. Infinite for the unknowns that are not seen.
    pub fn deviations(&self, noise: impl Fn(usize) -> f64) -> Vec<f64> {
        deviations(&self.covariances(noise))
    }

    /// The covariances of the unknowns' relative errors with that noise: the products of the rows of the pseudo-inverse
    /// with its columns scaled by the noise. Those of unknowns that are not seen are infinite with themselves and not
    /// numbers with others.
    pub fn covariances(&self, noise: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
        // Not zero, so that a direction without a share in an unknown adds nothing to it.
        let singular = |k: usize| self.singular_values[k].max(f64::MIN_POSITIVE);
        let entry = |j: usize, i: usize| -> f64 {
            (0..self.seen.len()).map(|k| self.right[(j, k)] * self.left[(i, k)] / singular(k)).sum()
        };
        let row = |j: usize| -> Vec<f64> { (0..self.left.nrows()).map(|i| entry(j, i) * noise(i)).collect() };
        let rows: Vec<Vec<f64>> = (0..self.seen.len()).map(row).collect();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let count = self.singular_values.len();
        let nothing = |i: usize, j: usize| if i == j { f64::INFINITY } else { f64::NAN };
        let mut covariances: Vec<Vec<f64>> =
            (0..count).map(|i| (0..count).map(|j| nothing(i, j)).collect()).collect();
        for (a, &i) in self.seen.iter().enumerate() {
            for (b, &j) in self.seen.iter().enumerate() {
                covariances[i][j] = product(&rows[a], &rows[b]);
            }
        }
        covariances
    }

    /// A sentence if some combination of the unknowns that are seen leaves no trace in the data.
    pub fn warning(&self, problem: &Problem) -> Option<String> {
        let (first, last) =
            (self.singular_values.first()?, self.singular_values[self.seen.len().checked_sub(1)?]);
        (last <= SEPARABLE * first).then(|| hardly_seen(problem, &self.weakest))
    }
}

/// Weighted columns at unit length, decomposed: what a linear least-squares fit needs.
pub struct LeastSquares {
    /// The columns that are not zero, by number, with their lengths.
    seen: Vec<(usize, f64)>,
    columns: usize,
    weights: Vec<f64>,
    /// Singular values that are not zero, with both vectors of each.
    singular: Vec<(f64, Vec<f64>, Vec<f64>)>,
}

impl LeastSquares {
    /// None if the columns are not finite.
    pub fn new(columns: &[Vec<f64>], weights: &[f64]) -> Option<LeastSquares> {
        let rows = weights.len();
        let length = |column: &Vec<f64>| {
            column.iter().zip(weights).map(|(slope, weight)| (slope * weight).powi(2)).sum::<f64>().sqrt()
        };
        let lengths: Vec<f64> = columns.iter().map(length).collect();
        if lengths.iter().any(|length| !length.is_finite()) {
            return None;
        }
        let seen: Vec<(usize, f64)> =
            lengths.iter().copied().enumerate().filter(|(_, length)| *length > 0.0).collect();
        let matrix = Mat::from_fn(rows.max(seen.len()), seen.len(), |i, j| match i < rows {
            true => columns[seen[j].0][i] * weights[i] / seen[j].1,
            false => 0.0,
        });
        let svd = matrix.thin_svd().ok()?;
        let value = |k: usize| svd.S().column_vector()[k];
        let largest = (0..seen.len()).map(value).fold(0.0, f64::max);
        let vectors = |k: usize| {
            let left = (0..rows).map(|i| svd.U()[(i, k)]).collect();
            (value(k), left, (0..seen.len()).map(|j| svd.V()[(j, k)]).collect())
        };
        let kept = (0..seen.len()).filter(|&k| value(k) > DEPENDENT * largest);
        let singular = kept.map(vectors).collect();
        Some(LeastSquares { seen, columns: columns.len(), weights: weights.to_vec(), singular })
    }

    /// The diagonal of the hat matrix A A⁺: how much of each value's own error its fit takes up.
    pub fn leverages(&self) -> Vec<f64> {
        let leverage = |i: usize| self.singular.iter().map(|(_, left, _)| left[i].powi(2)).sum();
        (0..self.weights.len()).map(leverage).collect()
    }

    /// What the variables move by if the values do.
    pub fn fit(&self, values: &[f64]) -> Vec<f64> {
        let along = |left: &[f64]| -> f64 {
            left.iter().zip(values).zip(&self.weights).map(|((u, value), weight)| u * value * weight).sum()
        };
        let mut moved = vec![0.0; self.columns];
        for (value, left, right) in &self.singular {
            let part = along(left) / value;
            self.seen.iter().zip(right).for_each(|(&(j, length), v)| moved[j] += part * v / length);
        }
        moved
    }
}

/// The smallest singular value of weighted columns at unit length beside the largest; none if they are not finite.
pub fn smallest_ratio(columns: &[Vec<f64>], weights: &[f64]) -> Option<f64> {
    let length = |column: &Vec<f64>| {
        column.iter().zip(weights).map(|(slope, weight)| (slope * weight).powi(2)).sum::<f64>().sqrt()
    };
    let lengths: Vec<f64> = columns.iter().map(length).collect();
    let matrix = Mat::from_fn(weights.len(), columns.len(), |i, j| match lengths[j] > 0.0 {
        true => columns[j][i] * weights[i] / lengths[j],
        false => 0.0,
    });
    let values = matrix.singular_values().ok()?;
    let (first, last) = (values.first()?, values.last()?);
    Some(if columns.len() > weights.len() { 0.0 } else { last / first })
}

/// The square roots of the diagonal.
pub fn deviations(covariances: &[Vec<f64>]) -> Vec<f64> {
    (0..covariances.len()).map(|j| covariances[j][j].sqrt()).collect()
}

/// What to say of a direction among the unknowns that leaves no trace in the data.
pub fn hardly_seen(problem: &Problem, direction: &[f64]) -> String {
    let parts: Vec<String> = (problem.unknowns.iter().zip(direction))
        .filter(|(_, share)| share.abs() > 0.1)
        .map(|(unknown, share)| format!("{share:+.2} {}", unknown.name))
        .collect();
    format!("the data hardly see the combination {} of relative changes", parts.join(" "))
}

fn norm<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values.into_iter().map(|value| value * value).sum::<f64>().sqrt()
}
