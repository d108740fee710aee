//! What of a run is compared with others.

use serde_json::Value;

/// What is not the same when a run is repeated: the first of these is for people too.
const MEASURED: [&str; 4] = ["seconds", "ms a step", "MB", "GPU MB"];

/// What follows the name of a state at the end of the time.
const AT_END: &str = " at end";

/// The figures of a run: errors of unknowns (estimates where no truth is known), their distance from the data-optimal
/// values, overlaps of segmentations, agreement with the classical solution, seconds.
pub(crate) fn figures(outcome: &Value) -> Vec<(String, f64)> {
    let mut found = vec![];
    let mut add = |name: String, value: &Value| {
        if let Some(value) = value.as_f64() {
            found.push((name, value));
        }
    };
    for (name, unknown) in entries(&outcome["unknowns"]) {
        match (unknown["relative_error"].is_null(), unknown["kind"] == "function") {
            (false, _) => add(format!("{name} error"), &unknown["relative_error"]),
            (true, false) => add(name.clone(), &unknown["estimate"]),
            (true, true) => add(format!("{name} error"), &unknown["relative_l2_error"]),
        }
        add(format!("{name} right"), &unknown["classification_accuracy"]);
    }
    for (name, unknown) in entries(&outcome["unknowns"]) {
        add(format!("{name} vs optimal"), &off_optimum(unknown));
    }
    for (name, misfit) in entries(&outcome["data_misfit"]) {
        add(format!("{name} dice"), &misfit["dice_network"]);
        add(format!("{name} dice classical"), &misfit["dice_classical"]);
    }
    for (name, state) in entries(&outcome["states"]) {
        add(format!("{name} vs classical"), &state["relative_l2_vs_classical"]);
        add(format!("{name} vs classical{AT_END}"), &state["relative_l2_at_end"]);
    }
    for near in outcome["near"].as_array().into_iter().flatten() {
        for (name, state) in entries(&near["states"]) {
            let at = near["at"].as_str().unwrap_or_default();
            add(format!("{name} near {at}"), &state["relative_l2_vs_classical"]);
        }
    }
    let times = |value: &Value, factor: f64| value.as_f64().map_or(Value::Null, |v| Value::from(factor * v));
    let measured = [
        outcome["seconds"]["total"].clone(),
        times(&outcome["seconds"]["per_step"], 1e3),
        times(&outcome["peak_memory_bytes"], 1e-6),
        times(&outcome["device_memory_bytes"], 1e-6),
    ];
    MEASURED.into_iter().zip(&measured).for_each(|(name, value)| add(name.to_owned(), value));
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
pub(crate) fn remark(outcome: &Value) -> Option<String> {
    if let Some(reason) = outcome["diverged"]["reason"].as_str() {
        return Some(format!("diverged: {reason}"));
    }
    if let Some(reason) = outcome["classical_failure"].as_str() {
        return Some(format!("without a classical solution at the estimate: {reason}"));
    }
    (outcome["stop"] == "time-limit").then(|| "ended at the time limit".to_owned())
}

/// An optimum that is smaller than this part of the guess is zero but for rounding.
const ZERO: f64 = 1e-9;

/// |estimate - data-optimal| / |data-optimal|, or the distance itself where that is zero.
pub(crate) fn off_optimum(unknown: &Value) -> Value {
    let number = |key: &str| unknown[key].as_f64();
    let (Some(estimate), Some(optimal)) = (number("estimate"), number("data_optimal")) else {
        return Value::Null;
    };
    let distance = (estimate - optimal).abs();
    let is_zero = optimal.abs() <= ZERO * number("guess").unwrap_or(0.0).abs();
    Value::from(if is_zero { distance } else { distance / optimal.abs() })
}

/// The entries of an object.
pub(crate) fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_stand_for_estimates_where_the_truth_is_known() {
        let outcome = json!({
            "unknowns": {
                "D": { "kind": "scalar", "estimate": 2.0, "relative_error": 0.1 },
                "k": { "kind": "scalar", "estimate": 3.0, "relative_error": null },
                "A": { "kind": "function", "relative_l2_error": 0.2, "classification_accuracy": 0.9 },
            },
            "states": { "u": { "relative_l2_vs_classical": null } },
            "seconds": { "total": 1.5 },
        });
        let expected = [("D error", 0.1), ("k", 3.0), ("A error", 0.2), ("A right", 0.9), ("seconds", 1.5)];
        assert_eq!(figures(&outcome), expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn distances_from_the_optimum_are_relative_where_that_is_not_zero() {
        let distance = |estimate: f64, optimal: f64| {
            off_optimum(&json!({ "estimate": estimate, "data_optimal": optimal, "guess": 1.0 })).as_f64()
        };
        assert_eq!((distance(3.0, 2.0), distance(-0.25, 0.0)), (Some(0.5), Some(0.25)));
        assert_eq!(distance(0.25, 1e-17), Some(0.25));
        assert!(off_optimum(&json!({ "estimate": 1.0, "data_optimal": null })).is_null());
    }

    #[test]
    fn unphysical_and_diverged_runs_are_told_of() {
        let unphysical = json!({ "diverged": null, "classical_failure": "D < 0" });
        let said = "without a classical solution at the estimate: D < 0";
        assert_eq!(remark(&unphysical).as_deref(), Some(said));
        let diverged = json!({ "diverged": { "reason": "no number" }, "classical_failure": "x" });
        assert_eq!(remark(&diverged).as_deref(), Some("diverged: no number"));
        assert_eq!(remark(&json!({ "classical_failure": null, "stop": "steps" })), None);
        assert!(remark(&json!({ "classical_failure": null, "stop": "time-limit" })).is_some());
    }
}
