//! Expressions of one variable and the parameters, compiled.

use bilo_expr::{Expr, Graph, Input, Leaf, Scratch, Symbol, Tape};

use super::error::ConservationError;

/// Where an expression stands, for errors.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) name: &'static str,
    pub(super) allowed: &'static str,
}

/// Some expressions of one variable and the parameters.
#[derive(Debug)]
pub(super) struct Formula {
    tape: Tape,
}

impl Formula {
    pub(super) fn new(
        graph: &mut Graph,
        outputs: &[Expr],
        variable: Leaf,
        parameters: &[Symbol],
        place: Place,
    ) -> Result<Formula, ConservationError> {
        let mut inputs = vec![variable];
        inputs.extend(parameters.iter().map(|&p| Leaf::Symbol(p)));
        match Tape::compile(graph, outputs, &inputs) {
            Ok(tape) => Ok(Formula { tape }),
            Err(leaf) => Err(ConservationError::UnknownLeaf {
                leaf: leaf_text(graph, &leaf),
                place: place.name,
                allowed: place.allowed,
            }),
        }
    }

    /// An expression, then its derivative by each parameter.
    pub(super) fn with_partials(
        graph: &mut Graph,
        e: Expr,
        variable: Leaf,
        parameters: &[Symbol],
        place: Place,
    ) -> Result<Formula, ConservationError> {
        let e = graph.expand_definitions(e);
        let mut outputs = vec![e];
        outputs.extend(parameters.iter().map(|&p| graph.partial(e, &Leaf::Symbol(p))));
        Formula::new(graph, &outputs, variable, parameters, place)
    }

    /// Evaluates at all values of the variable; [`Formula::output`] shows the results.
    pub(super) fn eval(&self, at: &[f64], parameters: &[f64], scratch: &mut Scratch<f64>) {
        let mut inputs = vec![Input::Column(at)];
        inputs.extend(parameters.iter().map(|&p| Input::Uniform(p)));
        self.tape.eval(&inputs, at.len(), scratch);
    }

    /// Expression `i` at every value of the last evaluation.
    pub(super) fn output<'s>(&self, i: usize, scratch: &'s Scratch<f64>) -> &'s [f64] {
        scratch.output(&self.tape, i)
    }

    /// Every expression at all values of the variable.
    pub(super) fn columns(&self, at: &[f64], parameters: &[f64]) -> Vec<Vec<f64>> {
        let mut scratch = Scratch::new();
        self.eval(at, parameters, &mut scratch);
        (0..self.tape.outputs().len()).map(|i| self.output(i, &scratch).to_vec()).collect()
    }
}

/// The first place where a column is not finite is an error.
pub(super) fn check_finite(
    what: &'static str,
    variable: &'static str,
    at: &[f64],
    column: &[f64],
) -> Result<(), ConservationError> {
    match column.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(i) => Err(ConservationError::NonFinite { what, variable, at: at[i] }),
    }
}

fn leaf_text(graph: &mut Graph, leaf: &Leaf) -> String {
    let e = match leaf {
        Leaf::Symbol(symbol) => graph.leaf(*symbol),
        Leaf::Derivative(function, index) => graph.derivative(*function, index.clone()),
    };
    graph.display(e).to_string()
}
