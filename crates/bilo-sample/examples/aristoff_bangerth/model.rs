//! The benchmark of Aristoff and Bangerth (SIAM Review 64, 2022): the posterior density of 64 coefficients of an elliptic
//! equation given its solution at 169 places.
//!
//! -div(a grad u) = 10 on the unit square with u = 0 at its border, by bilinear elements on 32 x 32 cells. The coefficient a
//! is constant on 8 x 8 blocks, counted row by row from the bottom.

use crate::band::Banded;
use bilo_sample::{Failure, LogDensity};

/// The number of unknown coefficients.
pub(crate) const COEFFICIENTS: usize = BLOCKS * BLOCKS;
/// Mean and standard deviation of the logarithms by the prior. Published is the density exp(-Σ (ln a)²/8) of the
/// coefficients; that of their logarithms m has Σ m added, and is normal.
pub(crate) const PRIOR: (f64, f64) = (4.0, 2.0);

/// Blocks of one coefficient along a side.
pub(crate) const BLOCKS: usize = 8;
const CELLS: usize = 32;
/// Nodes along a side without the border.
const INNER: usize = CELLS - 1;
/// Nodes along a side.
const NODES: usize = CELLS + 1;
const LOAD: f64 = 10.0;

/// The value of the solution somewhere, and what was measured there.
struct Measurement {
    /// The nodes around the place, and what they count there.
    corners: [(usize, f64); 4],
    value: f64,
    sigma: f64,
}

/// The log-density of the logarithms of the coefficients.
pub(crate) struct Benchmark {
    measurements: Vec<Measurement>,
    matrix: Banded,
    solution: Vec<f64>,
    adjoint: Vec<f64>,
}

impl Benchmark {
    /// With the published data.
    pub(crate) fn new() -> Benchmark {
        let data = include_str!("../../tests/data/aristoff-bangerth/data.csv");
        let matrix = Banded::zero(INNER * INNER);
        let vector = vec![0.0; matrix.padded()];
        Benchmark {
            measurements: data.lines().skip(1).map(measurement).collect(),
            matrix,
            solution: vector.clone(),
            adjoint: vector,
        }
    }

    /// The logarithm of the likelihood of coefficients, without the constant; none where there is no solution in
    /// floating-point numbers.
    pub(crate) fn log_likelihood(&mut self, coefficients: &[f64]) -> Option<f64> {
        self.matrix.set(|node| column(coefficients, node));
        self.matrix.factor()?;
        self.solution[..INNER * INNER].fill(LOAD / (CELLS * CELLS) as f64);
        self.matrix.solve(&mut self.solution);
        let misfits = self.measurements.iter().map(|place| place.misfit(&self.solution).powi(2));
        Some(-misfits.sum::<f64>() / 2.0)
    }

    /// The gradient, with respect to the coefficients, of the log-likelihood that was asked for last: -λᵀ ∂A u for the
    /// solution λ of the same matrix A with the slope by u as its load.
    fn gradient(&mut self) -> [f64; COEFFICIENTS] {
        self.adjoint.fill(0.0);
        for place in &self.measurements {
            let slope = -place.misfit(&self.solution) / place.sigma;
            place.corners.iter().for_each(|&(node, weight)| self.adjoint[node] += slope * weight);
        }
        self.matrix.solve(&mut self.adjoint);
        let (u, lambda) = (with_border(&self.solution), with_border(&self.adjoint));
        let mut gradient = [0.0; COEFFICIENTS];
        for y in 0..CELLS {
            for x in 0..CELLS {
                gradient[block(x, y)] -= energy(differences(&u, x, y), differences(&lambda, x, y));
            }
        }
        gradient
    }
}

impl LogDensity for Benchmark {
    fn at(&mut self, logarithms: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        let coefficients: Vec<f64> = logarithms.iter().map(|m| m.exp()).collect();
        let likelihood = self
            .log_likelihood(&coefficients)
            .ok_or_else(|| Failure::Unsolvable("the matrix is not positive definite".to_owned()))?;
        let slopes = self.gradient();
        let (mean, sd) = PRIOR;
        let mut prior = 0.0;
        for (k, m) in logarithms.iter().enumerate() {
            let distance = (m - mean) / sd;
            prior -= distance * distance / 2.0;
            gradient[k] = coefficients[k] * slopes[k] - distance / sd;
        }
        Ok(likelihood + prior)
    }
}

impl Measurement {
    /// How far the solution is off, in standard deviations.
    fn misfit(&self, solution: &[f64]) -> f64 {
        let value: f64 = self.corners.iter().map(|&(node, weight)| weight * solution[node]).sum();
        (value - self.value) / self.sigma
    }
}

/// A line of place, value and standard deviation.
fn measurement(line: &str) -> Measurement {
    let numbers: Vec<f64> = line.split(',').map(|word| word.parse().expect("data.csv has numbers")).collect();
    let [x, y, value, sigma] = numbers[..] else { panic!("data.csv has four columns") };
    let (x, y) = (x * CELLS as f64, y * CELLS as f64);
    let (right, up) = (x.fract(), y.fract());
    // No measurement is in a cell at the border, so that all nodes around it are inner ones.
    let node = (y as usize - 1) * INNER + x as usize - 1;
    let corners = [
        (node, (1.0 - right) * (1.0 - up)),
        (node + 1, right * (1.0 - up)),
        (node + INNER, (1.0 - right) * up),
        (node + INNER + 1, right * up),
    ];
    Measurement { corners, value, sigma }
}

/// The block that a cell is in.
fn block(x: usize, y: usize) -> usize {
    const WIDTH: usize = CELLS / BLOCKS;
    y / WIDTH * BLOCKS + x / WIDTH
}

/// What the matrix has in the column of a node from the diagonal down. In the matrix of a cell a corner has 2/3 with itself,
/// -1/6 with the corners beside it and -1/3 with the one across, times the coefficient there.
fn column(coefficients: &[f64], node: usize) -> [(usize, f64); 5] {
    let (x, y) = (node % INNER, node / INNER);
    // The cells around the node, which is inner number x and so number x + 1 of all.
    let [below_left, below_right, left, right] =
        [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)].map(|(x, y)| coefficients[block(x, y)]);
    let unless = |border: bool, entry: f64| if border { 0.0 } else { entry };
    let (first, last, top) = (x == 0, x == INNER - 1, y == INNER - 1);
    [
        (0, (below_left + below_right + left + right) * 2.0 / 3.0),
        (1, unless(last, -(below_right + right) / 6.0)),
        (INNER - 1, unless(first || top, -left / 3.0)),
        (INNER, unless(top, -(left + right) / 6.0)),
        (INNER + 1, unless(last || top, -right / 3.0)),
    ]
}

/// Values at all nodes from those at the inner ones.
fn with_border(inner: &[f64]) -> [[f64; NODES]; NODES] {
    let mut all = [[0.0; NODES]; NODES];
    for (row, inner) in all[1..].iter_mut().zip(inner[..INNER * INNER].chunks_exact(INNER)) {
        row[1..=INNER].copy_from_slice(inner);
    }
    all
}

/// The differences along the four sides of a cell: bottom, top, left and right.
fn differences(values: &[[f64; NODES]; NODES], x: usize, y: usize) -> [f64; 4] {
    let ([a, b], [c, d]) = ([values[y][x], values[y][x + 1]], [values[y + 1][x], values[y + 1][x + 1]]);
    [b - a, d - c, c - a, d - b]
}

/// The integral of the product of two gradients over a cell.
fn energy(u: [f64; 4], v: [f64; 4]) -> f64 {
    let along = |i: usize, j: usize| 2.0 * (u[i] * v[i] + u[j] * v[j]) + u[i] * v[j] + u[j] * v[i];
    (along(0, 1) + along(2, 3)) / 6.0
}
