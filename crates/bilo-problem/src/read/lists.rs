//! Lists of what holds: `holds = ["u = 0", "v = 0"]` is an entry for each.

use crate::diagnostic::{Diagnostic, Result};
use crate::tree::{Entry, Table, Value};

/// Puts `NAME-1`, `NAME-2` in the place of an entry `NAME` of equations and conditions with a list of what holds.
pub(super) fn expand(tree: &mut Table) -> Result<()> {
    for kind in ["equation", "condition"] {
        let Some(entry) = tree.entries.iter_mut().find(|entry| entry.key == kind) else { continue };
        let Value::Table(table) = &mut entry.node.value else { continue };
        let parts: Vec<Vec<Entry>> = table.entries.iter().map(parts).collect::<Result<_>>()?;
        table.entries = parts.concat();
        for (number, entry) in table.entries.iter().enumerate() {
            if table.entries[..number].iter().any(|other| other.key == entry.key) {
                let message = format!("`{}` is an entry of the list above already", entry.key);
                let error = Diagnostic::new(message, entry.key_origin.clone());
                return Err(error.help("choose another name").into());
            }
        }
    }
    Ok(())
}

/// An entry for each thing that holds.
fn parts(entry: &Entry) -> Result<Vec<Entry>> {
    let Value::Table(table) = &entry.node.value else { return Ok(vec![entry.clone()]) };
    let Some(node) = table.get("holds") else { return Ok(vec![entry.clone()]) };
    let Value::List(items) = &node.value else { return Ok(vec![entry.clone()]) };
    if items.is_empty() {
        let error = Diagnostic::new("nothing holds here", node.origin.clone());
        return Err(error.help("write `holds = [\"u = 0\", \"v = 0\"]`").into());
    }
    let part = |(number, item)| {
        let mut part = entry.clone();
        part.key = format!("{}-{}", entry.key, number + 1);
        if let Value::Table(table) = &mut part.node.value {
            table.entries.iter_mut().filter(|e| e.key == "holds").for_each(|e| e.node = Clone::clone(item));
        }
        part
    };
    Ok(items.iter().enumerate().map(part).collect())
}
