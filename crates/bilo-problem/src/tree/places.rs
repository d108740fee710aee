//! Where the parts of a problem were written.

use crate::diagnostic::{Diagnostic, Origin, Result};
use crate::model::formula::Formula;
use crate::tree::{Node, Table, Value, join};
use std::collections::BTreeMap;

/// Where each part of a problem was written, by its dotted path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The key and the value.
    places: BTreeMap<String, (Origin, Origin)>,
}

impl Places {
    /// Adds the places of another tree.
    pub(crate) fn extend(&mut self, tree: &Table) {
        self.add(tree, "");
    }

    fn add(&mut self, table: &Table, path: &str) {
        for entry in &table.entries {
            self.add_node(&entry.node, &join(path, &entry.key), &entry.key_origin);
        }
    }

    /// A part of a list has its number in place of a key.
    fn add_node(&mut self, node: &Node, path: &str, key: &Origin) {
        match &node.value {
            Value::Table(inner) => self.add(inner, path),
            Value::List(items) => {
                for (number, item) in items.iter().enumerate() {
                    self.add_node(item, &join(path, &number.to_string()), &item.origin);
                }
            }
            _ => {}
        }
        self.places.insert(path.to_owned(), (key.clone(), node.origin.clone()));
    }

    /// The place of a path's last key, if it was written.
    pub(crate) fn key(&self, path: &str) -> Origin {
        self.places.get(path).map_or(Origin::none(), |(key, _)| key.clone())
    }

    /// The expression that is stated at a path; without a file to show, errors call it by its path.
    pub(crate) fn formula(&self, path: &str, text: &str) -> Result<Formula> {
        let origin = self.get(path);
        let place = if origin.is_none() { Origin::text(path, text) } else { content(&origin, text) };
        Formula::parse(text, place)
    }

    /// The equation `left = right` that is stated at a path.
    pub(crate) fn equation(&self, path: &str, text: &str) -> Result<Formula> {
        let origin = self.get(path);
        let place = if origin.is_none() { Origin::text(path, text) } else { content(&origin, text) };
        Formula::parse_equation(text, place)
    }

    /// An error at a path; without a file to show, the message names the path.
    pub(crate) fn error(&self, path: &str, message: impl Into<String>) -> Diagnostic {
        let (origin, message) = (self.get(path), message.into());
        let message = if origin.is_none() { format!("{path}: {message}") } else { message };
        Diagnostic::new(message, origin)
    }

    /// An error about the last key of a path; without a file to show, the message names the path.
    pub(crate) fn error_at_key(&self, path: &str, message: impl Into<String>) -> Diagnostic {
        let error = self.error(path, message);
        let key = self.key(path);
        if key.is_none() { error } else { Diagnostic { origin: key, ..error } }
    }

    /// The place of a path's value, or of the nearest part above it that was written.
    pub(crate) fn get(&self, path: &str) -> Origin {
        let mut path = path;
        loop {
            if let Some((_, value)) = self.places.get(path) {
                return value.clone();
            }
            match path.rsplit_once('.') {
                Some((parent, _)) => path = parent,
                None => return Origin::none(),
            }
        }
    }
}

/// The place of a string's characters, without its quotes; the whole value if escapes make the two
/// differ.
pub(crate) fn content(origin: &Origin, text: &str) -> Origin {
    let raw = origin.slice().unwrap_or_default();
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        let Some(inner) = raw.strip_prefix(quote).and_then(|r| r.strip_suffix(quote)) else {
            continue;
        };
        // TOML drops a line break right after the opening quotes.
        let skipped = inner.len() - inner.trim_start_matches(['\r', '\n']).len();
        for skip in [0, skipped] {
            if &inner[skip..] == text {
                let start = quote.len() + skip;
                return origin.part(start..start + text.len());
            }
        }
    }
    origin.clone()
}
