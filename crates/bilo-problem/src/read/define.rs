//! The table `[define]`: names for expressions, put into the place of the names before anything else is read.

use crate::diagnostic::{Diagnostic, Result};
use crate::read::expressions::{self, keys};
use crate::tree::reader::{expression, formula, table};
use crate::tree::{Entry, Node, Table, Value};
use bilo_expr::{Ast, AstKind, RESERVED, parse, parse_equation};

/// Tables whose keys are names of a problem.
const NAMED: [&str; 6] = ["coordinates", "constants", "unknown", "given", "input", "state"];

/// Takes the definitions out of a file, and puts their values into its expressions. What cannot be parsed stays as it is, and
/// is an error where it is read.
pub(super) fn expand(tree: &mut Table) -> Result<()> {
    let Some(node) = tree.take("define") else { return Ok(()) };
    let coordinates = keys(tree, "coordinates");
    let mut known = Definitions { coordinates, values: vec![] };
    let entries = &table(&node, "define")?.entries;
    for (number, entry) in entries.iter().enumerate() {
        check_name(tree, entry)?;
        let value = formula(&entry.node, &entry.key)?;
        let below = |name: &str| entries[number..].iter().any(|other| other.key == name);
        if let Some((name, _)) = value.ast.names().into_iter().find(|(name, _)| below(name)) {
            let message = format!("`{}` uses `{name}`, which is not defined above it", entry.key);
            let error = Diagnostic::new(message, entry.node.origin.clone());
            return Err(error.help("a definition may use those above it").into());
        }
        let value = known.expanded(expression(&entry.node, &entry.key)?, &value.ast).unwrap_or(value.text);
        known.values.push((entry.key.clone(), value));
    }
    expressions::each(tree, |node| {
        known.put(node);
        Ok(())
    })
}

fn check_name(tree: &Table, entry: &Entry) -> Result<()> {
    let name = &entry.key;
    let message = match NAMED.iter().find(|kind| keys(tree, kind).contains(name)) {
        Some(kind) => format!("`{name}` stands in [{kind}] too"),
        None if RESERVED.contains(&&name[..]) => format!("`{name}` has a meaning of its own in expressions"),
        None => return Ok(()),
    };
    Err(Diagnostic::new(message, entry.key_origin.clone()).help("choose another name").into())
}

/// Names and what they stand for, without names of others.
struct Definitions {
    coordinates: Vec<String>,
    values: Vec<(String, String)>,
}

impl Definitions {
    fn put(&self, node: &mut Node) {
        let Value::Text(text) = &mut node.value else { return };
        // One equals sign makes an equation; those of comparisons are pairs.
        let parsed = parse(text).or_else(|_| parse_equation(text));
        if let Some(expanded) = parsed.ok().and_then(|ast| self.expanded(text, &ast)) {
            *text = expanded;
        }
    }

    /// A text with values in the place of names; none if it has no such names.
    fn expanded(&self, text: &str, ast: &Ast) -> Option<String> {
        let mut found = vec![];
        for node in ast.nodes() {
            let AstKind::Name(name) = &node.kind else { continue };
            found.extend(self.value(name).map(|value| (node.span, name, value)));
        }
        if found.is_empty() {
            return None;
        }
        found.sort_by_key(|(span, ..)| span.start);
        let mut text = text.to_owned();
        for (span, name, value) in found.into_iter().rev() {
            // A span may have parentheses, which stay.
            let own = text[span.start..span.end].replacen(&name[..], &value, 1);
            text.replace_range(span.start..span.end, &own);
        }
        Some(text)
    }

    /// What a name stands for: a definition, or `flux_x`, the derivative of one.
    fn value(&self, name: &str) -> Option<String> {
        let exact = self.values.iter().find(|(own, _)| own == name);
        if let Some((_, value)) = exact {
            return Some(format!("({value})"));
        }
        self.values.iter().find_map(|(own, value)| {
            let by = self.coordinates_in(name.strip_prefix(&own[..])?.strip_prefix('_')?)?;
            Some(format!("d({value}, {})", by.join(", ")))
        })
    }

    /// The coordinates that a suffix such as `xx` consists of.
    fn coordinates_in(&self, suffix: &str) -> Option<Vec<&str>> {
        let first = |name: &&String| suffix.starts_with(&name[..]);
        self.coordinates.iter().filter(first).find_map(|name| match &suffix[name.len()..] {
            "" => Some(vec![&name[..]]),
            rest => Some([vec![&name[..]], self.coordinates_in(rest)?].concat()),
        })
    }
}
