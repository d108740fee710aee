//! Estimates, error bars, intervals and verdicts against what statistics says of problems whose solution is known.

use crate::common::{right_answers, wrong_answers};
use bilo::data_loss::DataLoss;
use bilo::misfit::ReferenceLoss;
use bilo::noise::{Fitted, NoiseLevels};
use bilo::observer::Silent;
use bilo::outcome::{Colour, Flat, Outcome, ReasonKind};
use bilo::problem::{Coordinate, DataSpec, PointsSpec, Prior, Problem, Sigma, Table, Unknown};
use bilo::reference::ReferenceSolver;
use bilo::uncertainty::Uncertainty;
use bilo::{Job, profiles, run};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// u = A exp(-k t) on [0, 2], observed by some expressions of u with tables of their own. The equation is solved on so many
/// cells that its error is a millionth.
fn decay(a: Unknown, k: Unknown, observations: &[(&str, Table)]) -> Problem {
    let mut builder = Problem::builder("decay")
        .coordinate(Coordinate::time("t", 0.0, 2.0))
        .unknown(a)
        .unknown(k)
        .state("u", "A + net*t")
        .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 21)]))
        .set("classical.cells=800");
    for (number, (value, table)) in observations.iter().enumerate() {
        builder = builder.observation(&format!("o{number}"), value, DataSpec::table(table.clone()));
    }
    builder.build().expect("a valid problem")
}

/// Draws of A exp(-k t) to a power with noise, at so many times.
fn draws(count: usize, power: i32, (a, k): (f64, f64), sigma: f64, known: bool, random: &mut Pcg64) -> Table {
    let t: Vec<f64> = (0..count).map(|i| 2.0 * (i as f64 + 0.5) / count as f64).collect();
    let mut noise = || -> f64 { StandardNormal.sample(random) };
    let values = t.iter().map(|t| (a * (-k * t).exp()).powi(power) + sigma * noise()).collect();
    Table { coordinates: vec![t], values, sigma: known.then(|| vec![sigma; count]) }
}

fn adjoint(problem: &Problem) -> Outcome {
    let mut problem = problem.clone();
    // These have one minimum.
    problem.training.starts.get_or_insert(1);
    run(&problem, &Job { method: &bilo::method::Adjoint, ..Job::default() }, &mut Silent).expect("it runs")
}

/// One least-squares fit of all data by the formulas of the solution: A, k and their standard deviations.
fn pooled(tables: &[(i32, &Table)]) -> ([f64; 2], [f64; 2]) {
    let (mut at, mut inverse) = ([1.0, 1.0], [[0.0; 2]; 2]);
    for _ in 0..50 {
        let (mut normal, mut slope) = ([[0.0; 2]; 2], [0.0; 2]);
        for (power, table) in tables {
            let sigma = table.sigma.as_ref().expect("known errors");
            for (i, sigma) in sigma.iter().enumerate() {
                let (t, p) = (table.coordinates[0][i], f64::from(*power));
                let value = (at[0] * (-at[1] * t).exp()).powi(*power);
                let row = [p * value / at[0] / sigma, -p * t * value / sigma];
                let residual = (table.values[i] - value) / sigma;
                for r in 0..2 {
                    slope[r] += row[r] * residual;
                    (0..2).for_each(|c| normal[r][c] += row[r] * row[c]);
                }
            }
        }
        let det = normal[0][0] * normal[1][1] - normal[0][1] * normal[1][0];
        inverse = [[normal[1][1] / det, -normal[0][1] / det], [-normal[1][0] / det, normal[0][0] / det]];
        at = [0, 1].map(|r| at[r] + inverse[r][0] * slope[0] + inverse[r][1] * slope[1]);
    }
    (at, [inverse[0][0].sqrt(), inverse[1][1].sqrt()])
}

/// Two observations of 441 and 55 data: estimate and error bars are those of one fit of all of them, to a thousandth of an
/// error bar.
#[test]
fn two_observations_are_one_fit() {
    let mut random = Pcg64::seed_from_u64(11);
    let truth = (1.5, 0.8);
    let one = draws(441, 1, truth, 0.05, true, &mut random);
    let two = draws(55, 2, truth, 0.01, true, &mut random);
    let (exact, sd) = pooled(&[(1, &one), (2, &two)]);
    let problem = decay(Unknown::new("A", 1.0), Unknown::new("k", 1.0), &[("u", one), ("u^2", two)]);
    let outcome = adjoint(&problem);
    for (found, (exact, sd)) in outcome.unknowns.numbers.iter().zip(exact.iter().zip(sd)) {
        assert!((found.estimate - exact).abs() < 1e-3 * sd, "{found:?}: {exact}");
        assert!((found.sd.unwrap() / sd - 1.0).abs() < 1e-3, "{found:?}: {sd}");
    }
    assert_eq!(outcome.verdict.colour, Colour::Green, "{:?}", outcome.verdict);
}

/// The standard deviations at the truth with some of the data.
fn deviations(problem: &Problem, tables: &[Table]) -> Vec<f64> {
    let reference = ReferenceSolver::new(problem).unwrap();
    let loss = ReferenceLoss { data: DataLoss::new(problem, tables), reference: &reference };
    let eta = problem.eta_of_guess();
    let evaluation = loss.evaluate(&eta).unwrap();
    let slopes = loss.slopes(&evaluation).unwrap();
    let fitted = Fitted::new(&loss.data, &evaluation.loss_terms, Some(&slopes));
    let noise = NoiseLevels::new(&loss.data, &evaluation.sites, &evaluation.values, &fitted, &eta).unwrap();
    Uncertainty::new(problem, &noise, &slopes, &eta).unwrap().sd
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With known errors more data never raise an error bar, however they are divided among observations.
    #[test]
    fn more_data_never_raise_an_error_bar(
        chosen in prop::collection::vec(0..3_u8, 60), sigma in prop::array::uniform2(0.01..0.5_f64)
    ) {
        let mut random = Pcg64::seed_from_u64(5);
        let all = draws(60, 1, (1.5, 0.8), 0.05, true, &mut random);
        let part = |wanted: &[u8], sigma: f64| {
            let rows: Vec<usize> = (0..60).filter(|&i| i < 4 || wanted.contains(&chosen[i])).collect();
            let pick = |column: &[f64]| rows.iter().map(|&row| column[row]).collect::<Vec<f64>>();
            Table { coordinates: vec![pick(&all.coordinates[0])], values: pick(&all.values), sigma: Some(vec![sigma; rows.len()]) }
        };
        let (few, more) = (part(&[0], sigma[0]), part(&[0, 1], sigma[0]));
        let other = part(&[2], sigma[1]);
        let unknowns = || (Unknown::new("A", 1.5), Unknown::new("k", 0.8));
        let with = |tables: &[Table]| {
            let named: Vec<(&str, Table)> = ["u", "u^2"].into_iter().zip(tables.iter().cloned()).collect();
            let (a, k) = unknowns();
            deviations(&decay(a, k, &named), tables)
        };
        let (alone, longer, both) = (with(std::slice::from_ref(&few)), with(&[more]), with(&[few, other]));
        for j in 0..2 {
            prop_assert!(longer[j] <= alone[j] * (1.0 + 1e-9), "{longer:?} {alone:?}");
            prop_assert!(both[j] <= alone[j] * (1.0 + 1e-9), "{both:?} {alone:?}");
        }
    }
}

/// A thousand draws of twelve data with unknown noise: intervals of 68 and 95 % hold the truth as often as they say, within
/// 3 % (that is two binomial deviations at 68 %, four at 95 %).
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let (count, truth) = (1000, (1.5, 0.8));
    let mut random = Pcg64::seed_from_u64(3);
    let mut held = [[0; 2]; 2];
    for _ in 0..count {
        let table = draws(12, 1, truth, 0.03, false, &mut random);
        let problem = decay(Unknown::new("A", 1.4), Unknown::new("k", 0.7), &[("u", table)]);
        let problem = Problem { classical: problem.classical.at_most(100), ..problem };
        let outcome = adjoint(&problem);
        for (unknown, truth) in [truth.0, truth.1].into_iter().enumerate() {
            let found = &outcome.unknowns.numbers[unknown];
            for (level, interval) in [found.interval_68, found.interval_95].into_iter().enumerate() {
                let (lo, hi) = interval.expect("an error bar");
                held[unknown][level] += usize::from((lo..=hi).contains(&truth));
            }
        }
    }
    for shares in held {
        for (found, nominal) in shares.into_iter().zip([0.6827, 0.95]) {
            let share = found as f64 / f64::from(count);
            assert!((share - nominal).abs() < 0.03, "{share} for {nominal}");
        }
    }
}

/// u = c, seen n times: the profile of c with unknown noise has Student's interval, exactly.
#[test]
fn the_profile_of_a_mean_is_students_interval() {
    let values = [1.1, 0.9, 1.3, 1.0, 0.8, 1.2, 1.05, 0.95];
    let table = Table { coordinates: vec![vec![0.5; 8]], values: values.to_vec(), sigma: None };
    let problem = Problem::builder("level")
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("c", 0.7))
        .state("u", "c + net*t")
        .equation("still", "u_t", PointsSpec::grid([("t", 11)]))
        .observation("samples", "u", DataSpec::table(table))
        .set("classical.cells=10")
        .build()
        .unwrap();
    let outcome = adjoint(&problem);
    let found = &profiles(&problem, &Job::default(), &outcome, &[0]).unwrap()[0];
    let mean = values.iter().sum::<f64>() / 8.0;
    let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 7.0 / 8.0).sqrt();
    // scipy.stats.t.ppf(0.975, 7)
    let half = 2.364_624_251_592_785 * sd;
    let (lo, hi) = (found.interval_95.0.unwrap(), found.interval_95.1.unwrap());
    assert!(
        (lo - mean + half).abs() < 1e-3 * half && (hi - mean - half).abs() < 1e-3 * half,
        "{lo} {hi} {mean} {half}"
    );
    let wald = outcome.unknowns.numbers[0].interval_95.unwrap();
    assert!((wald.0 - lo).abs() < 1e-3 * half && (wald.1 - hi).abs() < 1e-3 * half, "{wald:?}");
}

/// The least chi-square over A for each k has a formula, since A is a factor: its profile on a dense grid is exact. Few
/// noisy data make it far from a parabola.
#[test]
fn profiles_are_those_of_a_dense_grid() {
    for (seed, count, sigma) in [(1, 6, 0.3), (2, 15, 0.2), (4, 8, 0.1)] {
        let table = draws(count, 1, (1.5, 0.8), sigma, true, &mut Pcg64::seed_from_u64(seed));
        let least = |k: f64| {
            let shape: Vec<f64> = table.coordinates[0].iter().map(|t| (-k * t).exp()).collect();
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let a = product(&shape, &table.values) / product(&shape, &shape);
            let residuals = table.values.iter().zip(&shape).map(|(v, s)| ((v - a * s) / sigma).powi(2));
            residuals.sum::<f64>()
        };
        let grid: Vec<f64> = (0..=60_000).map(|i| -2.0 + f64::from(i) / 10_000.0).collect();
        let lowest = grid.iter().map(|&k| least(k)).fold(f64::INFINITY, f64::min);
        let inside: Vec<f64> =
            grid.iter().copied().filter(|&k| least(k) - lowest < 3.841_458_820_694_124).collect();
        let problem = decay(Unknown::new("A", 1.5), Unknown::new("k", 0.8), &[("u", table.clone())]);
        let outcome = adjoint(&problem);
        let found = &profiles(&problem, &Job::default(), &outcome, &[1]).unwrap()[0];
        let (lo, hi) = (found.interval_95.0.unwrap(), found.interval_95.1.unwrap());
        let width = inside[inside.len() - 1] - inside[0];
        assert!((lo - inside[0]).abs() < 1e-3 * width, "{lo} {}", inside[0]);
        assert!((hi - inside[inside.len() - 1]).abs() < 1e-3 * width, "{hi}");
    }
}

#[test]
fn an_unidentified_product_is_structurally_so() {
    let table = draws(20, 1, (1.0, 0.8), 0.05, true, &mut Pcg64::seed_from_u64(1));
    let problem = Problem::builder("product")
        .coordinate(Coordinate::time("t", 0.0, 2.0))
        .unknown(Unknown::new("a", 1.0).log())
        .unknown(Unknown::new("b", 0.7).log())
        .state("u", "1 + net*t")
        .equation("decay", "u_t + a*b*u", PointsSpec::grid([("t", 11)]))
        .observation("samples", "u", DataSpec::table(table))
        .set("classical.cells=50")
        .build()
        .unwrap();
    let outcome = adjoint(&problem);
    let found = &profiles(&problem, &Job::default(), &outcome, &[0]).unwrap()[0];
    assert_eq!((found.below, found.above), (Some(Flat::Structurally), Some(Flat::Structurally)));
    assert_eq!(outcome.verdict.colour, Colour::Red);
}

/// u = c, seen n times with known noise and a normal prior: the mode and its deviation are those of the posterior, whatever
/// variable is moved inside. With a lognormal prior the mode is that of the density in c, found on a grid.
#[test]
fn priors_make_the_mode_of_the_posterior() {
    let values = [1.9, 2.3, 2.2];
    let table = Table { coordinates: vec![vec![0.5; 3]], values: values.to_vec(), sigma: Some(vec![0.5; 3]) };
    let estimate = |unknown: Unknown| {
        let problem = Problem::builder("level")
            .coordinate(Coordinate::time("t", 0.0, 1.0))
            .unknown(unknown)
            .state("u", "c + net*t")
            .equation("still", "u_t", PointsSpec::grid([("t", 11)]))
            .observation("samples", "u", DataSpec::table(table.clone()))
            .set("classical.cells=10")
            .build()
            .unwrap();
        let number = adjoint(&problem).unknowns.numbers[0].clone();
        (number.estimate, number.sd.unwrap())
    };
    let precision = 3.0 / 0.25 + 1.0 / 0.16;
    let mean = (values.iter().sum::<f64>() / 0.25 + 1.0 / 0.16) / precision;
    for unknown in [Unknown::new("c", 0.7), Unknown::new("c", 0.7).log(), Unknown::new("c", 0.7).scale(10.0)]
    {
        let (mode, sd) = estimate(unknown.prior(Prior::Normal(1.0, 0.4)));
        assert!((mode - mean).abs() < 1e-6, "{mode} {mean}");
        assert!((sd - precision.sqrt().recip()).abs() < 1e-6, "{sd}");
    }
    for prior in [
        Prior::LogNormal(0.0, 0.5),
        Prior::Gamma(2.0, 3.0),
        Prior::HalfCauchy(0.5),
        Prior::InverseGamma(3.0, 2.0),
        Prior::Exponential(4.0),
    ] {
        let density =
            |c: f64| values.iter().map(|v| ((v - c) / 0.5).powi(2) / 2.0).sum::<f64>() + prior.at(c).value;
        let grid = (1..=400_000).map(|i| f64::from(i) * 1e-5);
        let exact = grid.min_by(|a, b| density(*a).total_cmp(&density(*b))).unwrap();
        for unknown in [Unknown::new("c", 0.7), Unknown::new("c", 0.7).log()] {
            let (mode, _) = estimate(unknown.prior(prior));
            assert!((mode - exact).abs() < 2e-5, "{prior:?}: {mode} {exact}");
        }
    }
}

/// The prior of a local operator and of trained networks is that of the reference solver.
#[test]
fn every_method_has_the_same_prior() {
    let table = draws(15, 1, (1.5, 0.8), 0.1, true, &mut Pcg64::seed_from_u64(8));
    let k = Unknown::new("k", 1.0).prior(Prior::Normal(1.5, 0.05));
    let problem = decay(Unknown::new("A", 1.4), k, &[("u", table)]);
    let exact = adjoint(&problem);
    let found = run(&problem, &Job::default(), &mut Silent).unwrap();
    for (a, b) in exact.unknowns.numbers.iter().zip(&found.unknowns.numbers) {
        assert!((a.estimate - b.estimate).abs() < 1e-3 * a.sd.unwrap(), "{a:?} {b:?}");
        assert!((a.sd.unwrap() / b.sd.unwrap() - 1.0).abs() < 1e-3, "{a:?} {b:?}");
    }
}

/// The log-likelihoods of two nested models, u = A exp(-k t) with and without a level c, over draws of the noise.
fn nested(level: f64, seed: u64) -> (f64, f64) {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut table = draws(40, 1, (1.5, 1.5), 0.05, false, &mut random);
    table.values.iter_mut().for_each(|value| *value += level);
    let build = |value: &str, free: bool| {
        let builder = Problem::builder("nested")
            .coordinate(Coordinate::time("t", 0.0, 2.0))
            .unknown(Unknown::new("A", 1.4))
            .unknown(Unknown::new("k", 1.3));
        let builder = if free { builder.unknown(Unknown::new("c", 0.1)) } else { builder };
        let builder = builder
            .state("u", "A + net*t")
            .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 11)]))
            .observation("samples", value, DataSpec::table(table.clone()))
            .sigma(Sigma::Estimated)
            .set("classical.cells=50");
        adjoint(&builder.build().unwrap()).log_likelihood.unwrap()
    };
    (build("u", false), build("u + c", true))
}

/// With the larger model true and a strong signal AIC and BIC choose it; with the smaller one true they err as often as
/// chi-square says: P(chi²_1 > 2) = 15.7 % and P(chi²_1 > log 40) = 5.5 %, within three binomial deviations of 200 draws (and
/// a little for the 40 data not being very many).
#[test]
fn criteria_choose_and_err_as_they_should() {
    let (draws, data) = (200, 40.0_f64);
    let larger = |level: f64, penalty: f64, first: u64| {
        let chosen = (0..draws).filter(|seed| {
            let (small, large) = nested(level, first + seed);
            2.0 * (large - small) > penalty
        });
        chosen.count() as f64 / draws as f64
    };
    assert!(larger(0.2, data.ln(), 1000) >= 0.95);
    for (penalty, rate) in [(2.0, 0.157), (data.ln(), 0.055)] {
        let share = larger(0.0, penalty, 5000);
        let deviation = (rate * (1.0 - rate) / draws as f64).sqrt();
        assert!((share - rate).abs() < 3.0 * deviation + 0.02, "{share} for {rate}");
    }
}

/// With k all but known by its prior, the model is linear in A ~ N(1.4, 0.3²): the data are normal with covariance
/// σ² 1 + 0.3² e eᵀ, e = exp(-k t), whose density is known. What k adds is of order (1e-6)².
#[test]
fn the_evidence_of_a_linear_model_is_exact() {
    let (sigma, sd, k) = (0.1, 0.3, 0.8);
    let table = draws(15, 1, (1.5, k), sigma, true, &mut Pcg64::seed_from_u64(9));
    let (a, rate) = (Unknown::new("A", 1.4).prior(Prior::Normal(1.4, sd)), Prior::Normal(k, 1e-6));
    let problem = decay(a, Unknown::new("k", k).prior(rate), &[("u", table.clone())]);
    let found = adjoint(&problem).log_evidence.expect("every unknown has a prior");
    let shape: Vec<f64> = table.coordinates[0].iter().map(|t| (-k * t).exp()).collect();
    let away: Vec<f64> = table.values.iter().zip(&shape).map(|(value, e)| value - 1.4 * e).collect();
    let (n, v) = (shape.len() as f64, sigma * sigma);
    let (ee, ea): (f64, f64) =
        (shape.iter().map(|e| e * e).sum(), shape.iter().zip(&away).map(|(e, a)| e * a).sum());
    let aa: f64 = away.iter().map(|a| a * a).sum();
    // By Sherman and Morrison, and the determinant lemma.
    let square = (aa - sd * sd * ea * ea / (v + sd * sd * ee)) / v;
    let determinant = n * v.ln() + (sd * sd * ee / v).ln_1p();
    let exact = -0.5 * (square + determinant + n * std::f64::consts::TAU.ln());
    assert!((found - exact).abs() < 1e-3, "{found} {exact}");
}

/// A tenth of the table of wrong answers; `bench/verdicts` has all of it.
#[test]
fn wrong_answers_are_not_green_and_say_why() {
    for case in wrong_answers::cases().into_iter().step_by(10) {
        let outcome = run(&case.problem, &case.job, &mut Silent).expect("it runs");
        let reasons = &outcome.verdict.reasons;
        assert_ne!(outcome.verdict.colour, Colour::Green, "{}", case.name);
        assert!(
            reasons.iter().any(|reason| case.expected.contains(&reason.kind)),
            "{}: {reasons:?}",
            case.name
        );
    }
}

/// A tenth of the table of right answers: at 5 % false alarms, more than three of twenty would be one in sixty.
#[test]
fn right_answers_are_green() {
    let mut alarms = vec![];
    for (name, problem) in right_answers::problems() {
        for seed in 100..102 {
            let outcome = right_answers::outcome(&problem, seed);
            if outcome.verdict.colour != Colour::Green {
                alarms.push((name, outcome.verdict));
            }
        }
    }
    assert!(alarms.len() <= 3, "{alarms:?}");
}

/// f seen directly at its nodes, with noise: Gaussian process regression, whose mean and evidence have formulas.
#[test]
fn a_field_prior_is_gaussian_process_regression() {
    let (nodes, noise, length) = (21, 0.1, 0.25);
    let mut random = Pcg64::seed_from_u64(21);
    let x: Vec<f64> = (0..nodes).map(|i| i as f64 / (nodes - 1) as f64).collect();
    let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
    let data: Vec<f64> = x.iter().map(|x| 1.0 + 0.5 * (5.0 * x).sin() + noise * draw()).collect();
    let table = Table { coordinates: vec![x.clone()], values: data.clone(), sigma: Some(vec![noise; nodes]) };
    let problem = |sd: &str| {
        let text = format!(
            "name = \"gp\"\n[coordinates]\nx = [0.0, 1.0]\n[unknown.f]\nof = [\"x\"]\nguess = \"1\"\ntruth = \"1\"\n\
             grid = {{ x = {nodes} }}\nprior = {{ matern = {{ sd = {sd}, length = {length} }} }}\n\
             [state.u]\nform = \"net*x*(1-x)\"\n[equation.e]\nresidual = \"u_xx + f\"\npoints = {{ grid = {{ x = 21 }} }}\n\
             [observation.samples]\nvalue = \"f\"\ndata = {{ synthetic = {{ grid = {{ x = {nodes} }} }} }}\n[classical]\ncells = 40\n"
        );
        let mut problem = wrong_answers::read_named(&text);
        problem.observations[0].data = bilo::problem::Data::Table(table.clone());
        problem
    };
    let covariance = |sd: f64, i: usize, j: usize| {
        let r = 3.0_f64.sqrt() * (x[i] - x[j]).abs() / length;
        sd * sd * ((1.0 + r) * (-r).exp() + if i == j { 1e-8 } else { 0.0 })
    };
    let solve = |sd: f64| {
        let all = faer::Mat::from_fn(nodes, nodes, |i, j| {
            covariance(sd, i, j) + if i == j { noise * noise } else { 0.0 }
        });
        let factors = faer::linalg::solvers::Llt::new(all.as_ref(), faer::Side::Lower).unwrap();
        let away = faer::Mat::from_fn(nodes, 1, |i, _| data[i] - 1.0);
        let solved = faer::linalg::solvers::Solve::solve(&factors, &away);
        let mean: Vec<f64> = (0..nodes)
            .map(|i| 1.0 + (0..nodes).map(|j| covariance(sd, i, j) * solved[(j, 0)]).sum::<f64>())
            .collect();
        let square: f64 = (0..nodes).map(|i| away[(i, 0)] * solved[(i, 0)]).sum();
        let determinant: f64 = (0..nodes).map(|i| 2.0 * factors.L()[(i, i)].ln()).sum();
        (mean, -0.5 * (square + determinant))
    };
    let stated = adjoint(&problem("0.4"));
    let field = stated.fields.arrays.iter().find(|array| array.name == "f").unwrap();
    let (mean, _) = solve(0.4);
    let ours: Vec<f64> =
        (0..nodes).map(|i| field.values[i * (field.values.len() - 1) / (nodes - 1)]).collect();
    for (ours, mean) in ours.iter().zip(&mean) {
        assert!((ours - mean).abs() < 1e-4, "{ours} {mean}");
    }
    // The sd of the largest evidence, on a grid of a hundredth of a decade.
    let grid = (-150..=100).map(|i| 10.0_f64.powf(f64::from(i) / 100.0));
    let best = grid.max_by(|a, b| solve(*a).1.total_cmp(&solve(*b).1)).unwrap();
    let found = adjoint(&problem("\"estimate\""));
    let (sd, _) = found.regularisation[0].field.unwrap();
    assert!((sd / best).log10().abs() < 0.04, "{sd} {best}");
}

/// A source f from measured values of u, by grids of 20 and of 640 cells: the first moves f by more than a tenth of its error bar, and is refined
/// until it does so by less; the search goes on there, to what the fine grid finds.
#[test]
fn a_coarse_grid_is_refined_until_it_hardly_moves_a_function() {
    let mut random = Pcg64::seed_from_u64(33);
    let noise = 1e-4;
    let x: Vec<f64> = (1..40).map(|i| f64::from(i) / 40.0).collect();
    let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
    // -u'' = 1 + sin(5 x), with zero at both ends.
    let solution = |x: f64| 0.5 * x * (1.0 - x) + ((5.0 * x).sin() - x * 5.0_f64.sin()) / 25.0;
    let values = x.iter().map(|&x| solution(x) + noise * draw()).collect();
    let table = Table { coordinates: vec![x.clone()], values, sigma: Some(vec![noise; x.len()]) };
    let found = |cells: usize| {
        let text = format!(
            "name = \"source\"\n[coordinates]\nx = [0.0, 1.0]\n[unknown.f]\nof = [\"x\"]\nguess = \"1\"\ngrid = {{ x = 21 }}\n\
             prior = {{ matern = {{ sd = 1.0, length = 0.3 }} }}\n[state.u]\nform = \"net*x*(1-x)\"\n[equation.e]\n\
             residual = \"u_xx + f\"\npoints = {{ grid = {{ x = 41 }} }}\n[observation.samples]\nvalue = \"u\"\n\
             data = {{ synthetic = {{ grid = {{ x = 21 }} }} }}\n[classical]\ncells = {cells}\n"
        );
        let text = text.replace("guess = \"1\"", "guess = \"1\"\ntruth = \"1 + sin(5*x)\"");
        let mut problem = wrong_answers::read_named(&text);
        problem.observations[0].data = bilo::problem::Data::Table(table.clone());
        adjoint(&problem)
    };
    let field = |outcome: &Outcome, name: &str| {
        outcome.fields.arrays.iter().find(|array| array.name == name).expect("a field").values.clone()
    };
    let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let (coarse, fine) = (found(20), found(640));
    let (a, b) = (field(&coarse, "f"), field(&fine, "f"));
    let moved: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    let moved = norm(&moved) / norm(&field(&fine, "f_sd"));
    let grid = coarse.discretisation.as_ref().expect("a grid");
    assert!(grid.refined && grid.of_functions[0] < 0.1, "{grid:?}");
    // Searches end where the likelihood hardly rises, which adds a little to the tenth.
    assert!(moved < 0.15, "{moved} {grid:?} {:?}", coarse.notes);
    for outcome in [&coarse, &fine] {
        let kinds: Vec<ReasonKind> = outcome.verdict.reasons.iter().map(|reason| reason.kind).collect();
        assert!(!kinds.contains(&ReasonKind::Discretisation), "{:?}", outcome.verdict);
    }
}

/// What follows from A and k has the error bar of a linear function of them, with their correlation: for A/k
/// (A/k)² ((sA/A)² + (sk/k)² - 2 r sA sk/(A k)).
#[test]
fn what_follows_has_its_error_bar() {
    let table = draws(25, 1, (1.5, 0.8), 0.05, true, &mut Pcg64::seed_from_u64(12));
    let problem = Problem::builder("decay")
        .coordinate(Coordinate::time("t", 0.0, 2.0))
        .unknown(Unknown::new("A", 1.4).truth(1.5))
        .unknown(Unknown::new("k", 1.0).truth(0.8))
        .derived("ratio", "A/k")
        .derived("half", "log(2)/k")
        .holds("decay", "u_t = -k*u")
        .condition("start", ("t", 0.0), "u = A")
        .observation("o", "u", DataSpec::table(table))
        .build()
        .unwrap();
    let outcome = adjoint(&problem);
    let [a, k] = &outcome.unknowns.numbers[..] else { panic!("two unknowns") };
    let (sa, sk) = (a.sd.unwrap() / a.estimate, k.sd.unwrap() / k.estimate);
    let r = outcome.correlations[0][1];
    let [ratio, half] = &outcome.derived[..] else { panic!("two quantities") };
    let exact = (a.estimate / k.estimate) * (sa * sa + sk * sk - 2.0 * r * sa * sk).sqrt();
    assert!((ratio.sd.unwrap() / exact - 1.0).abs() < 1e-9 && ratio.estimate == a.estimate / k.estimate);
    assert!((half.sd.unwrap() / (half.estimate * sk) - 1.0).abs() < 1e-9);
    assert!((half.truth.unwrap() - 2.0_f64.ln() / 0.8).abs() < 1e-12);
    let (lo, hi) = half.interval_95.unwrap();
    assert!((hi - lo - 2.0 * 1.959_964 * half.sd.unwrap()).abs() < 1e-5 * half.sd.unwrap());
}
