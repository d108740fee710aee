//! Unknown functions of a state or of time: in the equations of the classical solver they are expressions of that,
//! whose parameters are the values at the nodes of their grids.

use super::Axes;
use bilo_expr::{Expr, Symbol};
use bilo_problem::diagnostic::Result;
use bilo_problem::function::{held, polygon, rounded};
use bilo_problem::{Names, Problem, UnknownFunction, Variable};

/// Whether a function's values at nodes are parameters of the equations: it depends on a state, or on time alone. One of
/// places is a coefficient, whose values the solver takes at its own nodes.
pub(super) fn has_parameters(function: &UnknownFunction, axes: &Axes) -> bool {
    function.of.iter().all(|argument| match argument.variable {
        Variable::State(_) => true,
        Variable::Coordinate(coordinate) => axes.time == Some(coordinate),
    })
}

/// What these functions are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Content {
    /// Given by their values at nodes, which are parameters.
    Nodal,
    /// As they are stated: the truth, else the guess. What is no formula is taken at the nodes.
    Stated,
    /// Known by their names alone: for equations that are to be read, not solved.
    Named,
}

/// Binds each of them, those of states once the states are bound. Returns the parameters of all unknown functions; one
/// of places, or one that is stated, has none.
pub(super) fn bind(
    problem: &Problem,
    axes: &Axes,
    names: &mut Names,
    content: Content,
) -> Result<Vec<Vec<Symbol>>> {
    let mut all = vec![vec![]; problem.functions.len()];
    for (unknown, parameters) in problem.functions.iter().zip(&mut all) {
        if !has_parameters(unknown, axes) || content == Content::Named {
            continue;
        }
        let arguments = names.arguments(unknown);
        let known = unknown.truth.as_ref().unwrap_or(&unknown.guess);
        let value = match (content, known.formula()) {
            (Content::Stated, Some(formula)) => names.lower_within(unknown, &arguments, formula)?,
            (Content::Stated, None) => {
                let values = unknown.on_nodes(problem, known)?;
                let values: Vec<Expr> = values.iter().map(|&value| names.graph.constant(value)).collect();
                between_nodes(names, unknown, arguments[0], &values)
            }
            _ => {
                let name = |node| format!("{} at node {node}", unknown.name);
                *parameters = (0..unknown.nodes[0]).map(|node| names.graph.symbol(&name(node))).collect();
                let values: Vec<Expr> = parameters.iter().map(|&symbol| names.graph.leaf(symbol)).collect();
                between_nodes(names, unknown, arguments[0], &values)
            }
        };
        names.bind_value(unknown, &arguments, value);
    }
    Ok(all)
}

/// The function with these values at its nodes. Equations are differentiated by a state, so corners are rounded there.
fn between_nodes(names: &mut Names, unknown: &UnknownFunction, argument: Symbol, values: &[Expr]) -> Expr {
    let (graph, range) = (&mut names.graph, &unknown.of[0].axis);
    let argument = graph.leaf(argument);
    let of_state = unknown.state().is_some();
    let inside = if of_state { held(graph, argument, range) } else { argument };
    let lo = graph.constant(range.lo);
    let step = graph.constant((range.hi - range.lo) / (values.len() - 1) as f64);
    let distance = graph.sub(inside, lo);
    let along = graph.div(distance, step);
    match of_state {
        true => rounded::expression(graph, along, values),
        false => polygon::expression(graph, along, values),
    }
}
