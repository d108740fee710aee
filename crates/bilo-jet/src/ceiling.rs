//! The products of a training step by themselves, for benchmarks: no step is faster.

use bilo_linear::{Aligned, Matrix, MatrixMut, Packed, Simd, add_outer, product_packed};
use std::hint::black_box;
use std::time::Instant;

/// Points of a tile, and the components that they carry.
const POINTS: usize = 32;
const COMPONENTS: usize = 3;

/// Sweeps over the components, forward and back, for one weight gradient over two groups of them.
const SWEEPS: usize = 4;

/// GFLOP/s of a layer's products in single precision on the calling thread, with all numbers in cache: a tile's jets
/// and tangents forward, their adjoints back, and the gradient of its matrix, so many times.
pub fn product_ceiling(width: usize, repeats: usize) -> f64 {
    let simd = Simd::detect();
    let rows = POINTS * COMPONENTS;
    let numbers = |count: usize| -> Aligned<f32> { (0..count).map(|i| (0.37 * i as f32).sin()).collect() };
    let (inputs, adjoints) = (numbers(2 * rows * width), numbers(2 * rows * width));
    let (matrix, mut gradient) = (numbers(width * width), numbers(width * width));
    let packed = Packed::new(Matrix::new(&matrix, width, width), simd);
    let mut result = Aligned::<f32>::zeros(rows * width);
    let start = Instant::now();
    for _ in 0..repeats {
        for _ in 0..SWEEPS {
            let target = MatrixMut::new(&mut result, rows, width);
            product_packed(target, &inputs[..rows * width], &packed, false);
        }
        let target = MatrixMut::new(&mut gradient, width, width);
        let factors = [&adjoints, &inputs].map(|numbers| Matrix::new(numbers, 2 * rows, width));
        add_outer(target, factors[0], factors[1], simd);
        black_box((&result, &gradient));
    }
    let passes = (SWEEPS + 2) * repeats;
    2.0 * (rows * width * width * passes) as f64 / start.elapsed().as_secs_f64() / 1e9
}
