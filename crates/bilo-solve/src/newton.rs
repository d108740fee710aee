//! Newton's iteration with a kept factorisation and backtracking.

use crate::error::SolveError;
use crate::linear::{Factorisation, Pattern, norm};
use crate::solution::Work;
use crate::system::{Stage, System};

/// A residual this small relative to its terms is rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Relative error of the solution at which the iteration stops.
const TOLERANCE: f64 = 1e-12;
/// An update that shrinks less than this calls for a new factorisation.
const SLOW: f64 = 0.1;
/// No decrease of the residual is left to find when the update is this small.
const STALLED: f64 = 1e-8;
/// Share of the decrease promised by the linear model that a step must reach.
const DECREASE: f64 = 1e-4;
/// How much shorter than the first step to a residual of this size a step may get. A step before that went to where equations explode,
/// as exponentials do, and says nothing of how long a good one is.
const SMALLEST_DAMPING: f64 = 1.0 / 1024.0;
const EXPLODED: f64 = 1e3;
/// However far it went.
const FARTHEST: f64 = 1e-12;
const MOST_ITERATIONS: usize = 60;

/// What became of a step.
enum Step {
    Taken { damping: f64 },
    Refused,
}

/// The iteration and its factorised Jacobian, which is kept from one stage to
/// the next as long as the updates shrink fast. For a linear problem with
/// constant coefficients that is for ever.
pub(crate) struct Newton<'a> {
    factorisation: Factorisation<'a>,
    /// There is a factorisation worth using.
    ready: bool,
    /// It is that of the Jacobian at the present point.
    fresh: bool,
}

impl<'a> Newton<'a> {
    pub(crate) fn new(pattern: &'a Pattern) -> Newton<'a> {
        Newton { factorisation: Factorisation::new(pattern), ready: false, fresh: false }
    }

    /// Solves the equations of the stage, starting at `u`.
    pub(crate) fn solve(
        &mut self,
        system: &mut System<'_>,
        stage: &Stage,
        u: &mut Vec<f64>,
        work: &mut Work,
    ) -> Result<(), SolveError> {
        system.evaluate(u, stage);
        system.check_finite(stage.t)?;
        self.fresh = false;
        let mut last = None;
        for _ in 0..MOST_ITERATIONS {
            system.require_time()?;
            // Before the test, so that equations that do not fix the solution
            // are refused even where the guess happens to satisfy them.
            if !self.ready {
                self.factorise(system, stage, work)?;
            }
            if system.relative_residual(u) <= ROUNDING {
                return Ok(());
            }
            let update = self.update(system);
            let size = system.relative_update(&update, u);
            if !self.fresh && last.is_some_and(|last| size > SLOW * last) {
                self.ready = false;
                continue;
            }
            work.newton_iterations += 1;
            // Updates that shrink by `ratio` sum to `left` after this one.
            let ratio = last.map_or(1.0, |last| size / last);
            let left = if ratio < 1.0 { size * ratio / (1.0 - ratio) } else { f64::INFINITY };
            if size <= TOLERANCE || left <= TOLERANCE {
                *u = moved(u, &update, 1.0);
                return Ok(());
            }
            match self.step(system, stage, u, &update) {
                Step::Taken { damping: 1.0 } => last = Some(size),
                Step::Taken { .. } => last = None,
                Step::Refused if !self.fresh => self.ready = false,
                Step::Refused if size <= STALLED => return Ok(()),
                Step::Refused => break,
            }
        }
        Err(SolveError::NoConvergence { t: stage.t, residual: system.relative_residual(u) })
    }

    fn factorise(
        &mut self,
        system: &mut System<'_>,
        stage: &Stage,
        work: &mut Work,
    ) -> Result<(), SolveError> {
        system.linearise(stage)?;
        system.measure_rows();
        work.factorisations += 1;
        self.factorisation
            .factorise(system.jacobian())
            .map_err(|degenerate| SolveError::Singular { t: stage.t, condition: degenerate.0 })?;
        self.ready = true;
        self.fresh = true;
        Ok(())
    }

    fn update(&mut self, system: &System<'_>) -> Vec<f64> {
        let mut update: Vec<f64> = system.residual().iter().map(|r| -r).collect();
        self.factorisation.solve(&mut update);
        update
    }

    /// Moves `u` along the update as far as the residual decreases. A kept
    /// factorisation gets one attempt: a new one is worth more than damping.
    /// The system is left evaluated at `u`.
    fn step(&mut self, system: &mut System<'_>, stage: &Stage, u: &mut Vec<f64>, update: &[f64]) -> Step {
        let before = self.scaled_norm(system);
        let mut smallest = if self.fresh { FARTHEST } else { 1.0 };
        let mut damping = 1.0;
        while damping >= smallest {
            let trial = moved(u, update, damping);
            system.evaluate(&trial, stage);
            let norm = self.scaled_norm(system);
            // False too when the residual is not finite.
            if norm <= (1.0 - DECREASE * damping) * before {
                *u = trial;
                self.fresh = false;
                return Step::Taken { damping };
            }
            if norm <= EXPLODED * before {
                smallest = smallest.max(SMALLEST_DAMPING * damping);
            }
            damping *= 0.5;
        }
        system.evaluate(u, stage);
        Step::Refused
    }

    fn scaled_norm(&self, system: &System<'_>) -> f64 {
        let mut residual = system.residual().to_vec();
        self.factorisation.scale(&mut residual);
        norm(&residual)
    }
}

fn moved(u: &[f64], update: &[f64], damping: f64) -> Vec<f64> {
    u.iter().zip(update).map(|(u, d)| u + damping * d).collect()
}
