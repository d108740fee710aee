//! Where training is: everything that later steps depend on, so that a run can go on as if nothing had happened.
//!
//! A [`Checkpoint`] comes with [`Event::Checkpoint`](crate::observer::Event) to an observer that
//! [asks for it](crate::observer::Control::Keep), and to every observer of a run that is stopped; a run takes it up by
//! `Job::from`. Only trained networks have one: whatever else there is takes minutes at most, and comes to
//! the same bits when it begins again.

use crate::phase::Phase;
use bilo_optim::State;
use bilo_problem::diagnostic::{Diagnostic, Error, ErrorKind, Origin, Result};

/// The state of training after a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The phase.
    pub phase: Phase,
    /// Steps taken in it.
    pub step: usize,
    /// Seconds since the run began.
    pub seconds: f64,
    /// Why networks are trained where a dictionary was looked for first.
    pub why: Option<String>,
    /// Weights, unknowns, what optimisers remember and the like, by name.
    pub arrays: Vec<(String, Vec<f64>)>,
}

impl Checkpoint {
    /// Adds an array under a name.
    pub fn put(&mut self, name: &str, values: &[f64]) {
        self.arrays.push((name.to_owned(), values.to_vec()));
    }

    /// Puts lists as `NAME.0`, `NAME.1` and so on.
    pub fn put_state(&mut self, name: &str, state: State) {
        let named = |(number, values): (usize, Vec<f64>)| (format!("{name}.{number}"), values);
        self.arrays.extend(state.into_iter().enumerate().map(named));
    }

    /// An array that must be there.
    pub fn get(&self, name: &str) -> Result<&[f64]> {
        self.find(name).ok_or_else(|| does_not_fit(name))
    }

    /// Writes an array over one of the same length.
    pub fn copy(&self, name: &str, into: &mut [f64]) -> Result<()> {
        let values = self.get(name)?;
        if values.len() != into.len() {
            return Err(does_not_fit(name));
        }
        into.copy_from_slice(values);
        Ok(())
    }

    /// The lists of [`Checkpoint::put_state`].
    pub fn state(&self, name: &str) -> State {
        (0..).map_while(|number| self.find(&format!("{name}.{number}")).map(<[f64]>::to_vec)).collect()
    }

    fn find(&self, name: &str) -> Option<&[f64]> {
        self.arrays.iter().find(|(own, _)| own == name).map(|(_, values)| &values[..])
    }
}

/// What is kept is not of this problem, or not of this program.
pub fn does_not_fit(name: &str) -> Error {
    let message = format!("the checkpoint does not fit this problem: see its `{name}`");
    Error::new(
        ErrorKind::Checkpoint,
        Diagnostic::new(message, Origin::none()).help("begin again, without it"),
    )
}
