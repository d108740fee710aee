//! What can go wrong: the library's errors and the program's own, shown alike.

use bilo::diagnostic::{Diagnostic, ErrorKind, Origin};
use std::fmt::Display;
use std::path::Path;

/// Why the program cannot do what it was asked.
#[derive(Debug)]
pub struct Failure {
    diagnostic: Diagnostic,
    /// The kind of the library's error that it comes from, if it comes from one.
    kind: Option<ErrorKind>,
    /// The exit code.
    code: u8,
}

impl From<bilo::Error> for Failure {
    fn from(error: bilo::Error) -> Self {
        let diagnostic = error.diagnostic().clone();
        let diagnostic = match error.kind() {
            ErrorKind::Device if diagnostic.help.is_none() => {
                diagnostic.help("`--device cpu` does without a GPU")
            }
            _ => diagnostic,
        };
        Failure { kind: Some(error.kind()), ..Failure::from(diagnostic) }
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Failure { diagnostic, kind: None, code: 1 }
    }
}

impl From<bilo_report::html::ReportError> for Failure {
    fn from(error: bilo_report::html::ReportError) -> Self {
        Failure::new(error.to_string())
    }
}

impl Failure {
    /// A failure of the program, in words.
    pub fn new(message: impl Into<String>) -> Self {
        Diagnostic::new(message, Origin::none()).into()
    }

    /// Adds a way out.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Failure { diagnostic: self.diagnostic.help(help), ..self }
    }

    /// With another exit code than 1.
    pub(crate) fn code(self, code: u8) -> Self {
        Failure { code, ..self }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        self.code
    }

    /// For `map_err`: a file or folder that could not be read, written, ...
    pub fn file<E: Display>(verb: &str, path: &Path) -> impl FnOnce(E) -> Self {
        move |error| Failure::new(format!("cannot {verb} `{}`: {error}", path.display()))
    }

    /// The words for it, with the place and the help.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }

    /// What kind of failure of the library it is; none for the program's own.
    pub fn kind(&self) -> Option<ErrorKind> {
        self.kind
    }

    /// What is wrong, in one line.
    pub(crate) fn headline(&self) -> String {
        self.diagnostic.message.clone()
    }

    /// In rustc's style.
    pub(crate) fn render(&self, colour: bool) -> String {
        self.diagnostic.render(colour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colour_brings_escapes() {
        let failure = Failure::new("no such thing").help("try another");
        assert_eq!(failure.render(false), "error: no such thing\n |\n = help: try another");
        assert!(failure.render(true).contains("\x1b["));
    }
}
