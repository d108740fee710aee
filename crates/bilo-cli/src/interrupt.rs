//! Ctrl-C and SIGTERM: the first one asks the run to end and keep what it has, the second one ends the program.
//!
//! Loops look at the request themselves. What cannot look, a matrix that is being factorised say, is not waited for: after
//! a moment the program keeps the last step and ends.

use crate::failure::Failure;
use bilo::monitor::Interrupt;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{process, thread};

/// What shells report for a program that Ctrl-C ended: 128 + SIGINT.
const KILLED_BY_CTRL_C: i32 = 130;

/// How long a run may take to end by itself.
const PATIENCE: Duration = Duration::from_millis(1600);

/// Keeps what there is of a run, and says so in a line.
type Rescue = Box<dyn Fn() -> Option<String> + Send>;

/// Stops runs when a signal comes; clones listen to the same signal.
#[derive(Clone, Default)]
pub struct Signal {
    interrupt: Interrupt,
    /// By number, of every run that is under way.
    rescues: Arc<Mutex<BTreeMap<usize, Rescue>>>,
}

impl Signal {
    /// From now on a signal no longer ends the program at once.
    pub(crate) fn caught() -> Result<Self, Failure> {
        let signal = Self::default();
        let caught = signal.clone();
        ctrlc::set_handler(move || caught.arrived())
            .map_err(|error| Failure::new(format!("cannot watch for Ctrl-C: {error}")))?;
        Ok(signal)
    }

    fn arrived(&self) {
        if self.interrupt.is_asked() {
            process::exit(KILLED_BY_CTRL_C);
        }
        self.interrupt.ask();
        let signal = self.clone();
        thread::spawn(move || {
            thread::sleep(PATIENCE);
            signal.rescue();
        });
    }

    /// Ends the program if a run is still busy.
    fn rescue(&self) {
        let rescues = self.rescues.lock().unwrap_or_else(PoisonError::into_inner);
        if rescues.is_empty() {
            return;
        }
        crate::output::remark(&kept(&rescues));
        process::exit(KILLED_BY_CTRL_C);
    }

    /// Keeps what there is of the runs that are still busy.
    pub fn keep(&self) {
        kept(&self.rescues.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What a run listens to.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    pub(crate) fn came(&self) -> bool {
        self.interrupt.is_asked()
    }

    /// Runs something that may be too busy to end in time, with what is done then.
    pub(crate) fn guarded<T>(&self, rescue: Rescue, busy: impl FnOnce() -> T) -> T {
        let rescues = || self.rescues.lock().unwrap_or_else(PoisonError::into_inner);
        let number = {
            let mut rescues = rescues();
            let number = rescues.last_key_value().map_or(0, |(number, _)| number + 1);
            rescues.insert(number, rescue);
            number
        };
        let done = busy();
        // Whoever rescues holds the list until the program has ended.
        rescues().remove(&number);
        done
    }
}

/// Keeps what there is of some runs; a line for each.
fn kept(rescues: &BTreeMap<usize, Rescue>) -> String {
    let lines: Vec<String> = rescues.values().filter_map(|rescue| rescue()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_has_ended_needs_no_rescue() {
        let signal = Signal::default();
        assert_eq!(signal.guarded(Box::new(|| panic!("nobody is busy")), || 3), 3);
        signal.interrupt().ask();
        signal.rescue();
        assert!(signal.clone().came());
    }
}
