//! Typed access to a table of the tree: wrong types, unknown and missing keys become errors that
//! point at the spot.

use crate::diagnostic::{Diagnostic, Error, Origin, Result, list, suggest};
use crate::model::domain::Constant;
use crate::model::formula::{Formula, evaluate};
use crate::tree::places::content;
use crate::tree::{Entry, Node, Table, Value, join};
use crate::words::Words;

/// A table, its dotted path and the constants that its numbers may use.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    table: &'a Table,
    path: &'a str,
    origin: &'a Origin,
    constants: &'a [Constant],
}

impl<'a> Reader<'a> {
    /// A table that may hold only the keys `known`.
    pub(crate) fn new(
        table: &'a Table,
        path: &'a str,
        origin: &'a Origin,
        constants: &'a [Constant],
        known: &[&str],
    ) -> Result<Reader<'a>> {
        for entry in &table.entries {
            if !known.contains(&entry.key.as_str()) {
                return Err(unknown_key(entry, path, known));
            }
        }
        Ok(Reader { table, path, origin, constants })
    }

    /// [`Reader::new`] for a value that must be a table.
    pub(crate) fn of(
        node: &'a Node,
        path: &'a str,
        constants: &'a [Constant],
        known: &[&str],
    ) -> Result<Reader<'a>> {
        Reader::new(table(node, path)?, path, &node.origin, constants, known)
    }

    pub(crate) fn constants(&self) -> &'a [Constant] {
        self.constants
    }

    pub(crate) fn origin(&self) -> &'a Origin {
        self.origin
    }

    pub(crate) fn path(&self, key: &str) -> String {
        join(self.path, key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key)
    }

    /// The value of a key that must be there; `example` shows how to write it.
    pub(crate) fn require(&self, key: &str, example: &str) -> Result<&'a Node> {
        self.get(key).ok_or_else(|| self.missing(key, example))
    }

    pub(crate) fn missing(&self, key: &str, example: &str) -> Error {
        let message = format!("missing key `{key}` in {}", title(self.path));
        Diagnostic::new(message, self.origin.clone()).help(format!("add `{key} = {example}`")).into()
    }

    pub(crate) fn string(&self, key: &str) -> Result<Option<String>> {
        self.get(key).map(|node| string(node, key).map(str::to_string)).transpose()
    }

    /// A finite number, or a string with an expression of constants.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>> {
        self.get(key).map(|node| number(node, key, self.constants)).transpose()
    }

    /// Whether the word `estimate` stands in place of a number.
    pub(crate) fn is_estimate(&self, key: &str) -> bool {
        self.get(key).is_some_and(|node| matches!(&node.value, Value::Text(text) if text == "estimate"))
    }

    pub(crate) fn count(&self, key: &str) -> Result<Option<usize>> {
        self.get(key).map(|node| count(node, key)).transpose()
    }

    pub(crate) fn boolean(&self, key: &str) -> Result<Option<bool>> {
        self.get(key).map(|node| boolean(node, key)).transpose()
    }

    /// Where the characters of a string are.
    pub(crate) fn content_of(&self, key: &str) -> Origin {
        match self.get(key) {
            Some(Node { value: Value::Text(text), origin }) => content(origin, text),
            _ => self.origin.clone(),
        }
    }

    /// One of several words.
    pub(crate) fn word<T: Words>(&self, key: &str) -> Result<Option<T>> {
        self.get(key).map(|node| choice(node, key, T::ALL)).transpose()
    }

    /// The text of an expression.
    pub(crate) fn expression(&self, key: &str) -> Result<Option<String>> {
        self.get(key).map(|node| expression(node, key).map(str::to_owned)).transpose()
    }
}

/// `[unknown.D]`, or words for the top of the file.
fn title(path: &str) -> String {
    if path.is_empty() { "the problem".to_string() } else { format!("[{path}]") }
}

fn unknown_key(entry: &Entry, path: &str, known: &[&str]) -> Error {
    let message = format!("unknown key `{}` in {}", entry.key, title(path));
    let help = suggest(&entry.key, known.iter().copied());
    Diagnostic::new(message, entry.key_origin.clone()).help(help).into()
}

pub(crate) fn wrong_type(node: &Node, key: &str, wanted: &str) -> Error {
    let message = format!("`{key}` must be {wanted}, found {}", node.value.kind());
    Diagnostic::new(message, node.origin.clone()).into()
}

pub(crate) fn table<'a>(node: &'a Node, path: &str) -> Result<&'a Table> {
    match &node.value {
        Value::Table(table) => Ok(table),
        _ => Err(wrong_type(node, path, "a table")),
    }
}

pub(crate) fn string<'a>(node: &'a Node, key: &str) -> Result<&'a str> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong_type(node, key, "a string")),
    }
}

pub(crate) fn number(node: &Node, key: &str, constants: &[Constant]) -> Result<f64> {
    let value = match &node.value {
        Value::Integer(i) => *i as f64,
        Value::Float(f) => *f,
        Value::Text(_) => evaluate(&formula(node, key)?, constants)?,
        _ => return Err(wrong_type(node, key, "a number")),
    };
    if value.is_finite() {
        return Ok(value);
    }
    let message = format!("`{key}` must be a finite number, found {value:?}");
    Err(Diagnostic::new(message, node.origin.clone()).into())
}

pub(crate) fn boolean(node: &Node, key: &str) -> Result<bool> {
    match node.value {
        Value::Boolean(flag) => Ok(flag),
        _ => Err(wrong_type(node, key, "`true` or `false`")),
    }
}

/// Two numbers in a list.
pub(crate) fn pair(node: &Node, key: &str, constants: &[Constant]) -> Result<(f64, f64)> {
    match &node.value {
        Value::List(items) if items.len() == 2 => {
            Ok((number(&items[0], key, constants)?, number(&items[1], key, constants)?))
        }
        Value::List(items) => {
            let message = format!("`{key}` must have two numbers, found {}", items.len());
            Err(Diagnostic::new(message, node.origin.clone()).help("write `[lower, upper]`").into())
        }
        _ => Err(wrong_type(node, key, "a list of two numbers")),
    }
}

/// A number or a list of numbers.
pub(crate) fn numbers(node: &Node, key: &str, constants: &[Constant]) -> Result<Vec<f64>> {
    match &node.value {
        Value::List(items) => items.iter().map(|item| number(item, key, constants)).collect(),
        _ => Ok(vec![number(node, key, constants)?]),
    }
}

pub(crate) fn count(node: &Node, key: &str) -> Result<usize> {
    let Value::Integer(i) = node.value else {
        return Err(wrong_type(node, key, "a whole number"));
    };
    usize::try_from(i).map_err(|_| {
        let message = format!("`{key}` must not be negative, found {i}");
        Diagnostic::new(message, node.origin.clone()).into()
    })
}

pub(crate) fn choice<T: Copy>(node: &Node, key: &str, choices: &[(&str, T)]) -> Result<T> {
    let word = string(node, key)?;
    if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
        return Ok(*value);
    }
    let message = format!("`{key}` cannot be `{word}`");
    let help = format!("choose from {}", list(choices.iter().map(|(name, _)| *name)));
    Err(Diagnostic::new(message, node.origin.clone()).help(help).into())
}

/// The text of an expression in a string.
pub(crate) fn expression<'a>(node: &'a Node, key: &str) -> Result<&'a str> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong_type(node, key, "a string with an expression")),
    }
}

/// An expression in a string.
pub(crate) fn formula(node: &Node, key: &str) -> Result<Formula> {
    let text = expression(node, key)?;
    Formula::parse(text, content(&node.origin, text))
}
