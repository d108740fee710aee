//! The statement compiled once, solved for many parameter values.

use bilo_expr::{Expr, Input, Scratch, Tape};

use crate::compile::{self, Block};
use crate::error::SolveError;
use crate::newton::Newton;
use crate::solution::{Solution, Work};
use crate::statement::{Axis, End, Statement};
use crate::stencil::Grid;
use crate::system::{Stage, System};
use crate::wellposed::{self, Replacement};

/// How finely to solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// Cells of the space axis, at least 4.
    pub cells: usize,
    /// Time steps; ignored by steady problems.
    pub steps: usize,
}

/// A [`Statement`] checked and compiled.
#[derive(Debug)]
pub struct Solver {
    pub(crate) interior: Block,
    pub(crate) lower: Block,
    pub(crate) upper: Block,
    /// End and number within that end's block of each boundary equation.
    pub(crate) boundary: Vec<(End, usize)>,
    pub(crate) replacements: Vec<Replacement>,
    pub(crate) time: Option<Axis>,
    space: Axis,
    periodic: bool,
    parameters: usize,
    /// Initial values, or Newton's guess; `None` for zero.
    start: Option<Tape>,
}

impl Solver {
    /// Checks the statement and compiles residuals and Jacobians.
    pub fn new(mut statement: Statement) -> Result<Solver, SolveError> {
        check_axes(&statement)?;
        check_counts(&statement)?;
        compile::check_state_inputs(&mut statement)?;
        let residuals = statement.interior.clone();
        let interior = compile::block(&mut statement, &residuals, "an interior residual")?;
        let lower = boundary_block(&mut statement, End::Lower)?;
        let upper = boundary_block(&mut statement, End::Upper)?;
        let boundary = boundary_places(&statement);
        let replacements = if statement.periodic {
            expect_count("boundary equations", 0, boundary.len(), "a periodic axis has no ends")?;
            Vec::new()
        } else {
            replace(&interior, [&lower, &upper], &boundary)?
        };
        let starts =
            if statement.time.is_some() { statement.initial.clone() } else { statement.guess.clone() };
        let start = if starts.is_empty() {
            None
        } else {
            let tape = compile::coordinate_tape(&mut statement, &starts, "an initial value")?;
            Some(tape)
        };
        Ok(Solver {
            interior,
            lower,
            upper,
            boundary,
            replacements,
            time: statement.time,
            space: statement.space,
            periodic: statement.periodic,
            parameters: statement.parameters.len(),
            start,
        })
    }

    /// Solves for one set of parameter values, in the order of the statement.
    pub fn solve(&self, parameters: &[f64], resolution: Resolution) -> Result<Solution, SolveError> {
        self.check_request(parameters, resolution)?;
        let grid =
            Grid { lo: self.space.lo, hi: self.space.hi, cells: resolution.cells, periodic: self.periodic };
        let start = self.start(&grid, parameters)?;
        let mut system = System::new(self, parameters, grid);
        match self.time {
            None => self.solve_steady(&mut system, start),
            Some(time) => self.march(&mut system, start, time, resolution.steps),
        }
    }

    pub(crate) fn states(&self) -> usize {
        self.interior.terms.len()
    }

    /// Highest space derivative in any equation.
    pub(crate) fn highest_order(&self) -> usize {
        [&self.interior, &self.lower, &self.upper]
            .iter()
            .flat_map(|block| &block.derivatives)
            .map(|d| d.order_x)
            .max()
            .unwrap_or(0)
    }

    fn check_request(&self, parameters: &[f64], resolution: Resolution) -> Result<(), SolveError> {
        expect_count(
            "parameter values",
            self.parameters,
            parameters.len(),
            "give one value per parameter of the statement",
        )?;
        let needed = Grid::cells_needed(self.highest_order());
        if resolution.cells < needed {
            return Err(SolveError::TooCoarse { cells: resolution.cells, needed });
        }
        if self.time.is_some() && resolution.steps == 0 {
            return Err(SolveError::NoSteps);
        }
        Ok(())
    }

    /// Initial values (or the guess) at the nodes.
    fn start(&self, grid: &Grid, parameters: &[f64]) -> Result<Vec<f64>, SolveError> {
        let n = grid.nodes();
        let Some(tape) = &self.start else {
            return Ok(vec![0.0; self.states() * n]);
        };
        let x: Vec<f64> = (0..n).map(|i| grid.x(i)).collect();
        let mut inputs = vec![Input::Column(&x[..])];
        inputs.extend(self.time.map(|time| Input::Uniform(time.lo)));
        inputs.extend(parameters.iter().map(|&p| Input::Uniform(p)));
        let mut scratch = Scratch::new();
        tape.eval(&inputs, n, &mut scratch);
        let start: Vec<f64> =
            (0..self.states()).flat_map(|s| scratch.output(tape, s).iter().copied()).collect();
        match start.iter().position(|v| !v.is_finite()) {
            None => Ok(start),
            Some(i) => Err(SolveError::NonFinite {
                what: "an initial value",
                x: x[i % n],
                t: self.time.map_or(0.0, |time| time.lo),
            }),
        }
    }

    fn solve_steady(&self, system: &mut System<'_>, mut u: Vec<f64>) -> Result<Solution, SolveError> {
        let stage = Stage { t: 0.0, rate: 0.0, base: vec![0.0; u.len()] };
        let mut work = Work::default();
        Newton::new(system).solve(system, &stage, &mut u, &mut work)?;
        let mut solution = Solution::new(&system.grid, self.states());
        solution.push(0.0, &u);
        solution.work = work;
        Ok(solution)
    }

    /// Alexander's SDIRK2 (SIAM J. Numer. Anal. 14 (1977) 1006): L-stable, and
    /// the second stage is the new solution. The unknown of a stage is its
    /// value, so that states without a time derivative need nothing special.
    fn march(
        &self,
        system: &mut System<'_>,
        mut u: Vec<f64>,
        time: Axis,
        steps: usize,
    ) -> Result<Solution, SolveError> {
        let gamma = 1.0 - 0.5_f64.sqrt();
        let dt = (time.hi - time.lo) / steps as f64;
        let rate = 1.0 / (gamma * dt);
        let at = |steps_done: f64| time.lo + steps_done * dt;
        let mut solution = Solution::new(&system.grid, self.states());
        solution.push(time.lo, &u);
        let mut work = Work::default();
        let mut newton = Newton::new(system);
        let mut slope = vec![0.0; u.len()];
        for step in 0..steps {
            let done = step as f64;
            let new = if step + 1 == steps { time.hi } else { at(done + 1.0) };
            for (t, ahead) in [(at(done + gamma), 0.0), (new, (1.0 - gamma) * dt)] {
                let base = along(&u, ahead, &slope);
                let stage = Stage { t, rate, base };
                let mut value = along(&stage.base, 1.0 / rate, &slope);
                if newton.solve(system, &stage, &mut value, &mut work).is_err() {
                    // The extrapolation may have left the domain of the equations.
                    value.clone_from(&u);
                    newton.solve(system, &stage, &mut value, &mut work)?;
                }
                for ((k, value), base) in slope.iter_mut().zip(&value).zip(&stage.base) {
                    *k = rate * (value - base);
                }
                if ahead > 0.0 {
                    u = value;
                }
            }
            work.steps += 1;
            solution.push(new, &u);
        }
        solution.work = work;
        Ok(solution)
    }
}

fn along(u: &[f64], distance: f64, slope: &[f64]) -> Vec<f64> {
    u.iter().zip(slope).map(|(u, k)| u + distance * k).collect()
}

fn check_axes(statement: &Statement) -> Result<(), SolveError> {
    for axis in [Some(statement.space), statement.time].into_iter().flatten() {
        if !(axis.lo < axis.hi && (axis.hi - axis.lo).is_finite()) {
            return Err(SolveError::EmptyAxis {
                name: statement.graph.symbol_name(axis.symbol).to_string(),
                lo: axis.lo,
                hi: axis.hi,
            });
        }
    }
    Ok(())
}

fn check_counts(statement: &Statement) -> Result<(), SolveError> {
    let states = statement.states.len();
    let evolving = statement.time.is_some();
    if states == 0 {
        return expect_count("states", 1, 0, "name at least one state to solve for");
    }
    expect_count("interior residuals", states, statement.interior.len(), "give one equation per state")?;
    expect_count(
        "initial values",
        if evolving { states } else { 0 },
        statement.initial.len(),
        "an evolving problem has one per state, a steady problem none",
    )?;
    let guesses = statement.guess.len();
    if guesses == 0 {
        return Ok(());
    }
    expect_count(
        "guesses",
        if evolving { 0 } else { states },
        guesses,
        "a steady problem has one per state or none, an evolving problem starts from its initial values",
    )
}

fn expect_count(
    what: &'static str,
    expected: usize,
    found: usize,
    help: &'static str,
) -> Result<(), SolveError> {
    if expected == found {
        return Ok(());
    }
    Err(SolveError::WrongCount { what, expected, found, help })
}

/// The boundary equations of one end, compiled together.
fn boundary_block(statement: &mut Statement, end: End) -> Result<Block, SolveError> {
    let residuals: Vec<Expr> =
        statement.boundary.iter().filter(|b| b.end == end).map(|b| b.residual).collect();
    compile::block(statement, &residuals, "a boundary residual")
}

/// End and number within that end's block of each boundary equation.
fn boundary_places(statement: &Statement) -> Vec<(End, usize)> {
    let mut found = [0, 0];
    statement
        .boundary
        .iter()
        .map(|b| {
            let number = found[b.end as usize];
            found[b.end as usize] += 1;
            (b.end, number)
        })
        .collect()
}

/// Counts the boundary equations and finds their rows.
fn replace(
    interior: &Block,
    ends: [&Block; 2],
    boundary: &[(End, usize)],
) -> Result<Vec<Replacement>, SolveError> {
    let states = interior.terms.len();
    let orders: Vec<Vec<Option<usize>>> =
        (0..states).map(|e| (0..states).map(|s| interior.order_x(e, s)).collect()).collect();
    let orders = wellposed::orders_of_states(&orders)?;
    expect_count(
        "boundary equations",
        orders.iter().sum(),
        boundary.len(),
        "both ends together need one per order of the highest space derivative \
         (a first-order equation has one, at the inflow end)",
    )?;
    let occurs: Vec<Vec<bool>> = boundary
        .iter()
        .map(|&(end, i)| (0..states).map(|s| ends[end as usize].occurs(i, s)).collect())
        .collect();
    let sides: Vec<End> = boundary.iter().map(|b| b.0).collect();
    Ok(wellposed::replacements(&orders, &sides, &occurs))
}
