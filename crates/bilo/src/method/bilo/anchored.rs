//! The density of a posterior by the dictionary that found an estimate.
//!
//! A large dictionary takes tens of milliseconds for a solution. But the solutions of a few numbers lie near a space of few
//! dimensions: those at some places around the estimate span it, and a dictionary of their combinations takes its place
//! wherever it obeys the equations as well.

use super::discretisation::Discretisation;
use super::refinement::{exact, guess};
use bilo_assess::RunContext;
use bilo_assess::outcome::Outcome;
use bilo_fit::data_loss::DataLoss;
use bilo_fit::gauss_newton::ReducedProblem;
use bilo_fit::parallel;
use bilo_jet::{Device, Precision, cpu};
use bilo_operator::implicit::{
    Anchored, LocalEvaluation, LocalSolver, Options, Reduced, ReferenceScale, WithReduced,
};
use bilo_operator::level::Lower;
use bilo_operator::operator::{LocalOperator, ReducedBasis, Size};
use bilo_posterior::{Metric, Posterior, SolvedPosterior, Source, position_of, thetas_at};
use bilo_problem::Problem;
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use bilo_problem::seeds::{Purpose, seed_for};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// Steps from the guess to the estimate: the solution that the search followed there is the one that is wanted, if there are
/// several.
const STEPS: usize = 8;

/// A dictionary with fewer features is fast enough.
const LARGE: usize = 100;

/// Solutions that span the space: so many, and so many more for each unknown. They are as far from the estimate as draws of a
/// normal density that is `SPREAD` times as wide as the posterior.
const SNAPSHOTS: [usize; 2] = [10, 15];
const SPREAD: f64 = 2.0;

/// Further places where the combinations are tried.
const TRIALS: usize = 8;

/// Combinations are believed where what they leave of the residuals is no more than this times the most that the dictionary
/// itself left at any of these places.
const WORSE: f64 = 2.0;

/// The dictionary that found an estimate.
pub(crate) struct DictionarySource<'a> {
    run: &'a RunContext<'a>,
    problem: Problem,
    size: Size,
    eta: Vec<f64>,
    reduced: Option<Combined>,
}

/// Combinations that stand for the dictionary.
struct Combined {
    basis: ReducedBasis,
    /// The root of the lower loss up to which they are believed.
    enough: f64,
}

impl<'a> DictionarySource<'a> {
    /// None if no dictionary found it.
    pub(crate) fn new(run: &'a RunContext<'a>, estimate: &Outcome, eta: &[f64]) -> Result<Option<Self>> {
        let found = estimate.operator.as_ref().and_then(|operator| operator.dictionary.as_ref());
        let Some(features) = found.map(|dictionary| dictionary.features) else { return Ok(None) };
        let problem = exact(run.problem);
        let sizes = Discretisation::ladder(&problem, run.seed)?.into_iter().filter_map(|step| match step {
            Discretisation::Dictionary(size) if size.features() == features => Some(size),
            _ => None,
        });
        let Some(size) = sizes.into_iter().next() else { return Ok(None) };
        let mut source = DictionarySource { run, problem, size, eta: eta.to_vec(), reduced: None };
        if features >= LARGE {
            source.reduced = source.combined()?;
        }
        Ok(Some(source))
    }

    /// The combinations of features that solutions around the estimate have in common, if they are few and do.
    fn combined(&self) -> Result<Option<Combined>> {
        let places = self.places()?;
        let (snapshots, trials) = places.split_at(places.len() - TRIALS);
        let solutions = self.solutions(snapshots)?;
        let Some(enough) = solutions.iter().map(|found| found.lower_losses[0].sqrt()).reduce(f64::max) else {
            return Ok(None);
        };
        let weights: Vec<Vec<f64>> = solutions.into_iter().map(|found| found.point.weights).collect();
        let operator = LocalOperator::dictionary(&self.problem, &self.size, self.run.seed)?;
        let Some(basis) = ReducedBasis::of(&operator, &weights) else { return Ok(None) };
        let combined = Combined { basis, enough: WORSE * enough };
        let mut believed = 0;
        self.with_solver(|solver, anchor| {
            let mut whole = Anchored::new(solver, anchor);
            combined.with_solver(self, &mut whole, |mut reduced, _| {
                believed = trials.iter().filter(|eta| reduced.at(eta).is_some()).count();
                Ok(())
            })
        })?;
        Ok((2 * believed > TRIALS).then_some(combined))
    }

    /// Places around the estimate, the last ones for trials.
    fn places(&self) -> Result<Vec<Vec<f64>>> {
        let unknowns = &self.problem.unknowns;
        let thetas: Vec<f64> = unknowns.iter().zip(&self.eta).map(|(u, &eta)| u.theta_of(eta)).collect();
        let centre = position_of(&self.problem, &thetas);
        let mut metric = None;
        self.with(&mut |density| {
            metric = Some(density.metric(&centre).map_err(|_| unsolved())?);
            Ok(())
        })?;
        let metric: Metric = metric.ok_or_else(unsolved)?;
        let mut random = Pcg64::seed_from_u64(seed_for(self.run.seed, Purpose::Snapshots, 0));
        let count = SNAPSHOTS[0] + SNAPSHOTS[1] * centre.len() + TRIALS;
        let draw = |_| {
            let step: Vec<f64> = centre.iter().map(|_| StandardNormal.sample(&mut random)).collect();
            let mut position = centre.clone();
            metric.advance(&mut position, SPREAD, &step);
            let thetas = thetas_at(&self.problem, &position);
            unknowns.iter().zip(&thetas).map(|(unknown, &theta)| unknown.eta_of(theta)).collect()
        };
        Ok((0..count).map(draw).collect())
    }

    /// The solutions at some places where there are any, on all threads.
    fn solutions(&self, places: &[Vec<f64>]) -> Result<Vec<LocalEvaluation>> {
        let threads = parallel::threads(self.run.threads);
        let shares: Vec<&[Vec<f64>]> = places.chunks(places.len().div_ceil(threads)).collect();
        let found = parallel::each(threads, &shares, |share| {
            let mut found = vec![];
            self.with_solver(|solver, anchor| {
                let mut whole = Anchored::new(solver, anchor);
                for eta in *share {
                    match whole.at(eta) {
                        Ok(solution) => found.push(solution),
                        Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                        Err(_) => {}
                    }
                }
                Ok(())
            })?;
            Ok(found)
        });
        Ok(found.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// Does something with a solver of the dictionary, and its solution at the estimate.
    fn with_solver(&self, act: impl FnOnce(LocalSolver<'_>, LocalEvaluation) -> Result<()>) -> Result<()> {
        let DictionarySource { run, problem, size, .. } = self;
        // Chains are what runs in parallel.
        let mut device = cpu(Precision::F64, Some(1));
        let mut operator = LocalOperator::dictionary(problem, size, run.seed)?;
        let lower = Lower::clustered(problem, &mut operator, device.as_mut(), size, run.seed)?;
        let (weights, eta) = (operator.unit_weights(), guess(problem, &operator)?);
        let untouched = ReferenceScale { weights: &weights, eta: &eta };
        let mut solver = self.solver(&mut operator, device.as_mut(), &lower, untouched)?;
        let anchor = self.anchor(&mut solver, weights.clone(), &eta)?;
        act(solver, anchor)
    }

    fn solver<'s>(
        &'s self,
        operator: &'s mut LocalOperator,
        device: &'s mut dyn Device,
        lower: &'s Lower,
        untouched: ReferenceScale<'_>,
    ) -> Result<LocalSolver<'s>> {
        let data = DataLoss::new(&self.problem, self.run.tables);
        let solver = LocalSolver::new(data, operator, device, lower, Options::dictionary(), untouched)?;
        Ok(solver.interruptible(self.run.interrupt).on_threads(Some(1)))
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

impl Combined {
    /// Does something with a solver of the combinations, measured by that of the dictionary.
    fn with_solver(
        &self,
        source: &DictionarySource<'_>,
        whole: &mut Anchored<'_>,
        act: impl FnOnce(Reduced<'_>, &mut Anchored<'_>) -> Result<()>,
    ) -> Result<()> {
        let DictionarySource { run, problem, size, .. } = source;
        let mut device = cpu(Precision::F64, Some(1));
        let mut operator = LocalOperator::reduced(problem, size, run.seed, &self.basis)?;
        let lower = Lower::clustered(problem, &mut operator, device.as_mut(), size, run.seed)?;
        let weights = self.basis.reduced(&whole.anchor().point.weights);
        let untouched = ReferenceScale { weights: &weights, eta: &source.eta };
        let solver = source.solver(&mut operator, device.as_mut(), &lower, untouched)?;
        let mut solver = solver.measured_as(whole.solver());
        let anchor = solver.solve(weights, &source.eta, &mut |_| true)?;
        act(Reduced::new(Anchored::new(solver, anchor), self.enough), whole)
    }
}

impl Source for DictionarySource<'_> {
    fn in_words(&self) -> String {
        let features = self.size.features();
        match &self.reduced {
            None => format!("a dictionary of {features} features"),
            Some(Combined { basis, .. }) => {
                format!("a dictionary of {features} features, or of {} combinations of them,", basis.len())
            }
        }
    }

    fn with(&self, act: &mut dyn FnMut(&mut dyn Posterior) -> Result<()>) -> Result<()> {
        let data = DataLoss::new(&self.problem, self.run.tables);
        self.with_solver(|solver, anchor| {
            let mut whole = Anchored::new(solver, anchor.clone());
            match &self.reduced {
                None => act(&mut SolvedPosterior::new(data, WithReduced::new(&mut whole, None), anchor)),
                Some(combined) => combined.with_solver(self, &mut whole, |reduced, whole| {
                    act(&mut SolvedPosterior::new(data, WithReduced::new(whole, Some(reduced)), anchor))
                }),
            }
        })
    }
}

fn unsolved() -> Error {
    Error::new(ErrorKind::Solver, "the equations have no solution at the estimate")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::{Job, in_context};
    use bilo_fit::observer::Silent;
    use bilo_problem::Overrides;
    use std::path::Path;

    /// Log-densities by combinations and by all features, out to three standard deviations: both leave the same residuals, so
    /// that their solutions differ by less than the dictionary's own error, which is a millionth of the data's.
    #[test]
    fn combinations_of_features_have_the_density_of_all() {
        let text = include_str!("../../../../../problems/fisher-kpp.toml");
        let set = ["operator.kind=dictionary", "observation.profile.data.synthetic.noise=0.03"];
        let problem = Problem::from_toml("fisher-kpp.toml", text, Path::new("."), &Overrides::of(set))
            .expect("a problem");
        let job = Job::default();
        let estimate = crate::run(&problem, &job, &mut Silent).expect("an estimate");
        let thetas: Vec<f64> = estimate.unknowns.numbers.iter().map(|number| number.estimate).collect();
        let eta: Vec<f64> = problem.unknowns.iter().zip(&thetas).map(|(u, &theta)| u.eta_of(theta)).collect();
        in_context(&problem, &job, &job.interrupt, |run| {
            let combined = DictionarySource::new(run, &estimate, &eta)?.expect("a dictionary");
            let basis = &combined.reduced.as_ref().expect("combinations").basis;
            assert!((5..100).contains(&basis.len()), "{} combinations", basis.len());
            let places: Vec<Vec<f64>> = [[0.0, 0.0], [1.5, -0.1], [-1.5, 0.1]]
                .iter()
                .map(|z| {
                    let sds =
                        estimate.unknowns.numbers.iter().map(|number| 2.0 * number.sd.expect("an error"));
                    thetas.iter().zip(z).zip(sds).map(|((theta, z), sd)| theta + z * sd).collect()
                })
                .collect();
            let heights = |source: &DictionarySource<'_>| {
                let mut heights = vec![];
                source.with(&mut |density| {
                    for place in &places {
                        heights.push(
                            density.predict(&position_of(run.problem, place)).expect("a value").log_density,
                        );
                    }
                    Ok(())
                })?;
                Ok::<_, Error>(heights)
            };
            let ours = heights(&combined)?;
            let exact = heights(&DictionarySource { reduced: None, ..combined })?;
            for (ours, exact) in ours.iter().zip(&exact) {
                assert!((ours - exact).abs() < 1e-3, "{ours} {exact}");
            }
            Ok(())
        })
        .expect("it is solved");
    }
}
