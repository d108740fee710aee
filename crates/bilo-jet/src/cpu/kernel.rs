//! Products of all rows of Jacobians with each other.

use super::crew::Crew;
use super::{Block, cast};
use crate::device::Linearisation;
use crate::program::ResidualProgram;
use crate::scalar::Number;
use crate::tile::{LinearPart, LinearTask, Piece};
use std::sync::Mutex;

/// A piece of a program with its place among all rows.
struct Placed<T> {
    piece: Piece<T>,
    residuals: usize,
    /// Row of the piece's first point for the first residual.
    row: usize,
    /// Rows from one residual to the next.
    stride: usize,
}

/// The residuals of several programs, and J Jᵀ over all their rows: row-major, symmetric to the bit.
pub(super) fn kernel<T: Number>(
    crew: &Crew,
    blocks: &[&Block<T, ResidualProgram>],
    weights: &[f64],
    unknowns: &[f64],
) -> (Vec<Linearisation>, Vec<f64>) {
    let (mut parts, mut placed, mut rows) = (vec![], vec![], 0);
    for block in blocks {
        let (part, pieces) = block.pieces(crew, weights, unknowns);
        let (residuals, stride) = (block.program.residuals, block.points.len());
        placed.extend(pieces.into_iter().map(|piece| {
            let row = rows + piece.first;
            Placed { piece, residuals, row, stride }
        }));
        rows += residuals * stride;
        parts.push(part);
    }
    let gram = Mutex::new(vec![0.0; rows * rows]);
    let pairs: Vec<(usize, usize)> = (0..placed.len()).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
    let place = |scratch: &mut _, (i, j): (usize, usize)| {
        let (left, right) = (&placed[i], &placed[j]);
        let products = left.piece.products(&right.piece, (left.residuals, right.residuals), scratch);
        // Every entry belongs to one pair: the order of pairs does not matter.
        let gram = &mut gram.lock().expect("no holder panicked");
        for (number, product) in products.iter().enumerate() {
            let (q, other) = (number / right.residuals, number % right.residuals);
            let corner = (left.row + q * left.stride, right.row + other * right.stride);
            write_symmetric(gram, rows, corner, product, right.piece.points);
        }
    };
    crew.each_with(pairs.into_iter(), Default::default, place);
    (parts, gram.into_inner().expect("no holder panicked"))
}

/// Writes a part of a symmetric matrix and its mirror image; where these overlap, what stands below the
/// diagonal counts.
fn write_symmetric<T: Number>(
    matrix: &mut [f64],
    size: usize,
    (top, left): (usize, usize),
    part: &[T],
    width: usize,
) {
    for (row, values) in part.chunks_exact(width).enumerate() {
        let values = if top == left { &values[..=row] } else { values };
        let target = &mut matrix[(top + row) * size + left..][..values.len()];
        target.iter_mut().zip(values).for_each(|(target, value)| *target = value.wide());
    }
    for column in 0..width {
        // Row by row of the image: its rows lie far apart.
        let first = if top == left { column } else { 0 };
        let values = part[column..].iter().step_by(width).skip(first);
        let target = &mut matrix[(left + column) * size + top + first..];
        target.iter_mut().zip(values).for_each(|(target, value)| *target = value.wide());
    }
}

impl<T: Number> Block<T, ResidualProgram> {
    /// The residuals with their derivatives by the unknowns, and the factors of those by the weights.
    fn pieces(&self, crew: &Crew, weights: &[f64], unknowns: &[f64]) -> (Linearisation, Vec<Piece<T>>) {
        let task = LinearTask { weights: self.points.weights(weights), unknowns: cast(unknowns) };
        let mut result = self.zero_linearisation(unknowns.len(), false);
        let length = self.points.tiles_of_piece();
        let mut tiles = self.parts_by_tile(&mut result).into_iter();
        let number = self.points.tiles().div_ceil(length);
        let parts: Vec<Vec<LinearPart<'_>>> =
            (0..number).map(|_| tiles.by_ref().take(length).collect()).collect();
        let pieces = self.map_parts(crew, parts, |number, runner, parts| {
            let mut piece = self.points.piece(number, self.program.residuals);
            for (tile, part) in (number * length..).zip(parts) {
                task.run(&self.program, &self.points, tile, runner, part);
                self.points.fill_piece(tile, runner, &mut piece);
            }
            piece
        });
        (result, pieces)
    }
}
