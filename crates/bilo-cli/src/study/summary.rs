//! What came of the runs of a study: a row for each, means and standard deviations over seeds.

use super::figures::{figures, in_table, lasts, remark};
use super::plan::{Plan, short};
use bilo::outcome::Outcome;
use bilo_report::number;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// One run: its outcome, or why there is none.
pub(crate) type Ended = Result<Outcome, String>;

/// The figures of a case.
struct Row {
    /// The values of what is varied; none of what another method has.
    varied: Vec<Option<String>>,
    /// Each column's values over the seeds whose runs have one.
    figures: Vec<Vec<f64>>,
    /// What to say of runs that did not end or ended badly.
    failures: Vec<String>,
    remarks: Vec<String>,
}

impl Row {
    /// What tells it from others.
    fn name(&self) -> String {
        self.varied.iter().flatten().cloned().collect::<Vec<_>>().join(", ")
    }
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
        let keys = plan.keys();
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
                varied: keys.iter().map(|key| case.value(key).map(str::to_owned)).collect(),
                figures: columns.iter().map(column).collect(),
                failures: ended.iter().filter_map(|ended| ended.as_ref().err().cloned()).collect(),
                remarks: ended.iter().flatten().filter_map(remark).collect(),
            }
        });
        let rows = rows.collect();
        Summary { keys, columns, rows }
    }

    /// For people: mean ± standard deviation over the seeds; failures are rows too. Without the seconds it is the same
    /// however the study came about.
    pub(crate) fn table(&self, with_seconds: bool) -> String {
        let shown = |name: &String| in_table(name) && (with_seconds || lasts(name));
        let shown: Vec<usize> = (0..self.columns.len()).filter(|&j| shown(&self.columns[j])).collect();
        let header = shown.iter().map(|&j| self.columns[j].clone());
        let mut lines = vec![self.short_keys().into_iter().chain(header).collect::<Vec<String>>()];
        let mut remarks = vec![];
        for row in &self.rows {
            let mut cells: Vec<String> =
                row.varied.iter().map(|value| value.clone().unwrap_or_else(|| "-".to_owned())).collect();
            cells.extend(shown.iter().map(|&j| with_deviation(&row.figures[j])));
            let name = row.name();
            let of = if name.is_empty() { String::new() } else { format!(" of {name}") };
            let mut say = |runs: &[String], what: &str| {
                if let Some(reason) = runs.first() {
                    let plural = if runs.len() == 1 { "" } else { "s" };
                    remarks.push(format!("{} run{plural}{of}{what}{reason}\n", runs.len()));
                }
            };
            say(&row.failures, " failed: ");
            say(&row.remarks, " ");
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

    /// Names of the figures that are the same whenever a run is.
    pub(crate) fn lasting(&self) -> impl Iterator<Item = &String> {
        self.columns.iter().filter(|name| in_table(name) && lasts(name))
    }

    /// Mean and standard deviation of a figure of a case.
    pub(crate) fn figure(&self, case: usize, name: &str) -> (Option<f64>, Option<f64>) {
        let column = self.columns.iter().position(|column| column == name);
        column.map_or((None, None), |column| moments(&self.rows[case].figures[column]))
    }

    /// The last words of the keys, where these tell them apart.
    fn short_keys(&self) -> Vec<String> {
        let short: Vec<String> = self.keys.iter().map(|key| short(key).to_owned()).collect();
        let alone = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
        if short.iter().all(alone) { short } else { self.keys.clone() }
    }

    /// For programs: every case with mean, standard deviation and number of runs of every column but the seconds.
    pub(crate) fn json(&self, plan: &Plan) -> String {
        let case = |row: &Row| {
            let varied: Map<String, Value> =
                self.keys.iter().cloned().zip(row.varied.iter().map(|value| json!(value))).collect();
            let figure = |values: &Vec<f64>| {
                let (mean, sd) = moments(values);
                json!({ "mean": mean, "sd": sd, "runs": values.len() })
            };
            let columns = self.columns.iter().zip(&row.figures).filter(|(name, _)| lasts(name));
            let figures: Map<String, Value> =
                columns.map(|(name, values)| (name.clone(), figure(values))).collect();
            json!({
                "varied": varied,
                "figures": figures,
                "failures": row.failures,
                "remarks": row.remarks,
            })
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
            let value = |key: &String| case.value(key).unwrap_or_default().to_owned();
            let mut cells: Vec<String> = self.keys.iter().map(value).collect();
            cells.push(seed.to_string());
            let found = ended.as_ref().map_or(vec![], figures);
            cells.push(match ended {
                Ok(outcome) => outcome.stop.name().to_owned(),
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
}
