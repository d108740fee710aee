//! How data speak of what is observed: every likelihood against formulas and counts of its own.

use bilo::data::observed_tables;
use bilo::data_loss::DataLoss;
use bilo::misfit::ReferenceLoss;
use bilo::noise::NoiseSource;
use bilo::observer::Silent;
use bilo::outcome::{Outcome, ReasonKind};
use bilo::problem::{
    Coordinate, DataSpec, Likelihood, Observation, Overrides, PointsSpec, Problem, Quadrature, Table, Unknown,
};
use bilo::reference::ReferenceSolver;
use bilo::sites::Sites;
use bilo::{Job, run};
use rand::SeedableRng;
use rand_distr::{Distribution, StudentT};
use rand_pcg::Pcg64;
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

/// log Γ by Stirling's series, after some steps up.
fn log_gamma(x: f64) -> f64 {
    let mut shifted = 0.0;
    let mut z = x;
    while z < 15.0 {
        shifted -= z.ln();
        z += 1.0;
    }
    let series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5));
    shifted + (z - 0.5) * z.ln() - z + 0.5 * std::f64::consts::TAU.ln() + series
}

/// Φ by Simpson's rule.
fn normal_share(z: f64) -> f64 {
    let (lo, n) = (-12.0, 4000);
    let h = (z - lo) / f64::from(n);
    let bell = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let weight = |i: i32| {
        if i == 0 || i == n {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    (0..=n).map(|i| weight(i) * bell(lo + h * f64::from(i))).sum::<f64>() * h / 3.0
}

/// The logarithm of the density of counts at a mean.
fn log_count(likelihood: &Likelihood, mean: f64, count: f64) -> f64 {
    match *likelihood {
        Likelihood::Poisson => count * mean.ln() - mean - log_gamma(count + 1.0),
        Likelihood::NegativeBinomial { dispersion: Some(k) } => {
            log_gamma(count + k) - log_gamma(k) - log_gamma(count + 1.0)
                + k * (k / (k + mean)).ln()
                + count * (mean / (k + mean)).ln()
        }
        Likelihood::Binomial { trials: Some(n) } => {
            let ways = log_gamma(n + 1.0) - log_gamma(count + 1.0) - log_gamma(n - count + 1.0);
            ways + count * mean.ln() + (n - count) * (1.0 - mean).ln()
        }
        _ => unreachable!(),
    }
}

/// Counts: what the term changes by with the mean is that of minus twice the logarithm of the distribution, its slope the
/// derivative, and its curvature twice the Fisher information, the sum of the squared score over all counts.
#[test]
fn counts_have_their_distributions() {
    let cases = [
        (Likelihood::Poisson, 7.3, 4.1, 400),
        (Likelihood::NegativeBinomial { dispersion: Some(3.5) }, 7.3, 4.1, 400),
        (Likelihood::Binomial { trials: Some(15.0) }, 0.42, 0.27, 16),
    ];
    for (likelihood, mean, other, most) in cases {
        let h = 1e-5 * mean;
        for count in [0.0, 3.0, 12.0] {
            let [term, slope, _] = loss_terms(likelihood.clone(), mean, count);
            let [before, ..] = loss_terms(likelihood.clone(), other, count);
            let exact = -2.0 * (log_count(&likelihood, mean, count) - log_count(&likelihood, other, count));
            assert!((term - before - exact).abs() < 1e-9, "{likelihood:?}");
            let above = log_count(&likelihood, mean + h, count);
            let difference = -(above - log_count(&likelihood, mean - h, count)) / h;
            assert!((slope - difference).abs() < 1e-6 * (1.0 + slope.abs()), "{likelihood:?} {slope}");
        }
        let [.., curvature] = loss_terms(likelihood.clone(), mean, 0.0);
        let information: f64 = (0..most)
            .map(|count| {
                let log = |mean: f64| log_count(&likelihood, mean, f64::from(count));
                let score = (log(mean + h) - log(mean - h)) / (2.0 * h);
                log(mean).exp() * score * score
            })
            .sum();
        assert!(
            (curvature / 2.0 / information - 1.0).abs() < 1e-6,
            "{likelihood:?} {curvature} {information}"
        );
    }
}

/// A detector that ends at 0.8: a datum there is the chance of anything above, and the information of the mean is the
/// expected square of the score, by quadrature over what is seen and the chance of what is not.
#[test]
fn data_beyond_limits_are_chances() {
    let (sigma, above) = (0.1, 0.8);
    let likelihood = Likelihood::Censored { below: None, above: Some(above) };
    let one = |value: f64, datum: f64| -> [f64; 3] {
        let made = table(&[datum], Some(vec![sigma]));
        let problem = level("u", likelihood.clone(), DataSpec::table(made.clone()));
        let sites = Sites::new(&problem, &problem.observations[0], &made, &[0.3]).unwrap();
        let found = sites.terms(&[value]).unwrap();
        [found.term, found.by_values[0], found.curvature[0]]
    };
    let chance = |value: f64| normal_share((value - above) / sigma);
    for value in [0.65, 0.78, 0.9, 1.2] {
        let [term, slope, curvature] = one(value, above);
        assert!((term + 2.0 * chance(value).ln()).abs() < 1e-6, "{value}: {term}");
        let h = 1e-5;
        let difference = (one(value + h, above)[0] - one(value - h, above)[0]) / (2.0 * h);
        assert!((slope - difference).abs() < 1e-5 * (1.0 + slope.abs()), "{value}: {slope} {difference}");
        let (n, lo) = (20_000, value - 10.0 * sigma);
        let step = (above - lo) / f64::from(n);
        let seen: f64 = (0..n)
            .map(|i| {
                let r = (lo + step * (f64::from(i) + 0.5) - value) / sigma;
                (-r * r / 2.0).exp() / std::f64::consts::TAU.sqrt() / sigma * (r / sigma).powi(2) * step
            })
            .sum();
        let score = (chance(value + h).ln() - chance(value - h).ln()) / (2.0 * h);
        let information = seen + chance(value) * score * score;
        assert!((curvature / 2.0 / information - 1.0).abs() < 1e-4, "{value}: {curvature} {information}");
    }
    // Far from what is seen the series goes on where the error function ends.
    let [far, ..] = one(-0.2, above);
    assert!((far - 2.0 * 53.231_285).abs() < 1e-3, "{far}");
}

/// As laboratories write what is below a limit of detection: the same problem as with that limit stated.
#[test]
fn limits_in_a_file_are_those_that_may_be_stated() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lab.csv"), "x;value\n0,5;0,4\n1,0;< 0,15\n1,5;<0,15\n2,0;>40\n")
        .unwrap();
    std::fs::write(folder.path().join("stated.csv"), "x;value\n0,5;0,4\n1,0;0,15\n1,5;0,15\n2,0;40\n")
        .unwrap();
    let read = |file: &str, likelihood: &str| {
        let text = format!(
            "name = 'level'\n[coordinates]\nx = [0.0, 2.0]\n[unknown.k]\nguess = 1.0\n[equation.e]\nholds = 'u_x = -k*u'\n\
             [condition.c]\nat = {{ x = 0 }}\nholds = 'u = 1'\n[observation.o]\nvalue = 'u'\nsigma = 0.1\n\
             likelihood = {likelihood}\ndata = {{ file = '{file}', decimal = ',' }}\n"
        );
        let problem =
            Problem::from_toml("p.toml", &text, folder.path(), &Overrides::default()).expect("valid");
        let Observation { data, likelihood, .. } = problem.observations[0].clone();
        (data, likelihood)
    };
    let stated = read("stated.csv", "{ kind = 'censored', below = 0.15, above = 40 }");
    assert_eq!(read("lab.csv", "'censored'"), stated);
    assert_eq!(read("lab.csv", "{ kind = 'censored', above = 40 }"), stated);
}

/// Errors of logarithms: a lognormal density, with a sigma that is known or estimated.
#[test]
fn relative_errors_are_normal_in_logarithms() {
    let [term, slope, curvature] = loss_terms(Likelihood::LogNormal, 0.5, 0.25);
    assert!((term - 2.0_f64.ln().powi(2)).abs() < 1e-12 && (slope - 2.0 * 2.0_f64.ln() / 0.5).abs() < 1e-12);
    assert!((curvature - 2.0 / 0.25).abs() < 1e-12);
    // The estimate is the geometric mean, sigma the scatter of logarithms.
    let data = [0.2, 0.35, 0.31, 0.27, 0.4, 0.22, 0.33, 0.29];
    let problem = level("u", Likelihood::LogNormal, DataSpec::table(table(&data, None)));
    let found = adjoint(&problem, 0);
    let logarithms: Vec<f64> = data.iter().map(|value: &f64| value.ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / 8.0;
    let sigma = (logarithms.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / 7.0).sqrt();
    assert!((found.unknowns.numbers[0].estimate - mean.exp()).abs() < 1e-6, "{found:?}");
    assert!((found.noise[0].sd.unwrap() - sigma).abs() < 1e-6);
    assert!(
        (found.unknowns.numbers[0].sd.unwrap() / (mean.exp() * sigma / 8.0_f64.sqrt()) - 1.0).abs() < 1e-3
    );
    // -log L = n/2 (log 2π s² + 1) + Σ log data, with s² = Σ/n.
    let s = sigma * (7.0_f64 / 8.0).sqrt();
    let exact = -4.0 * ((std::f64::consts::TAU * s * s).ln() + 1.0) - 8.0 * mean;
    assert!((found.log_likelihood.unwrap() - exact).abs() < 1e-4, "{:?} {exact}", found.log_likelihood);
}

/// Synthetic data have the mean and the variance of their distribution, within 5 standard errors of 4,000 draws.
#[test]
fn synthetic_data_are_drawn_from_their_distributions() {
    let cases: [(Likelihood, f64, f64, f64); 4] = [
        (Likelihood::Poisson, 0.0, 30.0, 30.0),
        (Likelihood::NegativeBinomial { dispersion: Some(5.0) }, 0.0, 30.0, 30.0 + 900.0 / 5.0),
        (Likelihood::LogNormal, 0.1, 30.0 * 0.005_f64.exp(), 900.0 * (0.02_f64.exp() - 0.01_f64.exp())),
        // Half of the draws are cut off at the mean.
        (
            Likelihood::Censored { below: None, above: Some(30.0) },
            2.0,
            30.0 - 2.0 * 0.398_942,
            4.0 * (0.5 - 0.159_155),
        ),
    ];
    for (likelihood, noise, mean, variance) in cases {
        let points = PointsSpec::grid([("x", 4000)]);
        let problem = level("100*u", likelihood.clone(), DataSpec::synthetic(points, noise));
        let values = &observed_tables(&problem, 3).unwrap()[0].values;
        let count = values.len() as f64;
        let found = values.iter().sum::<f64>() / count;
        let spread = values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / count;
        assert!((found - mean).abs() < 5.0 * (variance / count).sqrt(), "{likelihood:?} {found}");
        assert!((spread / variance - 1.0).abs() < 0.25, "{likelihood:?} {spread} {variance}");
    }
}

/// How many of so many trials, with a column of trials: the estimate is the share of all, its error that of a binomial count, the
/// likelihood that of `scipy.stats.binom`. A run of shares that the level cannot explain is refused.
#[test]
fn parts_of_trials_are_binomial() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "x,dead,of\n0.1,3,10\n0.5,11,40\n0.9,1,8\n1.3,18,60\n1.7,7,20\n1.9,2,12\n";
    std::fs::write(folder.path().join("dishes.csv"), rows).unwrap();
    let text = |likelihood: &str, columns: &str| {
        format!(
            "name = \"dishes\"\n[coordinates]\nx = [0, 2]\n[unknown.p]\nguess = 0.6\n[state.u]\nform = \"p + net*x\"\n\
             [equation.flat]\nresidual = \"u_x\"\n[observation.o]\nvalue = \"u\"\nlikelihood = {likelihood}\n\
             data = {{ file = \"dishes.csv\", columns = {{ {columns} }} }}\n"
        )
    };
    let read = |text: &str| Problem::from_toml("case", text, folder.path(), &Overrides::default());
    let problem = read(&text("\"binomial\"", "value = \"dead\", trials = \"of\"")).unwrap();
    let found = adjoint(&problem, 0);
    let (p, n) = (42.0 / 150.0, 150.0_f64);
    let number = &found.unknowns.numbers[0];
    assert!((number.estimate - p).abs() < 1e-6, "{number:?}");
    assert!((number.sd.unwrap() / (p * (1.0 - p) / n).sqrt() - 1.0).abs() < 1e-6, "{number:?}");
    // sum(scipy.stats.binom.logpmf([3, 11, 1, 18, 7, 2], [10, 40, 8, 60, 20, 12], 0.28))
    assert!((found.log_likelihood.unwrap() + 10.605_978_6).abs() < 1e-5, "{:?}", found.log_likelihood);
    assert!(found.goodness.observations[0].chi_square.is_some(), "{:?}", found.goodness);
    // One number of trials for all says the same of equal ones.
    let stated = text("{ kind = \"binomial\", trials = 60 }", "value = \"dead\"");
    let found = adjoint(&read(&stated).unwrap(), 0);
    assert!((found.unknowns.numbers[0].estimate - 42.0 / 360.0).abs() < 1e-6);
    let reasons = &found.verdict.reasons;
    assert!(reasons.iter().any(|reason| reason.kind == ReasonKind::Misfit), "{reasons:?}");
}

/// The maxima of the likelihoods over the level and the law's own number, by SciPy's Nelder-Mead to 1e-13 on `scipy.stats`, with the
/// log-likelihood there and the standard error of the number's logarithm from second differences.
#[test]
fn numbers_of_laws_that_nobody_stated_are_found_with_the_unknowns() {
    let values = [0.28, 0.33, 0.24, 0.36, 0.30, 0.31, 0.27, 0.305, 0.9, -0.4];
    let limited = [0.28, 0.33, 0.24, 0.35, 0.30, 0.31, 0.35, 0.305, 0.35, 0.21];
    let counts = [3.0, 9.0, 14.0, 2.0, 7.0, 22.0, 5.0, 11.0, 1.0, 16.0, 8.0, 4.0];
    let student = Likelihood::Student { freedom: 4.0, sigma: None };
    let huber = Likelihood::Huber { threshold: 1.345, sigma: None };
    let censored = Likelihood::Censored { below: None, above: Some(0.35) };
    let cases: [(Likelihood, &[f64], [f64; 4]); 4] = [
        (student, &values, [0.300_411_52, 0.106_621_35, 0.433_806_34, 0.524_998]),
        (huber, &values, [0.299_375, 0.180_135_94, -0.689_801_14, 0.311_688]),
        (censored, &limited, [0.313_741_92, 0.060_830_46, 6.882_036_5, 0.281_401]),
        (
            Likelihood::NegativeBinomial { dispersion: None },
            &counts,
            [8.5, 2.384_034, -36.974_374_2, 0.524_547],
        ),
    ];
    for (likelihood, data, [level_there, number, log_likelihood, error_of_log]) in cases {
        let counted = matches!(likelihood, Likelihood::NegativeBinomial { .. });
        let outcome = adjoint(&level("u", likelihood.clone(), DataSpec::table(table(data, None))), 0);
        let (found, noise) = (&outcome.unknowns.numbers[0], &outcome.noise[0]);
        // The search ends where it can no longer tell heights apart, at the root of 1e-12 of them.
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-5;
        assert!(near(found.estimate, level_there), "{likelihood:?}: {} not {level_there}", found.estimate);
        assert!((outcome.log_likelihood.unwrap() - log_likelihood).abs() < 1e-6, "{likelihood:?}");
        let (value, error) = match counted {
            true => (noise.dispersion.unwrap(), noise.dispersion_error.unwrap()),
            false => (noise.sd.unwrap(), noise.sd_error.unwrap()),
        };
        // One of n degrees of freedom went into the level.
        let count = data.len() as f64;
        let widened = if counted { 1.0 } else { (count / (count - 1.0)).sqrt() };
        assert!(near(value, widened * number), "{likelihood:?}: {value} not {}", widened * number);
        // Second differences over a thousandth of the logarithm: Huber's loss has kinks in its slope there.
        assert!((error / value / error_of_log - 1.0).abs() < 0.02, "{likelihood:?}: {error} of {value}");
    }
}

/// Errors of Student's distribution with four degrees of freedom and a scale that nobody knows: over 200 draws of 40 data the
/// estimates scatter as their error bars say. The ratio of squares has a standard deviation of about 0.1.
#[test]
fn error_bars_with_a_scale_that_was_found_hold() {
    let student = || Likelihood::Student { freedom: 4.0, sigma: None };
    let mut random = Pcg64::seed_from_u64(7);
    let law = StudentT::new(4.0).unwrap();
    let (mut squares, mut beyond) = (0.0, 0);
    for _ in 0..200 {
        let data: Vec<f64> = (0..40).map(|_| 0.3 + 0.05 * law.sample(&mut random)).collect();
        let outcome = adjoint(&level("u", student(), DataSpec::table(table(&data, None))), 0);
        let number = &outcome.unknowns.numbers[0];
        let off = (number.estimate - 0.3) / number.sd.unwrap();
        squares += off * off / 200.0;
        beyond += usize::from(off.abs() > 1.96);
    }
    assert!((squares - 1.0).abs() < 0.3, "{squares}");
    // Ten are expected, with a standard deviation of three.
    assert!((3..=19).contains(&beyond), "{beyond}");
}
