//! What was inferred: a table of numbers, figures of functions.

use super::{ESTIMATE, GUESS, TRUTH};
use crate::html::block::Block;
use crate::html::figure::{Curve, Figures, Lines, Panel, Scale};
use crate::html::mathml::inline_name;
use crate::html::page::{legend, table, without_empty};
use crate::html::run::fields::axes_of;
use crate::html::source::{Source, string};
use crate::html::text::{number, or_none, scientific};
use crate::markup::{Html, html};
use serde_json::Value;

pub(super) fn html(source: &Source, figures: &mut Figures) -> Html {
    let all = || source.outcome["unknowns"].as_object().into_iter().flatten();
    let of_kind = |kind: &'static str| all().filter(move |(_, unknown)| unknown["kind"] == kind);
    let rows: Vec<Vec<Html>> =
        of_kind("scalar").map(|(name, unknown)| scalar(source, name, unknown)).collect();
    let mut html = Html::default();
    if !rows.is_empty() {
        let header = ["unknown", "guess", "estimate", "±", "best fit", "truth", "relative error"];
        html += table(&header, &rows);
        html += legend(
            "± is one standard error, for the noise of the data. Best fit is the value with the least misfit by the \
             reference solver.",
        );
    }
    let rows: Vec<Vec<Html>> = of_kind("function").map(|(name, unknown)| function(name, unknown)).collect();
    if !rows.is_empty() {
        let header = [
            "unknown function",
            "least",
            "greatest",
            "±, relative L²",
            "relative L² error",
            "that of the guess",
            "on the right side of the threshold",
        ];
        let (header, rows) = without_empty(&header, rows);
        html += table(&header, &rows);
        if of_kind("function").any(|(_, unknown)| unknown["relative_sd"].is_f64()) {
            html += legend(
                "± is one standard error, for the noise of the data and for the pull of the regulariser if the function is \
                 as rough everywhere as the data show it.",
            );
        }
    }
    of_kind("function").for_each(|(name, unknown)| html += figure(source, name, unknown, figures));
    html
}

/// An unknown number, with the unit that the problem file states.
fn scalar(source: &Source, name: &str, unknown: &Value) -> Vec<Html> {
    let stated = source.entries("unknown").into_iter().find(|(other, _)| *other == name);
    let unit = stated.and_then(|(_, item)| string(item, "unit"));
    let unit = unit.map_or_else(Html::default, |unit| html!(" <small>{}</small>", unit));
    let value = |key: &str| unknown[key].as_f64();
    vec![
        inline_name(name) + unit,
        or_none(value("guess"), number),
        html!("<b>{}</b>", or_none(value("estimate"), number)),
        or_none(value("sd"), |sd| scientific(sd, 1)),
        or_none(value("data_optimal"), number),
        or_none(value("truth"), number),
        or_none(value("relative_error"), |error| scientific(error, 2)),
    ]
}

fn function(name: &str, unknown: &Value) -> Vec<Html> {
    let of = arguments(unknown);
    let of = of.iter().map(|name| inline_name(name));
    let share = |share: f64| html!("{}&thinsp;%", format!("{:.1}", 100.0 * share));
    vec![
        html!("{}({})", inline_name(name), Html::joined(of, ", ")),
        or_none(unknown["range"][0].as_f64(), number),
        or_none(unknown["range"][1].as_f64(), number),
        or_none(unknown["relative_sd"].as_f64(), |sd| scientific(sd, 1)),
        or_none(unknown["relative_l2_error"].as_f64(), |error| scientific(error, 2)),
        or_none(unknown["relative_l2_error_of_guess"].as_f64(), |error| scientific(error, 2)),
        or_none(unknown["classification_accuracy"].as_f64(), share),
    ]
}

fn arguments(unknown: &Value) -> Vec<String> {
    let of = unknown["of"].as_array().into_iter().flatten();
    of.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Estimate, truth and guess of a function, as curves or as fields.
fn figure(source: &Source, name: &str, unknown: &Value, figures: &mut Figures) -> Html {
    let Some(axes) = axes_of(source, &arguments(unknown)) else { return Html::default() };
    let block = |suffix: &str| {
        let array = source.arrays.get(&format!("{name}{suffix}"))?;
        Block::new(array, &axes, source.time())
    };
    let Some(estimate) = block("") else { return Html::default() };
    let others = [("truth", block("_truth"), TRUTH), ("guess", block("_guess"), GUESS)];
    match estimate.axes.len() {
        1 => curves(name, &estimate, block("_sd"), &others, figures),
        2 => maps(name, &estimate, others, figures),
        _ => Html::default(),
    }
}

fn curves(
    name: &str,
    estimate: &Block,
    sd: Option<Block>,
    others: &[(&str, Option<Block>, usize)],
    figures: &mut Figures,
) -> Html {
    let nodes = &estimate.axes[0].nodes;
    let mut curves = vec![];
    for (what, block, colour) in others {
        if let Some(block) = block {
            curves.push(Curve::new(what, *colour, nodes, block.values.clone()).dashed());
        }
    }
    let twice = sd.map_or(vec![], |sd| sd.values.iter().map(|sd| 2.0 * sd).collect());
    let banded = if twice.is_empty() {
        ""
    } else {
        "; the band is the 95 % interval, two standard errors to each side"
    };
    curves.push(Curve::new("estimate", ESTIMATE, nodes, estimate.values.clone()).with_band(twice));
    let names = [estimate.axes[0].name.clone(), name.to_owned()];
    let caption = format!("at {} nodes{banded}.", estimate.resolution());
    figures.lines(Lines { title: name.into(), names, curves, ..Lines::default() }, caption)
}

fn maps(
    name: &str,
    estimate: &Block,
    others: [(&str, Option<Block>, usize); 2],
    figures: &mut Figures,
) -> Html {
    let [(_, truth, _), (_, guess, _)] = others;
    let compared = [Some(estimate), truth.as_ref()];
    let ranges = compared.into_iter().flatten().map(Block::range);
    let (lo, hi) = ranges.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (lo, hi)| (a.min(lo), b.max(hi)));
    let panel = |what: &str, block: Block, scale| Panel { title: format!("{name}, {what}"), block, scale };
    let difference = truth.as_ref().and_then(|truth| estimate.minus(truth));
    if let (Some(truth), Some(difference)) = (&truth, &difference) {
        figures.compare(estimate, truth, difference);
    }
    let mut panels = vec![panel("estimate", estimate.clone(), Scale::Values(lo, hi))];
    panels.extend(truth.map(|truth| panel("truth", truth, Scale::Values(lo, hi))));
    panels.extend(difference.map(|block| panel("estimate − truth", block, Scale::Differences)));
    panels.extend(guess.map(|guess| panel("guess", guess, Scale::Values(lo, hi))));
    let caption =
        format!("at {} nodes; estimate, truth and guess in the same colours.", estimate.resolution());
    figures.maps(name, panels, caption)
}
