//! The files of a run folder, read back: all that a page is made from.

use super::ReportError;
use crate::files::{FIELDS, HISTORY, LOSSES, OUTCOME, PROBLEM, is_plain, picture_file};
use crate::history::History;
use crate::profile;
use crate::record::RunRecord;
use bilo::npy::{Archive, Array};
use bilo::outcome::{Outcome, ProfileOutcome, ScalarOutcome};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use toml_edit::{DocumentMut, Item, TableLike};

/// Most rows of a history that a page keeps: more than there are pixels.
const MOST_ROWS: usize = 1500;

/// What a run left behind.
pub(super) struct Source {
    pub(super) outcome: Outcome,
    pub(super) history: History,
    pub(super) arrays: BTreeMap<String, Array>,
    /// The data loss over two unknowns, if somebody asked for it.
    pub(super) losses: BTreeMap<String, Array>,
    pub(super) problem: DocumentMut,
    /// The problem file as text, with its comments.
    pub(super) text: String,
    /// Profile likelihoods, if somebody asked for them.
    pub(super) profiles: Vec<ProfileOutcome>,
    /// What the run was started with, if that is known.
    pub(super) record: Option<RunRecord>,
    /// Name and drawing of each picture.
    pub(super) pictures: Vec<(String, String)>,
}

impl Source {
    /// A run that has no outcome yet has what its problem file says of the unknowns.
    pub(super) fn under_way(folder: &Path) -> Result<Source, ReportError> {
        if let Ok(outcome) = fs::read_to_string(folder.join(OUTCOME)) {
            return Source::without_fields(folder, &outcome);
        }
        let mut source = Source::without_fields(folder, "{}")?;
        let number = |item: &Item, key: &str| {
            let item = item.as_table_like()?.get(key)?;
            item.as_float().or(item.as_integer().map(|value| value as f64))
        };
        let unknown = |(name, item): (&str, &Item)| ScalarOutcome {
            name: name.to_owned(),
            guess: number(item, "guess").unwrap_or(f64::NAN),
            estimate: f64::NAN,
            truth: number(item, "truth"),
            ..ScalarOutcome::default()
        };
        source.outcome.unknowns.numbers = source.entries("unknown").into_iter().map(unknown).collect();
        Ok(source)
    }

    /// An outcome, as text, and a problem there must be; a history and fields may be missing.
    pub(super) fn read(folder: &Path, outcome: &str) -> Result<Source, ReportError> {
        let mut source = Source::without_fields(folder, outcome)?;
        source.arrays = arrays(&folder.join(FIELDS))?;
        source.losses = arrays(&folder.join(LOSSES))?;
        source.pictures = source.read_pictures(folder);
        Ok(source)
    }

    fn without_fields(folder: &Path, outcome: &str) -> Result<Source, ReportError> {
        let outcome = Outcome::from_json(outcome).map_err(ReportError::reading(&folder.join(OUTCOME)))?;
        let history = fs::read_to_string(folder.join(HISTORY)).unwrap_or_default();
        let history = History::parse(&history, MOST_ROWS);
        let problem = folder.join(PROBLEM);
        let text = text_of(&problem)?;
        Ok(Source {
            outcome,
            history,
            arrays: BTreeMap::new(),
            losses: BTreeMap::new(),
            problem: text.parse().map_err(ReportError::reading(&problem))?,
            text,
            profiles: profile::read(folder),
            record: RunRecord::read(folder),
            pictures: vec![],
        })
    }

    /// The entries of a table of the problem file, in its order.
    pub(super) fn entries(&self, table: &str) -> Vec<(&str, &Item)> {
        let table = self.problem.get(table).and_then(Item::as_table_like);
        table.map_or_else(Vec::new, |table| table.iter().collect())
    }

    /// Names of the entries of a table.
    pub(super) fn names(&self, table: &str) -> Vec<String> {
        self.entries(table).into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// The coordinate that is time, if one is.
    pub(super) fn time(&self) -> Option<&str> {
        let is_time = |item: &Item| flag(item, "time");
        self.entries("coordinates").into_iter().find(|(_, item)| is_time(item)).map(|(name, _)| name)
    }

    /// An unknown number.
    pub(super) fn scalar(&self, name: &str) -> Option<&ScalarOutcome> {
        self.outcome.unknowns.numbers.iter().find(|number| number.name == name)
    }

    fn read_pictures(&self, folder: &Path) -> Vec<(String, String)> {
        let names = self.names("picture").into_iter().filter(|name| is_plain(name));
        let read = |name: String| {
            let drawing = fs::read_to_string(folder.join(picture_file(&name))).ok()?;
            Some((name, drawing))
        };
        names.filter_map(read).collect()
    }
}

/// A text under a key of a table of the problem file.
pub(super) fn string<'a>(item: &'a Item, key: &str) -> Option<&'a str> {
    item.as_table_like().and_then(|table| table.get(key)).and_then(Item::as_str)
}

fn flag(item: &Item, key: &str) -> bool {
    let table: Option<&dyn TableLike> = item.as_table_like();
    table.and_then(|table| table.get(key)).and_then(Item::as_bool).unwrap_or(false)
}

fn text_of(path: &Path) -> Result<String, ReportError> {
    fs::read_to_string(path).map_err(ReportError::reading(path))
}

/// All arrays of an archive; none without the file.
fn arrays(path: &Path) -> Result<BTreeMap<String, Array>, ReportError> {
    let Ok(bytes) = fs::read(path) else { return Ok(BTreeMap::new()) };
    let mut archive = Archive::new(bytes).map_err(ReportError::reading(path))?;
    let mut found = BTreeMap::new();
    for name in archive.names() {
        if let Some(array) = archive.array(&name).map_err(ReportError::reading(path))? {
            found.insert(name, array);
        }
    }
    Ok(found)
}
