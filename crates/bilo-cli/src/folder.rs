//! The run folder, and the promise to overwrite nothing but former runs.

use crate::failure::Failure;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(crate) const PROBLEM: &str = "problem.toml";
pub(crate) const HISTORY: &str = "history.csv";
pub(crate) const FIELDS: &str = "fields.npz";
pub(crate) const OUTCOME: &str = "outcome.json";

/// `runs/NAME-SEED`; whatever is not fit for a folder's name becomes `-`.
pub(crate) fn default_folder(problem: &str, seed: u64) -> PathBuf {
    let fit = |c: char| {
        if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' }
    };
    let name: String = problem.chars().map(fit).collect();
    Path::new("runs").join(format!("{name}-{seed}"))
}

/// Makes the folder, or empties a former run's of what a run writes; anything else in it stays.
pub(crate) fn prepare(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(Failure::file("create the folder", folder))?;
    let empty = fs::read_dir(folder).map_err(Failure::file("look into", folder))?.next().is_none();
    if !empty && !is_former_run(folder) {
        let failure =
            Failure::new(format!("`{}` exists and is not the folder of a former run", folder.display()));
        return Err(failure.help("nothing was changed; choose another folder with --out"));
    }
    for name in [PROBLEM, HISTORY, FIELDS, OUTCOME] {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Failure::file("replace", &path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_former_run(folder: &Path) -> bool {
    [OUTCOME, HISTORY].iter().any(|name| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_folder_stays_below_runs() {
        assert_eq!(default_folder("fisher-kpp", 3), Path::new("runs/fisher-kpp-3"));
        assert_eq!(default_folder("../a b", 0), Path::new("runs/---a-b-0"));
    }

    #[test]
    fn a_former_run_is_emptied_of_its_files_only() {
        let folder = tempfile::tempdir().unwrap();
        for name in [OUTCOME, PROBLEM, "notes.txt"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        prepare(folder.path()).unwrap();
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.txt"]);
    }

    #[test]
    fn any_other_folder_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mine = folder.path().join(PROBLEM);
        fs::write(&mine, "mine").unwrap();
        let failure = prepare(folder.path()).unwrap_err();
        assert!(failure.render(false).contains("is not the folder of a former run"));
        assert_eq!(fs::read_to_string(mine).unwrap(), "mine");
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "mine").unwrap();
        assert!(prepare(&file).is_err());
        assert_eq!(fs::read_to_string(file).unwrap(), "mine");
    }
}
