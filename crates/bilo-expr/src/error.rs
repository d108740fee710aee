//! Where something is in the expression text, and what is wrong there.

/// A range of bytes in the expression text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    pub(crate) fn to(self, other: Span) -> Span {
        Span::new(self.start, other.end)
    }
}

/// A mistake in an expression: what, where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", .help.as_ref().map(|help| format!("; {help}")).unwrap_or_default())]
pub struct ExprError {
    /// What is wrong.
    pub message: String,
    /// The spot in the expression text.
    pub span: Span,
    /// What to write instead, where that can be said.
    pub help: Option<String>,
}

impl ExprError {
    /// A mistake at a spot.
    pub fn new(span: Span, message: impl Into<String>) -> ExprError {
        ExprError { message: message.into(), span, help: None }
    }

    /// With what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> ExprError {
        self.help = Some(help.into());
        self
    }
}
