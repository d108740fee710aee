//! Nodes of integrals over the domain, and whether they move.

use crate::diagnostic::Result;
use crate::evaluate::points::place_at;
use crate::model::likelihood::{Likelihood, Quadrature};
use crate::model::problem::Problem;

/// Nodes of a quadrature and their weights.
pub struct Nodes {
    /// One column per coordinate of the problem.
    pub coordinates: Vec<Vec<f64>>,
    /// Their sum is the volume.
    pub weights: Vec<f64>,
}

impl Likelihood {
    /// Whether the places where it is evaluated move with unknowns.
    pub fn moves_with_unknowns(&self, problem: &Problem) -> bool {
        let Likelihood::PoissonProcess { quadrature, .. } = self else { return false };
        quadrature.breaks.iter().any(|(_, place)| place.names_any(&problem.unknowns))
    }
}

impl Quadrature {
    /// The nodes at some values of the unknowns.
    pub fn nodes(&self, problem: &Problem, thetas: &[f64]) -> Result<Nodes> {
        let mut nodes = Nodes { coordinates: vec![], weights: vec![1.0] };
        for number in 0..problem.coordinates.len() {
            let axis = match self.at.iter().find(|(held, _)| *held == number) {
                Some((_, values)) => values.iter().map(|&value| (value, 1.0)).collect(),
                None => self.axis(number, problem, thetas)?,
            };
            nodes.extend(&axis);
        }
        Ok(nodes)
    }

    /// Nodes and weights along one coordinate.
    fn axis(&self, number: usize, problem: &Problem, thetas: &[f64]) -> Result<Vec<(f64, f64)>> {
        let coordinate = &problem.coordinates[number];
        let mut ends = vec![coordinate.lo, coordinate.hi];
        for (_, place) in self.breaks.iter().filter(|(along, _)| *along == number) {
            let place = place_at(place, &problem.constants, &problem.unknowns, thetas)?;
            if coordinate.lo < place && place < coordinate.hi {
                ends.push(place);
            }
        }
        ends.sort_by(f64::total_cmp);
        let wanted = self.nodes.iter().find(|(along, _)| *along == number).map_or(2, |(_, nodes)| *nodes);
        let cell = 2.0 * (coordinate.hi - coordinate.lo) / wanted as f64;
        let mut axis = vec![];
        for piece in ends.windows(2) {
            // As many cells as the piece is long, not one too many by rounding.
            let cells = ((piece[1] - piece[0]) / cell - 1e-9).ceil().max(1.0);
            let half = (piece[1] - piece[0]) / cells / 2.0;
            for number in 0..cells as usize {
                let centre = piece[0] + half * (2 * number + 1) as f64;
                axis.extend([-1.0, 1.0].map(|side| (centre + side * half / f64::sqrt(3.0), half)));
            }
        }
        Ok(axis)
    }
}

impl Nodes {
    /// Every node so far with every one of an axis, the latter running fastest.
    fn extend(&mut self, axis: &[(f64, f64)]) {
        for column in &mut self.coordinates {
            *column = column.iter().flat_map(|&x| std::iter::repeat_n(x, axis.len())).collect();
        }
        self.coordinates.push(self.weights.iter().flat_map(|_| axis.iter().map(|(x, _)| *x)).collect());
        self.weights = self.weights.iter().flat_map(|w| axis.iter().map(move |(_, a)| w * a)).collect();
    }
}
