//! Posteriors of unknown numbers, around what a run found.

use crate::method::{DictionarySource, Job, in_context};
use bilo_assess::RunContext;
use bilo_assess::outcome::{Outcome, SolvedBy, Stop};
use bilo_fit::observer::Silent;
use bilo_fit::parallel;
use bilo_posterior::{
    Draws, InMemory, Kept, Plan, Posterior, PosteriorOutcome, PriorDraws, PriorOutcome, Progress, Ranked,
    ReferenceSource, Source, Storage, audit, from_prior, position_of, predict, summarise,
};
use bilo_problem::diagnostic::{Diagnostic, Error, ErrorKind, Result};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::{Data, Observation, Problem, SampledBy, Sigma};
use std::time::Instant;

/// Draws from the posterior of a problem's unknown numbers, with chains about the estimate of a run of the same problem and
/// seed. Chains that the storage holds already are gone on with.
pub fn sample(
    problem: &Problem,
    job: &Job,
    estimate: &Outcome,
    storage: &dyn Storage,
    watch: &(dyn Fn(Progress) + Sync),
) -> Result<(PosteriorOutcome, Draws)> {
    require_posterior(problem)?;
    in_context(problem, job, &job.interrupt, |run| sampled(run, estimate, storage, watch))
}

/// Does something with the log-density of a problem's unknown numbers by the reference solver, whose solves begin at the guess.
pub fn with_density(
    problem: &Problem,
    job: &Job,
    act: &mut dyn FnMut(&mut dyn Posterior) -> Result<()>,
) -> Result<()> {
    require_posterior(problem)?;
    let eta: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.eta_of(unknown.guess)).collect();
    in_context(problem, job, &job.interrupt, |run| ReferenceSource::new(run, &eta).with(act))
}

/// Draws the unknown numbers from their priors, and solves the equations at each draw: what the priors predict before the
/// data have a word. `watch` hears of each draw.
pub fn draw_prior(
    problem: &Problem,
    job: &Job,
    watch: &(dyn Fn() + Sync),
) -> Result<(PriorOutcome, PriorDraws)> {
    require_numbers(problem)?;
    from_prior(problem, job.seed, 0)?;
    let count = problem.sampling.draws;
    in_context(problem, job, &job.interrupt, |run| bilo_posterior::draw_prior(run, count, watch))
}

fn refuse(message: String, help: &str) -> Result<()> {
    Err(Error::new(ErrorKind::Input, Diagnostic::from(message).help(help)))
}

/// Numbers alone are drawn.
fn require_numbers(problem: &Problem) -> Result<()> {
    if let Some(function) = problem.functions.first() {
        return refuse(
            format!("the posterior of an unknown function is not sampled, and `{}` is one", function.name),
            "the band of `bilo run` is its Laplace approximation; numbers alone can be sampled",
        );
    }
    if problem.unknowns.is_empty() {
        return refuse("there is no unknown number to sample".to_owned(), "declare one under [unknown.NAME]");
    }
    Ok(())
}

/// Whether there is a posterior that can be sampled: before a run, which takes its time.
pub fn require_posterior(problem: &Problem) -> Result<()> {
    require_numbers(problem)?;
    if let Some(exact) = problem.observations.iter().find(|observation| observation.is_exact()) {
        return refuse(
            format!("the data `{}` have no errors, so that there is nothing to sample", exact.name),
            "state the size of their errors: `sigma = ...`, or `noise = ...` for synthetic data",
        );
    }
    Ok(())
}

/// Whether a run came to an estimate that chains can begin at.
pub fn require_estimate(outcome: &Outcome) -> Result<()> {
    match outcome.stop {
        Stop::Interrupted | Stop::TimeLimit => Err(Error::new(
            ErrorKind::NotConverged,
            "the search was ended before its estimate, so that nothing was sampled",
        )),
        _ => Ok(()),
    }
}

/// Draws truths of these numbers from the priors, makes the problem's data at each, and ranks it among the draws of its
/// posterior. The data must be synthetic, with errors of stated size.
pub fn calibrate(
    problem: &Problem,
    job: &Job,
    numbers: &[usize],
    watch: &(dyn Fn(Ranked) + Sync),
) -> Result<()> {
    require_calibration(problem)?;
    // Truths are what runs in parallel.
    let alone = Job { threads: Some(1), ..job.clone() };
    let ended = parallel::each(parallel::threads(job.threads), numbers, |&number| {
        if job.interrupt.is_due() {
            return Err(Error::interrupted());
        }
        watch(ranked(problem, &alone, number)?);
        Ok(())
    });
    ended.into_iter().collect()
}

fn ranked(problem: &Problem, job: &Job, number: usize) -> Result<Ranked> {
    let truths = from_prior(problem, job.seed, number)?;
    let mut posed = problem.clone();
    posed.unknowns.iter_mut().zip(&truths).for_each(|(unknown, &truth)| unknown.truth = Some(truth));
    let job = Job { seed: seed_for(job.seed, Purpose::Prior, number), ..job.clone() };
    let found = in_context(&posed, &job, &job.interrupt, |run| {
        let estimate = crate::run(&posed, &job, &mut Silent)?;
        Ok(drawn(run, &estimate, &InMemory::default(), &|_| ())?.1)
    });
    match found {
        Ok(kept) => Ok(Ranked::new(&posed, number, truths, &kept)),
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
        Err(error) => Ok(Ranked::failed(number, error.headline())),
    }
}

/// Whether truths can be drawn and data made of them.
pub fn require_calibration(problem: &Problem) -> Result<()> {
    require_posterior(problem)?;
    from_prior(problem, 0, 0)?;
    let made = |observation: &&Observation| !matches!(observation.data, Data::Table(_));
    if let Some(observation) = problem.observations.iter().find(|observation| !made(observation)) {
        let message =
            format!("`{}` has data of its own, so that none can be made of drawn truths", observation.name);
        return refuse(message, "state data that are made: `data = { synthetic = { .., noise = .. } }`");
    }
    if let Some(observation) = problem.observations.iter().find(|o| o.sigma == Sigma::Estimated) {
        let message =
            format!("the errors of `{}` have no prior that they could be drawn from", observation.name);
        return refuse(message, "leave `sigma = \"estimate\"` out: the errors are then known to be `noise`");
    }
    Ok(())
}

/// Runs the chains, or what is missing of them.
fn drawn<'a>(
    run: &'a RunContext<'_>,
    estimate: &Outcome,
    storage: &dyn Storage,
    watch: &(dyn Fn(Progress) + Sync),
) -> Result<(Chosen<'a>, Vec<Vec<Kept>>, f64)> {
    let thetas: Vec<f64> = estimate.unknowns.numbers.iter().map(|number| number.estimate).collect();
    let unknowns = &run.problem.unknowns;
    if thetas.len() != unknowns.len() || thetas.iter().any(|theta| !theta.is_finite()) {
        return Err(Error::new(ErrorKind::NotConverged, "there is no estimate to begin at"));
    }
    let eta: Vec<f64> = unknowns.iter().zip(&thetas).map(|(unknown, &theta)| unknown.eta_of(theta)).collect();
    let chosen = Chosen::new(run, estimate, &eta)?;
    let began = Instant::now();
    let settings = &run.problem.sampling;
    let plan = Plan { settings, seed: run.seed, threads: run.threads, interrupt: run.interrupt };
    plan.run(chosen.source.as_ref(), &position_of(run.problem, &thetas), storage, watch)?;
    let seconds = began.elapsed().as_secs_f64();
    let kept = (0..settings.chains).map(|chain| storage.draws(chain)).collect::<Result<Vec<_>>>()?;
    Ok((chosen, kept, seconds))
}

fn sampled(
    run: &RunContext<'_>,
    estimate: &Outcome,
    storage: &dyn Storage,
    watch: &(dyn Fn(Progress) + Sync),
) -> Result<(PosteriorOutcome, Draws)> {
    let (chosen, kept, seconds) = drawn(run, estimate, storage, watch)?;
    let found = predict(chosen.source.as_ref(), &kept, run.threads)?;
    let draws = Draws::new(&run.data(), run.seed, kept, &found)?;
    let mut outcome = PosteriorOutcome {
        seed: run.seed,
        solver: chosen.source.in_words(),
        seconds,
        ..summarise(&run.data(), &draws, estimate)
    };
    match chosen.other {
        Ok(other) => match audit(run.problem, &draws.kept, other.as_ref(), run.threads) {
            Ok(audit) => outcome.audit = Some(audit),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
            Err(error) => outcome.no_audit = Some(error.headline()),
        },
        Err(reason) => outcome.no_audit = Some(reason),
    }
    outcome.judge(&draws);
    Ok((outcome, draws))
}

/// What solves the equations for the chains, and what is asked about their draws.
struct Chosen<'a> {
    source: Box<dyn Source + 'a>,
    other: std::result::Result<Box<dyn Source + 'a>, String>,
}

impl<'a> Chosen<'a> {
    fn new(run: &'a RunContext<'a>, estimate: &Outcome, eta: &[f64]) -> Result<Chosen<'a>> {
        let dictionary = DictionarySource::new(run, estimate, eta)?;
        let reference = || match run.reference {
            Ok(_) => Ok(ReferenceSource::new(run, eta)),
            Err(error) => Err(error.headline()),
        };
        let none = |reason: String| {
            Error::new(
                ErrorKind::Input,
                Diagnostic::from(format!("nothing can sample this problem: {reason}")),
            )
        };
        let asked = run.problem.sampling.solver;
        match dictionary {
            Some(dictionary) if asked != SampledBy::Reference => {
                let other = reference().map(|reference| Box::new(reference) as Box<dyn Source>);
                Ok(Chosen { source: Box::new(dictionary), other })
            }
            None if asked == SampledBy::Dictionary => {
                Err(none(format!("no dictionary found the estimate, but {}", in_words(estimate.solved_by))))
            }
            _ => {
                let source = reference().map_err(none)?;
                let finer = ReferenceSource::new(run, eta).refined();
                Ok(Chosen { source: Box::new(source), other: Ok(Box::new(finer)) })
            }
        }
    }
}

fn in_words(solved_by: SolvedBy) -> &'static str {
    match solved_by {
        SolvedBy::ReferenceSolver => "the reference solver",
        SolvedBy::Network => "networks",
        SolvedBy::LearnedOperator => "a learned operator",
        SolvedBy::Dictionary => "another one",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_posterior::at_thetas;
    use bilo_problem::Overrides;
    use std::path::Path;

    /// Two unknowns with a range of each kind, and errors of unknown size.
    const FRONT: &str = r#"
name = "front"
[coordinates]
x = [0.0, 1.0]
t = { range = [0.0, 1.0], time = true }
[unknown.D]
guess = 1.0
truth = 2.0
prior = "gamma(2, 1)"
[unknown.rho]
guess = 1.0
truth = 2.0
bounds = [0.0, 5.0]
[equation.front]
holds = "u_t = 0.01*D*u_xx + rho*u*(1-u)"
[condition.start]
at = { t = 0.0 }
holds = "u = 0.5*sin(pi*x)^2"
[condition.ends]
at = { x = [0.0, 1.0] }
holds = "u = 0"
[observation.profile]
value = "u"
sigma = "estimate"
data = { synthetic = { grid = { x = 9, t = 9 }, noise = 0.03 } }
"#;

    /// By central differences of fourth order.
    fn assert_gradient(density: &mut dyn Posterior, at: &[f64]) {
        let (mut gradient, mut ignored) = (vec![0.0; at.len()], vec![0.0; at.len()]);
        density.at(at, &mut gradient).expect("a value");
        for j in 0..at.len() {
            let mut moved = |steps: f64| {
                let mut position = at.to_vec();
                position[j] += 1e-3 * steps;
                density.at(&position, &mut ignored).expect("a value")
            };
            let (near, far) = (moved(1.0) - moved(-1.0), moved(2.0) - moved(-2.0));
            let slope = (8.0 * near - far) / 12e-3;
            // A dictionary's slopes leave out the product of its residual, 1e-4, with the curvature of the residual: 1e-5
            // of them. Differences are better than that.
            let close = 1e-4 * slope.abs().max(1.0);
            assert!((gradient[j] - slope).abs() < close, "{j}: {} and {slope}", gradient[j]);
        }
    }

    /// By central differences of fourth order; outside of their ranges the numbers have no density.
    #[test]
    fn a_density_of_the_numbers_has_no_jacobian() {
        let problem = Problem::from_toml("front.toml", FRONT, Path::new("."), &Overrides::default())
            .expect("a problem");
        with_density(&problem, &Job::default(), &mut |density| {
            let mut value = |thetas: [f64; 2]| {
                let mut gradient = [0.0; 2];
                let value = at_thetas(&problem, density, &thetas, &mut gradient).expect("a value");
                (value, gradient)
            };
            let (_, gradient) = value([1.8, 2.1]);
            for (j, by) in gradient.into_iter().enumerate() {
                let mut moved = |step: f64| {
                    let mut thetas = [1.8, 2.1];
                    thetas[j] += 1e-3 * step;
                    value(thetas).0
                };
                let (near, far) = (moved(1.0) - moved(-1.0), moved(2.0) - moved(-2.0));
                let slope = (8.0 * near - far) / 12e-3;
                assert!((by - slope).abs() < 1e-6 * slope.abs().max(1.0), "{j}: {by} and {slope}");
            }
            assert_eq!(value([-1.0, 2.0]).0, f64::NEG_INFINITY, "below all diffusion");
            assert_eq!(value([1.0, 5.5]), (f64::NEG_INFINITY, [0.0; 2]), "beyond a bound");
            Ok(())
        })
        .expect("the reference solver");
    }

    /// By both solvers, whose densities differ by what their solutions do.
    #[test]
    fn gradients_are_those_of_the_density() {
        let problem = Problem::from_toml("front.toml", FRONT, Path::new("."), &Overrides::default())
            .expect("a problem");
        let job = Job::default();
        let estimate = crate::run(&problem, &job, &mut Silent).expect("an estimate");
        let thetas: Vec<f64> = estimate.unknowns.numbers.iter().map(|number| number.estimate).collect();
        let eta: Vec<f64> =
            problem.unknowns.iter().zip(&thetas).map(|(unknown, &theta)| unknown.eta_of(theta)).collect();
        in_context(&problem, &job, &job.interrupt, |run| {
            let away: Vec<f64> = position_of(run.problem, &thetas).iter().map(|z| z + 0.05).collect();
            let dictionary = DictionarySource::new(run, &estimate, &eta)?.expect("a dictionary");
            dictionary.with(&mut |density| {
                assert_gradient(density, &away);
                Ok(())
            })?;
            ReferenceSource::new(run, &eta).with(&mut |density| {
                assert_gradient(density, &away);
                Ok(())
            })
        })
        .expect("both solve it");
    }
}
