//! Regularisers of functions on grids: means over the domain, as for networks, so that weights mean
//! the same for both.

use super::lattice::{Bend, Edge};
use super::{FieldPrior, Lattice};
use crate::diagnostic::Result;
use crate::{Problem, RegulariserKind, UnknownFunction};
use faer::Mat;

/// A regulariser of one unknown function, for values at the nodes of its grid.
pub struct RegulariserOnLattice {
    weight: f64,
    density: Density,
}

enum Density {
    H1 {
        edges: Vec<Edge>,
    },
    H2 {
        bends: Vec<Bend>,
    },
    Tv {
        edges: Vec<Edge>,
        smoothing: f64,
    },
    /// A Gaussian field about values.
    Field {
        mean: Vec<f64>,
        precision: Mat<f64>,
    },
    /// With the part of the domain that each node stands for.
    L2 {
        reference: Vec<f64>,
        shares: Vec<f64>,
    },
}

impl RegulariserOnLattice {
    /// None if the function has no regulariser.
    pub fn new(problem: &Problem, function: &UnknownFunction) -> Result<Option<Self>> {
        let Some(regulariser) = &function.regulariser else { return Ok(None) };
        let lattice = Lattice::new(function);
        let density = match &regulariser.kind {
            RegulariserKind::H1 => Density::H1 { edges: lattice.edges() },
            RegulariserKind::H2 => Density::H2 { bends: lattice.bends() },
            RegulariserKind::Tv { smoothing } => {
                Density::Tv { edges: lattice.edges(), smoothing: *smoothing }
            }
            RegulariserKind::Field(field) => {
                let mean = function.on_nodes(problem, &function.guess)?;
                Density::Field { mean, precision: FieldPrior::required(function, field)?.precision }
            }
            RegulariserKind::L2 { reference } => {
                let reference = reference.as_ref().unwrap_or(&function.guess);
                Density::L2 { reference: function.on_nodes(problem, reference)?, shares: lattice.shares() }
            }
        };
        Ok(Some(Self { weight: regulariser.weight, density }))
    }

    /// Its weight in the loss.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The mean without its weight, and its derivatives by the values.
    pub fn mean(&self, values: &[f64]) -> (f64, Vec<f64>) {
        match &self.density {
            Density::H1 { edges } => over_edges(edges, values, |slope| (slope * slope, 2.0 * slope)),
            Density::H2 { bends } => over_bends(bends, values),
            Density::Tv { edges, smoothing } => over_edges(edges, values, |slope| {
                let rounded = slope.hypot(*smoothing);
                (rounded - smoothing, slope / rounded)
            }),
            Density::Field { mean, precision } => {
                let away = Mat::from_fn(values.len(), 1, |i, _| values[i] - mean[i]);
                let pull = precision * &away;
                let square = (0..values.len()).map(|i| away[(i, 0)] * pull[(i, 0)]).sum();
                (square, (0..values.len()).map(|i| 2.0 * pull[(i, 0)]).collect())
            }
            Density::L2 { reference, shares } => {
                let distances: Vec<f64> =
                    values.iter().zip(reference).map(|(value, other)| value - other).collect();
                let each = distances.iter().zip(shares);
                let slopes = each.clone().map(|(distance, share)| 2.0 * share * distance).collect();
                (each.map(|(distance, share)| share * distance * distance).sum(), slopes)
            }
        }
    }

    /// The matrix Q, entry by entry, with which half the derivatives of the mean are Q x, where x is how far the
    /// values are from those that the regulariser prefers; several entries belong to the same pair. With total variation it depends on the values.
    pub fn form(&self, values: &[f64], entry: &mut dyn FnMut(usize, usize, f64)) {
        match &self.density {
            Density::H1 { edges } => form_of_edges(edges, values, |_| 1.0, entry),
            Density::H2 { bends } => form_of_bends(bends, entry),
            Density::Tv { edges, smoothing } => {
                form_of_edges(edges, values, |slope| 0.5 / slope.hypot(*smoothing), entry);
            }
            Density::Field { precision, .. } => {
                for i in 0..values.len() {
                    (0..values.len()).for_each(|j| entry(i, j, precision[(i, j)]));
                }
            }
            Density::L2 { shares, .. } => {
                shares.iter().enumerate().for_each(|(node, &share)| entry(node, node, share));
            }
        }
    }
}

/// That of a density of the slopes along edges, given by half its derivative over the slope.
fn form_of_edges(
    edges: &[Edge],
    values: &[f64],
    density: impl Fn(f64) -> f64,
    entry: &mut dyn FnMut(usize, usize, f64),
) {
    for &Edge { from, to, length, share } in edges {
        let part = share * density((values[to] - values[from]) / length) / length.powi(2);
        for (i, j, sign) in [(to, to, 1.0), (from, from, 1.0), (to, from, -1.0), (from, to, -1.0)] {
            entry(i, j, sign * part);
        }
    }
}

/// The mean of a density of the slopes along edges, given with its derivative, and the derivatives by the
/// values.
fn over_edges(edges: &[Edge], values: &[f64], density: impl Fn(f64) -> (f64, f64)) -> (f64, Vec<f64>) {
    let (mut mean, mut slopes) = (0.0, vec![0.0; values.len()]);
    for edge in edges {
        let (value, by_slope) = density((values[edge.to] - values[edge.from]) / edge.length);
        mean += edge.share * value;
        slopes[edge.to] += edge.share * by_slope / edge.length;
        slopes[edge.from] -= edge.share * by_slope / edge.length;
    }
    (mean, slopes)
}

/// The second difference of three neighbours.
const SECOND: [f64; 3] = [1.0, -2.0, 1.0];

/// The mean of squares of second derivatives, and its derivatives by the values.
fn over_bends(bends: &[Bend], values: &[f64]) -> (f64, Vec<f64>) {
    let (mut mean, mut slopes) = (0.0, vec![0.0; values.len()]);
    for Bend { nodes, length, share } in bends {
        let area = length * length;
        let second =
            nodes.iter().zip(SECOND).map(|(&node, factor)| factor * values[node]).sum::<f64>() / area;
        mean += share * second * second;
        for (&node, factor) in nodes.iter().zip(SECOND) {
            slopes[node] += 2.0 * share * second * factor / area;
        }
    }
    (mean, slopes)
}

fn form_of_bends(bends: &[Bend], entry: &mut dyn FnMut(usize, usize, f64)) {
    for Bend { nodes, length, share } in bends {
        for (&i, a) in nodes.iter().zip(SECOND) {
            nodes.iter().zip(SECOND).for_each(|(&j, b)| entry(i, j, share * a * b / length.powi(4)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Overrides;
    use std::path::Path;

    /// Q x against half the derivatives of the mean, for every kind.
    #[test]
    fn the_form_is_half_the_derivatives() {
        let text = include_str!("../../../../problems/poisson-variable.toml");
        for kind in ["\"h1\"", "\"h2\"", "\"tv\"", "\"l2\""] {
            let set = vec!["unknown.D.grid.x=7".to_owned(), format!("unknown.D.regularise.kind={kind}")];
            let problem = Problem::from_toml("p", text, Path::new("."), &Overrides::of(set)).unwrap();
            let regulariser = RegulariserOnLattice::new(&problem, &problem.functions[0]).unwrap().unwrap();
            let values: Vec<f64> = (0..7).map(|i| (1.3 * f64::from(i)).sin()).collect();
            // The guess, which values are held to by default, is 1.
            let (x, mut product) = (values.iter().map(|value| value - 1.0).collect::<Vec<_>>(), vec![0.0; 7]);
            regulariser.form(&values, &mut |i, j, entry| product[i] += entry * x[j]);
            for (found, slope) in product.iter().zip(regulariser.mean(&values).1) {
                // Second differences of the size 1 over cells of 1/6 are as large as 1e3.
                let rounding = 1e-15 * slope.abs().max(10.0);
                assert!((found - slope / 2.0).abs() < rounding, "{kind}: {found} and {slope}");
            }
        }
    }

    /// x² on [0, 1] has the second derivative 2 everywhere.
    #[test]
    fn bends_are_second_derivatives() {
        let text = include_str!("../../../../problems/poisson-variable.toml");
        let set = vec!["unknown.D.grid.x=9".to_owned(), "unknown.D.regularise.kind=\"h2\"".to_owned()];
        let problem = Problem::from_toml("p", text, Path::new("."), &Overrides::of(set)).unwrap();
        let regulariser = RegulariserOnLattice::new(&problem, &problem.functions[0]).unwrap().unwrap();
        let squares: Vec<f64> = (0..9).map(|i| (f64::from(i) / 8.0).powi(2)).collect();
        assert!((regulariser.mean(&squares).0 - 4.0).abs() < 1e-12);
    }
}
