//! What must hold of extra inputs of networks.

use crate::diagnostic::{Diagnostic, Result};
use crate::evaluate::names::Names;
use crate::model::problem::Problem;
use crate::model::statement::Input;
use bilo_expr::Leaf;

/// Networks know nothing of given fields: says so where an input uses one.
pub(super) fn refuse_given_fields(problem: &Problem) -> Result<()> {
    let mut names = Names::new(problem)?;
    for input in &problem.inputs {
        let value = names.lower(&input.value)?;
        let field = names.graph.leaves(&[value]).into_iter().find_map(|leaf| match leaf {
            Leaf::Derivative(function, _) => names.given_field(function),
            Leaf::Symbol(_) => None,
        });
        if let Some(field) = field {
            let message = format!("the input `{}` uses the given field `{}`", input.name, field.name);
            let help = "an input is an expression of coordinates, constants and unknown numbers";
            return Err(Diagnostic::new(message, input.value.origin.clone()).help(help).into());
        }
    }
    Ok(())
}

/// Networks see unknown functions as inputs of their own: says so where an input uses one.
pub(super) fn refuse_functions(problem: &Problem) -> Result<()> {
    problem.inputs.iter().try_for_each(|input| refuse_function(problem, input))
}

fn refuse_function(problem: &Problem, input: &Input) -> Result<()> {
    let functions = &problem.functions;
    let is_function = |(name, _): &(&str, _)| functions.iter().any(|function| function.name == *name);
    match input.value.ast.names().into_iter().find(is_function) {
        None => Ok(()),
        Some((name, _)) => {
            let message = format!("the input `{}` depends on the unknown function `{name}`", input.name);
            let help = "an input is an expression of coordinates, constants and unknown numbers; networks see \
                        unknown functions in any case";
            Err(Diagnostic::new(message, input.value.origin.clone()).help(help).into())
        }
    }
}
