//! Text to tokens, one at a time, so that the first mistake in the text is the one reported.

use crate::error::{ExprError, Span};
use crate::ops::Comparison;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
    Number(f64),
    Name,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Compare(Comparison),
    And,
    Or,
    Not,
    Open,
    Close,
    Comma,
    /// `=` and the brackets of `x = [a, b]`: part of functionals alone.
    Equals,
    OpenBracket,
    CloseBracket,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) span: Span,
}

/// Longest first: `<=` must be seen before `<`.
const SYMBOLS: &[(&str, Token)] = &[
    ("<=", Token::Compare(Comparison::LessEqual)),
    (">=", Token::Compare(Comparison::GreaterEqual)),
    ("==", Token::Compare(Comparison::Equal)),
    ("!=", Token::Compare(Comparison::NotEqual)),
    ("<", Token::Compare(Comparison::Less)),
    (">", Token::Compare(Comparison::Greater)),
    ("+", Token::Plus),
    ("-", Token::Minus),
    ("*", Token::Star),
    ("/", Token::Slash),
    ("^", Token::Caret),
    ("(", Token::Open),
    (")", Token::Close),
    (",", Token::Comma),
    ("=", Token::Equals),
    ("[", Token::OpenBracket),
    ("]", Token::CloseBracket),
];

/// Spellings of other languages and what they are called here; looked at before [`SYMBOLS`].
const FOREIGN: &[(&str, &str)] = &[
    ("**", "^"),
    ("&&", "and"),
    ("&", "and"),
    ("||", "or"),
    ("|", "or"),
    ("{", "("),
    ("}", ")"),
    ("−", "-"),
    ("·", "*"),
    ("×", "*"),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("π", "pi"),
];

pub(crate) struct Lexer<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, position: 0 }
    }

    pub(crate) fn text(&self, span: Span) -> &'t str {
        &self.text[span.start..span.end]
    }

    pub(crate) fn next(&mut self) -> Result<Lexeme, ExprError> {
        let rest = &self.text[self.position..];
        let rest = rest.trim_start();
        self.position = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            return Ok(self.take(0, Token::End));
        };
        if first.is_ascii_digit() || (first == '.' && digits(&rest[1..]) > 0) {
            return self.number(rest);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            return Ok(self.word(rest));
        }
        self.symbol(rest, first)
    }

    fn take(&mut self, length: usize, token: Token) -> Lexeme {
        let span = Span::new(self.position, self.position + length);
        self.position = span.end;
        Lexeme { token, span }
    }

    fn number(&mut self, rest: &str) -> Result<Lexeme, ExprError> {
        let length = number_length(rest);
        let span = Span::new(self.position, self.position + length);
        match rest[..length].parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(self.take(length, Token::Number(value))),
            _ => Err(ExprError::new(span, "this number is too large")),
        }
    }

    fn word(&mut self, rest: &str) -> Lexeme {
        // The names of several experiments have an `@`.
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '@';
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let token = match &rest[..length] {
            "and" => Token::And,
            "or" => Token::Or,
            "not" => Token::Not,
            _ => Token::Name,
        };
        self.take(length, token)
    }

    fn symbol(&mut self, rest: &str, first: char) -> Result<Lexeme, ExprError> {
        let unknown = |text: &str| {
            let span = Span::new(self.position, self.position + text.len());
            ExprError::new(span, format!("`{text}` is not part of the language"))
        };
        if let Some((foreign, ours)) = FOREIGN.iter().find(|(s, _)| rest.starts_with(s)) {
            return Err(unknown(foreign).help(format!("write `{ours}`")));
        }
        if let Some((symbol, token)) = SYMBOLS.iter().find(|(s, _)| rest.starts_with(s)) {
            return Ok(self.take(symbol.len(), *token));
        }
        Err(match first {
            '!' => unknown("!").help("write `not`"),
            '\'' | '′' => unknown(first.encode_utf8(&mut [0; 4]))
                .help("write `u_t` for the derivative of u by t, `u_tt` for the second"),
            other => unknown(other.encode_utf8(&mut [0; 4])),
        })
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Length of `12`, `1.5`, `.5`, `1.`, each with an optional exponent. In `2e` or `2exp(x)` the `e` is no exponent.
fn number_length(text: &str) -> usize {
    let mut length = digits(text);
    if text[length..].starts_with('.') {
        length += 1 + digits(&text[length + 1..]);
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(&text[length + 1 + sign..]);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
