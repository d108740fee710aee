//! The page of a run or a study that is under way: asked for again and again, it has what is new.

use super::ReportError;
use super::figure::Figures;
use super::page::{self, table};
use super::run;
use super::source::Source;
use super::text::{address, or_none};
use crate::escape::escaped;
use crate::history::{History, is_loss};
use crate::number::significant;
use serde_json::{Value, json};
use std::path::Path;

/// A run of a study.
pub struct LiveRun {
    /// Its folder's name.
    pub name: String,
    /// How it is, in words.
    pub state: String,
    /// As far as it is written.
    pub history: History,
    /// Whether it has a page of its own already.
    pub reported: bool,
}

/// The page before it has anything to show.
pub fn page(title: &str) -> String {
    let lost = "<p class=\"lost\">The program that served this page has ended.</p>\n";
    page::live(title, &format!("{lost}<div id=\"head\"></div>\n<div id=\"figures\"></div>\n"))
}

/// What there is to see of a run; `back` leads to the study that it is of, `report` to its page.
pub fn run(
    folder: &Path,
    title: &str,
    state: &str,
    back: bool,
    report: Option<&str>,
) -> Result<Value, ReportError> {
    let source = Source::under_way(folder)?;
    let mut figures = Figures::new(source.time());
    let html = run::convergence(&source, &mut figures);
    let mut head = if back { "<nav><a href=\"./\">All runs</a></nav>\n".to_owned() } else { String::new() };
    head += &format!(
        "<header><h1>{}</h1>\n<p>{}: {}.",
        escaped(title),
        escaped(&source.history.place()),
        escaped(state)
    );
    if let Some(report) = report {
        head += &format!(" <a href=\"{}\">The report</a> has all of it.", escaped(report));
    }
    head += "</p></header>\n";
    head += &last_values(&source);
    Ok(json!({ "title": title, "head": head, "figures": html, "data": figures.data() }))
}

/// What there is to see of a study; `report` leads to its page.
pub fn study(title: &str, runs: &[LiveRun], ended: usize, report: Option<&str>) -> Value {
    let unknowns = runs.iter().map(|run| unknowns_of(&run.history)).max_by_key(Vec::len).unwrap_or_default();
    let row = |run: &LiveRun| {
        let (name, place) = (escaped(&run.name), address(&run.name));
        let last = |unknown: &String| run.history.column(unknown).and_then(<[f64]>::last).copied();
        let report =
            if run.reported { format!("<a href=\"{place}/report.html\">report</a>") } else { String::new() };
        let mut cells = vec![
            format!("<a href=\"?run={place}\">{name}</a>"),
            escaped(&run.history.place()),
            escaped(&run.state),
        ];
        cells.extend(unknowns.iter().map(|unknown| or_none(last(unknown), significant)));
        cells.push(report);
        cells
    };
    let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
    let names: Vec<String> = unknowns.iter().map(|name| escaped(name)).collect();
    let mut header = vec!["run", "at", "state"];
    header.extend(names.iter().map(String::as_str));
    header.push("");
    let link =
        report.map_or(String::new(), |report| format!(" <a href=\"{}\">The report</a>.", escaped(report)));
    let head = format!(
        "<header><h1>{}</h1>\n<p>{ended} of the {} runs that were begun have ended.{link}</p></header>\n{}",
        escaped(title),
        runs.len(),
        table(&header, &rows)
    );
    json!({ "title": title, "head": head, "figures": "", "data": Figures::new(None).data() })
}

fn unknowns_of(history: &History) -> Vec<String> {
    history.columns.iter().map(|(name, _)| name.clone()).filter(|name| !is_loss(name)).collect()
}

/// A table of the unknowns as they are now.
fn last_values(source: &Source) -> String {
    let row = |name: String| {
        let last = source.history.column(&name).and_then(<[f64]>::last).copied();
        let of = |key: &str| or_none(source.number(&["unknowns", &name, key]), significant);
        vec![escaped(&name), of("guess"), or_none(last, significant), of("truth")]
    };
    let rows: Vec<Vec<String>> = unknowns_of(&source.history).into_iter().map(row).collect();
    if rows.is_empty() { String::new() } else { table(&["unknown", "guess", "now", "truth"], &rows) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const HISTORY: &str = "phase,step,seconds,residual.heat,D\ntrain,1,0.5,0.1,1.0\ntrain,2,61.0,0.01,1.5\n";

    #[test]
    fn a_run_under_way_has_its_figures_before_there_is_an_outcome() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("problem.toml"), "[unknown.D]\nguess = 1\ntruth = \"1 + 1\"\n").unwrap();
        fs::write(folder.path().join("history.csv"), HISTORY).unwrap();
        let state = run(folder.path(), "<rod>", "under way", true, None).unwrap();
        let head = state["head"].as_str().unwrap();
        assert!(head.contains("&lt;rod&gt;") && head.contains("train, step 2, 61.0 s: under way."), "{head}");
        assert!(head.contains("<td>D</td><td>1</td><td>1.5</td>"), "{head}");
        assert_eq!(state["data"]["figures"].as_array().map(Vec::len), Some(2));
        assert!(state["figures"].as_str().unwrap().contains("data-figure=\"1\""));
    }

    #[test]
    fn a_study_has_a_row_for_each_run() {
        let live = |name: &str, reported| LiveRun {
            name: name.into(),
            state: "converged".into(),
            history: History::parse(HISTORY, 10),
            reported,
        };
        let state = study("s", &[live("a&seed=0", true), live("a-seed=1", false)], 1, Some("report.html"));
        let head = state["head"].as_str().unwrap();
        assert!(head.contains("1 of the 2 runs"), "{head}");
        assert!(
            head.contains("<a href=\"?run=a%26seed=0\">") && head.contains("a%26seed=0/report.html"),
            "{head}"
        );
        assert!(!head.contains("a-seed=1/report.html"), "{head}");
    }

    #[test]
    fn the_page_may_ask_who_served_it_and_nobody_else() {
        let page = page("</title><script>");
        assert!(page.contains("connect-src 'self'") && page.contains("default-src 'none'"));
        assert!(!page.contains("<script>alert") && page.contains("&lt;/title&gt;"));
    }
}
