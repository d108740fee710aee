//! `--guess`, `--guess-from` and `--fix` as settings of the problem file.

use crate::failure::Failure;
use crate::files::OUTCOME;
use bilo::outcome::Outcome;
use std::path::Path;

/// `D=1.5` as `unknown.D.guess=1.5`.
pub fn stated(assignments: &[String]) -> Result<Vec<String>, Failure> {
    let guess = |text: &String| {
        let (name, value) = pair(text, "--guess")?;
        Ok(format!("{}.guess={value}", table(name)))
    };
    assignments.iter().map(guess).collect()
}

/// `D=2` as a guess that is known; `D` alone fixes the guess of the file.
pub fn fixed(assignments: &[String]) -> Result<Vec<String>, Failure> {
    let mut set = vec![];
    for text in assignments {
        if !text.contains('=') {
            set.push(format!("{}.fixed=true", table(text.trim())));
            continue;
        }
        let (name, value) = pair(text, "--fix")?;
        let table = table(name);
        set.extend([format!("{table}.guess={value}"), format!("{table}.fixed=true")]);
    }
    Ok(set)
}

/// The estimates of the unknown numbers of a run.
pub(crate) fn of_run(folder: &Path) -> Result<Vec<String>, Failure> {
    let path = folder.join(OUTCOME);
    let refused = |why: String| {
        Failure::new(format!("cannot take guesses from {}: {why}", path.display()))
            .help("give the folder of a run that has ended")
    };
    let text = std::fs::read_to_string(&path).map_err(|error| refused(error.to_string()))?;
    let outcome: Outcome = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
    let numbers = outcome.unknowns.numbers.iter().filter(|number| number.estimate.is_finite());
    Ok(numbers.map(|number| format!("{}.guess={:?}", table(&number.name), number.estimate)).collect())
}

/// The table of an unknown: `T0@cold` is that of an experiment.
fn table(name: &str) -> String {
    match name.split_once('@') {
        Some((name, experiment)) => format!("experiment.{experiment}.unknown.{name}"),
        None => format!("unknown.{name}"),
    }
}

fn pair<'a>(text: &'a str, flag: &str) -> Result<(&'a str, &'a str), Failure> {
    let found = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    found.filter(|(name, value)| !name.is_empty() && !value.is_empty()).ok_or_else(|| {
        Failure::new(format!("`{text}` says nothing of an unknown"))
            .help(format!("write `{flag} NAME=VALUE`"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_settings_of_unknowns() {
        assert_eq!(stated(&["D = 1.5".into()]).unwrap(), ["unknown.D.guess=1.5"]);
        let fixed_both = fixed(&["D=2".into(), "T0".into()]).unwrap();
        assert_eq!(fixed_both, ["unknown.D.guess=2", "unknown.D.fixed=true", "unknown.T0.fixed=true"]);
        assert_eq!(stated(&["T0@cold=5".into()]).unwrap(), ["experiment.cold.unknown.T0.guess=5"]);
        assert!(stated(&["D".into()]).is_err() && fixed(&["=2".into()]).is_err());
    }
}
