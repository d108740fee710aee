//! How data speak of what is observed: every likelihood against formulas and counts of its own.

use bilo::data::observed_tables;
use bilo::data_loss::DataLoss;
use bilo::misfit::ReferenceLoss;
use bilo::noise::NoiseSource;
use bilo::observer::Silent;
use bilo::outcome::Outcome;
use bilo::problem::{
    Coordinate, DataSpec, Likelihood, Observation, Overrides, PointsSpec, Problem, Quadrature, Table, Unknown,
};
use bilo::reference::ReferenceSolver;
use bilo::sites::Sites;
use bilo::{Job, run};
use std::path::Path;

fn adjoint(problem: &Problem, seed: u64) -> Outcome {
    run(problem, &Job { seed, threads: None, method: &bilo::method::Adjoint, ..Job::default() }, &mut Silent)
        .expect("it runs")
}

/// u = level everywhere, as the solution of u_x = 0 with u(0) = level, observed through an expression.
fn level(value: &str, likelihood: Likelihood, data: DataSpec) -> Problem {
    Problem::builder("level")
        .coordinate(Coordinate::space("x", 0.0, 2.0))
        .unknown(Unknown::new("level", 0.4).truth(0.3))
        .state("u", "level + net*x")
        .equation("flat", "u_x", PointsSpec::grid([("x", 5)]))
        .observation("o", value, data)
        .likelihood(likelihood)
        .set("classical.cells=40")
        .build()
        .expect("a valid problem")
}

fn table(values: &[f64], sigma: Option<Vec<f64>>) -> Table {
    let x = (0..values.len()).map(|i| 2.0 * (i as f64 + 0.5) / values.len() as f64).collect();
    Table { coordinates: vec![x], values: values.to_vec(), sigma }
}

fn huber() -> Likelihood {
    Likelihood::Huber { threshold: 1.345, sigma: Some(0.1) }
}

fn student() -> Likelihood {
    Likelihood::Student { freedom: 4.0, sigma: Some(0.1) }
}

/// The term of the loss, its derivative and its curvature by the value, for one datum.
fn loss_terms(likelihood: Likelihood, value: f64, datum: f64) -> [f64; 3] {
    let problem = level("u", likelihood, DataSpec::table(table(&[datum], None)));
    let observation: &Observation = &problem.observations[0];
    let sites = Sites::new(&problem, observation, &table(&[datum], None), &[0.3]).unwrap();
    let found = sites.terms(&[value]).unwrap();
    [found.term, found.by_values[0], found.curvature[0]]
}

/// Against the formulas of the distributions, up to a few roundings.
#[test]
fn losses_are_twice_the_negative_logarithms_of_their_likelihoods() {
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-12 * expected.abs().max(1.0);
    let [bernoulli, ..] = loss_terms(Likelihood::Bernoulli, 0.3, 1.0);
    assert!(near(bernoulli, -2.0 * 0.3_f64.ln()), "{bernoulli}");
    let [bernoulli, slope, curvature] = loss_terms(Likelihood::Bernoulli, 0.3, 0.0);
    assert!(near(bernoulli, -2.0 * 0.7_f64.ln()) && near(slope, 2.0 / 0.7), "{bernoulli} {slope}");
    assert!(near(curvature, 2.0 / (0.3 * 0.7)), "{curvature}");
    // 0.5 sigma is inside of Huber's threshold, 3 sigma outside.
    let [inside, ..] = loss_terms(huber(), 0.35, 0.3);
    let [outside, slope, _] = loss_terms(huber(), 0.6, 0.3);
    assert!(near(inside, 0.25), "{inside}");
    assert!(near(outside, 2.0 * 1.345 * 3.0 - 1.345_f64.powi(2)) && near(slope, 2.0 * 1.345 / 0.1));
    // Student's density with scale 0.1 is (1 + r²/4)^(-5/2) up to a constant.
    let [student, ..] = loss_terms(student(), 0.5, 0.3);
    assert!(near(student, 5.0 * 2.0_f64.ln()), "{student}");
    let [relative, slope, _] = loss_terms(Likelihood::RelativeL2, 0.5, 0.25);
    assert!(near(relative, 1.0) && near(slope, 2.0 * 0.25 / 0.0625), "{relative} {slope}");
    let custom = Likelihood::custom("abs(value - data)^3").unwrap();
    let [cubed, slope, curvature] = loss_terms(custom, 0.5, 0.3);
    assert!(near(cubed, 0.008) && near(slope, 3.0 * 0.04) && near(curvature, 6.0 * 0.2), "{cubed} {slope}");
}

/// The information of one datum is the variance of the derivative of its log-likelihood: by quadrature over
/// the distributions, on 200,001 points over 40 (Huber) and 4000 (Student) standard deviations, whose tails
/// beyond hold less than 1e-6 of it.
#[test]
fn curvatures_are_the_fisher_information() {
    for (likelihood, far) in [(huber(), 40.0), (student(), 4000.0)] {
        let problem = level("u", likelihood.clone(), DataSpec::table(table(&[0.0], None)));
        let points = 200_001;
        let data: Vec<f64> = (0..points).map(|i| 0.1 * far * (2.0 * i as f64 / 200_000.0 - 1.0)).collect();
        let sites = Sites::new(&problem, &problem.observations[0], &table(&data, None), &[0.3]).unwrap();
        let found = sites.terms(&vec![0.0; points]).unwrap();
        let count = points as f64;
        // The terms are means: l_i = count term_i, by judging each datum of its own.
        let alone = |i: usize| -> f64 {
            let one =
                Sites::new(&problem, &problem.observations[0], &table(&data[i..=i], None), &[0.3]).unwrap();
            one.terms(&[0.0]).unwrap().term
        };
        let (mut mass, mut variance) = (0.0, 0.0);
        for i in (0..points).step_by(4) {
            let density = (-alone(i) / 2.0).exp();
            mass += density;
            variance += density * (count * found.by_values[i] / 2.0).powi(2);
        }
        let information = count * found.curvature[0] / 2.0;
        let ratio = information * mass / variance;
        assert!((ratio - 1.0).abs() < 2e-3, "{likelihood:?}: {ratio}");
    }
}

/// The maximum of a Bernoulli likelihood is the share of ones, its standard deviation sqrt(p (1-p)/n).
#[test]
fn a_probability_is_the_share_of_ones() {
    let data = table(&[1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], None);
    let outcome = adjoint(&level("u", Likelihood::Bernoulli, DataSpec::table(data)), 0);
    let found = &outcome.unknowns.numbers[0];
    assert!((found.estimate - 0.25).abs() < 1e-6, "{}", found.estimate);
    let sd = (0.25_f64 * 0.75 / 8.0).sqrt();
    assert!((found.sd.unwrap() / sd - 1.0).abs() < 1e-5, "{:?}, expected {sd}", found.sd);
    assert_eq!((outcome.noise[0].source, outcome.noise[0].sd), (NoiseSource::Likelihood, None));
    let dice = outcome.misfits[0].dice_classical.unwrap();
    assert_eq!(dice, 0.0, "nowhere is a quarter above one half");
}

/// One wild value of nine moves a mean by a tenth of itself, and robust estimates by less than sigma.
#[test]
fn robust_likelihoods_bear_an_outlier() {
    let values = [0.28, 0.32, 0.25, 0.35, 0.3, 0.31, 0.29, 0.3, 9.0];
    let estimate = |likelihood| {
        adjoint(&level("u", likelihood, DataSpec::table(table(&values, None))), 0).unknowns.numbers[0]
            .estimate
    };
    assert!((estimate(Likelihood::Gaussian) - values.iter().sum::<f64>() / 9.0).abs() < 1e-6);
    // Huber's estimate solves Σ psi = 0: the eight are inside, the outlier pulls with the threshold.
    let huber_root = (values[..8].iter().sum::<f64>() + 0.1 * 1.345) / 8.0;
    assert!((estimate(huber()) - huber_root).abs() < 1e-6, "{}", estimate(huber()));
    assert!((estimate(student()) - 0.3).abs() < 0.01, "{}", estimate(student()));
}

/// The minimum of Σ (u - d)^4 over d = 0 (twice) and 3 is at a with 2 a³ = (3 - a)³.
#[test]
fn a_custom_loss_is_minimised() {
    let quartic = Likelihood::custom("(value - data)^4").unwrap();
    let outcome = adjoint(&level("u", quartic, DataSpec::table(table(&[0.0, 3.0, 0.0], None))), 0);
    let root = 3.0 / (1.0 + 2.0_f64.cbrt());
    assert!(
        (outcome.unknowns.numbers[0].estimate - root).abs() < 1e-5,
        "{}",
        outcome.unknowns.numbers[0].estimate
    );
}

/// Constant intensity on [0, 2] with M snapshots: the maximum is N/(2 M), with the standard deviation of a
/// Poisson number, sqrt(N)/(2 M).
#[test]
fn a_constant_intensity_is_the_number_of_particles() {
    let coordinates = [Coordinate::space("x", 0.0, 2.0)];
    let quadrature = Quadrature::over_space(&coordinates, 20);
    let process = Likelihood::PoissonProcess { snapshots: 50.0, quadrature };
    let problem = level("100*u", process, DataSpec::drawn());
    let particles = &observed_tables(&problem, 3).unwrap()[0];
    let count = particles.values.len() as f64;
    // 50 snapshots of 2*30 particles: 3000, with a standard deviation of 55.
    assert!((count - 3000.0).abs() < 4.0 * 55.0, "{count}");
    let outcome = adjoint(&problem, 3);
    let found = &outcome.unknowns.numbers[0];
    assert!((found.estimate - count / 1e4).abs() < 1e-7, "{}, expected {}", found.estimate, count / 1e4);
    assert!((found.sd.unwrap() / (count.sqrt() / 1e4) - 1.0).abs() < 1e-5, "{:?}", found.sd);
}

/// Numbers of particles in tenths of the domain: chi-square with 10 degrees of freedom has mean 10 and standard
/// deviation 4.5; its 99.99 % point is 35.6.
#[test]
fn particles_are_drawn_as_their_intensity_says() {
    let coordinates = [Coordinate::space("x", 0.0, 2.0)];
    let quadrature = Quadrature::over_space(&coordinates, 20);
    let process = Likelihood::PoissonProcess { snapshots: 100.0, quadrature };
    let problem = level("100*u*x^2", process, DataSpec::drawn());
    let x = &observed_tables(&problem, 0).unwrap()[0].coordinates[0];
    let chi_square: f64 = (0..10)
        .map(|i| {
            let (a, b) = (0.2 * f64::from(i), 0.2 * f64::from(i + 1));
            let seen = x.iter().filter(|&&x| a <= x && x < b).count() as f64;
            let expected = 100.0 * 100.0 * 0.3 * (b.powi(3) - a.powi(3)) / 3.0;
            (seen - expected).powi(2) / expected
        })
        .sum();
    assert!(chi_square < 35.6, "{chi_square}");
    assert_eq!(x, &observed_tables(&problem, 0).unwrap()[0].coordinates[0]);
    assert_ne!(x.len(), observed_tables(&problem, 1).unwrap()[0].values.len());
}

/// Two nodes of Gauss in each cell are exact for cubics on either side of a break, and second order across
/// one that is not stated.
#[test]
fn quadrature_honours_breaks() {
    let text = r#"
        name = "breaks"
        [coordinates]
        x = [0.0, 1.0]
        [constants]
        z = 0.37
        [unknown.k]
        guess = 1.0
        truth = 1.0
        [state.u]
        form = "k + net*x"
        [equation.flat]
        residual = "u_x"
        points = { grid = { x = 5 } }
        [observation.o]
        likelihood = { kind = "poisson-process", quadrature = { grid = { x = 12 }, breaks = ["z"] } }
        data = { synthetic = {} }
    "#;
    let problem = Problem::from_toml("breaks", text, Path::new("."), &Overrides::default()).unwrap();
    let Likelihood::PoissonProcess { quadrature, .. } = &problem.observations[0].likelihood else { panic!() };
    let integral = |quadrature: &Quadrature| -> f64 {
        let nodes = quadrature.nodes(&problem, &[1.0]).unwrap();
        let kink = |x: f64| (x - 0.37).abs() * (1.0 + x * x);
        nodes.coordinates[0].iter().zip(&nodes.weights).map(|(&x, weight)| weight * kink(x)).sum()
    };
    // The antiderivative of (x - z)(1 + x²).
    let p = |x: f64| x.powi(4) / 4.0 - 0.37 * x.powi(3) / 3.0 + x * x / 2.0 - 0.37 * x;
    let exact = p(1.0) - 2.0 * p(0.37) + p(0.0);
    assert!((integral(quadrature) - exact).abs() < 1e-14, "{}", integral(quadrature) - exact);
    let blind = Quadrature { breaks: vec![], ..quadrature.clone() };
    assert!((integral(&blind) - exact).abs() > 1e-5);
}

/// The gradient of the loss by the adjoint is that of finite differences, for every likelihood.
#[test]
fn gradients_are_those_of_finite_differences() {
    let coordinates = [Coordinate::space("x", 0.0, 2.0)];
    let quadrature = Quadrature::over_space(&coordinates, 20);
    let values = table(&[0.2, 0.9, 0.4, 0.1, 0.7], None);
    for likelihood in [
        Likelihood::Gaussian,
        Likelihood::RelativeL2,
        Likelihood::Bernoulli,
        huber(),
        student(),
        Likelihood::custom("exp(value - data) - value").unwrap(),
        Likelihood::PoissonProcess { snapshots: 7.0, quadrature },
    ] {
        let problem = level("u*(1 + x)/3", likelihood.clone(), DataSpec::table(values.clone()));
        let (reference, tables) =
            (ReferenceSolver::new(&problem).unwrap(), observed_tables(&problem, 0).unwrap());
        let loss = ReferenceLoss { data: DataLoss::new(&problem, &tables), reference: &reference };
        let total = |eta: f64| loss.evaluate(&[eta]).unwrap().loss_terms.loss;
        let step = 1e-5;
        let difference = (total(0.4 + step) - total(0.4 - step)) / (2.0 * step);
        let gradient = loss.gradient(&loss.evaluate(&[0.4]).unwrap()).unwrap().eta[0];
        // Differences lose the square of the step and the rounding of the loss over it.
        assert!((gradient - difference).abs() < 1e-8 * gradient.abs().max(1.0), "{likelihood:?}: {gradient}");
    }
}
