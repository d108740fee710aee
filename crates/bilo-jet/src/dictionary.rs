//! Dictionaries: linear combinations of frozen features of the coordinates, which are scaled to [0, 1].

use crate::activation::Activation;
use crate::scalar::Scalar;

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

/// Functions of one coordinate: polynomials T_0, T_1, .. of Chebyshev, or, if it is periodic, waves
/// 1, cos 2πx, sin 2πx, cos 4πx, ..
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// How many.
    pub count: usize,
    /// Whether the coordinate is periodic.
    pub periodic: bool,
}

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
        match self.periodic {
            true => self.waves(x.wide(), table),
            false => self.polynomials(x, table),
        }
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
