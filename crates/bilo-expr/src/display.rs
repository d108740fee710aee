//! Expressions as readable text, in the syntax the parser reads.

use std::f64::consts::PI;
use std::fmt::{self, Display};

use crate::graph::{Expr, Function, Graph, Leaf, MultiIndex, Node};
use crate::ops::{Binary, Unary};

/// A shared sub-expression is written out at each use, so the text can be far longer than the graph: it is cut here.
const MAX_PIECES: usize = 20_000;

// How tightly the outermost operation of a text binds.
const COMPARE: u8 = 1;
const SUM: u8 = 2;
const PRODUCT: u8 = 3;
const POWER: u8 = 4;
const ATOM: u8 = 5;

impl Graph {
    /// The expression as text, with no more parentheses than needed: `u_t - 0.01*D*u_xx`.
    ///
    /// A derivative of a function is written `u_xx` where the inputs in question are plain symbols, else as
    /// `d(u, 0, 0)` with the numbers of the input slots. Very long texts are cut with `...`.
    pub fn display(&self, e: Expr) -> impl Display + '_ {
        Written { graph: self, e }
    }
}

struct Written<'g> {
    graph: &'g Graph,
    e: Expr,
}

/// What remains to be written; a stack of these replaces recursion.
enum Piece {
    Text(&'static str),
    Integer(i32),
    /// An expression, in parentheses if it binds less tightly than this.
    Operand(Expr, u8),
}

impl Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut waiting = vec![Piece::Operand(self.e, COMPARE)];
        for _ in 0..MAX_PIECES {
            match waiting.pop() {
                None => return Ok(()),
                Some(Piece::Text(text)) => f.write_str(text)?,
                Some(Piece::Integer(n)) => write!(f, "{n}")?,
                Some(Piece::Operand(e, level)) => self.write_operand(f, e, level, &mut waiting)?,
            }
        }
        f.write_str("...")
    }
}

impl Written<'_> {
    fn write_operand(
        &self,
        f: &mut fmt::Formatter<'_>,
        e: Expr,
        level: u8,
        waiting: &mut Vec<Piece>,
    ) -> fmt::Result {
        if self.binding(e) < level {
            f.write_str("(")?;
            waiting.push(Piece::Text(")"));
        }
        match self.graph.node(e) {
            Node::Constant(bits) => write_number(f, f64::from_bits(bits)),
            Node::Leaf(id) => match self.graph.leaf_at(id) {
                Leaf::Symbol(s) => f.write_str(self.graph.symbol_name(*s)),
                Leaf::Derivative(function, index) => self.write_derivative(f, *function, index),
            },
            node => {
                let start = waiting.len();
                waiting.extend(self.pieces(node));
                waiting[start..].reverse();
                Ok(())
            }
        }
    }

    fn binding(&self, e: Expr) -> u8 {
        let is_negative = |e| self.graph.as_constant(e).is_some_and(|c| c < 0.0);
        match self.graph.node(e) {
            Node::Constant(_) if is_negative(e) => SUM,
            Node::Binary(Binary::Mul, c, _) if is_negative(c) => SUM,
            Node::Constant(_) | Node::Leaf(_) | Node::Select(..) => ATOM,
            Node::Unary(Unary::Neg, _) => SUM,
            Node::Unary(..) => ATOM,
            Node::Power(..) => POWER,
            Node::Binary(op, ..) => match op {
                Binary::Add | Binary::Sub => SUM,
                Binary::Mul | Binary::Div => PRODUCT,
                Binary::Pow => POWER,
                Binary::Min | Binary::Max => ATOM,
                Binary::Compare(_) => COMPARE,
            },
        }
    }

    fn write_derivative(
        &self,
        f: &mut fmt::Formatter<'_>,
        function: Function,
        index: &MultiIndex,
    ) -> fmt::Result {
        let name = self.graph.function_name(function);
        if index.order() == 0 {
            return f.write_str(name);
        }
        let slots = (0..).zip(index.as_slice());
        let slots: Vec<usize> =
            slots.flat_map(|(slot, &order)| std::iter::repeat_n(slot, order.into())).collect();
        let inputs = self.graph.function_inputs(function);
        let suffix: Option<String> = slots.iter().map(|&slot| self.plain(inputs[slot])).collect();
        match suffix {
            Some(suffix) => write!(f, "{name}_{suffix}"),
            None => {
                let slots: Vec<String> = slots.iter().map(usize::to_string).collect();
                write!(f, "d({name}, {})", slots.join(", "))
            }
        }
    }

    /// The name of an input that is a plain symbol.
    fn plain(&self, input: Expr) -> Option<&str> {
        match self.graph.as_leaf(input) {
            Some(Leaf::Symbol(s)) => Some(self.graph.symbol_name(*s)),
            _ => None,
        }
    }

    /// The parts of an operation in reading order.
    fn pieces(&self, node: Node) -> Vec<Piece> {
        use Piece::{Integer, Operand, Text};
        match node {
            Node::Constant(_) | Node::Leaf(_) => Vec::new(),
            Node::Unary(Unary::Neg, a) => vec![Text("-"), Operand(a, PRODUCT)],
            Node::Unary(op, a) => vec![Text(op.name()), Text("("), Operand(a, COMPARE), Text(")")],
            Node::Power(a, n) => vec![Operand(a, ATOM), Text("^"), Integer(n)],
            Node::Select(c, a, b) => call("if", &[c, a, b]),
            Node::Binary(op, a, b) => self.infix(op, a, b),
        }
    }

    fn infix(&self, op: Binary, a: Expr, b: Expr) -> Vec<Piece> {
        let (left, name, right) = match op {
            Binary::Add => (SUM, " + ", SUM),
            Binary::Sub => (SUM, " - ", PRODUCT),
            // A negative number needs no parentheses in front: the whole product then binds like a sum.
            Binary::Mul if self.graph.as_constant(a).is_some() => (SUM, "*", PRODUCT),
            Binary::Mul => (PRODUCT, "*", PRODUCT),
            Binary::Div => (PRODUCT, "/", POWER),
            Binary::Pow => (ATOM, "^", POWER),
            Binary::Compare(comparison) => (SUM, comparison.name(), SUM),
            Binary::Min => return call("min", &[a, b]),
            Binary::Max => return call("max", &[a, b]),
        };
        let space = if matches!(op, Binary::Compare(_)) { " " } else { "" };
        vec![
            Piece::Operand(a, left),
            Piece::Text(space),
            Piece::Text(name),
            Piece::Text(space),
            Piece::Operand(b, right),
        ]
    }
}

fn call(name: &'static str, arguments: &[Expr]) -> Vec<Piece> {
    let mut pieces = vec![Piece::Text(name)];
    for (k, &argument) in arguments.iter().enumerate() {
        pieces.push(Piece::Text(if k == 0 { "(" } else { ", " }));
        pieces.push(Piece::Operand(argument, COMPARE));
    }
    pieces.push(Piece::Text(")"));
    pieces
}

fn write_number(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    let size = value.abs();
    if size == PI {
        f.write_str(if value < 0.0 { "-pi" } else { "pi" })
    } else if size == 0.0 || (1e-4..1e7).contains(&size) {
        write!(f, "{value}")
    } else {
        write!(f, "{value:e}")
    }
}
