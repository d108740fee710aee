//! What `bilo solve` did: for people and for programs.

use super::number::{duration, significant};
use crate::folder::{FIELDS, TABLE};
use bilo::forward::Forward;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::Path;

/// A solve, with the values that it was done at.
pub(crate) struct Solved<'a> {
    pub(crate) problem: &'a str,
    pub(crate) unknowns: &'a [Stated],
    pub(crate) forward: &'a Forward,
    pub(crate) seconds: f64,
    pub(crate) out: &'a Path,
}

/// The value of an unknown, and who says so: `at`, `truth` or `guess`.
pub(crate) struct Stated {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) from: &'static str,
}

impl Solved<'_> {
    /// Values, scheme, work, the range of each state, and where the files are.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for Stated { name, value, from } in self.unknowns {
            let why = match *from {
                "at" => String::new(),
                other => format!(" (the {other}: nothing else was said)"),
            };
            let _ = writeln!(text, "{name} = {}{why}", significant(*value));
        }
        let (description, seconds) = (&self.forward.description, duration(self.seconds));
        let _ = writeln!(text, "\nSolved by {description}: {} in {seconds}.", self.work());
        for array in &self.forward.fields.arrays {
            let (least, most) = range(&array.values);
            let _ = writeln!(text, "{}: from {} to {}", array.name, significant(least), significant(most));
        }
        let _ = writeln!(text, "Files in {}: {FIELDS}, {TABLE}", self.out.display());
        text
    }

    fn work(&self) -> String {
        let work = self.forward.work;
        let count =
            |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        let parts = [
            (work.steps, "time step"),
            (work.newton_iterations, "Newton iteration"),
            (work.factorisations, "factorisation"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| count(*number, what))
            .collect();
        parts.join(", ")
    }

    /// The same as JSON.
    pub(crate) fn json(&self) -> String {
        let Forward { scheme, cells, steps, work, fields, .. } = self.forward;
        let unknown =
            |stated: &Stated| (stated.name.clone(), json!({ "value": stated.value, "from": stated.from }));
        let state = |array: &bilo::outcome::Field| {
            let (least, most) = range(&array.values);
            (array.name.clone(), json!({ "min": least, "max": most }))
        };
        let cells: Map<String, Value> =
            cells.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
        let value = json!({
            "problem": self.problem,
            "unknowns": self.unknowns.iter().map(unknown).collect::<Map<_, _>>(),
            "scheme": scheme,
            "cells": cells,
            "steps": steps,
            "work": {
                "time_steps": work.steps,
                "newton_iterations": work.newton_iterations,
                "factorisations": work.factorisations,
            },
            "seconds": self.seconds,
            "states": fields.arrays.iter().map(state).collect::<Map<_, _>>(),
            "folder": self.out.display().to_string(),
        });
        format!("{value:#}\n")
    }
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)))
}
