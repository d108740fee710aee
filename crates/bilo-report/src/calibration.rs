//! `calibration.json` and `calibration.svg`: how drawn truths lie in their posteriors, and a table of it for people.

use crate::columns::aligned;
use crate::files::{CALIBRATION, CALIBRATION_PICTURE};
use crate::picture::axes::Axis;
use crate::picture::colour::{INK, LINES};
use crate::picture::plot::Plot;
use crate::picture::series::{Series, Shape, joined};
use crate::picture::sheet::sheet;
use bilo::posterior::{CalibratedUnknown, Calibration};
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// Bars of a histogram of ranks.
const BARS: usize = 20;
/// Fewer truths say nothing.
const FEWEST: usize = 10;
/// One in so many truths may be left out.
const FEW_FAILURES: usize = 20;
/// A plot, in pixels.
const SIZE: [f64; 2] = [320.0, 200.0];

/// The text of `calibration.json`.
pub fn json(calibration: &Calibration) -> String {
    serde_json::to_string_pretty(calibration).expect("plain data") + "\n"
}

/// Writes figures and picture into a folder.
pub fn write(calibration: &Calibration, folder: &Path) -> io::Result<()> {
    fs::write(folder.join(CALIBRATION_PICTURE), svg(calibration))?;
    fs::write(folder.join(CALIBRATION), json(calibration))
}

/// A line for each unknown, and what follows.
pub fn table(calibration: &Calibration) -> String {
    let count = calibration.truths - calibration.failed;
    let heading = ["", "50 % interval holds", "95 % interval holds", "ranks"].map(str::to_owned);
    let row = |unknown: &CalibratedUnknown| {
        let held = |i: usize| format!("{:.1} % ({:+.1} sd)", 100.0 * unknown.covered[i], unknown.off[i]);
        let ranks = if unknown.within { "within their band" } else { "NOT within their band" };
        [unknown.name.clone(), held(0), held(1), ranks.to_owned()]
    };
    let rows: Vec<[String; 4]> =
        std::iter::once(heading).chain(calibration.unknowns.iter().map(row)).collect();
    let mut text =
        format!("\n{count} truths of {} from the prior, each in its own posterior\n\n", calibration.problem);
    text += &aligned(&rows);
    let within = calibration.unknowns.iter().all(|unknown| unknown.within);
    // Truths without a posterior are no random part of all: what is left need not be even.
    text += if count < FEWEST || FEW_FAILURES * calibration.failed > calibration.truths {
        "\nToo many truths have no posterior for a word on the others.\n"
    } else if within {
        "\nThe band holds all ranks of right posteriors in 99 of 100 cases: nothing speaks against these.\n"
    } else {
        "\nThe band holds all ranks of right posteriors in 99 of 100 cases: these are wrong, or one case in a hundred.\n"
    };
    if let Some(reason) = &calibration.first_failure {
        let _ = writeln!(
            text,
            "{} truths have no posterior and are left out, the first because {reason}.",
            calibration.failed
        );
    }
    text
}

/// For each unknown the histogram of ranks, and how far their distribution is from a uniform one, with its band.
pub fn svg(calibration: &Calibration) -> String {
    let plots: Vec<Plot> = calibration
        .unknowns
        .iter()
        .flat_map(|unknown| [histogram(calibration, unknown), distribution(calibration, unknown)])
        .collect();
    sheet(&plots, 2).into_string()
}

fn histogram(calibration: &Calibration, unknown: &CalibratedUnknown) -> Plot {
    let cells = unknown.histogram.len();
    let each = cells.div_ceil(BARS);
    let heights: Vec<usize> = unknown.histogram.chunks(each).map(|ranks| ranks.iter().sum()).collect();
    let bar = |(i, &height): (usize, &usize)| {
        let from = (i * each) as f64;
        [[from + 0.02 * each as f64, 0.0], [from + 0.98 * each as f64, height as f64]]
    };
    let bars = Shape::Bars(heights.iter().enumerate().map(bar).collect());
    let even = (calibration.truths - calibration.failed) as f64 * each as f64 / cells as f64;
    let top = heights.iter().max().map_or(1.0, |top| *top as f64).max(even);
    let axes = [(0.0, cells as f64), (0.0, 1.1 * top)].map(Axis::linear);
    let mut plot =
        Plot::new(&format!("Ranks of {}", unknown.name), ["rank of the truth", "truths"], axes, SIZE);
    plot.series.push(Series::new("truths", LINES[1], vec![bars]));
    plot.rules.push((even, "even".to_owned()));
    plot
}

fn distribution(calibration: &Calibration, unknown: &CalibratedUnknown) -> Plot {
    let count = (calibration.truths - calibration.failed).max(1) as f64;
    let cells = unknown.histogram.len();
    let part = |k: usize| (k + 1) as f64 / cells as f64;
    let x: Vec<f64> = (0..calibration.band.len()).map(part).collect();
    let less = |counts: Vec<usize>| -> Vec<f64> {
        counts.iter().enumerate().map(|(k, below)| *below as f64 / count - part(k)).collect()
    };
    let below = unknown.histogram.iter().scan(0, |sum, ranks| {
        *sum += ranks;
        Some(*sum)
    });
    let ours = less(below.take(calibration.band.len()).collect());
    let (least, most): (Vec<usize>, Vec<usize>) = calibration.band.iter().copied().unzip();
    let (least, most) = (less(least), less(most));
    let farthest = [&ours, &least, &most].into_iter().flatten().fold(0.0_f64, |far, y| far.max(y.abs()));
    let axes = [(0.0, 1.0), (-1.15 * farthest, 1.15 * farthest)].map(Axis::linear);
    let names = ["rank over its largest value", "part below, less that"];
    let mut plot = Plot::new(&format!("{}: ranks against even ones", unknown.name), names, axes, SIZE);
    plot.series.push(Series::new(
        "99 % of right posteriors",
        LINES[3],
        vec![Shape::Band(joined(&x, &most), joined(&x, &least))],
    ));
    plot.series.push(Series::new("ranks", INK, vec![Shape::Line(joined(&x, &ours), false)]));
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No ranks are within any band, and so are those of a few that were left: neither is called right.
    #[test]
    fn truths_without_posteriors_are_no_good_news() {
        let said = |truths: usize, failed: usize| {
            table(&Calibration {
                problem: "front".to_owned(),
                seed: 0,
                truths,
                failed,
                first_failure: (failed > 0).then(|| "there is no estimate to begin at".to_owned()),
                among: 99,
                band: vec![],
                unknowns: vec![],
            })
        };
        assert!(said(100, 2).contains("nothing speaks against"), "{}", said(100, 2));
        for (truths, failed) in [(100, 100), (100, 20), (20, 12)] {
            let said = said(truths, failed);
            assert!(said.contains("Too many truths have no posterior"), "{said}");
        }
    }
}
