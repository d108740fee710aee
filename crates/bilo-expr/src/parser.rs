//! Tokens to tree: a Pratt parser.

use crate::ast::{Ast, AstKind, AstNode, Functional, FunctionalKind, NodeId, Operator, Over, Range};
use crate::error::{ExprError, Span};
use crate::lexer::{Lexeme, Lexer, Token};

/// Parentheses, calls, signs and `^` nest no deeper than this: each level is a recursion of the parser.
const MAX_DEPTH: usize = 256;

// How tightly operators bind. `^` binds tighter than a sign on its left and takes one on its right.
const LOOSEST: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARE: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;
const SIGN: u8 = 6;
const POWER: u8 = 7;

/// Parses the text of one expression.
///
/// Names are not looked up here: that is the business of [`lower`](crate::lower).
pub fn parse(text: &str) -> Result<Ast, ExprError> {
    let mut lexer = Lexer::new(text);
    let current = lexer.next()?;
    let mut parser = Parser { lexer, current, nodes: Vec::new(), depth: 0 };
    if current.token == Token::End {
        return Err(ExprError::new(current.span, "the expression is empty"));
    }
    parser.expression(LOOSEST)?;
    match parser.current.token {
        Token::End => Ok(Ast { text: text.to_string(), nodes: parser.nodes }),
        Token::Close => Err(parser.error_here("this `)` closes nothing")),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

/// Parses `left = right`, one expression with one equals sign, as `left - right`.
pub fn parse_equation(text: &str) -> Result<Ast, ExprError> {
    let signs = equals_signs(text);
    let whole = Span::new(0, text.len());
    let &[sign] = &signs[..] else {
        let Some(&second) = signs.get(1) else {
            let error = ExprError::new(whole, "an equation has an equals sign");
            return Err(error.help("write `left = right`, such as `u_t = D*u_xx`"));
        };
        let error = ExprError::new(Span::new(second, second + 1), "an equation has one equals sign");
        return Err(error.help("write one equation for each"));
    };
    let left = parse(&text[..sign])?;
    // Blanks in place of the left side, so that spans are those of the whole text.
    let right = parse(&format!("{}{}", " ".repeat(sign + 1), &text[sign + 1..]))?;
    let mut nodes = left.nodes;
    let (first, shift) = (nodes.len() - 1, nodes.len());
    nodes.extend(right.nodes.into_iter().map(|node| node.shifted(shift)));
    let last = nodes.len() - 1;
    nodes.push(AstNode { kind: AstKind::Binary(Operator::Sub, first, last), span: whole });
    Ok(Ast { text: text.to_owned(), nodes })
}

/// Where `=` stands alone: not in `==`, `<=`, `>=`, `!=`, and not in parentheses, where it binds a variable.
fn equals_signs(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let count = |at: usize, sign: u8| bytes[..at].iter().filter(|b| **b == sign).count();
    let outside = |at: usize| count(at, b'(') == count(at, b')');
    let part = |at: Option<usize>, of: &[u8]| at.and_then(|at| bytes.get(at)).is_some_and(|b| of.contains(b));
    let alone = |&at: &usize| {
        bytes[at] == b'=' && !part(at.checked_sub(1), b"=<>!") && !part(Some(at + 1), b"=") && outside(at)
    };
    (0..bytes.len()).filter(alone).collect()
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    current: Lexeme,
    nodes: Vec<AstNode>,
    depth: usize,
}

impl Parser<'_> {
    /// An operand and all infix operators after it that bind more tightly than `loosest`.
    fn expression(&mut self, loosest: u8) -> Result<NodeId, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(self.error_here(message));
        }
        let first = self.current.span;
        let mut left = self.operand()?;
        while let Some((operator, strength)) = infix(self.current.token) {
            if strength <= loosest {
                break;
            }
            self.advance()?;
            // Right associative: the right operand may hold another `^`.
            let right_loosest = if strength == POWER { SIGN } else { strength };
            let right = self.expression(right_loosest)?;
            self.forbid_chained_comparison(operator)?;
            let span = first.to(self.nodes[right].span);
            left = self.push(AstKind::Binary(operator, left, right), span);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<NodeId, ExprError> {
        let lexeme = self.current;
        let node = match lexeme.token {
            Token::Number(value) => {
                self.advance()?;
                self.push(AstKind::Number(value), lexeme.span)
            }
            Token::Name => self.name_or_call()?,
            Token::Open => self.parenthesised()?,
            Token::Plus => {
                self.advance()?;
                self.expression(SIGN)?
            }
            Token::Minus => {
                self.advance()?;
                let operand = self.expression(SIGN)?;
                self.push_prefix(AstKind::Negate(operand), lexeme.span, operand)
            }
            Token::Not => {
                self.advance()?;
                let operand = self.expression(AND)?;
                self.push_prefix(AstKind::Not(operand), lexeme.span, operand)
            }
            Token::End => {
                let message = "the expression ends where a value should follow";
                return Err(self.error_here(message));
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.forbid_juxtaposition(node)?;
        Ok(node)
    }

    fn parenthesised(&mut self) -> Result<NodeId, ExprError> {
        let open = self.advance()?;
        let inner = self.expression(LOOSEST)?;
        let close = self.close(open)?;
        self.nodes[inner].span = open.to(close);
        Ok(inner)
    }

    fn name_or_call(&mut self) -> Result<NodeId, ExprError> {
        let span = self.advance()?;
        let name = self.lexer.text(span).to_string();
        if self.current.token != Token::Open {
            return Ok(self.push(AstKind::Name(name), span));
        }
        let open = self.advance()?;
        if name == "d" {
            return self.derivative(span, open);
        }
        if let Some(kind) = functional(&name) {
            return self.functional(kind, span, open);
        }
        let mut arguments = Vec::new();
        if self.current.token != Token::Close {
            let first = self.expression(LOOSEST)?;
            if self.current.token == Token::Equals && matches!(self.nodes[first].kind, AstKind::Name(_)) {
                return self.place(name, span, open);
            }
            arguments.push(first);
            while self.current.token == Token::Comma {
                self.advance()?;
                arguments.push(self.expression(LOOSEST)?);
            }
        }
        let close = self.close(open)?;
        Ok(self.push(AstKind::Call(name, arguments), span.to(close)))
    }

    /// The rest of `mean(expression, x, t = [a, b], ..)`.
    fn functional(&mut self, kind: FunctionalKind, name: Span, open: Span) -> Result<NodeId, ExprError> {
        let of = self.expression(LOOSEST)?;
        let mut over = vec![];
        while self.current.token == Token::Comma {
            self.advance()?;
            let (variable, span) = self.variable()?;
            let whole = self.current.token != Token::Equals;
            let range = if whole { Range::Whole } else { self.range()? };
            over.push(Over { variable, span, range });
        }
        if over.is_empty() {
            let help =
                "write `mean(u, x)` for the mean over x, `mean(u, t = [0, 60])` for that over a window";
            return Err(self.unexpected("a `,` and a coordinate").help(help));
        }
        let close = self.close(open)?;
        Ok(self.push(AstKind::Functional(Functional { kind, of, over }), name.to(close)))
    }

    /// The rest of `u(x = a, ..)` where the `x` was taken for a value.
    fn place(&mut self, name: String, span: Span, open: Span) -> Result<NodeId, ExprError> {
        let Some(AstNode { kind: AstKind::Name(first), span: first_span }) = self.nodes.pop() else {
            unreachable!("a name was read last")
        };
        let of = self.push(AstKind::Name(name), span);
        let mut over = vec![Over { variable: first, span: first_span, range: self.range()? }];
        while self.current.token == Token::Comma {
            self.advance()?;
            let (variable, span) = self.variable()?;
            over.push(Over { variable, span, range: self.range()? });
        }
        let interval = over.iter().find(|over| !matches!(over.range, Range::At(_)));
        if let Some(interval) = interval {
            let error = ExprError::new(interval.span, "a place has one value of each coordinate");
            return Err(error.help("write `mean(u, x = [a, b])` or `integral(u, x = [a, b])`"));
        }
        let close = self.close(open)?;
        let functional = Functional { kind: FunctionalKind::Place, of, over };
        Ok(self.push(AstKind::Functional(functional), span.to(close)))
    }

    fn variable(&mut self) -> Result<(String, Span), ExprError> {
        if self.current.token != Token::Name {
            return Err(self.unexpected("the name of a coordinate"));
        }
        let span = self.advance()?;
        Ok((self.lexer.text(span).to_string(), span))
    }

    /// `= a` or `= [a, b]`
    fn range(&mut self) -> Result<Range, ExprError> {
        if self.current.token != Token::Equals {
            return Err(self.unexpected("`=` and a value"));
        }
        self.advance()?;
        if self.current.token != Token::OpenBracket {
            return Ok(Range::At(self.expression(LOOSEST)?));
        }
        let open = self.advance()?;
        let from = self.expression(LOOSEST)?;
        if self.current.token != Token::Comma {
            return Err(self.error_here("a window has two ends").help("write `t = [0, 60]`"));
        }
        self.advance()?;
        let to = self.expression(LOOSEST)?;
        match self.current.token {
            Token::CloseBracket => self.advance()?,
            Token::End => return Err(ExprError::new(open, "this `[` is never closed").help("add a `]`")),
            _ => return Err(self.unexpected("`]`")),
        };
        Ok(Range::Between(from, to))
    }

    /// The rest of `d(expression, x, y, ..)`.
    fn derivative(&mut self, name: Span, open: Span) -> Result<NodeId, ExprError> {
        let help = "write `d(u, x)` for the derivative of u by x";
        let of = self.expression(LOOSEST)?;
        let mut by = Vec::new();
        while self.current.token == Token::Comma {
            self.advance()?;
            if self.current.token != Token::Name {
                return Err(self.unexpected("the name of a variable").help(help));
            }
            let span = self.advance()?;
            by.push((self.lexer.text(span).to_string(), span));
        }
        if by.is_empty() {
            return Err(self.unexpected("a `,` and a variable").help(help));
        }
        let close = self.close(open)?;
        Ok(self.push(AstKind::Derivative(of, by), name.to(close)))
    }

    fn close(&mut self, open: Span) -> Result<Span, ExprError> {
        match self.current.token {
            Token::Close => self.advance(),
            Token::End => Err(ExprError::new(open, "this `(` is never closed").help("add a `)`")),
            _ => Err(self.unexpected("`,` or `)`")),
        }
    }

    fn forbid_chained_comparison(&self, operator: Operator) -> Result<(), ExprError> {
        match (operator, self.current.token) {
            (Operator::Compare(_), Token::Compare(_)) => {
                Err(self.error_here("comparisons cannot be chained").help("join two comparisons with `and`"))
            }
            _ => Ok(()),
        }
    }

    fn forbid_juxtaposition(&self, left: NodeId) -> Result<(), ExprError> {
        let right = match self.current.token {
            Token::Open => "(...)",
            Token::Number(_) | Token::Name => self.lexer.text(self.current.span),
            _ => return Ok(()),
        };
        let left_span = self.nodes[left].span;
        let whole = self.lexer.text(left_span);
        let left = if whole.len() <= 20 { whole } else { "(...)" };
        let help = match right.strip_prefix('_').filter(|by| !by.is_empty()) {
            Some(by) => format!("for a derivative write `{}`", derivative(whole, by)),
            None => format!("write `{left}*{right}`"),
        };
        Err(ExprError::new(left_span.to(self.current.span), "an operator is missing").help(help))
    }

    fn push(&mut self, kind: AstKind, span: Span) -> NodeId {
        self.nodes.push(AstNode { kind, span });
        self.nodes.len() - 1
    }

    fn push_prefix(&mut self, kind: AstKind, sign: Span, operand: NodeId) -> NodeId {
        let span = sign.to(self.nodes[operand].span);
        self.push(kind, span)
    }

    /// Steps over the current token and returns its span.
    fn advance(&mut self) -> Result<Span, ExprError> {
        let span = self.current.span;
        self.current = self.lexer.next()?;
        Ok(span)
    }

    fn error_here(&self, message: impl Into<String>) -> ExprError {
        ExprError::new(self.current.span, message)
    }

    fn unexpected(&self, wanted: &str) -> ExprError {
        let foreign = |sign: &str| self.error_here(format!("`{sign}` is not part of the language"));
        let found = match self.current.token {
            Token::Equals => return foreign("=").help("write `==` to compare"),
            Token::OpenBracket => return foreign("[").help("write `(`"),
            Token::CloseBracket => return foreign("]").help("write `)`"),
            Token::End => "the end".to_string(),
            _ => format!("`{}`", self.lexer.text(self.current.span)),
        };
        self.error_here(format!("expected {wanted}, found {found}"))
    }
}

fn functional(name: &str) -> Option<FunctionalKind> {
    match name {
        "mean" => Some(FunctionalKind::Mean),
        "integral" => Some(FunctionalKind::Integral),
        _ => None,
    }
}

fn infix(token: Token) -> Option<(Operator, u8)> {
    Some(match token {
        Token::Or => (Operator::Or, OR),
        Token::And => (Operator::And, AND),
        Token::Compare(comparison) => (Operator::Compare(comparison), COMPARE),
        Token::Plus => (Operator::Add, SUM),
        Token::Minus => (Operator::Sub, SUM),
        Token::Star => (Operator::Mul, PRODUCT),
        Token::Slash => (Operator::Div, PRODUCT),
        Token::Caret => (Operator::Pow, POWER),
        _ => return None,
    })
}

/// What stands for a subscript behind parentheses, as print has it: `d(a*u_x, x)` for `(a*u_x)_x`.
fn derivative(of: &str, by: &str) -> String {
    let inner = of.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(of);
    let mut letters: Vec<&str> = by.split("").filter(|letter| !letter.is_empty()).collect();
    // `xx` is twice x; letters that differ may be one name.
    if letters.windows(2).any(|pair| pair[0] != pair[1]) {
        letters = vec![by];
    }
    format!("d({inner}, {})", letters.join(", "))
}
