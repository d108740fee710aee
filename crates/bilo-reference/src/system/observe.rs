//! A classical solution at points: states, and formulas of states, coordinates and unknowns.

use super::nodal::NodalFunction;
use super::parts::Standing;
use super::{Solved, SystemSolution};
use bilo_expr::{Expr, Function, Input, Leaf, MultiIndex, Scratch, Symbol, Tape};
use bilo_problem::diagnostic::{Diagnostic, Error, Origin, Result};
use bilo_problem::{Formula, Names, Variable, given_columns};
use bilo_solve::Solution;
use std::collections::BTreeMap;

/// An expression evaluated at points, its tape ready to be run backwards.
pub(super) struct EvaluatedFormula {
    pub(super) leaves: Vec<Leaf>,
    pub(super) tape: Tape,
    pub(super) scratch: Scratch<f64>,
}

impl EvaluatedFormula {
    pub(super) fn values(&self) -> Vec<f64> {
        self.scratch.output(&self.tape, 0).to_vec()
    }

    /// The derivative of Σ seed · value by each leaf, by point.
    pub(super) fn pull_back(&mut self, seed: Input<'_, f64>) -> impl Iterator<Item = (&Leaf, &[f64])> {
        self.tape.adjoint(&[seed], &mut self.scratch);
        let (tape, scratch) = (&self.tape, &self.scratch);
        self.leaves.iter().enumerate().map(|(input, leaf)| (leaf, scratch.input_adjoint(tape, input)))
    }
}

impl SystemSolution<'_> {
    /// A state at points given by one column per coordinate.
    pub(crate) fn state(&self, state: usize, columns: &[Vec<f64>]) -> Vec<f64> {
        match self.reference.standing[state] {
            Standing::Solved(state) => self.solved_state(state, columns),
            Standing::Defined(value) => {
                let evaluated = self.defined(value, columns);
                evaluated.expect("what defines a state was chosen to have values at points").values()
            }
        }
    }

    /// What defines a state, at points.
    pub(super) fn defined(&self, value: Expr, columns: &[Vec<f64>]) -> Result<EvaluatedFormula> {
        let leaf = |leaf: &Leaf| self.leaf(leaf, columns, &Origin::none());
        evaluate(&self.reference.names, value, columns[0].len(), leaf)
    }

    /// Whether a state is solved for. One that an equation defines comes from differences of others, which are far
    /// off where coefficients jump.
    pub(crate) fn solves_for(&self, state: usize) -> bool {
        matches!(self.reference.standing[state], Standing::Solved(_))
    }

    /// A state that is solved for.
    fn solved_state(&self, state: usize, columns: &[Vec<f64>]) -> Vec<f64> {
        match &self.solved {
            Solved::Central(solution) => {
                self.derivative(solution, state, &MultiIndex::zero(columns.len()), columns)
            }
            Solved::Godunov(run) => {
                let points: Vec<(f64, f64)> = self.reference.axes.plane(columns).collect();
                run.evolution.sample(&points)
            }
        }
    }

    fn derivative(
        &self,
        solution: &Solution,
        state: usize,
        index: &MultiIndex,
        columns: &[Vec<f64>],
    ) -> Vec<f64> {
        let (orders, points) = self.reference.axes.along(index, columns);
        solution.sample(state, &orders, &points)
    }

    /// A formula of states, coordinates and unknowns at points. Derivatives of a solution by Godunov's
    /// scheme are an error: it may jump.
    pub(crate) fn observe(&self, formula: &Formula, columns: &[Vec<f64>]) -> Result<Vec<f64>> {
        self.observe_with(formula, columns, &[])
    }

    /// A formula at points with further names, whose values there are given.
    pub(crate) fn observe_with(
        &self,
        formula: &Formula,
        columns: &[Vec<f64>],
        more: &[(&str, &[f64])],
    ) -> Result<Vec<f64>> {
        Ok(self.evaluate_with(formula, columns, more)?.values())
    }

    pub(super) fn evaluate(&self, formula: &Formula, columns: &[Vec<f64>]) -> Result<EvaluatedFormula> {
        self.evaluate_with(formula, columns, &[])
    }

    fn evaluate_with(
        &self,
        formula: &Formula,
        columns: &[Vec<f64>],
        more: &[(&str, &[f64])],
    ) -> Result<EvaluatedFormula> {
        let mut names = self.reference.names.clone();
        let mut given = BTreeMap::new();
        for &(name, values) in more {
            let symbol = names.graph.symbol(name);
            let leaf = names.graph.leaf(symbol);
            names.scope.bind(name, leaf);
            given.insert(symbol, values);
        }
        let value = names.lower(formula)?;
        given_columns::leaves(&mut names, &[value], &formula.origin)?;
        evaluate(&names, value, columns[0].len(), |leaf| match leaf {
            Leaf::Symbol(symbol) if given.contains_key(symbol) => Ok(given[symbol].to_vec()),
            _ => self.leaf(leaf, columns, &formula.origin),
        })
    }

    /// A leaf of what was written at `origin`, at points.
    fn leaf(&self, leaf: &Leaf, columns: &[Vec<f64>], origin: &Origin) -> Result<Vec<f64>> {
        let names = &self.reference.names;
        if let Some(field) = given_columns::sample(names, leaf, columns) {
            return Ok(field);
        }
        match leaf {
            Leaf::Symbol(symbol) => Ok(self.symbol(*symbol, columns)),
            Leaf::Derivative(_, index) if names.is_by_input(index) => Err(no_partials(origin)),
            Leaf::Derivative(function, index) => match (self.reference.state(*function), &self.solved) {
                (Some(state), Solved::Central(solution)) => {
                    Ok(self.derivative(solution, state, index, columns))
                }
                (Some(state), Solved::Godunov(_)) if index.order() == 0 => {
                    Ok(self.solved_state(state, columns))
                }
                (Some(_), Solved::Godunov(_)) => Err(no_derivatives(origin)),
                (None, _) if let Some(nodal) = self.reference.nodal_function(*function) => {
                    Ok(self.curve(nodal, index.order(), columns))
                }
                (None, _) if index.order() == 0 => Ok(self.unknown_function(*function, columns)),
                (None, _) => Err(no_slopes(origin)),
            },
        }
    }

    /// A function that is given by its values at nodes, or a derivative of it, at points.
    pub(super) fn curve(&self, nodal: &NodalFunction, order: usize, columns: &[Vec<f64>]) -> Vec<f64> {
        let value = |&(node, weight): &(usize, f64)| weight * self.parameters[nodal.first + node];
        let around = nodal.curve.weights(&self.argument(nodal, columns), order);
        around.iter().map(|around| around.iter().map(value).sum()).collect()
    }

    /// What it is a function of, at points.
    pub(super) fn argument(&self, nodal: &NodalFunction, columns: &[Vec<f64>]) -> Vec<f64> {
        match nodal.of {
            Variable::Coordinate(coordinate) => columns[coordinate].clone(),
            Variable::State(state) => self.state(state, columns),
        }
    }

    fn unknown_function(&self, function: Function, columns: &[Vec<f64>]) -> Vec<f64> {
        let unknown = self.reference.unknown_function(function);
        let lattice = &self.reference.lattices[unknown];
        self.profiles[unknown].sample(lattice, &lattice.select(columns))
    }

    fn symbol(&self, symbol: Symbol, columns: &[Vec<f64>]) -> Vec<f64> {
        let names = &self.reference.names;
        if let Some(coordinate) = names.coordinates.iter().position(|&s| s == symbol) {
            return columns[coordinate].clone();
        }
        let unknown = self.reference.parameters.iter().position(|&s| s == symbol);
        vec![self.parameters[unknown.expect("a coordinate or an unknown")]; columns[0].len()]
    }
}

/// An expression at so many points, where its leaves have these values.
fn evaluate(
    names: &Names,
    value: Expr,
    points: usize,
    leaf: impl Fn(&Leaf) -> Result<Vec<f64>>,
) -> Result<EvaluatedFormula> {
    let leaves = names.graph.leaves(&[value]);
    let columns = leaves.iter().map(leaf).collect::<Result<Vec<_>>>()?;
    let tape = Tape::compile(&names.graph, &[value], &leaves).expect("all leaves are given");
    let inputs: Vec<_> = columns.iter().map(|column| Input::Column(column)).collect();
    let mut scratch = Scratch::new();
    tape.eval(&inputs, points, &mut scratch);
    Ok(EvaluatedFormula { leaves, tape, scratch })
}

fn no_derivatives(origin: &Origin) -> Error {
    let message = "a solution by Godunov's scheme may jump, so its derivatives cannot be observed";
    Diagnostic::new(message, origin.clone())
        .help("observe values of the state, or choose `scheme = \"central\"` in [classical]")
        .into()
}

fn no_partials(origin: &Origin) -> Error {
    let message = "the classical solver knows states as functions of the coordinates, not of extra inputs";
    Diagnostic::new(message, origin.clone())
        .help("observe states and their derivatives by coordinates")
        .into()
}

fn no_slopes(origin: &Origin) -> Error {
    let message = "an unknown function has kinks on its grid, so its derivatives cannot be observed";
    Diagnostic::new(message, origin.clone()).help("observe the function itself, or a state").into()
}
