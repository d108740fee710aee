//! The classical twin: the same problem, read off the same formulas, for the finite-difference
//! solver. It makes synthetic data and u_0, and re-solves the PDE at the estimate.

mod slopes;
mod statement;

use crate::diagnostic::{Diagnostic, Error, Result};
use crate::problem::{Classical, Equation, Formula, Names, Problem};
use bilo_expr::{Function, Input, Leaf, MultiIndex, Scratch, Symbol, Tape};
use bilo_solve::{Resolution, Solution, SolveError, Solver, Values};
pub use slopes::WithSlopes;
use statement::Read;
use std::sync::OnceLock;

/// The classical solver of a problem.
pub struct Twin {
    solver: Solver,
    names: Names,
    functions: Vec<Function>,
    axes: Axes,
    resolution: Resolution,
}

/// A classical solution at some theta.
pub struct TwinSolution<'a> {
    twin: &'a Twin,
    solution: Solution,
    eta: Vec<f64>,
    /// Its derivatives by each eta, once they have been asked for.
    tangents: OnceLock<std::result::Result<Vec<Solution>, SolveError>>,
}

/// A formula evaluated at points, its tape ready to be run backwards.
struct Evaluated {
    leaves: Vec<Leaf>,
    tape: Tape,
    scratch: Scratch<f64>,
}

/// Which coordinate is space and which is time. A problem in time alone is solved along time as a
/// boundary value problem with all its conditions at the start.
#[derive(Clone, Copy)]
struct Axes {
    space: usize,
    time: Option<usize>,
}

impl Axes {
    fn new(problem: &Problem) -> Result<Self> {
        let space: Vec<usize> =
            (0..problem.coordinates.len()).filter(|&c| !problem.coordinates[c].time).collect();
        let time = problem.coordinates.iter().position(|coordinate| coordinate.time);
        match (space.as_slice(), time) {
            ([], Some(time)) => Ok(Self { space: time, time: None }),
            (&[space], time) => Ok(Self { space, time }),
            _ => Err(unsupported("the classical solver takes one space coordinate", None)),
        }
    }

    /// Orders of a derivative and columns of points in the solver's order: space, then time.
    fn along<'c>(self, index: &MultiIndex, columns: &'c [Vec<f64>]) -> (Vec<usize>, Vec<&'c [f64]>) {
        let along = || std::iter::once(self.space).chain(self.time);
        let orders = along().map(|axis| usize::from(index.as_slice()[axis])).collect();
        (orders, along().map(|axis| &columns[axis][..]).collect())
    }
}

fn unsupported(message: &str, equation: Option<&Equation>) -> Error {
    let origin = equation.map(|equation| equation.residual.origin.clone()).unwrap_or_default();
    Diagnostic::new(message, origin)
        .help("the classical solver makes synthetic data and re-solves the PDE; data from a file need none")
        .into()
}

impl Twin {
    /// Reads the boundary and initial values off the forms and the conditions.
    pub fn new(problem: &Problem) -> Result<Self> {
        let axes = Axes::new(problem)?;
        let Read { statement, names, functions } = statement::read(problem, axes)?;
        let solver = Solver::new(statement)
            .map_err(|error| unsupported(&error.to_string(), problem.equations.first()))?;
        let Classical { cells, steps } = problem.classical;
        let resolution = Resolution { cells: vec![cells], steps };
        Ok(Self { solver, names, functions, axes, resolution })
    }

    /// Solves at the variables eta, at the problem's resolution.
    pub fn solve(&self, eta: &[f64]) -> std::result::Result<TwinSolution<'_>, SolveError> {
        let solution = self.solver.solve(&Values::parameters(eta), &self.resolution)?;
        Ok(TwinSolution { twin: self, solution, eta: eta.to_vec(), tangents: OnceLock::new() })
    }

    /// The number of a state that is a function of the statement's graph.
    fn state(&self, function: Function) -> usize {
        self.functions.iter().position(|f| *f == function).expect("a state")
    }

    /// The resolution in words.
    pub fn describe(&self) -> String {
        match self.axes.time {
            Some(_) => format!("{} cells, {} time steps", self.resolution.cells[0], self.resolution.steps),
            None => format!("{} cells", self.resolution.cells[0]),
        }
    }
}

impl TwinSolution<'_> {
    /// A state at points given by one column per coordinate.
    pub fn state(&self, state: usize, columns: &[Vec<f64>]) -> Vec<f64> {
        self.derivative(state, &MultiIndex::zero(columns.len()), columns)
    }

    fn derivative(&self, state: usize, index: &MultiIndex, columns: &[Vec<f64>]) -> Vec<f64> {
        let (orders, points) = self.twin.axes.along(index, columns);
        self.solution.sample(state, &orders, &points)
    }

    /// A formula of states, coordinates and unknowns at points.
    pub fn observe(&self, formula: &Formula, columns: &[Vec<f64>]) -> Result<Vec<f64>> {
        let Evaluated { tape, scratch, .. } = self.evaluate(formula, columns)?;
        Ok(scratch.output(&tape, 0).to_vec())
    }

    fn evaluate(&self, formula: &Formula, columns: &[Vec<f64>]) -> Result<Evaluated> {
        let mut names = self.twin.names.clone();
        let value = names.lower(formula)?;
        let leaves = names.graph.leaves(&[value]);
        let column = |leaf: &Leaf| match leaf {
            Leaf::Derivative(function, index) => self.derivative(self.twin.state(*function), index, columns),
            Leaf::Symbol(symbol) => self.symbol(*symbol, columns),
        };
        let inputs: Vec<Vec<f64>> = leaves.iter().map(column).collect();
        let tape = Tape::compile(&names.graph, &[value], &leaves).expect("all leaves are given");
        let inputs: Vec<_> = inputs.iter().map(|column| Input::Column(column)).collect();
        let mut scratch = Scratch::new();
        tape.eval(&inputs, columns[0].len(), &mut scratch);
        Ok(Evaluated { leaves, tape, scratch })
    }

    fn symbol(&self, symbol: Symbol, columns: &[Vec<f64>]) -> Vec<f64> {
        let names = &self.twin.names;
        if let Some(coordinate) = names.coordinates.iter().position(|&s| s == symbol) {
            return columns[coordinate].clone();
        }
        let unknown = names.eta.iter().position(|&s| s == symbol).expect("a coordinate or an unknown");
        vec![self.eta[unknown]; columns[0].len()]
    }
}
