//! Values on a grid of even spacing, or at any nodes of one coordinate, as they come from a file or from Rust.

use crate::model::Coordinate;
use crate::spline::{GridAxis, Interpolation, Spline, along};
use crate::text::digits;

/// Neighbouring nodes may differ from an even distance by this part: files in single precision.
const EVEN: f64 = 1e-3;

/// How far a grid may end inside the domain, relative to its length, and still count as rounded.
const ROUNDING: f64 = 1e-6;

/// Values in row-major order over a grid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Raster {
    pub(crate) axes: Vec<GridAxis>,
    pub(crate) values: Vec<f64>,
    /// The nodes, ascending, where they are not even: along one axis.
    pub(crate) uneven: Option<Vec<f64>>,
}

impl Raster {
    /// Values over one axis, whatever the distances of its ascending nodes.
    pub(crate) fn series(nodes: Vec<f64>, values: Vec<f64>) -> Result<Self, String> {
        if even(&nodes).is_ok() {
            return Raster::over_nodes(&[nodes], values);
        }
        if let Some(pair) = nodes.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(format!("two rows at {}", digits(pair[1], 6)));
        }
        let (first, cells) = (nodes[0], nodes.len() - 1);
        let axis = GridAxis { first, step: (nodes[cells] - first) / cells as f64, count: nodes.len() };
        Ok(Self { axes: vec![axis], values, uneven: Some(nodes) })
    }

    /// Values over nodes along each axis, ascending or descending; says why if they are none.
    pub(crate) fn over_nodes(nodes: &[Vec<f64>], mut values: Vec<f64>) -> Result<Self, String> {
        let mut lengths: Vec<usize> = nodes.iter().map(Vec::len).collect();
        let count = lengths.iter().fold(1, |count: usize, &length| count.saturating_mul(length));
        if count == 0 || values.len() != count {
            return Err(format!("there are {count} nodes and {} values", values.len()));
        }
        let mut axes = vec![];
        for (axis, nodes) in nodes.iter().enumerate() {
            let mut found = even(nodes)?;
            if found.step < 0.0 {
                found = GridAxis { first: found.last(), step: -found.step, ..found };
                values = along(&values, &mut lengths, axis, |line| line.iter().rev().copied().collect());
            }
            axes.push(found);
        }
        Ok(Self { axes, values, uneven: None })
    }

    /// The axes in another order: axis k becomes the one that stands in place `order[k]`.
    pub(crate) fn reordered(self, order: &[usize]) -> Self {
        let lengths: Vec<usize> = self.axes.iter().map(|axis| axis.count).collect();
        let stride = |axis: usize| lengths[axis + 1..].iter().product::<usize>();
        let mut places = vec![0];
        for &axis in order {
            let along = |place: usize| (0..lengths[axis]).map(move |i| place + i * stride(axis));
            places = places.into_iter().flat_map(along).collect();
        }
        Self {
            axes: order.iter().map(|&axis| self.axes[axis]).collect(),
            values: places.into_iter().map(|place| self.values[place]).collect(),
            uneven: self.uneven,
        }
    }

    /// Why it gives no function over these coordinates, one for each axis, if it does not.
    pub(crate) fn fault(&self, coordinates: &[&Coordinate], least_nodes: usize) -> Option<String> {
        for (axis, coordinate) in self.axes.iter().zip(coordinates) {
            let Coordinate { name, lo, hi, .. } = coordinate;
            if axis.count < least_nodes {
                let count = axis.count;
                return Some(format!("{count} nodes along `{name}` are too few, {least_nodes} are needed"));
            }
            let (first, last, rounding) = (axis.first, axis.last(), ROUNDING * (hi - lo));
            if first > lo + rounding || last < hi - rounding {
                let (first, last) = (digits(first, 6), digits(last, 6));
                return Some(format!("its `{name}` from {first} to {last} does not cover [{lo}, {hi}]"));
            }
        }
        let bad = self.values.iter().position(|value| !value.is_finite())?;
        Some(format!("it has the value {:?} at {}", self.values[bad], self.place(coordinates, bad)))
    }

    /// The function, with something between the nodes.
    pub(crate) fn spline(self, interpolation: Interpolation) -> Spline {
        match self.uneven {
            Some(nodes) => Spline::through(interpolation, nodes, self.values),
            None => Spline::new(interpolation, self.axes, self.values),
        }
    }

    /// The place of a value, as `x = 1, y = 2`.
    pub(crate) fn place(&self, coordinates: &[&Coordinate], mut number: usize) -> String {
        let mut places = vec![];
        for (axis, coordinate) in self.axes.iter().zip(coordinates).rev() {
            let even = axis.first + (number % axis.count) as f64 * axis.step;
            let node = self.uneven.as_ref().map_or(even, |nodes| nodes[number]);
            places.insert(0, format!("{} = {}", coordinate.name, digits(node, 6)));
            number /= axis.count;
        }
        places.join(", ")
    }
}

/// Nodes of even distance, which may be negative. A single node has none.
fn even(nodes: &[f64]) -> Result<GridAxis, String> {
    let (first, cells) = (nodes[0], nodes.len() - 1);
    let step = if cells == 0 { 1.0 } else { (nodes[cells] - first) / cells as f64 };
    let off = |(i, node): (usize, &f64)| (node - first - i as f64 * step).abs() > EVEN * step.abs();
    if !first.is_finite() || !step.is_finite() || step == 0.0 || nodes.iter().enumerate().any(off) {
        return Err("nodes along a coordinate must be finite and of even distance".to_owned());
    }
    Ok(GridAxis { first, step, count: nodes.len() })
}
