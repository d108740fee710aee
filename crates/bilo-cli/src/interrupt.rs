//! Ctrl-C: the first one asks the run to end after its step, the second one ends the program.

use crate::failure::Failure;
use bilo::observer::{Control, Event, Observer};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What shells report for a program that Ctrl-C ended: 128 + SIGINT.
const KILLED_BY_CTRL_C: i32 = 130;

/// Stops a run when Ctrl-C was pressed; clones see the same key.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on Ctrl-C no longer ends the program at once.
    pub(crate) fn on_ctrl_c() -> Result<Self, Failure> {
        let interrupt = Self::default();
        let pressed = interrupt.clone();
        ctrlc::set_handler(move || {
            if pressed.0.swap(true, Ordering::SeqCst) {
                process::exit(KILLED_BY_CTRL_C);
            }
        })
        .map_err(|error| Failure::new(format!("cannot watch for Ctrl-C: {error}")))?;
        Ok(interrupt)
    }

    pub(crate) fn pressed(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Observer for Interrupt {
    fn event(&mut self, _: &Event<'_>) -> Control {
        if self.pressed() { Control::Stop } else { Control::Continue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_only_once_pressed() {
        let mut interrupt = Interrupt::default();
        let event = Event::Note("");
        assert_eq!(interrupt.event(&event), Control::Continue);
        interrupt.clone().0.store(true, Ordering::SeqCst);
        assert_eq!(interrupt.event(&event), Control::Stop);
    }
}
