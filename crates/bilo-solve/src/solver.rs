//! The statement compiled once, solved for many values.

use std::sync::{Arc, Mutex, PoisonError};

use bilo_expr::{Input, Scratch, Tape};

use crate::check;
use crate::compile::Block;
use crate::discrete::{Discrete, Mesh};
use crate::error::SolveError;
use crate::grid::Line;
use crate::march::march;
use crate::newton::Newton;
use crate::solution::Solution;
use crate::statement::{Axis, End};
use crate::system::{Stage, System};
use crate::wellposed::Replacement;

/// How finely to solve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// Cells of each space axis, at least 4.
    pub cells: Vec<usize>,
    /// Time steps; ignored by steady problems.
    pub steps: usize,
}

/// What a problem is solved for: a number per parameter and nodal values per
/// coefficient, in the order of the statement.
///
/// The values of a coefficient stand in C order on the nodes of the axes it
/// depends on, as [`Solver::coefficient_nodes`] lists them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// One value per parameter.
    pub parameters: Vec<f64>,
    /// The nodal values of each coefficient.
    pub coefficients: Vec<Vec<f64>>,
}

impl Values {
    /// Parameters of a problem without coefficients.
    pub fn parameters(parameters: &[f64]) -> Values {
        Values { parameters: parameters.to_vec(), coefficients: Vec::new() }
    }
}

/// Where a boundary equation was compiled to, and the end where it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub(crate) block: usize,
    /// Its number within the block.
    pub(crate) residual: usize,
    pub(crate) end: End,
}

/// The fluxes of all interior residuals along one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flux {
    pub(crate) block: usize,
    /// How far off the grid line the coordinates are taken, in cells.
    pub(crate) nudge: f64,
}

/// The interface, compiled.
#[derive(Debug)]
pub(crate) struct Place {
    /// Its position, a function of the parameters.
    pub(crate) position: Tape,
    /// Its residuals.
    pub(crate) block: usize,
}

/// A [`Statement`](crate::Statement) checked and compiled.
#[derive(Debug)]
pub struct Solver {
    pub(crate) space: Vec<Axis>,
    pub(crate) time: Option<Axis>,
    /// All residuals, by the places where they hold.
    pub(crate) blocks: Vec<Block>,
    /// The interior residuals as they were written.
    pub(crate) plain: usize,
    /// The interior residuals without their fluxes.
    pub(crate) remainder: usize,
    /// The fluxes along each axis: none, one, or two whose mean is taken.
    pub(crate) fluxes: Vec<Vec<Flux>>,
    /// Whether an interior residual has a flux along an axis.
    pub(crate) has_flux: Vec<[bool; 2]>,
    /// The boundary equations, in the order of the statement.
    pub(crate) boundary: Vec<Condition>,
    /// The interior equations that boundary equations replace, by axis.
    pub(crate) replacements: Vec<Vec<Replacement>>,
    /// What is positive inside the mask, and the block that holds outside.
    pub(crate) mask: Option<(Tape, usize)>,
    pub(crate) interface: Option<Place>,
    /// Initial values, or Newton's guess; without residuals for zero.
    pub(crate) start: Block,
    pub(crate) coefficient_axes: Vec<Vec<usize>>,
    pub(crate) parameters: usize,
    /// Names of the coordinates, time last.
    pub(crate) names: Vec<String>,
    /// The discrete equations of the last resolution.
    pub(crate) discrete: Mutex<Option<Arc<Discrete>>>,
}

impl Solver {
    /// Solves for one set of values.
    pub fn solve(&self, values: &Values, resolution: &Resolution) -> Result<Solution, SolveError> {
        if self.time.is_some() && resolution.steps == 0 {
            return Err(SolveError::NoSteps);
        }
        let discrete = self.discretise(self.mesh(&values.parameters, resolution)?);
        check::coefficient_values(self, &discrete.grid, values)?;
        let start = self.start(&discrete, values)?;
        let mut system = System::new(self, &discrete, values);
        let mut solution = match self.time {
            None => self.solve_steady(&mut system, start)?,
            Some(time) => self.solve_evolving(&mut system, &start, Line::new(&time, resolution.steps))?,
        };
        solution.values = values.clone();
        Ok(solution)
    }

    /// The nodes of the axes that a coefficient depends on, where its values
    /// are given. On a periodic axis the upper end is the lower one and is not
    /// among them. (They depend on the parameters through an interface only.)
    pub fn coefficient_nodes(
        &self,
        coefficient: usize,
        parameters: &[f64],
        resolution: &Resolution,
    ) -> Result<Vec<Vec<f64>>, SolveError> {
        let grid = self.mesh(parameters, resolution)?.grid(self);
        let lines = self.coefficient_axes[coefficient].iter().map(|&axis| &grid.lines[axis]);
        Ok(lines.map(|line| line.positions()[..line.nodes()].to_vec()).collect())
    }

    /// The place of the interface and its derivatives by the parameters.
    pub(crate) fn position(&self, parameters: &[f64]) -> Option<(f64, Vec<f64>)> {
        let tape = &self.interface.as_ref()?.position;
        let inputs: Vec<Input<'_, f64>> = parameters.iter().map(|&p| Input::Uniform(p)).collect();
        let mut scratch = Scratch::new();
        tape.eval(&inputs, 1, &mut scratch);
        tape.adjoint(&[Input::Uniform(1.0)], &mut scratch);
        let slopes = (0..inputs.len()).map(|i| scratch.input_adjoint(tape, i)[0]).collect();
        Some((scratch.output(tape, 0)[0], slopes))
    }

    pub(crate) fn states(&self) -> usize {
        self.has_flux.len()
    }

    /// The error of a number that is not finite.
    pub(crate) fn not_finite(&self, what: &'static str, position: &[f64], t: f64) -> SolveError {
        let coordinates = position.iter().chain([&t]).zip(&self.names);
        let place: Vec<String> = coordinates.map(|(value, name)| format!("{name} = {value}")).collect();
        SolveError::NonFinite { what, place: place.join(", ") }
    }

    /// Fewest cells along an axis, on either side of an interface.
    pub(crate) fn cells_needed(&self, axis: usize) -> usize {
        let order = self.blocks.iter().chain([&self.start]).map(|block| block.highest_order(axis)).max();
        Line::cells_needed(order.unwrap_or(0))
    }

    /// What the grid is made from, checked.
    fn mesh(&self, parameters: &[f64], resolution: &Resolution) -> Result<Mesh, SolveError> {
        check::count(
            "parameter values",
            self.parameters,
            parameters.len(),
            "give one value per parameter of the statement",
        )?;
        check::count(
            "numbers of cells",
            self.space.len(),
            resolution.cells.len(),
            "give one per space axis",
        )?;
        for (axis, &cells) in resolution.cells.iter().enumerate() {
            let needed = self.cells_needed(axis) * if self.interface.is_some() { 2 } else { 1 };
            if cells < needed {
                return Err(SolveError::TooCoarse { name: self.names[axis].clone(), cells, needed });
            }
        }
        let position = self.position(parameters).map(|(z, _)| z);
        let Axis { lo, hi, .. } = self.space[0];
        if let Some(position) = position.filter(|&z| !(lo < z && z < hi)) {
            return Err(SolveError::InterfaceOutside { position, lo, hi });
        }
        Ok(Mesh { cells: resolution.cells.clone(), position })
    }

    /// The discrete equations, kept from the last solve if its grid was the same.
    pub(crate) fn discretise(&self, mesh: Mesh) -> Arc<Discrete> {
        let mut kept = self.discrete.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(discrete) if discrete.mesh == mesh => discrete.clone(),
            _ => kept.insert(Arc::new(Discrete::new(self, mesh))).clone(),
        }
    }

    /// Initial values (or the guess) at the nodes.
    fn start(&self, discrete: &Discrete, values: &Values) -> Result<Vec<f64>, SolveError> {
        let nodes = discrete.grid.nodes();
        let tape = &self.start.residuals;
        if tape.outputs().is_empty() {
            return Ok(vec![0.0; self.states() * nodes]);
        }
        let workspace = self.evaluated_start(discrete, values);
        let start: Vec<f64> =
            (0..self.states()).flat_map(|s| workspace.residuals.output(tape, s).iter().copied()).collect();
        match start.iter().position(|v| !v.is_finite()) {
            None => Ok(start),
            Some(i) => {
                let coordinates = discrete.start.coordinates.iter();
                let position: Vec<f64> = coordinates.map(|column| column[i % nodes]).collect();
                let t = self.time.map_or(0.0, |time| time.lo);
                Err(self.not_finite("an initial value", &position, t))
            }
        }
    }

    fn solve_steady(&self, system: &mut System<'_>, mut u: Vec<f64>) -> Result<Solution, SolveError> {
        let stage = Stage { t: 0.0, rate: 0.0, base: vec![0.0; u.len()] };
        let mut solution = Solution::new(&system.discrete.grid, None, self.states());
        Newton::new(&system.discrete.pattern).solve(system, &stage, &mut u, &mut solution.work)?;
        solution.push(&u);
        Ok(solution)
    }

    fn solve_evolving(
        &self,
        system: &mut System<'_>,
        start: &[f64],
        time: Line,
    ) -> Result<Solution, SolveError> {
        let mut solution = Solution::new(&system.discrete.grid, Some(time), self.states());
        solution.push(start);
        let mut work = solution.work;
        let times = solution.t.clone();
        march(system, start, &times, &mut work, |y1, u| {
            solution.stages.push(y1.to_vec());
            solution.push(u);
        })?;
        solution.work = work;
        Ok(solution)
    }
}
