//! The local operator solved for at every step of the upper level.
//!
//! The search begins with few features. Where it ends, a dictionary with more features goes on, until the
//! solution no longer changes from one to the next: what changes is the error of the smaller one.

use super::rung::Rung;
use super::{Found, Scene};
use crate::closing::Inspector;
use crate::diagnostic::{Diagnostic, Error, Result};
use crate::examine::text::digits;
use crate::implicit::{LocalSolver, LocalVisit, Work};
use crate::misfit::{DataLoss, Visit};
use crate::observer::{Control, Event, Observer, Phase, Record};
use crate::operator::LocalOperator;
use crate::optimum::{self, Iterate, Judgeable};
use crate::outcome::{OperatorOutcome, Stop};
use crate::problem::{GradientMode, Layout, Points, Problem};
use crate::seeds::{Purpose, seed_for};
use crate::train::{Ended, Point};
use crate::verify::relative_l2;
use bilo_jet::{Device, PointSource, Precision, cpu};
use std::time::Instant;

/// The solution has converged when more features change it by less than this, relative to it ..
const CONVERGED: f64 = 1e-4;

/// .. and is good enough to be taken if the most features do by less than this.
const GOOD_ENOUGH: f64 = 1e-3;

/// A solution that changes by more than this part of what it changed by before does not converge.
const STALLING: f64 = 0.5;

/// Points between the collocation points where solutions of two dictionaries are compared.
const CHECKS: usize = 1000;

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
    Diagnostic::new(message, Default::default()).help(help).into()
}

/// A local operator at the end of its search.
struct Level {
    rung: Rung,
    operator: LocalOperator,
    device: Box<dyn Device>,
    visit: LocalVisit,
    /// Names of the terms of both levels.
    names: Vec<String>,
    stop: Stop,
    /// Every state at the checks.
    states: Vec<Vec<f64>>,
    /// Root mean square of the residuals there.
    residual: f64,
    /// By how much the solution differs from that of the level before.
    change: Option<f64>,
}

impl Level {
    /// Whether a larger one would not pay: this one is good, or no better than the one before.
    fn is_the_last(&self, change_before: Option<f64>) -> bool {
        let Some(change) = self.change else { return false };
        let stalls = change_before.is_some_and(|before| change > STALLING * before && change > GOOD_ENOUGH);
        change <= CONVERGED || stalls
    }
}

/// Searches with larger and larger dictionaries; the reason if the solution does not converge in them.
///
/// Meanwhile another thread asks the twin about the guess.
pub(super) fn solve(
    scene: &Scene<'_>,
    observer: &mut dyn Observer,
    forced: bool,
) -> Result<std::result::Result<Found, String>> {
    let Scene { problem, tables, twin, .. } = *scene;
    let inspector = Inspector::new(problem, tables, twin, None);
    std::thread::scope(|scope| {
        let guess = scope.spawn(|| inspector.visit_guess());
        let mut climb =
            Climb { scene, observer, steps: 0, work: Work::default(), start: Instant::now(), before: 0.0 };
        climb.observer.event(&Event::Begin(Phase::Train, optimum::MAX_ITERATIONS));
        let found = climb.search(forced);
        climb.observer.event(&Event::End(Phase::Train));
        let (level, refined) = match found? {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        let guess = || guess.join().expect("solving does not panic");
        climb.conclude(level, refined, &inspector, guess).map(Ok)
    })
}

/// The search over all levels.
struct Climb<'a, 'o> {
    scene: &'a Scene<'a>,
    observer: &'o mut dyn Observer,
    /// Upper iterations so far.
    steps: usize,
    work: Work,
    start: Instant,
    /// Seconds until the first solution at the guess.
    before: f64,
}

impl Climb<'_, '_> {
    /// The level where the solution has converged, and whether there was one to compare with.
    fn search(&mut self, forced: bool) -> Result<std::result::Result<(Level, bool), String>> {
        let ladder = Rung::ladder(self.scene.problem);
        let (mut last, mut reason): (Option<Level>, String) = (None, "there is none".to_owned());
        for rung in &ladder {
            match self.level(rung, last.as_ref())? {
                Err(failure) => reason = failure,
                Ok(level) => {
                    let before = last.as_ref().and_then(|before| before.change);
                    let ended = level.stop != Stop::Converged || level.is_the_last(before);
                    last = Some(level);
                    if ended {
                        break;
                    }
                }
            }
        }
        let Some(level) = last else { return Ok(Err(reason)) };
        let converged = level.change.is_some_and(|change| change <= GOOD_ENOUGH);
        if !forced && !converged && level.stop == Stop::Converged {
            let change = level.change.map_or("an unknown part".to_owned(), |change| digits(change, 2));
            let rung = level.rung.in_words(&level.operator);
            return Ok(Err(format!("with a {rung} the solution still changes by {change} of itself")));
        }
        Ok(Ok((level, ladder.len() > 1)))
    }

    /// Searches with one local operator, from where the one before ended.
    fn level(&mut self, rung: &Rung, before: Option<&Level>) -> Result<std::result::Result<Level, String>> {
        let Scene { problem, job, tables, .. } = *self.scene;
        let mut device = cpu(Precision::F64, job.threads);
        let mut operator = rung.operator(problem, job.seed)?;
        let lower = rung.lower(problem, &mut operator, device.as_mut(), job.seed)?;
        let words = rung.in_words(&operator);
        let (weights, eta) = match before {
            Some(level) => {
                (operator.prolonged(&level.operator, &level.visit.point.weights), level.visit.eta().to_vec())
            }
            None => (rung.first_weights(&operator, job.seed), guess(problem, &operator)?),
        };
        let data = DataLoss::new(problem, tables);
        let mut solver = LocalSolver::new(data, &mut operator, device.as_mut(), &lower, rung.rules(problem))?;
        let first = match solver.solve(weights, &eta) {
            Ok(first) => first,
            Err(error) => return Ok(Err(format!("with a {words}, {}", error.headline()))),
        };
        if before.is_none() {
            self.before = self.start.elapsed().as_secs_f64();
        }
        let names = [&["residual".to_owned(), "residual-gradient".to_owned()][..], &solver.names()].concat();
        let mut watch = |iterate: &Iterate<'_>| self.watch(iterate, &names);
        let found = optimum::minimise(&mut solver, first, &mut watch);
        let work = solver.corrector.work;
        self.work.add(work);
        let found = match found {
            Ok(found) => found,
            Err(error) => return Ok(Err(error.headline())),
        };
        self.steps += found.steps;
        let (states, residual) = self.check(&mut operator, device.as_mut(), &found.visit.point)?;
        let change = before.map(|before| {
            let pairs = states.iter().zip(&before.states);
            pairs.map(|(now, then)| relative_l2(then, now)).fold(0.0, f64::max)
        });
        self.note(&words, change, residual);
        let level = Level {
            rung: rung.clone(),
            operator,
            device,
            visit: found.visit,
            names,
            stop: found.stop,
            states,
            residual,
            change,
        };
        Ok(Ok(level))
    }

    fn note(&mut self, words: &str, change: Option<f64>, residual: f64) {
        let change =
            change.map_or(String::new(), |change| format!(", solution changed by {}", digits(change, 2)));
        let residual = digits(residual, 2);
        let line = format!("{words}: residual {residual}{change}");
        self.observer.event(&Event::Note(&line));
    }

    /// All states, and the residuals that hold throughout the domain, where no residual was made small.
    fn check(
        &self,
        operator: &mut LocalOperator,
        device: &mut dyn Device,
        point: &Point,
    ) -> Result<(Vec<Vec<f64>>, f64)> {
        let problem = self.scene.problem;
        let checks = Points::laid_out(Layout::Sobol(CHECKS));
        let points: PointSource =
            checks.source(problem, seed_for(self.scene.job.seed, Purpose::Checks, 0))?;
        let inside = problem.equations.iter().zip(&operator.residuals);
        let residuals =
            inside.filter(|(equation, _)| equation.points.at.is_empty()).map(|(_, &residual)| residual);
        let values: Vec<_> = operator.states.iter().copied().chain(residuals).collect();
        let origin = &problem.equations[0].of_networks().origin;
        let mut states = operator.evaluate(device, &values, points, point, origin)?;
        let residuals = states.split_off(problem.states.len()).concat();
        let square: f64 = residuals.iter().map(|r| r * r).sum();
        Ok((states, (square / residuals.len().max(1) as f64).sqrt()))
    }

    fn watch(&mut self, iterate: &Iterate<'_>, names: &[String]) -> Option<Stop> {
        let Scene { problem, began, .. } = *self.scene;
        let seconds = began.elapsed().as_secs_f64();
        let scalars = &iterate.eta[..problem.unknowns.len()];
        let control = self.observer.event(&Event::Step(Record {
            phase: Phase::Train,
            step: self.steps + iterate.step,
            steps: optimum::MAX_ITERATIONS,
            seconds,
            loss_names: names,
            losses: &[iterate.lower, iterate.terms].concat(),
            unknown_names: &problem.unknown_names(),
            unknowns: &problem.thetas(scalars),
            keep: true,
        }));
        let over = problem.training.time_limit.is_some_and(|limit| seconds > limit);
        match control {
            Control::Stop => Some(Stop::Interrupted),
            Control::Continue => over.then_some(Stop::TimeLimit),
        }
    }

    /// What the search found, audited at the guess with the last dictionary.
    fn conclude<'t>(
        self,
        level: Level,
        refined: bool,
        inspector: &Inspector<'t>,
        visit_guess: impl FnOnce() -> std::result::Result<Visit<'t>, String>,
    ) -> Result<Found> {
        let Scene { problem, job, tables, .. } = *self.scene;
        let Level { rung, mut operator, mut device, visit, names, stop, residual, change, .. } = level;
        let lower = rung.lower(problem, &mut operator, device.as_mut(), job.seed)?;
        let (weights, eta) = (rung.first_weights(&operator, job.seed), guess(problem, &operator)?);
        let data = DataLoss::new(problem, tables);
        let rules = rung.rules(problem);
        let at_guess =
            LocalSolver::new(data, &mut operator, device.as_mut(), &lower, rules)?.solve(weights, &eta);
        let at_guess = match at_guess {
            Ok(there) => inspector.audit_at(visit_guess(), &there.point, &mut operator, device.as_mut())?,
            Err(error) => Err(error.headline()),
        };
        let seconds = self.start.elapsed().as_secs_f64();
        let losses = visit.lower_losses.into_iter().chain(visit.judged().terms.iter().copied());
        let ended = |steps: usize, seconds: f64| Ended { stop: stop.clone(), steps, losses: vec![], seconds };
        Ok(Found {
            description: match &rung {
                Rung::Dictionary(size) => {
                    let change = change.filter(|_| refined);
                    OperatorOutcome::dictionary(problem, size, residual, change, self.work)
                }
                Rung::Network => OperatorOutcome::network(Some(self.work)),
            },
            losses: names.into_iter().zip(losses).collect(),
            pretrained: ended(0, self.before),
            trained: ended(self.steps, seconds - self.before),
            point: visit.point,
            upper: None,
            operator,
            device,
            at_guess,
        })
    }
}

/// The variables at the guess, with the coefficients of functions.
fn guess(problem: &Problem, operator: &LocalOperator) -> Result<Vec<f64>> {
    let mut eta = problem.eta_of_guess();
    eta.extend(operator.functions.coefficients_of_guesses(problem)?);
    Ok(eta)
}
