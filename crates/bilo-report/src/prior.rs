//! What priors predict as files: `prior.json`, draws as CSV and as a Zarr store for ArviZ and xarray, `prior.svg`, and a
//! table for people.

use crate::columns::aligned;
use crate::files::{DRAWS, PRIOR, PRIOR_PICTURE, PRIOR_STORE, predictive_file};
use crate::inference_data::{InferenceData, OBSERVED};
use crate::number::{extent, significant};
use crate::picture::axes::Axis;
use crate::picture::colour::{INK, LINES};
use crate::picture::plot::Plot;
use crate::picture::series::{Series, Shape, joined};
use crate::picture::sheet::sheet;
use crate::posterior::write_predicted;
use bilo::posterior::{Column, PredictedObservation, PriorDraws, PriorMarginal, PriorOutcome};
use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::{fs, io};

/// Bars of a histogram.
const BARS: usize = 30;
/// The part of the draws at either end that a histogram leaves out: priors with heavy tails would be one bar.
const OUTSIDE: f64 = 0.01;
/// A plot, in pixels.
const SIZE: [f64; 2] = [320.0, 200.0];

/// The text of `prior.json`.
pub fn json(outcome: &PriorOutcome) -> String {
    serde_json::to_string_pretty(outcome).expect("plain data") + "\n"
}

/// Writes all files into a folder, `prior.json` last.
pub fn write(outcome: &PriorOutcome, draws: &PriorDraws, folder: &Path) -> io::Result<()> {
    write_draws(draws, &folder.join(DRAWS))?;
    let mut store = InferenceData::create(&folder.join(PRIOR_STORE), &outcome.problem, 1)?;
    store.columns("prior", outcome.draws, quantities(draws))?;
    let groups = ["prior_predictive", OBSERVED];
    store.predictions(&groups, &draws.predicted.shown, &draws.predicted.observations)?;
    store.finish()?;
    for observation in &draws.predicted.observations {
        write_predicted(observation, &draws.coordinates, &folder.join(predictive_file(&observation.name)))?;
    }
    fs::write(folder.join(PRIOR_PICTURE), svg(outcome, draws))?;
    fs::write(folder.join(PRIOR), json(outcome))
}

/// Everything drawn that is a number: unknowns first.
fn quantities(draws: &PriorDraws) -> impl Iterator<Item = &Column> {
    draws.unknowns.iter().chain(&draws.derived)
}

/// A row for each draw.
fn write_draws(draws: &PriorDraws, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(fs::File::create(path)?);
    let names: String = quantities(draws).map(|column| format!(",{}", column.name)).collect();
    writeln!(file, "draw{names}")?;
    for draw in 0..draws.unknowns.first().map_or(0, |column| column.chains[0].len()) {
        let cells: String = quantities(draws).map(|column| format!(",{}", column.chains[0][draw])).collect();
        writeln!(file, "{draw}{cells}")?;
    }
    file.flush()
}

/// A line for each number, and how the data lie among what is predicted.
pub fn table(outcome: &PriorOutcome) -> String {
    let heading = ["", "median", "68 % interval", "95 % interval", "prior", "truth"].map(str::to_owned);
    let interval = |(lo, hi): (f64, f64)| format!("[{}, {}]", significant(lo), significant(hi));
    let row = |marginal: &PriorMarginal| {
        let unit = marginal.unit.as_ref().map(|unit| format!(" [{unit}]")).unwrap_or_default();
        [
            format!("{}{unit}", marginal.name),
            significant(marginal.median),
            interval(marginal.interval_68),
            interval(marginal.interval_95),
            marginal.prior.clone().unwrap_or_else(|| "-".to_owned()),
            marginal.truth.map_or("-".to_owned(), significant),
        ]
    };
    let all = outcome.unknowns.iter().chain(&outcome.derived);
    let rows: Vec<[String; 6]> = std::iter::once(heading).chain(all.map(row)).collect();
    let mut text = format!("\nPrior of {}, before the data\n\n", outcome.problem);
    text += &aligned(&rows);
    let PriorOutcome { draws, unsolved, solver, seconds, .. } = outcome;
    let _ = writeln!(text, "\n{draws} draws, each solved by {solver}, in {seconds:.1} s.");
    if let Some(reason) = &outcome.first_failure {
        let _ = writeln!(
            text,
            "{unsolved} more have no solution and are left out, the first because {reason}: priors or bounds may allow what cannot be."
        );
    }
    for words in outcome.observations.iter().filter_map(|check| check.in_words()) {
        let mut letters = words.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        let _ = writeln!(text, "{first}{}.", letters.as_str());
    }
    text
}

/// A histogram of each unknown, and bands over the data that lie along one coordinate.
pub fn svg(outcome: &PriorOutcome, draws: &PriorDraws) -> String {
    let unknowns = outcome.unknowns.iter().zip(&draws.unknowns);
    let histograms = unknowns.filter_map(|(marginal, column)| histogram(marginal, &column.all()));
    let bands = draws.predicted.observations.iter().filter_map(|seen| band(seen, &draws.coordinates));
    sheet(&histograms.chain(bands).collect::<Vec<_>>(), 2).into_string()
}

fn histogram(marginal: &PriorMarginal, values: &[f64]) -> Option<Plot> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let outside = (OUTSIDE * values.len() as f64) as usize;
    let inside = &values[outside..values.len() - outside];
    let (lo, hi) = extent(inside.iter().copied()).filter(|(lo, hi)| lo < hi)?;
    let width = (hi - lo) / BARS as f64;
    let mut heights = [0.0; BARS];
    for value in inside {
        heights[(((value - lo) / width) as usize).min(BARS - 1)] += 1.0;
    }
    let side = |bar: f64| lo + width * bar;
    let bar = |(i, &height): (usize, &f64)| [[side(i as f64 + 0.02), 0.0], [side(i as f64 + 0.98), height]];
    let top = 1.1 * heights.iter().copied().fold(0.0, f64::max);
    let axes = [(lo, hi), (0.0, top)].map(Axis::linear);
    let unit = marginal.unit.as_ref().map(|unit| format!(" [{unit}]")).unwrap_or_default();
    let name = format!("{}{unit}", marginal.name);
    let mut plot = Plot::new(&format!("Prior of {}", marginal.name), [&name, "draws"], axes, SIZE);
    plot.series.push(Series::new(
        "prior",
        LINES[1],
        vec![Shape::Bars(heights.iter().enumerate().map(bar).collect())],
    ));
    if let Some(truth) = marginal.truth.filter(|truth| (lo..=hi).contains(truth)) {
        let line = Shape::Line(vec![[truth, 0.0], [truth, top]], false);
        plot.series.push(Series { dashed: true, ..Series::new("truth", INK, vec![line]) });
    }
    Some(plot)
}

fn band(seen: &PredictedObservation, coordinates: &[String]) -> Option<Plot> {
    let varies = |(_, places): &(&String, &Vec<f64>)| places.iter().any(|place| *place != places[0]);
    let along: Vec<_> = coordinates.iter().zip(&seen.coordinates).filter(varies).collect();
    let [(name, places)] = along[..] else { return None };
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let in_order = |values: &[f64]| order.iter().map(|&row| values[row]).collect::<Vec<f64>>();
    let (x, data) = (in_order(places), in_order(&seen.data));
    let bands_of = |draws: &[Vec<Vec<f64>>]| {
        let bands = seen.bands(draws).filter(|[lower, ..]| lower.len() == places.len())?;
        Some(bands.map(|values| in_order(&values)))
    };
    let values = bands_of(&seen.values)?;
    let again = bands_of(&seen.again);
    let heights = values.iter().chain(again.iter().flatten()).chain([&data]).flatten();
    let (lo, hi) = extent(heights.copied()).filter(|(lo, hi)| lo < hi)?;
    let room = 0.05 * (hi - lo);
    let axes = [extent(x.iter().copied())?, (lo - room, hi + room)].map(Axis::linear);
    let mut plot = Plot::new(&format!("{}: before the data", seen.name), [name, "value"], axes, SIZE);
    let shape = |[lower, _, upper]: &[Vec<f64>; 3]| vec![Shape::Band(joined(&x, upper), joined(&x, lower))];
    if let Some(again) = &again {
        plot.series.push(Series::new("with errors, 95 %", LINES[3], shape(again)));
    }
    plot.series.push(Series::new("predicted, 95 %", LINES[1], shape(&values)));
    plot.series.push(Series::new("median", LINES[1], vec![Shape::Line(joined(&x, &values[1]), false)]));
    plot.series.push(Series::scatter("data", INK, &x, &data));
    Some(plot)
}
