//! Assignments such as `train.rate=0.01`, from the command line, a study file or Rust.

use crate::diagnostic::{Diagnostic, Origin, Result, Source};
use crate::tree::{Node, Table, Value, parse, parse_part};
use std::sync::Arc;
use toml::de::DeValue;

/// A setting `key=value`, such as `train.rate=0.01`; a bare word counts as a string.
#[derive(Clone, Debug)]
pub struct Assignment {
    text: String,
    /// Where its key and its value were written, if that is elsewhere.
    places: Option<(Origin, Origin)>,
}

impl<T: Into<String>> From<T> for Assignment {
    fn from(text: T) -> Assignment {
        Assignment { text: text.into(), places: None }
    }
}

impl Assignment {
    /// An assignment whose key and value were written elsewhere: in a study file, say. Errors point there.
    pub fn written_at(text: impl Into<String>, key: Origin, value: Origin) -> Assignment {
        Assignment { text: text.into(), places: Some((key, value)) }
    }

    /// `key=value`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As a table with one leaf; `option` is what errors call the text.
    pub(crate) fn table(&self, option: &str) -> Result<Table> {
        let source = Source::new(option, &self.text[..]);
        let Some((key, value)) = self.text.split_once('=') else {
            let whole = Origin::new(&source, 0..self.text.len());
            let error = Diagnostic::new("an override needs a key and a value", whole);
            return Err(error.help("write `key=value`, for example `train.rate=0.01`").into());
        };
        let bare = is_bare_word(value.trim());
        let mut table = if bare { bare_word(&source, key, value)? } else { parse(&source)? };
        if let Some((key, value)) = &self.places {
            relocate(&mut table, key, value);
        }
        Ok(table)
    }
}

/// Moves everything in a table made of one dotted key to where it was written.
fn relocate(table: &mut Table, key: &Origin, value: &Origin) {
    for entry in &mut table.entries {
        let reaches_in = matches!(entry.node.value, Value::Table(_)) && !entry.node.is_inline();
        entry.key_origin = key.clone();
        if let (Value::Table(inner), true) = (&mut entry.node.value, reaches_in) {
            relocate(inner, key, value);
            entry.node.origin = key.clone();
        } else {
            move_to(&mut entry.node, value);
        }
    }
}

fn move_to(node: &mut Node, place: &Origin) {
    node.origin = place.clone();
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| move_to(item, place)),
        Value::Table(table) => {
            for entry in &mut table.entries {
                entry.key_origin = place.clone();
                move_to(&mut entry.node, place);
            }
        }
        _ => {}
    }
}

/// Whether it reads as a string that lost its quotes on the way through a shell.
fn is_bare_word(value: &str) -> bool {
    let is_toml = DeValue::parse(value).is_ok();
    let forbidden = |c: char| c.is_whitespace() || "\"'[]{}#=,".contains(c);
    !is_toml && value.starts_with(|c: char| c.is_alphabetic()) && !value.contains(forbidden)
}

fn bare_word(source: &Arc<Source>, key: &str, value: &str) -> Result<Table> {
    let start = key.len() + 1 + (value.len() - value.trim_start().len());
    let leaf = Node {
        value: Value::Text(value.trim().to_string()),
        origin: Origin::new(source, start..start + value.trim().len()),
    };
    let mut table = parse_part(source, &format!("{key}=0"))?;
    replace_leaf(&mut table, leaf);
    Ok(table)
}

/// Replaces the only leaf of a table made of one dotted key.
fn replace_leaf(table: &mut Table, leaf: Node) {
    if let Some(entry) = table.entries.last_mut() {
        match &mut entry.node.value {
            Value::Table(inner) => replace_leaf(inner, leaf),
            _ => entry.node = leaf,
        }
    }
}
