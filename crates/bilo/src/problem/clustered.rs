//! Points that are denser towards the ends of the domain, where polynomials need them, and their weights.

use super::model::{Coordinate, Layout, Points, Problem};
use crate::diagnostic::Result;
use bilo_jet::PointSource;

/// Nodes for each polynomial along a coordinate: enough for a stable fit by least squares.
const NODES_PER_MODE: usize = 2;

/// Weights of points in a mean over them. Equal ones are not stored: a grid of any size takes no memory.
pub(crate) enum PlaceWeights {
    /// So many points that count alike.
    Equal(usize),
    /// One weight for each point, of sum one.
    Each(Vec<f64>),
}

impl Points {
    /// The points in place of a grid for functions with so many modes along each coordinate, with weights
    /// that make a sum over them the mean over the domain. Points that are no grid stay as they are.
    pub(crate) fn clustered(
        &self,
        problem: &Problem,
        modes: &[usize],
        seed: u64,
    ) -> Result<(PointSource, PlaceWeights)> {
        if !matches!(self.layout, Layout::Grid(_)) {
            let points = self.source(problem, seed)?;
            let weights = PlaceWeights::Equal(points.len());
            return Ok((points, weights));
        }
        let axes: Vec<Vec<f64>> = (problem.coordinates.iter().enumerate().zip(modes))
            .map(|((number, coordinate), &modes)| match self.held(number) {
                Some(values) => values.clone(),
                None => coordinate.clustered_axis(NODES_PER_MODE * modes),
            })
            .collect();
        let points = self.kept(problem, PointSource::grid(axes.clone()))?;
        let mut weights = vec![1.0; points.len()];
        for (axis, column) in axes.iter().zip(points.columns(0..points.len())) {
            let widths = widths(axis);
            for (weight, x) in weights.iter_mut().zip(column) {
                *weight *= widths[axis.partition_point(|node| *node < x)];
            }
        }
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Ok((points, PlaceWeights::Each(weights)))
    }
}

impl Coordinate {
    /// The extrema of a Chebyshev polynomial, both ends among them; equidistant if it is periodic.
    fn clustered_axis(&self, count: usize) -> Vec<f64> {
        if self.periodic {
            return self.axis(count);
        }
        let angle = |i: usize| std::f64::consts::PI * i as f64 / (count - 1) as f64;
        (0..count).map(|i| self.at_fraction(0.5 - 0.5 * angle(i).cos())).collect()
    }
}

/// Half the distance between the neighbours of each node, or to the one neighbour at an end.
fn widths(axis: &[f64]) -> Vec<f64> {
    if axis.len() < 2 {
        return vec![1.0; axis.len()];
    }
    let last = axis.len() - 1;
    (0..=last).map(|i| 0.5 * (axis[(i + 1).min(last)] - axis[i.saturating_sub(1)])).collect()
}
