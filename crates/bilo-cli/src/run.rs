//! `bilo run`: reads, runs, reports.

use crate::args::RunTask;
use crate::failure::Failure;
use crate::folder::{self, FIELDS, HISTORY, OUTCOME, PROBLEM};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::report::{History, json, memory, npz, table};
use crate::rerun::Rerun;
use bilo::observer::{Control, Event, Observer};
use bilo::outcome::{Outcome, Stop};
use std::fs;
use std::path::Path;

pub(crate) fn run(task: &RunTask) -> Result<(), Failure> {
    let problem = task.statement.problem(&task.overrides)?;
    let rerun = Rerun::of(&task.statement, &task.overrides, &problem, &task.job)?;
    let default = || folder::default_folder(&problem.name, task.job.seed);
    let out = task.out.clone().unwrap_or_else(default);
    folder::prepare(&out)?;
    rerun.write(&out.join(PROBLEM))?;

    let mut history = History::create(&out.join(HISTORY))?;
    let mut interrupt = Interrupt::on_ctrl_c()?;
    let mut progress = Progress::new(task.progress, interrupt.clone());
    let mut observers = All([&mut history, &mut progress, &mut interrupt]);
    let outcome = bilo::run(&problem, &task.job, &mut observers)?;
    drop(progress);

    report(&outcome, &out, task.json)?;
    history.finish()?;
    verdict(&outcome.stop)
}

/// Several observers as one, which wants to stop as soon as one of them does.
struct All<'a, const N: usize>([&'a mut dyn Observer; N]);

impl<const N: usize> Observer for All<'_, N> {
    fn event(&mut self, event: &Event<'_>) -> Control {
        let mut control = Control::Continue;
        for observer in &mut self.0 {
            if observer.event(event) == Control::Stop {
                control = Control::Stop;
            }
        }
        control
    }
}

fn report(outcome: &Outcome, out: &Path, as_json: bool) -> Result<(), Failure> {
    let peak_memory = memory::peak_bytes();
    let json = json::render(outcome, peak_memory);
    let (outcome_file, fields_file) = (out.join(OUTCOME), out.join(FIELDS));
    fs::write(&outcome_file, &json).map_err(Failure::file("write", &outcome_file))?;
    npz::write(&outcome.fields, &fields_file).map_err(Failure::file("write", &fields_file))?;
    if as_json { output::say(&json) } else { output::say(&table::render(outcome, peak_memory, out)) }
}

const AFTER_DIVERGENCE: &str = "try smaller rates (--set train.rate=..., --set train.theta-rate=...), \
                                more pre-training, or `bounds` for the unknowns";

/// A run that diverged has results, but not the ones that were asked for.
fn verdict(stop: &Stop) -> Result<(), Failure> {
    let Stop::Diverged { last_good_step, reason } = stop else { return Ok(()) };
    let kept = format!("the results are those of step {last_good_step}, the last good one");
    Err(Failure::new(format!("training diverged: {reason}; {kept}")).help(AFTER_DIVERGENCE))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Says(Control, usize);

    impl Observer for Says {
        fn event(&mut self, _: &Event<'_>) -> Control {
            self.1 += 1;
            self.0
        }
    }

    #[test]
    fn every_observer_sees_every_event_and_one_stop_is_enough() {
        let (mut first, mut second) = (Says(Control::Stop, 0), Says(Control::Continue, 0));
        assert_eq!(All([&mut first, &mut second]).event(&Event::Note("")), Control::Stop);
        assert_eq!((first.1, second.1), (1, 1));
        assert_eq!(All([&mut second]).event(&Event::Note("")), Control::Continue);
    }

    #[test]
    fn only_divergence_fails() {
        for stop in [Stop::Converged, Stop::Steps, Stop::TimeLimit, Stop::Interrupted] {
            assert!(verdict(&stop).is_ok(), "{stop:?}");
        }
        let failure =
            verdict(&Stop::Diverged { last_good_step: 7, reason: "the data loss is not finite".into() });
        let text = failure.unwrap_err().render(false);
        assert!(text.contains("the data loss is not finite") && text.contains("step 7"), "{text}");
    }
}
