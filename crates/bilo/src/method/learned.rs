//! Neural operators: solve many examples, learn the map from unknowns to observations, freeze it, and descend through
//! it.

mod examples;
mod model;
mod predictor;
mod search;

use super::Method;
use crate::cache::{Place, take_word};
use bilo_assess::outcome::{LearnedOutcome, LearnedSeconds};
use bilo_assess::{Estimate, Remedy, RunContext};
use bilo_fit::monitor::Monitor;
use bilo_fit::phase::Phase;
use bilo_learn::{Surrogate, Trained, train};
use bilo_problem::Problem;
use bilo_problem::diagnostic::{Diagnostic, Error, ErrorKind, Result};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_reference::solver::ReferenceSolver;
use examples::Solved;
use model::{Architecture, Parameters, TrainingSet};
use predictor::LearnedPredictor;
use search::Search;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// A DeepONet that learned examples, and descent through it.
pub struct DeepOnet;

/// A Fourier neural operator that learned examples, and descent through it.
pub struct Fno;

impl Method for DeepOnet {
    fn name(&self) -> &'static str {
        "deeponet"
    }

    fn about(&self) -> &'static str {
        "learn a DeepONet from solved examples, and descend through it"
    }

    fn solve<'a>(&self, run: &RunContext<'a>, monitor: &mut Monitor<'_>) -> Result<Estimate<'a>> {
        solve(run, Architecture::DeepOnet, monitor)
    }
}

impl Method for Fno {
    fn name(&self) -> &'static str {
        "fno"
    }

    fn about(&self) -> &'static str {
        "learn a Fourier neural operator from solved examples, and descend through it"
    }

    fn solve<'a>(&self, run: &RunContext<'a>, monitor: &mut Monitor<'_>) -> Result<Estimate<'a>> {
        solve(run, Architecture::Fno, monitor)
    }
}

fn solve<'a>(
    run: &RunContext<'a>,
    architecture: Architecture,
    monitor: &mut Monitor<'_>,
) -> Result<Estimate<'a>> {
    let problem = run.problem;
    let reference = run.reference.as_ref().map_err(Clone::clone)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(run.threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Error::new(ErrorKind::Device, format!("no threads: {error}")))?;
    monitor.name_losses(loss_names(problem));
    let (solved, examples) = solve_examples(run, reference, &pool, monitor)?;
    let parameters = Parameters::new(problem, architecture)?;
    let start = Instant::now();
    let learned = learn(run, architecture, &solved, &parameters, &pool, monitor)?;
    let learning = start.elapsed().as_secs_f64();
    let search = Search::new(run.data(), parameters, learned)?;
    let start = Instant::now();
    let found = search.descend(monitor)?;
    let searched = (found.steps, start.elapsed().as_secs_f64());
    let outcome = learned_outcome(&solved, &search.learned, LearnedSeconds { examples, learning });
    let failed = solved
        .failed
        .as_ref()
        .map(|(count, reason)| format!("{count} examples have no solution and were left out: {reason}"));
    let losses = monitor.loss_names()[1..].iter().cloned().zip(found.terms.clone()).collect();
    let device = format!("neural operator, examples by the classical solver, {}", reference.describe());
    Ok(Estimate {
        predictor: Box::new(LearnedPredictor::new(search, found.theta, device)),
        problem: None,
        stop: found.stop,
        diverged: found.diverged,
        losses,
        pretrained: (outcome.steps, examples + learning),
        searched,
        operator: None,
        learned: Some(outcome),
        at_guess: None,
        near: vec![],
        starts: vec![],
        notes: vec![],
        warnings: failed.into_iter().collect(),
        remedy: Remedy::LEARNING,
    })
}

/// That of learning, then those of the search.
fn loss_names(problem: &Problem) -> Vec<String> {
    let data = problem.observations.iter().map(|observation| format!("data.{}", observation.name));
    let regularised = problem.functions.iter().filter(|function| function.regulariser.is_some());
    let names = regularised.map(|function| format!("regulariser.{}", function.name));
    let prior = problem.has_priors_of_numbers().then(|| "prior".to_owned());
    std::iter::once("learning".to_owned()).chain(data).chain(prior).chain(names).collect()
}

/// The losses of a step, from some name on; the others are not known in its phase.
fn from_name(first: usize, terms: &[f64], monitor: &Monitor<'_>) -> Vec<f64> {
    let mut losses = vec![f64::NAN; monitor.loss_names().len()];
    losses[first..first + terms.len()].copy_from_slice(terms);
    losses
}

/// The examples and the seconds they took.
fn solve_examples(
    run: &RunContext<'_>,
    reference: &ReferenceSolver,
    pool: &rayon::ThreadPool,
    monitor: &mut Monitor<'_>,
) -> Result<(Solved, f64)> {
    let problem = run.problem;
    let Some(examples) = &problem.learning.examples else {
        let message = format!("`{}` learns from examples, and the problem has none", run.method);
        let help = "add a table [examples] with `unknown = { .. }`: a range for each number, a random field for each function";
        return Err(Diagnostic::new(message, Default::default()).help(help).into());
    };
    let (start, count) = (Instant::now(), examples.size());
    let (unknowns, losses) = (problem.thetas(&problem.eta_of_guess()), from_name(0, &[], monitor));
    monitor.enter(Phase::Examples, count);
    let solved = examples::solved(problem, examples, reference, pool, &mut |done| {
        monitor.step(done, &losses, &unknowns).stop.is_none()
    });
    monitor.leave();
    let solved = solved?;
    if solved.thetas.len() < 2 {
        let reason = solved.failed.map_or(String::new(), |(_, reason)| format!(": {reason}"));
        return Err(Error::new(ErrorKind::Solver, format!("hardly any example has a solution{reason}")));
    }
    let note = match solved.cached {
        true => format!("{count} solved examples from an earlier run"),
        false => format!("{count} examples solved"),
    };
    monitor.note(&note);
    Ok((solved, start.elapsed().as_secs_f64()))
}

/// A trained model of each observation.
struct Learned {
    model: Box<dyn Surrogate>,
    trained: Trained,
}

fn learn(
    run: &RunContext<'_>,
    architecture: Architecture,
    solved: &Solved,
    parameters: &Parameters,
    pool: &rayon::ThreadPool,
    monitor: &mut Monitor<'_>,
) -> Result<Vec<Learned>> {
    let problem = run.problem;
    let examples = problem.learning.examples.as_ref().expect("they were solved");
    let mut learned = vec![];
    for observation in 0..problem.observations.len() {
        let seed = seed_for(run.seed, Purpose::Learning, observation);
        let TrainingSet { model, samples, split, training } =
            TrainingSet::new(problem, examples, architecture, solved, parameters, observation, seed)?;
        let key = format!("{} {:?} {training:?}\n", run.method, problem.learning.without_examples());
        let place = Place::new("learned", key + &examples::key(problem, examples) + &observation.to_string());
        if let Some(trained) = place.read().and_then(|bytes| trained_of(&bytes, model.weights())) {
            monitor.note("learned in an earlier run");
            learned.push(Learned { model, trained });
            continue;
        }
        monitor.enter(Phase::Pretrain, training.steps);
        let unknowns = problem.thetas(&problem.eta_of_guess());
        let trained = beside(
            pool,
            &mut |(step, loss)| monitor.step(step, &from_name(0, &[loss], monitor), &unknowns).stop.is_none(),
            |tell| train(model.as_ref(), &samples, &split, &training, &mut |step, loss| tell((step, loss))),
        );
        monitor.leave();
        if trained.steps == training.steps {
            place.write(&bytes_of(&trained));
        }
        learned.push(Learned { model, trained });
    }
    Ok(learned)
}

/// Steps, errors and weights.
fn bytes_of(trained: &Trained) -> Vec<u8> {
    let Trained { weights, steps, training_error, validation_error } = trained;
    let numbers = [*training_error, validation_error.unwrap_or(f64::NAN)];
    let numbers = numbers.iter().chain(weights).flat_map(|number| number.to_le_bytes());
    (*steps as u64).to_le_bytes().into_iter().chain(numbers).collect()
}

/// The other way, if there are so many weights.
fn trained_of(bytes: &[u8], weights: usize) -> Option<Trained> {
    let rest = &mut &bytes[..];
    let steps = take_word(rest)? as usize;
    let mut number = || take_word(rest).map(f64::from_bits);
    let (training_error, validation) = (number()?, number()?);
    let weights = (0..weights).map(|_| number()).collect::<Option<_>>()?;
    let validation_error = (!validation.is_nan()).then_some(validation);
    rest.is_empty().then_some(Trained { weights, steps, training_error, validation_error })
}

/// Computes in a pool while this thread, whose observer must not leave it, hears how it goes and may end it.
fn beside<M: Send, T: Send>(
    pool: &rayon::ThreadPool,
    hear: &mut dyn FnMut(M) -> bool,
    compute: impl FnOnce(&dyn Fn(M) -> bool) -> T + Send,
) -> T {
    let (sender, receiver) = mpsc::channel();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ended = &ended;
        let running = scope.spawn(move || {
            pool.install(|| {
                compute(&|message| sender.send(message).is_ok() && !ended.load(Ordering::Relaxed))
            })
        });
        for message in receiver {
            if !hear(message) {
                ended.store(true, Ordering::Relaxed);
            }
        }
        running.join().expect("learning does not panic")
    })
}

/// All operators together; of their errors the largest.
fn learned_outcome(solved: &Solved, learned: &[Learned], seconds: LearnedSeconds) -> LearnedOutcome {
    let trained = || learned.iter().map(|learned| &learned.trained);
    LearnedOutcome {
        examples: solved.thetas.len(),
        cached: solved.cached,
        numbers: learned.iter().map(|learned| learned.model.numbers()).sum(),
        steps: learned.iter().map(|learned| learned.trained.steps).sum(),
        training_error: trained().map(|trained| trained.training_error).fold(0.0, f64::max),
        // None is held back of very few.
        validation_error: trained().filter_map(|trained| trained.validation_error).reduce(f64::max),
        seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learned_is_read_as_written_and_only_whole() {
        for validation_error in [Some(0.25), None] {
            let trained =
                Trained { weights: vec![1.5, -2.0], steps: 7, training_error: 0.5, validation_error };
            let bytes = bytes_of(&trained);
            assert_eq!(trained_of(&bytes, 2), Some(trained));
            assert!(trained_of(&bytes, 1).is_none() && trained_of(&bytes, 3).is_none());
        }
    }
}
