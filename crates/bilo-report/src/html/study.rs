//! The page of a study: its table, its pictures, and links to its runs.

use super::ReportError;
use super::figure::Figures;
use super::page::{self, Section, drawing, legend, sections, table};
use super::text::{address, count, none, or_none, scientific, with_deviation};
use super::write_run;
use crate::files::{OUTCOME, REPORT, STUDY};
use crate::markup::{Html, html};
use bilo::outcome::{Outcome, Unknowns};
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

/// The pictures that a study may have.
const PICTURES: [(&str, &str); 2] =
    [("Figures by case", "bars.svg"), ("Paths of two unknowns", "trajectories.svg")];

pub(super) fn is_in(folder: &Path) -> bool {
    folder.join(STUDY).is_file()
}

/// The page, after those of all runs were written.
pub(super) fn page(folder: &Path) -> Result<String, ReportError> {
    let path = folder.join(STUDY);
    let text = fs::read_to_string(&path).map_err(ReportError::reading(&path))?;
    let study: Value = serde_json::from_str(&text).map_err(ReportError::reading(&path))?;
    let pictures: Html = PICTURES
        .iter()
        .filter_map(|(name, file)| Some(drawing(name, &fs::read_to_string(folder.join(file)).ok()?)))
        .collect();
    let runs = runs(folder)?;
    let part = |id, heading, content| Section { id, heading, content };
    let parts = [
        part("results", "Results", results(&study)),
        part("pictures", "Pictures", pictures),
        part("runs", "Runs", links(&runs)),
    ];
    let name = study["study"].as_str().unwrap_or("study");
    let body = header(&study, name, runs.len()) + sections(&parts);
    Ok(page::page(name, body, &Figures::default().data()))
}

fn cases(study: &Value) -> impl Iterator<Item = &Value> {
    study["cases"].as_array().into_iter().flatten()
}

fn sentences<'a>(case: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    case[key].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn header(study: &Value, name: &str, runs: usize) -> Html {
    let seeds: Vec<String> = study["seeds"].as_array().into_iter().flatten().map(Value::to_string).collect();
    let mut remarks = Html::default();
    let mut failed = 0;
    for case in cases(study) {
        failed += sentences(case, "failures").count();
        for (key, what) in [("failures", "failed: "), ("remarks", "")] {
            for sentence in sentences(case, key) {
                remarks +=
                    html!("<p class=\"warning\">a run of {} {}{}</p>\n", name_of(case), what, sentence);
            }
        }
    }
    let class = match (failed, remarks.is_empty()) {
        (0, true) => "good",
        (0, false) => "fair",
        _ => "bad",
    };
    let ended = match failed {
        0 => Html::text("All runs came to an end."),
        _ => html!("<b>{} failed.</b>", failed.to_string()),
    };
    let (cases, runs) = (count(cases(study).count() as u64, "case"), count(runs as u64, "run"));
    let seeds = seeds.join(", ");
    html!(
        "<header>\n<h1>{name}</h1>\n<p class=\"about\">A study of {cases}, seeds {seeds}</p>\n\
         <div class=\"verdict {class}\"><p><b>{runs}</b> have results. {ended}</p>\n{remarks}</div>\n</header>\n";
        name, cases, seeds, class, runs, ended, remarks
    )
}

/// What tells a case from others.
fn name_of(case: &Value) -> String {
    let varied = case["varied"].as_object().into_iter().flat_map(Map::values);
    let values: Vec<&str> = varied.filter_map(Value::as_str).collect();
    if values.is_empty() { "the only case".to_owned() } else { values.join(", ") }
}

/// A row for each case, mean and deviation for each figure.
fn results(study: &Value) -> Html {
    let keys = union(cases(study).map(|case| &case["varied"]));
    let figures = union(cases(study).map(|case| &case["figures"]));
    let row = |case: &Value| {
        let varied = keys.iter().map(|key| case["varied"][key].as_str().map_or_else(none, Html::text));
        let figures = figures.iter().map(|figure| mean_of(&case["figures"][figure]));
        varied.chain(figures).collect::<Vec<Html>>()
    };
    let rows: Vec<Vec<Html>> = cases(study).map(row).collect();
    let keys = keys.iter().map(|key| key.rsplit('.').next().unwrap_or(key));
    let header: Vec<&str> = keys.chain(figures.iter().map(String::as_str)).collect();
    table(&header, &rows) + legend("Mean ± standard deviation over the seeds.")
}

/// The keys of objects, each once, in the order of their first appearance.
fn union<'a>(objects: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let mut keys: Vec<String> = vec![];
    for key in objects.filter_map(Value::as_object).flat_map(Map::keys) {
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    keys
}

fn mean_of(figure: &Value) -> Html {
    or_none(figure["mean"].as_f64(), |mean| with_deviation(mean, figure["sd"].as_f64().unwrap_or(0.0)))
}

/// A run of the study: its folder's name and its outcome.
struct Run {
    name: String,
    outcome: Outcome,
    has_page: bool,
}

/// All runs below the folder, sorted, each with a page of its own.
fn runs(folder: &Path) -> Result<Vec<Run>, ReportError> {
    let entries = fs::read_dir(folder).map_err(ReportError::reading(folder))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths.iter().filter_map(|path| Run::of(path)).collect())
}

impl Run {
    fn of(path: &Path) -> Option<Run> {
        let text = fs::read_to_string(path.join(OUTCOME)).ok()?;
        let outcome = Outcome::from_json(&text).ok()?;
        // A run whose page cannot be made is still a row.
        let has_page = write_run(path, &text).is_ok();
        Some(Run { name: path.file_name()?.to_string_lossy().into_owned(), outcome, has_page })
    }

    fn row(&self) -> Vec<Html> {
        let name = match self.has_page {
            true => html!("<a href=\"{}/{}\">{}</a>", address(&self.name), REPORT, &self.name),
            false => Html::text(&self.name),
        };
        let Unknowns { numbers, functions } = &self.outcome.unknowns;
        let numbers = numbers.iter().map(|number| (&number.name, number.relative_error()));
        let functions = functions.iter().map(|function| (&function.name, function.relative_l2_error));
        let error = |(name, error): (&String, Option<f64>)| {
            html!("{} {}", name, or_none(error, |error| scientific(error, 2)))
        };
        let seconds = Html::text(&crate::number::duration(self.outcome.seconds.total));
        let stop = Html::text(self.outcome.stop.name());
        vec![name, stop, Html::joined(numbers.chain(functions).map(error), ", "), seconds]
    }
}

fn links(runs: &[Run]) -> Html {
    let rows: Vec<Vec<Html>> = runs.iter().map(Run::row).collect();
    if rows.is_empty() { Html::default() } else { table(&["run", "ended", "relative errors", "time"], &rows) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_study_has_means_failures_and_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let study = json!({ "study": "noise", "seeds": [0, 1], "cases": [{
            "varied": { "method": "\"<bilo>\"" },
            "figures": { "D error": { "mean": 0.25, "sd": 0.05, "runs": 1 } },
            "failures": ["no </p> such thing"], "remarks": [],
        }] });
        fs::write(folder.path().join(STUDY), study.to_string()).unwrap();
        fs::write(folder.path().join("bars.svg"), "<svg></svg>").unwrap();
        let page = page(folder.path()).unwrap();
        for part in ["0.250 ± 0.050", "1 failed", "no &lt;/p&gt; such thing", "data:image/svg+xml;base64,"] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("<bilo>"));
    }
}
