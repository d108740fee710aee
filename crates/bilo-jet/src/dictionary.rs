//! Dictionaries: linear combinations of frozen features of the coordinates, which are scaled to [0, 1].

use crate::activation::Activation;
use bilo_linear::Scalar;

/// Shape of a dictionary.
#[derive(Clone, Debug, PartialEq)]
pub struct DictionarySpec {
    /// Coordinates and functions of them.
    pub coordinates: usize,
    /// Outputs, each a linear combination of the same features.
    pub outputs: usize,
    /// The features.
    pub features: Features,
}

/// Features of the coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// All products of functions of one coordinate each.
    Tensor(Vec<Axis>),
    /// Functions that vary along one direction each.
    Ridge(Ridge),
}

/// Functions of one coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// How many.
    pub count: usize,
    /// Which.
    pub family: Family,
}

/// Families of functions of one coordinate in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The polynomials T_0, T_1, .. of Chebyshev.
    Chebyshev,
    /// 1, cos 2πx, sin 2πx, cos 4πx, .., of a periodic coordinate.
    Waves,
    /// Cubic B-splines: equal cells, three fewer than splines, and each spline lives on four of them, those at the
    /// ends partly outside.
    Splines,
}

/// Splines that do not vanish on a cell.
const OVERLAP: usize = 4;

/// s(w·(x - c)) with random slopes w, and points c inside the domain: there the function varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ridge {
    /// s.
    pub activation: Activation,
    /// How many.
    pub count: usize,
    /// Largest slope along a coordinate.
    pub scale: f64,
}

impl Axis {
    /// The derivatives of order 0 to `orders - 1` of all functions at x, order by order.
    pub(crate) fn derivatives<T: Scalar>(&self, x: T, orders: usize, table: &mut Vec<T>) {
        table.clear();
        table.resize(orders * self.count, T::ZERO);
        match self.family {
            Family::Waves => self.waves(x.wide(), table),
            Family::Chebyshev => self.polynomials(x, table),
            Family::Splines => {
                let (first, pieces) = self.pieces(x.wide());
                for (order, row) in table.chunks_exact_mut(self.count).enumerate() {
                    for (value, piece) in row[first..].iter_mut().zip(&pieces) {
                        *value = T::cast(self.derivative(piece, order));
                    }
                }
            }
        }
    }

    /// The first of the functions that do not vanish around x, and the derivatives of order 0 to `orders - 1` of
    /// each of these, order by order.
    pub fn around(&self, x: f64, orders: usize) -> (usize, Vec<f64>) {
        if self.family != Family::Splines {
            let mut table = vec![];
            self.derivatives(x, orders, &mut table);
            return (0, table);
        }
        let (first, pieces) = self.pieces(x);
        let table = (0..orders).flat_map(|order| pieces.map(|piece| self.derivative(&piece, order)));
        (first, table.collect())
    }

    /// How many functions do not vanish around a place.
    pub fn overlap(&self) -> usize {
        if self.family == Family::Splines { OVERLAP } else { self.count }
    }

    fn cells(&self) -> usize {
        self.count - (OVERLAP - 1)
    }

    /// The cell of x, which is the first of its splines, and the value, slope, second and third derivative of each of
    /// these in units of cells.
    fn pieces(&self, x: f64) -> (usize, [[f64; 4]; OVERLAP]) {
        let place = x * self.cells() as f64;
        let cell = (place.max(0.0) as usize).min(self.cells() - 1);
        let s = place - cell as f64;
        let r = 1.0 - s;
        let pieces = [
            [r * r * r / 6.0, -r * r / 2.0, r, -1.0],
            [2.0 / 3.0 - s * s * (1.0 - s / 2.0), s * (1.5 * s - 2.0), 3.0 * s - 2.0, 3.0],
            [2.0 / 3.0 - r * r * (1.0 - r / 2.0), -r * (1.5 * r - 2.0), 3.0 * r - 2.0, -3.0],
            [s * s * s / 6.0, s * s / 2.0, s, 1.0],
        ];
        (cell, pieces)
    }

    /// A derivative of a spline by x.
    fn derivative(&self, piece: &[f64; 4], order: usize) -> f64 {
        piece.get(order).map_or(0.0, |piece| piece * (self.cells() as f64).powi(order as i32))
    }

    /// T_n^(k)(y) at y = 2x - 1 by T_{n+1}^(k) = 2 y T_n^(k) + 2 k T_n^(k-1) - T_{n-1}^(k), times 2^k.
    fn polynomials<T: Scalar>(&self, x: T, table: &mut [T]) {
        let y = T::cast(2.0) * x - T::cast(1.0);
        let mut below: Vec<T> = vec![];
        for (k, row) in table.chunks_exact_mut(self.count).enumerate() {
            let factor = T::cast(4.0 * k as f64);
            for n in 0..self.count {
                row[n] = match (n, k) {
                    (0, 0) => T::cast(1.0),
                    (1, 0) => y,
                    (1, 1) => T::cast(2.0),
                    (0 | 1, _) => T::ZERO,
                    _ => {
                        let lower = below.get(n - 1).map_or(T::ZERO, |&value| factor * value);
                        T::cast(2.0) * y * row[n - 1] + lower - row[n - 2]
                    }
                };
            }
            below = row.to_vec();
        }
    }

    fn waves<T: Scalar>(&self, x: f64, table: &mut [T]) {
        for (k, row) in table.chunks_exact_mut(self.count).enumerate() {
            for (n, value) in row.iter_mut().enumerate() {
                let frequency = std::f64::consts::TAU * n.div_ceil(2) as f64;
                // A sine is a cosine a quarter turn late, a derivative a quarter turn early.
                let late = if n > 0 && n.is_multiple_of(2) { 1.0 } else { 0.0 };
                let angle = frequency * x + (k as f64 - late) * std::f64::consts::FRAC_PI_2;
                *value = T::cast(frequency.powi(k as i32) * angle.cos());
            }
        }
    }
}
