//! A TOML text as a tree that knows where everything was written, with overrides merged in.

pub(crate) mod assignment;
pub(crate) mod places;
pub(crate) mod reader;

pub use assignment::Assignment;
pub(crate) use places::Places;

use crate::diagnostic::{Diagnostic, Origin, Result, Source};
use std::ops::Range;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// A value and where it was written (a table: its header or its braces).
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

impl Node {
    /// Whether it is a table in braces.
    pub(crate) fn is_inline(&self) -> bool {
        self.origin.slice().is_some_and(|written| written.starts_with('{'))
    }
}

/// What may stand behind a key.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Date,
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// What it is, for "found a string".
    pub(crate) fn kind(&self) -> String {
        match self {
            Value::Text(_) => "a string".to_string(),
            Value::Integer(i) => format!("the number {i}"),
            Value::Float(f) => format!("the number {f:?}"),
            Value::Boolean(b) => format!("`{b}`"),
            Value::Date => "a date".to_string(),
            Value::List(_) => "a list".to_string(),
            Value::Table(_) => "a table".to_string(),
        }
    }
}

/// Keys and values in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_origin: Origin,
    pub(crate) node: Node,
    /// Comes from an override: wins over a recipe's sub-table too.
    overriding: bool,
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.node)
    }

    fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|e| e.key == key)
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Node> {
        let place = self.entries.iter().position(|e| e.key == key)?;
        Some(self.entries.remove(place).node)
    }

    /// Takes the entries of these keys out of the table.
    pub(crate) fn split_off(&mut self, keys: &[&str]) -> Table {
        let (taken, kept) =
            std::mem::take(&mut self.entries).into_iter().partition(|e| keys.contains(&&e.key[..]));
        self.entries = kept;
        Table { entries: taken }
    }

    /// Puts the entries of `over` over the own ones, tables into tables.
    pub(crate) fn merge(&mut self, over: Table) {
        for mut entry in over.entries {
            entry.overriding = true;
            match self.get_mut(&entry.key) {
                None => self.entries.push(entry),
                Some(own) => own.put(entry),
            }
        }
    }

    /// Takes the sub-tables `variants` out of the table `name`, and puts what the `chosen` one says
    /// over what that table says.
    pub(crate) fn choose(&mut self, name: &str, variants: &[&str], chosen: &str) {
        let Some(Value::Table(table)) = self.get_mut(name).map(|e| &mut e.node.value) else {
            return;
        };
        for variant in variants {
            let taken = table.take(variant).map(|node| node.value);
            if let (Some(Value::Table(sub)), true) = (taken, *variant == chosen) {
                table.overlay(sub);
            }
        }
    }

    fn overlay(&mut self, sub: Table) {
        for entry in sub.entries {
            match self.get_mut(&entry.key) {
                None => self.entries.push(entry),
                Some(own) if own.overriding && !entry.overriding => {}
                Some(own) => *own = entry,
            }
        }
    }
}

impl Entry {
    fn put(&mut self, over: Entry) {
        // `a.b=1` reaches into the table a, `a={b=1}` replaces it.
        let inline = over.node.is_inline();
        match (&mut self.node.value, over.node.value) {
            (Value::Table(own), Value::Table(new)) if !inline => own.merge(new),
            (_, value) => {
                self.node = Node { value, origin: over.node.origin };
                self.overriding = true;
            }
        }
    }
}

/// Reads a TOML text.
pub(crate) fn parse(source: &Arc<Source>) -> Result<Table> {
    parse_part(source, &source.text)
}

/// Reads a text whose bytes are numbered as those of `source`.
fn parse_part(source: &Arc<Source>, text: &str) -> Result<Table> {
    let table = DeTable::parse(text).map_err(|e| {
        let origin = e.span().map_or(Origin::none(), |span| Origin::new(source, span));
        Diagnostic::new(format!("not valid TOML: {}", e.message()), origin)
    })?;
    convert_table(source, table.get_ref())
}

fn convert_table(source: &Arc<Source>, table: &DeTable<'_>) -> Result<Table> {
    let mut items: Vec<_> = table.iter().collect();
    items.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<_>)| {
        let key_text: &std::borrow::Cow<'_, str> = key.get_ref();
        Ok(Entry {
            key: key_text.to_string(),
            key_origin: Origin::new(source, key.span()),
            node: convert(source, value.get_ref(), value.span())?,
            overriding: false,
        })
    };
    Ok(Table { entries: items.into_iter().map(entry).collect::<Result<_>>()? })
}

fn convert(source: &Arc<Source>, value: &DeValue<'_>, span: Range<usize>) -> Result<Node> {
    let origin = Origin::new(source, span);
    let too_large = || Diagnostic::new("this number is too large", origin.clone());
    let value = match value {
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Integer(i) => {
            Value::Integer(i64::from_str_radix(i.as_str(), i.radix()).map_err(|_| too_large())?)
        }
        DeValue::Float(f) => Value::Float(f.as_str().parse().map_err(|_| too_large())?),
        DeValue::Boolean(b) => Value::Boolean(*b),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => {
            let nodes = items.iter().map(|v| convert(source, v.get_ref(), v.span()));
            Value::List(nodes.collect::<Result<_>>()?)
        }
        DeValue::Table(table) => Value::Table(convert_table(source, table)?),
    };
    Ok(Node { value, origin })
}

/// `path.key`, or `key` at the top.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}
