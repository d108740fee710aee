//! The reverse sweep over a tape: derivatives of all outputs, weighted by seeds, by every input.

use std::f64::consts::PI;

use crate::eval::Real;
use crate::eval::{Input, Scratch};
use crate::ops::{Binary, Unary};
use crate::tape::{Instruction, Tape};

impl Tape {
    /// The derivative of `sum_o seed_o * output_o` by every input, at the points evaluated last with this tape;
    /// [`Scratch::input_adjoint`] shows it.
    ///
    /// # Panics
    /// If there is not one seed per output, or a column has not one value per point.
    pub fn adjoint<T: Real>(&self, seeds: &[Input<'_, T>], scratch: &mut Scratch<T>) {
        T::adjoint(self, seeds, scratch);
    }

    /// What [`Real`] is asked for, compiled here.
    pub(crate) fn adjoint_in<T: Real>(&self, seeds: &[Input<'_, T>], scratch: &mut Scratch<T>) {
        assert_eq!(seeds.len(), self.outputs.len(), "one seed per output");
        let n = scratch.points;
        let values = &scratch.values;
        let adjoints = &mut scratch.adjoints;
        adjoints.clear();
        adjoints.resize(self.len() * n, T::ZERO);
        for (seed, &output) in seeds.iter().zip(&self.outputs) {
            seed.add_to(&mut adjoints[output as usize * n..][..n]);
        }
        for k in (self.inputs.len()..self.len()).rev().filter(|_| n > 0) {
            if self.varies[k] {
                let (before, rest) = adjoints.split_at_mut(k * n);
                self.pull_back(k, n, values, &rest[..n], before);
            }
        }
    }

    /// Passes the adjoint `g` of instruction `k` on to its operands.
    fn pull_back<T: Real>(&self, k: usize, n: usize, values: &[T], g: &[T], before: &mut [T]) {
        let column = |operand: usize| &values[operand * n..][..n];
        let result = column(k);
        let mut pull = Pull { g, n, varies: &self.varies, before };
        match self.code[k] {
            Instruction::Input(_) | Instruction::Constant(_) => {}
            Instruction::Unary(op, a) => {
                pull_unary(op, &mut pull, a, column(a as usize), result);
            }
            Instruction::Power(a, n) => pull_power(n, &mut pull, a, column(a as usize)),
            Instruction::Binary(op, a, b) => {
                let (x, y) = (column(a as usize), column(b as usize));
                pull_binary(op, &mut pull, [a, b], [x, y], result);
            }
            Instruction::Select(c, a, b) => {
                let truth = |c: T| if c != T::ZERO { T::ONE } else { T::ZERO };
                let condition = column(c as usize);
                pull.by(a, condition, condition, |c, _| truth(c));
                pull.by(b, condition, condition, |c, _| T::ONE - truth(c));
            }
        }
    }
}

struct Pull<'a, T> {
    g: &'a [T],
    n: usize,
    varies: &'a [bool],
    before: &'a mut [T],
}

impl<T: Real> Pull<'_, T> {
    /// `adjoint[operand] += g * slope(x, y)`.
    ///
    /// Where `g` is zero nothing is added, whatever the slope: the branch of an `if` that was not taken may hold
    /// infinities.
    fn by(&mut self, operand: u32, x: &[T], y: &[T], slope: impl Fn(T, T) -> T) {
        if !self.varies[operand as usize] {
            return;
        }
        let adjoint = &mut self.before[operand as usize * self.n..][..self.n];
        for (((sum, &g), &x), &y) in adjoint.iter_mut().zip(self.g).zip(x).zip(y) {
            *sum += if g == T::ZERO { T::ZERO } else { g * slope(x, y) };
        }
    }
}

/// The slopes of `y = op(x)`, in the same forms as the symbolic derivatives.
fn pull_unary<T: Real>(op: Unary, pull: &mut Pull<'_, T>, a: u32, x: &[T], y: &[T]) {
    let one = T::ONE;
    let asin_slope = |x: T| one / (one - x * x).sqrt();
    match op {
        Unary::Neg => pull.by(a, x, y, |_, _| -one),
        Unary::Sin => pull.by(a, x, y, |x, _| x.cos()),
        Unary::Cos => pull.by(a, x, y, |x, _| -x.sin()),
        Unary::Tan => pull.by(a, x, y, |_, y| one + y * y),
        Unary::Asin => pull.by(a, x, y, |x, _| asin_slope(x)),
        Unary::Acos => pull.by(a, x, y, |x, _| -asin_slope(x)),
        Unary::Atan => pull.by(a, x, y, |x, _| one / (one + x * x)),
        Unary::Sinh => pull.by(a, x, y, |x, _| x.cosh()),
        Unary::Cosh => pull.by(a, x, y, |x, _| x.sinh()),
        Unary::Tanh => pull.by(a, x, y, |x, _| x.cosh().powi(-2)),
        Unary::Asinh => pull.by(a, x, y, |x, _| one / (one + x * x).sqrt()),
        Unary::Exp => pull.by(a, x, y, |_, y| y),
        Unary::Log => pull.by(a, x, y, |x, _| one / x),
        Unary::Sqrt => pull.by(a, x, y, |_, y| T::from_f64(0.5) / y),
        Unary::Abs => pull.by(a, x, y, |x, _| x.sign()),
        Unary::Sign => {}
        Unary::Sigmoid => pull.by(a, x, y, |x, y| y * (-x).sigmoid()),
        Unary::Softplus => pull.by(a, x, y, |x, _| x.sigmoid()),
        Unary::Erf => {
            let height = T::from_f64(2.0 / PI.sqrt());
            pull.by(a, x, y, |x, _| height * (-(x * x)).exp());
        }
    }
}

fn pull_power<T: Real>(n: i32, pull: &mut Pull<'_, T>, a: u32, x: &[T]) {
    let factor = T::from_f64(f64::from(n));
    match n {
        2 => pull.by(a, x, x, |x, _| factor * x),
        3 => pull.by(a, x, x, |x, _| factor * (x * x)),
        _ => pull.by(a, x, x, |x, _| factor * x.powi(n - 1)),
    }
}

fn pull_binary<T: Real>(
    op: Binary,
    pull: &mut Pull<'_, T>,
    [a, b]: [u32; 2],
    [x, y]: [&[T]; 2],
    result: &[T],
) {
    let one = T::ONE;
    let truth = |holds: bool| if holds { T::ONE } else { T::ZERO };
    match op {
        Binary::Add => {
            pull.by(a, x, y, |_, _| one);
            pull.by(b, x, y, |_, _| one);
        }
        Binary::Sub => {
            pull.by(a, x, y, |_, _| one);
            pull.by(b, x, y, |_, _| -one);
        }
        Binary::Mul => {
            pull.by(a, x, y, |_, y| y);
            pull.by(b, x, y, |x, _| x);
        }
        Binary::Div => {
            pull.by(a, x, y, |_, y| one / y);
            pull.by(b, result, y, |quotient, y| -quotient / y);
        }
        Binary::Pow => {
            pull.by(a, x, y, |x, y| y * x.powf(y - one));
            let log = |x: T| if x == T::ZERO { T::ZERO } else { x.ln() };
            pull.by(b, x, result, |x, power| power * log(x));
        }
        Binary::Min => {
            pull.by(a, x, y, |x, y| truth(x < y));
            pull.by(b, x, y, |x, y| one - truth(x < y));
        }
        Binary::Max => {
            pull.by(a, x, y, |x, y| truth(x > y));
            pull.by(b, x, y, |x, y| one - truth(x > y));
        }
        Binary::Compare(_) => {}
    }
}
