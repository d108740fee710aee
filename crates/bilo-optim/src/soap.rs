//! SOAP: Adam in the eigenbasis of Shampoo's preconditioner (Vyas, Morwani, Zhao, Shapira, Brandfonbrener,
//! Janson & Kakade 2024).
//!
//! The gradient G of a matrix of weights has covariances GGᵀ between rows and GᵀG between columns. In the
//! eigenvectors Q_L, Q_R of their running means the entries of Q_Lᵀ G Q_R are nearly uncorrelated, so that Adam's
//! scaling of single entries comes near to a Newton step.

use crate::{GradientMethod, State};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

const BETA1: f64 = 0.95;
const BETA2: f64 = 0.99;
const EPSILON: f64 = 1e-12;

/// Steps between two updates of the eigenvectors.
const TURN_EVERY: usize = 10;

/// SOAP for variables that are matrices one after the other.
#[derive(Clone, Debug)]
pub struct Soap {
    rates: Vec<f64>,
    factor: f64,
    steps: usize,
    blocks: Vec<Block>,
}

/// A matrix of variables, stored by columns or by rows as the caller likes: the algorithm is the same for
/// the transpose.
#[derive(Clone, Debug)]
struct Block {
    rows: usize,
    columns: usize,
    /// Running mean of the gradient.
    mean: Mat<f64>,
    /// Running mean of the squared entries of the gradient, in the eigenbasis.
    square: Mat<f64>,
    /// Between rows, if there are several.
    left: Option<Covariance>,
    /// Between columns, if there are several.
    right: Option<Covariance>,
}

/// A running mean of GGᵀ or GᵀG, and the eigenvectors that it had lately.
#[derive(Clone, Debug)]
struct Covariance {
    mean: Mat<f64>,
    vectors: Mat<f64>,
}

impl Soap {
    /// A fresh optimiser with the learning rate of every variable, for matrices of these shapes: (length of a
    /// run of neighbours, number of runs).
    pub fn new(rates: Vec<f64>, shapes: &[(usize, usize)]) -> Self {
        let blocks = shapes.iter().map(|&(rows, columns)| Block::new(rows, columns)).collect();
        Self { rates, factor: 1.0, steps: 0, blocks }
    }
}

impl GradientMethod for Soap {
    fn step_along(&mut self, x: &mut [f64], gradient: &[f64]) {
        self.steps += 1;
        let corrections = (1.0 - BETA1.powi(self.steps as i32), 1.0 - BETA2.powi(self.steps as i32));
        let turn = self.steps % TURN_EVERY == 1;
        // With x = rate y, y has the rate one.
        let by_y: Vec<f64> = gradient.iter().zip(&self.rates).map(|(g, rate)| g * rate).collect();
        let mut start = 0;
        for block in &mut self.blocks {
            let here = start..start + block.rows * block.columns;
            start = here.end;
            let by_y = MatRef::from_column_major_slice(&by_y[here.clone()], block.rows, block.columns);
            let direction = block.direction(by_y, corrections, turn);
            let rates = MatRef::from_column_major_slice(&self.rates[here.clone()], block.rows, block.columns);
            let x = MatMut::from_column_major_slice_mut(&mut x[here], block.rows, block.columns);
            faer::zip!(x, rates, &direction)
                .for_each(|faer::unzip!(x, rate, direction)| *x -= self.factor * rate * direction);
        }
    }

    fn scale_rate(&mut self, factor: f64) {
        self.factor = factor;
    }

    fn state(&self) -> State {
        let matrices = self.blocks.iter().flat_map(Block::matrices);
        let lists =
            matrices.map(|matrix| matrix.col_iter().flat_map(|column| column.iter().copied()).collect());
        std::iter::once(vec![self.steps as f64]).chain(lists).collect()
    }

    fn restore(&mut self, state: &State) -> bool {
        let Some((steps, lists)) = state.split_first() else { return false };
        let matrices: Vec<&mut Mat<f64>> = self.blocks.iter_mut().flat_map(Block::matrices_mut).collect();
        let sizes = matrices.iter().map(|matrix| matrix.nrows() * matrix.ncols());
        if steps.len() != 1 || !sizes.eq(lists.iter().map(Vec::len)) {
            return false;
        }
        for (matrix, list) in matrices.into_iter().zip(lists) {
            matrix.copy_from(MatRef::from_column_major_slice(list, matrix.nrows(), matrix.ncols()));
        }
        self.steps = steps[0] as usize;
        true
    }
}

impl Block {
    fn new(rows: usize, columns: usize) -> Self {
        let zeros = Mat::zeros(rows, columns);
        let side = |size: usize| (size > 1).then(|| Covariance::new(size));
        Self { rows, columns, mean: zeros.clone(), square: zeros, left: side(rows), right: side(columns) }
    }

    /// All that it remembers.
    fn matrices(&self) -> impl Iterator<Item = &Mat<f64>> {
        let sides = self.left.iter().chain(&self.right);
        [&self.mean, &self.square].into_iter().chain(sides.flat_map(|side| [&side.mean, &side.vectors]))
    }

    fn matrices_mut(&mut self) -> impl Iterator<Item = &mut Mat<f64>> {
        let sides = self.left.iter_mut().chain(&mut self.right);
        let of_sides = sides.flat_map(|side| [&mut side.mean, &mut side.vectors]);
        [&mut self.mean, &mut self.square].into_iter().chain(of_sides)
    }

    /// Takes in a gradient and returns the direction to go against.
    fn direction(&mut self, gradient: MatRef<'_, f64>, corrections: (f64, f64), turn: bool) -> Mat<f64> {
        average(&mut self.mean, BETA1, gradient);
        if let Some(left) = &mut self.left {
            left.take_in(gradient, gradient.transpose(), turn);
        }
        if let Some(right) = &mut self.right {
            right.take_in(gradient.transpose(), gradient, turn);
        }
        let (mean, gradient) = (self.turned(self.mean.as_ref()), self.turned(gradient));
        let direction = scaled(&mean, &mut self.square, gradient.as_ref(), corrections);
        self.turned_back(direction)
    }

    /// Q_Lᵀ G Q_R.
    fn turned(&self, gradient: MatRef<'_, f64>) -> Mat<f64> {
        let mut turned = gradient.to_owned();
        if let Some(left) = &self.left {
            turned = product(left.vectors.transpose(), turned.as_ref());
        }
        if let Some(right) = &self.right {
            turned = product(turned.as_ref(), right.vectors.as_ref());
        }
        turned
    }

    /// Q_L N Q_Rᵀ.
    fn turned_back(&self, mut direction: Mat<f64>) -> Mat<f64> {
        if let Some(left) = &self.left {
            direction = product(left.vectors.as_ref(), direction.as_ref());
        }
        if let Some(right) = &self.right {
            direction = product(direction.as_ref(), right.vectors.transpose());
        }
        direction
    }
}

impl Covariance {
    fn new(size: usize) -> Self {
        Self { mean: Mat::zeros(size, size), vectors: Mat::identity(size, size) }
    }

    /// Adds a ∙ b to the mean. The eigenvectors are followed by one step of orthogonal iteration, which
    /// keeps their order, so that squares remembered for them stay theirs.
    fn take_in(&mut self, a: MatRef<'_, f64>, b: MatRef<'_, f64>, turn: bool) {
        average(&mut self.mean, BETA2, product(a, b).as_ref());
        if turn {
            let turned = product(self.mean.as_ref(), self.vectors.as_ref());
            self.vectors = turned.qr().compute_Q();
        }
    }
}

/// mean ← beta mean + (1 - beta) term.
fn average(mean: &mut Mat<f64>, beta: f64, term: MatRef<'_, f64>) {
    faer::zip!(mean, term).for_each(|faer::unzip!(mean, term)| *mean = beta * *mean + (1.0 - beta) * term);
}

/// Adam's direction from the mean gradient and this one.
fn scaled(
    mean: &Mat<f64>,
    square: &mut Mat<f64>,
    gradient: MatRef<'_, f64>,
    (first, second): (f64, f64),
) -> Mat<f64> {
    let mut direction = Mat::zeros(mean.nrows(), mean.ncols());
    faer::zip!(&mut direction, mean, square, gradient).for_each(
        |faer::unzip!(direction, mean, square, g)| {
            *square = BETA2 * *square + (1.0 - BETA2) * g * g;
            *direction = mean / first / ((*square / second).sqrt() + EPSILON);
        },
    );
    direction
}

/// a ∙ b on this thread alone, so that sums have one order.
fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut c = Mat::zeros(a.nrows(), b.ncols());
    matmul(&mut c, Accum::Replace, a, b, 1.0, Par::Seq);
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// f = |A X B|² for matrices A and B with condition numbers that Adam cannot see, because their axes lie
    /// askew; the minimum is zero.
    fn askew(x: &[f64], gradient: &mut [f64]) -> f64 {
        let (a, b) = (stretched(4, 30.0), stretched(3, 30.0));
        let x = MatRef::from_column_major_slice(x, 4, 3);
        let image = product(product(a.as_ref(), x).as_ref(), b.as_ref());
        let back = product(product(a.transpose(), image.as_ref()).as_ref(), b.transpose());
        for column in 0..3 {
            (0..4).for_each(|row| gradient[row + 4 * column] = 2.0 * back[(row, column)]);
        }
        image.squared_norm_l2()
    }

    /// 1 + (stretch - 1) v vᵀ with v along the diagonal.
    fn stretched(size: usize, stretch: f64) -> Mat<f64> {
        let part = (stretch - 1.0) / size as f64;
        Mat::from_fn(size, size, |i, j| part + if i == j { 1.0 } else { 0.0 })
    }

    fn descend(method: &mut dyn GradientMethod, steps: usize) -> f64 {
        let mut x: Vec<f64> = (0..12).map(|i| (1.0 + f64::from(i)).sin()).collect();
        let mut gradient = vec![0.0; 12];
        for _ in 0..steps {
            askew(&x, &mut gradient);
            method.step_along(&mut x, &gradient);
        }
        askew(&x, &mut gradient)
    }

    /// In the eigenbasis the problem has axes of its own, so each entry goes its way at full rate.
    #[test]
    fn finds_the_axes_of_a_matrix_problem_that_adam_does_not() {
        let soap = descend(&mut Soap::new(vec![1e-2; 12], &[(4, 3)]), 600);
        let adam = descend(&mut crate::Adam::new(vec![1e-2; 12]), 600);
        assert!(soap < 1e-2 * adam, "{soap:e} {adam:e}");
    }

    /// The numbers of a transcription of algorithm 3 of the paper in numpy, at a tenth of the rate.
    #[test]
    fn agrees_with_the_published_algorithm() {
        let mut x: Vec<f64> = (0..4).map(|i| f64::from(i).cos()).collect();
        let mut soap = Soap::new(vec![0.1; 4], &[(2, 2)]);
        soap.scale_rate(0.1);
        for _ in 0..25 {
            let gradient: Vec<f64> = (0..4).map(|i| 4.0 * x[i].powi(3) + x[(i + 1) % 4]).collect();
            soap.step_along(&mut x, &gradient);
        }
        for (x, expected) in x.iter().zip(EXPECTED) {
            assert!((x - expected).abs() < 1e-9, "{x} {expected}");
        }
    }

    const EXPECTED: [f64; 4] =
        [0.7891809700763088, 0.5608006711410115, -0.2919081302251129, -0.7337110939612268];

    /// Weights that nothing depends on stay where they are.
    #[test]
    fn a_gradient_of_zero_moves_nothing() {
        let mut x = [1.0, 2.0, 3.0, 4.0];
        let mut soap = Soap::new(vec![0.1; 4], &[(2, 2)]);
        (0..30).for_each(|_| soap.step_along(&mut x, &[0.0; 4]));
        assert_eq!(x, [1.0, 2.0, 3.0, 4.0]);
    }

    /// A variable of rate 2 r moves as x = 2 y does when y has the rate r.
    #[test]
    fn rates_are_units_of_the_variables() {
        let mut soap = Soap::new(vec![2e-2, 1e-2], &[(2, 1)]);
        let mut same = Soap::new(vec![1e-2, 1e-2], &[(2, 1)]);
        let (mut x, mut y) = ([2.0, 1.0], [1.0, 1.0]);
        for _ in 0..50 {
            let slope = |x: &[f64; 2]| [2.0 * x[0] + x[1], 4.0 * x[1] + x[0]];
            let by_x = slope(&x);
            soap.step_along(&mut x, &by_x);
            let by_x = slope(&[2.0 * y[0], y[1]]);
            same.step_along(&mut y, &[2.0 * by_x[0], by_x[1]]);
        }
        assert!((x[0] - 2.0 * y[0]).abs() < 1e-12 && (x[1] - y[1]).abs() < 1e-12, "{x:?} {y:?}");
    }
}
