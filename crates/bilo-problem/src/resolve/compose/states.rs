//! The states of a problem that does not list them.

use crate::diagnostic::Result;
use crate::evaluate::names::NET;
use crate::text::is_made_of;
use crate::written::{StateSpec, Written};
use bilo_expr::{Ast, AstKind, RESERVED};

/// Functions whose argument is differentiated.
const DIFFERENTIATE: [&str; 2] = ["grad", "lap"];

/// What equations and conditions of a problem differentiate and nothing else declares.
pub(super) fn named_by_equations(written: &Written) -> Result<Vec<StateSpec>> {
    let equations =
        written.equations.iter().map(|spec| Ok(written.places.said(&spec.path(), &spec.said)?.ast));
    let conditions = written.conditions.iter().map(|spec| {
        let path = format!("condition.{}.holds", spec.name);
        Ok(written.places.equation(&path, &spec.holds)?.ast)
    });
    let statements: Vec<Ast> = equations.chain(conditions).collect::<Result<_>>()?;
    let variables: Vec<&str> = written.coordinates.iter().map(|c| c.name.as_str()).collect();
    Ok(implied_states(&statements, &variables, &declared(written)))
}

/// What statements differentiate by variables and nothing else declares, in the order of the text.
pub(crate) fn implied_states(statements: &[Ast], variables: &[&str], declared: &[&str]) -> Vec<StateSpec> {
    let mut found: Vec<&str> = vec![];
    for ast in statements {
        for (_, name) in differentiated(ast, variables, declared) {
            let free = !declared.contains(&name) && !RESERVED.contains(&name) && name != NET;
            if free && !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found.into_iter().map(StateSpec::named).collect()
}

/// What is differentiated: `u` in `u_xx`, `d(u, x)` and `lap(u)`, with where it stands.
fn differentiated<'a>(ast: &'a Ast, variables: &[&str], declared: &[&str]) -> Vec<(usize, &'a str)> {
    let name_at = |id: usize| match &ast.nodes()[id].kind {
        AstKind::Name(name) => Some((ast.nodes()[id].span.start, name.as_str())),
        _ => None,
    };
    let mut found = vec![];
    for node in ast.nodes() {
        match &node.kind {
            // A name of its own may look like a derivative.
            AstKind::Name(name) if declared.contains(&name.as_str()) => {}
            AstKind::Name(name) => {
                let splits = name.char_indices().filter(|(_, c)| *c == '_').map(|(at, _)| at);
                let state = splits.filter(|&at| is_made_of(&name[at + 1..], variables)).min();
                found.extend(state.map(|at| (node.span.start, &name[..at])));
            }
            AstKind::Derivative(of, _) => found.extend(name_at(*of)),
            AstKind::Call(function, operands) if DIFFERENTIATE.contains(&function.as_str()) => {
                found.extend(operands.iter().filter_map(|&operand| name_at(operand)));
            }
            _ => {}
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found
}

/// Every name that is stated.
fn declared(written: &Written) -> Vec<&str> {
    let coordinates = written.coordinates.iter().map(|c| c.name.as_str());
    let constants = written.constants.iter().map(|c| c.name.as_str());
    let given = written.given.iter().map(|g| g.name.as_str());
    let unknowns = written.unknowns.iter().map(|u| u.name.as_str());
    let functions = written.functions.iter().map(|f| f.name.as_str());
    let inputs = written.inputs.iter().map(|(name, _)| name.as_str());
    coordinates.chain(constants).chain(given).chain(unknowns).chain(functions).chain(inputs).collect()
}
