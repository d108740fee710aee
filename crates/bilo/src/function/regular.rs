//! Regularisers of functions on grids: means over the domain, as for networks, so that weights mean
//! the same for both.

use super::Lattice;
use crate::diagnostic::Result;
use crate::problem::{Problem, RegulariserKind, UnknownFunction};

/// A regulariser of one unknown function, for values at the nodes of its grid.
pub struct RegulariserOnLattice {
    lattice: Lattice,
    weight: f64,
    density: Density,
}

enum Density {
    H1,
    Tv { smoothing: f64 },
    L2 { reference: Vec<f64> },
}

impl RegulariserOnLattice {
    /// None if the function has no regulariser.
    pub fn new(problem: &Problem, function: &UnknownFunction) -> Result<Option<Self>> {
        let Some(regulariser) = &function.regulariser else { return Ok(None) };
        let lattice = Lattice::new(problem, function);
        let density = match &regulariser.kind {
            RegulariserKind::H1 => Density::H1,
            RegulariserKind::Tv { smoothing } => Density::Tv { smoothing: *smoothing },
            RegulariserKind::L2 { reference } => {
                let reference = reference.as_ref().unwrap_or(&function.guess);
                Density::L2 { reference: function.on_nodes(problem, reference)? }
            }
        };
        Ok(Some(Self { lattice, weight: regulariser.weight, density }))
    }

    /// Its weight in the loss.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The mean without its weight, and its derivatives by the values.
    pub fn mean(&self, values: &[f64]) -> (f64, Vec<f64>) {
        let (mut mean, mut slopes) = (0.0, vec![0.0; values.len()]);
        if let Density::L2 { reference } = &self.density {
            for (node, share) in self.lattice.shares().into_iter().enumerate() {
                let distance = values[node] - reference[node];
                mean += share * distance * distance;
                slopes[node] += 2.0 * share * distance;
            }
            return (mean, slopes);
        }
        for edge in (0..self.lattice.dimensions()).flat_map(|along| self.lattice.edges(along)) {
            let slope = (values[edge.to] - values[edge.from]) / edge.length;
            let (density, by_slope) = self.density_of(slope);
            mean += edge.share * density;
            slopes[edge.to] += edge.share * by_slope / edge.length;
            slopes[edge.from] -= edge.share * by_slope / edge.length;
        }
        (mean, slopes)
    }

    /// The density at a slope along one coordinate, and its derivative.
    fn density_of(&self, slope: f64) -> (f64, f64) {
        match self.density {
            Density::Tv { smoothing } => {
                let rounded = slope.hypot(smoothing);
                (rounded - smoothing, if rounded == 0.0 { 0.0 } else { slope / rounded })
            }
            _ => (slope * slope, 2.0 * slope),
        }
    }
}
