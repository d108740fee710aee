//! What every method is given.

use crate::audit::{GradientSource, Inspector};
use bilo_fit::checkpoint::Checkpoint;
use bilo_fit::data_loss::DataLoss;
use bilo_fit::monitor::Interrupt;
use bilo_operator::hardware::Hardware;
use bilo_problem::diagnostic::Result;
use bilo_problem::theta::Theta;
use bilo_problem::{Problem, Table, divided};
use bilo_reference::solver::ReferenceSolver;

/// A run: the problem with its data and its reference solver, and how it is to be solved.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The data of every observation.
    pub tables: &'a [Table],
    /// The reference solver, or why there is none.
    pub reference: &'a Result<ReferenceSolver>,
    /// The name of the method.
    pub method: &'static str,
    /// Fixes every random number.
    pub seed: u64,
    /// Threads; all cores if none is given.
    pub threads: Option<usize>,
    /// What trains networks.
    pub hardware: Hardware,
    /// Where an earlier run of the same problem, method and seed came to.
    pub from: Option<&'a Checkpoint>,
    /// Where a search with other weights of regularisers came to.
    pub near: Option<&'a Theta>,
    /// What may end the run.
    pub interrupt: &'a Interrupt,
}

/// Cells and steps along each coordinate of grids that are searched on first.
const ON_A_LINE: usize = 200;
const OF_TIME_ALONE: usize = 100;
const IN_A_PLANE: usize = 50;

impl<'a> RunContext<'a> {
    /// The run with other settings of its problem.
    pub fn with<'b>(&self, problem: &'b Problem) -> RunContext<'b>
    where
        'a: 'b,
    {
        RunContext { problem, ..*self }
    }

    /// The reference solver of a variant of the problem, on this run's threads and ended with it.
    pub fn reference_of(&self, problem: &Problem) -> Result<ReferenceSolver> {
        let solver = ReferenceSolver::new(problem)?;
        Ok(solver.interruptible(self.interrupt).on_threads(self.threads))
    }

    /// How fine a grid is that is searched on first.
    pub fn coarse(&self) -> usize {
        match &self.problem.coordinates[..] {
            [alone] if alone.time => OF_TIME_ALONE,
            all if divided(all).len() > 1 => IN_A_PLANE,
            _ => ON_A_LINE,
        }
    }

    /// The reference solver on a grid of no more than so many cells and steps along each coordinate, for what need not be
    /// exact.
    pub fn coarse_reference(&self, most: usize) -> Option<ReferenceSolver> {
        let problem = Problem { classical: self.problem.classical.at_most(most), ..self.problem.clone() };
        self.reference_of(&problem).ok()
    }

    /// The reference solver on such a coarse grid, where that is cheaper than the stated one by a lot: along more than one
    /// coordinate.
    pub fn cheaper_reference(&self, most: usize) -> Option<ReferenceSolver> {
        let Problem { coordinates, classical, .. } = self.problem;
        let several = coordinates.len() > 1 && classical.at_most(most) != *classical;
        several.then(|| self.coarse_reference(most)).flatten()
    }

    /// The data loss.
    pub fn data(&self) -> DataLoss<'a> {
        DataLoss::new(self.problem, self.tables)
    }

    /// Compares what moved the unknowns with the reference solver.
    pub fn inspector<'b>(&self, source: GradientSource<'b>) -> Inspector<'b>
    where
        'a: 'b,
    {
        Inspector { data: self.data(), reference: self.reference.as_ref().map_err(Clone::clone), source }
    }
}
