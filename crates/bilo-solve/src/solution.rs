//! The solution on its grid, and its values anywhere.

use crate::stencil::{Grid, fornberg};

/// Nodes of the local interpolation: cubic, so that its error is of fourth order.
const WIDTH: usize = 4;

/// What a solve cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Newton updates computed and used.
    pub newton_iterations: usize,
    /// LU factorisations.
    pub factorisations: usize,
    /// Time steps taken.
    pub steps: usize,
}

/// A solution on the grid of nodes `x` at times `t`.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Nodes, both ends included.
    pub x: Vec<f64>,
    /// Times from start to end; the one value 0 if steady.
    pub t: Vec<f64>,
    /// What the solve cost.
    pub work: Work,
    periodic: bool,
    fields: Vec<Vec<f64>>,
}

impl Solution {
    /// An empty solution on a grid.
    pub(crate) fn new(grid: &Grid, states: usize) -> Solution {
        Solution {
            x: (0..=grid.cells).map(|i| grid.x(i)).collect(),
            t: Vec::new(),
            work: Work::default(),
            periodic: grid.periodic,
            fields: vec![Vec::new(); states],
        }
    }

    /// Appends the unknown vector of one time.
    pub(crate) fn push(&mut self, t: f64, u: &[f64]) {
        self.t.push(t);
        let nodes = u.len() / self.fields.len();
        for (field, column) in self.fields.iter_mut().zip(u.chunks_exact(nodes)) {
            field.extend_from_slice(column);
            if self.periodic {
                field.push(column[0]);
            }
        }
    }

    /// Values of a state, time by time: node `i` at time `k` is entry
    /// `k * x.len() + i`.
    pub fn field(&self, state: usize) -> &[f64] {
        &self.fields[state]
    }

    /// The derivative of order (`order_x`, `order_t`) of a state at points
    /// `(x, t)`, from the local polynomial through the nearest nodes: four of
    /// them per direction and one more per order of derivative, so that the
    /// error of the interpolation is of fourth order.
    ///
    /// Values at nodes are exact. A periodic axis wraps; outside the domain
    /// otherwise the polynomial of the nearest nodes is extrapolated. The time
    /// of a steady solution is ignored.
    pub fn sample(&self, state: usize, order_x: usize, order_t: usize, points: &[(f64, f64)]) -> Vec<f64> {
        let (nx, field) = (self.x.len(), &self.fields[state]);
        points
            .iter()
            .map(|&(x, t)| {
                let in_x = self.space_weights(x, order_x);
                let in_t = clipped_weights(&self.t, t, order_t);
                in_t.iter()
                    .map(|(k, w)| {
                        let row = &field[k * nx..(k + 1) * nx];
                        w * in_x.iter().map(|(i, w)| w * row[*i]).sum::<f64>()
                    })
                    .sum()
            })
            .collect()
    }

    fn space_weights(&self, x: f64, order: usize) -> Vec<(usize, f64)> {
        if !self.periodic {
            return clipped_weights(&self.x, x, order);
        }
        let cells = self.x.len() - 1;
        let lo = self.x[0];
        let period = self.x[cells] - lo;
        let h = period / cells as f64;
        let wrapped = lo + (x - lo).rem_euclid(period);
        let width = (WIDTH + order).min(cells);
        let first = first_node(&self.x, wrapped, width);
        let nodes: Vec<f64> = (0..width as isize)
            .map(|j| match usize::try_from(first + j) {
                Ok(i) if i <= cells => self.x[i],
                _ => lo + (first + j) as f64 * h,
            })
            .collect();
        fornberg(wrapped, &nodes, order)
            .into_iter()
            .enumerate()
            .map(|(j, w)| ((first + j as isize).rem_euclid(cells as isize) as usize, w))
            .collect()
    }
}

/// Indices and weights of the nodes nearest to `at`, kept inside the axis.
fn clipped_weights(axis: &[f64], at: f64, order: usize) -> Vec<(usize, f64)> {
    let width = (WIDTH + order).min(axis.len());
    let last_first = (axis.len() - width) as isize;
    let first = first_node(axis, at, width).clamp(0, last_first) as usize;
    fornberg(at, &axis[first..first + width], order)
        .into_iter()
        .enumerate()
        .map(|(j, w)| (first + j, w))
        .collect()
}

/// First of `width` consecutive nodes centred about `at` on a uniform axis.
fn first_node(axis: &[f64], at: f64, width: usize) -> isize {
    let cell = axis.partition_point(|&node| node <= at) as isize - 1;
    cell - (width as isize - 1) / 2
}
