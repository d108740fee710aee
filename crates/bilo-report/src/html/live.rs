//! The page of a run or a study that is under way: asked for again and again, it has what is new.

use super::ReportError;
use super::figure::Figures;
use super::page::{self, table};
use super::run;
use super::source::Source;
use super::text::{address, or_none};
use crate::history::{History, is_loss};
use crate::markup::{Html, html};
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
    let lost = html!("<p class=\"lost\">The program that served this page has ended.</p>\n");
    page::live(title, lost + html!("<div id=\"head\"></div>\n<div id=\"figures\"></div>\n"))
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
    let drawn = run::convergence(&source, &mut figures);
    let back = if back { html!("<nav><a href=\"./\">All runs</a></nav>\n") } else { Html::default() };
    let link = report.map(|report| html!(" <a href=\"{}\">The report</a> has all of it.", report));
    let (link, place, values) = (link.unwrap_or_default(), source.history.place(), last_values(&source));
    let head = html!(
        "{back}<header><h1>{title}</h1>\n<p>{place}: {state}.{link}</p></header>\n{values}";
        back, title, place, state, link, values
    );
    Ok(answer(title, head, drawn, figures))
}

/// What there is to see of a study; `report` leads to its page.
pub fn study(title: &str, runs: &[LiveRun], ended: usize, report: Option<&str>) -> Value {
    let unknowns = runs.iter().map(|run| unknowns_of(&run.history)).max_by_key(Vec::len).unwrap_or_default();
    let row = |run: &LiveRun| {
        let place = address(&run.name);
        let last = |unknown: &String| run.history.column(unknown).and_then(<[f64]>::last).copied();
        let report = run.reported.then(|| html!("<a href=\"{}/report.html\">report</a>", &place));
        let mut cells = vec![
            html!("<a href=\"?run={}\">{}</a>", &place, &run.name),
            Html::text(&run.history.place()),
            Html::text(&run.state),
        ];
        cells.extend(unknowns.iter().map(|unknown| or_none(last(unknown), significant)));
        cells.push(report.unwrap_or_default());
        cells
    };
    let rows: Vec<Vec<Html>> = runs.iter().map(row).collect();
    let mut header = vec!["run", "at", "state"];
    header.extend(unknowns.iter().map(String::as_str));
    header.push("");
    let link = report.map(|report| html!(" <a href=\"{}\">The report</a>.", report));
    let ended = format!("{ended} of the {} runs that were begun have ended.", runs.len());
    let (link, table) = (link.unwrap_or_default(), table(&header, &rows));
    let head = html!("<header><h1>{}</h1>\n<p>{}{}</p></header>\n{}", title, ended, link, table);
    answer(title, head, Html::default(), Figures::new(None))
}

/// What the page asks for.
fn answer(title: &str, head: Html, drawn: Html, figures: Figures) -> Value {
    let (head, drawn) = (head.into_string(), drawn.into_string());
    json!({ "title": title, "head": head, "figures": drawn, "data": figures.data() })
}

fn unknowns_of(history: &History) -> Vec<String> {
    history.columns.iter().map(|(name, _)| name.clone()).filter(|name| !is_loss(name)).collect()
}

/// A table of the unknowns as they are now.
fn last_values(source: &Source) -> Html {
    let row = |name: String| {
        let last = source.history.column(&name).and_then(<[f64]>::last).copied();
        let stated = source.scalar(&name);
        let guess = stated.map(|stated| stated.guess).filter(|guess| guess.is_finite());
        let truth = stated.and_then(|stated| stated.truth);
        vec![
            Html::text(&name),
            or_none(guess, significant),
            or_none(last, significant),
            or_none(truth, significant),
        ]
    };
    let rows: Vec<Vec<Html>> = unknowns_of(&source.history).into_iter().map(row).collect();
    if rows.is_empty() { Html::default() } else { table(&["unknown", "guess", "now", "truth"], &rows) }
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
        let figures = state["figures"].as_str().unwrap();
        assert_eq!(figures.matches("<figure ").count(), 2);
        assert!(
            figures.contains("data-title=\"residual.heat\"") && figures.contains("class=\"series\""),
            "{figures}"
        );
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
