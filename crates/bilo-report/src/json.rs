//! `outcome.json`: for programs. Keys are added by later versions, never renamed.

use bilo::audit::Audit;
use bilo::audit::near::Near;
use bilo::audit::near::NearState;
use bilo::outcome::{
    FunctionOutcome, LearnedOutcome, MisfitOutcome, OperatorOutcome, Outcome, ScalarOutcome, Stop,
};
use serde_json::{Map, Value, json};

/// The outcome as JSON, keys in this order; numbers that are not finite become null.
pub fn render(outcome: &Outcome, peak_memory: Option<u64>) -> String {
    let value = json!({
        "problem": outcome.problem,
        "method": outcome.method,
        "recipe": outcome.recipe,
        "seed": outcome.seed,
        "device": outcome.device,
        "precision": outcome.precision,
        "stop": outcome.stop.name(),
        "unknowns": unknowns(outcome),
        "states": map(&outcome.states, |state| {
            let mut value = json!({ "relative_l2_vs_classical": state.relative_l2_vs_classical });
            if let Some(at_end) = state.relative_l2_at_end {
                value["relative_l2_at_end"] = json!(at_end);
            }
            (&state.name, value)
        }),
        "operator": outcome.operator.as_ref().map(operator),
        "learned": outcome.learned.as_ref().map(learned),
        "losses": map(&outcome.losses, |(name, loss)| (name, json!(loss))),
        "data_misfit": map(&outcome.misfits, |misfit| {
            (&misfit.name, misfit_value(misfit))
        }),
        "audit": outcome.audit.iter().map(audit).collect::<Vec<_>>(),
        "near": outcome.near.iter().map(near).collect::<Vec<_>>(),
        "correlations": outcome.correlations,
        "singular_values": outcome.singular_values,
        "noise": map(&outcome.noise, |noise| {
            (&noise.observation, json!({ "source": noise.source.name(), "sd": noise.sd }))
        }),
        "notes": outcome.notes,
        "warnings": outcome.warnings,
        "steps": { "pretrain": outcome.pretrain_steps, "train": outcome.train_steps },
        "seconds": {
            "total": outcome.seconds.total,
            "pretrain": outcome.seconds.pretrain,
            "train": outcome.seconds.train,
            "per_step": outcome.seconds.per_step,
        },
        "peak_memory_bytes": peak_memory,
        "device_memory_bytes": outcome.device_memory,
        "classical_failure": outcome.classical_failure,
        "diverged": diverged(&outcome.stop),
    });
    format!("{value:#}\n")
}

fn unknowns(outcome: &Outcome) -> Map<String, Value> {
    let mut unknowns = map(&outcome.unknowns, |unknown| (&unknown.name, scalar(unknown)));
    unknowns.append(&mut map(&outcome.functions, |unknown| (&unknown.name, function(unknown))));
    unknowns
}

fn operator(operator: &OperatorOutcome) -> Value {
    let mut value = json!({ "kind": operator.kind, "why": operator.why });
    if let Some(dictionary) = &operator.dictionary {
        value["basis"] = json!(dictionary.basis);
        value["modes"] = json!(map(&dictionary.modes, |(name, count)| (name, json!(count))));
        value["features"] = json!(dictionary.features);
        value["residual"] = json!(dictionary.residual);
        value["change"] = json!(dictionary.change);
    }
    if let Some(work) = &operator.work {
        value["work"] = json!({
            "lower_steps": work.lower_steps,
            "jacobians": work.jacobians,
            "factorisations": work.factorisations,
        });
    }
    value
}

fn learned(learned: &LearnedOutcome) -> Value {
    json!({
        "examples": learned.examples,
        "cached": learned.cached,
        "numbers": learned.numbers,
        "steps": learned.steps,
        "training_error": learned.training_error,
        "validation_error": learned.validation_error,
        "seconds": { "examples": learned.seconds[0], "learning": learned.seconds[1] },
    })
}

fn function(unknown: &FunctionOutcome) -> Value {
    json!({
        "kind": "function",
        "of": unknown.of,
        "relative_l2_error": unknown.relative_l2_error,
        "relative_l2_error_of_guess": unknown.relative_l2_error_of_guess,
        "relative_sd": unknown.relative_sd,
        "classification_accuracy": unknown.classification_accuracy,
        "range": [unknown.range.0, unknown.range.1],
        "gradient": unknown.gradient,
    })
}

fn scalar(unknown: &ScalarOutcome) -> Value {
    json!({
        "kind": "scalar",
        "guess": unknown.guess,
        "estimate": unknown.estimate,
        "truth": unknown.truth,
        "relative_error": unknown.relative_error(),
        "data_optimal": unknown.data_optimal,
        "sd": unknown.sd,
        "sd_network": unknown.sd_network,
        "sd_ratio": unknown.sd_ratio(),
    })
}

fn audit(audit: &Audit) -> Value {
    json!({
        "at": audit.at,
        "cosine": audit.cosine,
        "relative_error": audit.relative_error,
        "below_noise": audit.below_noise,
    })
}

fn near(near: &Near) -> Value {
    let state = |state: &NearState| {
        json!({
            "relative_l2_vs_classical": state.relative_l2_vs_classical,
            "relative_l2_of_guess": state.relative_l2_of_guess,
        })
    };
    json!({ "at": near.at, "states": map(&near.states, |s| (&s.name, state(s))) })
}

fn diverged(stop: &Stop) -> Value {
    match stop {
        Stop::Diverged { last_good_step, reason } => {
            json!({ "last_good_step": last_good_step, "reason": reason })
        }
        _ => Value::Null,
    }
}

/// An object that keeps the order of the list.
fn map<'a, T>(list: &'a [T], entry: impl Fn(&'a T) -> (&'a String, Value)) -> Map<String, Value> {
    list.iter().map(entry).map(|(name, value)| (name.clone(), value)).collect()
}

/// The data loss of an observation, and the overlap of sets where it is a segmentation.
fn misfit_value(misfit: &MisfitOutcome) -> Value {
    let mut value = json!({ "network": misfit.network, "classical": misfit.classical });
    for (key, dice) in [("dice_network", misfit.dice_network), ("dice_classical", misfit.dice_classical)] {
        if let Some(dice) = dice {
            value[key] = json!(dice);
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn shape_order_and_nulls() {
        let expected = r#"{
  "problem": "rod",
  "method": "bilo",
  "recipe": "fast",
  "seed": 7,
  "device": "cpu",
  "precision": "f32",
  "stop": "steps",
  "unknowns": {
    "k": {
      "kind": "scalar",
      "guess": 1.0,
      "estimate": 2.02,
      "truth": 2.0,
      "relative_error": 0.010000000000000009,
      "data_optimal": 2.01,
      "sd": 0.04,
      "sd_network": 0.05,
      "sd_ratio": 1.25
    },
    "a": {
      "kind": "scalar",
      "guess": 0.1,
      "estimate": 0.25,
      "truth": null,
      "relative_error": null,
      "data_optimal": null,
      "sd": null,
      "sd_network": null,
      "sd_ratio": null
    }
  },
  "states": {
    "u": {
      "relative_l2_vs_classical": 0.001
    }
  },
  "operator": {
    "kind": "network",
    "why": null
  },
  "learned": null,
  "losses": {
    "residual": 0.0001,
    "data": null
  },
  "data_misfit": {
    "ends": {
      "network": 0.0002,
      "classical": 0.0003
    }
  },
  "audit": [
    {
      "at": "guess",
      "cosine": 0.995,
      "relative_error": 0.02,
      "below_noise": false
    },
    {
      "at": "estimate",
      "cosine": -0.25,
      "relative_error": 1.5,
      "below_noise": true
    }
  ],
  "near": [
    {
      "at": "k = 1.5",
      "states": {
        "u": {
          "relative_l2_vs_classical": 0.004,
          "relative_l2_of_guess": 0.12
        }
      }
    }
  ],
  "correlations": [
    [
      1.0,
      -0.5
    ],
    [
      -0.5,
      1.0
    ]
  ],
  "singular_values": [
    4.0,
    0.5
  ],
  "noise": {
    "ends": {
      "source": "stated",
      "sd": 0.01
    }
  },
  "notes": [],
  "warnings": [],
  "steps": {
    "pretrain": 10,
    "train": 20
  },
  "seconds": {
    "total": 3.5,
    "pretrain": 1.0,
    "train": 2.0,
    "per_step": 0.1
  },
  "peak_memory_bytes": 1048576,
  "device_memory_bytes": null,
  "classical_failure": null,
  "diverged": null
}
"#;
        assert_eq!(render(&example::outcome(), Some(1 << 20)), expected);
    }

    #[test]
    fn failures_are_told() {
        let mut outcome = example::outcome();
        outcome.classical_failure = Some("Newton's method did not converge".into());
        outcome.stop = Stop::Diverged { last_good_step: 12, reason: "a loss is not finite".into() };
        let value: Value = serde_json::from_str(&render(&outcome, None)).unwrap();
        assert_eq!(value["stop"], "diverged");
        assert_eq!(value["classical_failure"], "Newton's method did not converge");
        assert_eq!(value["diverged"], json!({ "last_good_step": 12, "reason": "a loss is not finite" }));
    }
}
