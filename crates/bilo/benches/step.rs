//! One paper-size BiLO step for Fisher-KPP (51x51 points, width 128, two hidden layers, f32), beside
//! its matrix products alone, by the program's own kernels and by the library `gemm`:
//!
//! ```text
//! cargo bench --bench step -- [--threads N] [--grid N] [--steps N]
//! ```
//!
//! `--grid` is about the collocation points; the data stay at 51x51 points.
//!
//! With `--serve` it is a worker for `bench/run`, which sets it beside its peers: it reads a number of steps
//! from each line and answers with one line of JSON.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use bilo::level::{Lower, Upper};
use bilo::operator::LocalOperator;
use bilo::problem::{Data, Overrides, Problem, Table};
use bilo_jet::{Device, cpu, product_ceiling};
use bilo_optim::{Adam, GradientMethod};
use std::path::Path;
use std::time::Instant;

/// Rounds of the step and its products.
const ROUNDS: usize = 3;

fn main() {
    let options = Options::read();
    let mut step = Step::new(&options);
    step.run(3);
    if options.serve {
        return serve(&mut step, options.threads);
    }
    let (mut ours, mut alone, mut library) = (vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        ours.push(time(options.steps, || step.run(1)));
        alone.push(our_ceiling(options.threads));
        library.push(gemm_ceiling(options.threads));
    }
    let (ours, alone, library) = (median(ours), median(alone), median(library));
    println!("grid {0}x{0}, {1} threads, {2}", options.grid, options.threads, step.device.description());
    println!("step            {:8.2} ms", 1e3 * ours);
    println!("products        {:8.2} GFLOP", step.flops() / 1e9);
    for (name, ceiling) in [("  alone", alone), ("  by gemm", library)] {
        let floor = step.flops() / (ceiling * 1e9);
        println!(
            "{name:<16}{:8.2} ms at {ceiling:.0} GFLOP/s; the step is {:.2} of it",
            1e3 * floor,
            ours / floor
        );
    }
    if let Some(bytes) = peak_memory() {
        println!("peak memory     {:8.1} MB", bytes as f64 / 1e6);
    }
}

/// Steps as many as each line asks for, with the products alone measured right after them.
fn serve(step: &mut Step, threads: usize) {
    let device = step.device.description();
    println!(r#"{{"ready": "bilo, {device}", "weights": {}}}"#, step.weights.len());
    for line in std::io::stdin().lines() {
        let steps = line.expect("lines of text").trim().parse().expect("a number of steps");
        let seconds = time(steps, || step.run(1));
        let alone = median((0..5).map(|_| our_ceiling(threads)).collect());
        let library = median((0..5).map(|_| gemm_ceiling(threads)).collect());
        println!(
            r#"{{"sec_per_step": {seconds}, "flops": {}, "alone_gflops": {alone}, "library_gflops": {library}, "peak_bytes": {}}}"#,
            step.flops(),
            peak_memory().map_or("null".into(), |bytes| bytes.to_string())
        );
    }
}

struct Options {
    serve: bool,
    threads: usize,
    grid: usize,
    steps: usize,
}

impl Options {
    fn read() -> Self {
        let mut options = Self { serve: false, threads: 2, grid: 51, steps: 40 };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(name) = arguments.next() {
            if name == "--serve" {
                options.serve = true;
                continue;
            }
            let value = arguments.next().unwrap_or_else(|| panic!("{name} needs a value"));
            match name.as_str() {
                "--threads" => options.threads = value.parse().expect("a number of threads"),
                "--grid" => options.grid = value.parse().expect("points along each coordinate"),
                "--steps" => options.steps = value.parse().expect("a number of steps"),
                _ => panic!("unknown option {name}"),
            }
        }
        options
    }
}

/// Both levels with Adam, as the paper's algorithm takes them.
struct Step {
    device: Box<dyn Device>,
    lower: Lower,
    upper: Upper,
    weights: Vec<f64>,
    eta: Vec<f64>,
    adam: (Adam, Adam),
    /// Collocation points and data points.
    points: [usize; 2],
}

impl Step {
    fn new(options: &Options) -> Self {
        let text = include_str!("../../../problems/fisher-kpp.toml");
        let axis = |name: &str| format!("equation.front.points.grid.{name}={}", options.grid);
        let overrides = Overrides { recipe: Some("paper".into()), ..Overrides::of([axis("x"), axis("t")]) };
        let problem =
            Problem::from_toml("fisher-kpp", text, Path::new("."), &overrides).expect("a valid problem");
        let points = problem.equations[0].points.source(&problem, 0).expect("a grid").len();
        let mut device = cpu(problem.training.precision, Some(options.threads));
        let mut operator = LocalOperator::new(&problem, 0).expect("a valid problem");
        let lower = Lower::new(&problem, &mut operator, device.as_mut(), 0).expect("a valid problem");
        let Data::Synthetic { points: observed, .. } = &problem.observations[0].data else {
            panic!("the problem makes its own data")
        };
        let coordinates = observed.columns(&problem, 0).expect("a grid");
        let points = [points, coordinates[0].len()];
        let table = Table { coordinates, values: vec![0.3; points[1]], sigma: None };
        let upper =
            Upper::new(&problem, &mut operator, device.as_mut(), vec![table]).expect("a valid problem");
        let weights = operator.initial_weights(0);
        let adam = (Adam::new(vec![1e-3; weights.len()]), Adam::new(vec![1e-3; 2]));
        Self { device, lower, upper, weights, eta: vec![1.0, 1.0], adam, points }
    }

    fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            let mut gradient = vec![0.0; self.weights.len()];
            let theta_gradient = self
                .upper
                .loss(self.device.as_mut(), &self.weights, &self.eta)
                .expect("the CPU never fails")
                .by_eta;
            self.lower
                .loss(self.device.as_mut(), &self.weights, &self.eta, Some(&mut gradient))
                .expect("the CPU never fails");
            self.adam.0.step_along(&mut self.weights, &gradient);
            self.adam.1.step_along(&mut self.eta, &theta_gradient);
        }
    }

    /// Products of the two square layers: 3 components (u, u_x and the leading part u_t - 0.01 D u_xx)
    /// forward and back for the residual's gradient, 3 tangents forward, 3 adjoints back, 6 in the weight
    /// gradient; 2 for the data.
    fn flops(&self) -> f64 {
        let components = (3 + 3 + 3 + 3 + 6) * self.points[0] + 2 * self.points[1];
        components as f64 * 2.0 * 2.0 * 128.0 * 128.0
    }
}

/// GFLOP/s of the program's own products, by themselves in cache, on so many threads.
fn our_ceiling(threads: usize) -> f64 {
    let speeds: Vec<f64> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| product_ceiling(128, 100))).collect();
        workers.into_iter().map(|worker| worker.join().expect("nothing fails")).collect()
    });
    speeds.into_iter().sum()
}

/// GFLOP/s of the library `gemm` on in-cache products 128x128 times 128x264 on so many threads.
fn gemm_ceiling(threads: usize) -> f64 {
    const REPEATS: usize = 300;
    const ROWS: usize = 264;
    let seconds = time(1, || {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let (a, b, mut c) =
                        (vec![1.0_f32; ROWS * 128], vec![0.5_f32; 128 * 128], vec![0.0_f32; ROWS * 128]);
                    for _ in 0..REPEATS {
                        // SAFETY: all three matrices are as large as the sizes and strides say.
                        unsafe {
                            gemm::gemm(
                                ROWS,
                                128,
                                128,
                                c.as_mut_ptr(),
                                1,
                                128,
                                false,
                                a.as_ptr(),
                                1,
                                128,
                                b.as_ptr(),
                                128,
                                1,
                                1.0,
                                1.0,
                                false,
                                false,
                                false,
                                gemm::Parallelism::None,
                            );
                        }
                    }
                    std::hint::black_box(&c);
                });
            }
        });
    });
    threads as f64 * REPEATS as f64 * 2.0 * 128.0 * 128.0 * ROWS as f64 / seconds / 1e9
}

fn time(repeats: usize, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..repeats {
        work();
    }
    start.elapsed().as_secs_f64() / repeats as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
