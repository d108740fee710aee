//! Draws from posteriors, beside what quadrature and closed forms say of them.

use crate::source::{exact, read};

use bilo::data::observed_tables;
use bilo::outcome::Colour;
use bilo::posterior::{InMemory, Marginal, PosteriorOutcome};
use bilo::problem::{Overrides, Problem, Table};
use bilo::{Job, observer::Silent, run, sample};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// What draws around the estimate say.
fn sampled(problem: &Problem) -> PosteriorOutcome {
    let job = Job { seed: 1, ..Job::default() };
    let estimate = run(problem, &job, &mut Silent).expect("an estimate");
    sample(problem, &job, &estimate, &InMemory::default(), &|_| ()).expect("a posterior").0
}

/// A problem whose data are those of a table of one coordinate, x.
fn with_table(text: &str, table: &Table, set: &[&str]) -> Problem {
    let folder = tempfile::tempdir().expect("a folder");
    let sigma = |i: usize| table.sigma.as_ref().map_or(String::new(), |sigma| format!(",{}", sigma[i]));
    let heading = if table.sigma.is_some() { "x,value,sigma" } else { "x,value" };
    let row = |i: usize| format!("{},{}{}\n", table.coordinates[0][i], table.values[i], sigma(i));
    let rows: String = (0..table.values.len()).map(row).collect();
    std::fs::write(folder.path().join("data.csv"), format!("{heading}\n{rows}")).expect("a file");
    Problem::from_toml("posterior.toml", text, folder.path(), &Overrides::of(set.iter().copied()))
        .expect("a valid problem")
}

/// Mean and standard deviation of a density over an interval, by the midpoint rule.
fn by_quadrature(log_density: impl Fn(f64) -> f64, (from, to): (f64, f64)) -> (f64, f64) {
    const NODES: usize = 4000;
    let at = |i: usize| from + (to - from) * (i as f64 + 0.5) / NODES as f64;
    let top = (0..NODES).map(|i| log_density(at(i))).fold(f64::NEG_INFINITY, f64::max);
    let moment = |power: i32, about: f64| -> f64 {
        (0..NODES).map(|i| (at(i) - about).powi(power) * (log_density(at(i)) - top).exp()).sum()
    };
    let mean = moment(1, 0.0) / moment(0, 0.0);
    (mean, (moment(2, mean) / moment(0, 0.0)).sqrt())
}

/// Mean and standard deviation are the exact ones within four Monte Carlo errors, which a right posterior is beyond once in
/// ten thousand on machines that round otherwise.
fn assert_moments(marginal: &Marginal, (mean, sd): (f64, f64)) {
    let Marginal { name, mean: ours, sd: our_sd, mcse_mean, mcse_sd, .. } = marginal;
    assert!((ours - mean).abs() < 4.0 * mcse_mean, "{name}: {ours} +- {mcse_mean}, exactly {mean}");
    assert!((our_sd - sd).abs() < 4.0 * mcse_sd, "sd of {name}: {our_sd} +- {mcse_sd}, exactly {sd}");
}

fn noise(count: usize, sigma: f64, seed: u64) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(seed);
    (0..count)
        .map(|_| {
            let z: f64 = StandardNormal.sample(&mut random);
            sigma * z
        })
        .collect()
}

const POISSON: &str = r#"
name = "poisson"
[coordinates]
x = [0.0, 1.0]
[unknown.D]
guess = 1.0
prior = "gamma(2, 1)"
[equation.balance]
holds = "D*u_xx = -pi^2*sin(pi*x)"
[condition.ends]
at = { x = [0.0, 1.0] }
holds = "u = 0"
[observation.profile]
value = "u"
data = { file = "data.csv" }
"#;

/// sin(pi x)/D at eleven places with D = 2 and errors of a size.
fn profile(sigma: f64) -> Table {
    let x: Vec<f64> = (0..11).map(|i| f64::from(i) / 10.0).collect();
    let errors = noise(11, sigma, 3);
    let values = x.iter().zip(errors).map(|(x, e)| (std::f64::consts::PI * x).sin() / 2.0 + e).collect();
    Table { coordinates: vec![x], values, sigma: Some(vec![sigma; 11]) }
}

/// The closed form of that posterior's log-density.
fn poisson_density(table: &Table, sigma: f64, d: f64) -> f64 {
    let shape = |x: &f64| (std::f64::consts::PI * x).sin();
    let off = |(x, v): (&f64, &f64)| ((v - shape(x) / d) / sigma).powi(2);
    let squares: f64 = table.coordinates[0].iter().zip(&table.values).map(off).sum();
    -squares / 2.0 + d.ln() - d
}

#[test]
fn a_diffusion_constant_has_the_posterior_of_quadrature() {
    let table = profile(0.2);
    let problem = with_table(POISSON, &table, &[]);
    let found = sampled(&problem);
    assert_moments(&found.unknowns[0], by_quadrature(|d| poisson_density(&table, 0.2, d), (1e-3, 40.0)));
    assert_eq!(found.verdict.colour, Colour::Green, "{:?}", found.verdict);
    let audit = found.audit.expect("a second solver");
    assert!(audit.shape < 0.7 && audit.spread < 1e-3, "{audit:?}");
}

/// Three polynomials are off by a part of the errors of such data. The audit says so, and what it says of the mean is the
/// exact one within three of its errors.
#[test]
fn a_coarse_dictionary_is_caught_and_its_mean_is_repaired() {
    let table = profile(0.001);
    let problem = with_table(
        POISSON,
        &table,
        &["operator.kind=dictionary", "operator.modes={ x = 3 }", "sample.draws=500"],
    );
    let found = sampled(&problem);
    let marginal = &found.unknowns[0];
    let (exact, sd) = by_quadrature(|d| poisson_density(&table, 0.001, d), (1.98, 2.02));
    assert!((marginal.mean - exact).abs() > 0.3 * sd, "{} is not off: {exact} +- {sd}", marginal.mean);
    assert_eq!(found.verdict.colour, Colour::Orange);
    let said = &found.verdict.reasons[0].sentence;
    assert!(said.contains("the reference solver would shift the mean of D by"), "{said}");
    let audit = found.audit.expect("a second solver");
    assert!(audit.shape < 0.7, "{audit:?}");
    let shift = &audit.unknowns[0];
    let error = shift.of_mean_error.hypot(marginal.mcse_mean);
    assert!(
        (marginal.mean + shift.of_mean - exact).abs() < 3.0 * error,
        "{shift:?} {} {exact}",
        marginal.mean
    );
}

/// The same draws, whatever the threads; others with another seed.
#[test]
fn a_seed_fixes_every_draw() {
    let problem = with_table(POISSON, &profile(0.2), &["sample.tuning=100", "sample.draws=100"]);
    let positions = |threads: usize, seed: u64| {
        let job = Job { threads: Some(threads), seed, ..Job::default() };
        let estimate = run(&problem, &job, &mut Silent).expect("an estimate");
        let (_, draws) = sample(&problem, &job, &estimate, &InMemory::default(), &|_| ()).expect("draws");
        draws.kept
    };
    let one = positions(1, 0);
    assert_eq!(one, positions(4, 0));
    assert_ne!(one, positions(1, 1));
}

/// Errors of a size that nobody stated: with the density 1/sigma it is integrated over, so that the unknown has the marginal
/// S^(-n/2), and n/S times the square of sigma the inverse of a chi-square number's distribution.
#[test]
fn errors_of_unknown_size_are_integrated_over() {
    let table = Table { sigma: None, ..profile(0.2) };
    let problem = with_table(POISSON, &table, &[]);
    let found = sampled(&problem);
    let squares = |d: f64| -> f64 {
        let shape = |x: &f64| (std::f64::consts::PI * x).sin();
        table.coordinates[0].iter().zip(&table.values).map(|(x, v)| (v - shape(x) / d).powi(2)).sum()
    };
    let marginal = |d: f64| -5.5 * squares(d).ln() + d.ln() - d;
    assert_moments(&found.unknowns[0], by_quadrature(marginal, (1e-3, 40.0)));
    // The joint density of ln sigma, D integrated over.
    let of_sigma = |s: f64| {
        let nodes = (0..500).map(|i| 0.04 * (f64::from(i) + 0.5));
        nodes.map(|d| (-squares(d) / (2.0 * s * s) + d.ln() - d).exp()).sum::<f64>().ln() - 12.0 * s.ln()
    };
    assert_eq!(found.noise[0].name, "sigma_profile");
    assert_moments(&found.noise[0], by_quadrature(of_sigma, (0.05, 1.5)));
}

/// Particles of u_xx + lambda delta(x - 1/2) - mu u = 0 under priors gamma(1, 0.004) and uniform(0, 30), by a sum over a grid
/// of the exact likelihood: minus its logarithm is M int u - sum log u(q), where int u = lambda/mu (1 - sech(sqrt(mu)/2)).
#[test]
fn rates_of_birth_and_decay_have_the_posterior_of_quadrature() {
    let prior = ["unknown.lambda.prior=\"gamma(1, 0.004)\"", "unknown.mu.prior=\"uniform(0, 30)\""];
    let settings = ["sample.tuning=300", "sample.draws=500"];
    let problem = read(include_str!("../../../problems/point-process-10.toml"), &[prior, settings].concat());
    let particles = observed_tables(&problem, 1).expect("particles").remove(0).coordinates.remove(0);
    let (snapshots, count) = (100.0, particles.len() as f64);
    let [mut mass, mut first, mut second] = [[0.0; 2]; 3];
    let mut top = f64::NEG_INFINITY;
    for pass in 0..2 {
        for mu in (0..300).map(|i| 0.1 * (f64::from(i) + 0.5)) {
            let of_shape: f64 = particles.iter().map(|&q| exact(q, [0.5, 1.0, mu]).ln()).sum();
            let integral = (1.0 - 1.0 / (mu.sqrt() / 2.0).cosh()) / mu;
            for lambda in (0..300).map(|i| 250.0 + 1.5 * (f64::from(i) + 0.5)) {
                let height = count * lambda.ln() + of_shape - snapshots * lambda * integral - 0.004 * lambda;
                if pass == 0 {
                    top = top.max(height);
                    continue;
                }
                let weight = (height - top).exp();
                for (k, value) in [lambda, mu].into_iter().enumerate() {
                    mass[k] += weight;
                    first[k] += weight * value;
                    second[k] += weight * value * value;
                }
            }
        }
    }
    let found = sampled(&problem);
    for (k, marginal) in found.unknowns.iter().enumerate() {
        let mean = first[k] / mass[k];
        assert_moments(marginal, (mean, (second[k] / mass[k] - mean * mean).sqrt()));
    }
}

/// A nonlinear equation with the published data of NeuralUQ's example (B-PINN): k = .7531 +- .0232 by quadrature over
/// solutions.
const TANH: &str = r#"
name = "nonlinear-poisson"
[coordinates]
x = [-0.7, 0.7]
[unknown.k]
guess = 0.6
prior = "normal(0.5, 1)"
[equation.balance]
holds = "0.01*u_xx + k*tanh(u) = 1.08*(2*sin(6*x)*cos(6*x)^2 - sin(6*x)^3) + 0.7*tanh(sin(6*x)^3)"
[condition.ends]
at = { x = [-0.7, 0.7] }
holds = "u = sin(6*x)^3"
[observation.sensors]
value = "u"
data = { file = "data.csv" }
"#;

#[test]
fn a_nonlinear_equation_has_the_published_posterior() {
    let table = Table {
        coordinates: vec![vec![-0.5, -0.3, -0.1, 0.1, 0.3, 0.5]],
        values: vec![0.09352, -0.94568, -0.33512, 0.24629, 0.89627, -0.15153],
        sigma: Some(vec![0.1; 6]),
    };
    let problem = with_table(TANH, &table, &["sample.tuning=200", "sample.draws=300"]);
    let found = sampled(&problem);
    assert_moments(&found.unknowns[0], (0.7531, 0.0232));
    let divergences: usize = found.chains.iter().map(|chain| chain.divergences).sum();
    assert_eq!(divergences, 0);
}

/// What cannot be sampled is refused before anything is solved, with what to do instead.
#[test]
fn what_has_no_posterior_is_refused() {
    let refusal = |text: &str| bilo::require_posterior(&read(text, &[])).expect_err("a refusal").to_string();
    let exact = refusal(include_str!("../../../problems/poisson-scalar.toml"));
    assert!(exact.contains("have no errors") && exact.contains("sigma = "), "{exact}");
    let function = refusal(include_str!("../../../problems/poisson-variable.toml"));
    assert!(function.contains("the posterior of an unknown function is not sampled"), "{function}");
}
