//! Error bars against published values and against the spread of repeated estimates.

use bilo::data::observed_tables;
use bilo::data_loss::DataLoss;
use bilo::misfit::ReferenceLoss;
use bilo::noise::{Fitted, NoiseLevels, NoiseSource};
use bilo::observer::Silent;
use bilo::outcome::{Colour, Outcome, ReasonKind};
use bilo::problem::{Coordinate, DataSpec, Overrides, PointsSpec, Problem, Table, Unknown};
use bilo::reference::ReferenceSolver;
use bilo::uncertainty::Uncertainty;
use bilo::{Job, run};
use std::path::Path;

fn fisher(noise: f64) -> Problem {
    let set = [
        "classical.cells=60".to_owned(),
        "classical.steps=40".to_owned(),
        format!("observation.profile.data.synthetic.noise={noise:?}"),
    ];
    let text = include_str!("../../../problems/fisher-kpp.toml");
    Problem::from_toml("fisher-kpp", text, Path::new("."), &Overrides::of(set.to_vec()))
        .expect("a shipped problem")
}

fn adjoint(problem: &Problem, seed: u64) -> Outcome {
    run(problem, &Job { seed, threads: None, method: &bilo::method::Adjoint, ..Job::default() }, &mut Silent)
        .expect("it runs")
}

/// The error bars at some unknowns, with the problem's own data.
fn uncertainty_at(problem: &Problem, theta: &[f64]) -> (Uncertainty, NoiseLevels) {
    let (reference, tables) = (ReferenceSolver::new(problem).unwrap(), observed_tables(problem, 0).unwrap());
    let loss = ReferenceLoss { data: DataLoss::new(problem, &tables), reference: &reference };
    let eta: Vec<f64> = problem.unknowns.iter().zip(theta).map(|(u, &theta)| u.eta_of(theta)).collect();
    let evaluation = loss.evaluate(&eta).unwrap();
    let observed = loss.slopes(&evaluation).unwrap();
    let fitted = Fitted::new(&loss.data, &evaluation.loss_terms, Some(&observed));
    let noise = NoiseLevels::new(&loss.data, &evaluation.sites, &evaluation.values, &fitted, &eta).unwrap();
    (Uncertainty::new(problem, &noise, &observed, &eta).expect("finite slopes"), noise)
}

/// The statistical floor of Fisher-KPP with 51x51 data, relative standard deviations of D and rho: 1.0 %
/// and 0.19 % for a noise of variance 1e-4, and as the noise from there. The floor has two digits: 10 %.
#[test]
fn fisher_kpp_has_the_known_floor() {
    for (noise, d, rho) in [(0.01, 0.010, 0.0019), (1e-3_f64.sqrt(), 0.032, 0.0061), (0.1, 0.10, 0.019)] {
        let (found, levels) = uncertainty_at(&fisher(noise), &[2.0, 2.0]);
        for (sd, floor) in found.sd.iter().zip([d, rho]) {
            let ratio = sd / 2.0 / floor;
            assert!((ratio - 1.0).abs() < 0.1, "noise {noise}: relative sd {}, floor {floor}", sd / 2.0);
        }
        assert_eq!(
            (levels.observations[0].source, levels.observations[0].sd),
            (NoiseSource::Stated, Some(noise))
        );
    }
}

/// Estimates from 50 draws of the noise scatter as their error bars say. The standard deviation of 50
/// normal numbers is itself known to 1/sqrt(98) = 10 %: three times that. The mean of the
/// estimates is off the truth by no more than three standard deviations of a mean.
#[test]
fn repeated_estimates_scatter_as_the_error_bars_say() {
    let draws = 50;
    let problem = fisher(0.01);
    let outcomes: Vec<Outcome> = (0..draws).map(|seed| adjoint(&problem, seed)).collect();
    for unknown in 0..2 {
        let estimates = || outcomes.iter().map(|outcome| outcome.unknowns.numbers[unknown].estimate);
        let mean = estimates().sum::<f64>() / draws as f64;
        let spread = (estimates().map(|e| (e - mean).powi(2)).sum::<f64>() / (draws - 1) as f64).sqrt();
        let stated =
            outcomes.iter().map(|outcome| outcome.unknowns.numbers[unknown].sd.unwrap()).sum::<f64>();
        let stated = stated / draws as f64;
        assert!((spread / stated - 1.0).abs() < 0.3, "spread {spread:.3e}, error bars {stated:.3e}");
        assert!((mean - 2.0).abs() < 3.0 * stated / (draws as f64).sqrt(), "mean {mean}, sd {stated:.3e}");
    }
}

/// The residuals of the optimum know the noise: 2601 values give its size to 1/sqrt(5200) = 1.4 %.
#[test]
fn without_a_stated_noise_the_residuals_tell_it() {
    let stated = fisher(0.01);
    let mut silent = stated.clone();
    silent.observations[0].data = bilo::problem::Data::Table(observed_tables(&stated, 0).unwrap().remove(0));
    let (stated, silent) = (adjoint(&stated, 0), adjoint(&silent, 0));
    assert_eq!(silent.noise[0].source, NoiseSource::Residuals);
    let found = silent.noise[0].sd.expect("from the residuals");
    assert!((found / 0.01 - 1.0).abs() < 0.05, "{found}");
    for (with, without) in stated.unknowns.numbers.iter().zip(&silent.unknowns.numbers) {
        // Data of a table do not come from the grid that they are fitted on, which is then refined.
        assert!((with.estimate - without.estimate).abs() < 0.3 * with.sd.unwrap(), "{with:?} {without:?}");
        let ratio = without.sd.unwrap() / with.sd.unwrap();
        // The error bars for data of a table are those of a finer grid.
        assert!((ratio * 0.01 / found - 1.0).abs() < 0.01, "{ratio}");
    }
}

/// u = c everywhere, observed twice by one gauge and once, doubled, by another.
fn level(sigma: Option<Vec<f64>>, weight: f64) -> Problem {
    let table = |values: Vec<f64>, sigma| Table { coordinates: vec![vec![0.5; values.len()]], values, sigma };
    Problem::builder("level")
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("c", 1.0))
        .state("u", "c + net*t")
        .equation("still", "u_t", PointsSpec::grid([("t", 11)]))
        .observation("one", "u", DataSpec::table(table(vec![1.0, 2.0], sigma.clone())))
        .weighted_observation(
            "two",
            "2*u",
            DataSpec::table(table(vec![3.0], sigma.map(|_| vec![0.3]))),
            weight,
        )
        .build()
        .unwrap()
}

/// The estimate is Σ w s d / Σ w s² with slopes s = 1, 1, 2 and weights w = weight/sigma²: its variance
/// is Σ (w s sigma)² / (Σ w s²)², whatever the weight of the second observation.
#[test]
fn error_bars_are_those_of_the_estimate_that_the_loss_defines() {
    let sigma = [0.1, 0.2, 0.3];
    for weight in [0.5, 1.0, 10.0] {
        let outcome = adjoint(&level(Some(sigma[..2].to_vec()), weight), 0);
        let w = [sigma[0].powi(-2), sigma[1].powi(-2), weight * sigma[2].powi(-2)];
        let slopes = [1.0_f64, 1.0, 2.0];
        let total: f64 = (0..3).map(|i| w[i] * slopes[i].powi(2)).sum();
        let square: f64 = (0..3).map(|i| (w[i] * slopes[i] * sigma[i]).powi(2)).sum();
        let sd = outcome.unknowns.numbers[0].sd.unwrap();
        assert!((sd * total / square.sqrt() - 1.0).abs() < 1e-9, "weight {weight}: sd {sd}");
        assert_eq!(outcome.noise[1].source, NoiseSource::Sigma);
    }
    // Too few for noise levels of their own: one level, relative to the spread of 1 and 2 (variance 1/4) and to 3 (square 9),
    // from three values less one unknown.
    let outcome = adjoint(&level(None, 1.0), 0);
    let c = outcome.unknowns.numbers[0].estimate;
    let square = (((c - 1.0).powi(2) + (c - 2.0).powi(2)) / 0.25 + (2.0 * c - 3.0).powi(2) / 9.0) / 2.0;
    let sd = outcome.noise[1].sd.expect("from the residuals");
    assert!((sd - 3.0 * square.sqrt()).abs() < 1e-9, "{sd}");
    assert!(
        outcome.notes[0].contains("one noise level was estimated for all of them"),
        "{:?}",
        outcome.notes
    );
}

/// Only the product a*b is in the equation.
#[test]
fn unknowns_that_cannot_be_told_apart_are_named() {
    let problem = Problem::builder("product")
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("a", 1.0).truth(2.0))
        .unknown(Unknown::new("b", 1.0).truth(1.5))
        .state("u", "1 + net*t")
        .equation("decay", "u_t + a*b*u", PointsSpec::grid([("t", 11)]))
        .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.01))
        .build()
        .unwrap();
    let outcome = adjoint(&problem, 0);
    let warning = &outcome.verdict.reasons.first().expect("a reason").sentence;
    assert_eq!(
        (outcome.verdict.colour, outcome.verdict.reasons[0].kind),
        (Colour::Red, ReasonKind::NotIdentified)
    );
    assert!(warning.contains("+0.71 a -0.71 b") || warning.contains("-0.71 a +0.71 b"), "{warning}");
    assert!(outcome.singular_values[1] < 1e-8 * outcome.singular_values[0], "{:?}", outcome.singular_values);
    let product = outcome.unknowns.numbers[0].estimate * outcome.unknowns.numbers[1].estimate;
    assert!((product - 3.0).abs() < 0.2, "{product}");
}

/// m moves v only, and v is not observed: k has the error bar that it has alone, m has none.
#[test]
fn an_unknown_that_the_data_do_not_see_leaves_the_others_their_error_bars() {
    let alone = Problem::builder("decay")
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("k", 1.0).truth(2.0))
        .state("u", "1 + net*t")
        .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 11)]))
        .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.01));
    let follower = alone.clone().unknown(Unknown::new("m", 1.0).truth(3.0)).state("v", "net*t").equation(
        "growth",
        "v_t - m*u",
        PointsSpec::grid([("t", 11)]),
    );
    let (alone, both) = (adjoint(&alone.build().unwrap(), 0), adjoint(&follower.build().unwrap(), 0));
    let [k, m] = &both.unknowns.numbers[..] else { panic!("two unknowns.numbers") };
    assert!((k.sd.unwrap() / alone.unknowns.numbers[0].sd.unwrap() - 1.0).abs() < 1e-6, "{k:?} {alone:?}");
    assert_eq!((m.estimate, m.sd), (1.0, Some(f64::INFINITY)));
    assert_eq!(both.singular_values[1], 0.0);
    assert_eq!(both.verdict.colour, Colour::Red);
    assert_eq!(both.verdict.reasons[0].sentence, "the data do not determine the unknown m");
}
