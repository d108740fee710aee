//! R-hat, effective sample sizes, Monte Carlo errors and Pareto-smoothed weights are those of ArviZ (data/by_arviz.py).

use bilo_sample::diagnostics::{ebfmi, ess_bulk, ess_mean, ess_tail, mcse_mean, mcse_sd, rhat, smoothed};
use serde_json::Value;

/// A figure of chains.
type Figure = fn(&[&[f64]]) -> f64;

fn told() -> Value {
    serde_json::from_str(include_str!("data/arviz.json")).expect("JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// The same sums in another order, and another approximation of the normal quantile, which is good to 1e-9.
fn same(ours: f64, theirs: f64, what: &str) {
    assert!((ours - theirs).abs() <= 1e-8 * theirs.abs().max(1e-3), "{what}: {ours:?}, ArviZ {theirs:?}");
}

#[test]
fn chains_are_judged_as_by_arviz() {
    for (name, told) in told()["chains"].as_object().expect("an object") {
        let chains: Vec<Vec<f64>> = told["draws"].as_array().expect("chains").iter().map(numbers).collect();
        let chains: Vec<&[f64]> = chains.iter().map(|chain| &chain[..]).collect();
        let figures: [(&str, Figure); 6] = [
            ("rhat", rhat),
            ("ess_bulk", ess_bulk),
            ("ess_tail", ess_tail),
            ("ess_mean", ess_mean),
            ("mcse_mean", mcse_mean),
            ("mcse_sd", mcse_sd),
        ];
        for (figure, ours) in figures {
            same(ours(&chains), told[figure].as_f64().expect("a number"), &format!("{figure} of {name}"));
        }
        for (chain, theirs) in chains.iter().zip(numbers(&told["bfmi"])) {
            same(ebfmi(chain), theirs, &format!("bfmi of {name}"));
        }
    }
}

#[test]
fn weights_are_smoothed_as_by_arviz() {
    for (name, told) in told()["weights"].as_object().expect("an object") {
        let found = smoothed(&numbers(&told["raw"]), told["efficiency"].as_f64().expect("a number"));
        same(found.shape, told["shape"].as_f64().expect("a number"), &format!("shape of {name}"));
        for (ours, theirs) in found.log_weights.iter().zip(numbers(&told["smoothed"])) {
            same(*ours, theirs, name);
        }
    }
}
