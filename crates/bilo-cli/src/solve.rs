//! `bilo solve`: the PDE alone, at stated values of the unknowns.

use crate::args::SolveTask;
use crate::failure::Failure;
use crate::files::{FIELDS, TABLE};
use crate::folder::{self};
use crate::{assignments, output};
use bilo::forward;
use bilo::problem::{Problem, Transform, Unknown};
use bilo::verify::report_nodes;
use bilo_report::forward::{Solved, Stated};
use bilo_report::{csv, npz};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Most points of a grid: its values are kept in memory.
const MOST_POINTS: usize = 10_000_000;

pub(crate) fn solve(task: &SolveTask) -> Result<(), Failure> {
    let problem = task.statement.problem(&task.overrides)?;
    let unknowns = values(&problem, &task.at)?;
    let nodes = nodes(&problem, &task.grid)?;
    let out = task.out.clone().unwrap_or_else(|| folder::default_solution_folder(&problem.name));
    folder::refuse_unless_solution(&out)?;

    let began = Instant::now();
    let theta: Vec<f64> = unknowns.iter().map(|unknown| unknown.value).collect();
    let forward = forward::solve(&problem, &theta, &nodes)?;
    let seconds = began.elapsed().as_secs_f64();

    save(&forward.fields, &out)?;
    let solved =
        Solved { problem: &problem.name, unknowns: &unknowns, forward: &forward, seconds, out: &out };
    output::say(&if task.json { solved.json() } else { solved.text() })
}

/// The values of the unknown numbers: what is said, `NAME=VALUE,...`, else the truth, else the guess.
pub fn values(problem: &Problem, at: &str) -> Result<Vec<Stated>, Failure> {
    let names: Vec<&str> = problem.unknowns.iter().map(|unknown| unknown.name.as_str()).collect();
    let said = assignments::read("--at", at, &names, |number, text| {
        let positive = problem.unknowns[number].transform == Transform::Log;
        match text.parse::<f64>() {
            Ok(value) if positive && value.is_finite() && value <= 0.0 => {
                Err("positive under `transform = \"log\"`")
            }
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err("a finite number"),
        }
    })?;
    let stated = |(unknown, said): (&Unknown, Option<f64>)| {
        let (value, from) = match (said, unknown.truth) {
            (Some(value), _) => (value, "at"),
            (None, Some(truth)) => (truth, "truth"),
            (None, None) => (unknown.guess, "guess"),
        };
        Stated { name: unknown.name.clone(), value, from }
    };
    Ok(problem.unknowns.iter().zip(said).map(stated).collect())
}

/// Nodes of the grid along each coordinate: what is said, `NAME=COUNT,...`, else those of the report.
pub fn nodes(problem: &Problem, grid: &str) -> Result<Vec<usize>, Failure> {
    let names: Vec<&str> = problem.coordinates.iter().map(|coordinate| coordinate.name.as_str()).collect();
    let said = assignments::read("--grid", grid, &names, |_, text| match text.parse::<usize>() {
        Ok(count) if count >= 2 => Ok(count),
        _ => Err("a whole number, at least 2"),
    })?;
    let nodes: Vec<usize> = said.into_iter().map(|said| said.unwrap_or(report_nodes(problem))).collect();
    let points = nodes.iter().fold(1usize, |points, &count| points.saturating_mul(count));
    if points > MOST_POINTS {
        let message = format!("the grid has {points} points, and at most {MOST_POINTS} are written");
        return Err(Failure::new(message).help("ask for fewer nodes with --grid"));
    }
    Ok(nodes)
}

fn save(fields: &bilo::outcome::Fields, out: &Path) -> Result<(), Failure> {
    fs::create_dir_all(out).map_err(Failure::file("create the folder", out))?;
    let (archive, table) = (out.join(FIELDS), out.join(TABLE));
    npz::write(fields, &archive).map_err(Failure::file("write", &archive))?;
    csv::write(fields, &table).map_err(Failure::file("write", &table))
}
