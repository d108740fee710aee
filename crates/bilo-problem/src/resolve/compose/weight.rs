//! Weights of equations, if they are not stated: what makes residuals in any units comparable.
//!
//! A residual r of derivatives u_k of states, of orders n along coordinates of lengths L, is as large as the largest of
//! |dr/du_k u_k| where a state of size U has u_k = U/Lⁿ. Its square is divided by the square of that, beside the first
//! equation's.

use crate::diagnostic::Result;
use crate::evaluate::names::{NET, Names};
use crate::model::problem::Problem;
use bilo_expr::{Expr, Function, Input, Leaf, MultiIndex, Scratch, Tape};
use std::collections::BTreeMap;

/// Places at which forms are tried: more than a few steps of a wave.
const TRIALS: usize = 32;

/// Gives the equations of these numbers weights by the sizes of their residuals.
pub(crate) fn balance(problem: &mut Problem, chosen: &[usize]) -> Result<()> {
    if chosen.is_empty() || problem.equations.len() < 2 {
        return Ok(());
    }
    let sizes = Sizes::new(problem)?.residuals(problem)?;
    let Some(first) = sizes[0].filter(|size| size.is_normal()) else { return Ok(()) };
    for &number in chosen {
        if let Some(size) = sizes[number].filter(|size| size.is_normal()) {
            problem.equations[number].weight = (first / size).powi(2);
        }
    }
    Ok(())
}

struct Sizes {
    names: Names,
    states: Vec<Function>,
    /// Of the states.
    of_states: Vec<f64>,
}

impl Sizes {
    fn new(problem: &Problem) -> Result<Sizes> {
        let mut names = Names::new(problem)?;
        let net = names.bind_opaque(NET);
        let net = names.value_leaf(net);
        let zero = names.graph.constant(0.0);
        let mut of_states = vec![];
        for state in &problem.states {
            let form = names.lower(&state.form)?;
            let bare = names.graph.substitute(form, &BTreeMap::from([(net.clone(), zero)]));
            of_states.push(largest(problem, &names, bare).filter(|size| *size > 0.0).unwrap_or(1.0));
        }
        let mut names = Names::new(problem)?;
        let states = names.bind_states_opaque(problem);
        Ok(Sizes { names, states, of_states })
    }

    /// The size of each residual, if it can be told.
    fn residuals(mut self, problem: &Problem) -> Result<Vec<Option<f64>>> {
        let formulas: Vec<_> = problem.equations.iter().map(|equation| equation.residual.clone()).collect();
        formulas
            .iter()
            .map(|formula| {
                let residual = self.names.lower(formula)?;
                Ok(self.of_residual(problem, residual))
            })
            .collect()
    }

    fn of_residual(&mut self, problem: &Problem, residual: Expr) -> Option<f64> {
        let leaves: Vec<Leaf> = self.names.graph.leaves(&[residual]).into_iter().collect();
        let own =
            |leaf: &&Leaf| matches!(leaf, Leaf::Derivative(function, _) if self.states.contains(function));
        let derivatives: Vec<Leaf> = leaves.iter().filter(own).cloned().collect();
        let mut size = 0.0_f64;
        for leaf in &derivatives {
            let slope = self.names.graph.partial(residual, leaf);
            let value = self.value(problem, leaf, &vec![0.5; problem.coordinates.len()]);
            size = size.max((self.at_sizes(problem, slope)? * value).abs());
        }
        Some(size)
    }

    /// An expression where every state and derivative has its size, in the middle of the domain.
    fn at_sizes(&self, problem: &Problem, expression: Expr) -> Option<f64> {
        let leaves = self.names.graph.leaves(&[expression]);
        let middle = vec![0.5; problem.coordinates.len()];
        let values: Vec<f64> = leaves.iter().map(|leaf| self.value(problem, leaf, &middle)).collect();
        evaluate(&self.names, expression, &leaves, &values)
    }

    fn value(&self, problem: &Problem, leaf: &Leaf, fractions: &[f64]) -> f64 {
        if let Leaf::Derivative(function, index) = leaf
            && let Some(state) = self.states.iter().position(|state| state == function)
        {
            return self.of_states[state] / length(problem, index);
        }
        value(problem, &self.names, leaf, fractions)
    }
}

/// The product of the coordinates' lengths to the orders of a derivative.
fn length(problem: &Problem, index: &MultiIndex) -> f64 {
    let along = problem.coordinates.iter().zip(index.as_slice());
    along.map(|(coordinate, &order)| (coordinate.hi - coordinate.lo).powi(i32::from(order))).product()
}

/// A coordinate at a place, an unknown at its guess; functions are of the size that they are said to have.
pub(super) fn value(problem: &Problem, names: &Names, leaf: &Leaf, fractions: &[f64]) -> f64 {
    match leaf {
        Leaf::Symbol(symbol) => {
            let coordinate = names.coordinates.iter().position(|s| s == symbol);
            let unknown = names.eta.iter().position(|s| s == symbol);
            match (coordinate, unknown) {
                (Some(c), _) => problem.coordinates[c].at_fraction(fractions[c]),
                (_, Some(u)) => problem.unknowns[u].eta_of(problem.unknowns[u].guess),
                _ => 1.0,
            }
        }
        Leaf::Derivative(function, _) => {
            let unknown = names.functions.iter().position(|f| f == function);
            unknown.map_or(1.0, |number| problem.functions[number].scale)
        }
    }
}

/// The largest value of an expression at scattered places, if it has any.
fn largest(problem: &Problem, names: &Names, expression: Expr) -> Option<f64> {
    let leaves = names.graph.leaves(&[expression]);
    let mut largest = None;
    for trial in 0..TRIALS {
        let along = |c: usize| ((trial + 1) as f64 * (0.618_034 + 0.123_457 * c as f64)).fract();
        let fractions: Vec<f64> = (0..problem.coordinates.len()).map(along).collect();
        let values: Vec<f64> = leaves.iter().map(|leaf| value(problem, names, leaf, &fractions)).collect();
        let found = evaluate(names, expression, &leaves, &values)?.abs();
        largest = Some(largest.map_or(found, |known: f64| known.max(found)));
    }
    largest
}

/// The value of an expression, if it is finite, where its leaves have these.
pub(super) fn evaluate(names: &Names, expression: Expr, leaves: &[Leaf], values: &[f64]) -> Option<f64> {
    let tape = Tape::compile(&names.graph, &[expression], leaves).ok()?;
    let inputs: Vec<Input<'_, f64>> = values.iter().map(|&value| Input::Uniform(value)).collect();
    let mut scratch = Scratch::new();
    tape.eval(&inputs, 1, &mut scratch);
    let value = *scratch.output(&tape, 0).first()?;
    value.is_finite().then_some(value)
}
