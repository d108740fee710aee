//! A step of Levenberg-Marquardt in the dual form for Fisher-KPP with the paper's network (33,793 weights, f64), at as many
//! points as there would be rows with dr/dtheta among them:
//!
//! ```text
//! cargo bench --bench dual -- [--device cpu|cuda] [--x N] [--t N] [--rounds N]
//! ```
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use bilo::Hardware;
use bilo::level::Lower;
use bilo::operator::LocalOperator;
use bilo::problem::{Overrides, Problem};
use bilo_jet::{Dual, Jacobian, Precision, ResidualId};
use std::path::Path;
use std::time::Instant;

/// What a benchmark expects of its device.
const SOUND: &str = "a sound device";

fn main() {
    let options = Options::read();
    let text = include_str!("../../../problems/fisher-kpp.toml");
    let axis = |name: &str, points: usize| format!("equation.front.points.grid.{name}={points}");
    let set = vec![axis("x", options.x), axis("t", options.t)];
    let overrides = Overrides { recipe: Some("paper".into()), ..Overrides::of(set) };
    let problem =
        Problem::from_toml("fisher-kpp", text, Path::new("."), &overrides).expect("a valid problem");
    let mut device = options.hardware.device(Precision::F64, None).expect("the device is there");
    let mut operator = LocalOperator::new(&problem, 0).expect("a valid problem");
    Lower::new(&problem, &mut operator, device.as_mut(), 0).expect("a valid problem");
    let points = problem.equations[0].points.source(&problem, 0).expect("a grid").len();
    let (weights, eta, id) = (operator.initial_weights(0), [1.0, 1.0], ResidualId(0));
    let scales = vec![1.0 / (points as f64).sqrt(); points];
    println!("{points} rows, {} weights, {}", weights.len(), device.description());

    let names = ["J J^T", "factorisation", "solve", "J^T", "residuals"];
    let mut rounds: [Vec<f64>; 5] = Default::default();
    // The first round compiles kernels.
    for _ in 0..=options.rounds {
        let mut times = vec![];
        let mut clock = Instant::now();
        let mut lap = |times: &mut Vec<f64>| {
            times.push(1e3 * clock.elapsed().as_secs_f64());
            clock = Instant::now();
        };
        let Dual { parts, system } = device.dual(&[id], &weights, &eta, &scales).expect(SOUND);
        lap(&mut times);
        let factors = system.factorise(1e-3).expect(SOUND).expect("the matrix is positive definite");
        lap(&mut times);
        let solved = factors.solve(&[&parts[0].residuals[0]]).expect(SOUND).swap_remove(0);
        lap(&mut times);
        let mut gradient = vec![0.0; weights.len()];
        device.pullback(id, &weights, &eta, &[solved.numbers], &mut gradient).expect(SOUND);
        lap(&mut times);
        device.linearise(id, &weights, &eta, Jacobian::None).expect(SOUND);
        lap(&mut times);
        rounds.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
    }
    let medians = rounds.map(|times| median(times[1..].to_vec()));
    names.iter().zip(medians).for_each(|(name, time)| println!("{name:<14}{time:9.1} ms"));
    // A step that is taken at once: it is bent, which takes one more solve, and tried.
    let [kernel, factorisation, solve, pullback, residuals] = medians;
    let step = kernel + factorisation + 2.0 * (solve + pullback + residuals);
    println!("{:<14}{step:9.1} ms", "step");
    if let Some(bytes) = device.peak_memory() {
        println!("{:<14}{:9.1} MB", "GPU memory", bytes as f64 / 1e6);
    }
}

struct Options {
    hardware: Hardware,
    x: usize,
    t: usize,
    rounds: usize,
}

impl Options {
    fn read() -> Self {
        let mut options = Self { hardware: Hardware::Cpu, x: 153, t: 51, rounds: 5 };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(name) = arguments.next() {
            let value = arguments.next().unwrap_or_else(|| panic!("{name} needs a value"));
            match name.as_str() {
                "--device" => options.hardware = value.parse().expect("a device"),
                "--x" => options.x = value.parse().expect("points along x"),
                "--t" => options.t = value.parse().expect("points along t"),
                "--rounds" => options.rounds = value.parse().expect("a number of rounds"),
                _ => panic!("unknown option {name}"),
            }
        }
        options
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
