//! Fourteen problems of the gallery as a user runs them: the answer of another program, green, with no more work than was needed
//! once.
//!
//! `bench/gallery` runs all of them; these are those that take a few seconds.

use bilo::observer::Silent;
use bilo::outcome::{Colour, SolvedBy};
use bilo::problem::{Overrides, Problem};
use bilo::{Job, run};
use serde_json::Value;
use std::fs::read_to_string;
use std::path::PathBuf;

/// Who solves each, in how many iterations of the search whose answer is told, and, by a dictionary, with how many matrices.
const CASES: [(&str, SolvedBy, usize, usize); 14] = [
    ("arrhenius", SolvedBy::Dictionary, 11, 69),
    ("beam", SolvedBy::Dictionary, 7, 9),
    ("brinkman-slip", SolvedBy::Dictionary, 6, 8),
    ("channel-slip", SolvedBy::Dictionary, 6, 8),
    ("gene-switch", SolvedBy::ReferenceSolver, 1, 0),
    ("growth-lag", SolvedBy::ReferenceSolver, 23, 0),
    ("michaelis-menten", SolvedBy::Dictionary, 18, 107),
    ("plate-reader", SolvedBy::ReferenceSolver, 7, 0),
    ("plate-source", SolvedBy::Dictionary, 13, 4),
    ("saturated", SolvedBy::Dictionary, 10, 13),
    ("sounding", SolvedBy::ReferenceSolver, 13, 0),
    ("spring-dropouts", SolvedBy::Dictionary, 118, 123),
    ("tracer-counts", SolvedBy::ReferenceSolver, 13, 0),
    ("two-compartment", SolvedBy::Dictionary, 8, 11),
];

#[test]
fn some_of_the_gallery_are_right_with_no_more_work_than_before() {
    for (name, solver, iterations, matrices) in CASES {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../gallery").join(name);
        let text = read_to_string(folder.join("problem.toml")).expect("a problem");
        let problem =
            Problem::from_toml(name, &text, folder.as_path(), &Overrides::default()).expect("valid");
        let outcome = run(&problem, &Job::default(), &mut Silent).expect("it runs");
        let reference: Value =
            serde_json::from_str(&read_to_string(folder.join("reference.json")).expect("an answer")).unwrap();
        for number in &outcome.unknowns.numbers {
            let of = |key: &str| reference[key][&number.name].as_f64();
            let (optimum, sd) = (of("optimum").expect("an optimum"), of("sd").unwrap_or(0.0));
            // What `bench/gallery` calls right.
            let off = (number.estimate - optimum).abs();
            assert!(
                off <= (0.3 * sd).max(1e-3 * optimum.abs()),
                "{name}: {} is {}, not {optimum}",
                number.name,
                number.estimate
            );
        }
        assert_eq!(outcome.verdict.colour, Colour::Green, "{name}: {:?}", outcome.verdict.reasons);
        let (by, steps) = (outcome.solved_by, outcome.steps.train);
        assert!(by == solver && steps <= iterations, "{name}: {steps} iterations by {by:?}");
        let work = outcome.operator.as_ref().and_then(|operator| operator.work.as_ref());
        let factorised = work.map_or(0, |work| work.factorisations);
        assert!(factorised <= matrices, "{name}: {factorised} matrices");
    }
}
