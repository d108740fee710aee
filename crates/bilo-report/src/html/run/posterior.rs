//! A posterior: marginals with their priors, pairs, chains, what it predicts, and whether its draws may be used.

use crate::files::{DRAWS, is_plain, predictive_file};
use crate::html::figure::{Figures, Lines};
use crate::html::fit::Columns;
use crate::html::hues::{ESTIMATE, GUESS, REFERENCE, TRUTH};
use crate::html::mathml::inline_name;
use crate::html::page::{legend, table, without_empty};
use crate::html::source::Source;
use crate::html::text::{none, number, or_none, scientific};
use crate::markup::{Html, html};
use crate::number::extent;
use crate::picture::colour::LINES;
use crate::picture::series::{Series, Shape, joined};
use crate::posterior;
use crate::posterior::left_out_in_words;
use bilo::outcome::Colour;
use bilo::posterior::{ChainOutcome, Marginal, PosteriorOutcome};
use std::fs;
use std::path::Path;

/// Bars of a histogram, and of the ranks of a chain.
const BARS: usize = 31;
const RANKS: usize = 20;

/// Unknowns that are drawn, and those of which pairs are.
const MOST: usize = 12;
const MOST_OF_PAIRS: usize = 5;

/// Points of a curve or a cloud.
const MOST_POINTS: usize = 1000;

pub(super) fn html(source: &Source, folder: &Path, figures: &mut Figures) -> Html {
    let Some(outcome) = posterior::read(folder) else { return Html::default() };
    let draws = fs::read_to_string(folder.join(DRAWS)).ok().and_then(|text| Columns::parse(&text));
    let mut html = verdict(&outcome) + marginals(&outcome);
    if let Some(draws) = draws.and_then(|columns| Chains::new(columns, outcome.chains.len())) {
        let shown = &outcome.unknowns[..outcome.unknowns.len().min(MOST)];
        for unknown in shown {
            let drawn = [
                draws.density(unknown, figures),
                draws.traces(unknown, figures),
                draws.ranks(unknown, figures),
            ];
            html += html!("<div class=\"pair\">\n{}</div>\n", drawn.into_iter().collect::<Html>());
        }
        html += draws.pairs(&shown[..shown.len().min(MOST_OF_PAIRS)], figures);
        html += draws.energies(figures);
    }
    html + predictions(source, &outcome, folder, figures) + chains(&outcome)
}

fn verdict(outcome: &PosteriorOutcome) -> Html {
    let class = match outcome.verdict.colour {
        Colour::Green => "good",
        Colour::Orange => "fair",
        Colour::Red => "bad",
    };
    let says = match outcome.verdict.colour {
        Colour::Green => "Green: the chains agree, and a second solver has checked their draws.",
        Colour::Orange => "Orange: something needs a look.",
        Colour::Red => "Red: do not use these draws.",
    };
    let reason = |reason: &bilo::posterior::PosteriorReason| {
        let help = if reason.help.is_empty() { String::new() } else { format!("; {}", reason.help) };
        html!("<p class=\"warning\">{}{}.</p>\n", &reason.sentence, help)
    };
    let reasons: Html = outcome.verdict.reasons.iter().map(reason).collect();
    let audit =
        outcome.audited_in_words().map_or_else(Html::default, |words| html!("<p>Audit: {}.</p>\n", words));
    let notes: Html = outcome.notes.iter().map(|note| html!("<p class=\"note\">{}.</p>\n", note)).collect();
    html!(
        "<div class=\"verdict {class}\"><p><b>{says}</b></p>\n{reasons}{audit}{notes}</div>\n";
        class, says, reasons, audit, notes
    )
}

fn marginals(outcome: &PosteriorOutcome) -> Html {
    let interval = |(lo, hi): (f64, f64)| html!("[{}, {}]", number(lo), number(hi));
    let row = |marginal: &Marginal| {
        let unit =
            marginal.unit.as_ref().map_or_else(Html::default, |unit| html!(" <small>{}</small>", unit));
        vec![
            inline_name(&marginal.name) + unit,
            html!("<b>{}</b>", number(marginal.mean)),
            Html::text(&scientific(marginal.sd, 2)),
            Html::text(&number(marginal.median)),
            interval(marginal.interval_95),
            marginal.prior.as_ref().map_or_else(none, |prior| Html::text(prior)),
            or_none(marginal.truth, number),
            marginal
                .laplace
                .map_or_else(none, |(estimate, sd)| html!("{} ± {}", number(estimate), scientific(sd, 2))),
            Html::text(&scientific(marginal.mcse_mean, 1)),
            Html::text(&format!("{:.0}", marginal.ess_bulk)),
            Html::text(&format!("{:.0}", marginal.ess_tail)),
            Html::text(&format!("{:.3}", marginal.rhat)),
        ]
    };
    let header = [
        "",
        "mean",
        "sd",
        "median",
        "95 % interval",
        "prior",
        "truth",
        "estimate ± (Laplace)",
        "Monte Carlo error",
        "effective draws, bulk",
        "tail",
        "R-hat",
    ];
    let all = outcome.unknowns.iter().chain(&outcome.derived).chain(&outcome.noise);
    let (header, rows) = without_empty(&header, all.map(row).collect());
    table(&header, &rows)
        + legend(
            "R-hat is rank-normalised and split; at most 1.01, with at least 400 effective draws, is the field's standard.",
        )
}

/// The columns of `draws.csv`, by chain.
struct Chains {
    columns: Columns,
    count: usize,
}

impl Chains {
    fn new(columns: Columns, count: usize) -> Option<Chains> {
        let draws = columns.column("chain")?.len();
        (count > 0 && draws >= count).then_some(Chains { columns, count })
    }

    fn all(&self, name: &str) -> &[f64] {
        self.columns.column(name).unwrap_or_default()
    }

    fn each(&self, name: &str) -> impl Iterator<Item = &[f64]> {
        let all = self.all(name);
        all.chunks((all.len() / self.count).max(1)).take(self.count)
    }

    /// A histogram, with the prior and the Laplace approximation.
    fn density(&self, marginal: &Marginal, figures: &mut Figures) -> Html {
        let all = self.all(&marginal.name);
        let Some((lo, hi)) = extent(all.iter().copied()) else { return Html::default() };
        let width = (hi - lo) / BARS as f64;
        let mut heights = [0.0; BARS];
        for value in all {
            heights[(((value - lo) / width) as usize).min(BARS - 1)] += 1.0 / (all.len() as f64 * width);
        }
        let side = |bar: f64| lo + width * bar;
        let bar =
            |(i, &height): (usize, &f64)| [[side(i as f64 + 0.02), 0.0], [side(i as f64 + 0.98), height]];
        let bars = Shape::Bars(heights.iter().enumerate().map(bar).collect());
        let mut series = vec![Series::new("posterior", ESTIMATE, vec![bars])];
        if !marginal.prior_curve.is_empty() {
            let (x, y): (Vec<f64>, Vec<f64>) = marginal.prior_curve.iter().copied().unzip();
            series.push(line("prior", GUESS, &x, &y));
        }
        if let Some((estimate, sd)) = marginal.laplace {
            let x: Vec<f64> = (0..=100).map(|i| lo + (hi - lo) * f64::from(i) / 100.0).collect();
            let normal =
                |x: &f64| (-((x - estimate) / sd).powi(2) / 2.0).exp() / (sd * std::f64::consts::TAU.sqrt());
            series.push(line("Laplace", REFERENCE, &x, &x.iter().map(normal).collect::<Vec<_>>()).dashed());
        }
        if let Some(truth) = marginal.truth {
            let top = heights.iter().copied().fold(0.0, f64::max);
            series.push(line("truth", TRUTH, &[truth, truth], &[0.0, top]));
        }
        let name = &marginal.name;
        let lines = Lines::new(format!("Posterior of {name}"), [name.as_str(), "density"], series);
        figures.lines(Lines { half: true, ..lines }, "")
    }

    /// Every chain over its draws.
    fn traces(&self, marginal: &Marginal, figures: &mut Figures) -> Html {
        let trace = |(chain, values): (usize, &[f64])| {
            let every = values.len().div_ceil(MOST_POINTS).max(1);
            let x: Vec<f64> = (0..values.len()).step_by(every).map(|draw| draw as f64).collect();
            let y: Vec<f64> = values.iter().step_by(every).copied().collect();
            Series { width: 0.8, ..line(&format!("chain {chain}"), LINES[chain % LINES.len()], &x, &y) }
        };
        let series = self.each(&marginal.name).enumerate().map(trace).collect();
        let name = &marginal.name;
        let lines = Lines::new(format!("Chains of {name}"), ["draw", name], series);
        figures.lines(Lines { half: true, ..lines }, "")
    }

    /// How the ranks of each chain's draws among all are spread: evenly if the chains agree.
    fn ranks(&self, marginal: &Marginal, figures: &mut Figures) -> Html {
        let all = self.all(&marginal.name);
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| all[a].total_cmp(&all[b]));
        let length = (all.len() / self.count).max(1);
        let mut counts = vec![[0.0; RANKS]; self.count];
        for (rank, &place) in order.iter().enumerate() {
            counts[(place / length).min(self.count - 1)][rank * RANKS / all.len()] += 1.0;
        }
        let steps = |(chain, counts): (usize, &[f64; RANKS])| {
            let width = all.len() as f64 / RANKS as f64;
            let x: Vec<f64> = (0..2 * RANKS).map(|i| width * i.div_ceil(2) as f64).collect();
            let y: Vec<f64> = (0..2 * RANKS).map(|i| counts[i / 2]).collect();
            line(&format!("chain {chain}"), LINES[chain % LINES.len()], &x, &y)
        };
        let series = counts.iter().enumerate().map(steps).collect();
        let even = (length as f64 / RANKS as f64, "even".to_owned());
        let lines =
            Lines::new(format!("Ranks of {}", marginal.name), ["rank among all draws", "draws"], series);
        figures.lines(Lines { half: true, rules: vec![even], ..lines }, "")
    }

    /// Every pair of unknowns.
    fn pairs(&self, shown: &[Marginal], figures: &mut Figures) -> Html {
        let mut html = Html::default();
        for (j, second) in shown.iter().enumerate() {
            for first in &shown[..j] {
                let [x, y] = [first, second].map(|marginal| self.all(&marginal.name));
                let every = x.len().div_ceil(2 * MOST_POINTS).max(1);
                let thin = |values: &[f64]| values.iter().step_by(every).copied().collect::<Vec<f64>>();
                let mut series = vec![Series::scatter("draws", ESTIMATE, &thin(x), &thin(y))];
                let diverged: Vec<usize> =
                    (0..x.len()).filter(|&i| self.all("diverging").get(i) == Some(&1.0)).collect();
                if !diverged.is_empty() {
                    let at = |values: &[f64]| diverged.iter().map(|&i| values[i]).collect::<Vec<f64>>();
                    series.push(Series::scatter("diverged", REFERENCE, &at(x), &at(y)));
                }
                let title = format!("{} and {}", first.name, second.name);
                let lines = Lines::new(title, [first.name.as_str(), &second.name], series);
                html += figures.lines(Lines { half: true, ..lines }, "");
            }
        }
        html!("<div class=\"pair\">\n{}</div>\n", html)
    }

    /// The log-density of each chain over its draws.
    fn energies(&self, figures: &mut Figures) -> Html {
        let trace = |(chain, values): (usize, &[f64])| {
            let every = values.len().div_ceil(MOST_POINTS).max(1);
            let x: Vec<f64> = (0..values.len()).step_by(every).map(|draw| draw as f64).collect();
            let y: Vec<f64> = values.iter().step_by(every).copied().collect();
            Series { width: 0.8, ..line(&format!("chain {chain}"), LINES[chain % LINES.len()], &x, &y) }
        };
        let series = self.each("log_density").enumerate().map(trace).collect();
        figures.lines(Lines::new("Log-density of the draws".to_owned(), ["draw", "log-density"], series), "")
    }
}

/// A curve without dots.
fn line(name: &str, colour: crate::picture::colour::Colour, x: &[f64], y: &[f64]) -> Series {
    Series::new(name, colour, vec![Shape::Line(joined(x, y), false)])
}

/// Bands over the data of observations along one coordinate, and how many data lie in them.
fn predictions(source: &Source, outcome: &PosteriorOutcome, folder: &Path, figures: &mut Figures) -> Html {
    let mut html = Html::default();
    for check in outcome.predictive.iter().filter(|check| is_plain(&check.observation)) {
        let name = &check.observation;
        let text = fs::read_to_string(folder.join(predictive_file(name))).unwrap_or_default();
        let columns = Columns::parse(&text);
        html += columns.and_then(|columns| band(source, name, &columns, figures)).unwrap_or_default();
        if let Some(left_out) = &check.left_out {
            html += html!("<p>{}: {}.</p>\n", name, left_out_in_words(left_out));
        }
        if let Some(covered) = check.covered {
            let p = check.p_value.map_or(String::new(), |p| {
                format!(
                    " The model's own data are farther from it than these with probability {}.",
                    number(p)
                )
            });
            let share = number((1000.0 * covered).round() / 10.0);
            html += html!("<p>{share} % of the data {name} lie within the 95 % that the posterior predicts.{p}</p>\n"; share, name, p);
        }
    }
    html
}

fn band(source: &Source, name: &str, columns: &Columns, figures: &mut Figures) -> Option<Html> {
    let (along, places) = columns.along(&source.names("coordinates"))?;
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let every = order.len().div_ceil(MOST_POINTS).max(1);
    let thin = |values: &[f64]| order.iter().step_by(every).map(|&row| values[row]).collect::<Vec<f64>>();
    let x = thin(&places);
    let column = |name: &str| columns.column(name).map(thin);
    let shape = |name: &str| {
        Some(Shape::Band(
            joined(&x, &column(&format!("{name}_upper"))?),
            joined(&x, &column(&format!("{name}_lower"))?),
        ))
    };
    let mut series = vec![];
    if let Some(again) = shape("again") {
        series.push(Series::new("data again, 95 %", GUESS, vec![again]));
    }
    series.push(Series::new("posterior, 95 %", ESTIMATE, vec![shape("value")?]));
    series.push(line("median", ESTIMATE, &x, &column("value_median")?));
    series.push(Series::scatter("data", TRUTH, &x, &column("data")?));
    let title = format!("{name}: predicted along {along}");
    Some(figures.lines(Lines::new(title, [&along, "value"], series), ""))
}

fn chains(outcome: &PosteriorOutcome) -> Html {
    let row = |(number, chain): (usize, &ChainOutcome)| {
        vec![
            Html::text(&number.to_string()),
            Html::text(&chain.draws.to_string()),
            Html::text(&chain.gradients.to_string()),
            if chain.divergences == 0 { none() } else { Html::text(&chain.divergences.to_string()) },
            Html::text(&scientific(chain.accepted, 2)),
            Html::text(&scientific(chain.step_length, 2)),
            Html::text(&scientific(chain.ebfmi, 2)),
        ]
    };
    let header = ["chain", "draws", "gradients", "diverged", "acceptance", "step", "E-BFMI"];
    let (header, rows) = without_empty(&header, outcome.chains.iter().enumerate().map(row).collect());
    table(&header, &rows) + legend(format!("Each gradient is one solution by {}.", outcome.solver))
}
