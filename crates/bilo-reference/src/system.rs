//! Equations that are solved together: read off the same formulas as networks are trained with, for a solver that knows
//! nothing of networks.

mod assignment;
mod conditions;
mod decades;
mod defined;
mod interface;
mod law;
mod levels;
mod nodal;
mod observe;
mod parts;
mod pinned;
mod pressure;
mod profile;
mod rates;
mod slopes;
mod statement;

use bilo_expr::{Function, MultiIndex, Symbol};
use bilo_jet::PointSource;
use bilo_problem::diagnostic::{Diagnostic, Error, ErrorKind, Result};
use bilo_problem::function::Lattice;
use bilo_problem::{Coordinate, Equation, Names, Problem, divided};
use bilo_solve::conservation::{ConservationError, Godunov, Inputs, Mesh, Run};
use bilo_solve::{Interrupt, Known, Resolution, Solution, SolveError, Solver, Values, Work};
pub use defined::definitions;
use nodal::{Content, NodalFunction};
use profile::Profile;
use slopes::Tangents;

use parts::{Parts, Standing};
use std::sync::OnceLock;

use bilo_problem::theta::Theta;

/// The classical solver of equations that are coupled.
pub(crate) struct System {
    engine: Engine,
    names: Names,
    /// The states that are solved for.
    states: Vec<Function>,
    /// Every state of the problem: solved for, or in terms of those.
    standing: Vec<Standing>,
    /// The grids of the unknown functions.
    lattices: Vec<Lattice>,
    /// The scalars of the equations: the variables eta, then the values of functions of states and of time at their
    /// nodes, `nodal` of them for each unknown function.
    parameters: Vec<Symbol>,
    nodal: Vec<usize>,
    nodal_functions: Vec<NodalFunction>,
    /// The unknown functions of places, by number: the coefficients of the equations.
    coefficients: Vec<usize>,
    /// The given fields that are coefficients too, after the unknown functions, by number.
    given: Vec<usize>,
    axes: Axes,
    resolution: Resolution,
    /// The guess, where the solution has both space and time.
    guess: Option<Theta>,
    /// Times that are dense where the solution for the guess changes fast, once they are known; none if even ones do.
    density: OnceLock<Option<Vec<f64>>>,
    /// The reference solver whose functions of states and of time are those that are stated, where there are any.
    stated: Option<Box<System>>,
}

/// What solves.
enum Engine {
    Central(Box<Solver>),
    /// If the state starts as an unknown function, the number of that.
    Godunov(Box<Godunov>, Option<usize>),
}

/// A classical solution at some theta.
pub(crate) struct SystemSolution<'a> {
    reference: &'a System,
    solved: Solved<'a>,
    /// The values of the reference solver's parameters.
    parameters: Vec<f64>,
    /// The unknown functions that it is the solution for.
    profiles: Vec<Profile>,
    /// Its derivatives by each eta, once they have been asked for.
    tangents: OnceLock<std::result::Result<Tangents, ReferenceError>>,
}

/// A solution that others are near to.
pub(crate) struct SolutionNearby(Option<Box<Solution>>);

enum Solved<'a> {
    Central(Box<Solution>),
    Godunov(Box<Run<'a>>),
}

/// Why the PDE could not be solved at some theta.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReferenceError {
    /// By finite differences.
    #[error(transparent)]
    Central(#[from] SolveError),
    /// By Godunov's scheme.
    #[error(transparent)]
    Godunov(#[from] ConservationError),
}

impl From<ReferenceError> for Error {
    fn from(error: ReferenceError) -> Self {
        match error {
            ReferenceError::Central(SolveError::Interrupted)
            | ReferenceError::Godunov(ConservationError::Interrupted) => Error::interrupted(),
            _ => Error::new(ErrorKind::Solver, error.to_string()),
        }
    }
}

/// Which coordinates are space and which is time. A problem in time alone evolves if all its conditions are at the start,
/// on a ring of a few nodes that know nothing of each other; else it is a boundary value problem along time.
struct Axes {
    space: Vec<usize>,
    time: Option<usize>,
    /// Whether space is such a ring.
    ring: bool,
}

/// The name of the ring, which no file can have given.
const RING: &str = "(ring)";

/// Its nodes: nothing is differentiated along it.
const RING_CELLS: usize = 1;

/// Steps that do for smooth solutions.
const SMOOTH: usize = 200;

/// Cells of the grid on which it is found where a solution changes fast, and those along each side of a plane.
const COARSE: usize = 100;
const COARSE_PLANE: usize = 24;

/// A problem in time alone on a ring; none if it is another one.
fn on_ring(problem: &Problem) -> Option<Problem> {
    let [time] = &problem.coordinates[..] else { return None };
    if !time.time || !problem.inputs.is_empty() {
        return None;
    }
    let ring = Coordinate::space(RING, time.lo, time.hi).periodic();
    Some(Problem { coordinates: vec![time.clone(), ring], ..problem.clone() })
}

impl Axes {
    fn new(problem: &Problem) -> Result<Self> {
        Self::with(problem, divided(&problem.coordinates), false)
    }

    /// Those of a problem in time alone on its ring.
    fn on_ring(problem: &Problem) -> Result<Self> {
        Self::with(problem, vec![1], true)
    }

    fn with(problem: &Problem, space: Vec<usize>, ring: bool) -> Result<Self> {
        if space.len() > 2 {
            return Err(unsupported("the classical solver takes one or two space coordinates", None));
        }
        let time = problem.coordinates.iter().position(|coordinate| coordinate.time);
        Ok(Self { time: time.filter(|time| !space.contains(time)), space, ring })
    }

    /// The coordinates in the solver's order: space, then time.
    fn all(&self) -> impl Iterator<Item = usize> {
        self.space.iter().copied().chain(self.time)
    }

    /// Orders of a derivative and columns of points in the solver's order: space, then time.
    fn along<'c>(&self, index: &MultiIndex, columns: &'c [Vec<f64>]) -> (Vec<usize>, Vec<&'c [f64]>) {
        // Nobody knows of a ring: it is as long as time, and any place on it will do.
        let order = |axis: usize| index.as_slice().get(axis).copied().map_or(0, usize::from);
        let orders = self.all().map(order).collect();
        (orders, self.all().map(|axis| &columns[axis.min(columns.len() - 1)][..]).collect())
    }

    /// The points (x, t) of a conservation law.
    fn plane<'c>(&self, columns: &'c [Vec<f64>]) -> impl Iterator<Item = (f64, f64)> + use<'c> {
        let [x, t] = [self.space[0], self.time.expect("it evolves")];
        columns[x].iter().copied().zip(columns[t].iter().copied())
    }
}

fn unsupported(message: &str, equation: Option<&Equation>) -> Error {
    let origin = equation.map(|equation| equation.residual.origin.clone()).unwrap_or_default();
    let help = "the classical solver makes synthetic data and re-solves the PDE; data from a file need none";
    Error::new(ErrorKind::NoReference, Diagnostic::new(message, origin).help(help))
}

fn where_sides_meet(equation: &Equation) -> Error {
    let message = "the classical solver takes conditions on whole sides, not where sides meet";
    unsupported(message, Some(equation))
}

/// In time alone the cells of the problem are those of time.
fn resolution(problem: &Problem, axes: &Axes) -> Resolution {
    let classical = &problem.classical;
    match axes.ring {
        true => Resolution { cells: vec![RING_CELLS], steps: classical.cells[0] },
        false => Resolution { cells: classical.cells.clone(), steps: classical.steps },
    }
}

impl System {
    /// Reads the boundary and initial values off the forms and the conditions.
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        let solver = Self::with(problem, Content::Nodal)?;
        let has_parameters = solver.nodal.iter().any(|&count| count > 0);
        let stated =
            has_parameters.then(|| Self::with(problem, Content::Stated).map(Box::new)).transpose()?;
        Ok(Self { stated, ..solver })
    }

    /// Ends a solve with an error when the interrupt is due.
    pub(crate) fn interruptible(self, interrupt: &Interrupt) -> Self {
        let engine = match self.engine {
            Engine::Central(solver) => Engine::Central(Box::new(solver.interruptible(interrupt.clone()))),
            Engine::Godunov(godunov, start) => {
                Engine::Godunov(Box::new(godunov.interruptible(interrupt.clone())), start)
            }
        };
        let stated = self.stated.map(|stated| Box::new(stated.interruptible(interrupt)));
        Self { engine, stated, ..self }
    }

    /// Of several solutions of a steady problem, finds that near one for other values.
    pub(crate) fn near(self, solution: &SolutionNearby) -> Self {
        let engine = match (self.engine, &solution.0) {
            (Engine::Central(solver), Some(solution)) => Engine::Central(Box::new(solver.near(solution))),
            (engine, _) => engine,
        };
        Self { engine, ..self }
    }

    fn with(problem: &Problem, content: Content) -> Result<Self> {
        let Some(ring) = on_ring(problem) else { return Self::of(problem, Axes::new(problem)?, content) };
        match Self::of(&ring, Axes::on_ring(&ring)?, content) {
            Ok(evolving) => Ok(evolving),
            // Of a problem that is neither, it is said why it does not evolve.
            Err(error) => Self::of(problem, Axes::new(problem)?, content).map_err(|_| error),
        }
    }

    fn of(problem: &Problem, axes: Axes, content: Content) -> Result<Self> {
        let mut parts = Parts::read(problem, &axes, content)?;
        let refused = |error: ReferenceError| unsupported(&error.to_string(), problem.equations.first());
        let engine = match law::find(&mut parts)? {
            Some((law, start)) => {
                Engine::Godunov(Box::new(Godunov::new(law).map_err(|e| refused(e.into()))?), start)
            }
            None => {
                let solver = Solver::new(parts.statement()?).map_err(|e| refused(e.into()))?;
                // Time alone has room for steps that follow the solution.
                let solver = match (axes.ring, axes.time) {
                    (true, _) => solver.graded(SMOOTH),
                    (false, None) => solver.beginning_at(parts.levels()),
                    (false, Some(_)) => solver,
                };
                Engine::Central(Box::new(solver))
            }
        };
        Ok(Self {
            engine,
            lattices: problem.functions.iter().map(Lattice::new).collect(),
            parameters: parts.parameters(),
            nodal: parts.nodal.iter().map(Vec::len).collect(),
            nodal_functions: parts.nodal_functions(),
            coefficients: parts.coefficients(),
            given: parts.given,
            names: parts.names,
            states: parts.states,
            standing: parts.standing,
            resolution: resolution(problem, &axes),
            guess: if axes.ring || axes.time.is_none() { None } else { Some(Theta::guess(problem)?) },
            density: OnceLock::new(),
            axes,
            stated: None,
        })
    }

    /// Solves at a value of everything unknown, at the problem's resolution; of several steady solutions finds that near one for
    /// other values or on another grid.
    pub(crate) fn solve(
        &self,
        theta: Theta,
        near: Option<&SystemSolution<'_>>,
    ) -> std::result::Result<SystemSolution<'_>, ReferenceError> {
        let (profiles, near) = (Profile::of(&theta), near.and_then(SystemSolution::by_differences));
        self.solve_for(theta.eta, profiles, Known { near, ..Known::default() })
    }

    /// Solves at a value of everything unknown; of several steady solutions finds that near such values of the problem's states at
    /// the [nodes](Self::nodes).
    pub(crate) fn solve_from(
        &self,
        theta: Theta,
        states: &[Vec<f64>],
    ) -> std::result::Result<SystemSolution<'_>, ReferenceError> {
        let number = |solved: usize| {
            self.standing.iter().position(|standing| matches!(standing, Standing::Solved(s) if *s == solved))
        };
        let all: Option<Vec<usize>> = (0..self.states.len()).map(number).collect();
        let start =
            all.map(|all| all.into_iter().flat_map(|state| states[state].clone()).collect::<Vec<f64>>());
        let profiles = Profile::of(&theta);
        self.solve_for(theta.eta, profiles, Known { start: start.as_deref(), ..Known::default() })
    }

    /// The nodes of a steady solution, a column for each coordinate of the problem; none if there is none.
    pub(crate) fn nodes(&self, theta: &Theta) -> Option<Vec<Vec<f64>>> {
        let Engine::Central(solver) = &self.engine else { return None };
        if self.axes.time.is_some() {
            return None;
        }
        let parameters = self.parameters(theta.eta.clone(), &Profile::of(theta));
        let mut columns = vec![vec![]; self.axes.space.len()];
        for (axis, column) in solver.nodes(&parameters, &self.resolution).ok()?.into_iter().enumerate() {
            columns[self.axes.space[axis]] = column;
        }
        Some(columns)
    }

    /// Solves at these scalars, with each unknown function as it is stated: its truth, else its guess. It
    /// is taken as it is, not as its grid sees it.
    pub(crate) fn solve_stated(
        &self,
        problem: &Problem,
        eta: Vec<f64>,
    ) -> Result<std::result::Result<SystemSolution<'_>, ReferenceError>> {
        let reference = self.stated.as_deref().unwrap_or(self);
        Ok(reference.solve_for(eta, Profile::stated(problem, &reference.nodal)?, Known::default()))
    }

    fn solve_for(
        &self,
        eta: Vec<f64>,
        profiles: Vec<Profile>,
        known: Known<'_>,
    ) -> std::result::Result<SystemSolution<'_>, ReferenceError> {
        let parameters = self.parameters(eta, &profiles);
        let solved = match &self.engine {
            Engine::Central(solver) => {
                let values = self.values(solver, &parameters, &profiles, &self.resolution)?;
                let density = self.density.get_or_init(|| self.transients(solver));
                let known = Known { density: density.as_deref(), ..known };
                Solved::Central(Box::new(solver.solve_with(&values, &self.resolution, known)?))
            }
            Engine::Godunov(godunov, start) => {
                let initial = start.map_or(vec![], |function| {
                    profiles[function].sample(&self.lattices[function], &[&self.cell_nodes(godunov)])
                });
                let inputs = Inputs { parameters: parameters.clone(), initial };
                let mesh = Mesh::new(self.resolution.cells[0], self.resolution.steps);
                Solved::Godunov(Box::new(godunov.solve(&inputs, mesh)?))
            }
        };
        Ok(SystemSolution { reference: self, solved, parameters, profiles, tangents: OnceLock::new() })
    }

    /// The scalars of the equations: eta, then the nodal values of functions that have parameters.
    fn parameters(&self, eta: Vec<f64>, profiles: &[Profile]) -> Vec<f64> {
        let mut parameters = eta;
        for (profile, &count) in profiles.iter().zip(&self.nodal) {
            match profile {
                Profile::Nodal(values) if count > 0 => parameters.extend(values),
                _ => {}
            }
        }
        parameters
    }

    /// What the solver is given on a grid.
    fn values(
        &self,
        solver: &Solver,
        parameters: &[f64],
        profiles: &[Profile],
        resolution: &Resolution,
    ) -> std::result::Result<Values, SolveError> {
        let nodes = |coefficient| solver_nodes(solver, coefficient, parameters, resolution);
        let mut values = Values::parameters(parameters);
        for (coefficient, &number) in self.coefficients.iter().enumerate() {
            let nodes = nodes(coefficient)?;
            let columns: Vec<&[f64]> = nodes.iter().map(|column| &column[..]).collect();
            values.coefficients.push(profiles[number].sample(&self.lattices[number], &columns));
        }
        for (field, &number) in self.given.iter().enumerate() {
            let nodes = nodes(self.coefficients.len() + field)?;
            values.coefficients.push(self.names.given[number].field.at_own(&nodes));
        }
        Ok(values)
    }

    /// Times that are dense where the solution for the guess changes fast, found on a coarse grid. They are the same for
    /// all values and grids, so that solutions change smoothly with the unknowns and errors fall regularly with the cells.
    fn transients(&self, solver: &Solver) -> Option<Vec<f64>> {
        let guess = self.guess.as_ref()?;
        let most = if self.axes.space.len() == 1 { COARSE } else { COARSE_PLANE };
        let cells = self.resolution.cells.iter().map(|&cells| cells.min(most)).collect();
        let coarse = Resolution { cells, steps: SMOOTH };
        let profiles = Profile::of(guess);
        let parameters = self.parameters(guess.eta.clone(), &profiles);
        let values = self.values(solver, &parameters, &profiles, &coarse).ok()?;
        // Where there is no solution for the guess nothing is known of its times.
        solver.transients(&values, &coarse).ok().flatten()
    }

    /// Where Godunov's scheme wants the values of the unknown function that the state starts as.
    fn cell_nodes(&self, godunov: &Godunov) -> Vec<f64> {
        godunov.initial_nodes(self.resolution.cells[0])
    }

    /// The number, among those solved for, of a state that is a function of the statement's graph.
    fn state(&self, function: Function) -> Option<usize> {
        self.states.iter().position(|f| *f == function)
    }

    /// The unknown function that this is, if it is given by its values at nodes.
    fn nodal_function(&self, function: Function) -> Option<&NodalFunction> {
        self.nodal_functions.iter().find(|nodal| nodal.function == function)
    }

    /// The number of an unknown function.
    fn unknown_function(&self, function: Function) -> usize {
        self.names.functions.iter().position(|f| *f == function).expect("a state or an unknown function")
    }

    /// The order of its error where the solution is smooth: that of differences, of steps where time is alone, or of a scheme for shocks.
    pub(crate) fn order(&self) -> f64 {
        match &self.engine {
            Engine::Central(solver) => solver.order(),
            Engine::Godunov(..) => 1.0,
        }
    }

    /// The scheme's name in a problem file.
    pub(crate) fn scheme(&self) -> &'static str {
        match self.engine {
            Engine::Central(_) => "central",
            Engine::Godunov(..) => "godunov",
        }
    }

    /// The scheme and the resolution in words.
    pub(crate) fn describe(&self) -> String {
        let cells: Vec<String> = self.resolution.cells.iter().map(usize::to_string).collect();
        let cells = cells.join(" x ");
        let steps = self.resolution.steps;
        match (&self.engine, self.axes.time) {
            (_, Some(0)) if self.axes.ring => format!("implicit Runge-Kutta steps, {steps} of time"),
            (Engine::Godunov(..), _) => {
                format!("Godunov's scheme, {cells} cells, {steps} intervals of time")
            }
            (_, Some(_)) => format!("finite differences, {cells} cells, {steps} time steps"),
            (_, None) => format!("finite differences, {cells} cells"),
        }
    }
}

impl SystemSolution<'_> {
    /// What is kept of it for solves nearby.
    pub(crate) fn as_nearby(&self) -> SolutionNearby {
        SolutionNearby(self.by_differences().cloned().map(Box::new))
    }

    fn by_differences(&self) -> Option<&Solution> {
        match &self.solved {
            Solved::Central(solution) => Some(solution),
            Solved::Godunov(_) => None,
        }
    }

    /// What the solve cost.
    pub(crate) fn work(&self) -> Work {
        match &self.solved {
            Solved::Central(solution) => solution.work,
            Solved::Godunov(run) => Work { steps: run.evolution.steps, ..Work::default() },
        }
    }
}

/// Where the solver wants the values of a coefficient on a grid: one column per coordinate of it.
fn solver_nodes(
    solver: &Solver,
    coefficient: usize,
    parameters: &[f64],
    resolution: &Resolution,
) -> std::result::Result<Vec<Vec<f64>>, SolveError> {
    let points = PointSource::grid(solver.coefficient_nodes(coefficient, parameters, resolution)?);
    Ok(points.columns(0..points.len()))
}
