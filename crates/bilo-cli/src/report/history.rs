//! `history.csv`: written row by row, so that nothing is lost however a run ends.

use crate::failure::Failure;
use crate::files::HISTORY;
use crate::folder::RunFolder;
use bilo::observer::{Control, Event, Observer, Record};
use std::fs::File;
use std::io::Write;

/// Writes the kept records of a run as they come, and the last one of each phase. The first row
/// opens the run folder: from then on there is something to replace a former run.
pub(crate) struct History<'a> {
    folder: &'a mut RunFolder,
    file: Option<File>,
    /// The header.
    columns: Option<String>,
    /// The last record, if it is not in the file.
    unwritten: Option<Row>,
    failure: Option<Failure>,
}

impl<'a> History<'a> {
    pub(crate) fn new(folder: &'a mut RunFolder) -> Self {
        History { folder, file: None, columns: None, unwritten: None, failure: None }
    }

    /// Whether the run folder is this run's already, and a former run gone from it.
    pub(crate) fn has_opened(&self) -> bool {
        self.folder.is_open()
    }

    /// Says whether all could be written. Without a single step the file is empty.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        match self.failure {
            Some(failure) => Err(failure),
            None => self.write(""),
        }
    }

    /// Forgets rows with other columns: those of an operator that would not do.
    fn empty(&mut self) -> Result<(), Failure> {
        match &self.file {
            Some(file) => file.set_len(0).map_err(Failure::file("write", &self.folder.path().join(HISTORY))),
            None => Ok(()),
        }
    }

    fn write(&mut self, lines: &str) -> Result<(), Failure> {
        let path = self.folder.open()?.join(HISTORY);
        let file = match &mut self.file {
            Some(file) => file,
            // It is there, empty or as long as it was when it is gone on with.
            none => {
                none.insert(File::options().append(true).open(&path).map_err(Failure::file("create", &path))?)
            }
        };
        file.write_all(lines.as_bytes()).map_err(Failure::file("write", &path))
    }

    fn step(&mut self, record: &Record<'_>) {
        let row = Row::of(record);
        let columns = header(record);
        // A run that goes on has its header, and its columns.
        let goes_on = self.columns.is_none() && self.folder.goes_on().is_some();
        let first = !goes_on && self.columns.as_ref() != Some(&columns);
        // The header needs a record, so the first one is written whether it is kept or not.
        if first || record.keep {
            let lines = if first { columns.clone() + &row.line() } else { row.line() };
            self.failure = if first { self.empty() } else { Ok(()) }.and_then(|()| self.write(&lines)).err();
            self.columns = Some(columns);
            self.unwritten = None;
        } else {
            self.unwritten = Some(row);
        }
    }

    fn end(&mut self) {
        if let Some(row) = self.unwritten.take() {
            self.failure = self.write(&row.line()).err();
        }
    }
}

impl Observer for History<'_> {
    fn event(&mut self, event: &Event<'_>) -> Control {
        if self.failure.is_none() {
            match event {
                Event::Step(record) => self.step(record),
                Event::End(_) => self.end(),
                _ => {}
            }
        }
        // Without a file nothing of the run could be kept. Once there is one, a run does not end
        // over its history (the disk is full, say): hours of training are worth more.
        let nowhere = self.failure.is_some() && self.file.is_none();
        if nowhere { Control::Stop } else { Control::Continue }
    }
}

/// A record on its own.
struct Row {
    phase: &'static str,
    step: usize,
    numbers: Vec<f64>,
}

impl Row {
    fn of(record: &Record<'_>) -> Self {
        let numbers = [&[record.seconds], record.losses, record.unknowns].concat();
        Row { phase: record.phase.name(), step: record.step, numbers }
    }

    fn line(&self) -> String {
        // `{:?}` is the shortest text that reads back as the same number.
        let numbers: String = self.numbers.iter().map(|number| format!(",{number:?}")).collect();
        format!("{},{}{numbers}\n", self.phase, self.step)
    }
}

/// Names of losses and unknowns are words, so nothing needs quotes.
fn header(record: &Record<'_>) -> String {
    let names = record.loss_names.iter().chain(record.unknown_names).map(String::as_str);
    let names: Vec<&str> = ["phase", "step", "seconds"].into_iter().chain(names).collect();
    names.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rerun::Rerun;
    use bilo::observer::Phase;
    use std::fs;

    fn record<'a>(names: &'a [String; 2], unknown: &'a [String; 1]) -> Record<'a> {
        Record {
            phase: Phase::Pretrain,
            step: 1,
            steps: 2,
            seconds: 0.5,
            loss_names: names,
            losses: &[0.1 + 0.2, f64::NAN],
            unknown_names: unknown,
            unknowns: &[1e-9],
            keep: true,
        }
    }

    #[test]
    fn kept_records_are_in_the_file_at_once_and_the_last_one_of_a_phase_at_its_end() {
        let place = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::new(place.path().join("out"), Rerun::default()).unwrap();
        let path = place.path().join("out").join(HISTORY);
        let mut history = History::new(&mut folder);
        let (losses, unknown) = (["residual".into(), "data".into()], ["D".into()]);
        let record = record(&losses, &unknown);
        let rest = "0.5,0.30000000000000004,NaN,1e-9";
        // Read while the run goes on: this is what a killed one leaves.
        let read = || fs::read_to_string(&path).unwrap();

        history.event(&Event::Begin(Phase::Pretrain, 2));
        assert!(!path.parent().unwrap().exists(), "nothing to write, nothing changed");
        history.event(&Event::Step(record));
        let mut expected = format!("phase,step,seconds,residual,data,D\npretrain,1,{rest}\n");
        assert_eq!(read(), expected);
        history.event(&Event::Step(Record { step: 2, keep: false, ..record }));
        assert_eq!(read(), expected);
        history.event(&Event::Step(Record { step: 3, keep: false, ..record }));
        history.event(&Event::End(Phase::Pretrain));
        expected += &format!("pretrain,3,{rest}\n");
        assert_eq!(read(), expected);
        history.event(&Event::Step(Record { phase: Phase::Train, keep: false, ..record }));
        history.event(&Event::Step(Record { phase: Phase::Train, step: 2, ..record }));
        history.event(&Event::End(Phase::Train));
        expected += &format!("train,2,{rest}\n");
        assert_eq!(read(), expected);
        history.finish().unwrap();
    }

    #[test]
    fn other_columns_begin_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out");
        let mut folder = RunFolder::new(path.clone(), Rerun::default()).unwrap();
        let mut history = History::new(&mut folder);
        let (losses, unknown) = (["residual".into(), "data".into()], ["D".into()]);
        let record = record(&losses, &unknown);
        history.event(&Event::Step(record));
        history.event(&Event::Step(Record { step: 2, ..record }));
        let more = ["residual".into(), "data".into(), "fit".into()];
        let other = Record { loss_names: &more, losses: &[0.1, 0.2, 0.3], ..record };
        history.event(&Event::Step(other));
        history.finish().unwrap();
        let text = fs::read_to_string(path.join(HISTORY)).unwrap();
        assert_eq!(text, "phase,step,seconds,residual,data,fit,D\npretrain,1,0.5,0.1,0.2,0.3,1e-9\n");
    }

    #[test]
    fn a_folder_that_cannot_be_made_stops_the_run() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out");
        let mut folder = RunFolder::new(path.clone(), Rerun::default()).unwrap();
        fs::write(&path, "meanwhile a file").unwrap();
        let mut history = History::new(&mut folder);
        let (losses, unknown) = (["residual".into(), "data".into()], ["D".into()]);
        assert_eq!(history.event(&Event::Step(record(&losses, &unknown))), Control::Stop);
        assert!(history.finish().unwrap_err().render(false).contains("cannot create the folder"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_at_the_end_and_stops_nothing() {
        let place = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::new(place.path().join("out"), Rerun::default()).unwrap();
        let mut history = History::new(&mut folder);
        history.file = Some(File::options().write(true).open("/dev/full").unwrap());
        let (losses, unknown) = (["residual".into(), "data".into()], ["D".into()]);
        assert_eq!(history.event(&Event::Step(record(&losses, &unknown))), Control::Continue);
        assert!(history.finish().unwrap_err().render(false).contains(HISTORY));
    }
}
