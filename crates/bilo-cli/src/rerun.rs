//! The `problem.toml` of a run folder: runs again to the same result, wherever the folder is moved.
//!
//! Data files are copied beside it rather than named by absolute paths: a run folder that is
//! archived or sent to someone still runs, and data that change later do not change its past.

use crate::failure::Failure;
use crate::files::{PROBLEM, RUN, UNFINISHED_PROBLEM, fit_file, picture_file};
use crate::statement::Statement;
use bilo_report::files::is_plain;
use bilo_report::record::RunRecord;

use bilo::Job;
use bilo::problem::{Assignment, Folder, Overrides, Problem, in_force};
use flate2::Crc;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};

/// Starts the lines that this module writes, so that a run of a run's file replaces them.
const REMARK: &str = "#: ";

/// Tables whose entries may name a file, and where in an entry.
const FILES: [(&str, &[&str]); 7] = [
    ("given", &[]),
    ("equation", &["points"]),
    ("observation", &["data"]),
    ("observation", &["data", "synthetic"]),
    ("unknown", &["guess"]),
    ("unknown", &["truth"]),
    ("unknown", &["regularise", "reference"]),
];

/// What is needed to run again, in memory: the run folder may be the one that the problem was read
/// from, and is emptied before it is filled.
#[derive(Default)]
pub struct Rerun {
    text: String,
    record: RunRecord,
    /// Path inside the run folder, and content.
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Rerun {
    /// Of a statement that is read with these settings and run as this job.
    pub fn of(
        statement: &Statement,
        overrides: &Overrides,
        problem: &Problem,
        job: &Job,
    ) -> Result<Self, Failure> {
        let unremarked: String =
            statement.text.split_inclusive('\n').filter(|line| !line.starts_with(REMARK)).collect();
        let mut document = document_of(&unremarked)?;
        apply(&mut document, overrides)?;
        let files = take_files(&mut document, statement.folder())?;
        let text = remarked(&document.to_string(), overrides, problem);
        Ok(Rerun { text, record: RunRecord::of(problem, job, env!("CARGO_PKG_VERSION")), files })
    }

    /// Whether a folder holds the same problem and the same data.
    pub(crate) fn is_in(&self, folder: &Path) -> bool {
        let same =
            |name: &Path, content: &[u8]| fs::read(folder.join(name)).is_ok_and(|there| there == content);
        RunRecord::read(folder).is_some_and(|record| record.is_of_the_same_run(&self.record))
            && same(Path::new(PROBLEM), self.text.as_bytes())
            && self.files.iter().all(|(name, content)| same(name, content))
    }

    /// What is needed to run again, with the remarks that the file of a run has already.
    pub(crate) fn with_remarks_of(self, statement: &Statement) -> Self {
        Rerun { text: statement.text.clone(), ..self }
    }

    /// A number that tells problems with their data apart, whatever is remarked on them: CRC-32.
    pub(crate) fn fingerprint(&self) -> u32 {
        let mut crc = Crc::new();
        let lines = self.text.lines().filter(|line| !line.starts_with(REMARK));
        lines.for_each(|line| crc.update(line.as_bytes()));
        for (name, content) in &self.files {
            crc.update(name.to_string_lossy().as_bytes());
            crc.update(content);
        }
        crc.sum()
    }

    /// Writes the data, then the problem file, whole or not at all: where that one is, all is.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Failure> {
        for (name, content) in &self.files {
            let path = folder.join(name);
            let above = path.parent().unwrap_or(folder);
            fs::create_dir_all(above).map_err(Failure::file("create the folder", above))?;
            fs::write(&path, content).map_err(Failure::file("write", &path))?;
        }
        self.record.write(folder).map_err(Failure::file("write", &folder.join(RUN)))?;
        let (part, whole) = (folder.join(UNFINISHED_PROBLEM), folder.join(PROBLEM));
        fs::write(&part, &self.text).map_err(Failure::file("write", &part))?;
        fs::rename(&part, &whole).map_err(Failure::file("write", &whole))
    }
}

/// The files that a statement with these settings names, by these names, with their contents: all that can be read.
pub fn files_named(statement: &Statement, overrides: &Overrides) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut document = document_of(&statement.text)?;
    apply(&mut document, overrides)?;
    let (mut files, folder) = (BTreeMap::new(), statement.folder());
    each_file(&mut document, |_, name, _| {
        files.entry(name.to_owned()).or_insert_with(|| folder.read(name).ok());
    });
    Ok(files.into_iter().filter_map(|(name, content)| Some((name, content?))).collect())
}

fn document_of(text: &str) -> Result<DocumentMut, Failure> {
    text.parse().map_err(|error| Failure::new(format!("the problem file cannot be edited: {error}")))
}

/// The data files that a former run took along: those that its problem file names, no others.
pub(crate) fn former_data(folder: &Path) -> Vec<PathBuf> {
    let mut document = former_problem(folder);
    let mut files = Vec::new();
    each_file(&mut document, |owner, name, _| {
        if name == kept_name(owner, name) {
            files.push(folder.join(name));
        }
    });
    files
}

/// The pictures and fits of a former run: those of what its problem file states, if it could have.
pub(crate) fn former_files(folder: &Path) -> Vec<PathBuf> {
    let document = former_problem(folder);
    let files = |table: &str, file: fn(&str) -> String| -> Vec<PathBuf> {
        let entries = document.get(table).and_then(Item::as_table_like);
        let names = entries.into_iter().flat_map(|entries| entries.iter().map(|(name, _)| name));
        names.filter(|name| is_plain(name)).map(|name| folder.join(file(name))).collect()
    };
    [files("picture", picture_file), files("observation", fit_file)].concat()
}

/// The problem file of a former run; nothing if it cannot be read.
fn former_problem(folder: &Path) -> DocumentMut {
    let text = fs::read_to_string(folder.join(PROBLEM)).unwrap_or_default();
    text.parse().unwrap_or_default()
}

/// Writes the command line's settings into the file.
fn apply(document: &mut DocumentMut, overrides: &Overrides) -> Result<(), Failure> {
    let recipe = overrides.recipe.as_ref().map(|recipe| format!("train.recipe={recipe}"));
    let arguments: Vec<&str> = overrides.set.iter().map(Assignment::text).chain(recipe.as_deref()).collect();
    for argument in &arguments {
        drop_from_recipes(document, argument);
    }
    for argument in arguments {
        set(document, argument).ok_or_else(|| {
            Failure::new(format!("`--set {argument}` cannot be written into the problem file"))
        })?;
    }
    Ok(())
}

/// The command line wins over `[train.fast]` and its like, which win over `[train]`.
fn drop_from_recipes(document: &mut DocumentMut, argument: &str) {
    let keys = argument.split_once('=').and_then(|(keys, _)| Key::parse(keys).ok());
    let Some([table, key]) = keys.as_deref() else {
        return;
    };
    for recipe in ["paper", "fast"] {
        let of_recipe = document.get_mut(table.get()).and_then(|item| item.get_mut(recipe));
        if let Some(settings) = of_recipe.and_then(Item::as_table_like_mut) {
            settings.remove(key.get());
        }
    }
}

fn set(document: &mut DocumentMut, argument: &str) -> Option<()> {
    let (keys, value) = argument.split_once('=')?;
    let keys = Key::parse(keys).ok()?;
    let (last, above) = keys.split_last()?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let mut inline = false;
    for key in above {
        let missing = if inline { Item::Value(InlineTable::new().into()) } else { Item::Table(Table::new()) };
        let item = table.entry(key.get()).or_insert(missing);
        inline = item.is_inline_table();
        table = item.as_table_like_mut()?;
    }
    // As when the problem is read, what is no TOML value is a bare word.
    let mut value = value.trim().parse().unwrap_or_else(|_| Value::from(value.trim()));
    if let Some(former) = table.get(last.get()).and_then(Item::as_value) {
        *value.decor_mut() = former.decor().clone();
    }
    table.insert(last.get(), Item::Value(value));
    Some(())
}

/// Reads the data files and names them by where they will lie in the run folder.
fn take_files(document: &mut DocumentMut, folder: Folder<'_>) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
    let mut files = Vec::new();
    each_file(document, |owner, name, value| {
        let kept = kept_name(owner, name);
        let decor = value.decor().clone();
        *value = Value::from(&kept);
        *value.decor_mut() = decor;
        let content = folder.read(name).map_err(Failure::file("read", &folder.path(name)));
        files.push(content.map(|content| (PathBuf::from(kept), content)));
    });
    files.into_iter().collect()
}

/// Where a data file lies in the run folder. Owners differ, so these cannot collide; slashes on every system, because the path is written into the problem file.
fn kept_name(owner: &str, file: &str) -> String {
    let base = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    format!("data/{owner}/{base}")
}

/// Visits every data file: the given field, the equation, the observation or the place in an unknown (as `k.truth`) that owns
/// it, the file's name, and where it is written.
fn each_file(document: &mut DocumentMut, mut each: impl FnMut(&str, &str, &mut Value)) {
    each_file_of(document.as_table_mut(), &mut each);
    let experiments = document.get_mut("experiment").and_then(Item::as_table_like_mut);
    for (experiment, table) in experiments.into_iter().flat_map(|table| table.iter_mut()) {
        let Some(table) = table.as_table_like_mut() else { continue };
        let name = experiment.get().to_owned();
        each_file_of(table, &mut |owner, file, value| each(&format!("{owner}@{name}"), file, value));
    }
}

fn each_file_of(document: &mut dyn TableLike, each: &mut dyn FnMut(&str, &str, &mut Value)) {
    for (kind, place) in FILES {
        let Some(entries) = document.get_mut(kind).and_then(Item::as_table_like_mut) else {
            continue;
        };
        for (owner, entry) in entries.iter_mut() {
            if let Some(value) = file_in(entry, place)
                && let Some(name) = value.as_str().map(str::to_string)
            {
                let owner = match (kind, place) {
                    ("unknown", [.., last]) => format!("{}.{last}", owner.get()),
                    _ => owner.get().to_owned(),
                };
                each(&owner, &name, value);
            }
        }
    }
}

fn file_in<'a>(entry: &'a mut Item, place: &[&str]) -> Option<&'a mut Value> {
    let mut item = entry;
    for key in place {
        item = item.as_table_like_mut()?.get_mut(key)?;
    }
    item.as_table_like_mut()?.get_mut("file")?.as_value_mut()
}

/// Adds what the command line said above, and the settings in force below.
fn remarked(text: &str, overrides: &Overrides, problem: &Problem) -> String {
    let mut above = String::new();
    let recipe = overrides.recipe.iter().map(|recipe| format!(" --recipe {recipe}"));
    let given: String =
        recipe.chain(overrides.set.iter().map(|set| format!(" --set {}", set.text()))).collect();
    if !given.is_empty() {
        above += &format!("Contains what the command line said:{given}\n");
    }
    let below = format!("In force, defaults included:\n{}", in_force(problem));
    let remark = |text: &str| text.lines().map(|line| format!("{REMARK}{line}\n")).collect::<String>();
    let gap = if text.ends_with('\n') { "" } else { "\n" };
    format!("{}{text}{gap}{}", remark(&above), remark(&below))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(toml: &str, set: &[&str]) -> String {
        let mut document: DocumentMut = toml.parse().unwrap();
        let overrides = Overrides { recipe: Some("paper".into()), ..Overrides::of(set.iter().copied()) };
        apply(&mut document, &overrides).unwrap();
        document.to_string()
    }

    #[test]
    fn settings_of_the_command_line_replace_those_of_the_file_and_leave_the_rest() {
        let toml = "name = \"a\" # mine\n[train]\nrate = 1.0 # slow\n[observation.p]\ndata = { synthetic = { noise = 0.0 } }\n";
        let expected = "name = \"a\" # mine\n[train]\nrate = 0.5 # slow\nrecipe = \"paper\"\n[observation.p]\ndata = { synthetic = { noise = 0.1 } }\n";
        assert_eq!(edited(toml, &["train.rate=0.5", "observation.p.data.synthetic.noise = 0.1"]), expected);
    }

    #[test]
    fn missing_tables_are_made_and_bare_words_are_strings() {
        let text =
            edited("name = \"a\"\n", &["network.activation=sin", "observation.p.data={ file = 'x.csv' }"]);
        let document: DocumentMut = text.parse().unwrap();
        assert_eq!(document["network"]["activation"].as_str(), Some("sin"));
        assert_eq!(document["observation"]["p"]["data"]["file"].as_str(), Some("x.csv"));
        assert_eq!(document["train"]["recipe"].as_str(), Some("paper"));
    }

    #[test]
    fn settings_of_the_command_line_win_over_those_of_a_recipe() {
        let text = edited("[train]\n[train.paper]\nrate = 1.0\nsteps = 3\n", &["train.rate=0.5"]);
        let document: DocumentMut = text.parse().unwrap();
        assert_eq!(document["train"]["rate"].as_float(), Some(0.5));
        assert!(document["train"]["paper"].get("rate").is_none());
        assert_eq!(document["train"]["paper"]["steps"].as_integer(), Some(3));
    }

    #[test]
    fn a_key_inside_an_inline_table_is_made_inline() {
        let text = edited("points = { grid = { x = 3 } }\n", &["points.at.t=1.0"]);
        let document: DocumentMut = text.parse().unwrap();
        assert_eq!(document["points"]["at"]["t"].as_float(), Some(1.0));
    }

    #[test]
    fn data_files_are_taken_along_under_names_that_cannot_collide() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("p.csv"), "one").unwrap();
        fs::write(folder.path().join("sub/p.csv"), "two").unwrap();
        let toml = "[equation.e]\npoints = { file = \"p.csv\" }\n[observation.o]\ndata = { file = \"sub/p.csv\" } # kept\n";
        let mut document: DocumentMut = toml.parse().unwrap();
        let files = take_files(&mut document, folder.path().into()).unwrap();
        let expected = "[equation.e]\npoints = { file = \"data/e/p.csv\" }\n[observation.o]\ndata = { file = \"data/o/p.csv\" } # kept\n";
        assert_eq!(document.to_string(), expected);
        assert_eq!(files[0], (PathBuf::from("data/e/p.csv"), b"one".to_vec()));
        assert_eq!(files[1], (PathBuf::from("data/o/p.csv"), b"two".to_vec()));
    }

    #[test]
    fn files_of_experiments_are_taken_along_too() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("p.csv"), "one").unwrap();
        let toml = "[experiment.warm]\nobservation = { o = { data = { file = \"p.csv\" } } }\n";
        let mut document: DocumentMut = toml.parse().unwrap();
        let files = take_files(&mut document, folder.path().into()).unwrap();
        assert!(document.to_string().contains("file = \"data/o@warm/p.csv\""), "{document}");
        assert_eq!(files, [(PathBuf::from("data/o@warm/p.csv"), b"one".to_vec())]);
    }

    #[test]
    fn files_of_one_unknown_do_not_collide() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("k.csv"), "one").unwrap();
        fs::write(folder.path().join("sub/k.csv"), "two").unwrap();
        let toml = "[unknown.k]\nguess = { file = \"k.csv\" }\ntruth = { file = \"sub/k.csv\" }\n";
        let mut document: DocumentMut = toml.parse().unwrap();
        let files = take_files(&mut document, folder.path().into()).unwrap();
        let expected = "[unknown.k]\nguess = { file = \"data/k.guess/k.csv\" }\ntruth = { file = \"data/k.truth/k.csv\" }\n";
        assert_eq!(document.to_string(), expected);
        let names: Vec<&Path> = files.iter().map(|(path, _)| path.as_path()).collect();
        assert_eq!(names, [Path::new("data/k.guess/k.csv"), Path::new("data/k.truth/k.csv")]);
    }

    #[test]
    fn only_data_that_a_run_took_along_are_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let files = |toml: &str| {
            fs::write(folder.path().join(PROBLEM), toml).unwrap();
            former_data(folder.path())
        };
        let own = "[observation.o]\ndata = { file = \"data/o/p.csv\" }\n";
        assert_eq!(files(own), [folder.path().join("data/o/p.csv")]);
        for other in ["p.csv", "../p.csv", "data/o/../../p.csv", "data/e/p.csv", "/data/o/p.csv", ""] {
            assert!(files(&own.replace("data/o/p.csv", other)).is_empty(), "{other}");
        }
        assert!(files("no TOML").is_empty());
    }
}
