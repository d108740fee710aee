//! Expressions that know where they were written.

use crate::diagnostic::{Diagnostic, Error, Origin, Result};
use crate::model::domain::Constant;
use bilo_expr::{Ast, ExprError, Graph, Scope, Span, lower, parse, parse_equation};

/// An expression, as written and as parsed, that knows where it was written.
#[derive(Clone, Debug)]
pub struct Formula {
    /// As written.
    pub text: String,
    /// As parsed.
    pub ast: Ast,
    /// Where it was written.
    pub origin: Origin,
    equation: bool,
}

/// Two formulas are the same if they say the same, wherever they were written.
impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Formula {
    /// Parses an expression that was written at `origin`.
    pub fn parse(text: &str, origin: Origin) -> Result<Formula> {
        match parse(text) {
            Ok(ast) => Ok(Formula { text: text.to_string(), ast, origin, equation: false }),
            Err(error) => Err(locate(error, text, &origin)),
        }
    }

    /// Parses `left = right`, written at `origin`, as the difference of both sides.
    pub fn parse_equation(text: &str, origin: Origin) -> Result<Formula> {
        match parse_equation(text) {
            Ok(ast) => Ok(Formula { text: text.to_string(), ast, origin, equation: true }),
            Err(error) => Err(locate(error, text, &origin)),
        }
    }

    /// With other names; as it is where no name has another.
    pub(crate) fn renamed(&self, rename: impl Fn(&str) -> Option<String>) -> Result<Formula> {
        let mut found: Vec<(Span, &str, String)> = vec![];
        for (name, span) in self.ast.names() {
            found.extend(rename(name).map(|new| (span, name, new)));
        }
        found.sort_by_key(|(span, ..)| span.start);
        let mut text = self.text.clone();
        for (span, old, new) in found.iter().rev() {
            // A span may have parentheses, which stay.
            let renamed = text[span.start..span.end].replacen(old, new, 1);
            text.replace_range(span.start..span.end, &renamed);
        }
        let parse = if self.equation { Formula::parse_equation } else { Formula::parse };
        parse(&text, self.origin.clone())
    }

    /// Whether it was written as `left = right`.
    pub fn is_equation(&self) -> bool {
        self.equation
    }

    /// An error of the expression language, shown where this formula was written.
    pub fn error(&self, error: ExprError) -> Error {
        locate(error, &self.text, &self.origin)
    }
}

fn locate(error: ExprError, text: &str, origin: &Origin) -> Error {
    let span = error.span.start..error.span.end;
    let place = match origin.slice() {
        None => Origin::text("expression", text).part(span),
        Some(written) if written == text => origin.part(span),
        // Escapes in the string: bytes of the expression are not bytes of the file.
        Some(_) => origin.clone(),
    };
    let diagnostic = Diagnostic::new(error.message, place);
    match error.help {
        Some(help) => diagnostic.help(help).into(),
        None => diagnostic.into(),
    }
}

/// The value of an expression of constants.
pub(crate) fn evaluate(formula: &Formula, constants: &[Constant]) -> Result<f64> {
    let mut graph = Graph::new();
    let mut scope = Scope::new();
    for constant in constants {
        let value = graph.constant(constant.value);
        scope.bind(&constant.name, value);
    }
    let value = lower(&formula.ast, &mut graph, &scope).map_err(|e| formula.error(e))?;
    graph
        .as_constant(value)
        .ok_or_else(|| Diagnostic::new("this expression has no value", formula.origin.clone()).into())
}
