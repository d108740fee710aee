//! The audit tells an operator that knows its derivatives from one that does not.

use bilo::noise::NoiseSource;
use bilo::observer::Silent;
use bilo::outcome::{Colour, Outcome, Reason, ReasonKind};
use bilo::problem::{Coordinate, DataSpec, OperatorKind, Overrides, PointsSpec, Problem, Table, Unknown};
use bilo::{Job, run};
use std::path::Path;

/// A network for Fisher-KPP, small, trained at the guess, where a tiny rate leaves the unknowns.
fn pretrained(rgrad_weight: &str) -> Outcome {
    let rgrad = format!("train.rgrad-weight={rgrad_weight}");
    let set = [
        rgrad.as_str(),
        "operator.kind=network",
        "network.width=24",
        "train.pretrain-steps=1000",
        "train.train-steps=500",
        "train.theta-rate=1e-6",
        "equation.front.points.grid.x=21",
        "equation.front.points.grid.t=21",
        "observation.profile.data.synthetic.grid.x=21",
        "observation.profile.data.synthetic.grid.t=21",
        "classical.cells=100",
        "classical.steps=50",
    ];
    let text = include_str!("../../../problems/fisher-kpp.toml");
    let overrides = Overrides::of(set.iter().copied());
    let problem =
        Problem::from_toml("fisher-kpp", text, Path::new("."), &overrides).expect("a shipped problem");
    run(&problem, &Job::default(), &mut Silent).expect("it runs")
}

#[test]
fn an_operator_trained_by_both_terms_has_the_classical_gradient() {
    let outcome = pretrained("0.1");
    let guess = &outcome.audit[0];
    assert_eq!(guess.at.name(), "guess");
    assert!(guess.cosine > 0.99 && guess.relative_error < 0.1 && !guess.below_noise, "{guess:?}");
    assert_eq!(outcome.audit[1].at.name(), "estimate");
    assert_eq!(outcome.warnings, Vec::<String>::new());
    let first = &outcome.verdict.reasons[0];
    assert_eq!(
        (first.colour, first.kind),
        (Colour::Red, ReasonKind::SolversDisagree),
        "{:?}",
        outcome.verdict
    );
    // The same data, so the same optimum, whatever training did.
    for unknown in &outcome.unknowns.numbers {
        assert!((unknown.data_optimal.unwrap() - 2.0).abs() < 1e-6, "{unknown:?}");
        assert!(
            unknown.sd.is_none() && unknown.sd_network.is_none(),
            "data without noise leave no error bars"
        );
    }
    let misfit = &outcome.misfits[0];
    let (network, classical) = (misfit.network.unwrap(), misfit.classical.unwrap());
    assert!((network / classical - 1.0).abs() < 0.05, "{network:.3e} and {classical:.3e}");
}

#[test]
fn an_operator_trained_without_the_residual_gradient_is_flagged() {
    let outcome = pretrained("0.0");
    let guess = &outcome.audit[0];
    assert!(guess.cosine < 0.9 || guess.relative_error > 0.5, "{guess:?}");
    // It solves the PDE at the guess: its own losses cannot tell.
    let residual = outcome.losses.iter().find(|(name, _)| name == "residual.front").unwrap().1;
    assert!(residual < 1e-3, "{residual:.1e}");
    let warning = &outcome.warnings[0];
    assert!(warning.contains("does not know how the solution moves with the unknowns"), "{warning}");
}

/// Decay at k = 2 with exact data, a network trained from k = 1 for a few steps.
fn few_steps(sigma: Option<f64>) -> Outcome {
    let t: Vec<f64> = (0..=10).map(|i| f64::from(i) / 10.0).collect();
    let values = t.iter().map(|t| (-2.0 * t).exp()).collect();
    let table = Table { coordinates: vec![t], values, sigma: sigma.map(|sigma| vec![sigma; 11]) };
    let problem = Problem::builder("decay")
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("k", 1.0))
        .state("u", "1 + net*t")
        .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 11)]))
        .observation("samples", "u", DataSpec::table(table))
        .set("operator.kind=network")
        .set("network.width=8")
        .set("train.pretrain-steps=100")
        .set("train.train-steps=30")
        .build()
        .unwrap();
    run(&problem, &Job::default(), &mut Silent).expect("it runs")
}

/// Wherever the noise is known from, with what it does to k: du/dk = -t exp(-k t), the root of whose sum of
/// squares is about 0.7, so that k is known to 0.01 sigma = 0.014 or sigma = 1 to 1.4.
#[test]
fn an_estimate_outside_its_error_bar_around_the_data_optimal_value_is_named() {
    for (sigma, source, outside) in [
        (None, NoiseSource::Residuals, true),
        (Some(0.01), NoiseSource::Sigma, true),
        (Some(1.0), NoiseSource::Sigma, false),
    ] {
        let outcome = few_steps(sigma);
        assert_eq!(outcome.noise[0].source, source);
        let k = &outcome.unknowns.numbers[0];
        // 800 cells: an error of second order.
        assert!((k.data_optimal.unwrap() - 2.0).abs() < 1e-5, "{k:?}");
        let ratio = (k.estimate - k.data_optimal.unwrap()).abs() / k.sd.unwrap();
        let reasons = outcome.verdict.reasons.iter();
        let said: Vec<&Reason> =
            reasons.filter(|reason| reason.sentence.contains("sd from the best fit")).collect();
        // Beyond a third of an error bar it needs a look, beyond a whole one it must not be used.
        assert!(ratio > 0.3 && said.len() == 1, "{ratio}: {said:?}");
        for said in said {
            let colour = if outside { Colour::Red } else { Colour::Orange };
            assert_eq!((ratio > 1.0, said.colour, said.kind), (outside, colour, ReasonKind::SolversDisagree));
            let (_, rest) = said.sentence.split_once("k is ").expect("its name");
            let (number, _) = rest.split_once(" sd from the best fit 2").expect("its distance");
            // Two digits.
            assert!((number.parse::<f64>().unwrap() / ratio - 1.0).abs() < 0.05, "{ratio}: {said:?}");
            assert!(said.help.contains("train longer, or take the best fit"), "{said:?}");
        }
    }
}

/// A third derivative in time: no reference solver. The network's error bar is left, and the reason is told once.
#[test]
fn without_a_twin_the_reason_is_told_and_the_rest_is_left_out() {
    let table =
        Table { coordinates: vec![vec![0.5, 0.5], vec![0.5, 1.0]], values: vec![0.8, 0.3], sigma: None };
    let mut problem = Problem::builder("wave")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("c", 0.5))
        .state("u", "sin(pi*x) + net*x*(1-x)*t^3")
        .equation("wave", "u_ttt - c^2*u_xx", PointsSpec::grid([("x", 5), ("t", 5)]))
        .observation("gauge", "u", DataSpec::table(table))
        .set("network.width=4")
        .set("train.pretrain-steps=2")
        .set("train.train-steps=2")
        .build()
        .unwrap();
    problem.operator.kind = OperatorKind::Network;
    let outcome = run(&problem, &Job::default(), &mut Silent).expect("it runs");
    assert!(outcome.classical_failure.as_ref().unwrap().contains("first-order system"), "{outcome:?}");
    assert!(outcome.audit.is_empty() && outcome.warnings.is_empty(), "{:?}", outcome.warnings);
    let unknown = &outcome.unknowns.numbers[0];
    assert!(unknown.sd.is_none() && unknown.data_optimal.is_none() && unknown.sd_network.unwrap() > 0.0);
    assert!(outcome.misfits[0].classical.is_none() && outcome.misfits[0].network.unwrap() > 0.0);
}
