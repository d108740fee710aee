//! Tapes over columns of points: every instruction is one loop that the compiler can vectorise.

mod real;

pub use real::Real;

use crate::ops::{Binary, Comparison, Unary};
use crate::tape::{Instruction, Tape};

/// What a tape is given for an input or a seed.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a, T> {
    /// One value per point.
    Column(&'a [T]),
    /// One value for all points.
    Uniform(T),
}

impl<T: Real> Input<'_, T> {
    fn write(self, out: &mut [T]) {
        match self {
            Input::Column(column) => out.copy_from_slice(column),
            Input::Uniform(value) => out.fill(value),
        }
    }

    pub(crate) fn add_to(self, out: &mut [T]) {
        match self {
            Input::Column(column) => {
                assert_eq!(column.len(), out.len(), "one value per point");
                out.iter_mut().zip(column).for_each(|(o, &x)| *o += x);
            }
            Input::Uniform(value) => out.iter_mut().for_each(|o| *o += value),
        }
    }
}

/// Memory for the evaluation of tapes, to be used again and again: it only ever grows.
#[derive(Clone, Debug, Default)]
pub struct Scratch<T> {
    /// The number of points of the last evaluation.
    pub(crate) points: usize,
    /// One column per instruction.
    pub(crate) values: Vec<T>,
    /// One column per instruction, after [`Tape::adjoint`].
    pub(crate) adjoints: Vec<T>,
    /// The constants that stand in `values`, for columns of length `points`.
    constants: Vec<(u32, f64)>,
}

impl<T: Real> Scratch<T> {
    /// No memory yet.
    pub fn new() -> Scratch<T> {
        Scratch::default()
    }

    /// Output `i` of the tape that was evaluated last, at every point.
    pub fn output(&self, tape: &Tape, i: usize) -> &[T] {
        let position = tape.outputs[i] as usize;
        &self.values[position * self.points..][..self.points]
    }

    /// The derivative of `sum_o seed_o * output_o` by input `i` at every point, after [`Tape::adjoint`].
    ///
    /// For a uniform input too there is one value per point: the whole derivative is their sum.
    pub fn input_adjoint(&self, tape: &Tape, i: usize) -> &[T] {
        assert!(i < tape.inputs.len(), "there is no input {i}");
        &self.adjoints[i * self.points..][..self.points]
    }

    /// Makes room, and broadcasts the constants unless they are there already.
    fn prepare(&mut self, tape: &Tape, n: usize) {
        let size = tape.len() * n;
        if self.values.len() < size {
            self.values.resize(size, T::ZERO);
        }
        if self.points != n || self.constants != tape.constants {
            for &(position, value) in &tape.constants {
                self.values[position as usize * n..][..n].fill(T::from_f64(value));
            }
            self.constants.clone_from(&tape.constants);
            self.points = n;
        }
    }
}

impl Tape {
    /// Evaluates all outputs at `n` points; [`Scratch::output`] shows them.
    ///
    /// # Panics
    /// If there is not one input per [`Tape::inputs`], or a column has not `n` values.
    pub fn eval<T: Real>(&self, inputs: &[Input<'_, T>], n: usize, scratch: &mut Scratch<T>) {
        T::eval(self, inputs, n, scratch);
    }

    /// What [`Real`] is asked for: its loops are compiled here, once for each of the two types, and not by everyone who
    /// evaluates tapes.
    pub(crate) fn eval_in<T: Real>(&self, inputs: &[Input<'_, T>], n: usize, scratch: &mut Scratch<T>) {
        assert_eq!(inputs.len(), self.inputs.len(), "one value per input");
        scratch.prepare(self, n);
        for (k, &instruction) in self.code.iter().enumerate() {
            let (before, rest) = scratch.values.split_at_mut(k * n);
            let out = &mut rest[..n];
            let column = |operand: u32| &before[operand as usize * n..][..n];
            match instruction {
                Instruction::Input(i) => inputs[i as usize].write(out),
                Instruction::Constant(_) => {}
                Instruction::Unary(op, a) => unary_column(op, column(a), out),
                Instruction::Power(a, n) => power_column(n, column(a), out),
                Instruction::Binary(op, a, b) => binary_column(op, column(a), column(b), out),
                Instruction::Select(c, a, b) => {
                    select_column(column(c), column(a), column(b), out);
                }
            }
        }
    }
}

fn map<T: Real>(a: &[T], out: &mut [T], f: impl Fn(T) -> T) {
    for (o, &x) in out.iter_mut().zip(a) {
        *o = f(x);
    }
}

fn map2<T: Real>(a: &[T], b: &[T], out: &mut [T], f: impl Fn(T, T) -> T) {
    for ((o, &x), &y) in out.iter_mut().zip(a).zip(b) {
        *o = f(x, y);
    }
}

pub(crate) fn unary_column<T: Real>(op: Unary, a: &[T], out: &mut [T]) {
    match op {
        Unary::Neg => map(a, out, |x| -x),
        Unary::Sin => map(a, out, T::sin),
        Unary::Cos => map(a, out, T::cos),
        Unary::Tan => map(a, out, T::tan),
        Unary::Asin => map(a, out, T::asin),
        Unary::Acos => map(a, out, T::acos),
        Unary::Atan => map(a, out, T::atan),
        Unary::Sinh => map(a, out, T::sinh),
        Unary::Cosh => map(a, out, T::cosh),
        Unary::Tanh => map(a, out, T::tanh),
        Unary::Exp => map(a, out, T::exp),
        Unary::Log => map(a, out, T::ln),
        Unary::Sqrt => map(a, out, T::sqrt),
        Unary::Abs => map(a, out, T::abs),
        Unary::Sign => map(a, out, T::sign),
        Unary::Sigmoid => map(a, out, T::sigmoid),
        Unary::Softplus => map(a, out, T::softplus),
        Unary::Erf => map(a, out, T::erf),
    }
}

/// The usual exponents are spelled out: a loop over the bits of the exponent would not vectorise.
pub(crate) fn power_column<T: Real>(n: i32, a: &[T], out: &mut [T]) {
    match n {
        2 => map(a, out, |x| x * x),
        3 => map(a, out, |x| x * x * x),
        4 => map(a, out, |x| (x * x) * (x * x)),
        -1 => map(a, out, |x| T::ONE / x),
        -2 => map(a, out, |x| T::ONE / (x * x)),
        _ => map(a, out, |x| x.powi(n)),
    }
}

/// Minimum and maximum pass NaN on, so that it is noticed.
pub(crate) fn binary_column<T: Real>(op: Binary, a: &[T], b: &[T], out: &mut [T]) {
    let is_nan = |x: T| x.partial_cmp(&x).is_none();
    match op {
        Binary::Add => map2(a, b, out, |x, y| x + y),
        Binary::Sub => map2(a, b, out, |x, y| x - y),
        Binary::Mul => map2(a, b, out, |x, y| x * y),
        Binary::Div => map2(a, b, out, |x, y| x / y),
        Binary::Pow => map2(a, b, out, T::powf),
        Binary::Min => map2(a, b, out, |x, y| if x < y || is_nan(x) { x } else { y }),
        Binary::Max => map2(a, b, out, |x, y| if x > y || is_nan(x) { x } else { y }),
        Binary::Compare(comparison) => compare_column(comparison, a, b, out),
    }
}

fn compare_column<T: Real>(comparison: Comparison, a: &[T], b: &[T], out: &mut [T]) {
    let truth = |holds: bool| if holds { T::ONE } else { T::ZERO };
    match comparison {
        Comparison::Less => map2(a, b, out, |x, y| truth(x < y)),
        Comparison::LessEqual => map2(a, b, out, |x, y| truth(x <= y)),
        Comparison::Greater => map2(a, b, out, |x, y| truth(x > y)),
        Comparison::GreaterEqual => map2(a, b, out, |x, y| truth(x >= y)),
        Comparison::Equal => map2(a, b, out, |x, y| truth(x == y)),
        Comparison::NotEqual => map2(a, b, out, |x, y| truth(x != y)),
    }
}

pub(crate) fn select_column<T: Real>(c: &[T], a: &[T], b: &[T], out: &mut [T]) {
    for (((o, &condition), &x), &y) in out.iter_mut().zip(c).zip(a).zip(b) {
        *o = if condition != T::ZERO { x } else { y };
    }
}
