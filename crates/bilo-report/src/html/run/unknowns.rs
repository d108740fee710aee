//! What was inferred: a table of numbers, figures of functions.

use crate::html::block::Block;
use crate::html::figure::{Figures, Lines, Panel};
use crate::html::hues::{ESTIMATE, GUESS, TRUTH};
use crate::html::mathml::inline_name;
use crate::html::page::{legend, table, without_empty};
use crate::html::run::fields::axes_of;
use crate::html::source::Source;
use crate::html::text::{none, number, or_none, scientific};
use crate::markup::{Html, html};
use crate::number::as_in_print;
use crate::picture::series::{Series, Shape, joined};
use bilo::outcome::{FunctionOutcome, ScalarOutcome};

pub(super) fn html(source: &Source, figures: &mut Figures) -> Html {
    let unknowns = &source.outcome.unknowns;
    let rows: Vec<Vec<Html>> = unknowns.numbers.iter().map(scalar).collect();
    let mut html = Html::default();
    if !rows.is_empty() {
        let header = [
            "unknown",
            "guess",
            "estimate",
            "±",
            "68 % interval",
            "95 % interval",
            "best fit",
            "truth",
            "relative error",
        ];
        html += table(&header, &rows);
        html += legend(
            "± is one standard error, for the noise of the data. Best fit is the value with the least misfit by the \
             reference solver.",
        );
        if unknowns.numbers.iter().any(|unknown| unknown.sd.is_none() && unknown.sd_network.is_some()) {
            html += legend("± is by the local operator alone: no second solver has checked it.");
        }
    }
    let rows: Vec<Vec<Html>> = unknowns.functions.iter().map(function).collect();
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
        if unknowns.functions.iter().any(|unknown| unknown.relative_sd.is_some()) {
            html += legend(
                "± is one standard error, for the noise of the data and for the pull of the regulariser if the function is \
                 as rough everywhere as the data show it.",
            );
        }
    }
    unknowns.functions.iter().for_each(|unknown| html += figure(source, unknown, figures));
    html
}

fn ends(interval: Option<(f64, f64)>) -> Html {
    interval.map_or_else(none, |ends| Html::text(&as_in_print(&crate::table::interval(ends))))
}

/// An unknown number with its unit.
fn scalar(unknown: &ScalarOutcome) -> Vec<Html> {
    let unit = unknown.unit.as_ref().map_or_else(Html::default, |unit| html!(" <small>{}</small>", unit));
    let estimate = Some(unknown.estimate).filter(|estimate| estimate.is_finite());
    vec![
        inline_name(&unknown.name) + unit,
        Html::text(&number(unknown.guess)),
        html!("<b>{}</b>", or_none(estimate, number)),
        or_none(unknown.sd.or(unknown.sd_network), |sd| scientific(sd, 1)),
        ends(unknown.interval_68),
        ends(unknown.interval_95),
        or_none(unknown.data_optimal, number),
        or_none(unknown.truth, number),
        or_none(unknown.relative_error(), |error| scientific(error, 2)),
    ]
}

fn function(unknown: &FunctionOutcome) -> Vec<Html> {
    let of = unknown.of.iter().map(|name| inline_name(name));
    let share = |share: f64| html!("{}&thinsp;%", format!("{:.1}", 100.0 * share));
    vec![
        html!("{}({})", inline_name(&unknown.name), Html::joined(of, ", ")),
        Html::text(&number(unknown.range.0)),
        Html::text(&number(unknown.range.1)),
        or_none(unknown.relative_sd, |sd| scientific(sd, 1)),
        or_none(unknown.relative_l2_error, |error| scientific(error, 2)),
        or_none(unknown.relative_l2_error_of_guess, |error| scientific(error, 2)),
        or_none(unknown.classification_accuracy, share),
    ]
}

/// A figure of a function: curves, or fields.
fn figure(source: &Source, unknown: &FunctionOutcome, figures: &mut Figures) -> Html {
    let (name, Some(axes)) = (&unknown.name[..], axes_of(source, &unknown.of)) else {
        return Html::default();
    };
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
