//! Searches from several starts: where they ended, the best first, and other minima that fit as well.

use crate::html::figure::{Figures, Lines};
use crate::html::hues::ESTIMATE;
use crate::html::page::{legend, table};
use crate::html::source::Source;
use crate::html::text::number;
use crate::markup::{Html, html};
use crate::picture::series::{Series, Shape};
use bilo::outcome::Minimum;

pub(super) fn html(source: &Source, figures: &mut Figures) -> Html {
    waterfall(source, figures) + minima(&source.outcome.minima)
}

/// What the log-likelihood of each search is below the best one.
fn waterfall(source: &Source, figures: &mut Figures) -> Html {
    let found: Vec<f64> = source.outcome.starts.iter().filter_map(|start| start.log_likelihood).collect();
    let Some(best) = found.first().copied() else { return Html::default() };
    let points = found.iter().enumerate().map(|(rank, found)| [(rank + 1) as f64, best - found]).collect();
    let series = vec![Series::new("searches", ESTIMATE, vec![Shape::Dots(points, 4.0)])];
    let lines = Lines::new("Searches from other starts", ["rank", "log-likelihood below the best"], series);
    let ended = source.outcome.starts.iter().filter(|start| start.converged).count();
    let caption = format!("{ended} of {} came to a minimum.", source.outcome.starts.len());
    figures.lines(Lines { half: true, ..lines }, caption)
}

fn minima(minima: &[Minimum]) -> Html {
    if minima.is_empty() {
        return Html::default();
    }
    let row = |minimum: &Minimum| {
        let kind = if minimum.same_equations { "the same equations" } else { "other equations" };
        let below = number(minimum.log_likelihood_below);
        vec![Html::text(&minimum.in_words()), Html::text(&below), Html::text(kind)]
    };
    let rows: Vec<Vec<Html>> = minima.iter().map(row).collect();
    let header = ["other values that fit as well", "log-likelihood below the best", "what they are"];
    html!(
        "{}{}",
        table(&header, &rows),
        legend("Mirror images, whole periods, unknowns in each other\u{2019}s place, and other starts.")
    )
}
