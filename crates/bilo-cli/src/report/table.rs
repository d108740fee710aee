//! The closing table: for people.

use super::number::{duration, significant};
use crate::folder::{FIELDS, HISTORY, OUTCOME, PROBLEM};
use bilo::outcome::{Outcome, ScalarOutcome, Stop};
use std::fmt::Write;
use std::path::Path;

const HEADING: [&str; 5] = ["unknown", "guess", "estimate", "truth", "relative error"];

/// Unknowns, states, why and when the run ended, and where the files are.
pub(crate) fn render(outcome: &Outcome, peak_memory: Option<u64>, out: &Path) -> String {
    let mut text = unknowns(&outcome.unknowns);
    text.push('\n');
    text += &states(outcome);
    let _ = writeln!(text, "Stopped: {}.", stop(&outcome.stop));
    let _ = writeln!(text, "{}", effort(outcome, peak_memory));
    let _ = writeln!(text, "Files in {}: {OUTCOME}, {HISTORY}, {FIELDS}, {PROBLEM}", out.display());
    text
}

/// Names to the left, numbers to the right.
fn unknowns(unknowns: &[ScalarOutcome]) -> String {
    let rows: Vec<[String; 5]> =
        [HEADING.map(String::from)].into_iter().chain(unknowns.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        let mut line = format!("{:1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(widths).skip(1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

fn row(unknown: &ScalarOutcome) -> [String; 5] {
    let name = match &unknown.unit {
        Some(unit) => format!("{} [{unit}]", unknown.name),
        None => unknown.name.clone(),
    };
    let optional = |value: Option<f64>, text: fn(f64) -> String| value.map_or("-".to_string(), text);
    let error = match unknown.truth {
        Some(0.0) => |error: f64| format!("{error:.2e} (absolute)"),
        _ => |error: f64| format!("{error:.2e}"),
    };
    [
        name,
        significant(unknown.guess),
        significant(unknown.estimate),
        optional(unknown.truth, significant),
        optional(unknown.relative_error(), error),
    ]
}

fn states(outcome: &Outcome) -> String {
    let mut text = String::new();
    for state in &outcome.states {
        if let Some(error) = state.relative_l2_vs_classical {
            let name = &state.name;
            let _ = writeln!(
                text,
                "{name}: network and classical solution at the estimate differ by {error:.2e} (relative L2)."
            );
        }
    }
    if let Some(failure) = &outcome.classical_failure {
        let _ = writeln!(text, "No classical solution at the estimate to compare with: {failure}.");
    }
    text
}

fn stop(stop: &Stop) -> String {
    match stop {
        Stop::Converged => "converged, the unknowns and the losses settled".to_string(),
        Stop::Steps => "all steps were taken".to_string(),
        Stop::TimeLimit => "the time limit was reached".to_string(),
        Stop::Interrupted => "interrupted".to_string(),
        Stop::Diverged { last_good_step, reason } => {
            format!("diverged, {reason}; reported is the state of step {last_good_step}, the last good one")
        }
    }
}

fn effort(outcome: &Outcome, peak_memory: Option<u64>) -> String {
    let memory = peak_memory.map_or(String::new(), |bytes| format!(", {:.0} MB at most", bytes as f64 / 1e6));
    format!(
        "{} steps of pre-training and {} of both levels in {} ({} a step){memory}.",
        outcome.pretrain_steps,
        outcome.train_steps,
        duration(outcome.seconds.total),
        duration(outcome.seconds.per_step),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn columns_are_aligned_and_units_and_files_are_shown() {
        let expected = "\
unknown     guess  estimate  truth  relative error
k [cm^2/s]      1      2.02      2         1.00e-2
a             0.1      0.25      -               -

u: network and classical solution at the estimate differ by 1.00e-3 (relative L2).
Stopped: all steps were taken.
10 steps of pre-training and 20 of both levels in 3.5 s (100.0 ms a step), 1 MB at most.
Files in runs/rod-7: outcome.json, history.csv, fields.npz, problem.toml
";
        assert_eq!(render(&example::outcome(), Some(1 << 20), Path::new("runs/rod-7")), expected);
    }

    #[test]
    fn a_truth_of_zero_has_an_absolute_error() {
        let mut outcome = example::outcome();
        outcome.unknowns[0].truth = Some(0.0);
        assert!(unknowns(&outcome.unknowns).contains("2.02e0 (absolute)"));
    }

    #[test]
    fn divergence_and_a_failed_classical_solve_are_told() {
        let mut outcome = example::outcome();
        outcome.stop =
            Stop::Diverged { last_good_step: 12, reason: "the residual loss is not finite".into() };
        outcome.states[0].relative_l2_vs_classical = None;
        outcome.classical_failure = Some("Newton's method did not converge".into());
        let text = render(&outcome, None, Path::new("out"));
        assert!(text.contains("diverged, the residual loss is not finite; reported is the state of step 12"));
        assert!(text.contains("to compare with: Newton's method did not converge."));
        assert!(!text.contains("differ by") && !text.contains("MB"));
    }
}
