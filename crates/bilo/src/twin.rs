//! The classical twin: the same problem, read off the same formulas, for a solver that knows nothing
//! of networks. It makes synthetic data and u_0, and re-solves the PDE at the estimate.

mod law;
mod pinned;
mod slopes;
mod statement;

use crate::diagnostic::{Diagnostic, Error, Result};
use crate::problem::{Equation, Formula, Names, Problem, divided};
use bilo_expr::{Function, Input, Leaf, MultiIndex, Scratch, Symbol, Tape};
use bilo_solve::conservation::{ConservationError, Godunov, Inputs, Mesh, Run};
use bilo_solve::{Resolution, Solution, SolveError, Solver, Values, Work};
use slopes::Tangents;
pub use slopes::WithSlopes;
use statement::Parts;
use std::sync::OnceLock;

/// The classical solver of a problem.
pub struct Twin {
    engine: Engine,
    names: Names,
    functions: Vec<Function>,
    axes: Axes,
    resolution: Resolution,
}

/// What solves.
enum Engine {
    Central(Box<Solver>),
    Godunov(Box<Godunov>),
}

/// A classical solution at some theta.
pub struct TwinSolution<'a> {
    twin: &'a Twin,
    solved: Solved<'a>,
    eta: Vec<f64>,
    /// Its derivatives by each eta, once they have been asked for.
    tangents: OnceLock<std::result::Result<Tangents, TwinError>>,
}

/// A formula evaluated at points, its tape ready to be run backwards.
struct Evaluated {
    leaves: Vec<Leaf>,
    tape: Tape,
    scratch: Scratch<f64>,
}

enum Solved<'a> {
    Central(Box<Solution>),
    Godunov(Box<Run<'a>>),
}

/// Why the PDE could not be solved at some theta.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TwinError {
    /// By finite differences.
    #[error(transparent)]
    Central(#[from] SolveError),
    /// By Godunov's scheme.
    #[error(transparent)]
    Godunov(#[from] ConservationError),
}

/// Which coordinates are space and which is time. A problem in time alone is solved along time as a
/// boundary value problem with all its conditions at the start.
struct Axes {
    space: Vec<usize>,
    time: Option<usize>,
}

impl Axes {
    fn new(problem: &Problem) -> Result<Self> {
        let space = divided(&problem.coordinates);
        if space.len() > 2 {
            return Err(unsupported("the classical solver takes one or two space coordinates", None));
        }
        let time = problem.coordinates.iter().position(|coordinate| coordinate.time);
        Ok(Self { time: time.filter(|time| !space.contains(time)), space })
    }

    /// The coordinates in the solver's order: space, then time.
    fn all(&self) -> impl Iterator<Item = usize> {
        self.space.iter().copied().chain(self.time)
    }

    /// Orders of a derivative and columns of points in the solver's order: space, then time.
    fn along<'c>(&self, index: &MultiIndex, columns: &'c [Vec<f64>]) -> (Vec<usize>, Vec<&'c [f64]>) {
        let orders = self.all().map(|axis| usize::from(index.as_slice()[axis])).collect();
        (orders, self.all().map(|axis| &columns[axis][..]).collect())
    }

    /// The points (x, t) of a conservation law.
    fn plane<'c>(&self, columns: &'c [Vec<f64>]) -> impl Iterator<Item = (f64, f64)> + use<'c> {
        let [x, t] = [self.space[0], self.time.expect("it evolves")];
        columns[x].iter().copied().zip(columns[t].iter().copied())
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
        let mut parts = Parts::read(problem, &axes)?;
        let refused = |error: TwinError| unsupported(&error.to_string(), problem.equations.first());
        let engine = match law::find(&mut parts)? {
            Some(law) => Engine::Godunov(Box::new(Godunov::new(law).map_err(|e| refused(e.into()))?)),
            None => {
                let solver = Solver::new(parts.statement()?).map_err(|e| refused(e.into()))?;
                Engine::Central(Box::new(solver))
            }
        };
        let Parts { names, functions, .. } = parts;
        let resolution =
            Resolution { cells: problem.classical.cells.clone(), steps: problem.classical.steps };
        Ok(Self { engine, names, functions, axes, resolution })
    }

    /// Solves at the variables eta, at the problem's resolution.
    pub fn solve(&self, eta: &[f64]) -> std::result::Result<TwinSolution<'_>, TwinError> {
        let solved = match &self.engine {
            Engine::Central(solver) => {
                Solved::Central(Box::new(solver.solve(&Values::parameters(eta), &self.resolution)?))
            }
            Engine::Godunov(godunov) => {
                let inputs = Inputs { parameters: eta.to_vec(), initial: vec![] };
                let mesh = Mesh::new(self.resolution.cells[0], self.resolution.steps);
                Solved::Godunov(Box::new(godunov.solve(&inputs, mesh)?))
            }
        };
        Ok(TwinSolution { twin: self, solved, eta: eta.to_vec(), tangents: OnceLock::new() })
    }

    /// The number of a state that is a function of the statement's graph.
    fn state(&self, function: Function) -> usize {
        self.functions.iter().position(|f| *f == function).expect("a state")
    }

    /// The scheme's name in a problem file.
    pub fn scheme(&self) -> &'static str {
        match self.engine {
            Engine::Central(_) => "central",
            Engine::Godunov(_) => "godunov",
        }
    }

    /// The scheme and the resolution in words.
    pub fn describe(&self) -> String {
        let cells: Vec<String> = self.resolution.cells.iter().map(usize::to_string).collect();
        let cells = cells.join(" x ");
        let steps = self.resolution.steps;
        match (&self.engine, self.axes.time) {
            (Engine::Godunov(_), _) => {
                format!("Godunov's scheme, {cells} cells, {steps} intervals of time")
            }
            (_, Some(_)) => format!("finite differences, {cells} cells, {steps} time steps"),
            (_, None) => format!("finite differences, {cells} cells"),
        }
    }
}

impl TwinSolution<'_> {
    /// What the solve cost.
    pub fn work(&self) -> Work {
        match &self.solved {
            Solved::Central(solution) => solution.work,
            Solved::Godunov(run) => Work { steps: run.evolution.steps, ..Work::default() },
        }
    }

    /// A state at points given by one column per coordinate.
    pub fn state(&self, state: usize, columns: &[Vec<f64>]) -> Vec<f64> {
        match &self.solved {
            Solved::Central(solution) => {
                self.derivative(solution, state, &MultiIndex::zero(columns.len()), columns)
            }
            Solved::Godunov(run) => {
                let points: Vec<(f64, f64)> = self.twin.axes.plane(columns).collect();
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
        let (orders, points) = self.twin.axes.along(index, columns);
        solution.sample(state, &orders, &points)
    }

    /// A formula of states, coordinates and unknowns at points. Derivatives of a solution by Godunov's
    /// scheme are an error: it may jump.
    pub fn observe(&self, formula: &Formula, columns: &[Vec<f64>]) -> Result<Vec<f64>> {
        let Evaluated { tape, scratch, .. } = self.evaluate(formula, columns)?;
        Ok(scratch.output(&tape, 0).to_vec())
    }

    fn evaluate(&self, formula: &Formula, columns: &[Vec<f64>]) -> Result<Evaluated> {
        let mut names = self.twin.names.clone();
        let value = names.lower(formula)?;
        let leaves = names.graph.leaves(&[value]);
        let mut inputs = vec![];
        for leaf in &leaves {
            inputs.push(match leaf {
                Leaf::Symbol(symbol) => self.symbol(*symbol, columns),
                Leaf::Derivative(function, index) => {
                    let state = self.twin.state(*function);
                    match &self.solved {
                        Solved::Central(solution) => self.derivative(solution, state, index, columns),
                        Solved::Godunov(_) if index.order() == 0 => self.state(state, columns),
                        Solved::Godunov(_) => return Err(no_derivatives(formula)),
                    }
                }
            });
        }
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

fn no_derivatives(formula: &Formula) -> Error {
    let message = "a solution by Godunov's scheme may jump, so its derivatives cannot be observed";
    Diagnostic::new(message, formula.origin.clone())
        .help("observe values of the state, or choose `scheme = \"central\"` in [classical]")
        .into()
}
