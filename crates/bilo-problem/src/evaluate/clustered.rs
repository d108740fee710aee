//! Points where a dictionary needs them, denser towards the ends of the domain for polynomials, and their weights.

use crate::diagnostic::Result;
use crate::model::{Coordinate, Layout, Points, Problem};
use crate::settings::Basis;
use bilo_jet::PointSource;

/// Nodes for each polynomial along a coordinate: enough for a stable fit by least squares.
const NODES_PER_MODE: usize = 2;

/// Gauss's two points of a cell from its middle, in cells.
const GAUSS: f64 = 0.288_675_134_594_812_9;

/// Weights of points in a mean over them. Equal ones are not stored: a grid of any size takes no memory.
pub enum PlaceWeights {
    /// So many points that count alike.
    Equal(usize),
    /// One weight for each point, of sum one.
    Each(Vec<f64>),
}

impl Points {
    /// The points in place of a grid for functions with so many modes along each coordinate, with weights
    /// that make a sum over them the mean over the domain. Points that are no grid stay as they are.
    pub fn clustered(
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
        let splines = problem.operator.dictionary.basis == Basis::Splines;
        let axes: Vec<(Vec<f64>, Vec<f64>)> = (problem.coordinates.iter().enumerate().zip(modes))
            .map(|((number, coordinate), &modes)| match self.held(number) {
                Some(values) => (values.clone(), widths(values)),
                None if splines && !coordinate.periodic => coordinate.axis_of_cells(modes - 3),
                None => {
                    let axis = coordinate.clustered_axis(NODES_PER_MODE * modes);
                    let widths = widths(&axis);
                    (axis, widths)
                }
            })
            .collect();
        let grid = PointSource::grid(axes.iter().map(|(axis, _)| axis.clone()).collect());
        let points = self.kept(problem, grid)?;
        let mut weights = vec![1.0; points.len()];
        for ((axis, widths), column) in axes.iter().zip(points.columns(0..points.len())) {
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

    /// Gauss's points of equal cells, which count alike: splines need no more of them anywhere.
    fn axis_of_cells(&self, cells: usize) -> (Vec<f64>, Vec<f64>) {
        let places = (0..cells).flat_map(|cell| [-GAUSS, GAUSS].map(|from| cell as f64 + 0.5 + from));
        let axis: Vec<f64> = places.map(|place| self.at_fraction(place / cells as f64)).collect();
        let widths = vec![1.0; axis.len()];
        (axis, widths)
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
