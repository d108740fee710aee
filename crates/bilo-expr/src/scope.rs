//! What names mean.

use std::collections::BTreeMap;

use crate::error::{ExprError, Span};
use crate::functions::{Builtin, closest, phrase, similar_function};
use crate::graph::{Expr, Symbol};

/// The names an expression may use, the variables it may be differentiated by, and the coordinates of space.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    names: BTreeMap<String, Expr>,
    variables: BTreeMap<String, Symbol>,
    space: Vec<Symbol>,
}

/// A name found in a scope: an expression, to be differentiated by these symbols.
pub(crate) struct Resolved {
    pub(crate) base: Expr,
    pub(crate) by: Vec<Symbol>,
}

impl Scope {
    /// A scope without names.
    pub fn new() -> Scope {
        Scope::default()
    }

    /// Gives an expression a name. [`RESERVED`](crate::RESERVED) names keep their own meaning.
    pub fn bind(&mut self, name: &str, e: Expr) {
        self.names.insert(name.to_string(), e);
    }

    /// Allows derivatives by `s` under this name (`u_x`, `d(u, x)`). The name itself is not bound by this.
    pub fn variable(&mut self, name: &str, s: Symbol) {
        self.variables.insert(name.to_string(), s);
    }

    /// Says which symbols `grad`, `div` and `lap` are about, in order.
    pub fn space(&mut self, symbols: Vec<Symbol>) {
        self.space = symbols;
    }

    pub(crate) fn space_symbols(&self) -> &[Symbol] {
        &self.space
    }

    pub(crate) fn is_bound(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// The variable to differentiate by in `d(.., name)`.
    pub(crate) fn find_variable(&self, name: &str, span: Span) -> Result<Symbol, ExprError> {
        self.variables.get(name).copied().ok_or_else(|| {
            let message = format!("`{name}` is not a variable to differentiate by");
            let error = ExprError::new(span, message);
            match self.variables.is_empty() {
                true => error,
                false => error.help(format!("the variables are {}", list(self.variables.keys()))),
            }
        })
    }

    /// An exact name wins; else `base_suffix` is a derivative, the longest base in scope first.
    pub(crate) fn resolve(&self, name: &str, span: Span) -> Result<Resolved, ExprError> {
        if let Some(&base) = self.names.get(name) {
            let by = Vec::new();
            return Ok(Resolved { base, by });
        }
        for (underscore, _) in name.rmatch_indices('_') {
            let (base, suffix) = (&name[..underscore], &name[underscore + 1..]);
            if let (Some(&base), Some(by)) = (self.names.get(base), self.split_suffix(suffix)) {
                return Ok(Resolved { base, by });
            }
        }
        Err(self.unknown_name(name, span))
    }

    /// The suffix as a sequence of variables, at every place the longest that lets the rest be read too.
    fn split_suffix(&self, suffix: &str) -> Option<Vec<Symbol>> {
        let end = suffix.len();
        let mut step: Vec<Option<(Symbol, usize)>> = vec![None; end];
        for start in (0..end).rev() {
            let fits = |name: &&String| {
                let next = start + name.len();
                suffix[start..].starts_with(name.as_str()) && (next == end || step[next].is_some())
            };
            let longest = self.variables.keys().filter(fits).max_by_key(|name| name.len());
            step[start] = longest.map(|name| (self.variables[name], start + name.len()));
        }
        let mut symbols = Vec::new();
        let mut position = 0;
        while position < end {
            let (symbol, next) = step[position]?;
            symbols.push(symbol);
            position = next;
        }
        (!symbols.is_empty()).then_some(symbols)
    }

    fn unknown_name(&self, name: &str, span: Span) -> ExprError {
        let error = ExprError::new(span, format!("unknown name `{name}`"));
        if Builtin::find(name).is_some() || name == "d" {
            let message = format!("`{name}` is a function");
            return ExprError::new(span, message).help(format!("write `{name}(...)`"));
        }
        if let Some(meant) = closest(name, self.names.keys().map(String::as_str)) {
            return error.help(format!("did you mean `{meant}`?"));
        }
        let base = name.rmatch_indices('_').map(|(at, _)| &name[..at]);
        if let Some(base) = base.into_iter().find(|base| self.is_bound(base))
            && !self.variables.is_empty()
        {
            let variables = list(self.variables.keys());
            return error.help(format!("`{base}` can be differentiated by {variables}"));
        }
        match self.names.is_empty() {
            true => error.help("no names are known here"),
            false => error.help(format!("the names known here are {}", list(self.names.keys()))),
        }
    }

    pub(crate) fn unknown_function(&self, name: &str, span: Span) -> ExprError {
        if self.is_bound(name) {
            let message = format!("`{name}` is not a function");
            return ExprError::new(span, message).help(format!("write `{name}*(...)`"));
        }
        let error = ExprError::new(span, format!("unknown function `{name}`"));
        if let Some(phrase) = phrase(name) {
            return error.help(format!("write `{phrase}`"));
        }
        match similar_function(name) {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error,
        }
    }
}

fn list<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
