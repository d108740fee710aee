//! Training by a device that takes the steps itself: the same phases and reasons to stop, looked at many steps at a time.

use super::{Ended, Losses, Point, Trainer};
use crate::level::When;
use crate::observer::{Event, Phase};
use crate::operator::with_shifts;
use crate::outcome::Stop;
use crate::problem::{Levels, ThetaOptimiser, WeightOptimiser};
use crate::settle::Settling;
use bilo_jet::{Descent, Seen};
use std::time::Instant;

/// Most steps between two looks.
const STRETCH: usize = 100;

impl Trainer<'_> {
    /// A whole phase, or nothing if the device or the settings ask for steps one by one.
    pub(super) fn on_device(&mut self, phase: Phase, point: &mut Point) -> Option<Ended> {
        let settings = self.settings();
        let adam = settings.optimiser == WeightOptimiser::Adam
            && (phase == Phase::Pretrain || settings.theta_optimiser == ThetaOptimiser::Adam);
        let together = match self.losses {
            Losses::Bilevel { .. } => settings.levels == Levels::Simultaneous,
            Losses::Joint(_) => true,
            Losses::Nested(_) => false,
        };
        let upper = self.losses.upper();
        // What a device remembers of its steps cannot be taken up.
        let goes_on = self.past.from.is_some_and(|from| from.phase == phase);
        if goes_on || !adam || !(together || phase == Phase::Pretrain) || upper.follows_unknowns() {
            return None;
        }
        let descent = self.descent(phase, point);
        let unknowns = with_shifts(&point.eta, upper.unknowns);
        self.device.begin(&descent, &point.weights, &unknowns).then(|| self.stretches(phase, point))
    }

    /// What moves what in a phase.
    fn descent(&self, phase: Phase, point: &Point) -> Descent {
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
    fn stretches(&mut self, phase: Phase, point: &mut Point) -> Ended {
        let start = Instant::now();
        let steps = self.steps_of(phase);
        self.observer.event(&Event::Begin(phase, steps));
        let earlier = self.earlier_steps(phase);
        let renewal = self.losses.renewal(self.problem);
        let (mut settling, mut ended) = (self.settling(), self.not_begun());
        while ended.steps < steps && ended.stop == Stop::Steps {
            let done = ended.steps;
            self.losses.renew(self.problem, self.device, When::At(earlier + done + 1));
            // Up to the step before points are drawn anew.
            let until = renewal.map_or(STRETCH, |every| every - (earlier + done) % every);
            let last = (done + until.min(STRETCH)).min(steps);
            let factor = |step| {
                let factor = self.schedule(step, steps);
                (factor * self.rise(step), factor * self.theta_rise(step, steps))
            };
            let factors: Vec<(f64, f64)> = (done + 1..=last).map(factor).collect();
            let seen = self.device.descend(&factors);
            let arrived = self.device.arrived();
            let stop = self.look(phase, steps, &seen, &mut settling, &mut ended);
            if let Some(stop) = stop {
                ended.stop = stop;
            }
            // After a divergence the point before the stretch stays: the last that is known to be good.
            if let (Some((weights, unknowns)), false) = (arrived, matches!(ended.stop, Stop::Diverged { .. }))
            {
                point.eta = unknowns[..point.eta.len()].to_vec();
                point.weights = weights;
            }
        }
        self.observer.event(&Event::End(phase));
        ended.seconds = start.elapsed().as_secs_f64();
        ended
    }

    /// Reports the steps of a stretch; the first reason to stop.
    fn look(
        &mut self,
        phase: Phase,
        steps: usize,
        seen: &[Seen],
        settling: &mut Settling,
        ended: &mut Ended,
    ) -> Option<Stop> {
        let before_stretch = ended.steps;
        let diverged = |reason: String| Stop::Diverged { last_good_step: before_stretch, reason };
        if seen.is_empty() {
            return Some(diverged(self.device.fault().unwrap_or_default()));
        }
        let mut stop = None;
        for seen in seen {
            let losses = self.losses_of(phase, &seen.losses);
            let eta = seen.unknowns[..self.upper_rates.len() - self.shapes.function_weights()].to_vec();
            let before = Point::new(vec![], eta);
            if let Some(reason) = self.trouble(phase, &losses, &before) {
                return Some(diverged(reason));
            }
            ended.steps += 1;
            let control = self.report(phase, ended.steps, steps, &losses, &before);
            ended.losses = losses;
            // The weights of functions are not looked at between stretches, so nobody can tell whether these stand still.
            let reason = match self.shapes.function_weights() {
                0 => self.reason_to_stop(control, phase, settling, &before, ended),
                _ => self.asked_to_stop(control),
            };
            stop = stop.or(reason);
        }
        stop
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
        terms.resize(self.loss_names.len(), f64::NAN);
        terms
    }
}
