//! The table `[audit]`.

use crate::diagnostic::{Diagnostic, Result};
use crate::model::domain::Constant;
use crate::model::formula::Formula;
use crate::model::function::UnknownFunction;
use crate::model::neighbour::Neighbour;
use crate::model::unknown::Unknown;
use crate::schema;
use crate::tree::reader::{Reader, formula, number, table, wrong_type};
use crate::tree::{Node, Table, Value};

/// Reads `audit.near`.
pub(crate) fn read(
    tree: &Table,
    unknowns: &[Unknown],
    functions: &[UnknownFunction],
    constants: &[Constant],
) -> Result<Vec<Neighbour>> {
    let Some(node) = tree.get("audit") else { return Ok(vec![]) };
    let reader = Reader::of(node, "audit", constants, &schema::AUDIT.names())?;
    let Some(node) = reader.get("near") else { return Ok(vec![]) };
    let Value::List(items) = &node.value else {
        return Err(wrong_type(node, "near", "a list of values of unknowns, such as `[{ D = 1.5 }]`"));
    };
    items.iter().map(|item| read_one(item, unknowns, functions, constants)).collect()
}

fn read_one(
    node: &Node,
    unknowns: &[Unknown],
    functions: &[UnknownFunction],
    constants: &[Constant],
) -> Result<Neighbour> {
    let names: Vec<&str> =
        unknowns.iter().map(|u| &u.name[..]).chain(functions.iter().map(|f| &f.name[..])).collect();
    Reader::of(node, "audit.near", constants, &names)?;
    let mut found =
        Neighbour { at: String::new(), scalars: vec![], functions: vec![], origin: node.origin.clone() };
    let mut said = vec![];
    for entry in &table(node, "audit.near")?.entries {
        let place = names.iter().position(|name| *name == entry.key).expect("the key is known");
        match place.checked_sub(unknowns.len()) {
            None => {
                let value = number(&entry.node, &entry.key, constants)?;
                said.push(format!("{} = {value}", entry.key));
                found.scalars.push((place, value));
            }
            Some(function) => {
                let value = read_formula(&entry.node, &entry.key, constants)?;
                said.push(format!("{} = {}", entry.key, value.text));
                found.functions.push((function, value));
            }
        }
    }
    if said.is_empty() {
        let error = Diagnostic::new("nothing is moved here", node.origin.clone());
        return Err(error.help(format!("write `{{ {} = .. }}`, for instance", names[0])).into());
    }
    found.at = said.join(", ");
    Ok(found)
}

/// A number is a function that is constant.
fn read_formula(node: &Node, key: &str, constants: &[Constant]) -> Result<Formula> {
    match &node.value {
        Value::Integer(_) | Value::Float(_) => {
            Formula::parse(&number(node, key, constants)?.to_string(), node.origin.clone())
        }
        _ => formula(node, key),
    }
}
