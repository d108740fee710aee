//! Degrees Celsius and Fahrenheit where absolute temperatures are meant.
//!
//! For differences a degree Celsius is a kelvin; T^4 and 1/T are those of kelvins.

use crate::model::problem::Problem;
use bilo_expr::{Ast, AstKind, NodeId, Operator};

/// Sentences on temperatures with a zero of their own whose powers or quotients stand in formulas.
pub(super) fn remarks(problem: &Problem, stated: &[(String, String)]) -> Vec<String> {
    let relative = |unit: &str| ["degC", "\u{b0}C", "degF"].contains(&unit.trim());
    let mut names: Vec<(&str, &str)> = vec![];
    for (name, unit) in stated.iter().filter(|(_, unit)| relative(unit)) {
        let observed =
            problem.observations.iter().find(|o| name.strip_prefix("observation.") == Some(&o.name));
        names.push((observed.map_or(name, |observation| observation.value.text.trim()), unit));
    }
    let equations = problem.equations.iter().map(|e| (&e.name, "equation", &e.residual.ast));
    let own = |name: &str| problem.conditions.iter().any(|condition| condition.name == name);
    let equations = equations.filter(|(name, ..)| !own(name));
    let conditions = problem.conditions.iter().map(|c| (&c.name, "condition", &c.holds.ast));
    let mut remarks = vec![];
    for (place, kind, ast) in equations.chain(conditions) {
        for (name, unit) in names.iter().filter(|(name, _)| is_absolute(ast, name)) {
            remarks.push(format!(
                "in {kind} {place}, `{name}` is in {unit}, and powers and quotients need absolute temperatures: state it in K"
            ));
        }
    }
    remarks
}

/// Whether a power of a name is taken, or something is divided by it.
fn is_absolute(ast: &Ast, name: &str) -> bool {
    ast.nodes().iter().any(|node| match node.kind {
        AstKind::Binary(Operator::Pow, base, _) => is_factor(ast, base, name),
        AstKind::Binary(Operator::Div, _, below) => is_factor(ast, below, name),
        _ => false,
    })
}

/// Whether it is the name, or a product that has it.
fn is_factor(ast: &Ast, id: NodeId, name: &str) -> bool {
    match &ast.nodes()[id].kind {
        AstKind::Name(own) => own == name,
        AstKind::Binary(Operator::Mul, a, b) => is_factor(ast, *a, name) || is_factor(ast, *b, name),
        _ => false,
    }
}
