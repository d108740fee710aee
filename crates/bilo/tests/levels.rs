//! The two levels: what each may touch, and that a well-trained lower level gives the right upper
//! gradient.

use bilo::level::{Fit, Lower, Upper};
use bilo::monitor::{Interrupt, Monitor};
use bilo::observer::Silent;
use bilo::operator::LocalOperator;
use bilo::problem::{OperatorKind, Overrides, Problem, Table};
use bilo::reference::ReferenceSolver;
use bilo::state::OperatorState;
use bilo::train::{Losses, Past, Trainer};
use bilo_jet::{Device, cpu};
use bilo_optim::{Lbfgs, Optimizer};
use std::path::Path;

fn poisson(set: &[&str]) -> Problem {
    let text = include_str!("../../../problems/poisson-scalar.toml");
    Problem::from_toml("poisson-scalar", text, Path::new("."), &Overrides::of(set.iter().copied()))
        .expect("a shipped problem")
}

/// u = sin(pi x)/D at 51 points.
fn exact_data(d: f64) -> Table {
    let x: Vec<f64> = (0..51).map(|i| f64::from(i) / 50.0).collect();
    let values = x.iter().map(|x| (std::f64::consts::PI * x).sin() / d).collect();
    Table { coordinates: vec![x], values, sigma: None }
}

/// A device with both levels loaded, and the starting point.
fn levels(problem: &Problem, data: &Table, seed: u64) -> (Box<dyn Device>, Lower, Upper, OperatorState) {
    let mut device = cpu(problem.training.precision, Some(1));
    let mut operator = LocalOperator::new(problem, seed).unwrap();
    let lower = Lower::new(problem, &mut operator, device.as_mut(), seed).unwrap();
    let upper = Upper::new(problem, &mut operator, device.as_mut(), vec![data.clone()]).unwrap();
    let point = OperatorState::new(operator.initial_weights(seed), vec![problem.unknowns[0].guess]);
    (device, lower, upper, point)
}

/// The point after some iterations of both levels.
fn trained(problem: &Problem, data: &Table) -> OperatorState {
    let (mut device, lower, upper, mut point) = levels(problem, data, 1);
    let loss_names = [lower.names(), upper.names()].concat();
    let mut silent = Silent;
    let mut monitor = Monitor::new(problem, &Interrupt::default(), 0.0, &mut silent);
    monitor.name_losses(loss_names);
    Trainer {
        device: device.as_mut(),
        problem,
        losses: Losses::Bilevel { lower: &lower, upper: &upper },
        fit: &Fit::default(),
        shapes: &LocalOperator::new(problem, 1).unwrap().shapes(),
        upper_rates: &[problem.training.theta_rate],
        monitor: &mut monitor,
        past: Past::default(),
    }
    .train(&mut point)
    .expect("nothing to take up");
    point
}

/// Other data move theta elsewhere, but the weights' step at the same theta is the same to the bit.
#[test]
fn the_data_loss_never_changes_the_weights() {
    let problem = poisson(&["train.train-steps=1"]);
    let (one, other) = (trained(&problem, &exact_data(2.0)), trained(&problem, &exact_data(0.5)));
    assert_ne!(one.eta, other.eta);
    assert_eq!(one.weights, other.weights);
}

/// Another weight of the equation changes the weights' gradient, but theta's step is the same to the bit.
#[test]
fn the_residual_loss_never_changes_theta() {
    let heavy = "equation.balance.weight=7.0";
    let rough = "train.rgrad-weight=3.0";
    let (one, other) = (poisson(&["train.train-steps=1"]), poisson(&["train.train-steps=1", heavy, rough]));
    let (one, other) = (trained(&one, &exact_data(2.0)), trained(&other, &exact_data(2.0)));
    assert_eq!(one.eta, other.eta);
    let start = levels(&poisson(&[]), &exact_data(2.0), 1).3;
    assert_ne!(one.eta, start.eta);
    assert_ne!(one.weights, start.weights);
}

/// d L_data/d theta of the classical solver by central differences.
fn classical_gradient(problem: &Problem, data: &Table, d: f64) -> f64 {
    let reference = ReferenceSolver::new(problem).unwrap();
    let loss = |d: f64| {
        let u = reference.solve(&[d]).unwrap().state(0, &data.coordinates);
        u.iter().zip(&data.values).map(|(u, data)| (u - data).powi(2)).sum::<f64>() / u.len() as f64
    };
    let h = 1e-4;
    (loss(d + h) - loss(d - h)) / (2.0 * h)
}

/// If the lower loss is at most eps, |r| and |dr/dtheta| are at most of order sqrt(eps), and so is the
/// error of d L_data/d theta. Over tolerances 1e-3 .. 1e-6 and four seeds the geometric mean of the
/// error must fall at slope 1/2 against the loss, within 0.2: single runs scatter by a factor of 3.
#[test]
fn the_upper_gradient_approaches_the_classical_one_as_the_square_root_of_the_loss() {
    let problem = poisson(&["train.precision=f64", "network.width=20"]);
    let data = exact_data(2.0);
    let exact = classical_gradient(&problem, &data, problem.unknowns[0].guess);
    let tolerances = [1e-3, 1e-4, 1e-5, 1e-6];
    let mut mean_log_error = [0.0; 4];
    let seeds = 4;
    for seed in 0..seeds {
        let (mut device, lower, upper, mut point) = levels(&problem, &data, seed);
        let mut lbfgs = Lbfgs::new(20);
        for (tolerance, sum) in tolerances.iter().zip(&mut mean_log_error) {
            while lower
                .loss(device.as_mut(), &point.weights, &point.eta, None)
                .expect("the CPU never fails")
                .0
                > *tolerance
            {
                let eta = &point.eta;
                lbfgs.step(&mut point.weights, &mut |weights, gradient| {
                    gradient.fill(0.0);
                    lower.loss(device.as_mut(), weights, eta, Some(gradient)).expect("the CPU never fails").0
                });
            }
            let gradient =
                upper.loss(device.as_mut(), &point.weights, &point.eta).expect("the CPU never fails").by_eta;
            *sum += (gradient[0] / exact - 1.0).abs().ln() / seeds as f64;
        }
    }
    let decades = 3.0 * std::f64::consts::LN_10;
    let slope = (mean_log_error[0] - mean_log_error[3]) / decades;
    let errors = mean_log_error.map(f64::exp);
    assert!((slope - 0.5).abs() < 0.2, "slope {slope}, relative errors {errors:?}");
    assert!(errors[3] < 1e-2, "{errors:?}");
    assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
}

const KINDS: [OperatorKind; 2] = [OperatorKind::Network, OperatorKind::Automatic];

/// log(x) has no value at x = 0: the statement is at fault, and training never starts, whatever was to be trained.
#[test]
fn a_residual_without_a_value_is_an_error_that_names_the_point() {
    let mut problem = poisson(&["equation.balance.residual=\"D*u_xx + log(x)\""]);
    for kind in KINDS {
        problem.operator.kind = kind;
        let error = bilo::run(&problem, &bilo::Job::default(), &mut Silent).unwrap_err().to_string();
        assert!(error.contains("the residual of `balance` has no finite value at x = 0"), "{error}");
        assert!(error.contains("leave the point out with `where`"), "{error}");
    }
}

/// The source of the networks' equation is twice that of the equation itself, and so is their solution: it
/// differs from the classical one by as much as that. So does a dictionary, up to the error of the reference solver.
#[test]
fn networks_are_trained_with_their_own_residual_and_checked_with_the_equation() {
    let trained = "equation.balance.trained=\"D*u_xx + 2*pi^2*sin(pi*x)\"";
    // The one step of training moves every weight by the rate.
    let steps = ["train.rate=1e-3", "train.train-steps=1", "train.pretrain-on-solution=false"];
    let mut problem = poisson(&[&[trained], &steps[..]].concat());
    for (kind, name, tolerance) in [(KINDS[0], "network", 0.02), (KINDS[1], "dictionary", 1e-5)] {
        problem.operator.kind = kind;
        let job = bilo::Job { method: &bilo::method::Bilo, ..bilo::Job::default() };
        let outcome = bilo::run(&problem, &job, &mut Silent).unwrap();
        assert_eq!(outcome.operator.expect("a local operator").kind.name(), name);
        let distance = outcome.states[0].relative_l2_vs_classical.unwrap();
        assert!((distance - 1.0).abs() < tolerance, "{name}: {distance}");
    }
}
