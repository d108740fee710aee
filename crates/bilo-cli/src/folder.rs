//! The run folder, and the promise to overwrite nothing but former runs, and these only when there
//! is something to replace them.

use crate::checkpoint::{self, Owner};
use crate::failure::Failure;
use crate::files::{
    CALIBRATION, CALIBRATION_PICTURE, CHAIN, DRAWS, FIELDS, HISTORY, LOSSES, OUTCOME, POSTERIOR,
    POSTERIOR_STORE, PREDICTIVE, PRIOR, PRIOR_PICTURE, PRIOR_STORE, PROBLEM, PROFILE, RANKS, REPORT, RUN,
    TABLE, UNFINISHED, UNFINISHED_PROBLEM, UNFINISHED_REPORT, remove,
};
use crate::report::EVENTS;
use crate::rerun::{self, Rerun};
use bilo::Job;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// `runs/NAME-SEED`, or `runs/NAME-METHOD-SEED` so that another method replaces no run of the default; the name
/// of a problem is fit for a folder's.
pub(crate) fn default_folder(problem: &str, job: &Job) -> PathBuf {
    let seed = job.seed;
    Path::new("runs").join(match job.method == Job::default().method {
        true => format!("{problem}-{seed}"),
        false => format!("{problem}-{}-{seed}", job.method.name()),
    })
}

/// `runs/NAME-solve`.
pub(crate) fn default_solution_folder(problem: &str) -> PathBuf {
    Path::new("runs").join(format!("{problem}-solve"))
}

/// Refuses a folder with anything in it but a former solution.
pub(crate) fn refuse_unless_solution(path: &Path) -> Result<(), Failure> {
    if !path.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(Failure::file("look into", path))? {
        let name = entry.map_err(Failure::file("look into", path))?.file_name();
        if name != FIELDS && name != TABLE {
            let message = format!("`{}` exists and holds more than a former solution", path.display());
            return Err(Failure::new(message).help("nothing was changed; choose another folder with --out"));
        }
    }
    Ok(())
}

/// Where a run's files go. Nothing changes on the disk before it is opened.
pub struct RunFolder {
    path: PathBuf,
    rerun: Rerun,
    /// The history, held so that no other run writes into the folder.
    held: Option<File>,
    /// The length of the history that a run goes on from.
    goes_on: Option<u64>,
}

impl RunFolder {
    /// Refuses a folder that is neither empty nor a former run's.
    pub fn new(path: PathBuf, rerun: Rerun) -> Result<Self, Failure> {
        if path.exists() {
            let mut content = fs::read_dir(&path).map_err(Failure::file("look into", &path))?;
            if content.next().is_some() && !is_former_run(&path) {
                let message = format!("`{}` exists and is not the folder of a former run", path.display());
                return Err(
                    Failure::new(message).help("nothing was changed; choose another folder with --out")
                );
            }
        }
        Ok(RunFolder { path, rerun, held: None, goes_on: None })
    }

    /// The folder of a run that goes on from a checkpoint: nothing is removed but what its history has beyond a length.
    pub(crate) fn going_on(self, history: u64) -> Self {
        RunFolder { goes_on: Some(history), ..self }
    }

    /// Which run it is of.
    pub(crate) fn owner(&self, job: &Job) -> Owner {
        Owner { problem: self.rerun.fingerprint(), method: job.method.name(), seed: job.seed }
    }

    /// The length of the history that the run goes on from.
    pub(crate) fn goes_on(&self) -> Option<u64> {
        self.goes_on
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether [`RunFolder::open`] was called.
    pub(crate) fn is_open(&self) -> bool {
        self.held.is_some()
    }

    /// Holds the folder of a run that has ended, whose files stay.
    pub(crate) fn keep_others_out(&mut self) -> Result<(), Failure> {
        self.held = Some(hold(&self.path)?);
        Ok(())
    }

    /// Makes the folder, or removes a former run from it, and writes the problem into it. Later calls
    /// do nothing.
    pub(crate) fn open(&mut self) -> Result<&Path, Failure> {
        if self.held.is_none() {
            fs::create_dir_all(&self.path).map_err(Failure::file("create the folder", &self.path))?;
            // The mark of a run's folder, before all else: whenever the program is killed, the folder can be used again.
            let held = hold(&self.path)?;
            let history = self.path.join(HISTORY);
            held.set_len(self.goes_on.unwrap_or(0)).map_err(Failure::file("write", &history))?;
            self.held = Some(held);
            match self.goes_on {
                // What it came to is no longer all.
                Some(_) => remove(
                    &[OUTCOME, UNFINISHED, REPORT, UNFINISHED_REPORT, LOSSES]
                        .map(|name| self.path.join(name)),
                )?,
                None => {
                    remove_former_run(&self.path)?;
                    self.rerun.write(&self.path)?;
                }
            }
        }
        Ok(&self.path)
    }
}

/// Opens the history of a folder, for as long as no other run has it.
fn hold(folder: &Path) -> Result<File, Failure> {
    let history = folder.join(HISTORY);
    let options = File::options().create(true).truncate(false).write(true).open(&history);
    let file = options.map_err(Failure::file("write", &history))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let message = format!("another run is writing into `{}`", folder.display());
            Err(Failure::new(message).help("nothing was changed; choose another folder with --out"))
        }
        // Where files cannot be held (some network disks), runs are not told apart.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

fn is_former_run(folder: &Path) -> bool {
    [OUTCOME, HISTORY].iter().any(|name| folder.join(name).is_file())
}

/// Removes what a run writes, but for its history; anything else stays. The outcome goes first: where one is, all is.
fn remove_former_run(folder: &Path) -> Result<(), Failure> {
    let data = rerun::former_data(folder);
    let stated = rerun::former_files(folder);
    let own = [
        OUTCOME,
        UNFINISHED,
        REPORT,
        UNFINISHED_REPORT,
        FIELDS,
        LOSSES,
        PROBLEM,
        UNFINISHED_PROBLEM,
        RUN,
        PROFILE,
        POSTERIOR,
        DRAWS,
        PRIOR,
        PRIOR_PICTURE,
        CALIBRATION,
        CALIBRATION_PICTURE,
        RANKS,
    ]
    .into_iter()
    .chain(checkpoint::FILES);
    let mut files: Vec<PathBuf> = own.map(|name| folder.join(name)).collect();
    let entries = fs::read_dir(folder).map_err(Failure::file("look into", folder))?;
    let is_own = |name: &str| [EVENTS, PREDICTIVE, CHAIN].iter().any(|start| name.starts_with(start));
    let events = entries.flatten().filter(|entry| is_own(&entry.file_name().to_string_lossy()));
    files.extend(events.map(|entry| entry.path()));
    remove(&[&files, &data[..], &stated].concat())?;
    for store in [POSTERIOR_STORE, PRIOR_STORE].map(|name| folder.join(name)) {
        if store.is_dir() {
            fs::remove_dir_all(&store).map_err(Failure::file("replace", &store))?;
        }
    }
    // `data/NAME` and `data`, unless something else is in them.
    for above in data.iter().flat_map(|path| path.ancestors().skip(1).take(2)) {
        let _ = fs::remove_dir(above);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn run_folder(path: &Path) -> Result<RunFolder, Failure> {
        RunFolder::new(path.to_path_buf(), Rerun::default())
    }

    #[test]
    fn the_default_folder_has_the_name_and_the_seed() {
        let job = |seed, method| Job { seed, method, ..Job::default() };
        assert_eq!(
            default_folder("fisher-kpp", &job(3, &bilo::method::Automatic)),
            Path::new("runs/fisher-kpp-3")
        );
        assert_eq!(default_folder("a.b", &job(0, &bilo::method::Adjoint)), Path::new("runs/a.b-adjoint-0"));
    }

    #[test]
    fn nothing_changes_until_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("runs/new");
        let mut run = run_folder(&inner).unwrap();
        assert!(names(folder.path()).is_empty());
        run.open().unwrap();
        assert_eq!(names(&inner), [HISTORY, PROBLEM, RUN]);
    }

    #[test]
    fn a_former_run_goes_with_its_data_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let problem = "[equation.e]\npoints = { file = \"data/e/p.csv\" }\n\
                       [observation.o]\ndata = { file = \"data/o/d.csv\" }\n";
        fs::write(path.join(PROBLEM), problem).unwrap();
        fs::create_dir_all(path.join("data/e")).unwrap();
        fs::create_dir_all(path.join("data/o")).unwrap();
        for name in [OUTCOME, "notes.txt", "data/e/p.csv", "data/o/d.csv", "data/o/mine.csv"] {
            fs::write(path.join(name), "x").unwrap();
        }
        let mut run = run_folder(path).unwrap();
        assert!(path.join(OUTCOME).exists() && path.join("data/e/p.csv").exists());
        run.open().unwrap();
        assert_eq!(names(path), ["data", HISTORY, "notes.txt", PROBLEM, RUN]);
        assert_eq!(names(&path.join("data")), ["o"]);
        assert_eq!(names(&path.join("data/o")), ["mine.csv"]);
        fs::write(path.join(OUTCOME), "new").unwrap();
        run.open().unwrap();
        assert!(path.join(OUTCOME).exists(), "opened twice, emptied once");
    }

    #[test]
    fn any_other_folder_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mine = folder.path().join(PROBLEM);
        fs::write(&mine, "mine").unwrap();
        let failure = run_folder(folder.path()).err().unwrap();
        assert!(failure.render(false).contains("is not the folder of a former run"));
        assert_eq!(fs::read_to_string(mine).unwrap(), "mine");
    }

    #[test]
    fn only_a_former_solution_gives_way_to_a_solution() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for name in [FIELDS, TABLE] {
            fs::write(path.join(name), "x").unwrap();
        }
        assert!(refuse_unless_solution(path).is_ok() && refuse_unless_solution(&path.join("new")).is_ok());
        fs::write(path.join(OUTCOME), "x").unwrap();
        let failure = refuse_unless_solution(path).unwrap_err().render(false);
        assert!(failure.contains("holds more than a former solution"), "{failure}");
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "mine").unwrap();
        assert!(run_folder(&file).is_err());
        assert_eq!(fs::read_to_string(file).unwrap(), "mine");
    }
}
