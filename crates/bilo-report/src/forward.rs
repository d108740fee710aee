//! What `bilo solve` did: for people and for programs.

use super::number::{duration, extent, significant};
use crate::files::{FIELDS, TABLE};
use bilo::forward::{Forward, Work};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::Path;

/// A solve, with the values that it was done at.
pub struct Solved<'a> {
    /// The problem's name.
    pub problem: &'a str,
    /// Where it was solved.
    pub unknowns: &'a [Stated],
    /// The solution.
    pub forward: &'a Forward,
    /// How long it took.
    pub seconds: f64,
    /// Where the files are.
    pub out: &'a Path,
}

/// The value of an unknown, and who says so: `at`, `truth` or `guess`.
pub struct Stated {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Who says so.
    pub from: &'static str,
}

impl Solved<'_> {
    /// Values, scheme, work, the range of each state, and where the files are.
    pub fn text(&self) -> String {
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
            let (least, most) = extent(array.values.iter().copied()).unwrap_or_default();
            let _ = writeln!(text, "{}: from {} to {}", array.name, significant(least), significant(most));
        }
        let _ = writeln!(text, "Files in {}: {FIELDS}, {TABLE}", self.out.display());
        text
    }

    /// An implicit scheme takes the steps it was told to; an explicit one has nothing but steps.
    fn work(&self) -> String {
        let Work { steps, newton_iterations, factorisations } = self.forward.work;
        match newton_iterations {
            0 => count(steps, "time step"),
            _ => {
                let newton = count(newton_iterations, "Newton iteration");
                format!("{newton}, {}", count(factorisations, "factorisation"))
            }
        }
    }

    /// What was solved, as JSON.
    pub fn json(&self) -> String {
        let Forward { scheme, cells, steps, work, fields, .. } = self.forward;
        let unknown =
            |stated: &Stated| (stated.name.clone(), json!({ "value": stated.value, "from": stated.from }));
        let state = |array: &bilo::outcome::Field| {
            let (least, most) = extent(array.values.iter().copied()).unwrap_or_default();
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

/// "1 step", "2 steps".
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn the_text_names_values_with_their_source_scheme_work_and_range() {
        let forward = Forward {
            scheme: "godunov",
            description: "Godunov's scheme, 8 cells, 4 intervals of time".into(),
            cells: vec![("x".into(), 8)],
            steps: Some(4),
            work: Work { steps: 12, ..Work::default() },
            fields: example::outcome().fields,
        };
        let unknowns = [("k", 2.5, "at"), ("a", 0.1, "guess")].map(|(name, value, from)| Stated {
            name: name.into(),
            value,
            from,
        });
        let out = Path::new("runs/rod-solve");
        let solved = Solved { problem: "rod", unknowns: &unknowns, forward: &forward, seconds: 0.25, out };
        let expected = "\
k = 2.5
a = 0.1 (the guess: nothing else was said)

Solved by Godunov's scheme, 8 cells, 4 intervals of time: 12 time steps in 250.0 ms.
u_network: from 0 to 2.1
Files in runs/rod-solve: fields.npz, fields.csv
";
        assert_eq!(solved.text(), expected);
    }
}
