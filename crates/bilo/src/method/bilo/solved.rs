//! The local operator solved for at every step of the upper level.
//!
//! The search begins with few features. Where it ends, a dictionary with more features goes on, until the
//! solution no longer changes from one to the next: what changes is the error of the smaller one.

use super::rung::Rung;
use crate::closing::{Inspector, Mover};
use crate::diagnostic::{Diagnostic, Error, Result};
use crate::examine::text::digits;
use crate::implicit::{LocalSolver, LocalVisit, LowerStep, Untouched, Work};
use crate::method::networks::{Found, Scene};
use crate::misfit::{DataLoss, Visit};
use crate::observer::{Control, Event, Observer, Phase, Record};
use crate::operator::LocalOperator;
use crate::optimum::{self, Iterate, Judgeable};
use crate::outcome::{OperatorOutcome, Stop};
use crate::problem::{GradientMode, Layout, Points, Problem};
use crate::seeds::{Purpose, seed_for};
use crate::train::{Ended, Point};
use crate::verify::relative_l2;
use bilo_jet::{Device, PointSource, Precision};
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
    /// The same at the guess, if it was there.
    at_guess: Option<LocalVisit>,
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
}

impl Level {
    /// Whether a larger one would not pay: this one is good where the search before ended, or no better than the
    /// one before, or the search was ended.
    fn is_the_last(&self, before: Option<&Level>, forced: bool) -> bool {
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
/// Meanwhile another thread asks the twin about the guess.
pub(super) fn solve(
    scene: &Scene<'_>,
    observer: &mut dyn Observer,
    forced: bool,
) -> Result<std::result::Result<Found, String>> {
    let Scene { problem, tables, twin, .. } = *scene;
    let inspector = Inspector::new(problem, tables, twin, Mover::Slopes);
    std::thread::scope(|scope| {
        let guess = scope.spawn(|| inspector.visit_guess());
        let mut climb = Climb::new(scene, observer);
        let found = climb.search(forced);
        climb.enter(None, 0);
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
    /// What it is at.
    phase: Option<Phase>,
    /// Steps of the lower level at the guess, and iterations of the upper one.
    lower_steps: usize,
    steps: usize,
    work: Work,
    start: Instant,
    /// Seconds until the upper level began.
    pretrained: f64,
}

impl<'a, 'o> Climb<'a, 'o> {
    fn new(scene: &'a Scene<'a>, observer: &'o mut dyn Observer) -> Self {
        Self {
            scene,
            observer,
            phase: None,
            lower_steps: 0,
            steps: 0,
            work: Work::default(),
            start: Instant::now(),
            pretrained: 0.0,
        }
    }

    /// Ends a phase and begins another one.
    fn enter(&mut self, phase: Option<Phase>, steps: usize) {
        if self.phase == phase {
            return;
        }
        if let Some(phase) = self.phase {
            self.observer.event(&Event::End(phase));
        }
        if let Some(phase) = phase {
            self.observer.event(&Event::Begin(phase, steps));
        }
        if phase == Some(Phase::Train) {
            self.pretrained = self.start.elapsed().as_secs_f64();
        }
        self.phase = phase;
    }

    /// The level where the solution has converged, and whether there was one to compare with.
    fn search(&mut self, forced: bool) -> Result<std::result::Result<(Level, bool), String>> {
        let ladder = Rung::ladder(self.scene.problem, self.scene.job.seed)?;
        let (mut last, mut reason): (Option<Level>, String) = (None, "there is none".to_owned());
        for (number, rung) in ladder.iter().enumerate() {
            let must = forced && number + 1 == ladder.len();
            match self.level(rung, last.as_ref(), must)? {
                Err(failure) => reason = failure,
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
            let Some(change) = level.change else { return Ok(Err(reason)) };
            let (rung, change) = (level.rung.in_words(&level.operator), digits(change, 2));
            return Ok(Err(format!("with a {rung} the solution still changes by {change} of itself")));
        }
        Ok(Ok((level, ladder.len() > 1)))
    }

    /// Solves where the one before ended, and searches from there if the two do not differ by much, or if it
    /// `must`.
    fn level(
        &mut self,
        rung: &Rung,
        before: Option<&Level>,
        must: bool,
    ) -> Result<std::result::Result<Level, String>> {
        let Scene { problem, job, tables, .. } = *self.scene;
        let mut device = rung.device(job)?;
        let mut operator = rung.operator(problem, job.seed)?;
        let lower = rung.lower(problem, &mut operator, device.as_mut(), job.seed)?;
        let words = rung.in_words(&operator);
        let (first_weights, eta_of_guess) =
            (rung.first_weights(&operator, job.seed), guess(problem, &operator)?);
        let (weights, eta) = match before {
            Some(Level { operator: smaller, visit, .. }) => {
                (rung.prolonged(&operator, smaller, &visit.point.weights), visit.eta().to_vec())
            }
            None => (first_weights.clone(), eta_of_guess.clone()),
        };
        let data = DataLoss::new(problem, tables);
        let untouched = Untouched { weights: &first_weights, eta: &eta_of_guess };
        let rules = rung.rules(problem);
        let mut solver = LocalSolver::new(data, &mut operator, device.as_mut(), &lower, rules, untouched)?;
        let names = [&["residual".to_owned(), "residual-gradient".to_owned()][..], &solver.names()].concat();
        let pretraining = rung.is_network() && before.is_none();
        let mut interrupted = None;
        let mut watch = |lower: LowerStep| {
            interrupted = if pretraining { self.watch_lower(&lower, &eta, &names) } else { None };
            interrupted.is_none()
        };
        let first = match solver.solve(weights, &eta, &mut watch) {
            Ok(first) => first,
            Err(error) => return Ok(Err(format!("with a {words}, {}", error.unless_device()?))),
        };
        let checks = Checks::new(self.scene)?;
        let (mut states, mut residual) = checks.at(&mut solver, &first.point)?;
        let change = before.map(|before| {
            let pairs = states.iter().zip(&before.states);
            pairs.map(|(now, then)| relative_l2(then, now)).fold(0.0, f64::max)
        });
        self.note(&words, change, residual);
        let at_guess = match before {
            Some(before) if rung.is_network() => before.at_guess.clone(),
            // At the guess as long as nothing was searched for.
            _ => before.is_none_or(|before| before.stop.is_none()).then(|| first.clone()),
        };
        let (mut visit, mut stop) = (first, interrupted);
        let searches = must || rung.is_network() || change.is_some_and(|change| change <= SKETCHY);
        if searches && stop.is_none() {
            self.enter(Some(Phase::Train), optimum::MAX_ITERATIONS);
            let mut watch = |iterate: &Iterate<'_>| self.watch(iterate, &names);
            let found = match optimum::minimise(&mut solver, visit, &mut watch) {
                Ok(found) => found,
                Err(error) => return Ok(Err(error.unless_device()?)),
            };
            self.steps += found.steps;
            (visit, stop) = (found.visit, Some(found.stop));
            (states, residual) = checks.at(&mut solver, &visit.point)?;
        }
        self.work.add(solver.corrector.work);
        let rung = rung.clone();
        Ok(Ok(Level { rung, operator, device, visit, at_guess, names, stop, states, residual, change }))
    }

    fn note(&mut self, words: &str, change: Option<f64>, residual: f64) {
        let change =
            change.map_or(String::new(), |change| format!(", solution changed by {}", digits(change, 2)));
        let residual = digits(residual, 2);
        let line = format!("{words}: residual {residual}{change}");
        self.observer.event(&Event::Note(&line));
    }

    fn watch(&mut self, iterate: &Iterate<'_>, names: &[String]) -> Option<Stop> {
        let losses = [iterate.lower, iterate.terms].concat();
        self.tell(
            Phase::Train,
            [self.steps + iterate.step, optimum::MAX_ITERATIONS],
            iterate.eta,
            names,
            &losses,
        )
    }

    /// A step of the lower level at the guess.
    fn watch_lower(&mut self, lower: &LowerStep, eta: &[f64], names: &[String]) -> Option<Stop> {
        self.enter(Some(Phase::Pretrain), lower.most);
        self.lower_steps = lower.step;
        let mut losses = vec![f64::NAN; names.len()];
        losses[0] = lower.loss;
        self.tell(Phase::Pretrain, [lower.step, lower.most], eta, names, &losses)
    }

    /// Tells of a step; why to end after it, if so.
    fn tell(
        &mut self,
        phase: Phase,
        [step, steps]: [usize; 2],
        eta: &[f64],
        loss_names: &[String],
        losses: &[f64],
    ) -> Option<Stop> {
        let Scene { problem, began, .. } = *self.scene;
        let seconds = began.elapsed().as_secs_f64();
        let control = self.observer.event(&Event::Step(Record {
            phase,
            step,
            steps,
            seconds,
            loss_names,
            losses,
            unknown_names: &problem.unknown_names(),
            unknowns: &problem.thetas(&eta[..problem.unknowns.len()]),
            keep: true,
        }));
        let over = problem.training.time_limit.is_some_and(|limit| seconds > limit);
        match control {
            Control::Stop => Some(Stop::Interrupted),
            Control::Continue | Control::Keep => over.then_some(Stop::TimeLimit),
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
        let Level { rung, mut operator, mut device, visit, at_guess, names, stop, residual, change, .. } =
            level;
        let there = match at_guess {
            Some(there) => Ok(there),
            None => {
                let lower = rung.lower(problem, &mut operator, device.as_mut(), job.seed)?;
                let (weights, eta) = (rung.first_weights(&operator, job.seed), guess(problem, &operator)?);
                let (data, rules) = (DataLoss::new(problem, tables), rung.rules(problem));
                let untouched = Untouched { weights: &weights, eta: &eta };
                let mut solver =
                    LocalSolver::new(data, &mut operator, device.as_mut(), &lower, rules, untouched)?;
                solver.solve(weights.clone(), &eta, &mut |_| true)
            }
        };
        let mut near = vec![];
        let at_guess = match there {
            Ok(there) => {
                near = inspector.near(&there.point, job.seed, &mut operator, device.as_mut())?;
                inspector.audit_at(visit_guess(), &there.point, &mut operator, device.as_mut())?
            }
            Err(error) => Err(error.unless_device()?),
        };
        let seconds = self.start.elapsed().as_secs_f64();
        let losses = visit.lower_losses.into_iter().chain(visit.judged().terms.iter().copied());
        let stop = stop.unwrap_or(Stop::Converged);
        let ended = |steps: usize, seconds: f64| Ended { stop: stop.clone(), steps, losses: vec![], seconds };
        Ok(Found {
            description: Some(match &rung {
                Rung::Dictionary(size) => {
                    let change = change.filter(|_| refined);
                    OperatorOutcome::dictionary(problem, size, residual, change, self.work)
                }
                Rung::Network(_) => OperatorOutcome::network(Some(self.work)),
            }),
            losses: names.into_iter().zip(losses).collect(),
            pretrained: ended(self.lower_steps, self.pretrained),
            trained: ended(self.steps, seconds - self.pretrained),
            point: visit.point,
            upper: None,
            operator,
            device,
            near,
            at_guess: Some(at_guess),
        })
    }
}

/// Points where no residual was made small.
struct Checks<'a> {
    problem: &'a Problem,
    points: PointSource,
}

impl<'a> Checks<'a> {
    fn new(scene: &Scene<'a>) -> Result<Self> {
        let points = Points::laid_out(Layout::Sobol(CHECKS));
        let seed = seed_for(scene.job.seed, Purpose::Checks, 0);
        Ok(Self { problem: scene.problem, points: points.source(scene.problem, seed)? })
    }

    /// All states, and the root mean square of the residuals that hold throughout the domain.
    fn at(&self, solver: &mut LocalSolver<'_>, point: &Point) -> Result<(Vec<Vec<f64>>, f64)> {
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

/// The variables at the guess, with the coefficients of functions.
fn guess(problem: &Problem, operator: &LocalOperator) -> Result<Vec<f64>> {
    let mut eta = problem.eta_of_guess();
    eta.extend(operator.functions.coefficients_of_guesses(problem)?);
    Ok(eta)
}

#[cfg(test)]
mod tests;
