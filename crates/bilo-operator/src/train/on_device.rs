//! Training by a device that takes the steps itself: the same phases and reasons to stop, looked at many steps at a time.

use super::keeping::Course;
use super::{Ended, Losses, Optimisers, Trainer};
use crate::level::When;
use crate::operator::with_shifts;
use crate::state::OperatorState;
use bilo_fit::phase::Phase;
use bilo_fit::stop::Stop;
use bilo_jet::{Descent, Moments, ResidentSteps, Seen};
use bilo_problem::diagnostic::Result;
use bilo_problem::{Levels, ThetaOptimiser, WeightOptimiser};
use std::time::Instant;

/// Most steps between two looks.
const STRETCH: usize = 100;

impl Trainer<'_, '_> {
    /// The steps of a phase, if the device takes them by itself; otherwise it or the settings ask for steps one by one.
    pub(super) fn begun_on_device(
        &mut self,
        phase: Phase,
        point: &OperatorState,
        optimisers: &Optimisers,
    ) -> Result<Option<Box<dyn ResidentSteps>>> {
        let settings = self.settings();
        let adam = settings.optimiser == WeightOptimiser::Adam
            && (phase == Phase::Pretrain || settings.theta_optimiser == ThetaOptimiser::Adam);
        let together = match self.losses {
            Losses::Bilevel { .. } => settings.levels == Levels::Simultaneous,
            Losses::Joint(_) => true,
            Losses::Nested(_) => false,
        };
        let upper = self.losses.upper();
        if !adam || !(together || phase == Phase::Pretrain) || upper.follows_unknowns() {
            return Ok(None);
        }
        let descent = self.descent(phase, point);
        let unknowns = with_shifts(&point.eta, upper.unknowns);
        let moments = [optimisers.lower.state(), optimisers.upper.state()];
        Ok(self.device.steps(&descent, &point.weights, &unknowns, &moments)?)
    }

    /// What moves what in a phase.
    fn descent(&self, phase: Phase, point: &OperatorState) -> Descent {
        let lower = Descent {
            residuals: self.losses.programs(),
            densities: self.losses.densities(phase, self.fit),
            rate: self.settings().rate,
            ..Descent::default()
        };
        if phase == Phase::Pretrain {
            return lower;
        }
        let bound = |j: usize| match self.problem.unknowns.get(j) {
            Some(unknown) => (unknown.project(f64::NEG_INFINITY), unknown.project(f64::INFINITY)),
            None => (f64::NEG_INFINITY, f64::INFINITY),
        };
        Descent {
            first: self.shapes.function_weights(),
            upper_rates: self.upper_rates.to_vec(),
            bounds: (0..point.eta.len()).map(bound).collect(),
            ..lower
        }
    }

    /// Stretches of steps, each with a look at what its steps saw.
    pub(super) fn stretches(
        &mut self,
        phase: Phase,
        point: &mut OperatorState,
        optimisers: &mut Optimisers,
        mut course: Course,
        resident: &mut dyn ResidentSteps,
    ) -> Result<Ended> {
        let (start, seconds_before) = (Instant::now(), course.ended.seconds);
        let seconds = || seconds_before + start.elapsed().as_secs_f64();
        let steps = self.steps_of(phase);
        self.monitor.enter(phase, steps);
        while course.ended.steps < steps && course.ended.stop == Stop::Steps {
            let factors = self.next_stretch(phase, course.ended.steps)?;
            let seen = resident.descend(&factors)?;
            let keep = self.look(phase, &seen, &mut course);
            // After a divergence the point before the stretch stays: the last that is known to be good.
            if course.ended.stop != Stop::Diverged {
                let (weights, unknowns) = resident.arrived()?;
                let eta = unknowns[..point.eta.len()].to_vec();
                course.good = std::mem::replace(point, OperatorState::new(weights, eta));
                if keep || matches!(course.ended.stop, Stop::Interrupted | Stop::TimeLimit) {
                    optimisers.remember(&resident.moments()?);
                    let kept = self.checkpoint(phase, point, optimisers, &course, seconds());
                    self.monitor.keep(&kept);
                }
            }
        }
        self.monitor.leave();
        course.ended.seconds = seconds();
        Ok(course.ended)
    }

    /// Factors of the learning rates at the next steps, up to the one before points are drawn anew, with points drawn for
    /// these.
    fn next_stretch(&mut self, phase: Phase, done: usize) -> Result<Vec<(f64, f64)>> {
        let (steps, done_before) = (self.steps_of(phase), self.earlier_steps(phase) + done);
        self.losses.renew(self.problem, self.device, When::At(done_before + 1))?;
        let renewal = self.losses.renewal(self.problem);
        let until = renewal.map_or(STRETCH, |every| every - done_before % every);
        let last = (done + until.min(STRETCH)).min(steps);
        let factor = |step| {
            let factor = self.schedule(step, steps);
            (factor * self.rise(step), factor * self.theta_rise(step, steps))
        };
        Ok((done + 1..=last).map(factor).collect())
    }

    /// Reports the steps of a stretch and notes the first reason to stop; whether a checkpoint was asked for.
    fn look(&mut self, phase: Phase, seen: &[Seen], course: &mut Course) -> bool {
        let Course { settling, ended, .. } = course;
        let before_stretch = ended.steps;
        let mut keep = false;
        for seen in seen {
            let losses = self.losses_of(phase, &seen.losses);
            let eta = seen.unknowns[..self.upper_rates.len() - self.shapes.function_weights()].to_vec();
            let before = OperatorState::new(vec![], eta);
            if let Some(reason) = self.trouble(phase, &losses, &before) {
                ended.diverge(before_stretch, reason);
                break;
            }
            ended.steps += 1;
            let answer = self.report(ended.steps, &losses, &before);
            keep |= answer.keep;
            ended.losses = losses;
            // The weights of functions are not looked at between stretches, so nobody can tell whether these stand still.
            let reason = match self.shapes.function_weights() {
                0 => self.reason_to_stop(&answer, phase, settling, &before, ended),
                _ => answer.stop,
            };
            if let (Stop::Steps, Some(reason)) = (&ended.stop, reason) {
                ended.stop = reason;
            }
        }
        keep
    }

    /// The terms of all losses, in the order of their names; those of the other phase are missing.
    fn losses_of(&self, phase: Phase, seen: &[f64]) -> Vec<f64> {
        let (lower, upper) = (self.losses.residual_names().len(), self.losses.upper());
        let mut terms = seen[..lower].to_vec();
        match phase {
            Phase::Examples | Phase::Pretrain => {
                terms.extend(vec![f64::NAN; upper.names().len()]);
                terms.extend(&seen[lower..]);
            }
            Phase::Train => {
                let mut sums = vec![0.0; upper.names().len()];
                for ((_, _, term), value) in upper.parts().into_iter().zip(&seen[lower..]) {
                    sums[term] += value;
                }
                terms.extend(sums);
            }
        }
        terms.resize(self.monitor.loss_names().len(), f64::NAN);
        terms
    }
}

impl Optimisers {
    /// Takes over what a device remembers, so that a checkpoint is like that of steps taken one by one, and either can
    /// go on from it.
    fn remember(&mut self, [lower, upper]: &[Moments; 2]) {
        let fits = self.lower.restore(lower) && self.upper.restore(upper);
        assert!(fits, "the device moves what these do");
    }
}
