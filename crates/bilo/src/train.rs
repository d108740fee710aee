//! Training: pre-training at the guess, then the two levels, with one loop for both and one place
//! that decides when to stop.

use crate::level::{Fit, Lower, Upper};
use crate::observer::{Control, Event, Observer, Phase, Record};
use crate::outcome::Stop;
use crate::problem::{Levels, Problem, Schedule, Training, WeightOptimiser};
use crate::settle::Settling;
use bilo_jet::Device;
use bilo_optim::{Adam, Lbfgs, Optimizer};
use std::time::Instant;

/// What training moves: the weights W and the variables eta of the unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The network's weights.
    pub weights: Vec<f64>,
    /// The unknowns' variables.
    pub eta: Vec<f64>,
}

/// How a phase ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Why.
    pub stop: Stop,
    /// Steps taken.
    pub steps: usize,
    /// The loss terms last seen, in the order of the names.
    pub losses: Vec<f64>,
    /// Seconds it took.
    pub seconds: f64,
}

/// Everything that a phase needs.
pub struct Trainer<'a> {
    /// The device with all programs loaded.
    pub device: &'a mut dyn Device,
    /// The problem.
    pub problem: &'a Problem,
    /// Residual and residual gradient over W.
    pub lower: &'a Lower,
    /// Data over the unknowns.
    pub upper: &'a Upper,
    /// u_0, for pre-training.
    pub fit: Option<&'a Fit>,
    /// Names of all loss terms: lower, upper, fit.
    pub loss_names: &'a [String],
    /// Names of the unknowns.
    pub unknown_names: &'a [String],
    /// Who watches.
    pub observer: &'a mut dyn Observer,
    /// When the run began.
    pub began: Instant,
}

impl Trainer<'_> {
    fn settings(&self) -> &Training {
        &self.problem.training
    }

    /// Pre-training: minimise L_LO(theta_0, W) + mean |u - u_0|² over W.
    pub fn pretrain(&mut self, point: &mut Point) -> Ended {
        let steps = self.settings().pretrain_steps;
        let mut optimiser = self.weight_optimiser(point.weights.len());
        self.phase(Phase::Pretrain, steps, point, &mut |trainer, point, step| {
            optimiser.scale_rate(trainer.schedule(step, steps));
            trainer.pretrain_step(point, optimiser.as_mut())
        })
    }

    /// The two levels, simultaneously or alternating.
    pub fn train(&mut self, point: &mut Point) -> Ended {
        let steps = self.settings().train_steps;
        let levels = self.settings().levels;
        let mut lower = match levels {
            // L-BFGS needs an objective that stands still, and here theta moves at every step.
            Levels::Simultaneous => Box::new(self.weight_adam(point.weights.len())),
            Levels::Alternating { .. } => self.weight_optimiser(point.weights.len()),
        };
        let mut upper = Adam::new(self.theta_rates());
        self.phase(Phase::Train, steps, point, &mut |trainer, point, step| {
            let factor = trainer.schedule(step, steps);
            lower.scale_rate(factor);
            upper.scale_rate(factor);
            match levels {
                Levels::Simultaneous => trainer.simultaneous_step(point, lower.as_mut(), &mut upper),
                Levels::Alternating { tolerance, max_lower } => {
                    lower.objective_changed();
                    trainer.alternating_step(point, lower.as_mut(), &mut upper, tolerance, max_lower)
                }
            }
        })
    }

    /// One step of pre-training; the loss terms before it.
    fn pretrain_step(&mut self, point: &mut Point, optimiser: &mut dyn Optimizer) -> Vec<f64> {
        let Point { weights, eta } = point;
        let mut seen = None;
        optimiser.step(weights, &mut |weights, gradient| {
            gradient.fill(0.0);
            let (total, mut terms) = self.lower.loss(self.device, weights, eta, Some(gradient));
            terms.extend(vec![f64::NAN; self.upper.names().len()]);
            let fits = self.fit.map_or(vec![], |fit| fit.loss(self.device, weights, eta, gradient));
            let value = total + fits.iter().sum::<f64>();
            terms.extend(fits);
            seen.get_or_insert(terms);
            value
        });
        seen.unwrap_or_else(|| vec![f64::NAN; self.loss_names.len()])
    }

    /// Both gradients at (theta_k, W_k), then one step of each level.
    fn simultaneous_step(
        &mut self,
        point: &mut Point,
        lower: &mut dyn Optimizer,
        upper: &mut Adam,
    ) -> Vec<f64> {
        let Point { weights, eta } = point;
        let (data, theta_gradient) = self.upper.loss(self.device, weights, eta);
        let mut terms = vec![];
        lower.step(weights, &mut |weights, gradient| {
            gradient.fill(0.0);
            let (total, found) = self.lower.loss(self.device, weights, eta, Some(gradient));
            terms = found;
            total
        });
        self.upper_step(eta, upper, &theta_gradient);
        self.with_data(terms, data)
    }

    /// Lower steps until L_LO < tolerance, then one upper step.
    fn alternating_step(
        &mut self,
        point: &mut Point,
        lower: &mut dyn Optimizer,
        upper: &mut Adam,
        tolerance: f64,
        max_lower: usize,
    ) -> Vec<f64> {
        let Point { weights, eta } = point;
        for _ in 0..max_lower {
            let before = weights.clone();
            let step = lower.step(weights, &mut |weights, gradient| {
                gradient.fill(0.0);
                self.lower.loss(self.device, weights, eta, Some(gradient)).0
            });
            if step.value < tolerance {
                weights.copy_from_slice(&before);
                break;
            }
            if !step.progress || !step.value.is_finite() {
                break;
            }
        }
        let (_, terms) = self.lower.loss(self.device, weights, eta, None);
        let (data, theta_gradient) = self.upper.loss(self.device, weights, eta);
        self.upper_step(eta, upper, &theta_gradient);
        self.with_data(terms, data)
    }

    fn upper_step(&self, eta: &mut [f64], upper: &mut Adam, gradient: &[f64]) {
        upper.step_along(eta, gradient);
        for (eta, unknown) in eta.iter_mut().zip(&self.problem.unknowns) {
            *eta = unknown.project(*eta);
        }
    }

    fn with_data(&self, mut terms: Vec<f64>, data: Vec<f64>) -> Vec<f64> {
        terms.extend(data);
        terms.resize(self.loss_names.len(), f64::NAN);
        terms
    }

    /// Takes steps until one of the reasons to stop; keeps the last point whose losses were finite.
    fn phase(
        &mut self,
        phase: Phase,
        steps: usize,
        point: &mut Point,
        step: &mut dyn FnMut(&mut Self, &mut Point, usize) -> Vec<f64>,
    ) -> Ended {
        let start = Instant::now();
        self.observer.event(&Event::Begin(phase, steps));
        let mut good = point.clone();
        let scales = self.problem.unknowns.iter().map(|unknown| unknown.scale).collect();
        let mut settling = Settling::new(self.settings(), scales);
        let mut ended = Ended {
            stop: Stop::Steps,
            steps: 0,
            losses: vec![f64::NAN; self.loss_names.len()],
            seconds: 0.0,
        };
        for number in 1..=steps {
            let before = point.clone();
            let losses = step(self, point, number);
            if let Some(reason) = self.trouble(phase, &losses, &before) {
                *point = good;
                ended.stop = Stop::Diverged { last_good_step: ended.steps, reason };
                break;
            }
            let control = self.report(phase, number, steps, &losses, &before);
            good = before;
            (ended.steps, ended.losses) = (number, losses);
            if let Some(stop) = self.reason_to_stop(control, phase, &mut settling, &good, &ended) {
                ended.stop = stop;
                break;
            }
        }
        self.observer.event(&Event::End(phase));
        ended.seconds = start.elapsed().as_secs_f64();
        ended
    }

    fn reason_to_stop(
        &self,
        control: Control,
        phase: Phase,
        settling: &mut Settling,
        point: &Point,
        ended: &Ended,
    ) -> Option<Stop> {
        if control == Control::Stop {
            return Some(Stop::Interrupted);
        }
        if self.settings().time_limit.is_some_and(|limit| self.began.elapsed().as_secs_f64() > limit) {
            return Some(Stop::TimeLimit);
        }
        let rate = self.schedule(ended.steps, self.settings().train_steps);
        let settled =
            phase == Phase::Train && settling.settled(&self.thetas(&point.eta), &ended.losses, rate);
        settled.then_some(Stop::Converged)
    }

    /// What is wrong with the losses at a point, if anything is.
    fn trouble(&self, phase: Phase, losses: &[f64], point: &Point) -> Option<String> {
        if let Some(j) = self.thetas(&point.eta).iter().position(|theta| !theta.is_finite()) {
            return Some(format!("the unknown `{}` is no longer finite", self.unknown_names[j]));
        }
        let lower = self.lower.names().len();
        let upper = lower + self.upper.names().len();
        let belongs = |i: usize| match phase {
            Phase::Pretrain => i < lower || i >= upper,
            Phase::Train => i < upper,
        };
        let bad = (0..losses.len()).find(|&i| belongs(i) && !losses[i].is_finite());
        bad.map(|i| format!("the loss `{}` is no longer finite", self.loss_names[i]))
    }

    fn report(&mut self, phase: Phase, step: usize, steps: usize, losses: &[f64], before: &Point) -> Control {
        let unknowns = self.thetas(&before.eta);
        let keep = step == 1 || step == steps || step.is_multiple_of(self.settings().record_every);
        self.observer.event(&Event::Step(Record {
            phase,
            step,
            steps,
            seconds: self.began.elapsed().as_secs_f64(),
            loss_names: self.loss_names,
            losses,
            unknown_names: self.unknown_names,
            unknowns: &unknowns,
            keep,
        }))
    }

    fn thetas(&self, eta: &[f64]) -> Vec<f64> {
        eta.iter().zip(&self.problem.unknowns).map(|(&eta, unknown)| unknown.theta_of(eta)).collect()
    }

    fn weight_adam(&self, weights: usize) -> Adam {
        Adam::new(vec![self.settings().rate; weights])
    }

    fn weight_optimiser(&self, weights: usize) -> Box<dyn Optimizer> {
        match self.settings().optimiser {
            WeightOptimiser::Adam => Box::new(self.weight_adam(weights)),
            WeightOptimiser::Lbfgs => Box::new(Lbfgs::new(20)),
        }
    }

    fn theta_rates(&self) -> Vec<f64> {
        self.problem
            .unknowns
            .iter()
            .map(|unknown| unknown.rate.unwrap_or(self.settings().theta_rate))
            .collect()
    }

    /// Factor of the learning rates at a step.
    fn schedule(&self, step: usize, steps: usize) -> f64 {
        match self.settings().schedule {
            Schedule::Constant => 1.0,
            Schedule::Cosine => {
                let share = (step - 1) as f64 / steps as f64;
                0.01 + 0.99 * 0.5 * (1.0 + (std::f64::consts::PI * share).cos())
            }
        }
    }
}
