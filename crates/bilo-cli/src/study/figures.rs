//! What of a run is compared with others.

use bilo::outcome::{Outcome, ScalarOutcome, Stop};

/// What is not the same when a run is repeated: the first of these is for people too.
const MEASURED: [&str; 4] = ["seconds", "ms a step", "MB", "GPU MB"];

/// What follows the name of a state at the end of the time.
const AT_END: &str = " at end";

/// The figures of a run: errors of unknowns (estimates where no truth is known), their distance from the data-optimal
/// values, overlaps of segmentations, agreement with the classical solution, seconds.
pub(crate) fn figures(outcome: &Outcome) -> Vec<(String, f64)> {
    let mut found = vec![];
    let mut add = |name: String, value: Option<f64>| {
        found.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    };
    for number in &outcome.unknowns.numbers {
        let name = &number.name;
        match number.relative_error() {
            Some(error) => add(format!("{name} error"), Some(error)),
            None => add(name.clone(), Some(number.estimate)),
        }
    }
    for function in &outcome.unknowns.functions {
        add(format!("{} error", function.name), function.relative_l2_error);
        add(format!("{} right", function.name), function.classification_accuracy);
    }
    for number in &outcome.unknowns.numbers {
        add(format!("{} vs optimal", number.name), off_optimum(number));
    }
    for misfit in &outcome.misfits {
        add(format!("{} dice", misfit.name), misfit.dice_network);
        add(format!("{} dice classical", misfit.name), misfit.dice_classical);
    }
    for state in &outcome.states {
        add(format!("{} vs classical", state.name), state.relative_l2_vs_classical);
        add(format!("{} vs classical{AT_END}", state.name), state.relative_l2_at_end);
    }
    for near in &outcome.near {
        for state in &near.states {
            add(format!("{} near {}", state.name, near.at), Some(state.relative_l2_vs_classical));
        }
    }
    let megabytes = |bytes: Option<u64>| bytes.map(|bytes| 1e-6 * bytes as f64);
    let measured = [
        Some(outcome.seconds.total),
        Some(1e3 * outcome.seconds.per_step),
        megabytes(outcome.peak_memory_bytes),
        megabytes(outcome.device_memory_bytes),
    ];
    MEASURED.into_iter().zip(measured).for_each(|(name, value)| add(name.to_owned(), value));
    found
}

/// Whether a figure is for people too.
pub(crate) fn in_table(figure: &str) -> bool {
    !figure.ends_with(AT_END) && !MEASURED[1..].contains(&figure)
}

/// Whether a figure is the same whenever a run is.
pub(crate) fn lasts(figure: &str) -> bool {
    !MEASURED.contains(&figure)
}

/// What has to be said of a run beside its figures.
pub(crate) fn remark(outcome: &Outcome) -> Option<String> {
    if let Some(diverged) = &outcome.diverged {
        return Some(format!("diverged: {}", diverged.reason));
    }
    if let Some(reason) = &outcome.classical_failure {
        return Some(format!("without a classical solution at the estimate: {reason}"));
    }
    (outcome.stop == Stop::TimeLimit).then(|| "ended at the time limit".to_owned())
}

/// An optimum that is smaller than this part of the guess is zero but for rounding.
const ZERO: f64 = 1e-9;

/// |estimate - data-optimal| / |data-optimal|, or the distance itself where that is zero.
pub(crate) fn off_optimum(unknown: &ScalarOutcome) -> Option<f64> {
    let optimal = unknown.data_optimal?;
    let distance = (unknown.estimate - optimal).abs();
    let is_zero = optimal.abs() <= ZERO * unknown.guess.abs();
    Some(if is_zero { distance } else { distance / optimal.abs() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo::outcome::{Divergence, FunctionOutcome, StateOutcome, Unknowns};

    fn number(name: &str, estimate: f64, truth: Option<f64>) -> ScalarOutcome {
        ScalarOutcome { name: name.to_owned(), guess: 1.0, estimate, truth, ..ScalarOutcome::default() }
    }

    #[test]
    fn errors_stand_for_estimates_where_the_truth_is_known() {
        let function = FunctionOutcome {
            name: "A".to_owned(),
            of: vec!["x".to_owned()],
            unit: None,
            relative_l2_error: Some(0.2),
            relative_l2_error_of_guess: None,
            relative_sd: None,
            classification_accuracy: Some(0.9),
            range: (0.0, 1.0),
            gradient: "exact".into(),
        };
        let numbers = vec![number("D", 2.25, Some(2.0)), number("k", 3.0, None)];
        let mut outcome = Outcome {
            unknowns: Unknowns { numbers, functions: vec![function] },
            states: vec![StateOutcome::alone("u")],
            ..Outcome::default()
        };
        outcome.seconds.total = 1.5;
        let found = figures(&outcome);
        let expected = [("D error", 0.125), ("k", 3.0), ("A error", 0.2), ("A right", 0.9), ("seconds", 1.5)];
        assert_eq!(found[..5], expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn distances_from_the_optimum_are_relative_where_that_is_not_zero() {
        let distance = |estimate: f64, optimal: f64| {
            off_optimum(&ScalarOutcome { data_optimal: Some(optimal), ..number("k", estimate, None) })
        };
        assert_eq!((distance(3.0, 2.0), distance(-0.25, 0.0)), (Some(0.5), Some(0.25)));
        assert_eq!(distance(0.25, 1e-17), Some(0.25));
        assert_eq!(off_optimum(&number("k", 1.0, None)), None);
    }

    #[test]
    fn unphysical_and_diverged_runs_are_told_of() {
        let unphysical = Outcome { classical_failure: Some("D < 0".to_owned()), ..Outcome::default() };
        let said = "without a classical solution at the estimate: D < 0";
        assert_eq!(remark(&unphysical).as_deref(), Some(said));
        let diverged = Some(Divergence { last_good_step: 1, reason: "no number".to_owned() });
        assert_eq!(remark(&Outcome { diverged, ..unphysical }).as_deref(), Some("diverged: no number"));
        assert_eq!(remark(&Outcome::default()), None);
        assert!(remark(&Outcome { stop: Stop::TimeLimit, ..Outcome::default() }).is_some());
    }
}
