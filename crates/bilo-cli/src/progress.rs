//! The progress bar: phase, steps, time left, losses and unknowns, on a terminal's stderr only.

use crate::interrupt::Signal;
use bilo::observer::{Control, Event, Observer, Phase, Record};
use bilo_report::number;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

const STYLE: &str = "{prefix:8} {bar:24} {human_pos}/{human_len} {eta} left  {wide_msg}";

/// Seconds between two updates of the text: steps are far shorter than anyone reads.
const BETWEEN_UPDATES: f64 = 0.1;

/// Shows a run to people.
pub struct Progress {
    screen: MultiProgress,
    bar: ProgressBar,
    signal: Signal,
    signal_told: bool,
    updated: f64,
}

impl Progress {
    /// Shows nothing unless wanted and stderr is a terminal.
    pub fn new(wanted: bool, signal: Signal) -> Self {
        // This target hides itself where stderr is no terminal.
        let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Progress {
            screen: MultiProgress::with_draw_target(target),
            bar: ProgressBar::hidden(),
            signal,
            signal_told: false,
            updated: 0.0,
        }
    }

    fn begin(&mut self, phase: Phase, steps: usize) {
        let style = ProgressStyle::with_template(STYLE).expect("the template is well formed");
        let bar = ProgressBar::new(steps as u64).with_prefix(phase.name()).with_style(style);
        self.bar = self.screen.add(bar);
    }

    fn step(&mut self, record: &Record<'_>) {
        let last = record.step == record.steps;
        if last || record.seconds - self.updated >= BETWEEN_UPDATES {
            self.bar.set_position(record.step as u64);
            self.bar.set_message(message(record));
            self.updated = record.seconds;
        }
        if self.signal.came() && !self.signal_told {
            self.note("stopping after this step, results are kept; press Ctrl-C again to give up");
            self.signal_told = true;
        }
    }

    fn note(&self, line: &str) {
        // A terminal that went away is no reason to end the run.
        let _ = self.screen.println(line);
    }
}

impl Observer for Progress {
    fn event(&mut self, event: &Event<'_>) -> Control {
        match event {
            Event::Note(line) => self.note(line),
            Event::Begin(phase, steps) => self.begin(*phase, *steps),
            Event::Step(record) => self.step(record),
            Event::End(_) => self.bar.abandon(),
            Event::Checkpoint(_) => {}
        }
        Control::Continue
    }
}

/// Unknowns first: a narrow terminal cuts the end.
fn message(record: &Record<'_>) -> String {
    let unknowns = record.unknown_names.iter().zip(record.unknowns);
    let losses = record.loss_names.iter().zip(record.losses).filter(|(_, loss)| !loss.is_nan());
    let unknowns = unknowns.map(|(name, value)| format!("{name} {}", number::significant(*value)));
    let losses = losses.map(|(name, loss)| format!("{name} {loss:.1e}"));
    unknowns.chain(losses).collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_well_formed() {
        Progress::new(false, Signal::default()).begin(Phase::Train, 3);
    }

    #[test]
    fn the_message_has_unknowns_and_the_losses_that_the_phase_has() {
        let record = Record {
            phase: Phase::Pretrain,
            step: 1,
            steps: 2,
            seconds: 0.0,
            loss_names: &["residual".into(), "data".into()],
            losses: &[0.00123, f64::NAN],
            unknown_names: &["D".into(), "rho".into()],
            unknowns: &[1.5, 2.0],
            keep: true,
        };
        assert_eq!(message(&record), "D 1.5  rho 2  residual 1.2e-3");
    }
}
