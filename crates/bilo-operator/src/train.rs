//! Training: pre-training at the guess, then the two levels, with one loop for both and one place
//! that decides when to stop.

mod hypergradient;
pub mod keeping;
mod losses;
mod on_device;

pub use keeping::Past;
pub use losses::Losses;

use crate::level::{Fit, Joint, LossSlopes, Lower, Upper, When};
use crate::operator::WeightShapes;
use crate::state::OperatorState;
use bilo_fit::convergence::Convergence;
use bilo_fit::monitor::{Answer, Monitor};
use bilo_fit::phase::Phase;
use bilo_fit::stop::{Divergence, Stop};
use bilo_jet::Device;
use bilo_optim::{Adam, GradientMethod, Lbfgs, Optimizer, Soap, Step};
use bilo_problem::diagnostic::Result;
use bilo_problem::{Levels, Problem, ThetaOptimiser, Training, WeightOptimiser};
use keeping::Course;
use std::time::Instant;

/// Steps over which the weights' rate rises to its full size, for SOAP.
const WARM_UP: usize = 100;

/// The part of training over which that of the unknowns does.
const THETA_WARM_UP: f64 = 0.1;

/// How a phase ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Why.
    pub stop: Stop,
    /// What was seen, if it diverged.
    pub diverged: Option<Divergence>,
    /// Steps taken.
    pub steps: usize,
    /// The loss terms last seen, in the order of the names.
    pub losses: Vec<f64>,
    /// Seconds it took.
    pub seconds: f64,
}

impl Ended {
    fn diverge(&mut self, last_good_step: usize, reason: String) {
        self.stop = Stop::Diverged;
        self.diverged = Some(Divergence { last_good_step, reason });
    }
}

/// Everything that a phase needs.
pub struct Trainer<'a, 'o> {
    /// The device with all programs loaded.
    pub device: &'a mut dyn Device,
    /// The problem.
    pub problem: &'a Problem,
    /// What moves what.
    pub losses: Losses<'a>,
    /// u_0 and the guesses of functions, for pre-training.
    pub fit: &'a Fit,
    /// The matrices that the weights V and W consist of.
    pub shapes: &'a WeightShapes,
    /// Learning rates of all that the upper level moves: eta, then V.
    pub upper_rates: &'a [f64],
    /// Hears of every step, and knows the names of all loss terms: residuals, data and regularisers, fit.
    pub monitor: &'a mut Monitor<'o>,
    /// What was before.
    pub past: Past<'a>,
}

struct Optimisers {
    /// Of the weights W.
    lower: Box<dyn Optimizer>,
    /// Of all that the upper level moves.
    upper: Box<dyn GradientMethod>,
}

impl Trainer<'_, '_> {
    fn settings(&self) -> &Training {
        &self.problem.training
    }

    /// Pre-training: minimise L_LO(theta_0, W) + mean |u - u_0|² over W, and mean |f - f_0|² over V.
    pub fn pretrain(&mut self, point: &mut OperatorState) -> Result<Ended> {
        let steps = self.settings().pretrain_steps;
        let shapes = [&self.shapes.functions[..], &self.shapes.states].concat();
        let lower = self.weight_optimiser(self.settings().optimiser, &shapes);
        // The unknowns stand still.
        let mut optimisers = Optimisers { lower, upper: Box::new(Adam::new(vec![])) };
        self.phase(Phase::Pretrain, point, &mut optimisers, |trainer, point, optimisers, step| {
            optimisers.lower.scale_rate(trainer.schedule(step, steps) * trainer.rise(step));
            trainer.pretrain_step(point, optimisers.lower.as_mut())
        })
    }

    /// The two levels, simultaneously or alternating, or one loss for both.
    pub fn train(&mut self, point: &mut OperatorState) -> Result<Ended> {
        let steps = self.settings().train_steps;
        let (losses, levels) = (self.losses, self.settings().levels);
        let lower = match levels {
            // L-BFGS needs an objective that stands still, and here theta moves at every step.
            Levels::Simultaneous if self.settings().optimiser == WeightOptimiser::Lbfgs => {
                self.weight_optimiser(WeightOptimiser::Adam, &self.shapes.states)
            }
            _ => self.weight_optimiser(self.settings().optimiser, &self.shapes.states),
        };
        let upper = self.upper_optimiser(point.eta.len());
        let mut optimisers = Optimisers { lower, upper };
        self.phase(Phase::Train, point, &mut optimisers, |trainer, point, optimisers, step| {
            let factor = trainer.schedule(step, steps);
            optimisers.lower.scale_rate(factor * trainer.rise(step));
            optimisers.upper.scale_rate(factor * trainer.theta_rise(step, steps));
            match losses {
                Losses::Bilevel { lower, upper } => match levels {
                    Levels::Simultaneous => trainer.simultaneous_step(point, upper, optimisers),
                    Levels::Alternating => {
                        let Training { lower_tolerance, max_lower_steps, .. } = *trainer.settings();
                        optimisers.lower.objective_changed();
                        let levels = (lower, upper);
                        trainer.alternating_step(point, levels, optimisers, lower_tolerance, max_lower_steps)
                    }
                },
                Losses::Joint(joint) => trainer.joint_step(point, joint, optimisers),
                Losses::Nested(joint) => trainer.nested_step(point, joint, optimisers),
            }
        })
    }

    /// One step of pre-training; the loss terms before it.
    fn pretrain_step(
        &mut self,
        point: &mut OperatorState,
        optimiser: &mut dyn Optimizer,
    ) -> Result<Vec<f64>> {
        let OperatorState { weights, eta, .. } = point;
        let mut seen = None;
        step_down(optimiser, weights, |weights, gradient| {
            gradient.fill(0.0);
            let (total, mut terms) = self.losses.residuals(self.device, weights, eta, gradient)?;
            terms.extend(vec![f64::NAN; self.losses.upper().names().len()]);
            let fits = self.fit.loss(self.device, weights, eta, gradient)?;
            let value = total + fits.iter().sum::<f64>();
            terms.extend(fits);
            seen.get_or_insert(terms);
            Ok(value)
        })?;
        Ok(seen.unwrap_or_else(|| vec![f64::NAN; self.monitor.loss_names().len()]))
    }

    /// Both gradients at (theta_k, W_k), then one step of each level.
    fn simultaneous_step(
        &mut self,
        point: &mut OperatorState,
        upper: &Upper,
        optimisers: &mut Optimisers,
    ) -> Result<Vec<f64>> {
        self.move_places(point)?;
        let loss = upper.loss(self.device, &point.weights, &point.eta)?;
        let mut terms = vec![];
        self.lower_step(point, optimisers.lower.as_mut(), &mut terms)?;
        self.upper_step(point, optimisers.upper.as_mut(), &loss);
        Ok(self.with_data(terms, loss.terms))
    }

    /// One step of everything down the one loss.
    fn joint_step(
        &mut self,
        point: &mut OperatorState,
        joint: &Joint,
        optimisers: &mut Optimisers,
    ) -> Result<Vec<f64>> {
        self.move_places(point)?;
        let loss = joint.loss(self.device, &point.weights, &point.eta)?;
        let functions = self.shapes.function_weights();
        optimisers.lower.step(&mut point.weights[functions..], &mut |_, gradient| {
            gradient.copy_from_slice(&loss.by_weights[functions..]);
            loss.terms.iter().sum()
        });
        self.upper_step(point, optimisers.upper.as_mut(), &loss);
        Ok(self.with_data(loss.terms, vec![]))
    }

    /// So many steps of W, then one of the unknowns along the gradient through what W would do.
    fn nested_step(
        &mut self,
        point: &mut OperatorState,
        joint: &Joint,
        optimisers: &mut Optimisers,
    ) -> Result<Vec<f64>> {
        let mut terms = vec![];
        for _ in 0..self.settings().lower_steps {
            if self.monitor.interrupt().is_due() {
                break;
            }
            self.lower_step(point, optimisers.lower.as_mut(), &mut terms)?;
        }
        self.move_places(point)?;
        let loss = self.hypergradient(joint, point)?;
        self.upper_step(point, optimisers.upper.as_mut(), &loss);
        Ok(self.with_data(terms, loss.terms))
    }

    /// Breaks integrals where the unknowns are now.
    fn move_places(&mut self, point: &OperatorState) -> Result<()> {
        self.losses.upper().move_places(self.problem, self.device, &point.eta)
    }

    /// One step of the residuals over W; the terms of its last evaluation.
    fn lower_step(
        &mut self,
        point: &mut OperatorState,
        lower: &mut dyn Optimizer,
        terms: &mut Vec<f64>,
    ) -> Result<Step> {
        let OperatorState { weights, eta, .. } = point;
        let mut all = weights.clone();
        let functions = self.shapes.function_weights();
        step_down(lower, &mut weights[functions..], |moved, gradient| {
            all[functions..].copy_from_slice(moved);
            let mut by_all = vec![0.0; all.len()];
            let (total, found) = self.losses.residuals(self.device, &all, eta, &mut by_all)?;
            gradient.copy_from_slice(&by_all[functions..]);
            *terms = found;
            Ok(total)
        })
    }

    /// Lower steps until L_LO < tolerance, then one upper step.
    fn alternating_step(
        &mut self,
        point: &mut OperatorState,
        (lower, upper): (&Lower, &Upper),
        optimisers: &mut Optimisers,
        tolerance: f64,
        max_lower: usize,
    ) -> Result<Vec<f64>> {
        for _ in 0..max_lower {
            let before = point.weights.clone();
            let step = self.lower_step(point, optimisers.lower.as_mut(), &mut vec![])?;
            if step.value < tolerance {
                point.weights.copy_from_slice(&before);
                break;
            }
            if !step.progress || !step.value.is_finite() || self.monitor.interrupt().is_due() {
                break;
            }
        }
        let (_, terms) = lower.loss(self.device, &point.weights, &point.eta, None)?;
        self.move_places(point)?;
        let loss = upper.loss(self.device, &point.weights, &point.eta)?;
        self.upper_step(point, optimisers.upper.as_mut(), &loss);
        Ok(self.with_data(terms, loss.terms))
    }

    /// One step of the upper level, over eta and V.
    fn upper_step(&self, point: &mut OperatorState, upper: &mut dyn GradientMethod, loss: &LossSlopes) {
        let functions = self.shapes.function_weights();
        let mut moved = [&point.eta[..], &point.weights[..functions]].concat();
        let by_functions = loss.by_weights.get(..functions).unwrap_or_default();
        let by_moved = [&loss.by_eta[..], by_functions].concat();
        upper.step_along(&mut moved, &by_moved);
        let (eta, by_weights) = moved.split_at(point.eta.len());
        point.eta.copy_from_slice(eta);
        for (eta, unknown) in point.eta.iter_mut().zip(&self.problem.unknowns) {
            *eta = unknown.project(*eta);
        }
        point.weights[..functions].copy_from_slice(by_weights);
    }

    fn with_data(&self, mut terms: Vec<f64>, data: Vec<f64>) -> Vec<f64> {
        terms.extend(data);
        terms.resize(self.monitor.loss_names().len(), f64::NAN);
        terms
    }

    /// Takes steps until one of the reasons to stop; keeps the last point whose losses were finite.
    fn phase<S>(
        &mut self,
        phase: Phase,
        point: &mut OperatorState,
        optimisers: &mut Optimisers,
        mut step: S,
    ) -> Result<Ended>
    where
        S: FnMut(&mut Self, &mut OperatorState, &mut Optimisers, usize) -> Result<Vec<f64>>,
    {
        let (start, steps) = (Instant::now(), self.steps_of(phase));
        let mut course = self.course(phase, point, optimisers)?;
        if let Some(mut resident) = self.begun_on_device(phase, point, optimisers)? {
            return self.stretches(phase, point, optimisers, course, resident.as_mut());
        }
        let seconds_before = course.ended.seconds;
        let seconds = || seconds_before + start.elapsed().as_secs_f64();
        self.monitor.enter(phase, steps);
        for number in course.ended.steps + 1..=steps {
            let before = point.clone();
            let step_of_run = self.earlier_steps(phase) + number;
            self.losses.renew(self.problem, self.device, When::At(step_of_run))?;
            let losses = step(self, point, optimisers, number)?;
            if let Some(reason) = self.trouble(phase, &losses, &before) {
                *point = course.good;
                course.ended.diverge(course.ended.steps, reason);
                break;
            }
            let answer = self.report(number, &losses, &before);
            course.good = before;
            (course.ended.steps, course.ended.losses) = (number, losses);
            let Course { good, settling, ended } = &mut course;
            let stop = self.reason_to_stop(&answer, phase, settling, good, ended);
            if answer.keep || matches!(stop, Some(Stop::Interrupted | Stop::TimeLimit)) {
                let kept = self.checkpoint(phase, point, optimisers, &course, seconds());
                self.monitor.keep(&kept);
            }
            if let Some(stop) = stop {
                course.ended.stop = stop;
                break;
            }
        }
        self.monitor.leave();
        course.ended.seconds = seconds();
        Ok(course.ended)
    }

    /// Steps planned for a phase.
    fn steps_of(&self, phase: Phase) -> usize {
        match phase {
            Phase::Examples | Phase::Pretrain => self.settings().pretrain_steps,
            Phase::Train => self.settings().train_steps,
        }
    }

    /// Steps planned for the phases before it.
    fn earlier_steps(&self, phase: Phase) -> usize {
        if phase == Phase::Train { self.settings().pretrain_steps } else { 0 }
    }

    fn settling(&self) -> Convergence {
        let mut scales: Vec<f64> = self.problem.unknowns.iter().map(|unknown| unknown.scale).collect();
        scales.resize(self.upper_rates.len(), 1.0);
        Convergence::new(self.settings(), scales)
    }

    fn not_begun(&self) -> Ended {
        let losses = vec![f64::NAN; self.monitor.loss_names().len()];
        Ended { stop: Stop::Steps, diverged: None, steps: 0, losses, seconds: 0.0 }
    }

    fn reason_to_stop(
        &self,
        answer: &Answer,
        phase: Phase,
        settling: &mut Convergence,
        point: &OperatorState,
        ended: &Ended,
    ) -> Option<Stop> {
        let rate = self.schedule(ended.steps, self.settings().train_steps);
        let settled =
            phase == Phase::Train && settling.settled(&self.moved_by_upper(point), &ended.losses, rate);
        // A run that has come to its end needs not be stopped.
        if settled { Some(Stop::Converged) } else { answer.stop }
    }

    /// What is wrong with the losses at a point, if anything is.
    fn trouble(&self, phase: Phase, losses: &[f64], point: &OperatorState) -> Option<String> {
        if let Some(j) = self.thetas(&point.eta).iter().position(|theta| !theta.is_finite()) {
            return Some(format!("the unknown `{}` is no longer finite", self.problem.unknowns[j].name));
        }
        let lower = self.losses.residual_names().len();
        let upper = lower + self.losses.upper().names().len();
        let belongs = |i: usize| match phase {
            Phase::Examples | Phase::Pretrain => i < lower || i >= upper,
            Phase::Train => i < upper,
        };
        let bad = (0..losses.len()).find(|&i| belongs(i) && !losses[i].is_finite());
        bad.map(|i| format!("the loss `{}` is no longer finite", self.monitor.loss_names()[i]))
    }

    fn report(&mut self, step: usize, losses: &[f64], before: &OperatorState) -> Answer {
        let unknowns = self.thetas(&before.eta);
        self.monitor.step(step, losses, &unknowns)
    }

    /// What the upper level moves: scalars as themselves, functions as coefficients or weights.
    fn moved_by_upper(&self, point: &OperatorState) -> Vec<f64> {
        let coefficients = &point.eta[self.problem.unknowns.len()..];
        [&self.thetas(&point.eta), coefficients, &point.weights[..self.shapes.function_weights()]].concat()
    }

    fn thetas(&self, eta: &[f64]) -> Vec<f64> {
        self.problem.thetas(eta)
    }

    fn weight_optimiser(&self, kind: WeightOptimiser, shapes: &[(usize, usize)]) -> Box<dyn Optimizer> {
        let rate = self.settings().rate;
        let weights = shapes.iter().map(|(columns, rows)| columns * rows).sum();
        match kind {
            WeightOptimiser::Adam => Box::new(Adam::new(vec![rate; weights])),
            WeightOptimiser::Soap => Box::new(Soap::new(vec![rate; weights], shapes)),
            WeightOptimiser::Lbfgs => Box::new(Lbfgs::new(20)),
            WeightOptimiser::Lm => unreachable!("such weights are solved for, not trained"),
        }
    }

    /// The optimiser of eta and V.
    fn upper_optimiser(&self, variables: usize) -> Box<dyn GradientMethod> {
        let rates = self.upper_rates.to_vec();
        match self.settings().theta_optimiser {
            ThetaOptimiser::Adam => Box::new(Adam::new(rates)),
            ThetaOptimiser::Soap => {
                Box::new(Soap::new(rates, &[&[(variables, 1)], &self.shapes.functions[..]].concat()))
            }
        }
    }

    /// Factor of the learning rates at a step.
    fn schedule(&self, step: usize, steps: usize) -> f64 {
        self.settings().schedule.factor((step - 1) as f64 / steps as f64)
    }

    /// How far the rate of the weights has risen. The first gradients say little of the covariances that SOAP
    /// goes by, and would move a trained network far.
    fn rise(&self, step: usize) -> f64 {
        match self.settings().optimiser {
            WeightOptimiser::Soap => (step as f64 / WARM_UP as f64).min(1.0),
            WeightOptimiser::Adam | WeightOptimiser::Lbfgs | WeightOptimiser::Lm => 1.0,
        }
    }

    /// How far the rate of the unknowns has risen, which wait longer: their gradient is as good as the network, and the first
    /// steps go far along every direction, those too that the data will hardly lead back from.
    fn theta_rise(&self, step: usize, steps: usize) -> f64 {
        let Training { optimiser, theta_optimiser, .. } = self.settings();
        if *optimiser == WeightOptimiser::Soap || *theta_optimiser == ThetaOptimiser::Soap {
            (step as f64 / (THETA_WARM_UP * steps as f64)).min(1.0)
        } else {
            1.0
        }
    }
}

/// A step of an optimiser down an objective that may fail. After a failure the objective is no number, which ends the
/// step.
fn step_down(
    optimiser: &mut dyn Optimizer,
    variables: &mut [f64],
    mut objective: impl FnMut(&[f64], &mut [f64]) -> Result<f64>,
) -> Result<Step> {
    let mut failed = None;
    let step = optimiser.step(variables, &mut |variables, gradient| {
        let value = match failed {
            None => objective(variables, gradient),
            Some(_) => return f64::NAN,
        };
        value.unwrap_or_else(|error| {
            failed = Some(error);
            f64::NAN
        })
    });
    failed.map_or(Ok(step), Err)
}
