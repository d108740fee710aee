//! Seconds of a training step at the sizes of published rivals:
//!
//! ```text
//! cargo bench -p bilo-learn --bench step
//! ```
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use bilo_learn::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::time::Instant;

/// Rounds, of which the median counts.
const ROUNDS: usize = 5;

fn main() {
    let line: Vec<f64> = (0..101).map(|i| f64::from(i) / 100.0).collect();
    let square: Vec<f64> = (0..51).map(|i| f64::from(i) / 50.0).collect();
    let plane = |pick: fn(usize) -> usize| (0..51 * 51).map(|i| square[pick(i)]).collect();
    let poisson = samples(1000, 99, vec![line.clone()]);
    measure("DeepONet, Poisson", &deeponet(&poisson), &poisson, 100, 40);
    let fisher = samples(1000, 2, vec![plane(|i| i / 51), plane(|i| i % 51)]);
    measure("DeepONet, Fisher-KPP", &deeponet(&fisher), &fisher, 128, 10);
    let source = samples(684, 2, vec![line]);
    measure("FNO, 101 nodes", &fno(&source, vec![axis(101, 32)]), &source, 64, 5);
    let model = fno(&fisher, vec![axis(51, 16), axis(51, 16)]);
    measure("FNO, 51x51 nodes", &model, &fisher, 16, 2);
}

fn samples(count: usize, parameters: usize, points: Vec<Vec<f64>>) -> Samples {
    let mut random = Pcg64::seed_from_u64(0);
    let mut row = |length: usize| (0..length).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
    let inputs = (0..count).map(|_| row(parameters)).collect();
    let solution = |values: Vec<f64>| values.iter().map(|&value| value as f32).collect();
    let solutions = (0..count).map(|_| solution(row(points[0].len()))).collect();
    Samples::new(inputs, points, solutions)
}

fn deeponet(samples: &Samples) -> DeepOnet {
    let spec = DeepOnetSpec { branch: vec![128; 2], trunk: vec![128; 2] };
    DeepOnet::new(spec, Units::of(samples, &[0, 1, 2]))
}

fn axis(nodes: usize, modes: usize) -> GridAxis {
    GridAxis { nodes, interval: [0.0, 1.0], modes }
}

fn fno(samples: &Samples, axes: Vec<GridAxis>) -> Fno {
    let spec = FnoSpec { axes, scalars: 2, functions: 0, width: 32, layers: 4 };
    Fno::new(spec, Units::of(samples, &[0, 1, 2]))
}

fn measure(name: &str, model: &dyn Surrogate, samples: &Samples, batch: usize, steps: usize) {
    let split = Split { training: (0..samples.count()).collect(), validation: vec![] };
    let training =
        Training { steps: ROUNDS * steps + 1, batch, rate: 1e-3, schedule: Schedule::Constant, seed: 0 };
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let (mut rounds, mut since) = (vec![], Instant::now());
        pool.install(|| {
            train(model, samples, &split, &training, &mut |step, _| {
                if step % steps == 1 {
                    rounds.push(since.elapsed().as_secs_f64() / steps as f64);
                    since = Instant::now();
                }
                true
            })
        });
        rounds.remove(0); // the first step warms up
        rounds.sort_by(f64::total_cmp);
        println!("{name}, {threads} threads: {:.2} ms a step", 1e3 * rounds[rounds.len() / 2]);
    }
}
