//! A statement solved for many values.

use std::sync::{Arc, Mutex, PoisonError};

use crate::check;
use crate::compiled::{Compiled, Resolution, Values};
use crate::discrete::{Discrete, Mesh};
use crate::error::SolveError;
use crate::graded;
use crate::grid::Line;
use crate::interrupt::Interrupt;
use crate::march::march;
use crate::newton::Newton;
use crate::runge_kutta::{FOURTH, Method, SECOND};
use crate::solution::Solution;
use crate::statement::Axis;
use crate::system::{Stage, System};

/// How many times as large as they are said to be states of a steady problem are where Newton's iteration begins again.
const FACTORS: [f64; 5] = [1.0, 3.0, 0.3, 10.0, 0.1];

/// A step in time in which Newton's iteration does not converge is divided into so many, as often as this in one solve.
const SHORTER: usize = 4;
const MOST_SHORTENED: usize = 12;

/// A [`Statement`](crate::Statement) checked and compiled, to be solved for any [`Values`].
#[derive(Debug)]
pub struct Solver {
    pub(crate) compiled: Compiled,
    /// The discrete equations of the last resolution.
    discrete: Mutex<Option<Arc<Discrete>>>,
    /// What may end a solve before its time.
    pub(crate) interrupt: Interrupt,
    /// Where steps in time follow the solution: how many would do for a smooth one.
    graded: Option<usize>,
    /// About how large each state of a steady problem is.
    levels: Vec<f64>,
    /// A solution of a steady problem nearby.
    nearby: Option<Solution>,
}

/// What is known before a solve.
#[derive(Clone, Copy, Default)]
pub struct Known<'a> {
    /// Times that steps in time are to be as dense as.
    pub density: Option<&'a [f64]>,
    /// A solution for other values or on another grid. Newton's iteration for a steady problem begins there: of several solutions the
    /// one nearby is found.
    pub near: Option<&'a Solution>,
    /// Values of all states at the [nodes](Solver::nodes), one state behind the other: Newton's iteration for a steady problem begins
    /// there before anywhere else.
    pub start: Option<&'a [f64]>,
}

impl Solver {
    pub(crate) fn of(compiled: Compiled) -> Solver {
        Solver {
            compiled,
            discrete: Mutex::new(None),
            interrupt: Interrupt::default(),
            graded: None,
            levels: vec![],
            nearby: None,
        }
    }

    /// Ends with an error when the interrupt is due.
    pub fn interruptible(self, interrupt: Interrupt) -> Solver {
        Solver { interrupt, ..self }
    }

    /// With steps in time of fourth order that are short where the solution changes fast. There are as many as are asked for, or a multiple
    /// of them if so many do not do for `smooth` ones.
    pub fn graded(self, smooth: usize) -> Solver {
        Solver { graded: Some(smooth), ..self }
    }

    /// Where Newton's iteration for a steady problem fails from its guess, it begins again with each state about so large
    /// everywhere: at zero some equations degenerate, as that of a water table does.
    pub fn beginning_at(self, levels: Vec<f64>) -> Solver {
        Solver { levels, ..self }
    }

    /// Newton's iteration for a steady problem begins at a solution for other values, where none is [known](Known::near): of several
    /// solutions the one nearby is found.
    pub fn near(self, solution: &Solution) -> Solver {
        Solver { nearby: Some(solution.clone()), ..self }
    }

    /// How steps in time are taken: those that follow the solution by a method of higher order, as no error of differences in
    /// space is beside theirs.
    pub(crate) fn method(&self) -> &'static Method {
        if self.graded.is_some() { &FOURTH } else { &SECOND }
    }

    /// The order of its error where the solution is smooth.
    pub fn order(&self) -> f64 {
        if self.graded.is_some() { 4.0 } else { 2.0 }
    }

    /// Solves for one set of values.
    pub fn solve(&self, values: &Values, resolution: &Resolution) -> Result<Solution, SolveError> {
        self.solve_with(values, resolution, Known::default())
    }

    /// Times that are dense where the solution in space and time changes fast: just after a jump at a side, or while a pulse lasts.
    /// None if even ones do, `steps` of the resolution.
    pub fn transients(
        &self,
        values: &Values,
        resolution: &Resolution,
    ) -> Result<Option<Vec<f64>>, SolveError> {
        let Some(time) = self.compiled.time else { return Ok(None) };
        let discrete = self.discretise(self.mesh(&values.parameters, resolution)?);
        check::coefficient_values(&self.compiled, &discrete.grid, values)?;
        let start = self.start(&discrete, values)?;
        let mut system = System::new(&self.compiled, &discrete, values, &self.interrupt);
        let switches = self.compiled.switches.at(&values.parameters);
        graded::transients(&mut system, &start, (&time, &switches), resolution.steps)
    }

    /// Solves for one set of values with what is known before.
    pub fn solve_with(
        &self,
        values: &Values,
        resolution: &Resolution,
        known: Known<'_>,
    ) -> Result<Solution, SolveError> {
        if self.compiled.time.is_some() && resolution.steps == 0 {
            return Err(SolveError::NoSteps);
        }
        let discrete = self.discretise(self.mesh(&values.parameters, resolution)?);
        check::coefficient_values(&self.compiled, &discrete.grid, values)?;
        let start = self.start(&discrete, values)?;
        let mut system = System::new(&self.compiled, &discrete, values, &self.interrupt);
        let mut solution = match self.compiled.time {
            None => {
                let near = known.near.or(self.nearby.as_ref()).map(|near| near.on(&discrete.grid));
                let known = known.start.map(<[f64]>::to_vec).into_iter().chain(near);
                self.solve_steady(&mut system, start, known)?
            }
            Some(time) => {
                let switches = self.compiled.switches.at(&values.parameters);
                let times = match (self.graded, known.density) {
                    (None, None) => Line::new(&time, resolution.steps),
                    (None, Some(density)) => graded::like(density, &time, &switches, resolution.steps),
                    (Some(smooth), _) => {
                        graded::times(&mut system, &start, (&time, &switches), resolution.steps, smooth)?
                    }
                };
                self.solve_in_time(&mut system, &start, times)?
            }
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
        let grid = self.mesh(parameters, resolution)?.grid(&self.compiled);
        let lines = self.compiled.coefficient_axes[coefficient].iter().map(|&axis| &grid.lines[axis]);
        Ok(lines.map(|line| line.positions()[..line.nodes()].to_vec()).collect())
    }

    /// The nodes where the states are solved for, a column for each space axis.
    pub fn nodes(&self, parameters: &[f64], resolution: &Resolution) -> Result<Vec<Vec<f64>>, SolveError> {
        Ok(self.mesh(parameters, resolution)?.grid(&self.compiled).columns())
    }

    /// What the grid is made from, checked.
    fn mesh(&self, parameters: &[f64], resolution: &Resolution) -> Result<Mesh, SolveError> {
        check::count(
            "parameter values",
            self.compiled.parameters,
            parameters.len(),
            "give one value per parameter of the statement",
        )?;
        check::count(
            "numbers of cells",
            self.compiled.space.len(),
            resolution.cells.len(),
            "give one per space axis",
        )?;
        for (axis, &cells) in resolution.cells.iter().enumerate() {
            let needed =
                self.compiled.cells_needed(axis) * if self.compiled.interface.is_some() { 2 } else { 1 };
            if cells < needed {
                return Err(SolveError::TooCoarse { name: self.compiled.names[axis].clone(), cells, needed });
            }
        }
        let position = self.compiled.position(parameters).map(|(z, _)| z);
        let Axis { lo, hi, .. } = self.compiled.space[0];
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
            _ => kept.insert(Arc::new(Discrete::new(&self.compiled, mesh))).clone(),
        }
    }

    /// Initial values (or the guess) at the nodes.
    fn start(&self, discrete: &Discrete, values: &Values) -> Result<Vec<f64>, SolveError> {
        let nodes = discrete.grid.nodes();
        let tape = &self.compiled.start.residuals;
        if tape.outputs().is_empty() {
            return Ok(vec![0.0; self.compiled.states() * nodes]);
        }
        let workspace = self.evaluated_start(discrete, values);
        let start: Vec<f64> = (0..self.compiled.states())
            .flat_map(|s| workspace.residuals.output(tape, s).iter().copied())
            .collect();
        match start.iter().position(|v| !v.is_finite()) {
            None => Ok(start),
            Some(i) => {
                let coordinates = discrete.start.coordinates.iter();
                let position: Vec<f64> = coordinates.map(|column| column[i % nodes]).collect();
                let t = self.compiled.time.map_or(0.0, |time| time.lo);
                Err(self.compiled.not_finite("an initial value", &position, t))
            }
        }
    }

    fn solve_steady(
        &self,
        system: &mut System<'_>,
        start: Vec<f64>,
        known: impl Iterator<Item = Vec<f64>>,
    ) -> Result<Solution, SolveError> {
        let stage = Stage { t: 0.0, rate: 0.0, base: vec![0.0; start.len()] };
        let mut solution = Solution::new(&system.discrete.grid, None, self.compiled.states());
        let nodes = system.discrete.grid.nodes();
        let about = |factor: &f64| -> Vec<f64> {
            self.levels.iter().flat_map(|level| vec![factor * level; nodes]).collect()
        };
        let factors = if self.levels.is_empty() { &[][..] } else { &FACTORS };
        let mut first_error = None;
        for mut u in known.chain([start.clone()]).chain(factors.iter().map(about)) {
            match Newton::new(&system.discrete.pattern).solve(system, &stage, &mut u, &mut solution.work) {
                Ok(()) => {
                    solution.push(&u);
                    return Ok(solution);
                }
                Err(SolveError::Interrupted) => return Err(SolveError::Interrupted),
                Err(error) => _ = first_error.get_or_insert(error),
            }
        }
        Err(first_error.expect("there is a start"))
    }

    /// Where Newton's iteration does not converge in a step that was asked for, it is divided and the march goes on.
    fn solve_in_time(
        &self,
        system: &mut System<'_>,
        start: &[f64],
        times: Line,
    ) -> Result<Solution, SolveError> {
        let mut solution = Solution::new(&system.discrete.grid, Some(times), self.compiled.states());
        solution.push(start);
        let mut first_error = None;
        for _ in 0..MOST_SHORTENED {
            match self.go_on(system, &mut solution) {
                Ok(()) => return Ok(solution),
                Err(SolveError::NoConvergence { t, residual }) => {
                    solution.divide_step(SHORTER);
                    first_error.get_or_insert(SolveError::NoConvergence { t, residual });
                }
                Err(error) => return Err(error),
            }
        }
        Err(first_error.expect("no attempt had another end"))
    }

    /// Marches on from the last level of a solution.
    fn go_on(&self, system: &mut System<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        let steps = self.steps(solution).split_off(solution.levels() - 1);
        let (u, mut work) = (solution.level(solution.levels() - 1), solution.work);
        let found = march(system, steps, u, &mut work, |stages| {
            let (u, inner) = stages.split_last().expect("a method has stages");
            solution.push_step(inner, u);
        });
        solution.work = work;
        found
    }
}
