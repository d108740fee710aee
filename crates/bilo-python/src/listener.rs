//! How a run tells Python of its steps: as messages from its thread to the one that waits for it.

use bilo::observer::{Control, Event, Observer, Record};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::mpsc::{self, Sender};

/// What happened in a run.
pub(crate) enum Message {
    /// A line for people.
    Note(String),
    /// A step, and where to say whether the run goes on.
    Step(Step, Sender<bool>),
    /// So much of some work is done, of so much.
    Done(usize, usize),
}

/// A step by itself.
pub(crate) struct Step {
    phase: &'static str,
    step: usize,
    steps: usize,
    seconds: f64,
    losses: Vec<(String, f64)>,
    unknowns: Vec<(String, f64)>,
}

impl Step {
    fn of(record: &Record<'_>) -> Step {
        let pairs = |names: &[String], values: &[f64]| {
            names.iter().cloned().zip(values.iter().copied()).collect::<Vec<_>>()
        };
        Step {
            phase: record.phase.name(),
            step: record.step,
            steps: record.steps,
            seconds: record.seconds,
            losses: pairs(record.loss_names, record.losses),
            unknowns: pairs(record.unknown_names, record.unknowns),
        }
    }
}

/// Sends what happens to the thread that waits. It needs no lock of Python: a run that nobody waits for any more ends.
#[derive(Clone)]
pub(crate) struct Teller {
    sender: Sender<Message>,
    steps: bool,
}

impl Teller {
    pub(crate) fn new(sender: Sender<Message>, steps: bool) -> Teller {
        Teller { sender, steps }
    }

    /// Tells how much is done; where nobody listens it is lost.
    pub(crate) fn done(&self, count: usize, of: usize) {
        let _ = self.sender.send(Message::Done(count, of));
    }

    /// Waits for the answer, so that a run ends after the very step where that was wanted.
    fn step(&self, record: &Record<'_>) -> Control {
        let (sender, answer) = mpsc::channel();
        let told = self.sender.send(Message::Step(Step::of(record), sender));
        match told.is_ok() && answer.recv().unwrap_or(false) {
            true => Control::Continue,
            false => Control::Stop,
        }
    }
}

impl Observer for Teller {
    fn event(&mut self, event: &Event<'_>) -> Control {
        match event {
            Event::Note(line) => {
                let _ = self.sender.send(Message::Note((*line).to_owned()));
                Control::Continue
            }
            Event::Step(record) if self.steps => self.step(record),
            _ => Control::Continue,
        }
    }
}

/// The Python object that hears of a run, if there is one: `wants_steps`, `note`, `step` and `done`.
pub(crate) struct Listener<'py>(Option<Bound<'py, PyAny>>);

impl<'py> Listener<'py> {
    pub(crate) fn none() -> Self {
        Listener(None)
    }

    pub(crate) fn new(object: Bound<'py, PyAny>) -> Self {
        Listener(Some(object))
    }

    /// Whether each step waits for its answer.
    pub(crate) fn wants_steps(&self) -> bool {
        let wants = |object: &Bound<'_, PyAny>| object.getattr("wants_steps")?.is_truthy();
        self.0.as_ref().is_some_and(|object| wants(object).unwrap_or(false))
    }

    pub(crate) fn hear(&self, message: Message) -> PyResult<()> {
        let Some(object) = &self.0 else { return Ok(()) };
        match message {
            Message::Note(line) => object.call_method1("note", (line,)).map(|_| ()),
            Message::Done(count, of) => object.call_method1("done", (count, of)).map(|_| ()),
            Message::Step(step, answer) => {
                let goes_on = told(object, step)?;
                // A run that has ended meanwhile wants no answer.
                let _ = answer.send(goes_on);
                Ok(())
            }
        }
    }
}

fn told(object: &Bound<'_, PyAny>, step: Step) -> PyResult<bool> {
    let Step { phase, step, steps, seconds, losses, unknowns } = step;
    let dict = |pairs: Vec<(String, f64)>| -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(object.py());
        pairs.into_iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
        Ok(dict)
    };
    let arguments = (phase, step, steps, seconds, dict(losses)?, dict(unknowns)?);
    object.call_method1("step", arguments)?.is_truthy()
}
