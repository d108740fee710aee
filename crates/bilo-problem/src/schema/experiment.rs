//! What differs between experiments.

use super::kind::Kind::{Any, Each, Number, Table};
use super::kind::{TableSchema, optional};
use super::{CONDITION, CONSTANT, OBSERVATION, UNKNOWN};

/// `[experiment.NAME]`.
pub(crate) static EXPERIMENT: TableSchema = TableSchema {
    name: "experiment",
    title: "an experiment",
    parts: &[&[
        optional("constants", Each(&Any(&[Number, Table(&CONSTANT)])), "none", "constants that have other values in this experiment")
            .said("table"),
        optional("unknown", Each(&Table(&UNKNOWN)), "none", "unknown numbers that this experiment has for itself")
            .said("tables"),
        optional(
            "condition",
            Each(&Table(&CONDITION)),
            "none",
            "conditions of this experiment, or keys of shared ones that are others here",
        )
        .said("tables"),
        optional(
            "observation",
            Each(&Table(&OBSERVATION)),
            "those whose data are synthetic",
            "what was observed in this experiment, or keys of shared ones: `{ probes = { data = { file = \"warm.csv\" } } }`",
        )
        .said("tables"),
    ]],
};
