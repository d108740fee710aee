//! Convolution by Fourier coefficients: the few lowest ones are mixed between channels, the others dropped.
//!
//! The grids are small and few modes are kept, so a transform is a product with a dense matrix for each axis.
//! Values are ordered by node, then sample, then channel, so that one product transforms all samples and
//! channels.

use super::grid::GridAxis;
use crate::product::{add_product, cast, product};
use crate::real::Real;
use bilo_linear::Matrix;
use std::f64::consts::PI;

/// The discrete Fourier transform of real signals, cut off after some modes, as real matrices. Rows of
/// coefficients are the real and the imaginary part of each mode in turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Transform<T> {
    /// Nodes of the last axis.
    nodes: usize,
    /// Modes kept along it, none of them negative.
    modes: usize,
    /// Coefficients along it from values; divided by the number of all nodes.
    analysis: Vec<T>,
    /// Values from coefficients along it.
    synthesis: Vec<T>,
    first: Option<Waves<T>>,
}

/// The other axis of a rectangle.
#[derive(Clone, Debug, PartialEq)]
struct Waves<T> {
    nodes: usize,
    modes: usize,
    /// Cosines of each mode at all nodes, then sines.
    rows: Vec<T>,
}

/// 2π mode·node/nodes, rounded as little for high modes as for low ones.
fn angle(mode: i64, node: usize, nodes: usize) -> f64 {
    2.0 * PI * (mode * node as i64).rem_euclid(nodes as i64) as f64 / nodes as f64
}

impl Waves<f64> {
    /// Frequencies around zero, for an even number one more of the negative ones.
    fn new(axis: &GridAxis) -> Self {
        let GridAxis { nodes, modes, .. } = *axis;
        assert!(0 < modes && modes <= nodes, "modes that the grid can tell apart");
        let lowest = -(modes as i64 / 2);
        let frequencies = lowest..lowest + modes as i64;
        let angles: Vec<f64> =
            frequencies.flat_map(|mode| (0..nodes).map(move |node| angle(mode, node, nodes))).collect();
        let rows = angles.iter().map(|angle| angle.cos()).chain(angles.iter().map(|angle| angle.sin()));
        Self { nodes, modes, rows: rows.collect() }
    }
}

impl Transform<f64> {
    /// For one axis or two.
    pub(super) fn new(axes: &[GridAxis]) -> Self {
        let GridAxis { nodes, modes, .. } = axes[axes.len() - 1];
        let modes = modes / 2 + 1;
        assert!(modes <= nodes / 2 + 1, "modes that the grid can tell apart");
        let all = axes.iter().map(|axis| axis.nodes).product::<usize>() as f64;
        let (mut analysis, mut synthesis) = (vec![], vec![0.0; 2 * modes * nodes]);
        for mode in 0..modes {
            // Both are their own conjugates: they count once, and imaginary parts along this axis do nothing.
            let single = mode == 0 || 2 * mode == nodes;
            let angle = |node: usize| angle(mode as i64, node, nodes);
            analysis.extend((0..nodes).map(|node| angle(node).cos() / all));
            analysis.extend((0..nodes).map(|node| -angle(node).sin() / all));
            for node in 0..nodes {
                let place = 2 * (node * modes + mode);
                let (sine, cosine) = angle(node).sin_cos();
                synthesis[place] = if single { cosine } else { 2.0 * cosine };
                synthesis[place + 1] = if single { 0.0 } else { -2.0 * sine };
            }
        }
        let first = (axes.len() == 2).then(|| Waves::new(&axes[0]));
        Self { nodes, modes, analysis, synthesis, first }
    }

    pub(super) fn cast<T: Real>(&self) -> Transform<T> {
        let first = self.first.as_ref();
        Transform {
            nodes: self.nodes,
            modes: self.modes,
            analysis: cast(&self.analysis),
            synthesis: cast(&self.synthesis),
            first: first.map(|first| Waves {
                nodes: first.nodes,
                modes: first.modes,
                rows: cast(&first.rows),
            }),
        }
    }
}

impl<T: Real> Transform<T> {
    /// Modes kept.
    pub(super) fn modes(&self) -> usize {
        self.modes * self.first.as_ref().map_or(1, |first| first.modes)
    }

    /// Fourier coefficients of x and its convolution. The weights are, for each mode, the real and the
    /// imaginary part of a matrix with one row for each channel.
    pub(super) fn convolve(&self, weights: &[T], width: usize, x: &[T]) -> (Vec<T>, Vec<T>) {
        let columns = self.columns(x);
        let coefficients = self.towards_modes(Matrix::with_columns(&self.analysis, self.nodes), x);
        let mut mixed = vec![T::ZERO; coefficients.len()];
        let modes = mixed.chunks_exact_mut(2 * columns).zip(coefficients.chunks_exact(2 * columns));
        for ((mixed, given), weights) in modes.zip(weights.chunks_exact(2 * width * width)) {
            let [w_re, w_im] = halves(weights, width);
            let [re, im] = halves(given, width);
            let (out_re, out_im) = mixed.split_at_mut(columns);
            add_product(out_re, 1.0, re, w_re);
            add_product(out_re, -1.0, im, w_im);
            add_product(out_im, 1.0, re, w_im);
            add_product(out_im, 1.0, im, w_re);
        }
        let mut convolved = vec![T::ZERO; x.len()];
        self.add_from_modes(&mut convolved, Matrix::with_columns(&self.synthesis, 2 * self.modes), &mixed);
        (coefficients, convolved)
    }

    /// Adds to the adjoint of x what it owes to that of the convolution, and to the gradient by the weights
    /// if asked.
    pub(super) fn pull_back(
        &self,
        weights: &[T],
        width: usize,
        coefficients: &[T],
        adjoint: &[T],
        mut gradient: Option<&mut [T]>,
        by_x: &mut [T],
    ) {
        let columns = self.columns(by_x);
        let synthesis = Matrix::with_columns(&self.synthesis, 2 * self.modes);
        let by_mixed = self.towards_modes(synthesis.transposed(), adjoint);
        let mut by_coefficients = vec![T::ZERO; by_mixed.len()];
        let modes = by_coefficients.chunks_exact_mut(2 * columns).zip(by_mixed.chunks_exact(2 * columns));
        for (mode, (by_given, by_mixed)) in modes.enumerate() {
            let own = 2 * width * width * mode..2 * width * width * (mode + 1);
            let [w_re, w_im] = halves(&weights[own.clone()], width).map(Matrix::transposed);
            let [a_re, a_im] = halves(by_mixed, width);
            let (by_re, by_im) = by_given.split_at_mut(columns);
            add_product(by_re, 1.0, a_re, w_re);
            add_product(by_re, 1.0, a_im, w_im);
            add_product(by_im, -1.0, a_re, w_im);
            add_product(by_im, 1.0, a_im, w_re);
            if let Some(gradient) = gradient.as_deref_mut() {
                let given = &coefficients[2 * columns * mode..2 * columns * (mode + 1)];
                let [re, im] = halves(given, width).map(Matrix::transposed);
                let (by_w_re, by_w_im) = gradient[own].split_at_mut(width * width);
                add_product(by_w_re, 1.0, re, a_re);
                add_product(by_w_re, 1.0, im, a_im);
                add_product(by_w_im, -1.0, im, a_re);
                add_product(by_w_im, 1.0, re, a_im);
            }
        }
        let analysis = Matrix::with_columns(&self.analysis, self.nodes);
        self.add_from_modes(by_x, analysis.transposed(), &by_coefficients);
    }

    /// Samples times channels.
    fn columns(&self, values: &[T]) -> usize {
        values.len() / (self.nodes * self.first.as_ref().map_or(1, |first| first.nodes))
    }

    /// A matrix along the last axis, then e^(-iωx) along the first one.
    fn towards_modes(&self, last: Matrix<'_, T>, values: &[T]) -> Vec<T> {
        let columns = self.columns(values);
        let slabs = values.chunks_exact(self.nodes * columns);
        let mut result = vec![T::ZERO; slabs.len() * 2 * self.modes * columns];
        for (result, slab) in result.chunks_exact_mut(2 * self.modes * columns).zip(slabs) {
            add_product(result, 1.0, last, Matrix::with_columns(slab, columns));
        }
        let Some(first) = &self.first else { return result };
        let waves = Matrix::with_columns(&first.rows, first.nodes);
        let mut by_cosines = product(waves, Matrix::with_columns(&result, 2 * self.modes * columns));
        let by_sines = by_cosines.split_off(by_cosines.len() / 2);
        for (sum, sines) in by_cosines.chunks_exact_mut(2 * columns).zip(by_sines.chunks_exact(2 * columns)) {
            let (re, im) = sum.split_at_mut(columns);
            re.iter_mut().zip(&sines[columns..]).for_each(|(re, &sine)| *re += sine);
            im.iter_mut().zip(&sines[..columns]).for_each(|(im, &sine)| *im = *im - sine);
        }
        by_cosines
    }

    /// The transposed way: e^(iωx) along the first axis, then a matrix along the last one.
    fn add_from_modes(&self, values: &mut [T], last: Matrix<'_, T>, modes: &[T]) {
        let columns = self.columns(values);
        let summed = self.first.as_ref().map(|first| {
            let mut parts = modes.to_vec();
            for mode in modes.chunks_exact(2 * columns) {
                parts.extend(mode[columns..].iter().map(|&im| T::ZERO - im));
                parts.extend_from_slice(&mode[..columns]);
            }
            let waves = Matrix::with_columns(&first.rows, first.nodes);
            product(waves.transposed(), Matrix::with_columns(&parts, 2 * self.modes * columns))
        });
        let slabs = summed.as_deref().unwrap_or(modes).chunks_exact(2 * self.modes * columns);
        for (values, slab) in values.chunks_exact_mut(self.nodes * columns).zip(slabs) {
            add_product(values, 1.0, last, Matrix::with_columns(slab, columns));
        }
    }
}

/// The real and the imaginary part of numbers of one mode, as matrices with one column for each channel.
fn halves<T>(mode: &[T], width: usize) -> [Matrix<'_, T>; 2] {
    let (re, im) = mode.split_at(mode.len() / 2);
    [Matrix::with_columns(re, width), Matrix::with_columns(im, width)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn random(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Pcg64::seed_from_u64(seed);
        (0..count).map(|_| random.random_range(-1.0..1.0)).collect()
    }

    /// (a + ib)(c + id).
    fn times(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
        [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
    }

    fn axis(nodes: usize, modes: usize) -> GridAxis {
        GridAxis { nodes, interval: [0.0, 1.0], modes }
    }

    /// The frequencies (p, q) that are kept, in the order of their weights.
    fn kept(axes: [GridAxis; 2]) -> Vec<(i64, i64)> {
        let (lowest, modes) = (-(axes[0].modes as i64 / 2), axes[0].modes as i64);
        let last = axes[1].modes as i64 / 2 + 1;
        (lowest..lowest + modes).flat_map(|p| (0..last).map(move |q| (p, q))).collect()
    }

    /// Convolution of one sample (node, channel) by the definition. The inverse transform of a real signal
    /// takes the real part of the sum over modes, twice for those whose conjugates are not among them.
    fn naive(weights: &[f64], axes: [GridAxis; 2], width: usize, x: &[f64]) -> Vec<f64> {
        let [m, n] = axes.map(|axis| axis.nodes);
        let phase = |p: i64, q: i64, node: usize| {
            let turns = p as f64 * (node / n) as f64 / m as f64 + q as f64 * (node % n) as f64 / n as f64;
            [(2.0 * PI * turns).cos(), (2.0 * PI * turns).sin()]
        };
        let mut result = vec![0.0; m * n * width];
        for (mode, &(p, q)) in kept(axes).iter().enumerate() {
            let often = if q == 0 || 2 * q == n as i64 { 1.0 } else { 2.0 };
            for (to, from) in (0..width * width).map(|pair| (pair / width, pair % width)) {
                let place = 2 * width * width * mode + width * from + to;
                let weight = [weights[place], weights[place + width * width]];
                for node in 0..m * n {
                    let term = phase(-p, -q, node).map(|part| part * x[node * width + from]);
                    let mixed = times(weight, term).map(|part| part * often / (m * n) as f64);
                    for at in 0..m * n {
                        result[at * width + to] += times(mixed, phase(p, q, at))[0];
                    }
                }
            }
        }
        result
    }

    fn check_definition(axes: [GridAxis; 2]) {
        let (width, samples) = (3, 2);
        let used = if axes[0].nodes == 1 { &axes[1..] } else { &axes[..] };
        let weights = random(2 * kept(axes).len() * width * width, 1);
        let x = random(axes[0].nodes * axes[1].nodes * samples * width, 2);
        let (_, convolved) = Transform::new(used).convolve(&weights, width, &x);
        for sample in 0..samples {
            let of_sample = |values: &[f64]| -> Vec<f64> {
                let rows = values.chunks_exact(samples * width);
                rows.flat_map(|row| row[sample * width..(sample + 1) * width].to_vec()).collect()
            };
            let expected = naive(&weights, axes, width, &of_sample(&x));
            for (ours, theirs) in of_sample(&convolved).iter().zip(expected) {
                assert!((ours - theirs).abs() < 1e-13, "{axes:?}: {ours} {theirs}");
            }
        }
    }

    /// Odd and even grids, the latter with the highest mode that they have.
    #[test]
    fn convolution_agrees_with_its_definition() {
        for last in [axis(11, 6), axis(11, 10), axis(12, 8), axis(12, 12)] {
            check_definition([axis(1, 1), last]);
        }
        for first in [axis(5, 3), axis(6, 4), axis(6, 6)] {
            check_definition([first, axis(7, 4)]);
            check_definition([first, axis(8, 8)]);
        }
    }

    /// With weights of one, kept modes pass and the others vanish.
    #[test]
    fn cosines_pass_up_to_the_last_mode_kept() {
        let (nodes, modes) = (32, 9);
        let weights = [1.0, 0.0].repeat(modes);
        let transform = Transform::new(&[axis(nodes, 2 * (modes - 1))]);
        for mode in 0..=nodes / 2 {
            let wave = |node: usize| (2.0 * PI * (mode * node) as f64 / nodes as f64).cos();
            let x: Vec<f64> = (0..nodes).map(wave).collect();
            let (_, convolved) = transform.convolve(&weights, 1, &x);
            let share = if mode < modes { 1.0 } else { 0.0 };
            for (ours, x) in convolved.iter().zip(x) {
                assert!((ours - share * x).abs() < 1e-14, "mode {mode}: {ours} {x}");
            }
        }
    }
}
