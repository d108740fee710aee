//! The density of a posterior by the dictionary that found an estimate.

use super::discretisation::Discretisation;
use super::refinement::{exact, guess};
use bilo_assess::RunContext;
use bilo_assess::outcome::Outcome;
use bilo_fit::data_loss::DataLoss;
use bilo_fit::gauss_newton::ReducedProblem;
use bilo_jet::{Precision, cpu};
use bilo_operator::implicit::{Anchored, LocalEvaluation, LocalSolver, ReferenceScale};
use bilo_posterior::{Posterior, SolvedPosterior, Source};
use bilo_problem::Problem;
use bilo_problem::diagnostic::Result;

/// Steps from the guess to the estimate: the solution that the search followed there is the one that is wanted, if there are
/// several.
const STEPS: usize = 8;

/// The dictionary that found an estimate.
pub(crate) struct DictionarySource<'a> {
    run: &'a RunContext<'a>,
    problem: Problem,
    discretisation: Discretisation,
    features: usize,
    eta: Vec<f64>,
}

impl<'a> DictionarySource<'a> {
    /// None if no dictionary did.
    pub(crate) fn new(run: &'a RunContext<'a>, estimate: &Outcome, eta: &[f64]) -> Result<Option<Self>> {
        let found = estimate.operator.as_ref().and_then(|operator| operator.dictionary.as_ref());
        let Some(features) = found.map(|dictionary| dictionary.features) else { return Ok(None) };
        let problem = exact(run.problem);
        let ladder = Discretisation::ladder(&problem, run.seed)?;
        let same = |size: &Discretisation| matches!(size, Discretisation::Dictionary(size) if size.features() == features);
        let discretisation = ladder.into_iter().find(same);
        Ok(discretisation.map(|discretisation| DictionarySource {
            run,
            problem,
            discretisation,
            features,
            eta: eta.to_vec(),
        }))
    }

    /// The solution at the estimate, followed there from the guess.
    fn anchor(
        &self,
        solver: &mut LocalSolver<'_>,
        weights: Vec<f64>,
        guess: &[f64],
    ) -> Result<LocalEvaluation> {
        let Ok(mut there) = solver.solve(weights.clone(), guess, &mut |_| true) else {
            // The search came from elsewhere.
            return solver.solve(weights, &self.eta, &mut |_| true);
        };
        for step in 1..=STEPS {
            let part = step as f64 / STEPS as f64;
            let eta: Vec<f64> = guess.iter().zip(&self.eta).map(|(a, b)| a + part * (b - a)).collect();
            there = solver.evaluate(&there, &eta)?;
        }
        Ok(there)
    }
}

impl Source for DictionarySource<'_> {
    fn in_words(&self) -> String {
        format!("a dictionary of {} features", self.features)
    }

    fn with(&self, act: &mut dyn FnMut(&mut dyn Posterior) -> Result<()>) -> Result<()> {
        let DictionarySource { run, problem, discretisation, .. } = self;
        // Chains are what runs in parallel.
        let mut device = cpu(Precision::F64, Some(1));
        let mut operator = discretisation.operator(problem, run.seed)?;
        let lower = discretisation.lower(problem, &mut operator, device.as_mut(), run.seed)?;
        let (weights, eta) = (discretisation.first_weights(&operator, run.seed), guess(problem, &operator)?);
        let data = DataLoss::new(problem, run.tables);
        let (rules, untouched) =
            (discretisation.rules(problem), ReferenceScale { weights: &weights, eta: &eta });
        let solver = LocalSolver::new(data, &mut operator, device.as_mut(), &lower, rules, untouched)?;
        let mut solver = solver.interruptible(run.interrupt).on_threads(Some(1));
        let anchor = self.anchor(&mut solver, weights.clone(), &eta)?;
        act(&mut SolvedPosterior::new(data, Anchored::new(solver), anchor))
    }
}
