//! The shipped tumour, by the classical solver on a coarse grid.

use bilo::observer::Silent;
use bilo::outcome::Outcome;
use bilo::problem::{Data, Overrides, Problem};
use bilo::{Job, run};
use std::path::Path;

/// Cells of 4 mm and 20 steps.
fn coarse() -> Problem {
    let set = ["classical.cells=18", "classical.steps=20"].map(String::from).to_vec();
    let overrides = Overrides::of(set);
    let mut problem =
        Problem::from_file(Path::new("../../problems/glioblastoma.toml"), &overrides).expect("shipped");
    problem.pictures.clear();
    problem
}

/// The outlines as the model itself has them: soft, and where they are.
fn unperturbed() -> Problem {
    let mut problem = coarse();
    for observation in &mut problem.observations {
        let Data::Synthetic { made, .. } = &mut observation.data else { panic!("synthetic") };
        *made = None;
    }
    problem
}

fn adjoint(problem: &Problem) -> Outcome {
    run(
        problem,
        &Job { seed: 0, threads: Some(2), method: &bilo::method::Adjoint, ..Job::default() },
        &mut Silent,
    )
    .expect("it runs")
}

fn mean_dice(outcome: &Outcome) -> f64 {
    outcome.misfits.iter().map(|misfit| misfit.dice_classical.expect("a segmentation")).sum::<f64>() / 2.0
}

/// Two rates and two thresholds from two outlines: what a perfect method returns is the truth. The search ends
/// when no unknown moves by more than 1e-6 of itself.
#[test]
fn unperturbed_outlines_tell_all_four_unknowns() {
    let outcome = adjoint(&unperturbed());
    for unknown in &outcome.unknowns.numbers {
        assert!(unknown.relative_error().unwrap() < 1e-5, "{} {}", unknown.name, unknown.estimate);
    }
    assert_eq!(mean_dice(&outcome), 1.0);
}

/// Perturbed by a few mm, outlines and best fit overlap as those of patients and models do (DICE of about 0.84 is
/// published), and what is inferred is no longer the truth.
#[test]
fn perturbed_outlines_are_met_as_far_as_growth_allows() {
    let outcome = adjoint(&coarse());
    let dice = mean_dice(&outcome);
    assert!((0.84..0.95).contains(&dice), "{dice}");
    let worst =
        outcome.unknowns.numbers.iter().map(|unknown| unknown.relative_error().unwrap()).fold(0.0, f64::max);
    assert!((0.01..0.6).contains(&worst), "{worst}");
}
