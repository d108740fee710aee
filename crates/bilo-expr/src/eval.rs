//! Tapes over columns of points: every instruction is one loop that the compiler can vectorise.

mod real;

pub use real::Real;

use crate::ops::{Binary, Comparison, Unary};
use crate::tape::{Instruction, Tape, TapeId};

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
    /// Whether an instruction has one value for all points.
    is_uniform: Vec<bool>,
    /// The tape whose constants stand in `values`, for columns of length `points`.
    constants_of: Option<TapeId>,
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
        if self.points != n || self.constants_of != Some(tape.id) {
            for &(position, value) in &tape.constants {
                self.values[position as usize * n..][..n].fill(T::from_f64(value));
            }
            self.constants_of = Some(tape.id);
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
        match n {
            0 => return,
            1 => return self.eval_at_one(inputs, &mut scratch.values[..self.len()]),
            _ => {}
        }
        scratch.is_uniform.clear();
        for (k, &instruction) in self.code.iter().enumerate() {
            let (before, rest) = scratch.values.split_at_mut(k * n);
            let out = &mut rest[..n];
            let is_uniform = is_uniform(instruction, inputs, &scratch.is_uniform);
            scratch.is_uniform.push(is_uniform);
            if is_uniform {
                if let Some(value) = at_one(instruction, inputs, |operand| before[operand as usize * n]) {
                    out.fill(value);
                }
                continue;
            }
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

    /// At one point, where loops over columns would be all overhead: ordinary equations.
    fn eval_at_one<T: Real>(&self, inputs: &[Input<'_, T>], values: &mut [T]) {
        for (k, &instruction) in self.code.iter().enumerate() {
            if let Some(value) = at_one(instruction, inputs, |operand| values[operand as usize]) {
                values[k] = value;
            }
        }
    }
}

/// Whether the result is the same at all points, so that it need be found once only: `exp(log_D)` in an equation on a
/// grid.
fn is_uniform<T>(instruction: Instruction, inputs: &[Input<'_, T>], before: &[bool]) -> bool {
    match instruction {
        Instruction::Input(i) => matches!(inputs[i as usize], Input::Uniform(_)),
        _ => instruction.operands().all(|operand| before[operand]),
    }
}

/// The result at one point of operands at that point; none of a constant, which stands there already.
fn at_one<T: Real>(instruction: Instruction, inputs: &[Input<'_, T>], at: impl Fn(u32) -> T) -> Option<T> {
    Some(match instruction {
        Instruction::Input(i) => match inputs[i as usize] {
            Input::Column(column) => column[0],
            Input::Uniform(value) => value,
        },
        Instruction::Constant(_) => return None,
        Instruction::Unary(op, a) => unary(op, at(a)),
        Instruction::Power(a, n) => power(n, at(a)),
        Instruction::Binary(op, a, b) => binary(op, at(a), at(b)),
        Instruction::Select(c, a, b) => at(if at(c) != T::ZERO { a } else { b }),
    })
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

/// The operation is known within each loop, so that the compiler can vectorise it.
pub(crate) fn unary_column<T: Real>(op: Unary, a: &[T], out: &mut [T]) {
    macro_rules! columns {
        ($($name:ident),*) => { match op { $(Unary::$name => map(a, out, |x| unary(Unary::$name, x))),* } };
    }
    columns!(
        Neg, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Exp, Log, Sqrt, Abs, Sign, Sigmoid,
        Softplus, Erf
    )
}

#[inline(always)]
fn unary<T: Real>(op: Unary, x: T) -> T {
    match op {
        Unary::Neg => -x,
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tan => x.tan(),
        Unary::Asin => x.asin(),
        Unary::Acos => x.acos(),
        Unary::Atan => x.atan(),
        Unary::Asinh => x.asinh(),
        Unary::Sinh => x.sinh(),
        Unary::Cosh => x.cosh(),
        Unary::Tanh => x.tanh(),
        Unary::Exp => x.exp(),
        Unary::Log => x.ln(),
        Unary::Sqrt => x.sqrt(),
        Unary::Abs => x.abs(),
        Unary::Sign => x.sign(),
        Unary::Sigmoid => x.sigmoid(),
        Unary::Softplus => x.softplus(),
        Unary::Erf => x.erf(),
    }
}

/// The usual exponents are loops of their own: one over the bits of the exponent would not vectorise.
pub(crate) fn power_column<T: Real>(n: i32, a: &[T], out: &mut [T]) {
    match n {
        2 => map(a, out, |x| power(2, x)),
        3 => map(a, out, |x| power(3, x)),
        4 => map(a, out, |x| power(4, x)),
        -1 => map(a, out, |x| power(-1, x)),
        -2 => map(a, out, |x| power(-2, x)),
        _ => map(a, out, |x| power(n, x)),
    }
}

/// The usual exponents are spelled out.
#[inline(always)]
fn power<T: Real>(n: i32, x: T) -> T {
    match n {
        2 => x * x,
        3 => x * x * x,
        4 => (x * x) * (x * x),
        -1 => T::ONE / x,
        -2 => T::ONE / (x * x),
        _ => x.powi(n),
    }
}

pub(crate) fn binary_column<T: Real>(op: Binary, a: &[T], b: &[T], out: &mut [T]) {
    macro_rules! columns {
        ($($op:expr => $known:pat),*) => { match op { $($known => map2(a, b, out, |x, y| binary($op, x, y))),* } };
    }
    columns!(
        Binary::Add => Binary::Add,
        Binary::Sub => Binary::Sub,
        Binary::Mul => Binary::Mul,
        Binary::Div => Binary::Div,
        Binary::Pow => Binary::Pow,
        Binary::Min => Binary::Min,
        Binary::Max => Binary::Max,
        Binary::Compare(Comparison::Less) => Binary::Compare(Comparison::Less),
        Binary::Compare(Comparison::LessEqual) => Binary::Compare(Comparison::LessEqual),
        Binary::Compare(Comparison::Greater) => Binary::Compare(Comparison::Greater),
        Binary::Compare(Comparison::GreaterEqual) => Binary::Compare(Comparison::GreaterEqual),
        Binary::Compare(Comparison::Equal) => Binary::Compare(Comparison::Equal),
        Binary::Compare(Comparison::NotEqual) => Binary::Compare(Comparison::NotEqual)
    )
}

/// Minimum and maximum pass NaN on, so that it is noticed.
#[inline(always)]
fn binary<T: Real>(op: Binary, x: T, y: T) -> T {
    let is_nan = |x: T| x.partial_cmp(&x).is_none();
    match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x / y,
        Binary::Pow => x.powf(y),
        Binary::Min => {
            if x < y || is_nan(x) {
                x
            } else {
                y
            }
        }
        Binary::Max => {
            if x > y || is_nan(x) {
                x
            } else {
                y
            }
        }
        Binary::Compare(comparison) => {
            if compare(comparison, x, y) {
                T::ONE
            } else {
                T::ZERO
            }
        }
    }
}

#[inline(always)]
fn compare<T: Real>(comparison: Comparison, x: T, y: T) -> bool {
    match comparison {
        Comparison::Less => x < y,
        Comparison::LessEqual => x <= y,
        Comparison::Greater => x > y,
        Comparison::GreaterEqual => x >= y,
        Comparison::Equal => x == y,
        Comparison::NotEqual => x != y,
    }
}

pub(crate) fn select_column<T: Real>(c: &[T], a: &[T], b: &[T], out: &mut [T]) {
    for (((o, &condition), &x), &y) in out.iter_mut().zip(c).zip(a).zip(b) {
        *o = if condition != T::ZERO { x } else { y };
    }
}
