//! How the run came to its end: losses and unknowns over the steps.

use super::path;
use crate::history::is_loss;
use crate::html::figure::{Figures, Lines};
use crate::html::hues::ESTIMATE;
use crate::html::source::Source;
use crate::markup::{Html, html};
use crate::picture::colour::LINES;
use crate::picture::series::Series;

pub(in crate::html) fn html(source: &Source, figures: &mut Figures) -> Html {
    if source.history.steps.is_empty() {
        return Html::default();
    }
    let scalars = scalars(source);
    let mut html = losses(source, &scalars, figures);
    let unknowns: Html = scalars.iter().map(|name| unknown(source, name, figures)).collect();
    html += html!("<div class=\"pair\">\n{}{}</div>\n", unknowns, path::html(source, &scalars, figures));
    html
}

/// Names of the unknown numbers that the history follows.
fn scalars(source: &Source) -> Vec<String> {
    let names = source.history.columns.iter().map(|(name, _)| name.clone());
    names.filter(|name| !is_loss(name)).collect()
}

/// Where phases begin, if there are several.
fn marks(source: &Source) -> Vec<(f64, String)> {
    let phases = &source.history.phases;
    let word = |name: &str| match name {
        "pretrain" => "pre-training".to_owned(),
        "train" => "training".to_owned(),
        other => other.to_owned(),
    };
    if phases.len() < 2 { vec![] } else { phases.iter().map(|(at, name)| (*at, word(name))).collect() }
}

fn losses(source: &Source, unknowns: &[String], figures: &mut Figures) -> Html {
    let history = &source.history;
    let columns = history.columns.iter().filter(|(name, _)| !unknowns.contains(name));
    // What is zero or below has no logarithm: a likelihood may well be negative.
    let positive = |values: &[f64]| values.iter().all(|value| value.is_nan() || *value > 0.0);
    let (above, below): (Vec<_>, Vec<_>) = columns.partition(|(_, values)| positive(values));
    let mut html = Html::default();
    for (columns, logarithmic) in [(above, true), (below, false)] {
        let curve = |(number, (name, values)): (usize, &(String, Vec<f64>))| {
            Series::curve(name, LINES[(1 + number) % LINES.len()], &history.steps, values)
        };
        let series: Vec<Series> = columns.into_iter().enumerate().map(curve).collect();
        if series.is_empty() {
            continue;
        }
        // One line alone has no legend: its name is the title.
        let (title, caption) = match &series[..] {
            [alone] => (alone.name.clone(), "over the steps, without its weight."),
            _ => ("Losses".to_owned(), "over the steps, without weights. A click on a name hides its line."),
        };
        let lines = Lines::new(title, ["step", "loss"], series);
        html += figures.lines(Lines { logarithmic, marks: marks(source), ..lines }, caption);
    }
    html
}

/// An unknown over the steps, its truth as a line.
fn unknown(source: &Source, name: &str, figures: &mut Figures) -> Html {
    let Some(values) = source.history.column(name) else { return Html::default() };
    let (truth, optimal) =
        source.scalar(name).map_or((None, None), |found| (found.truth, found.data_optimal));
    let mut rules = vec![];
    rules.extend(truth.map(|truth| (truth, "truth".to_owned())));
    let apart = |optimal: &f64| truth.is_none_or(|truth| (optimal - truth).abs() > 0.01 * truth.abs());
    rules.extend(optimal.filter(apart).map(|optimal| (optimal, "best fit".to_owned())));
    let series = vec![Series::curve(name, ESTIMATE, &source.history.steps, values)];
    let lines = Lines::new(name, ["step", name], series);
    figures.lines(Lines { rules, half: true, marks: marks(source), ..lines }, "over the steps.")
}
