//! The stated truth: every formula of the problem with the states replaced by the exact solutions
//! that the user knows, and the unknowns by their true values.

use crate::diagnostic::Result;
use crate::{Formula, Names, Observation, Problem, Sampling, given_columns};
use bilo_expr::{Expr, Function, Input, Leaf, MultiIndex, Scratch, Tape};
use std::collections::BTreeMap;

/// A problem whose states are known, all or some of them.
pub struct StatedTruth {
    /// The states are opaque functions of the coordinates here.
    pub names: Names,
    functions: Vec<Function>,
    solutions: Vec<Option<Expr>>,
    eta: Vec<f64>,
}

impl StatedTruth {
    /// None if no state has a stated truth, or if that of an unknown function is no formula: it cannot be
    /// differentiated.
    pub fn new(problem: &Problem) -> Result<Option<Self>> {
        let eta = problem.eta_of_truth();
        let formulas = problem.functions.iter().map(|function| function.truth.as_ref()?.formula());
        let formulas: Option<Vec<&Formula>> = formulas.collect();
        let states = problem.states.iter().any(|state| state.truth.is_some());
        let (Some(eta), Some(formulas), true) = (eta, formulas, states) else {
            return Ok(None);
        };
        let mut names = Names::with_functions(problem, formulas)?;
        let lower = |state: &crate::State| state.truth.as_ref().map(|truth| names.lower(truth)).transpose();
        let solutions = problem.states.iter().map(lower).collect::<Result<_>>()?;
        let functions = names.bind_states_opaque(problem);
        Ok(Some(Self { names, functions, solutions, eta }))
    }

    /// The exact solution of a state.
    pub fn solution(&self, state: usize) -> Option<Expr> {
        self.solutions[state]
    }

    /// The states and derivatives of states in an expression.
    pub fn state_leaves(&self, expression: Expr) -> Vec<Leaf> {
        let mut leaves = self.names.graph.leaves(&[expression]);
        leaves.retain(|leaf| matches!(leaf, Leaf::Derivative(f, _) if self.functions.contains(f)));
        leaves
    }

    /// Whether an expression has a derivative of a state by an input: the truth, a function of the
    /// coordinates, does not tell it.
    pub fn is_by_input(&self, expression: Expr) -> bool {
        let by_input =
            |leaf: &Leaf| matches!(leaf, Leaf::Derivative(_, index) if self.names.is_by_input(index));
        self.state_leaves(expression).iter().any(by_input)
    }

    /// The first of the states in an expression whose truth is not stated.
    pub fn missing(&self, expression: Expr) -> Option<usize> {
        let leaves = self.state_leaves(expression);
        let state = |leaf: &Leaf| match leaf {
            Leaf::Derivative(f, _) => self.functions.iter().position(|function| function == f),
            Leaf::Symbol(_) => None,
        };
        leaves.iter().filter_map(state).find(|&state| self.solutions[state].is_none())
    }

    /// An expression with its states, none of them missing, replaced by their truths, which are
    /// differentiated symbolically.
    pub fn in_place(&mut self, expression: Expr) -> Expr {
        let mut map = BTreeMap::new();
        for leaf in self.state_leaves(expression) {
            let Leaf::Derivative(function, index) = &leaf else { continue };
            let state = self.functions.iter().position(|f| f == function);
            if let Some(solution) = state.and_then(|state| self.solutions[state]) {
                let derivative = self.derivative(solution, index);
                map.insert(leaf, derivative);
            }
        }
        self.names.graph.substitute(expression, &map)
    }

    fn derivative(&mut self, mut expression: Expr, index: &MultiIndex) -> Expr {
        for (&symbol, &order) in self.names.coordinates.iter().zip(index.as_slice()) {
            for _ in 0..order {
                expression = self.names.graph.diff(expression, symbol);
            }
        }
        expression
    }

    /// Expressions of coordinates and unknowns, and of further leaves, compiled.
    pub fn compile(&self, outputs: &[Expr], more: &[Leaf]) -> Tape {
        let symbols = self.names.coordinates.iter().chain(&self.names.eta).map(|&s| Leaf::Symbol(s));
        let mut fields = self.names.graph.leaves(outputs);
        fields.retain(|leaf| matches!(leaf, Leaf::Derivative(f, _) if self.names.given_field(*f).is_some()));
        let inputs: Vec<Leaf> = symbols.chain(more.iter().cloned()).chain(fields).collect();
        Tape::compile(&self.names.graph, outputs, &inputs).expect("all names of a problem are given")
    }

    /// Evaluates what [`StatedTruth::compile`] made at points, further leaves at the given values.
    pub fn evaluate(&self, tape: &Tape, columns: &[Vec<f64>], more: &[f64]) -> Vec<Vec<f64>> {
        let fields: Vec<Vec<f64>> = tape
            .inputs()
            .iter()
            .filter_map(|leaf| given_columns::sample(&self.names, leaf, columns))
            .collect();
        let inputs: Vec<Input<'_, f64>> = (columns.iter().map(|column| Input::Column(column)))
            .chain(self.eta.iter().chain(more).map(|&value| Input::Uniform(value)))
            .chain(fields.iter().map(|column| Input::Column(column)))
            .collect();
        let mut scratch = Scratch::new();
        tape.eval(&inputs, columns[0].len(), &mut scratch);
        (0..tape.outputs().len()).map(|output| scratch.output(tape, output).to_vec()).collect()
    }

    /// What is observed at places; none if a truth is missing.
    pub fn observed(&mut self, observation: &Observation, sampling: &Sampling) -> Result<Option<Vec<f64>>> {
        let mut known = true;
        let values = sampling.sum(|term, columns| {
            let values = self.observe(&observation.terms[term].integrand, columns)?;
            known &= values.is_some();
            Ok(values.unwrap_or_else(|| vec![0.0; columns[0].len()]))
        })?;
        Ok(known.then_some(values))
    }

    /// A formula of states at points; none if a truth is missing.
    pub fn observe(&mut self, formula: &Formula, columns: &[Vec<f64>]) -> Result<Option<Vec<f64>>> {
        let value = self.names.lower(formula)?;
        if self.missing(value).is_some() || self.is_by_input(value) {
            return Ok(None);
        }
        let value = self.in_place(value);
        let tape = self.compile(&[value], &[]);
        Ok(self.evaluate(&tape, columns, &[]).pop())
    }
}
