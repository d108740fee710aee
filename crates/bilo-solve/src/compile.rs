//! Residual expressions to tapes: values and symbolic Jacobians.

use bilo_expr::{Expr, Graph, Leaf, Tape};

use crate::error::SolveError;
use crate::statement::Statement;

/// A derivative of a state that the residuals use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateDerivative {
    pub(crate) state: usize,
    pub(crate) order_x: usize,
    /// 0 or 1.
    pub(crate) order_t: usize,
}

/// One entry of the symbolic Jacobian: the partial derivative of a residual by
/// a state derivative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// Which state derivative of the block.
    pub(crate) derivative: usize,
    /// Which output of the tape is the partial derivative.
    pub(crate) output: usize,
}

/// Residuals that hold at the same places, compiled.
///
/// The tape's inputs are the state derivatives, space, time (zero if steady)
/// and the parameters; its outputs the residuals, then the partial derivatives.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) derivatives: Vec<StateDerivative>,
    pub(crate) tape: Tape,
    /// Jacobian entries of each residual.
    pub(crate) terms: Vec<Vec<Term>>,
}

impl Block {
    /// Whether a state occurs in a residual.
    pub(crate) fn occurs(&self, residual: usize, state: usize) -> bool {
        self.order_x(residual, state).is_some()
    }

    /// Highest space derivative of a state in a residual.
    pub(crate) fn order_x(&self, residual: usize, state: usize) -> Option<usize> {
        self.terms[residual]
            .iter()
            .map(|term| self.derivatives[term.derivative])
            .filter(|d| d.state == state)
            .map(|d| d.order_x)
            .max()
    }
}

/// Compiles residuals of the statement; `place` names them in errors.
pub(crate) fn block(
    statement: &mut Statement,
    residuals: &[Expr],
    place: &'static str,
) -> Result<Block, SolveError> {
    let graph = &mut statement.graph;
    let mut outputs: Vec<Expr> = residuals.iter().map(|&e| graph.expand_definitions(e)).collect();
    let leaves: Vec<Leaf> =
        graph.leaves(&outputs).into_iter().filter(|leaf| matches!(leaf, Leaf::Derivative(..))).collect();
    let mut terms = vec![Vec::new(); residuals.len()];
    for (residual, terms) in terms.iter_mut().enumerate() {
        for (derivative, leaf) in leaves.iter().enumerate() {
            let partial = graph.partial(outputs[residual], leaf);
            if graph.as_constant(partial) != Some(0.0) {
                terms.push(Term { derivative, output: outputs.len() });
                outputs.push(partial);
            }
        }
    }
    let derivatives =
        leaves.iter().map(|leaf| state_derivative(statement, leaf, place)).collect::<Result<_, _>>()?;
    Ok(Block { derivatives, tape: tape(statement, &outputs, leaves, place)?, terms })
}

/// Compiles expressions of coordinates and parameters only.
pub(crate) fn coordinate_tape(
    statement: &mut Statement,
    expressions: &[Expr],
    place: &'static str,
) -> Result<Tape, SolveError> {
    let outputs: Vec<Expr> = expressions.iter().map(|&e| statement.graph.expand_definitions(e)).collect();
    tape(statement, &outputs, Vec::new(), place)
}

fn tape(
    statement: &mut Statement,
    outputs: &[Expr],
    mut inputs: Vec<Leaf>,
    place: &'static str,
) -> Result<Tape, SolveError> {
    inputs.push(Leaf::Symbol(statement.space.symbol));
    inputs.extend(statement.time.map(|time| Leaf::Symbol(time.symbol)));
    inputs.extend(statement.parameters.iter().map(|&p| Leaf::Symbol(p)));
    Tape::compile(&statement.graph, outputs, &inputs)
        .map_err(|leaf| SolveError::UnknownLeaf { leaf: leaf_text(&mut statement.graph, &leaf), place })
}

/// Which state and which orders a derivative leaf means.
fn state_derivative(
    statement: &mut Statement,
    leaf: &Leaf,
    place: &'static str,
) -> Result<StateDerivative, SolveError> {
    let Leaf::Derivative(function, index) = leaf else {
        unreachable!("only derivative leaves are passed here");
    };
    let Some(state) = statement.states.iter().position(|f| f == function) else {
        return Err(SolveError::UnknownLeaf { leaf: leaf_text(&mut statement.graph, leaf), place });
    };
    let space = statement.graph.leaf(statement.space.symbol);
    let (mut order_x, mut order_t) = (0, 0);
    let inputs = statement.graph.function_inputs(*function);
    for (&input, &order) in inputs.iter().zip(index.as_slice()) {
        let slot = if input == space { &mut order_x } else { &mut order_t };
        *slot += usize::from(order);
    }
    if order_t > 1 {
        return Err(SolveError::OrderInTime { derivative: leaf_text(&mut statement.graph, leaf) });
    }
    Ok(StateDerivative { state, order_x, order_t })
}

/// Every state must be a function of exactly the coordinates.
pub(crate) fn check_state_inputs(statement: &mut Statement) -> Result<(), SolveError> {
    let graph = &mut statement.graph;
    let mut coordinates = vec![graph.leaf(statement.space.symbol)];
    if let Some(time) = statement.time {
        coordinates.push(graph.leaf(time.symbol));
    }
    coordinates.sort_unstable();
    for &state in &statement.states {
        let mut inputs = graph.function_inputs(state).to_vec();
        inputs.sort_unstable();
        if inputs != coordinates {
            return Err(SolveError::StateInputs { state: graph.function_name(state).to_string() });
        }
    }
    Ok(())
}

fn leaf_text(graph: &mut Graph, leaf: &Leaf) -> String {
    let e = match leaf {
        Leaf::Symbol(symbol) => graph.leaf(*symbol),
        Leaf::Derivative(function, index) => graph.derivative(*function, index.clone()),
    };
    graph.display(e).to_string()
}
