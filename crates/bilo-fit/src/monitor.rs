//! One place that tells of a run as it goes, and decides when it is to stop.

use crate::checkpoint::Checkpoint;
use crate::observer::{Control, Event, Observer, Record};
use crate::phase::Phase;
use crate::stop::Stop;
use bilo_problem::Problem;
pub use bilo_solve::Interrupt;
use std::time::{Duration, Instant};

/// Tells an [`Observer`] what happens in a run, and says when the run is to stop: since the observer wants it, since
/// somebody asked its [`Interrupt`], or since its time limit is over.
pub struct Monitor<'o> {
    observer: &'o mut dyn Observer,
    interrupt: Interrupt,
    began: Instant,
    /// Seconds that earlier parts of the run took.
    earlier: f64,
    /// The phase that has begun, with the steps planned for it.
    phase: Option<(Phase, usize)>,
    loss_names: Vec<String>,
    unknown_names: Vec<String>,
    record_every: usize,
    /// The unknowns before the last step.
    last_unknowns: Vec<f64>,
}

/// What is wanted after a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Whether the state of training is to be given out.
    pub keep: bool,
    /// Why the run is to stop, if it is.
    pub stop: Option<Stop>,
}

impl<'o> Monitor<'o> {
    /// Watches a run that begins now, of which earlier parts took some seconds already.
    pub fn new(
        problem: &Problem,
        interrupt: &Interrupt,
        earlier: f64,
        observer: &'o mut dyn Observer,
    ) -> Monitor<'o> {
        let (began, interrupt) = (Instant::now(), interrupt.for_run());
        let limit = problem.training.time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok());
        limit.into_iter().for_each(|limit| interrupt.end_after(limit));
        let (unknown_names, record_every) = (problem.unknown_names(), problem.training.record_every);
        Monitor {
            observer,
            interrupt,
            began,
            earlier,
            phase: None,
            loss_names: vec![],
            unknown_names,
            record_every,
            last_unknowns: vec![],
        }
    }

    /// What long loops look at.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Why the run is to stop, if it is.
    pub fn why(&self) -> Option<Stop> {
        if self.interrupt.is_asked() {
            return Some(Stop::Interrupted);
        }
        self.interrupt.is_over().then_some(Stop::TimeLimit)
    }

    /// Seconds since the run began, those of its earlier parts counted.
    pub fn seconds(&self) -> f64 {
        self.earlier + self.began.elapsed().as_secs_f64()
    }

    /// The unknowns before the last step that was told of; none before the first.
    pub fn last_unknowns(&self) -> &[f64] {
        &self.last_unknowns
    }

    /// Names the loss terms of all steps to come.
    pub fn name_losses(&mut self, names: Vec<String>) {
        self.loss_names = names;
    }

    /// The names of the loss terms.
    pub fn loss_names(&self) -> &[String] {
        &self.loss_names
    }

    /// A line for people.
    pub fn note(&mut self, line: &str) {
        self.observer.event(&Event::Note(line));
    }

    /// Begins a phase with so many steps planned, unless the run is in it already; another one ends.
    pub fn enter(&mut self, phase: Phase, steps: usize) {
        if self.phase.is_some_and(|(present, _)| present == phase) {
            return;
        }
        self.leave();
        self.phase = Some((phase, steps));
        self.observer.event(&Event::Begin(phase, steps));
    }

    /// Ends the phase, if there is one.
    pub fn leave(&mut self) {
        if let Some((phase, _)) = self.phase.take() {
            self.observer.event(&Event::End(phase));
        }
    }

    /// A step of the phase: its number, the losses and the unknowns before it.
    pub fn step(&mut self, step: usize, losses: &[f64], unknowns: &[f64]) -> Answer {
        let keep = |steps| step == 1 || step == steps || step.is_multiple_of(self.record_every);
        let keep = self.phase.is_some_and(|(phase, steps)| phase != Phase::Examples && keep(steps));
        self.tell(step, losses, unknowns, keep)
    }

    /// A step that belongs into the history whatever its number, as few steps do.
    pub fn rare_step(&mut self, step: usize, losses: &[f64], unknowns: &[f64]) -> Answer {
        self.tell(step, losses, unknowns, true)
    }

    fn tell(&mut self, step: usize, losses: &[f64], unknowns: &[f64], keep: bool) -> Answer {
        let (phase, steps) = self.phase.unwrap_or((Phase::Train, step));
        self.last_unknowns = unknowns.to_vec();
        let record = Record {
            phase,
            step,
            steps,
            seconds: self.seconds(),
            loss_names: &self.loss_names,
            losses,
            unknown_names: &self.unknown_names,
            unknowns,
            keep,
        };
        let control = self.observer.event(&Event::Step(record));
        if control == Control::Stop {
            self.interrupt.ask();
        }
        Answer { keep: control == Control::Keep, stop: self.why() }
    }

    /// Gives out the state of training.
    pub fn keep(&mut self, checkpoint: &Checkpoint) {
        self.observer.event(&Event::Checkpoint(checkpoint));
    }
}
