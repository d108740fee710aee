//! The local operator solved for at every step of the upper level.
//!
//! The search begins with few features. Where it ends, a dictionary with more features goes on, until the
//! solution no longer changes from one to the next: what changes is the error of the smaller one.

use super::discretisation::Discretisation;
use bilo_assess::audit::{GradientSource, Inspector, OperatorAt};
use bilo_assess::outcome::OperatorOutcome;
use bilo_assess::predictor::{Moved, OperatorPredictor};
use bilo_assess::verify::relative_l2;
use bilo_assess::{Estimate, Remedy, RunContext};
use bilo_fit::gauss_newton::{self, Evaluated, Iterate};
use bilo_fit::monitor::Monitor;
use bilo_fit::parallel;
use bilo_fit::phase::Phase;
use bilo_fit::stop::Stop;
use bilo_jet::{Device, PointSource, Precision};
use bilo_operator::implicit::{LocalEvaluation, LocalSolver, LowerStep, ReferenceScale, Work};
use bilo_operator::operator::LocalOperator;
use bilo_operator::state::OperatorState;
use bilo_problem::diagnostic::{Diagnostic, Error, ErrorKind, Result};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::text::digits;
use bilo_problem::{GradientMode, Layout, Points, Problem};
use bilo_reference::coupling::coupled;
use bilo_reference::misfit::Evaluation;
use std::time::Instant;

/// The solution has converged when more features change it by less than this, relative to it ..
const CONVERGED: f64 = 1e-4;

/// .. and is good enough to be taken if the most features do by less than this.
const GOOD_ENOUGH: f64 = 1e-3;

/// Solutions that differ by more than this from those with more features are not worth a search.
const SKETCHY: f64 = 0.03;

/// A solution that changes by more than this part of what it changed by before does not converge.
const STALLING: f64 = 0.5;

/// Points between the collocation points where solutions of two dictionaries are compared.
const CHECKS: usize = 1000;

/// Where searches end that find no dictionary good enough.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Effort {
    /// With the largest, whatever it is worth.
    Forced,
    /// Before so many operations of linear algebra.
    Within(f64),
}

/// The problem as dictionaries see it: the exact gradient, in double precision.
pub(super) fn exact(problem: &Problem) -> Problem {
    let mut exact = problem.clone();
    exact.training.gradient = GradientMode::Exact;
    exact.training.precision = Precision::F64;
    exact
}

/// Why a dictionary is not to be tried, if it is not.
pub(super) fn suits(problem: &Problem) -> std::result::Result<(), String> {
    if problem.equations.iter().any(|equation| equation.points.renewal.is_some()) {
        return Err("points are drawn afresh during training".to_owned());
    }
    Ok(())
}

/// No dictionary that was asked for can be solved.
pub(super) fn does_not_converge(problem: &Problem, reason: &str) -> Error {
    let message = format!("no dictionary solves `{}`: {reason}", problem.name);
    let help =
        "write `kind = \"network\"` in [operator], or add functions that the solution needs by `enrich`";
    Error::new(ErrorKind::NotConverged, Diagnostic::from(message).help(help))
}

/// A local operator at the end of its search.
struct RefinedOperator {
    discretisation: Discretisation,
    operator: LocalOperator,
    device: Box<dyn Device>,
    evaluation: LocalEvaluation,
    /// The operator at the guess, if it was there.
    at_guess: Option<LocalEvaluation>,
    /// Names of the terms of both levels.
    names: Vec<String>,
    /// Why its search ended; none if it was too coarse to search with.
    stop: Option<Stop>,
    /// Every state at the checks.
    states: Vec<Vec<f64>>,
    /// Root mean square of the residuals there.
    residual: f64,
    /// By how much the solution differs from that of the level before.
    change: Option<f64>,
    /// Matrices that it took.
    factorisations: usize,
}

impl RefinedOperator {
    /// Whether a larger one would not pay: this one is good where the search before ended, or no better than the
    /// one before, or the search was ended.
    fn is_the_last(&self, before: Option<&RefinedOperator>, forced: bool) -> bool {
        if matches!(self.stop, Some(Stop::Interrupted | Stop::TimeLimit)) {
            return true;
        }
        let Some(change) = self.change else { return false };
        let change_before = before.and_then(|before| before.change);
        let stalls = change_before.is_some_and(|before| change > STALLING * before && change > GOOD_ENOUGH);
        let searched = before.is_some_and(|before| before.stop.is_some());
        (change <= CONVERGED && searched) || (stalls && !forced)
    }
}

/// Searches with larger and larger dictionaries; the reason if the solution does not converge in them.
///
/// Meanwhile another thread, if there is one, asks the reference solver about the guess.
pub(super) fn solve<'e>(
    run: &RunContext<'_>,
    monitor: &mut Monitor<'_>,
    effort: Effort,
) -> Result<std::result::Result<Estimate<'e>, String>> {
    // A dictionary knows the exact gradient only, and is nothing without all digits.
    let problem = exact(run.problem);
    let run = &run.with(&problem);
    let inspector = run.inspector(GradientSource::Slopes);
    let found = std::thread::scope(|scope| {
        let guess = (parallel::threads(run.threads) > 1).then(|| scope.spawn(|| inspector.evaluate_guess()));
        let mut refinement = Refinement::new(run, monitor);
        let found = refinement.search(effort);
        refinement.monitor.leave();
        let (level, refined) = match found? {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        let guess = || match guess {
            Some(guess) => guess.join().expect("solving does not panic"),
            None => inspector.evaluate_guess(),
        };
        refinement.conclude(level, refined, &inspector, guess).map(Ok)
    })?;
    Ok(found.map(|estimate| Estimate { problem: Some(problem), ..estimate }))
}

/// The search over all levels.
struct Refinement<'a, 'm, 'o> {
    run: &'a RunContext<'a>,
    monitor: &'m mut Monitor<'o>,
    /// Steps of the lower level at the guess, and iterations of the upper one.
    lower_steps: usize,
    steps: usize,
    work: Work,
    /// Operations of linear algebra so far.
    operations: f64,
    /// Whether that is as much as is allowed.
    exhausted: bool,
    start: Instant,
    /// Seconds until the upper level began.
    pretrained: Option<f64>,
}

impl<'a, 'm, 'o> Refinement<'a, 'm, 'o> {
    fn new(run: &'a RunContext<'a>, monitor: &'m mut Monitor<'o>) -> Self {
        let (work, start) = (Work::default(), Instant::now());
        Self {
            run,
            monitor,
            lower_steps: 0,
            steps: 0,
            work,
            operations: 0.0,
            exhausted: false,
            start,
            pretrained: None,
        }
    }

    /// The level where the solution has converged, and whether there was one to compare with.
    fn search(&mut self, effort: Effort) -> Result<std::result::Result<(RefinedOperator, bool), String>> {
        let (forced, allowed) = match effort {
            Effort::Forced => (true, f64::INFINITY),
            Effort::Within(allowed) => (false, allowed),
        };
        let ladder = Discretisation::ladder(self.run.problem, self.run.seed)?;
        let (mut last, mut reason): (Option<RefinedOperator>, String) = (None, "there is none".to_owned());
        for (number, discretisation) in ladder.iter().enumerate() {
            let must = forced && number + 1 == ladder.len();
            let level = match self.level(discretisation, last.as_ref(), must, allowed) {
                // What has been found before is worth keeping.
                Err(error) if error.kind() == ErrorKind::Interrupted && last.is_some() => {
                    last.iter_mut().for_each(|last| last.stop = Some(self.why(Stop::Interrupted)));
                    break;
                }
                level => level?,
            };
            match level {
                Err(failure) => {
                    reason = failure;
                    if self.exhausted {
                        break;
                    }
                }
                Ok(level) => {
                    let ended = level.is_the_last(last.as_ref(), forced);
                    last = Some(level);
                    if ended {
                        break;
                    }
                }
            }
        }
        let Some(level) = last else { return Ok(Err(reason)) };
        let converged = level.change.is_some_and(|change| change <= GOOD_ENOUGH);
        let asked = matches!(level.stop, Some(Stop::Interrupted | Stop::TimeLimit));
        if level.stop.is_none() || !(forced || converged || asked) {
            let Some(change) = level.change.filter(|_| !self.exhausted) else { return Ok(Err(reason)) };
            let (discretisation, change) =
                (level.discretisation.in_words(&level.operator), digits(change, 2));
            return Ok(Err(format!(
                "with a {discretisation} the solution still changes by {change} of itself"
            )));
        }
        Ok(Ok((level, ladder.len() > 1)))
    }

    /// Solves where the one before ended, and searches from there if the two do not differ by much, or if it
    /// `must`; unless that is likely to take more operations than are allowed.
    fn level(
        &mut self,
        discretisation: &Discretisation,
        before: Option<&RefinedOperator>,
        must: bool,
        allowed: f64,
    ) -> Result<std::result::Result<RefinedOperator, String>> {
        let RunContext { problem, seed, .. } = *self.run;
        let mut device = discretisation.device(self.run)?;
        let mut operator = discretisation.operator(problem, seed)?;
        let lower = discretisation.lower(problem, &mut operator, device.as_mut(), seed)?;
        let words = discretisation.in_words(&operator);
        let per_factorisation = match discretisation.is_network() {
            true => factorisation(lower.count(), operator.operator.weights(), 1.0),
            // Each state has its own features, so that what is not coupled is solved block by block.
            false => coupled(problem)?
                .iter()
                .map(|group| group.states.len() as f64 / problem.states.len() as f64)
                .map(|part| factorisation(lower.count(), operator.operator.weights(), part))
                .sum(),
        };
        let likely = before.map_or(1, |before| before.factorisations.div_ceil(2)) as f64 * per_factorisation;
        let left = allowed - self.operations;
        if likely > left {
            self.exhausted = true;
            return Ok(Err(format!("a {words} would take longer than other ways")));
        }
        let (first_weights, eta_of_guess) =
            (discretisation.first_weights(&operator, seed), guess(problem, &operator)?);
        let (weights, eta) = match before {
            Some(RefinedOperator { operator: smaller, evaluation, .. }) => (
                discretisation.prolonged(&operator, smaller, &evaluation.point.weights),
                evaluation.eta().to_vec(),
            ),
            None => (first_weights.clone(), eta_of_guess.clone()),
        };
        let data = self.run.data();
        let untouched = ReferenceScale { weights: &first_weights, eta: &eta_of_guess };
        let rules = discretisation.rules(problem);
        let solver = LocalSolver::new(data, &mut operator, device.as_mut(), &lower, rules, untouched)?;
        let mut solver = solver.interruptible(self.run.interrupt).on_threads(self.run.threads);
        solver.corrector.most_factorisations = (left / per_factorisation) as usize;
        let names = [&["residual".to_owned(), "residual-gradient".to_owned()][..], &solver.names()].concat();
        self.monitor.name_losses(names.clone());
        let pretraining = discretisation.is_network() && before.is_none();
        let mut interrupted = None;
        let mut watch = |lower: LowerStep| {
            interrupted = if pretraining { self.watch_lower(&lower, &eta) } else { None };
            interrupted.is_none()
        };
        let first = match solver.solve(weights, &eta, &mut watch) {
            Ok(first) => first,
            Err(error) if error.ends_search() => return Err(error),
            Err(error) => return Ok(Err(self.given_up(&words, &solver, per_factorisation, &error))),
        };
        let checks = Checks::new(self.run)?;
        let (mut states, mut residual) = checks.at(&mut solver, &first.point)?;
        let change = before.map(|before| {
            let pairs = states.iter().zip(&before.states);
            pairs.map(|(now, then)| relative_l2(then, now)).fold(0.0, f64::max)
        });
        self.note(&words, change, residual);
        let at_guess = match before {
            Some(before) if discretisation.is_network() => before.at_guess.clone(),
            // At the guess as long as nothing was searched for.
            _ => before.is_none_or(|before| before.stop.is_none()).then(|| first.clone()),
        };
        let (mut evaluation, mut stop) = (first, interrupted);
        let searches = must || discretisation.is_network() || change.is_some_and(|change| change <= SKETCHY);
        if searches && stop.is_none() {
            self.pretrained.get_or_insert_with(|| self.start.elapsed().as_secs_f64());
            self.monitor.enter(Phase::Train, gauss_newton::MAX_ITERATIONS);
            let mut watch = |iterate: &Iterate<'_>| self.watch(iterate);
            let found = match gauss_newton::minimise(&mut solver, evaluation, &mut watch) {
                Ok(found) => found,
                Err(error) if error.ends_search() => return Err(error),
                Err(error) => return Ok(Err(self.given_up(&words, &solver, per_factorisation, &error))),
            };
            self.steps += found.steps;
            (evaluation, stop) = (found.evaluation, Some(self.why(found.stop)));
            (states, residual) = checks.at(&mut solver, &evaluation.point)?;
        }
        let work = solver.corrector.work;
        self.work.add(work);
        self.operations += work.factorisations as f64 * per_factorisation;
        let discretisation = discretisation.clone();
        Ok(Ok(RefinedOperator {
            discretisation,
            operator,
            device,
            evaluation,
            at_guess,
            names,
            stop,
            states,
            residual,
            change,
            factorisations: work.factorisations,
        }))
    }

    /// Why a level came to nothing, whose work counts all the same.
    fn given_up(&mut self, words: &str, solver: &LocalSolver<'_>, cost: f64, error: &Error) -> String {
        let work = solver.corrector.work;
        self.work.add(work);
        self.operations += work.factorisations as f64 * cost;
        self.exhausted |= work.factorisations > solver.corrector.most_factorisations;
        format!("with a {words}, {}", error.headline())
    }

    fn note(&mut self, words: &str, change: Option<f64>, residual: f64) {
        let change =
            change.map_or(String::new(), |change| format!(", solution changed by {}", digits(change, 2)));
        let residual = digits(residual, 2);
        self.monitor.note(&format!("{words}: residual {residual}{change}"));
    }

    /// An iteration of the upper level; why to end after it, if so.
    fn watch(&mut self, iterate: &Iterate<'_>) -> Option<Stop> {
        let losses = [iterate.lower, iterate.terms].concat();
        let unknowns = self.thetas(iterate.eta);
        self.monitor.rare_step(self.steps + iterate.step, &losses, &unknowns).stop
    }

    /// A step of the lower level at the guess; why to end after it, if so.
    fn watch_lower(&mut self, lower: &LowerStep, eta: &[f64]) -> Option<Stop> {
        self.monitor.enter(Phase::Pretrain, lower.most);
        self.lower_steps = lower.step;
        let mut losses = vec![f64::NAN; self.monitor.loss_names().len()];
        losses[0] = lower.loss;
        let unknowns = self.thetas(eta);
        self.monitor.rare_step(lower.step, &losses, &unknowns).stop
    }

    fn thetas(&self, eta: &[f64]) -> Vec<f64> {
        self.run.problem.thetas(&eta[..self.run.problem.unknowns.len()])
    }

    /// Why a search was ended that was ended from without.
    fn why(&self, stop: Stop) -> Stop {
        self.monitor.why().filter(|_| stop == Stop::Interrupted).unwrap_or(stop)
    }

    /// What the search found, audited at the guess with the last dictionary.
    fn conclude<'t, 'e>(
        self,
        level: RefinedOperator,
        refined: bool,
        inspector: &Inspector<'t>,
        evaluate_guess: impl FnOnce() -> Result<Evaluation<'t>>,
    ) -> Result<Estimate<'e>> {
        let RunContext { problem, seed, .. } = *self.run;
        let RefinedOperator {
            discretisation,
            mut operator,
            mut device,
            evaluation,
            at_guess,
            names,
            stop,
            residual,
            change,
            ..
        } = level;
        let there = match at_guess {
            Some(there) => Ok(there),
            None => {
                let lower = discretisation.lower(problem, &mut operator, device.as_mut(), seed)?;
                let (weights, eta) =
                    (discretisation.first_weights(&operator, seed), guess(problem, &operator)?);
                let (data, rules) = (self.run.data(), discretisation.rules(problem));
                let untouched = ReferenceScale { weights: &weights, eta: &eta };
                let solver =
                    LocalSolver::new(data, &mut operator, device.as_mut(), &lower, rules, untouched)?;
                let mut solver = solver.interruptible(self.run.interrupt).on_threads(self.run.threads);
                solver.solve(weights.clone(), &eta, &mut |_| true)
            }
        };
        let mut near = vec![];
        let at_guess = match there {
            Ok(there) => {
                let state = &there.point;
                let at = &mut OperatorAt { operator: &mut operator, device: device.as_mut(), state };
                near = inspector.near(at, seed)?;
                inspector.audit_at(evaluate_guess(), at)?
            }
            Err(error) => Err(error),
        };
        let seconds = self.start.elapsed().as_secs_f64();
        let losses = evaluation.lower_losses.into_iter().chain(evaluation.loss_terms().terms.iter().copied());
        let stop = stop.unwrap_or(Stop::Converged);
        let (losses, pretrained) = (losses.collect::<Vec<_>>(), self.pretrained.unwrap_or(0.0));
        Ok(Estimate {
            operator: Some(match &discretisation {
                Discretisation::Dictionary(size) => {
                    let change = change.filter(|_| refined);
                    OperatorOutcome::dictionary(problem, size, residual, change, self.work)
                }
                Discretisation::Network(_) => OperatorOutcome::network(Some(self.work)),
            }),
            remedy: if discretisation.is_network() { Remedy::TRAINING } else { Remedy::SOLVERS },
            predictor: Box::new(OperatorPredictor {
                operator,
                device,
                state: evaluation.point,
                moved: Moved::Slopes,
            }),
            problem: None,
            stop,
            diverged: None,
            losses: names.into_iter().zip(losses).collect(),
            pretrained: (self.lower_steps, pretrained),
            searched: (self.steps, seconds - pretrained),
            learned: None,
            near,
            at_guess: Some(at_guess),
            starts: vec![],
            notes: vec![],
            warnings: vec![],
        })
    }
}

/// Points where no residual was made small.
struct Checks<'a> {
    problem: &'a Problem,
    points: PointSource,
}

impl<'a> Checks<'a> {
    fn new(run: &RunContext<'a>) -> Result<Self> {
        let points = Points::laid_out(Layout::Sobol(CHECKS));
        let seed = seed_for(run.seed, Purpose::Checks, 0);
        Ok(Self { problem: run.problem, points: points.source(run.problem, seed)? })
    }

    /// All states, and the root mean square of the residuals that hold throughout the domain.
    fn at(&self, solver: &mut LocalSolver<'_>, point: &OperatorState) -> Result<(Vec<Vec<f64>>, f64)> {
        let LocalSolver { operator, device, .. } = solver;
        let inside = self.problem.equations.iter().zip(&operator.residuals);
        let residuals =
            inside.filter(|(equation, _)| equation.points.at.is_empty()).map(|(_, &residual)| residual);
        let values: Vec<_> = operator.states.iter().copied().chain(residuals).collect();
        let origin = &self.problem.equations[0].of_networks().origin;
        let mut states = operator.evaluate(*device, &values, self.points.clone(), point, origin)?;
        let residuals = states.split_off(self.problem.states.len()).concat();
        let square: f64 = residuals.iter().map(|r| r * r).sum();
        Ok((states, (square / residuals.len().max(1) as f64).sqrt()))
    }
}

/// Operations of QR of a part of the rows and columns of a matrix, over as many rows of damping as it has columns.
fn factorisation(rows: usize, columns: usize, part: f64) -> f64 {
    let (rows, columns) = (part * (rows + columns) as f64, part * columns as f64);
    2.0 * columns * columns * (rows - columns / 3.0)
}

/// The variables at the guess, with the coefficients of functions.
pub(super) fn guess(problem: &Problem, operator: &LocalOperator) -> Result<Vec<f64>> {
    let mut eta = problem.eta_of_guess();
    eta.extend(operator.functions.coefficients_of_guesses(problem)?);
    Ok(eta)
}

#[cfg(test)]
mod tests;
