//! What was written, with spans.

use crate::error::Span;
use crate::functions::RESERVED;
use crate::ops::Comparison;

/// A parsed expression.
///
/// The tree lies in one flat list, operands before the operators that use them and the root last, so that walking or
/// dropping even a very long chain of operators needs no deep recursion.
#[derive(Clone, Debug)]
pub struct Ast {
    pub(crate) text: String,
    pub(crate) nodes: Vec<AstNode>,
}

/// The position of a node in [`Ast::nodes`].
pub type NodeId = usize;

/// One node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct AstNode {
    /// What it is.
    pub kind: AstKind,
    /// Where it stands in the text, with the parentheses around it.
    pub span: Span,
}

/// The kinds of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum AstKind {
    /// A literal number.
    Number(f64),
    /// A name: a variable, a constant, or a derivative such as `u_xx`.
    Name(String),
    /// `-a`
    Negate(NodeId),
    /// `not a`
    Not(NodeId),
    /// `a op b`
    Binary(Operator, NodeId, NodeId),
    /// `name(a, b, ..)`
    Call(String, Vec<NodeId>),
    /// `d(a, x, y, ..)`: what is differentiated, and by which variables
    Derivative(NodeId, Vec<(String, Span)>),
    /// `mean(a, x = [0, 1])`, `integral(a, x)`, `u(x = 0.4)`: of values at more than one place, or at another one
    Functional(Functional),
}

/// What is made of values at other places than the one where an expression is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Functional {
    /// What is made of them.
    pub kind: FunctionalKind,
    /// Of which expression.
    pub of: NodeId,
    /// The variables that are bound.
    pub over: Vec<Over>,
}

/// The kinds of functionals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionalKind {
    /// `mean(a, x = [0, 1])`
    Mean,
    /// `integral(a, x = [0, 1])`
    Integral,
    /// `u(x = 0.4)`
    Place,
}

/// A variable that a functional binds.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    /// Its name.
    pub variable: String,
    /// Where that stands.
    pub span: Span,
    /// To what it is bound.
    pub range: Range,
}

/// To what a variable is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// All of its range.
    Whole,
    /// One value.
    At(NodeId),
    /// From one value to another.
    Between(NodeId, NodeId),
}

impl Range {
    /// The values that bound it.
    pub fn bounds(self) -> Vec<NodeId> {
        match self {
            Range::Whole => vec![],
            Range::At(a) => vec![a],
            Range::Between(a, b) => vec![a, b],
        }
    }

    fn shifted(self, by: usize) -> Range {
        match self {
            Range::Whole => Range::Whole,
            Range::At(a) => Range::At(a + by),
            Range::Between(a, b) => Range::Between(a + by, b + by),
        }
    }
}

impl Functional {
    fn shifted(self, by: usize) -> Functional {
        let over = self.over.into_iter().map(|over| Over { range: over.range.shifted(by), ..over });
        Functional { of: self.of + by, over: over.collect(), ..self }
    }
}

/// The infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a*b`
    Mul,
    /// `a/b`
    Div,
    /// `a^b`
    Pow,
    /// `a < b` and the like
    Compare(Comparison),
    /// `a and b`
    And,
    /// `a or b`
    Or,
}

impl AstNode {
    /// The node where so many others stand before all of its operands.
    pub(crate) fn shifted(self, by: usize) -> AstNode {
        let kind = match self.kind {
            AstKind::Negate(a) => AstKind::Negate(a + by),
            AstKind::Not(a) => AstKind::Not(a + by),
            AstKind::Binary(operator, a, b) => AstKind::Binary(operator, a + by, b + by),
            AstKind::Call(name, operands) => {
                AstKind::Call(name, operands.into_iter().map(|operand| operand + by).collect())
            }
            AstKind::Derivative(a, variables) => AstKind::Derivative(a + by, variables),
            AstKind::Functional(functional) => AstKind::Functional(functional.shifted(by)),
            leaf @ (AstKind::Number(_) | AstKind::Name(_)) => leaf,
        };
        AstNode { kind, span: self.span }
    }
}

impl Ast {
    /// All nodes, operands first.
    pub fn nodes(&self) -> &[AstNode] {
        &self.nodes
    }

    /// The node that is the whole expression.
    pub fn root(&self) -> NodeId {
        self.nodes.len() - 1
    }

    /// The names used, as written (`u_xx` stays `u_xx`) and in the order of the text; functions and constants are left out.
    pub fn names(&self) -> Vec<(&str, Span)> {
        let mut names = Vec::new();
        for node in &self.nodes {
            match &node.kind {
                AstKind::Name(name) if !RESERVED.contains(&name.as_str()) => {
                    names.push((name.as_str(), node.span));
                }
                AstKind::Derivative(_, by) => {
                    names.extend(by.iter().map(|(name, span)| (name.as_str(), *span)));
                }
                AstKind::Functional(functional) => {
                    names.extend(functional.over.iter().map(|over| (over.variable.as_str(), over.span)));
                }
                _ => {}
            }
        }
        names
    }

    /// The text with an expression in the place of a name; none where something is differentiated by that name.
    pub fn with_name_replaced(&self, name: &str, by: &str) -> Option<String> {
        let mut places = vec![];
        for node in &self.nodes {
            match &node.kind {
                // A span may have parentheses, which stay.
                AstKind::Name(found) if found == name => places.push(node.span),
                AstKind::Derivative(_, variables) if variables.iter().any(|(v, _)| v == name) => return None,
                _ => {}
            }
        }
        places.sort_by_key(|span| span.start);
        let mut text = self.text.clone();
        for span in places.into_iter().rev() {
            text.replace_range(span.start..span.end, &format!("({by})"));
        }
        Some(text)
    }

    /// The text under a node, with the parentheses around it.
    pub fn source(&self, id: NodeId) -> &str {
        let span = self.nodes[id].span;
        &self.text[span.start..span.end]
    }
}
