//! What came of the runs of a study: a row for each, means and standard deviations over seeds.

use super::plan::Plan;
use crate::report::number;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// One run: its outcome as written, or why there is none.
pub(crate) type Ended = Result<Value, String>;

/// The figures of a case.
struct Row {
    /// The values of what is varied.
    varied: Vec<String>,
    /// Each column's values over the seeds whose runs have one.
    figures: Vec<Vec<f64>>,
    /// Runs that did not end, with the reason of the first.
    failures: Vec<String>,
}

/// All cases under one header.
pub(crate) struct Summary {
    keys: Vec<String>,
    columns: Vec<String>,
    rows: Vec<Row>,
}

impl Summary {
    /// From all runs, in the order of the plan.
    pub(crate) fn new(plan: &Plan, ended: &[Ended]) -> Summary {
        let keys: Vec<String> = plan
            .cases
            .first()
            .map_or(vec![], |case| case.varied.iter().map(|(key, _)| key.clone()).collect());
        let mut columns: Vec<String> = vec![];
        for (name, _) in ended.iter().flatten().flat_map(figures) {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
        let rows = plan.cases.iter().zip(ended.chunks(plan.seeds.len()));
        let rows = rows.map(|(case, ended)| {
            let found: Vec<Vec<(String, f64)>> = ended.iter().flatten().map(figures).collect();
            let column = |name: &String| {
                found.iter().flatten().filter(|(other, _)| other == name).map(|(_, value)| *value).collect()
            };
            Row {
                varied: case.varied.iter().map(|(_, value)| value.clone()).collect(),
                figures: columns.iter().map(column).collect(),
                failures: ended.iter().filter_map(|ended| ended.as_ref().err().cloned()).collect(),
            }
        });
        let rows = rows.collect();
        Summary { keys, columns, rows }
    }

    /// For people: mean ± standard deviation over the seeds; failures are rows too.
    pub(crate) fn table(&self) -> String {
        let mut lines = vec![[self.short_keys(), self.columns.clone()].concat()];
        let mut remarks = vec![];
        for row in &self.rows {
            let mut cells = row.varied.clone();
            cells.extend(row.figures.iter().map(|values| with_deviation(values)));
            if let Some(reason) = row.failures.first() {
                let (count, name) = (row.failures.len(), row.varied.join(", "));
                let of = if name.is_empty() { String::new() } else { format!(" of {name}") };
                remarks
                    .push(format!("{count} run{}{of} failed: {reason}\n", if count == 1 { "" } else { "s" }));
            }
            lines.push(cells);
        }
        let widths: Vec<usize> = (0..lines[0].len())
            .map(|j| lines.iter().map(|cells| cells[j].chars().count()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for cells in &lines {
            let padded = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
            let _ = writeln!(text, "{}", padded.collect::<Vec<_>>().join("  ").trim_end());
        }
        text + &remarks.concat()
    }

    /// The last words of the keys, where these tell them apart.
    fn short_keys(&self) -> Vec<String> {
        let last = |key: &String| key.rsplit('.').next().unwrap_or(key).to_owned();
        let short: Vec<String> = self.keys.iter().map(last).collect();
        let alone = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
        if short.iter().all(alone) { short } else { self.keys.clone() }
    }

    /// For programs: every case with mean, standard deviation and number of runs of every column.
    pub(crate) fn json(&self, plan: &Plan) -> String {
        let case = |row: &Row| {
            let varied: Map<String, Value> =
                self.keys.iter().cloned().zip(row.varied.iter().map(|value| json!(value))).collect();
            let figure = |values: &Vec<f64>| {
                let (mean, sd) = moments(values);
                json!({ "mean": mean, "sd": sd, "runs": values.len() })
            };
            let figures: Map<String, Value> =
                self.columns.iter().cloned().zip(row.figures.iter().map(figure)).collect();
            json!({ "varied": varied, "figures": figures, "failures": row.failures })
        };
        let cases: Vec<Value> = self.rows.iter().map(case).collect();
        let value = json!({ "study": plan.name, "seeds": plan.seeds, "cases": cases });
        format!("{value:#}\n")
    }

    /// For spreadsheets: a row for each run.
    pub(crate) fn csv(&self, plan: &Plan, ended: &[Ended]) -> String {
        let seed = ["seed".to_owned(), "stop".to_owned()];
        let mut text = line(self.keys.iter().chain(&seed).chain(&self.columns));
        for (number, ended) in ended.iter().enumerate() {
            let (case, seed) =
                (&plan.cases[number / plan.seeds.len()], plan.seeds[number % plan.seeds.len()]);
            let mut cells: Vec<String> = case.varied.iter().map(|(_, value)| value.clone()).collect();
            cells.push(seed.to_string());
            let found = ended.as_ref().map_or(vec![], figures);
            cells.push(match ended {
                Ok(outcome) => outcome["stop"].as_str().unwrap_or_default().to_owned(),
                Err(reason) => format!("failed: {reason}"),
            });
            let cell = |name: &String| {
                let value = found.iter().find(|(other, _)| other == name);
                // `{:?}` is the shortest text that reads back as the same number.
                value.map_or(String::new(), |(_, value)| format!("{value:?}"))
            };
            cells.extend(self.columns.iter().map(cell));
            text += &line(cells.iter());
        }
        text
    }
}

/// A row of CSV; cells with commas or quotes stand in quotes.
fn line<'a>(cells: impl Iterator<Item = &'a String>) -> String {
    let quoted = |cell: &String| match cell.contains([',', '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

/// The figures of a run that are compared: errors of unknowns (estimates where no truth is known), agreement with the
/// classical solution, seconds.
fn figures(outcome: &Value) -> Vec<(String, f64)> {
    let mut found = vec![];
    let mut add = |name: String, value: &Value| {
        if let Some(value) = value.as_f64() {
            found.push((name, value));
        }
    };
    for (name, unknown) in entries(&outcome["unknowns"]) {
        match (unknown["relative_error"].is_null(), unknown["kind"] == "function") {
            (false, _) => add(format!("{name} error"), &unknown["relative_error"]),
            (true, false) => add(name.clone(), &unknown["estimate"]),
            (true, true) => add(format!("{name} error"), &unknown["relative_l2_error"]),
        }
        add(format!("{name} right"), &unknown["classification_accuracy"]);
    }
    for (name, state) in entries(&outcome["states"]) {
        add(format!("{name} vs classical"), &state["relative_l2_vs_classical"]);
    }
    add("seconds".to_owned(), &outcome["seconds"]["total"]);
    found
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Mean, and standard deviation where there are two or more.
fn moments(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    ((count > 0.0).then_some(mean), (count > 1.0).then(|| (square / (count - 1.0)).sqrt()))
}

fn with_deviation(values: &[f64]) -> String {
    match moments(values) {
        (None, _) => "-".to_owned(),
        (Some(mean), None) => number::significant(mean),
        (Some(mean), Some(sd)) => format!("{mean:.2e} ± {sd:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_deviations_are_those_of_samples() {
        assert_eq!(moments(&[]), (None, None));
        assert_eq!(moments(&[3.0]), (Some(3.0), None));
        assert_eq!(moments(&[1.0, 2.0, 3.0]), (Some(2.0), Some(1.0)));
    }

    #[test]
    fn cells_with_commas_stand_in_quotes() {
        let cells = ["a, b".to_owned(), "say \"c\"".to_owned(), "d".to_owned()];
        assert_eq!(line(cells.iter()), "\"a, b\",\"say \"\"c\"\"\",d\n");
    }

    #[test]
    fn errors_stand_for_estimates_where_the_truth_is_known() {
        let outcome = json!({
            "unknowns": {
                "D": { "kind": "scalar", "estimate": 2.0, "relative_error": 0.1 },
                "k": { "kind": "scalar", "estimate": 3.0, "relative_error": null },
                "A": { "kind": "function", "relative_l2_error": 0.2, "classification_accuracy": 0.9 },
            },
            "states": { "u": { "relative_l2_vs_classical": null } },
            "seconds": { "total": 1.5 },
        });
        let expected = [("D error", 0.1), ("k", 3.0), ("A error", 0.2), ("A right", 0.9), ("seconds", 1.5)];
        assert_eq!(figures(&outcome), expected.map(|(name, value)| (name.to_owned(), value)));
    }
}
