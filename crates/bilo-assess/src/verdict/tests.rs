//! Verdicts on outcomes that are written down.

use super::*;
use crate::outcome::{
    ChiSquare, Discretisation, FunctionOutcome, Goodness, Noise, ObservationFit, Outlier, ResidualTest,
    StateOutcome, Unknowns,
};

/// A run that passed everything: D = 2 ± 0.1, with a chi-square of 100 for 99 degrees of freedom.
fn passed() -> Outcome {
    let number = ScalarOutcome {
        name: "D".into(),
        guess: 1.0,
        estimate: 2.0,
        data_optimal: Some(2.001),
        sd: Some(0.1),
        ..ScalarOutcome::default()
    };
    let chi_square = ChiSquare::new(100.0, 99.0);
    let fit = ObservationFit { name: "o".into(), chi_square, ..ObservationFit::default() };
    Outcome {
        stop: Stop::Converged,
        unknowns: Unknowns { numbers: vec![number], functions: vec![] },
        states: vec![StateOutcome {
            name: "u".into(),
            relative_l2_vs_classical: Some(1e-4),
            ..Default::default()
        }],
        goodness: Goodness { observations: vec![fit], total: chi_square },
        noise: vec![Noise { observation: "o".into(), source: NoiseSource::Sigma, ..Noise::default() }],
        singular_values: vec![3.0],
        ..Outcome::default()
    }
}

fn number(outcome: &mut Outcome) -> &mut ScalarOutcome {
    &mut outcome.unknowns.numbers[0]
}

fn fit(outcome: &mut Outcome) -> &mut ObservationFit {
    &mut outcome.goodness.observations[0]
}

/// A grid that moves D by so much, and f by so much of its error bars.
fn on_grids(grids: usize, shift: f64, of_function: Option<f64>) -> Discretisation {
    let of_functions = of_function.into_iter().collect();
    Discretisation { grids, shift: vec![shift], of_functions, ..Discretisation::default() }
}

#[test]
fn what_passed_is_green_and_has_no_reasons() {
    assert_eq!(Verdict::of(&passed()), Verdict { colour: Colour::Green, reasons: vec![] });
}

/// One thing at a time, just on both sides of where it matters.
#[test]
fn every_finding_has_its_colour() {
    type Change = fn(&mut Outcome);
    let cases: [(Change, Option<(Colour, ReasonKind)>); 34] = [
        (|o| o.stop = Stop::Diverged, Some((Colour::Red, ReasonKind::Diverged))),
        (|o| o.stop = Stop::Interrupted, Some((Colour::Red, ReasonKind::Interrupted))),
        (
            |o| (o.stop, o.solved_by) = (Stop::Steps, SolvedBy::ReferenceSolver),
            Some((Colour::Red, ReasonKind::NotConverged)),
        ),
        (|o| o.stop = Stop::Steps, None),
        (
            |o| o.states[0].relative_l2_vs_classical = Some(0.051),
            Some((Colour::Red, ReasonKind::SolversDisagree)),
        ),
        (|o| o.states[0].relative_l2_vs_classical = Some(0.049), None),
        (
            |o| o.states[0].relative_l2_vs_classical = Some(f64::NAN),
            Some((Colour::Red, ReasonKind::SolversDisagree)),
        ),
        (|o| number(o).data_optimal = Some(2.11), Some((Colour::Red, ReasonKind::SolversDisagree))),
        (|o| number(o).data_optimal = Some(2.05), Some((Colour::Orange, ReasonKind::SolversDisagree))),
        (|o| number(o).data_optimal = Some(2.02), None),
        (|o| number(o).data_optimal = None, Some((Colour::Orange, ReasonKind::NoBestFit))),
        (
            |o| o.discretisation = Some(on_grids(3, 0.11, None)),
            Some((Colour::Red, ReasonKind::Discretisation)),
        ),
        (|o| o.discretisation = Some(on_grids(2, 0.02, None)), None),
        (
            |o| {
                o.solved_by = SolvedBy::ReferenceSolver;
                o.discretisation = Some(Discretisation { safety: 3.0, ..on_grids(3, 0.02, None) });
            },
            Some((Colour::Orange, ReasonKind::Discretisation)),
        ),
        // A best fit that is off by what its grid is known to make, one whose grid is in doubt, and one that is not.
        (
            |o| {
                number(o).data_optimal = Some(2.11);
                o.discretisation = Some(Discretisation { safety: 3.0, ..on_grids(3, 0.11, None) });
            },
            Some((Colour::Red, ReasonKind::SolversDisagree)),
        ),
        (
            |o| {
                number(o).data_optimal = Some(2.11);
                o.discretisation = Some(on_grids(3, 0.11, None));
            },
            None,
        ),
        (
            |o| {
                number(o).data_optimal = Some(1.89);
                o.discretisation = Some(on_grids(3, 0.11, None));
            },
            Some((Colour::Red, ReasonKind::SolversDisagree)),
        ),
        (
            |o| {
                o.unknowns.functions.push(FunctionOutcome::default());
                o.discretisation = Some(on_grids(2, 0.02, Some(0.5)));
            },
            Some((Colour::Orange, ReasonKind::Discretisation)),
        ),
        (|o| o.discretisation = Some(on_grids(1, 0.0, None)), Some((Colour::Orange, ReasonKind::Untested))),
        (|o| (o.expected_gain, o.fitted_unknowns) = (Some(7.7), Some(8.0)), None),
        (
            |o| (o.expected_gain, o.fitted_unknowns) = (Some(7.8), Some(8.0)),
            Some((Colour::Orange, ReasonKind::NotConverged)),
        ),
        (|o| fit(o).untested = Some("few".into()), Some((Colour::Orange, ReasonKind::Untested))),
        (|o| o.goodness.observations.clear(), Some((Colour::Orange, ReasonKind::Untested))),
        (|o| fit(o).chi_square = ChiSquare::new(190.0, 99.0), Some((Colour::Red, ReasonKind::Misfit))),
        (|o| fit(o).chi_square = ChiSquare::new(150.0, 99.0), Some((Colour::Orange, ReasonKind::Misfit))),
        (|o| fit(o).chi_square = ChiSquare::new(40.0, 99.0), Some((Colour::Orange, ReasonKind::TooGood))),
        (
            |o| fit(o).outliers = vec![Outlier { row: 7, residual: 9.0 }],
            Some((Colour::Orange, ReasonKind::Outliers)),
        ),
        (|o| fit(o).repeated_rows = vec![8], Some((Colour::Orange, ReasonKind::RepeatedRows))),
        (|o| o.singular_values = vec![1.0, 1e-9], Some((Colour::Red, ReasonKind::NotIdentified))),
        (|o| o.singular_values = vec![1.0, 1e-5], Some((Colour::Orange, ReasonKind::HardlyIdentified))),
        (
            |o| (number(o).sd, number(o).positive) = (Some(2.1), true),
            Some((Colour::Orange, ReasonKind::HardlyIdentified)),
        ),
        (|o| number(o).bounds = Some((0.0, 2.09)), Some((Colour::Orange, ReasonKind::AtBound))),
        (|o| number(o).bounds = Some((0.0, 2.11)), None),
        (
            |o| fit(o).untested = Some("there are too few data".into()),
            Some((Colour::Orange, ReasonKind::Untested)),
        ),
    ];
    for (number, (change, expected)) in cases.into_iter().enumerate() {
        let mut outcome = passed();
        change(&mut outcome);
        let verdict = Verdict::of(&outcome);
        let found = verdict.reasons.first().map(|reason| (reason.colour, reason.kind));
        assert_eq!(found, expected, "case {number}: {verdict:?}");
        assert_eq!(verdict.colour, expected.map_or(Colour::Green, |(colour, _)| colour), "case {number}");
    }
}

#[test]
fn a_pattern_is_named_with_its_coordinate() {
    let mut outcome = passed();
    let along = Some("x".to_owned());
    let test = ResidualTest { kind: TestKind::LagOne, along, statistic: 5.0, p: 1e-5, adjusted_p: 1e-4 };
    fit(&mut outcome).tests = vec![test];
    let reason = &Verdict::of(&outcome).reasons[0];
    assert_eq!((reason.colour, reason.kind), (Colour::Orange, ReasonKind::Structure));
    assert!(reason.sentence.contains("of o resemble their neighbours along x"), "{}", reason.sentence);
}

#[test]
fn data_without_noise_are_green_and_say_so() {
    let mut outcome = passed();
    (fit(&mut outcome).noise_free, number(&mut outcome).sd) = (true, None);
    outcome.noise[0].source = NoiseSource::None;
    let verdict = Verdict::of(&outcome);
    assert_eq!((verdict.colour, verdict.reasons[0].kind), (Colour::Green, ReasonKind::NoNoise));
}
