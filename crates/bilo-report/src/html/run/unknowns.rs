//! What was inferred: a table of numbers, figures of functions.

use crate::html::block::Block;
use crate::html::figure::{Figures, Lines, Panel};
use crate::html::hues::{ESTIMATE, GUESS, TRUTH};
use crate::html::mathml::inline_name;
use crate::html::page::{legend, table, without_empty};
use crate::html::run::fields::axes_of;
use crate::html::source::{Source, string};
use crate::html::text::{number, or_none, scientific};
use crate::markup::{Html, html};
use crate::picture::series::{Series, Shape, joined};
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

/// A figure of a function: curves, or fields.
fn figure(source: &Source, name: &str, unknown: &Value, figures: &mut Figures) -> Html {
    let Some(axes) = axes_of(source, &arguments(unknown)) else { return Html::default() };
    let block = |suffix: &str| {
        let array = source.arrays.get(&format!("{name}{suffix}"))?;
        Block::new(array, &axes, source.time())
    };
    let Some(estimate) = block("") else { return Html::default() };
    let [sd, truth, guess] = ["_sd", "_truth", "_guess"].map(block);
    let function = Function { name, estimate, sd, truth, guess };
    match axes.len() {
        1 => function.curves(figures),
        2 => function.maps(figures),
        _ => Html::default(),
    }
}

/// An unknown function, with what it may be compared with.
struct Function<'a> {
    name: &'a str,
    estimate: Block,
    sd: Option<Block>,
    truth: Option<Block>,
    guess: Option<Block>,
}

impl Function<'_> {
    fn curves(&self, figures: &mut Figures) -> Html {
        let (axis, values) = (&self.estimate.axes[0], &self.estimate.values);
        let others = [("truth", &self.truth, TRUTH), ("guess", &self.guess, GUESS)];
        let curve = |what, colour, values| Series::curve(what, colour, &axis.nodes, values);
        let others = others.into_iter().filter_map(|(what, block, colour)| {
            block.as_ref().map(|block| curve(what, colour, &block.values).dashed())
        });
        let mut series: Vec<Series> = others.chain([curve("estimate", ESTIMATE, values)]).collect();
        let mut banded = "";
        if let Some(sd) = &self.sd {
            let beside = |side: f64| {
                let heights = values.iter().zip(&sd.values).map(|(value, sd)| value + side * sd);
                joined(&axis.nodes, &heights.collect::<Vec<f64>>())
            };
            let estimate = series.last_mut().expect("the estimate");
            estimate.shapes.insert(0, Shape::Band(beside(2.0), beside(-2.0)));
            banded = "; the band is the 95 % interval, two standard errors to each side";
        }
        let caption = format!("at {} nodes{banded}.", self.estimate.resolution());
        figures.lines(Lines::new(self.name, [&axis.name, self.name], series), caption)
    }

    fn maps(self, figures: &mut Figures) -> Html {
        let Function { name, estimate, truth, guess, .. } = self;
        let ends = Some(Block::common_range([Some(&estimate), truth.as_ref()].into_iter().flatten()));
        let caption =
            format!("at {} nodes; estimate, truth and guess in the same colours.", estimate.resolution());
        let difference = truth.as_ref().and_then(|truth| figures.compare(&estimate, truth));
        let panel = |what: &str, block: Block, ends| Panel { title: format!("{name}, {what}"), block, ends };
        let mut panels = vec![panel("estimate", estimate, ends)];
        panels.extend(truth.map(|truth| panel("truth", truth, ends)));
        panels.extend(difference.map(|block| panel("estimate − truth", block, None)));
        panels.extend(guess.map(|guess| panel("guess", guess, ends)));
        figures.maps(name, panels, caption)
    }
}
