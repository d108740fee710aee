//! `history.csv`: written row by row, so that nothing is lost however a run ends.

use crate::failure::Failure;
use bilo::observer::{Control, Event, Observer, Record};
use csv::Writer;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Writes the kept records of a run as they come.
pub(crate) struct History {
    path: PathBuf,
    writer: Writer<File>,
    has_header: bool,
    error: Option<csv::Error>,
}

impl History {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let writer = Writer::from_path(path).map_err(Failure::file("create", path))?;
        Ok(History { path: path.to_path_buf(), writer, has_header: false, error: None })
    }

    /// Says whether all could be written. A run does not end over its history (the disk is full,
    /// say): hours of training are worth more.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.error.map_or(Ok(()), |error| Err(Failure::file("write", &self.path)(error)))
    }

    fn write(&mut self, record: &Record<'_>) -> csv::Result<()> {
        if !self.has_header {
            let names = record.loss_names.iter().chain(record.unknown_names).map(String::as_str);
            self.writer.write_record(["phase", "step", "seconds"].into_iter().chain(names))?;
            self.has_header = true;
        }
        let numbers = [record.seconds].into_iter();
        let numbers = numbers.chain(record.losses.iter().copied()).chain(record.unknowns.iter().copied());
        let first = [record.phase.name().to_string(), record.step.to_string()];
        // `{:?}` is the shortest text that reads back as the same number.
        self.writer.write_record(first.into_iter().chain(numbers.map(|number| format!("{number:?}"))))?;
        Ok(self.writer.flush()?)
    }
}

impl Observer for History {
    fn event(&mut self, event: &Event<'_>) -> Control {
        if let Event::Step(record) = event
            && record.keep
            && self.error.is_none()
        {
            self.error = self.write(record).err();
        }
        Control::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo::observer::Phase;

    #[test]
    fn kept_records_are_in_the_file_at_once_and_in_full_precision() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.csv");
        let mut history = History::create(&path).unwrap();
        let record = Record {
            phase: Phase::Pretrain,
            step: 1,
            steps: 2,
            seconds: 0.5,
            loss_names: &["residual".into(), "data, all".into()],
            losses: &[0.1 + 0.2, f64::NAN],
            unknown_names: &["D".into()],
            unknowns: &[1e-9],
            keep: true,
        };
        history.event(&Event::Step(record));
        history.event(&Event::Step(Record { keep: false, ..record }));
        history.event(&Event::Step(Record { phase: Phase::Train, step: 2, ..record }));
        let expected = "phase,step,seconds,residual,\"data, all\",D\n\
                        pretrain,1,0.5,0.30000000000000004,NaN,1e-9\n\
                        train,2,0.5,0.30000000000000004,NaN,1e-9\n";
        // Read before the writer is closed: this is what an interrupted run leaves.
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        history.finish().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_at_the_end_and_stops_nothing() {
        let mut history = History::create(Path::new("/dev/full")).unwrap();
        let record = Record {
            phase: Phase::Train,
            step: 1,
            steps: 1,
            seconds: 0.0,
            loss_names: &[],
            losses: &[],
            unknown_names: &[],
            unknowns: &[],
            keep: true,
        };
        assert_eq!(history.event(&Event::Step(record)), Control::Continue);
        assert!(history.finish().unwrap_err().render(false).contains("/dev/full"));
    }
}
