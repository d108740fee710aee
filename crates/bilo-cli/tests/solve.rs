//! `bilo solve`: the PDE alone, at stated values.

use crate::common;

use bilo::npy::Archive;
use common::{DECAY, Place};
use serde_json::Value;

/// The rows of `fields.csv`, after its header.
fn rows(place: &Place, header: &str) -> Vec<Vec<f64>> {
    let text = place.read("runs/decay-solve/fields.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(header));
    lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// u = exp(-k t). With 200 cells the error is below (k/200)^2/2 = 1.2e-4.
#[test]
fn the_stated_values_are_solved_at_and_both_files_hold_the_solution() {
    let place = Place::with_decay();
    let said = place.bilo("solve decay.toml --at k=3 --grid t=5 --set classical.cells=200").succeeds();
    assert_eq!(said.stderr, "");
    for part in [
        "k = 3\n",
        "Solved by implicit Runge-Kutta steps, 200 of time: ",
        "Files in runs/decay-solve: fields.npz, fields.csv",
    ] {
        assert!(said.stdout.contains(part), "no `{part}` in\n{}", said.stdout);
    }
    let rows = rows(&place, "t,u");
    assert_eq!(rows.len(), 5);
    for row in &rows {
        assert!((row[1] - (-3.0 * row[0]).exp()).abs() < 1.2e-4, "{row:?}");
    }
    let mut archive =
        Archive::new(std::fs::read(place.join("runs/decay-solve/fields.npz")).unwrap()).unwrap();
    assert_eq!(archive.names(), ["t", "u"]);
    for (column, name) in ["t", "u"].into_iter().enumerate() {
        let array = archive.array(name).unwrap().unwrap();
        assert_eq!(array.shape, [5]);
        assert_eq!(array.data, rows.iter().map(|row| row[column]).collect::<Vec<f64>>());
    }
}

#[test]
fn what_is_not_stated_is_the_truth_or_else_the_guess_and_said_to_be() {
    let place = Place::with_decay();
    let said = place.bilo("solve decay.toml").succeeds();
    assert!(said.stdout.starts_with("k = 2 (the truth: nothing else was said)\n"), "{}", said.stdout);
    assert_eq!(rows(&place, "t,u").len(), 101);
    place.write("guess.toml", &DECAY.replace("truth = 2.0\n", ""));
    let said = place.bilo("solve guess.toml").succeeds();
    assert!(said.stdout.starts_with("k = 1 (the guess: nothing else was said)\n"), "{}", said.stdout);
}

#[test]
fn json_tells_the_same_and_nothing_else_is_printed() {
    let place = Place::with_decay();
    let said = place.bilo("solve decay.toml --at k=3 --json --out here").succeeds();
    assert_eq!(said.stderr, "");
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    let keys: Vec<&str> = told.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["problem", "unknowns", "scheme", "cells", "steps", "work", "seconds", "states", "folder"];
    assert_eq!(keys, expected);
    assert_eq!(told["unknowns"]["k"], serde_json::json!({ "value": 3.0, "from": "at" }));
    assert_eq!((&told["scheme"], &told["cells"]["t"]), (&"central".into(), &20.into()));
    assert_eq!((&told["states"]["u"]["max"], &told["folder"]), (&1.0.into(), &"here".into()));
    assert!(told["work"]["newton_iterations"].as_u64().unwrap() > 0);
    assert!(place.join("here/fields.csv").exists());
}

#[test]
fn wrong_values_are_shown_in_the_argument() {
    let place = Place::with_decay();
    for (arguments, parts) in [
        ("--at kk=2", ["unknown name `kk`", "--> --at:1:1", "did you mean `k`?"]),
        ("--at k=two", ["`k` must be a finite number, found `two`", "--> --at:1:3", "^^^"]),
        ("--at k=inf", ["`k` must be a finite number, found `inf`", "--> --at:1:3", "^^^"]),
        ("--grid x=3", ["unknown name `x`", "--> --grid:1:1", "choose from `t`"]),
        ("--grid t=1", ["`t` must be a whole number, at least 2, found `1`", "--> --grid:1:3", "^"]),
        ("--grid t=100000000", ["has 100000000 points", "at most 10000000", "--grid"]),
        (
            "--set unknown.k.transform=log --at k=-1",
            ["`k` must be positive under `transform = \"log\"`, found `-1`", "--> --at:1:3", "^^"],
        ),
    ] {
        let said = place.bilo(&format!("solve decay.toml {arguments}")).fails(1);
        for part in parts {
            assert!(said.stderr.contains(part), "no `{part}` in\n{}", said.stderr);
        }
    }
    assert!(!place.join("runs").exists());
}

#[test]
fn a_problem_that_the_solver_cannot_take_is_an_error_at_its_equation() {
    let place = Place::with_decay();
    place.write("open.toml", &DECAY.replace("1 + net*t", "net"));
    let said = place.bilo("solve open.toml").fails(1);
    for part in ["the state `u` has no initial value", "--> open.toml:16:13", "u_t + k*u"] {
        assert!(said.stderr.contains(part), "no `{part}` in\n{}", said.stderr);
    }
    assert!(!place.join("runs").exists());
}

#[test]
fn a_run_is_not_overwritten_by_a_solution_and_a_solution_is() {
    let place = Place::with_decay();
    std::fs::create_dir(place.join("mine")).unwrap();
    place.write("mine/outcome.json", "precious");
    let said = place.bilo("solve decay.toml --out mine").fails(1);
    assert!(said.stderr.contains("`mine` exists and holds more than a former solution"), "{}", said.stderr);
    place.bilo("solve decay.toml --grid t=3").succeeds();
    place.bilo("solve decay.toml --grid t=4").succeeds();
    assert_eq!(rows(&place, "t,u").len(), 4);
}
