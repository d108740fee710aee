//! What `bilo watch` shows.

use crate::underway::{Run, State};
use bilo_report::history::{History, is_loss};
use bilo_report::number::significant;
use std::fmt::Write;

/// Characters of a line.
const WIDTH: usize = 48;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A run.
pub(super) fn run(title: &str, history: &History, state: &State) -> String {
    let mut text = format!("{title}: {} ({})\n\n", history.place(), state.words());
    let width = history.columns.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let (losses, unknowns): (Vec<_>, Vec<_>) = history.columns.iter().partition(|(name, _)| is_loss(name));
    for (name, values) in unknowns.into_iter().chain(losses) {
        let is_loss = is_loss(name);
        let mut known = values.iter().copied().filter(|value| !value.is_nan());
        let Some(first) = known.next() else { continue };
        let last = known.next_back().unwrap_or(first);
        let show = |value: f64| if is_loss { format!("{value:.2e}") } else { significant(value) };
        let line = line(values, is_loss);
        let _ = writeln!(text, "{name:width$}  {:>10}  {:>10}  {line}", show(first), show(last));
    }
    text
}

/// A study: a line for each run.
pub(super) fn study(title: &str, runs: &[Run]) -> String {
    let ended = runs.iter().filter(|run| matches!(run.state, State::Ended(_))).count();
    let mut text = format!("{title}: {ended} of the {} runs that were begun have ended\n\n", runs.len());
    let width = runs.iter().map(|run| run.name.chars().count()).max().unwrap_or(0);
    for Run { name, history, state } in runs {
        let _ = writeln!(text, "{name:width$}  {}  ({})", history.place(), state.words());
    }
    text
}

/// Values from left to right as bars, losses by their logarithms if they have such; blank where there are none.
fn line(values: &[f64], is_loss: bool) -> String {
    let logarithms = is_loss && !values.iter().any(|&value| value <= 0.0);
    let height = |value: f64| if logarithms { value.log10() } else { value };
    let count = values.len().min(WIDTH);
    let at = |place: usize| height(values[(place + 1) * values.len() / count - 1]);
    let heights: Vec<f64> = (0..count).map(at).collect();
    let finite = || heights.iter().copied().filter(|height| height.is_finite());
    let (lo, hi) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let bar = |height: &f64| match height.is_finite() {
        // One that stands still is drawn in the middle.
        true if hi == lo => BARS[3],
        true => BARS[((height - lo) / (hi - lo) * 7.0).round() as usize],
        false => ' ',
    };
    heights.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HISTORY: &str = "phase,step,seconds,residual.heat,data.rod,k\n\
                           pretrain,1,0.5,1e-1,NaN,1.0\n\
                           train,1,1.5,1e-2,1e-3,1.0\n\
                           train,10,75.0,1e-3,1e-5,1.5\n\
                           train,20,80.0,1e-";

    #[test]
    fn a_run_has_its_unknowns_and_losses() {
        let text = run("runs/rod-0", &History::parse(HISTORY, 100), &State::UnderWay);
        let expected = "runs/rod-0: train, step 10, 75.0 s (under way)\n\n\
                        k                       1         1.5  ▁▁█\n\
                        residual.heat     1.00e-1     1.00e-3  █▅▁\n\
                        data.rod          1.00e-3     1.00e-5   █▁\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_study_has_a_line_for_each_run() {
        let ended = State::Ended("converged".into());
        let runs = [
            Run { name: "bilo-seed=0".to_owned(), history: History::parse(HISTORY, 100), state: ended },
            Run { name: "pinn-seed=0".to_owned(), history: History::default(), state: State::UnderWay },
        ];
        let expected = "runs/s: 1 of the 2 runs that were begun have ended\n\n\
                        bilo-seed=0  train, step 10, 75.0 s  (ended, converged)\n\
                        pinn-seed=0  no step yet  (under way)\n";
        assert_eq!(study("runs/s", &runs), expected);
    }

    #[test]
    fn long_histories_fit_and_those_that_stand_still_are_lines() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let text = line(&values, false);
        assert_eq!(text.chars().count(), WIDTH);
        assert!(text.starts_with('▁') && text.ends_with('█'));
        assert_eq!(line(&[2.0, 2.0], false), "▄▄");
        assert_eq!(line(&[], true), "");
        assert_eq!(line(&[f64::NAN, 0.0], true), " ▄");
    }
}
