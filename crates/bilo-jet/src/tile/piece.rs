//! The rows of a Jacobian at neighbouring tiles, as factors.

use super::{Points, TileRunner};
use crate::scalar::Number;
use crate::sweep::{Factors, Scratch};

/// Rows of all components of a piece, about: products of matrices of this size run at full speed, and their
/// results stay in a core's second-level cache.
const ROWS: usize = 192;

/// Some neighbouring tiles.
pub(crate) struct Piece<T> {
    /// Its first point.
    pub(crate) first: usize,
    /// Number of points.
    pub(crate) points: usize,
    /// By network; nothing for those that the lower level does not move here.
    networks: Vec<Option<Factors<T>>>,
}

impl<T: Number> Points<T> {
    /// How many tiles make a piece.
    pub(crate) fn tiles_of_piece(&self) -> usize {
        let components = self.carriers.iter().map(|carrier| carrier.network.plan().len()).max().unwrap_or(1);
        (ROWS / (components * self.tile)).max(1)
    }

    /// The piece number so, with room for the factors of Q residuals.
    pub(crate) fn piece(&self, number: usize, residuals: usize) -> Piece<T> {
        let length = self.tiles_of_piece() * self.tile;
        let first = number * length;
        let points = length.min(self.len() - first);
        let mut networks: Vec<Option<Factors<T>>> = self.carriers.iter().map(|_| None).collect();
        for (number, carrier) in self.moved() {
            networks[number] = Some(carrier.network.factors(points, residuals));
        }
        Piece { first, points, networks }
    }

    /// Writes a tile of the piece, whose adjoints λ_q have been swept back.
    pub(crate) fn fill_piece(&self, tile: usize, runner: &TileRunner<T>, piece: &mut Piece<T>) {
        let (start, real) = self.range(tile);
        for (number, carrier) in self.moved() {
            let factors = piece.networks[number].as_mut().expect("made for all that are moved");
            carrier.network.fill_factors(&runner.rooms[number].work, start - piece.first, real, factors);
        }
    }
}

impl<T: Number> Piece<T> {
    /// Products of all rows with those of another piece, perhaps of another program: by the residuals of this and of
    /// the other, a matrix over the points of this and of the other.
    pub(crate) fn products(
        &self,
        other: &Self,
        residuals: (usize, usize),
        scratch: &mut Scratch<T>,
    ) -> Vec<Vec<T>> {
        let mut products = vec![vec![T::default(); self.points * other.points]; residuals.0 * residuals.1];
        for (own, others) in self.networks.iter().zip(&other.networks) {
            if let (Some(own), Some(others)) = (own, others) {
                own.add_products(others, scratch, &mut products);
            }
        }
        products
    }
}
