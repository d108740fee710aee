//! Symbolic derivatives.

use std::f64::consts::PI;

use crate::graph::{By, Expr, Function, Graph, Leaf, MultiIndex, Node, Symbol};
use crate::ops::{Binary, Comparison, Unary};

impl Graph {
    /// The total derivative of `e` by `s`.
    ///
    /// Defined symbols are looked through (except `s` itself), and functions follow the chain rule through their inputs:
    /// the derivative of `f(g_1, g_2, ..)` is the sum of `f_i * d g_i/d s`.
    pub fn diff(&mut self, e: Expr, s: Symbol) -> Expr {
        self.differentiate(e, By::Total(s))
    }

    /// The derivative of `e` by one leaf with every other leaf held fixed; nothing is looked through.
    pub fn partial(&mut self, e: Expr, leaf: &Leaf) -> Expr {
        match self.leaf_id(leaf) {
            Some(id) => self.differentiate(e, By::Partial(id)),
            None => self.constant(0.0),
        }
    }

    fn differentiate(&mut self, e: Expr, by: By) -> Expr {
        let parts = self.reachable(&[e], |graph, part, next| {
            if !graph.derivatives.contains_key(&(by, part)) {
                next.extend(graph.node(part).operands());
                graph.chased(part, by, next);
            }
        });
        for part in parts {
            if !self.derivatives.contains_key(&(by, part)) {
                let derivative = self.derivative_of(part, by);
                self.derivatives.insert((by, part), derivative);
            }
        }
        self.derivatives[&(by, e)]
    }

    /// What a total derivative looks at behind a leaf.
    fn chased(&self, part: Expr, by: By, next: &mut Vec<Expr>) {
        if matches!(by, By::Total(_)) {
            next.extend(self.definition_of(part));
            if let Some(&Leaf::Derivative(f, _)) = self.as_leaf(part) {
                next.extend(self.function_inputs(f));
            }
        }
    }

    /// The derivative of one node, those of its parts being known.
    fn derivative_of(&mut self, e: Expr, by: By) -> Expr {
        match self.node(e) {
            Node::Constant(_) => self.constant(0.0),
            Node::Leaf(id) => self.leaf_derivative(e, id, by),
            Node::Unary(op, a) => {
                let da = self.derivatives[&(by, a)];
                if self.is(da, 0.0) {
                    return da;
                }
                let slope = self.slope(op, a, e);
                self.mul(slope, da)
            }
            Node::Power(a, n) => {
                let da = self.derivatives[&(by, a)];
                let factor = self.constant(f64::from(n));
                let power = self.integer_power(a, n - 1);
                let slope = self.mul(factor, power);
                self.mul(slope, da)
            }
            Node::Binary(op, a, b) => self.binary_derivative(e, op, [a, b], by),
            Node::Select(c, a, b) => {
                let (da, db) = (self.derivatives[&(by, a)], self.derivatives[&(by, b)]);
                self.select(c, da, db)
            }
        }
    }

    fn leaf_derivative(&mut self, e: Expr, id: u32, by: By) -> Expr {
        let is_it = match by {
            By::Total(s) => *self.leaf_at(id) == Leaf::Symbol(s),
            By::Partial(other) => id == other,
        };
        if is_it || matches!(by, By::Partial(_)) {
            return self.constant(f64::from(u8::from(is_it)));
        }
        if let Some(definition) = self.definition_of(e) {
            return self.derivatives[&(by, definition)];
        }
        match self.leaf_at(id).clone() {
            Leaf::Symbol(_) => self.constant(0.0),
            Leaf::Derivative(f, index) => self.chain_rule(f, &index, by),
        }
    }

    fn chain_rule(&mut self, f: Function, index: &MultiIndex, by: By) -> Expr {
        let inputs = self.function_inputs(f).to_vec();
        let mut total = self.constant(0.0);
        for (slot, input) in inputs.into_iter().enumerate() {
            let inner = self.derivatives[&(by, input)];
            if !self.is(inner, 0.0) {
                let outer = self.derivative(f, index.plus(slot));
                let term = self.mul(outer, inner);
                total = self.add(total, term);
            }
        }
        total
    }

    fn binary_derivative(&mut self, e: Expr, op: Binary, [a, b]: [Expr; 2], by: By) -> Expr {
        let (da, db) = (self.derivatives[&(by, a)], self.derivatives[&(by, b)]);
        match op {
            Binary::Add => self.add(da, db),
            Binary::Sub => self.sub(da, db),
            Binary::Mul => {
                let left = self.mul(da, b);
                let right = self.mul(a, db);
                self.add(left, right)
            }
            Binary::Div => {
                let left = self.div(da, b);
                let change = self.mul(e, db);
                let right = self.div(change, b);
                self.sub(left, right)
            }
            Binary::Pow => self.pow_derivative(e, [a, b], [da, db]),
            Binary::Min => {
                let first = self.compare(Comparison::Less, a, b);
                self.select(first, da, db)
            }
            Binary::Max => {
                let first = self.compare(Comparison::Greater, a, b);
                self.select(first, da, db)
            }
            Binary::Compare(_) => self.constant(0.0),
        }
    }

    /// `(a^b)' = b a^(b-1) a' + a^b log(a) b'`, the second factor being 0 at `a = 0`, its limit for `b > 0`.
    fn pow_derivative(&mut self, e: Expr, [a, b]: [Expr; 2], [da, db]: [Expr; 2]) -> Expr {
        let mut total = self.constant(0.0);
        if !self.is(da, 0.0) {
            let one = self.constant(1.0);
            let exponent = self.sub(b, one);
            let power = self.pow(a, exponent);
            let slope = self.mul(b, power);
            total = self.mul(slope, da);
        }
        if !self.is(db, 0.0) {
            let zero = self.constant(0.0);
            let at_zero = self.compare(Comparison::Equal, a, zero);
            let log = self.unary(Unary::Log, a);
            let product = self.mul(e, log);
            let slope = self.select(at_zero, zero, product);
            let term = self.mul(slope, db);
            total = self.add(total, term);
        }
        total
    }

    /// The derivative of `y = op(x)` by `x`, in forms that keep their relative accuracy for large `|x|`.
    fn slope(&mut self, op: Unary, x: Expr, y: Expr) -> Expr {
        match op {
            Unary::Neg => self.constant(-1.0),
            Unary::Sin => self.unary(Unary::Cos, x),
            Unary::Cos => {
                let sin = self.unary(Unary::Sin, x);
                self.neg(sin)
            }
            Unary::Tan => self.one_plus_square(y),
            Unary::Asin => self.asin_slope(x),
            Unary::Acos => {
                let slope = self.asin_slope(x);
                self.neg(slope)
            }
            Unary::Atan => {
                let denominator = self.one_plus_square(x);
                self.integer_power(denominator, -1)
            }
            Unary::Sinh => self.unary(Unary::Cosh, x),
            Unary::Cosh => self.unary(Unary::Sinh, x),
            Unary::Tanh => {
                let cosh = self.unary(Unary::Cosh, x);
                self.integer_power(cosh, -2)
            }
            Unary::Asinh => {
                let inside = self.one_plus_square(x);
                let root = self.unary(Unary::Sqrt, inside);
                self.integer_power(root, -1)
            }
            Unary::Exp => y,
            Unary::Log => self.integer_power(x, -1),
            Unary::Sqrt => {
                let half = self.constant(0.5);
                self.div(half, y)
            }
            Unary::Abs => self.unary(Unary::Sign, x),
            Unary::Sign => self.constant(0.0),
            Unary::Sigmoid => {
                let minus_x = self.neg(x);
                let rest = self.unary(Unary::Sigmoid, minus_x);
                self.mul(y, rest)
            }
            Unary::Softplus => self.unary(Unary::Sigmoid, x),
            Unary::Erf => {
                let square = self.integer_power(x, 2);
                let exponent = self.neg(square);
                let bell = self.unary(Unary::Exp, exponent);
                let height = self.constant(2.0 / PI.sqrt());
                self.mul(height, bell)
            }
        }
    }

    fn one_plus_square(&mut self, x: Expr) -> Expr {
        let one = self.constant(1.0);
        let square = self.integer_power(x, 2);
        self.add(one, square)
    }

    fn asin_slope(&mut self, x: Expr) -> Expr {
        let one = self.constant(1.0);
        let square = self.integer_power(x, 2);
        let inside = self.sub(one, square);
        let root = self.unary(Unary::Sqrt, inside);
        self.integer_power(root, -1)
    }
}
