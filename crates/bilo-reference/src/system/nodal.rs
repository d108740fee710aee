//! Unknown functions of a state or of time: in the equations of the classical solver they are curves, whose parameters are the
//! values at the nodes of their grids.

use super::Axes;
use super::parts::{Parts, Standing};
use bilo_expr::{Expr, Function, Symbol};
use bilo_problem::diagnostic::Result;
use bilo_problem::{Names, Problem, UnknownFunction, Variable, function};
use bilo_solve::Curve;
use std::sync::Arc;

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
    /// As they are stated: the truth, else the guess. What is no formula is given by its values at nodes.
    Stated,
    /// Known by their names alone: for equations that are to be read, not solved.
    Named,
}

/// Binds those that are stated as formulas, those of states once the states are bound. Returns the parameters of all unknown
/// functions; one of places, or one that is stated, has none.
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
        let known = unknown.truth.as_ref().unwrap_or(&unknown.guess);
        match (content, known.formula()) {
            (Content::Stated, Some(formula)) => {
                let arguments = names.arguments(unknown);
                let value = names.lower_within(unknown, &arguments, formula)?;
                names.bind_value(unknown, &arguments, value);
            }
            _ => {
                let name = |node| format!("{} at node {node}", unknown.name);
                *parameters = (0..unknown.nodes[0]).map(|node| names.graph.symbol(&name(node))).collect();
            }
        }
    }
    Ok(all)
}

/// A function that is given by its values at nodes: what it is of, and where these are among the parameters.
pub(super) struct NodalFunction {
    pub(super) function: Function,
    pub(super) curve: function::Curve,
    pub(super) of: Variable,
    pub(super) first: usize,
}

impl Parts<'_> {
    /// All of them.
    pub(super) fn nodal_functions(&self) -> Vec<NodalFunction> {
        let (mut first, mut all) = (self.names.eta.len(), vec![]);
        for (number, unknown) in self.problem.functions.iter().enumerate() {
            if self.nodal[number].is_empty() {
                continue;
            }
            let (function, of) = (self.names.functions[number], unknown.of[0].variable);
            all.push(NodalFunction { function, curve: function::Curve::new(unknown), of, first });
            first += self.nodal[number].len();
        }
        all
    }

    /// The curves of the statement, in terms of its states.
    pub(super) fn curves(&mut self, states: &[Function]) -> Vec<Curve> {
        let nodal = self.nodal_functions();
        let curve = |NodalFunction { function, curve, of, first }| {
            let argument = self.argument(of);
            let argument = self.with_states(states, argument);
            let corners = curve.corners();
            Curve {
                function,
                argument,
                first,
                weights: Arc::new(move |places, order| curve.weights(places, order)),
                corners,
            }
        };
        nodal.into_iter().map(curve).collect()
    }

    fn argument(&mut self, of: Variable) -> Expr {
        match of {
            Variable::Coordinate(coordinate) => self.names.graph.leaf(self.names.coordinates[coordinate]),
            Variable::State(state) => match self.standing[state] {
                Standing::Solved(state) => self.names.graph.value(self.states[state]),
                Standing::Defined(value) => value,
            },
        }
    }
}
