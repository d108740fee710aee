//! Making expressions, with the modest simplifications that keep derivatives small.
//!
//! Constants are folded and moved to the front of products, signs are moved outwards, the neutral elements vanish, and
//! the operands of commutative operations are put in one order so that equal things are found equal. `0*x` is 0 even
//! where `x` is not finite.

use crate::eval::{binary_column, power_column, select_column, unary_column};
use crate::graph::{Expr, Graph, Node};
use crate::ops::{Binary, Comparison, Unary};

/// Larger integer exponents go through the general power.
const MAX_INTEGER_POWER: f64 = 64.0;

impl Graph {
    /// `a + b`
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        let (a, b) = self.constants_first(a, b);
        if let Some(folded) = self.fold_binary(Binary::Add, a, b) {
            return folded;
        }
        if self.is(a, 0.0) {
            return b;
        }
        if a == b {
            let two = self.constant(2.0);
            return self.mul(two, a);
        }
        if let Some(opposite) = self.opposite(b) {
            return self.sub(a, opposite);
        }
        if let Some(opposite) = self.opposite(a) {
            return self.sub(b, opposite);
        }
        self.intern(Node::Binary(Binary::Add, a, b))
    }

    /// `a - b`
    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        if let Some(folded) = self.fold_binary(Binary::Sub, a, b) {
            return folded;
        }
        if a == b {
            return self.constant(0.0);
        }
        if self.is(b, 0.0) {
            return a;
        }
        if self.is(a, 0.0) {
            return self.neg(b);
        }
        match self.opposite(b) {
            Some(opposite) => self.add(a, opposite),
            None => self.intern(Node::Binary(Binary::Sub, a, b)),
        }
    }

    /// `a*b`
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        let (a, b) = self.constants_first(a, b);
        if let Some(folded) = self.fold_binary(Binary::Mul, a, b) {
            return folded;
        }
        if self.is(a, 0.0) {
            return a;
        }
        if self.is(a, 1.0) {
            return b;
        }
        if self.is(a, -1.0) {
            return self.neg(b);
        }
        let (p, x) = self.split_factor(a);
        let (q, y) = self.split_factor(b);
        match self.as_constant(a) {
            Some(c) if y != b && (c * q).is_normal() => {
                let factor = self.constant(c * q);
                self.mul(factor, y)
            }
            None if (x != a || y != b) && (p * q).is_normal() => {
                let factor = self.constant(p * q);
                let rest = self.mul(x, y);
                self.mul(factor, rest)
            }
            _ if a == b => self.integer_power(a, 2),
            _ => self.intern(Node::Binary(Binary::Mul, a, b)),
        }
    }

    /// `a/b`
    pub fn div(&mut self, a: Expr, b: Expr) -> Expr {
        if let Some(folded) = self.fold_binary(Binary::Div, a, b) {
            return folded;
        }
        if self.is(a, 0.0) || self.is(b, 1.0) {
            return a;
        }
        if let Node::Unary(Unary::Neg, denominator) = self.node(b) {
            let quotient = self.div(a, denominator);
            return self.neg(quotient);
        }
        let (factor, numerator) = self.split_factor(a);
        if numerator != a {
            let factor = self.constant(factor);
            let quotient = self.div(numerator, b);
            return self.mul(factor, quotient);
        }
        self.intern(Node::Binary(Binary::Div, a, b))
    }

    /// `a^b`. Small integer exponents become repeated multiplication, which is right for a negative base.
    pub fn pow(&mut self, a: Expr, b: Expr) -> Expr {
        if let Some(exponent) = self.as_constant(b) {
            if exponent.fract() == 0.0 && exponent.abs() <= MAX_INTEGER_POWER {
                return self.integer_power(a, exponent as i32);
            }
            if exponent == 0.5 {
                return self.unary(Unary::Sqrt, a);
            }
        }
        if let Some(folded) = self.fold_binary(Binary::Pow, a, b) {
            return folded;
        }
        if self.is(a, 1.0) {
            return a;
        }
        if self.is(a, std::f64::consts::E) {
            return self.unary(Unary::Exp, b);
        }
        self.intern(Node::Binary(Binary::Pow, a, b))
    }

    pub(crate) fn integer_power(&mut self, a: Expr, n: i32) -> Expr {
        match (n, self.as_constant(a)) {
            (0, _) => self.constant(1.0),
            (1, _) => a,
            (_, Some(base)) => {
                let mut value = [0.0];
                power_column(n, &[base], &mut value);
                self.constant(value[0])
            }
            _ => self.intern(Node::Power(a, n)),
        }
    }

    /// `-a`
    pub fn neg(&mut self, a: Expr) -> Expr {
        if let Some(opposite) = self.opposite(a) {
            return opposite;
        }
        match self.node(a) {
            Node::Constant(bits) => self.constant(-f64::from_bits(bits)),
            Node::Binary(Binary::Sub, x, y) => self.sub(y, x),
            Node::Binary(Binary::Mul, c, x) if self.as_constant(c).is_some() => {
                let c = self.neg(c);
                self.mul(c, x)
            }
            _ => self.intern(Node::Unary(Unary::Neg, a)),
        }
    }

    /// A function of one number.
    pub fn unary(&mut self, op: Unary, a: Expr) -> Expr {
        if op == Unary::Neg {
            return self.neg(a);
        }
        match self.as_constant(a) {
            Some(x) => {
                let mut value = [0.0];
                unary_column(op, &[x], &mut value);
                self.constant(value[0])
            }
            None => self.intern(Node::Unary(op, a)),
        }
    }

    /// `min(a, b)`
    pub fn min(&mut self, a: Expr, b: Expr) -> Expr {
        self.extremum(Binary::Min, a, b)
    }

    /// `max(a, b)`
    pub fn max(&mut self, a: Expr, b: Expr) -> Expr {
        self.extremum(Binary::Max, a, b)
    }

    fn extremum(&mut self, op: Binary, a: Expr, b: Expr) -> Expr {
        let (a, b) = self.constants_first(a, b);
        if a == b {
            return a;
        }
        let folded = self.fold_binary(op, a, b);
        folded.unwrap_or_else(|| self.intern(Node::Binary(op, a, b)))
    }

    /// 1 where the comparison holds, 0 elsewhere.
    pub fn compare(&mut self, comparison: Comparison, a: Expr, b: Expr) -> Expr {
        let op = Binary::Compare(comparison);
        let folded = self.fold_binary(op, a, b);
        folded.unwrap_or_else(|| self.intern(Node::Binary(op, a, b)))
    }

    /// `a` where `c` is not zero, `b` elsewhere.
    pub fn select(&mut self, c: Expr, a: Expr, b: Expr) -> Expr {
        if a == b {
            return a;
        }
        match self.as_constant(c) {
            Some(c) => {
                let mut first = [0.0];
                select_column(&[c], &[1.0], &[0.0], &mut first);
                if first[0] == 1.0 { a } else { b }
            }
            None => self.intern(Node::Select(c, a, b)),
        }
    }

    /// The sum of all terms; of none, 0.
    pub fn sum(&mut self, terms: &[Expr]) -> Expr {
        let zero = self.constant(0.0);
        terms.iter().fold(zero, |sum, &term| self.add(sum, term))
    }

    pub(crate) fn binary(&mut self, op: Binary, a: Expr, b: Expr) -> Expr {
        match op {
            Binary::Add => self.add(a, b),
            Binary::Sub => self.sub(a, b),
            Binary::Mul => self.mul(a, b),
            Binary::Div => self.div(a, b),
            Binary::Pow => self.pow(a, b),
            Binary::Min => self.min(a, b),
            Binary::Max => self.max(a, b),
            Binary::Compare(comparison) => self.compare(comparison, a, b),
        }
    }

    pub(crate) fn is(&self, e: Expr, value: f64) -> bool {
        self.as_constant(e) == Some(value)
    }

    fn fold_binary(&mut self, op: Binary, a: Expr, b: Expr) -> Option<Expr> {
        let (x, y) = (self.as_constant(a)?, self.as_constant(b)?);
        let mut value = [0.0];
        binary_column(op, &[x], &[y], &mut value);
        Some(self.constant(value[0]))
    }

    fn constants_first(&self, a: Expr, b: Expr) -> (Expr, Expr) {
        let rank = |e| (self.as_constant(e).is_none(), e);
        if rank(a) <= rank(b) { (a, b) } else { (b, a) }
    }

    /// `-e` where it is simpler than `e`: for `-x`, a negative number, or a negative number times something.
    fn opposite(&mut self, e: Expr) -> Option<Expr> {
        match self.node(e) {
            Node::Unary(Unary::Neg, x) => Some(x),
            Node::Constant(bits) if f64::from_bits(bits) < 0.0 => Some(self.constant(-f64::from_bits(bits))),
            Node::Binary(Binary::Mul, c, x) if self.as_constant(c)? < 0.0 => {
                let c = self.opposite(c)?;
                Some(self.mul(c, x))
            }
            _ => None,
        }
    }

    /// `e = factor*rest` with the constant factor taken out.
    fn split_factor(&self, e: Expr) -> (f64, Expr) {
        match self.node(e) {
            Node::Unary(Unary::Neg, x) => (-1.0, x),
            Node::Binary(Binary::Mul, c, x) => match self.as_constant(c) {
                Some(factor) => (factor, x),
                None => (1.0, e),
            },
            _ => (1.0, e),
        }
    }
}
