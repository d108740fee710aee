//! Errors that show the line, point at the spot and say what to write instead.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong: what kind of failure it is, and the words for it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{diagnostic}")]
pub struct Error {
    kind: ErrorKind,
    diagnostic: Box<Diagnostic>,
}

/// What kind of failure an [`Error`] is. Programs decide by this, never by the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The problem as stated, or its data, is at fault.
    Input,
    /// The reference solver does not cover this problem.
    NoReference,
    /// A solver failed at some value of the unknowns.
    Solver,
    /// No local operator that was asked for comes to a solution.
    NotConverged,
    /// The hardware that was asked for is missing, or failed.
    Device,
    /// A checkpoint does not belong to this problem.
    Checkpoint,
    /// Somebody asked to stop, or the time was up.
    Interrupted,
    /// A file could not be read or written.
    Io,
}

impl Error {
    /// A failure of some kind in words.
    pub fn new(kind: ErrorKind, diagnostic: impl Into<Diagnostic>) -> Error {
        Error { kind, diagnostic: Box::new(diagnostic.into()) }
    }

    /// A solve that was ended before its time.
    pub fn interrupted() -> Error {
        Error::new(ErrorKind::Interrupted, "interrupted")
    }

    /// A file that could not be read or written, with what the operating system said.
    pub fn io(path: &Path, source: &std::io::Error) -> Error {
        Error::new(ErrorKind::Io, format!("{}: {source}", path.display()))
    }

    /// Says first what could not be done because of it.
    pub fn because(mut self, undone: &str) -> Error {
        self.diagnostic.message = format!("{undone}: {}", self.diagnostic.message);
        self
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether it ends a search, since no other value of the unknowns can make it good.
    pub fn ends_search(&self) -> bool {
        matches!(self.kind, ErrorKind::Interrupted | ErrorKind::Device)
    }

    /// The words for it, with the place and the help.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }

    /// What is wrong, in one line, without the place and the help.
    pub fn headline(&self) -> String {
        self.diagnostic.message.clone()
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Error::new(ErrorKind::Input, diagnostic)
    }
}

impl From<bilo_jet::Fault> for Error {
    fn from(fault: bilo_jet::Fault) -> Self {
        Error::new(ErrorKind::Device, fault.to_string())
    }
}

/// Words without a place.
impl From<String> for Diagnostic {
    fn from(message: String) -> Self {
        Diagnostic::new(message, Origin::none())
    }
}

/// Words without a place.
impl From<&str> for Diagnostic {
    fn from(message: &str) -> Self {
        Diagnostic::new(message, Origin::none())
    }
}

/// A text that a user wrote: a problem file, a data file, a command line argument.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name in error messages.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// A text under a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { name: name.into(), text: text.into() })
    }
}

/// Where something was written: bytes of a source, or nowhere in particular.
#[derive(Clone, Default)]
pub struct Origin {
    place: Option<(Arc<Source>, Range<usize>)>,
}

impl Origin {
    /// Nowhere in particular.
    pub fn none() -> Origin {
        Origin::default()
    }

    /// The bytes `span` of `source`; a span that does not fit is moved to the nearest characters.
    pub fn new(source: &Arc<Source>, span: Range<usize>) -> Origin {
        let start = source.text.floor_char_boundary(span.start);
        let end = source.text.ceil_char_boundary(span.end.max(start));
        Origin { place: Some((Arc::clone(source), start..end)) }
    }

    /// The whole of a text that stands alone, such as a formula given to the builder.
    pub fn text(name: impl Into<String>, text: &str) -> Origin {
        Origin::new(&Source::new(name, text), 0..text.len())
    }

    /// The text written there.
    pub fn slice(&self) -> Option<&str> {
        let (source, span) = self.place.as_ref()?;
        source.text.get(span.clone())
    }

    /// The line and the column where it begins, from 1, in characters.
    pub fn line_and_column(&self) -> Option<(usize, usize)> {
        let (source, span) = self.place.as_ref()?;
        let before = &source.text[..span.start];
        let (lines, last) = (before.matches('\n').count(), before.rsplit('\n').next().unwrap_or_default());
        Some((lines + 1, last.chars().count() + 1))
    }

    /// A part of this place, `span` counted from its start.
    pub fn part(&self, span: Range<usize>) -> Origin {
        match &self.place {
            None => Origin::none(),
            Some((source, own)) => Origin::new(source, own.start + span.start..own.start + span.end),
        }
    }

    /// Whether it points anywhere.
    pub fn is_none(&self) -> bool {
        self.place.is_none()
    }
}

/// The name and the bytes only: the whole source would drown everything else.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            None => f.write_str("Origin(none)"),
            Some((source, span)) => write!(f, "Origin({}, {span:?})", source.name),
        }
    }
}

/// One error: what is wrong, where, and what to do about it.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// A few words beside the carets.
    pub label: Option<String>,
    /// Where.
    pub origin: Origin,
}

impl Diagnostic {
    /// An error at a place.
    pub fn new(message: impl Into<String>, origin: Origin) -> Diagnostic {
        Diagnostic { message: message.into(), help: None, label: None, origin }
    }

    /// Says what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a few words beside the carets.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    /// The error as text in the style of rustc, with terminal colours if asked.
    pub fn render(&self, colour: bool) -> String {
        let mut group = Group::with_title(Level::ERROR.primary_title(&self.message));
        if let Some((source, span)) = &self.origin.place {
            let mark = AnnotationKind::Primary.span(span.clone()).label(self.label.as_deref());
            let snippet = Snippet::source(&source.text).path(&source.name).annotation(mark);
            group = group.element(snippet);
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}

/// The nearest of `known` to a mistyped `name`, if any is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .filter(|(distance, k)| {
            let longer = name.chars().count().max(k.chars().count());
            *distance < longer && *distance <= longer.div_ceil(3)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, k)| k)
}

/// Help for a name that is not among `known`: the nearest, or all of them.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(near) = nearest(name, known.clone()) {
        return format!("did you mean `{near}`?");
    }
    format!("choose from {}", list(known))
}

/// `a`, `b`, `c`.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    quoted.join(", ")
}
