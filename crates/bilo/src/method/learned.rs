//! Neural operators: solve many examples, learn the map from unknowns to observations, freeze it, and descend through
//! it.

mod examples;
mod model;
mod search;

use super::Job;
use crate::cache::{Place, take_word};
use bilo_assess::assess::{GradientSource, Inspector, error_bars, misfits};
use bilo_assess::function_score;
use bilo_assess::outcome::{LearnedOutcome, Outcome, ScalarOutcome, Seconds};
use bilo_assess::picture::{self, Solutions};
use bilo_assess::uncertainty::{NoiseLevels, Uncertainty};
use bilo_assess::verify::{agreement, classical_fields, report_axes, report_columns};
use bilo_fit::data_loss::DataLoss;
use bilo_fit::observer::{Control, Event, Observer, Phase, Record};
use bilo_fit::stop::Stop;
use bilo_learn::{Surrogate, Trained, train};
use bilo_problem::diagnostic::{Diagnostic, Result};
use bilo_problem::fields::{Field, Fields};
use bilo_problem::function::Lattice;
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::{Problem, Table};
use bilo_reference::data::observed_tables;
use bilo_reference::solver::ReferenceSolver;
use examples::Solved;
use model::{Parameters, TrainingSet};
use search::{Found, Search};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Runs the method.
pub(super) fn run(problem: &Problem, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    let began = Instant::now();
    let tables = observed_tables(problem, job.seed)?;
    let reference = ReferenceSolver::new(problem)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(job.threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Diagnostic::new(format!("no threads: {error}"), Default::default()))?;
    let mut watch = Watch::new(problem, observer, began);
    let (solved, examples_seconds) = solve(problem, job, &reference, &pool, &mut watch)?;
    let parameters = Parameters::new(problem, job.method)?;
    let start = Instant::now();
    let learned = learn(problem, job, &solved, &parameters, &pool, &mut watch)?;
    let learning_seconds = start.elapsed().as_secs_f64();
    let data = DataLoss::new(problem, &tables);
    let search = Search::new(data, &parameters, &learned)?;
    let start = Instant::now();
    let found = search.descend(&mut watch)?;
    let seconds = Seconds {
        pretrain: examples_seconds + learning_seconds,
        train: start.elapsed().as_secs_f64(),
        ..Seconds::default()
    };
    let of_learning = learned_outcome(&solved, &learned, [examples_seconds, learning_seconds]);
    let mut outcome = Outcome {
        device: format!("neural operator, examples by the classical solver, {}", reference.describe()),
        precision: "f32".to_owned(),
        stop: found.stop.clone(),
        unknowns: ScalarOutcome::all(problem, &found.theta.eta),
        losses: watch.loss_names[1..].iter().cloned().zip(found.terms.clone()).collect(),
        pretrain_steps: of_learning.steps,
        learned: Some(of_learning),
        train_steps: found.steps,
        seconds: Seconds { per_step: seconds.train / found.steps.max(1) as f64, ..seconds },
        ..Outcome::begun(problem, job.method.name(), job.seed)
    };
    if let Some((count, reason)) = &solved.failed {
        outcome.warnings.push(format!("{count} examples have no solution and were left out: {reason}"));
    }
    conclude(&mut outcome, &search, &found, &reference, &tables)?;
    outcome.seconds.total = began.elapsed().as_secs_f64();
    Ok(outcome)
}

/// The examples and the seconds they took.
fn solve(
    problem: &Problem,
    job: &Job,
    reference: &ReferenceSolver,
    pool: &rayon::ThreadPool,
    watch: &mut Watch<'_>,
) -> Result<(Solved, f64)> {
    let Some(examples) = &problem.learning.examples else {
        let message = format!("`{}` learns from examples, and the problem has none", job.method.name());
        let help = "add a table [examples] with `unknown = { .. }`: a range for each number, a random field for each function";
        return Err(Diagnostic::new(message, Default::default()).help(help).into());
    };
    let (start, count) = (Instant::now(), examples.size());
    watch.observer.event(&Event::Begin(Phase::Examples, count));
    let solved = examples::solved(problem, examples, reference, pool, &mut |done| {
        watch.step(Phase::Examples, done, count, &[], &problem.eta_of_guess()).is_none()
    });
    watch.observer.event(&Event::End(Phase::Examples));
    let solved = solved?;
    if solved.thetas.len() < 2 {
        let reason = solved.failed.map_or(String::new(), |(_, reason)| format!(": {reason}"));
        return Err(Diagnostic::new(
            format!("hardly any example has a solution{reason}"),
            Default::default(),
        )
        .into());
    }
    let note = match solved.cached {
        true => format!("{count} solved examples from an earlier run"),
        false => format!("{count} examples solved"),
    };
    watch.observer.event(&Event::Note(&note));
    Ok((solved, start.elapsed().as_secs_f64()))
}

/// A trained model of each observation.
struct Learned {
    model: Box<dyn Surrogate>,
    trained: Trained,
}

fn learn(
    problem: &Problem,
    job: &Job,
    solved: &Solved,
    parameters: &Parameters,
    pool: &rayon::ThreadPool,
    watch: &mut Watch<'_>,
) -> Result<Vec<Learned>> {
    let examples = problem.learning.examples.as_ref().expect("they were solved");
    let mut learned = vec![];
    for observation in 0..problem.observations.len() {
        let seed = seed_for(job.seed, Purpose::Learning, observation);
        let TrainingSet { model, samples, split, training } =
            TrainingSet::new(problem, examples, job.method, solved, parameters, observation, seed)?;
        let key = format!("{} {:?} {training:?}\n", job.method.name(), problem.learning.without_examples());
        let place = Place::new("learned", key + &examples::key(problem, examples) + &observation.to_string());
        if let Some(trained) = place.read().and_then(|bytes| trained_of(&bytes, model.weights())) {
            watch.observer.event(&Event::Note("learned in an earlier run"));
            learned.push(Learned { model, trained });
            continue;
        }
        watch.observer.event(&Event::Begin(Phase::Pretrain, training.steps));
        let eta = problem.eta_of_guess();
        let trained = beside(
            pool,
            &mut |(step, loss)| watch.step(Phase::Pretrain, step, training.steps, &[loss], &eta).is_none(),
            |tell| train(model.as_ref(), &samples, &split, &training, &mut |step, loss| tell((step, loss))),
        );
        watch.observer.event(&Event::End(Phase::Pretrain));
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
fn learned_outcome(solved: &Solved, learned: &[Learned], seconds: [f64; 2]) -> LearnedOutcome {
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

/// What the reference solver says of the estimate, and what the models do.
fn conclude(
    outcome: &mut Outcome,
    search: &Search<'_>,
    found: &Found,
    reference: &ReferenceSolver,
    tables: &[Table],
) -> Result<()> {
    let data = search.data;
    let problem = data.problem();
    let sites = data.sites(&found.theta.eta)?;
    let by_model = search.observed(&search.freeze(&sites), &found.theta);
    let inspector = Inspector { data, reference: Ok(reference), mover: GradientSource::Learned };
    let evaluation = inspector.evaluate(&found.theta);
    let classical = evaluation.as_ref().ok().map(|evaluation| &evaluation.values[..]);
    outcome.misfits = misfits(&data, &sites, Some(&by_model), classical)?;
    let noise = NoiseLevels::new(&data, &sites, classical.unwrap_or(&by_model))?;
    outcome.noise = noise.observations.clone();
    outcome.fields = match &evaluation {
        Ok(evaluation) => classical_fields(problem, &evaluation.solution)?,
        Err(_) => Fields { axes: report_axes(problem), arrays: vec![] },
    };
    outcome.classical_failure = evaluation.as_ref().err().cloned();
    compare_states(outcome, search, found)?;
    for (function, values) in problem.functions.iter().zip(&found.theta.functions) {
        let lattice = Lattice::new(function);
        let mut estimate = |columns: &[&[f64]]| Ok(lattice.sample(values, columns));
        let gradient = inspector.mover.gradient(problem.training.gradient);
        outcome.functions.push(function_score::outcome(problem, function, &mut estimate, gradient)?);
        function_score::add_fields(&mut outcome.fields, problem, function, &mut estimate)?;
        function_score::compare_range(outcome, problem, function);
    }
    let solution = evaluation.as_ref().ok().map(|evaluation| &evaluation.solution);
    picture::draw(problem, Solutions { network: None, classical: solution, tables }, outcome);
    let Ok(evaluation) = evaluation else { return Ok(()) };
    if problem.functions.is_empty() {
        let slopes = inspector.slopes(&evaluation).ok();
        let found = slopes.and_then(|slopes| Uncertainty::new(problem, &noise, &slopes, &found.theta.eta));
        error_bars(outcome, found);
        inspector.data_optimal(outcome, evaluation);
    }
    Ok(())
}

/// Where a state itself is observed, its model is compared with the classical solution on the report's grid.
fn compare_states(outcome: &mut Outcome, search: &Search<'_>, found: &Found) -> Result<()> {
    let problem = search.data.problem();
    let columns = report_columns(problem)?;
    let parameters = search.parameters.of(problem, &found.theta);
    for (state, said) in problem.states.iter().zip(&mut outcome.states) {
        let observed = problem.observations.iter().position(|o| o.value.text.trim() == state.name);
        let Some(observation) = observed else { continue };
        let Learned { model, trained } = &search.learned[observation];
        let values = model.freeze(&trained.weights, &columns).predict(&parameters);
        let name = format!("{}_classical", state.name);
        let classical = outcome.fields.arrays.iter().find(|field| field.name == name);
        let theirs = classical.map(|classical| &classical.values[..]);
        *said = agreement(problem, state, &values, theirs);
        let field = Field::everywhere(problem, format!("{}_network", state.name), values);
        outcome.fields.arrays.insert(0, field);
    }
    Ok(())
}

/// Reports steps and knows when to stop.
struct Watch<'a> {
    problem: &'a Problem,
    observer: &'a mut dyn Observer,
    began: Instant,
    /// That of learning, then those of the search.
    loss_names: Vec<String>,
    unknown_names: Vec<String>,
}

impl<'a> Watch<'a> {
    fn new(problem: &'a Problem, observer: &'a mut dyn Observer, began: Instant) -> Self {
        let data = problem.observations.iter().map(|observation| format!("data.{}", observation.name));
        let regularised = problem.functions.iter().filter(|function| function.regulariser.is_some());
        let names = regularised.map(|function| format!("regulariser.{}", function.name));
        let loss_names = std::iter::once("learning".to_owned()).chain(data).chain(names).collect();
        Self { problem, observer, began, loss_names, unknown_names: problem.unknown_names() }
    }

    /// A step with the terms of its phase; the reason to stop, if there is one.
    fn step(&mut self, phase: Phase, step: usize, steps: usize, terms: &[f64], eta: &[f64]) -> Option<Stop> {
        let mut losses = vec![f64::NAN; self.loss_names.len()];
        let first = usize::from(phase == Phase::Train);
        losses[first..first + terms.len()].copy_from_slice(terms);
        let every = self.problem.training.record_every;
        let seconds = self.began.elapsed().as_secs_f64();
        let control = self.observer.event(&Event::Step(Record {
            phase,
            step,
            steps,
            seconds,
            loss_names: &self.loss_names,
            losses: &losses,
            unknown_names: &self.unknown_names,
            unknowns: &self.problem.thetas(eta),
            keep: phase != Phase::Examples && (step == 1 || step == steps || step.is_multiple_of(every)),
        }));
        if control == Control::Stop {
            return Some(Stop::Interrupted);
        }
        let over = self.problem.training.time_limit.is_some_and(|limit| seconds > limit);
        over.then_some(Stop::TimeLimit)
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
