//! `--tensorboard`: losses and unknowns as event files in the run folder, as the run goes.

use crate::failure::Failure;
use bilo::observer::{Control, Event, Observer, Record};
use bilo_report::tensorboard::EventFile;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// How the names of event files begin.
pub(crate) const EVENTS: &str = "events.out.tfevents.";

/// Writes the steps that the history has. A run that goes on begins another file: TensorBoard takes them together.
pub(crate) struct Events {
    folder: PathBuf,
    file: Option<EventFile>,
    failure: Option<Failure>,
}

impl Events {
    pub(crate) fn new(folder: &Path) -> Self {
        Events { folder: folder.to_path_buf(), file: None, failure: None }
    }

    /// Why not all could be written.
    pub(crate) fn finish(self) -> Option<Failure> {
        self.failure
    }

    fn step(&mut self, record: &Record<'_>) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let name = format!("{EVENTS}{:010}.{}", now as u64, std::process::id());
                none.insert(EventFile::create(&self.folder.join(name), now)?)
            }
        };
        let names = record.loss_names.iter().chain(record.unknown_names);
        let scalars = names.zip(record.losses.iter().chain(record.unknowns));
        // A phase without such a loss has none to draw.
        let known = scalars.filter(|(_, value)| !value.is_nan());
        let tagged = known.map(|(name, value)| (format!("{}/{name}", record.phase.name()), *value));
        file.scalars(now, record.step, &tagged.collect::<Vec<_>>())
    }
}

impl Observer for Events {
    fn event(&mut self, event: &Event<'_>) -> Control {
        if let (Event::Step(record), None) = (event, &self.failure)
            && record.keep
            && let Err(error) = self.step(record)
        {
            self.failure = Some(Failure::file("write events into", &self.folder)(error));
        }
        Control::Continue
    }
}
