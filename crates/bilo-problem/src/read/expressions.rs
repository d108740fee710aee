//! Where expressions stand in the tree of a file, for what rewrites them before they are read.

use crate::diagnostic::Result;
use crate::tree::{Entry, Node, Table, Value};

/// The tables with expressions, and the keys of each entry.
const USED: [(&str, &[&str]); 6] = [
    ("equation", &["holds", "residual", "trained"]),
    ("condition", &["holds"]),
    ("state", &["form", "truth"]),
    ("input", &["value"]),
    ("observation", &["value"]),
    ("picture", &["value"]),
];

/// Rewrites each expression of a file.
pub(super) fn each(tree: &mut Table, mut rewrite: impl FnMut(&mut Node) -> Result<()>) -> Result<()> {
    for (kind, keys) in USED {
        for entry in entries_of(tree, kind) {
            let Value::Table(inner) = &mut entry.node.value else { continue };
            let expressions = inner.entries.iter_mut().filter(|e| keys.contains(&&e.key[..]));
            expressions.map(|e| &mut e.node).try_for_each(&mut rewrite)?;
        }
    }
    entries_of(tree, "derived").map(|entry| &mut entry.node).try_for_each(rewrite)
}

fn entries_of<'a>(tree: &'a mut Table, kind: &str) -> impl Iterator<Item = &'a mut Entry> {
    let found = tree.entries.iter_mut().filter(move |entry| entry.key == kind).take(1);
    found.flat_map(|entry| match &mut entry.node.value {
        Value::Table(table) => &mut table.entries[..],
        _ => &mut [],
    })
}

/// The keys of a table of the file, such as the names of all coordinates.
pub(super) fn keys(tree: &Table, kind: &str) -> Vec<String> {
    match tree.get(kind).map(|node| &node.value) {
        Some(Value::Table(table)) => table.entries.iter().map(|entry| entry.key.clone()).collect(),
        _ => vec![],
    }
}
