//! Progress as events: the progress bar and the history are observers, the library prints nothing.

use crate::checkpoint::Checkpoint;
pub use crate::phase::Phase;

/// The state after a step.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The phase.
    pub phase: Phase,
    /// The step within the phase, from 1.
    pub step: usize,
    /// Steps planned for the phase.
    pub steps: usize,
    /// Seconds since the run began.
    pub seconds: f64,
    /// Names of the loss terms; the same for every record of a run.
    pub loss_names: &'a [String],
    /// Loss terms before the step (not-a-number where a phase has no such term).
    pub losses: &'a [f64],
    /// Names of the unknowns.
    pub unknown_names: &'a [String],
    /// The unknowns before the step.
    pub unknowns: &'a [f64],
    /// Whether this step belongs into the history (`record-every`, first and last).
    pub keep: bool,
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A line for people, e.g. "classical solution at the guess: 800 cells, 800 steps".
    Note(&'a str),
    /// A phase begins, with so many steps planned.
    Begin(Phase, usize),
    /// A step was taken.
    Step(Record<'a>),
    /// What [`Control::Keep`] asked for, or what a run that was stopped can go on from.
    Checkpoint(&'a Checkpoint),
    /// A phase ended.
    End(Phase),
}

/// What the observer wants; of several, the greatest holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// Go on.
    Continue,
    /// Go on, and give out the state of training: an [`Event::Checkpoint`], where there is one.
    Keep,
    /// Stop after this step and report what there is.
    Stop,
}

/// Watches a run.
pub trait Observer {
    /// Called for every event; the answer to anything but a step is ignored.
    fn event(&mut self, event: &Event<'_>) -> Control;
}

/// Watches nothing.
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _: &Event<'_>) -> Control {
        Control::Continue
    }
}
