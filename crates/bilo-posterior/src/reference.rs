//! The density by the reference solver.

use crate::density::{Posterior, SolvedPosterior, Source};
use bilo_assess::RunContext;
use bilo_fit::data_loss::DataLoss;
use bilo_problem::diagnostic::Result;
use bilo_problem::{Classical, Problem};
use bilo_reference::misfit::ReferenceLoss;
use bilo_reference::solver::ReferenceSolver;

/// The reference solver, on a grid.
pub struct ReferenceSource<'a> {
    run: RunContext<'a>,
    problem: Problem,
    eta: Vec<f64>,
    words: String,
}

impl<'a> ReferenceSource<'a> {
    /// On the stated grid, with an estimate by its variables.
    pub fn new(run: &RunContext<'a>, eta: &[f64]) -> ReferenceSource<'a> {
        ReferenceSource {
            run: *run,
            problem: run.problem.clone(),
            eta: eta.to_vec(),
            words: "the reference solver".to_owned(),
        }
    }

    /// On a grid with twice as many cells and steps.
    pub fn refined(self) -> ReferenceSource<'a> {
        let classical: Classical = self.problem.classical.refined();
        let problem = Problem { classical, ..self.problem };
        ReferenceSource { problem, words: "the reference solver on a grid twice as fine".to_owned(), ..self }
    }
}

impl Source for ReferenceSource<'_> {
    fn in_words(&self) -> String {
        self.words.clone()
    }

    fn with(&self, act: &mut dyn FnMut(&mut dyn Posterior) -> Result<()>) -> Result<()> {
        // Chains are what runs in parallel.
        let solver = ReferenceSolver::new(&self.problem)?
            .interruptible(self.run.interrupt)
            .on_threads(Some(1))
            .near(&self.eta)?;
        let data = DataLoss::new(&self.problem, self.run.tables);
        let loss = ReferenceLoss { data, reference: &solver };
        let anchor = loss.evaluate(&self.eta)?;
        act(&mut SolvedPosterior::new(data, loss, anchor))
    }
}
