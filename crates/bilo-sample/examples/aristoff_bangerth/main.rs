//! Draws from the posterior of the benchmark of Aristoff and Bangerth, beside what is published of it.
//!
//! ```sh
//! cargo run --release -p bilo-sample --example aristoff_bangerth -- [TUNING] [DRAWS] [diagonal|dense] [SEED]
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

mod band;
mod model;
mod published;

use bilo_sample::diagnostics::{ebfmi, ess_bulk, ess_tail, rhat};
use bilo_sample::{Chain, Draw, Failure, LogDensity, Metric, Tuning, dispersed};
use model::{Benchmark, COEFFICIENTS, PRIOR};
use published::{asymmetry, compare, moments};
use std::error::Error;
use std::time::Instant;

const CHAINS: u64 = 4;
const THREADS: u64 = 2;

/// What is asked for on the command line.
struct Settings {
    tuning: usize,
    draws: usize,
    metric: Metric,
    seed: u64,
}

impl Settings {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Settings, Box<dyn Error>> {
        let tuning = arguments.next().map_or(Ok(1000), |word| word.parse())?;
        let draws = arguments.next().map_or(Ok(4000), |word| word.parse())?;
        let metric = match arguments.next().as_deref() {
            None | Some("diagonal") => Metric::unit(COEFFICIENTS),
            Some("dense") => Metric::Dense((0..COEFFICIENTS).map(unit_row).collect()),
            Some(word) => return Err(format!("'{word}' is neither 'diagonal' nor 'dense'").into()),
        };
        let seed = arguments.next().map_or(Ok(1), |word| word.parse())?;
        Ok(Settings { tuning, draws, metric, seed })
    }
}

/// The row of the unit matrix up to the diagonal.
fn unit_row(i: usize) -> Vec<f64> {
    (0..=i).map(|j| f64::from(i == j)).collect()
}

/// The benchmark, with the number of times that it was asked.
struct Counted {
    benchmark: Benchmark,
    asked: usize,
}

impl LogDensity for Counted {
    fn at(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        self.asked += 1;
        self.benchmark.at(position, gradient)
    }
}

/// What came of one chain.
struct Run {
    draws: Vec<Draw>,
    /// Those of tuning counted in.
    gradients: usize,
    gradients_of_tuning: usize,
}

/// One chain from a draw of the prior. Draws of tuning are left out.
fn chain(settings: &Settings, number: u64) -> Result<Run, Failure> {
    let mut density = Counted { benchmark: Benchmark::new(), asked: 0 };
    let (mean, sd) = PRIOR;
    let (centre, scales) = (vec![mean; COEFFICIENTS], Metric::Diagonal(vec![sd; COEFFICIENTS]));
    let seed = [settings.seed, number];
    let start = dispersed(&mut density, &centre, &scales, 1.0, seed)?;
    let tuning = Tuning { draws: settings.tuning, ..Tuning::default() };
    let mut chain = Chain::new(start, settings.metric.clone(), tuning, seed);
    for _ in 0..settings.tuning {
        chain.draw(&mut density)?;
    }
    let gradients_of_tuning = density.asked;
    let draws = (0..settings.draws).map(|_| chain.draw(&mut density)).collect::<Result<_, _>>()?;
    Ok(Run { draws, gradients: density.asked, gradients_of_tuning })
}

/// All chains, each thread with every so many of them.
fn sample(settings: &Settings) -> Result<Vec<Run>, Failure> {
    let runs: Result<Vec<Vec<Run>>, Failure> = std::thread::scope(|scope| {
        let share = |thread: u64| {
            move || (thread..CHAINS).step_by(THREADS as usize).map(|n| chain(settings, n)).collect()
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(share(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread that does not panic")).collect()
    });
    Ok(runs?.into_iter().flatten().collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings::read(std::env::args().skip(1))?;
    let began = Instant::now();
    let runs = sample(&settings)?;
    let seconds = began.elapsed().as_secs_f64();
    report_speed(&settings, &runs, seconds);
    report_agreement(&runs, seconds);
    Ok(())
}

fn report_speed(settings: &Settings, runs: &[Run], seconds: f64) {
    let gradients: usize = runs.iter().map(|run| run.gradients).sum();
    let of_tuning: usize = runs.iter().map(|run| run.gradients_of_tuning).sum();
    let draws = || runs.iter().flat_map(|run| &run.draws);
    let (number, steps) = (draws().count() as f64, draws().map(|draw| draw.steps).sum::<usize>() as f64);
    let divergences = draws().filter(|draw| draw.diverged_at.is_some()).count();
    let energies = |run: &Run| run.draws.iter().map(|draw| draw.energy).collect::<Vec<_>>();
    let missing = runs.iter().map(|run| ebfmi(&energies(run))).fold(f64::INFINITY, f64::min);
    println!("{CHAINS} chains on {THREADS} threads, {} + {} draws each", settings.tuning, settings.draws);
    println!("seconds                   {seconds:.1}");
    println!("gradients                 {gradients}, of these {of_tuning} in tuning");
    println!("gradients per second      {:.0}", gradients as f64 / seconds);
    println!(
        "milliseconds per gradient {:.3} on a thread",
        1e3 * seconds * THREADS as f64 / gradients as f64
    );
    println!("draws per second          {:.1}, tuning counted in the time only", number / seconds);
    println!("leapfrogs per draw        {:.1}", steps / number);
    println!("divergences               {divergences}");
    println!("smallest E-BFMI           {missing:.3}");
    for run in runs {
        let accepted = run.draws.iter().map(|draw| draw.accepted).sum::<f64>() / run.draws.len() as f64;
        println!("  step length {:.4}, accepted {accepted:.3}", run.draws[0].step_length);
    }
}

fn report_agreement(runs: &[Run], seconds: f64) {
    let (mut largest_rhat, mut bulk, mut tail) = (0.0_f64, f64::INFINITY, f64::INFINITY);
    let mut compared = Vec::new();
    for (k, published) in moments().into_iter().enumerate() {
        let values: Vec<Vec<f64>> =
            runs.iter().map(|run| run.draws.iter().map(|draw| draw.position[k]).collect()).collect();
        let chains: Vec<&[f64]> = values.iter().map(|chain| &chain[..]).collect();
        largest_rhat = largest_rhat.max(rhat(&chains));
        bulk = bulk.min(ess_bulk(&chains));
        tail = tail.min(ess_tail(&chains));
        compared.push(compare(&chains, published));
    }
    let farthest = |i: usize| compared.iter().map(|both| both[i].errors.abs()).fold(0.0, f64::max);
    let apart = asymmetry(&compared);
    println!("largest R-hat             {largest_rhat:.4}");
    println!("smallest bulk ESS         {bulk:.0}, {:.2} a second", bulk / seconds);
    println!("smallest tail ESS         {tail:.0}");
    println!("farthest from published   means {:.2}, sds {:.2} Monte Carlo errors", farthest(0), farthest(1));
    println!(
        "mirror images apart       means {:.2}, sds {:.2} Monte Carlo errors at most",
        apart[0], apart[1]
    );
    println!("mean and sd of each logarithm: ours, Monte Carlo error, published, distance in errors of both");
    for (k, both) in compared.iter().enumerate() {
        let words = both
            .iter()
            .map(|c| format!("{:8.3} {:6.3} {:8.3} {:6.2}", c.ours, c.uncertain, c.theirs, c.errors));
        println!("{k:4}{}", words.collect::<String>());
    }
}
