//! `bilo run`: reads, runs, reports.

use crate::args::RunTask;
use crate::checkpoint::{self, Keeper, Keeping};
use crate::failure::Failure;
use crate::files::{FIELDS, OUTCOME, UNFINISHED, fit_file, picture_file};
use crate::folder::{self, RunFolder};
use crate::interrupt::Signal;
use crate::output;
use crate::progress::Progress;
use crate::report::{Events, History, memory};
use crate::rerun::Rerun;
use crate::rescue::LastStep;
use bilo::Job;
use bilo::observer::{Control, Event, Observer, Phase, Silent};
use bilo::outcome::{Colour, Divergence, Outcome, Stop};
use bilo::problem::Problem;
use bilo_report::{csv, drawing, html, npz, table};
use std::fs;
use std::path::Path;

pub(crate) fn run(task: &RunTask) -> Result<(), Failure> {
    let problem = task.statement.problem(&task.overrides)?;
    let rerun = Rerun::of(&task.statement, &task.overrides, &problem, &task.job)?;
    let default = || folder::default_folder(&problem.name, &task.job);
    let path = task.out.clone().unwrap_or_else(default);
    let mut job = task.job.clone();
    let mut folder = match &task.resume {
        Some(resume) => resume.folder(path, rerun.with_remarks_of(&task.statement), &mut job)?,
        None => RunFolder::new(path, rerun)?,
    };

    let signal = Signal::caught()?;
    let mut progress = Progress::new(task.progress, signal.clone());
    let conducted = conduct(&problem, &job, &mut folder, task.keeping, &signal, &mut progress)?;
    drop(progress);
    let Conducted { outcome, reached, saved, kept } = conducted;
    if let Some(failure) = kept {
        output::complain(&failure);
    }
    // What was found is told even where it could not be kept.
    let table = || table::render(&outcome, reached, folder.path());
    output::say(&if task.json { outcome.to_json() } else { table() })?;
    saved?;
    require_convergence(&outcome, reached)?;
    if task.strict { require_green(&outcome) } else { Ok(()) }
}

/// With `--strict`, an answer that needs a look or must not be used is a failure.
fn require_green(outcome: &Outcome) -> Result<(), Failure> {
    let code = match outcome.verdict.colour {
        Colour::Green => return Ok(()),
        Colour::Orange => 3,
        Colour::Red => 4,
    };
    let first = outcome.verdict.reasons.first().map_or("", |reason| &reason.sentence);
    let message = format!("the verdict is {}: {first}", outcome.verdict.colour.name());
    Err(Failure::new(message).code(code))
}

/// A run that has ended.
pub struct Conducted {
    /// What it came to.
    pub outcome: Outcome,
    /// The phase that it came to.
    pub reached: Phase,
    /// Whether its files could be written.
    pub saved: Result<(), Failure>,
    /// Why a checkpoint, or an event for TensorBoard, could not.
    pub kept: Option<Failure>,
}

/// Runs a problem and fills its folder.
pub fn conduct(
    problem: &Problem,
    job: &Job,
    folder: &mut RunFolder,
    keeping: Keeping,
    signal: &Signal,
    observer: &mut dyn Observer,
) -> Result<Conducted, Failure> {
    let job = &Job { interrupt: signal.interrupt().for_run(), ..job.clone() };
    if folder.goes_on().is_some() {
        // Its history ends where the run goes on, before anything is added to it.
        folder.open()?;
    }
    let mut keeper = Keeper::new(folder.path(), folder.owner(job), keeping.every);
    let mut events = keeping.tensorboard.then(|| Events::new(folder.path()));
    let former = folder.goes_on().is_none() && folder.path().join(OUTCOME).is_file();
    let mut last = LastStep::new(problem, job, folder.path());
    let rescue = last.clone();
    let mut history = History::new(folder);
    let mut reached = Reached(Phase::Pretrain);
    // The history is first: what it has when a checkpoint is written belongs to it.
    let events_or_none: &mut dyn Observer = match &mut events {
        Some(events) => events,
        None => &mut Silent,
    };
    let observers = &mut All([&mut history, &mut last, &mut reached, &mut keeper, events_or_none, observer]);
    let run = || bilo::run(problem, job, observers);
    let mut outcome = signal.guarded(Box::new(move || rescue.keep()), run)?;
    if outcome.stop == Stop::Interrupted && former && !history.has_opened() {
        let message = "interrupted before the first step";
        return Err(Failure::new(message).help("nothing was changed: the folder still holds the former run"));
    }
    let recorded = history.finish();
    outcome.peak_memory_bytes = memory::peak_bytes();
    let saved = folder.open().and_then(|out| save(&outcome, out));
    let (saved, kept) = (recorded.and(saved), keeper.finish().or(events.and_then(Events::finish)));
    Ok(Conducted { reached: reached.0, saved, kept, outcome })
}

/// Several observers as one, which wants to stop as soon as one of them does.
pub struct All<'a, const N: usize>(pub [&'a mut dyn Observer; N]);

impl<const N: usize> Observer for All<'_, N> {
    fn event(&mut self, event: &Event<'_>) -> Control {
        let wanted = self.0.iter_mut().map(|observer| observer.event(event));
        wanted.max().unwrap_or(Control::Continue)
    }
}

/// The phase that a run came to.
struct Reached(Phase);

impl Observer for Reached {
    fn event(&mut self, event: &Event<'_>) -> Control {
        if let Event::Begin(phase, _) = event {
            self.0 = *phase;
        }
        Control::Continue
    }
}

fn save(outcome: &Outcome, out: &Path) -> Result<(), Failure> {
    let json = &outcome.to_json();
    let fields_file = out.join(FIELDS);
    npz::write(&outcome.fields, &fields_file).map_err(Failure::file("write", &fields_file))?;
    for misfit in &outcome.misfits {
        let file = out.join(fit_file(&misfit.name));
        csv::write_fit(&misfit.fit, &file).map_err(Failure::file("write", &file))?;
    }
    for picture in &outcome.drawings {
        let file = out.join(picture_file(&picture.name));
        fs::write(&file, drawing::svg(picture)).map_err(Failure::file("write", &file))?;
    }
    // A page that cannot be made is told of, but the outcome is worth more.
    let page = html::write_run(out, json);
    // Last, and whole or not at all: who finds an outcome finds all of a run.
    let (part, whole) = (out.join(UNFINISHED), out.join(OUTCOME));
    fs::write(&part, json).map_err(Failure::file("write", &part))?;
    fs::rename(&part, &whole).map_err(Failure::file("write", &whole))?;
    if matches!(outcome.stop, Stop::Converged | Stop::Steps) {
        // Others can go on, or be looked into.
        checkpoint::remove(out)?;
    }
    page.map(|_| ()).map_err(Failure::from)
}

const AFTER_PRETRAINING: &str = "try a smaller rate (--set train.rate=...), and see that the residuals \
                                 are finite at the guess";
const AFTER_TRAINING: &str = "try smaller rates (--set train.rate=..., --set train.theta-rate=...), \
                              more pre-training, or `bounds` for the unknowns";

/// A run that diverged has results, but not the ones that were asked for.
fn require_convergence(outcome: &Outcome, phase: Phase) -> Result<(), Failure> {
    let Some(Divergence { last_good_step, reason }) = &outcome.diverged else { return Ok(()) };
    let (what, kept) = (table::in_words(phase), table::last_good(*last_good_step));
    let help = match phase {
        Phase::Examples | Phase::Pretrain => AFTER_PRETRAINING,
        Phase::Train => AFTER_TRAINING,
    };
    Err(Failure::new(format!("{what} diverged: {reason}; the results are {kept}")).help(help))
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
    fn only_divergence_fails_and_names_its_phase() {
        for stop in [Stop::Converged, Stop::Steps, Stop::TimeLimit, Stop::Interrupted] {
            assert!(
                require_convergence(&Outcome { stop, ..Outcome::default() }, Phase::Train).is_ok(),
                "{stop:?}"
            );
        }
        let reason = "the data loss is not finite".into();
        let diverged = Some(Divergence { last_good_step: 7, reason });
        let diverged = Outcome { stop: Stop::Diverged, diverged, ..Outcome::default() };
        for (phase, start) in [(Phase::Pretrain, "pre-training"), (Phase::Train, "training")] {
            let text = require_convergence(&diverged, phase).unwrap_err().render(false);
            assert!(
                text.starts_with(&format!("error: {start} diverged: the data loss is not finite;")),
                "{text}"
            );
            assert!(text.contains("the state of step 7"), "{text}");
        }
    }
}
