//! Vectors of unknown numbers are numbers with names of their own.

use bilo_problem::{Overrides, Problem};
use std::path::Path;

fn problem(text: &str, set: &[&str]) -> Problem {
    let overrides = Overrides::of(set.iter().copied());
    Problem::from_toml("k.toml", text, Path::new(""), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

const LAYERS: &str = r#"
    name = "layers"
    [coordinates]
    x = [0.0, 2.0]
    [define]
    flux = "pieces(k, x)*u_x"
    [unknown.k]
    count = 4
    guess = [1.0, 2.0, "pi", 4.0]
    truth = 1.0
    bounds = [0.1, 9.0]
    [equation.flow]
    holds = "-d(flux, x) = 1"
    [condition.ends]
    at = { x = [0.0, 2.0] }
    holds = "u = 0"
    [observation.all]
    value = "u"
    data = { synthetic = { grid = { x = 3 } } }
    [derived]
    contrast = "k_4/k_1"
"#;

fn guesses(problem: &Problem) -> Vec<(&str, f64)> {
    problem.unknowns.iter().map(|unknown| (&unknown.name[..], unknown.guess)).collect()
}

#[test]
fn a_vector_is_numbers_with_names() {
    let mut written_out =
        LAYERS.replace("pieces(k, x)", "(if(x < 1.0, if(x < 0.5, k_1, k_2), if(x < 1.5, k_3, k_4)))");
    let (before, rest) = written_out.split_once("[unknown.k]").unwrap();
    let (_, after) = rest.split_once("bounds = [0.1, 9.0]").unwrap();
    let guesses = ["1.0", "2.0", "\"pi\"", "4.0"].into_iter().enumerate();
    let numbers = guesses.map(|(i, guess)| {
        format!("[unknown.k_{}]\nguess = {guess}\ntruth = 1.0\nbounds = [0.1, 9.0]\n", i + 1)
    });
    written_out = format!("{before}{}{after}", numbers.collect::<String>());
    assert_eq!(problem(LAYERS, &[]), problem(&written_out, &[]));
}

/// `pieces(k, t, 20, 45)`: the places may be constants, and the first piece is below the first of them.
#[test]
fn pieces_may_end_anywhere() {
    let stated = LAYERS.replace("pieces(k, x)", "pieces(k, x, 0.1, 0.2 + 0.1, end)");
    let stated = stated.replace("[define]", "[constants]\nend = 0.9\n[define]");
    let flux = "if(x < 0.2 + 0.1, if(x < 0.1, k_1, k_2), if(x < end, k_3, k_4))";
    assert!(format!("{:?}", problem(&stated, &[]).equations).contains(flux));
}

#[test]
fn a_vector_may_cover_a_plane() {
    let plane =
        LAYERS.replace("x = [0.0, 2.0]\n    [define]", "x = [0.0, 2.0]\n    y = [0.0, 3.0]\n    [define]");
    let plane = plane.replace("count = 4", "count = [2, 3]").replace("k_4/k_1", "k_2_3/k_1_1");
    let plane = plane.replace("[1.0, 2.0, \"pi\", 4.0]", "[[1, 2, 3], [4, 5, 6]]");
    let plane = plane
        .replace("flux, x)", "flux, x) - d(pieces(k, x, y)*u_y, y)")
        .replace("pieces(k, x)*", "pieces(k, x, y)*");
    let plane = plane.replace(
        "holds = \"u = 0\"",
        "holds = \"u = 0\"\n[condition.sides]\nat = { y = [0.0, 3.0] }\nholds = \"u = 0\"",
    );
    let plane = problem(&plane.replace("grid = { x = 3 }", "grid = { x = 3, y = 3 }"), &[]);
    let expected =
        [("k_1_1", 1.0), ("k_1_2", 2.0), ("k_1_3", 3.0), ("k_2_1", 4.0), ("k_2_2", 5.0), ("k_2_3", 6.0)];
    assert_eq!(guesses(&plane), expected);
    let one = "if(x < 1.0, if(y < 1.0, k_1_1, if(y < 2.0, k_1_2, k_1_3)), if(y < 1.0, k_2_1, if(y < 2.0, k_2_2, k_2_3)))";
    assert!(format!("{:?}", plane.equations).contains(one));
}

/// The whole vector or one number of it, from the command line.
#[test]
fn vectors_can_be_set() {
    let two = problem(LAYERS, &["unknown.k.count=2", "unknown.k.guess=3", "derived.contrast=\"k_2/k_1\""]);
    assert_eq!(guesses(&two), [("k_1", 3.0), ("k_2", 3.0)]);
    let one = problem(LAYERS, &["unknown.k_3.guess=7", "unknown.k_3.fixed=true"]);
    assert_eq!(guesses(&one)[1..], [("k_2", 2.0), ("k_4", 4.0)]);
}

/// An experiment's own vector is a vector of its own.
#[test]
fn experiments_may_have_vectors() {
    let text = LAYERS.replace("[derived]\n    contrast = \"k_4/k_1\"", "");
    let text = format!(
        "{text}\n[experiment.a]\nobservation = {{ all = {{ }} }}\n[experiment.b]\nunknown = {{ k = {{ guess = 5.0 }} }}\nobservation = {{ all = {{ }} }}"
    );
    let names: Vec<String> =
        problem(&text, &[]).unknowns.iter().map(|unknown| unknown.name.clone()).collect();
    assert_eq!(names, ["k_1", "k_2", "k_3", "k_4", "k_1@b", "k_2@b", "k_3@b", "k_4@b"]);
}
