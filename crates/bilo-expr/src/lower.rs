//! Tree to graph: names are looked up, derivatives taken, vectors of `grad` and `div` resolved to numbers.

use crate::ast::{Ast, AstKind, NodeId, Operator};
use crate::error::{ExprError, Span};
use crate::functions::{Builtin, named_constant};
use crate::graph::{Expr, Graph, Leaf, Symbol};
use crate::ops::{Comparison, Unary};
use crate::scope::Scope;

/// Repeated derivatives of one expression may grow without bound: beyond this many nodes we refuse.
const MAX_GROWTH: usize = 250_000;

/// Derivatives of functions stop here.
const MAX_ORDER: usize = 16;

/// Writes a parsed expression into the graph, with names looked up in the scope.
///
/// The result must be a number: an expression that is a vector is an error.
pub fn lower(ast: &Ast, graph: &mut Graph, scope: &Scope) -> Result<Expr, ExprError> {
    let mut lowering = Lowering {
        ast,
        scope,
        size_before: graph.node_count(),
        graph,
        values: Vec::with_capacity(ast.nodes.len()),
    };
    // Operands come first in the list, so one pass suffices.
    for id in 0..ast.nodes.len() {
        let value = lowering.node(id)?;
        lowering.values.push(value);
    }
    lowering.scalar(ast.root(), "the result")
}

#[derive(Clone)]
enum Value {
    Scalar(Expr),
    /// One component per coordinate of space.
    Vector(Vec<Expr>),
}

struct Lowering<'a> {
    ast: &'a Ast,
    graph: &'a mut Graph,
    scope: &'a Scope,
    size_before: usize,
    /// What the nodes so far have become.
    values: Vec<Value>,
}

impl Lowering<'_> {
    fn node(&mut self, id: NodeId) -> Result<Value, ExprError> {
        let node = &self.ast.nodes[id];
        match &node.kind {
            AstKind::Number(value) => Ok(Value::Scalar(self.graph.constant(*value))),
            AstKind::Name(name) => self.name(name, node.span).map(Value::Scalar),
            AstKind::Negate(a) => Ok(self.map(*a, Graph::neg)),
            AstKind::Not(a) => {
                let a = self.scalar(*a, "the operand of `not`")?;
                let zero = self.graph.constant(0.0);
                let result = self.graph.compare(Comparison::Equal, a, zero);
                Ok(Value::Scalar(result))
            }
            AstKind::Binary(operator, a, b) => self.binary(*operator, *a, *b, node.span),
            AstKind::Call(name, arguments) => self.call(name, arguments, node.span),
            AstKind::Derivative(of, by) => {
                let mut e = self.scalar(*of, "the argument of `d`")?;
                for (name, span) in by {
                    let symbol = self.scope.find_variable(name, *span)?;
                    e = self.differentiate(e, symbol, node.span)?;
                }
                Ok(Value::Scalar(e))
            }
            AstKind::Functional(_) => {
                let message = "means, integrals and values at other places belong to what is observed";
                Err(ExprError::new(node.span, message).help("write them in the `value` of an observation"))
            }
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Result<Expr, ExprError> {
        if let Some(value) = named_constant(name) {
            return Ok(self.graph.constant(value));
        }
        let resolved = self.scope.resolve(name, span)?;
        let mut e = resolved.base;
        for symbol in resolved.by {
            e = self.differentiate(e, symbol, span)?;
        }
        Ok(e)
    }

    fn differentiate(&mut self, e: Expr, s: Symbol, span: Span) -> Result<Expr, ExprError> {
        let order = |leaf: &Leaf| match leaf {
            Leaf::Symbol(_) => 0,
            Leaf::Derivative(_, index) => index.order(),
        };
        let highest = self.graph.leaves(&[e]).iter().map(order).max();
        if highest.unwrap_or(0) >= MAX_ORDER {
            let message = format!("derivatives beyond order {MAX_ORDER} are not supported");
            return Err(ExprError::new(span, message));
        }
        if self.graph.node_count() - self.size_before > MAX_GROWTH {
            let message = "this becomes too large when differentiated";
            return Err(ExprError::new(span, message).help("take fewer derivatives"));
        }
        Ok(self.graph.diff(e, s))
    }

    fn binary(&mut self, operator: Operator, a: NodeId, b: NodeId, span: Span) -> Result<Value, ExprError> {
        let pair = (&self.values[a], &self.values[b]);
        let (&Value::Scalar(x), &Value::Scalar(y)) = pair else {
            return self.vector_binary(operator, a, b, span);
        };
        let graph = &mut *self.graph;
        Ok(Value::Scalar(match operator {
            Operator::Add => graph.add(x, y),
            Operator::Sub => graph.sub(x, y),
            Operator::Mul => graph.mul(x, y),
            Operator::Div => graph.div(x, y),
            Operator::Pow => graph.pow(x, y),
            Operator::Compare(comparison) => graph.compare(comparison, x, y),
            Operator::And => {
                let (x, y) = (self.truth(a, x), self.truth(b, y));
                self.graph.mul(x, y)
            }
            Operator::Or => {
                let (x, y) = (self.truth(a, x), self.truth(b, y));
                self.graph.max(x, y)
            }
        }))
    }

    /// 1 or 0: any number other than zero is true.
    fn truth(&mut self, id: NodeId, value: Expr) -> Expr {
        let is_truth = matches!(
            self.ast.nodes[id].kind,
            AstKind::Not(_) | AstKind::Binary(Operator::Compare(_) | Operator::And | Operator::Or, ..)
        );
        if is_truth {
            return value;
        }
        let zero = self.graph.constant(0.0);
        self.graph.compare(Comparison::NotEqual, value, zero)
    }

    fn vector_binary(
        &mut self,
        operator: Operator,
        a: NodeId,
        b: NodeId,
        span: Span,
    ) -> Result<Value, ExprError> {
        let (left, right) = (self.values[a].clone(), self.values[b].clone());
        let graph = &mut *self.graph;
        let components = match (operator, left, right) {
            (Operator::Add, Value::Vector(u), Value::Vector(v)) => {
                zip(u, v).map(|(u, v)| graph.add(u, v)).collect()
            }
            (Operator::Sub, Value::Vector(u), Value::Vector(v)) => {
                zip(u, v).map(|(u, v)| graph.sub(u, v)).collect()
            }
            (Operator::Mul, Value::Scalar(s), Value::Vector(v)) => {
                v.into_iter().map(|v| graph.mul(s, v)).collect()
            }
            (Operator::Mul, Value::Vector(v), Value::Scalar(s)) => {
                v.into_iter().map(|v| graph.mul(v, s)).collect()
            }
            (Operator::Div, Value::Vector(v), Value::Scalar(s)) => {
                v.into_iter().map(|v| graph.div(v, s)).collect()
            }
            _ => return Err(self.no_such_vector_operation(operator, a, b, span)),
        };
        Ok(Value::Vector(components))
    }

    fn no_such_vector_operation(&self, operator: Operator, a: NodeId, b: NodeId, span: Span) -> ExprError {
        let (left, right) = (self.ast.source(a), self.ast.source(b));
        let (message, help) = match operator {
            Operator::Add | Operator::Sub => (
                "a vector and a number cannot be added or subtracted",
                "take `div(...)` or `dot(..., ...)` of the vector first".to_string(),
            ),
            Operator::Mul => {
                ("two vectors cannot be multiplied with `*`", format!("write `dot({left}, {right})`"))
            }
            Operator::Div => ("nothing can be divided by a vector", "divide by a number".to_string()),
            Operator::Pow => (
                "a power needs numbers, not vectors",
                format!("for the squared length write `dot({left}, {left})`"),
            ),
            Operator::Compare(_) | Operator::And | Operator::Or => (
                "only numbers can be compared, not vectors",
                "take `dot(..., ...)` of the vector first".to_string(),
            ),
        };
        ExprError::new(span, message).help(help)
    }

    fn call(&mut self, name: &str, ids: &[NodeId], span: Span) -> Result<Value, ExprError> {
        let name_span = Span::new(span.start, span.start + name.len());
        let Some(builtin) = Builtin::find(name) else {
            return Err(self.scope.unknown_function(name, name_span));
        };
        if let Err(wanted) = builtin.accepts(ids.len()) {
            let message = format!("`{name}` takes {wanted}, not {}", ids.len());
            return Err(ExprError::new(span, message));
        }
        match builtin {
            Builtin::Unary(op) => self.unary(op, ids[0]).map(Value::Scalar),
            Builtin::Log10 => self.log10(ids[0]).map(Value::Scalar),
            Builtin::Acosh => self.acosh(ids[0]).map(Value::Scalar),
            Builtin::Atanh => self.atanh(ids[0]).map(Value::Scalar),
            Builtin::Min => self.fold(name, ids, Graph::min).map(Value::Scalar),
            Builtin::Max => self.fold(name, ids, Graph::max).map(Value::Scalar),
            Builtin::If => self.choice(ids).map(Value::Scalar),
            Builtin::Grad => self.grad(ids[0], span).map(Value::Vector),
            Builtin::Div => self.div(ids[0], span).map(Value::Scalar),
            Builtin::Lap => self.lap(ids[0], span).map(Value::Scalar),
            Builtin::Dot => self.dot(ids[0], ids[1]).map(Value::Scalar),
        }
    }

    fn unary(&mut self, op: Unary, id: NodeId) -> Result<Expr, ExprError> {
        let a = self.scalar(id, &format!("the argument of `{}`", op.name()))?;
        Ok(self.graph.unary(op, a))
    }

    fn log10(&mut self, id: NodeId) -> Result<Expr, ExprError> {
        let a = self.scalar(id, "the argument of `log10`")?;
        let (natural, ten) = (self.graph.unary(Unary::Log, a), self.graph.constant(std::f64::consts::LN_10));
        Ok(self.graph.div(natural, ten))
    }

    /// log(x + sqrt(x² - 1)).
    fn acosh(&mut self, id: NodeId) -> Result<Expr, ExprError> {
        let x = self.scalar(id, "the argument of `acosh`")?;
        let (square, one) = (self.graph.mul(x, x), self.graph.constant(1.0));
        let inside = self.graph.sub(square, one);
        let root = self.graph.unary(Unary::Sqrt, inside);
        let sum = self.graph.add(x, root);
        Ok(self.graph.unary(Unary::Log, sum))
    }

    /// asinh(x/sqrt(1 - x²)), which keeps its digits near zero.
    fn atanh(&mut self, id: NodeId) -> Result<Expr, ExprError> {
        let x = self.scalar(id, "the argument of `atanh`")?;
        let (square, one) = (self.graph.mul(x, x), self.graph.constant(1.0));
        let inside = self.graph.sub(one, square);
        let root = self.graph.unary(Unary::Sqrt, inside);
        let ratio = self.graph.div(x, root);
        Ok(self.graph.unary(Unary::Asinh, ratio))
    }

    fn fold(
        &mut self,
        name: &str,
        ids: &[NodeId],
        combine: fn(&mut Graph, Expr, Expr) -> Expr,
    ) -> Result<Expr, ExprError> {
        let role = format!("an argument of `{name}`");
        let mut result = self.scalar(ids[0], &role)?;
        for &id in &ids[1..] {
            let next = self.scalar(id, &role)?;
            result = combine(self.graph, result, next);
        }
        Ok(result)
    }

    fn choice(&mut self, ids: &[NodeId]) -> Result<Expr, ExprError> {
        let c = self.scalar(ids[0], "an argument of `if`")?;
        let a = self.scalar(ids[1], "an argument of `if`")?;
        let b = self.scalar(ids[2], "an argument of `if`")?;
        Ok(self.graph.select(c, a, b))
    }

    fn grad(&mut self, id: NodeId, span: Span) -> Result<Vec<Expr>, ExprError> {
        let e = self.scalar(id, "the argument of `grad`")?;
        let space = self.space(span)?;
        let components = space.iter().map(|&s| self.differentiate(e, s, span));
        components.collect()
    }

    fn div(&mut self, id: NodeId, span: Span) -> Result<Expr, ExprError> {
        let components = self.vector(id, "div")?;
        let mut terms = Vec::new();
        for (component, s) in zip(components, self.space(span)?) {
            terms.push(self.differentiate(component, s, span)?);
        }
        Ok(self.graph.sum(&terms))
    }

    fn lap(&mut self, id: NodeId, span: Span) -> Result<Expr, ExprError> {
        let e = self.scalar(id, "the argument of `lap`")?;
        let mut terms = Vec::new();
        for s in self.space(span)? {
            let first = self.differentiate(e, s, span)?;
            terms.push(self.differentiate(first, s, span)?);
        }
        Ok(self.graph.sum(&terms))
    }

    fn dot(&mut self, a: NodeId, b: NodeId) -> Result<Expr, ExprError> {
        let (a, b) = (self.vector(a, "dot")?, self.vector(b, "dot")?);
        let products: Vec<Expr> = zip(a, b).map(|(a, b)| self.graph.mul(a, b)).collect();
        Ok(self.graph.sum(&products))
    }

    fn space(&self, span: Span) -> Result<Vec<Symbol>, ExprError> {
        match self.scope.space_symbols() {
            [] => Err(ExprError::new(span, "there are no space coordinates here")),
            symbols => Ok(symbols.to_vec()),
        }
    }

    fn map(&mut self, id: NodeId, operation: fn(&mut Graph, Expr) -> Expr) -> Value {
        match self.values[id].clone() {
            Value::Scalar(e) => Value::Scalar(operation(self.graph, e)),
            Value::Vector(v) => {
                let components = v.into_iter().map(|e| operation(self.graph, e));
                Value::Vector(components.collect())
            }
        }
    }

    fn scalar(&self, id: NodeId, role: &str) -> Result<Expr, ExprError> {
        match &self.values[id] {
            Value::Scalar(e) => Ok(*e),
            Value::Vector(_) => {
                let text = self.ast.source(id);
                let message = format!("{role} must be a number, and this is a vector");
                Err(ExprError::new(self.ast.nodes[id].span, message)
                    .help(format!("write `div({text})` or `dot({text}, ...)`")))
            }
        }
    }

    fn vector(&self, id: NodeId, user: &str) -> Result<Vec<Expr>, ExprError> {
        match &self.values[id] {
            Value::Vector(components) => Ok(components.clone()),
            Value::Scalar(_) => {
                let text = self.ast.source(id);
                let message = format!("`{user}` needs a vector, and this is a number");
                Err(ExprError::new(self.ast.nodes[id].span, message)
                    .help(format!("`grad({text})` would be a vector")))
            }
        }
    }
}

fn zip<A, B>(a: Vec<A>, b: Vec<B>) -> impl Iterator<Item = (A, B)> {
    a.into_iter().zip(b)
}
