//! Profile likelihoods: curves with their intervals.

use crate::html::figure::{Figures, Lines};
use crate::html::hues::{ESTIMATE, GUESS};
use crate::html::mathml::inline_name;
use crate::html::page::{legend, table, without_empty};
use crate::html::source::Source;
use crate::html::text::{number, or_none};
use crate::markup::{Html, html};
use crate::picture::series::Series;
use crate::profile::flat_sides;
use bilo::outcome::ProfileOutcome;

pub(super) fn html(source: &Source, figures: &mut Figures) -> Html {
    if source.profiles.is_empty() {
        return Html::default();
    }
    let row = |profile: &ProfileOutcome| {
        vec![
            inline_name(&profile.name),
            Html::text(&number(profile.estimate)),
            interval(profile.interval_68),
            interval(profile.interval_95),
            Html::text(&flat_sides(profile).join(". ")),
        ]
    };
    let rows: Vec<Vec<Html>> = source.profiles.iter().map(row).collect();
    let header = ["unknown", "best fit", "68 % interval", "95 % interval", "not limited"];
    let (header, rows) = without_empty(&header, rows);
    let figures: Html = source.profiles.iter().map(|profile| figure(profile, figures)).collect();
    let remark = "Twice what the best log-likelihood for each value of the unknown is below the largest; the other unknowns follow.";
    html!("{}{}<div class=\"pair\">\n{}</div>\n", table(&header, &rows), legend(remark), figures)
}

fn interval((lo, hi): (Option<f64>, Option<f64>)) -> Html {
    html!("[{}, {}]", or_none(lo, number), or_none(hi, number))
}

fn figure(profile: &ProfileOutcome, figures: &mut Figures) -> Html {
    let values: Vec<f64> = profile.points.iter().map(|point| point.value).collect();
    let rises: Vec<f64> = profile.points.iter().map(|point| point.rise).collect();
    let mut series = vec![Series::curve("profile", ESTIMATE, &values, &rises)];
    if let (Some(lo), Some(hi)) = profile.interval_95 {
        series.push(Series::curve("95 %", GUESS, &[lo, hi], &[profile.threshold; 2]));
    }
    let name = &profile.name;
    let lines = Lines::new(format!("Profile of {name}"), [name.as_str(), "2 ΔlogL"], series);
    figures.lines(Lines { half: true, ..lines }, "with the interval of 95 %.")
}
