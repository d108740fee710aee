//! Physics-informed networks and BPN: the gradients they move along, where they lead, and what is refused.

use bilo::data::observed_tables;
use bilo::level::{Fit, Joint};
use bilo::monitor::{Interrupt, Monitor};
use bilo::observer::Silent;
use bilo::operator::LocalOperator;
use bilo::outcome::Outcome;
use bilo::problem::{Overrides, Problem};
use bilo::state::OperatorState;
use bilo::train::{Losses, Past, Trainer};
use bilo::{Job, Method, run};
use bilo_jet::{Device, Moves, Precision, cpu};
use std::path::Path;

const SCALAR: &str = include_str!("../../../problems/poisson-scalar.toml");
const FUNCTION: &str = include_str!("../../../problems/poisson-variable.toml");
const HARD: &str = include_str!("../../../problems/bpn-toy.toml");
const SOFT: &str = include_str!("../../../problems/bpn-toy-soft.toml");

fn problem(text: &str, set: &[&str]) -> Problem {
    Problem::from_toml("a shipped problem", text, Path::new("."), &Overrides::of(set.iter().copied()))
        .expect("a valid problem")
}

fn solve(text: &str, method: &'static dyn Method, set: &[&str], threads: usize) -> Outcome {
    let job = Job { method, threads: Some(threads), ..Job::default() };
    run(&problem(text, set), &job, &mut Silent).expect("it runs")
}

/// A problem on a device in double precision, with a starting point.
fn loaded(problem: &Problem) -> (Box<dyn Device>, LocalOperator, Joint, OperatorState) {
    let mut device = cpu(Precision::F64, Some(1));
    let mut operator = LocalOperator::without_parameters(problem, 0).expect("a valid problem");
    let tables = observed_tables(problem, 0).expect("data");
    let joint = Joint::new(problem, &mut operator, device.as_mut(), tables, problem.training.data_weight, 0)
        .expect("a valid problem");
    let point = OperatorState::new(operator.initial_weights(0), problem.eta_of_guess());
    (device, operator, joint, point)
}

/// By the scalars, by the weights of D's network and by those of u's, which has no input for any of them: against central
/// differences of the loss itself, whose error is of the order of the square of their step.
#[test]
fn the_one_loss_has_the_right_slopes_by_everything() {
    let weight = 3.5;
    let set = format!("train.data-weight={weight}");
    let small = ["network.width=5", "unknown.D.network={ width = 4 }", &set];
    let variable = problem(FUNCTION, &small);
    let (mut device, operator, joint, OperatorState { weights, eta, .. }) = loaded(&variable);
    let loss = joint.loss(device.as_mut(), &weights, &eta).expect("the CPU never fails");
    let step = 1e-5;
    let mut value = |weights: &[f64]| {
        let terms = joint.loss(device.as_mut(), weights, &eta).expect("the CPU never fails").terms;
        terms[0] + weight * terms[1] + 1e-3 * terms[2]
    };
    for i in (0..weights.len()).step_by(7) {
        let mut moved = |by: f64| {
            let mut weights = weights.clone();
            weights[i] += by;
            value(&weights)
        };
        let slope = (moved(step) - moved(-step)) / (2.0 * step);
        assert!((slope - loss.by_weights[i]).abs() < 1e-6 * slope.abs().max(1.0), "weight {i}: {slope}");
    }
    let functions = operator.shapes().function_weights();
    let of_states = joint
        .residual_loss(device.as_mut(), &weights, &eta, Moves::States)
        .expect("the CPU never fails")
        .by_weights;
    assert!(of_states[..functions].iter().all(|slope| *slope == 0.0), "pre-training moves no function");

    let scalar = problem(SCALAR, &["network.width=5"]);
    let (mut device, _, joint, OperatorState { weights, eta, .. }) = loaded(&scalar);
    let by_eta = joint.loss(device.as_mut(), &weights, &eta).expect("the CPU never fails").by_eta[0];
    let mut moved = |by: f64| {
        joint
            .loss(device.as_mut(), &weights, &[eta[0] + by])
            .expect("the CPU never fails")
            .terms
            .iter()
            .sum::<f64>()
    };
    let slope = (moved(step) - moved(-step)) / (2.0 * step);
    assert!((slope - by_eta).abs() < 1e-6 * slope.abs(), "{slope} {by_eta}");
}

/// Without noise equation and data agree, and so must a physics-informed network in the end; to how many digits is a matter
/// of training. It has no local operator, so there is nothing to audit; the classical solution is held against it.
#[test]
fn a_physics_informed_network_finds_a_scalar() {
    let found = solve(SCALAR, &bilo::method::Pinn, &["train.data-weight=100"], 1);
    assert_eq!(found.method, "pinn");
    let d = &found.unknowns.numbers[0];
    assert!(d.relative_error().unwrap() < 0.01, "{d:?}");
    assert!(d.sd.is_none() && d.sd_network.is_none() && d.data_optimal.is_some());
    assert!(found.operator.is_none() && found.audit.is_empty());
    assert!(found.states[0].relative_l2_vs_classical.unwrap() < 0.01);
    let names: Vec<&str> = found.losses.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, ["residual.balance", "data.profile", "fit.u"]);
}

/// The function leaves its guess, and the data come to fit as well as noise lets them.
#[test]
fn a_physics_informed_network_finds_a_function() {
    let set = ["train.data-weight=100", "train.train-steps=2000"];
    let found = solve(FUNCTION, &bilo::method::Pinn, &set, 1);
    let d = &found.unknowns.functions[0];
    assert_eq!(d.gradient, "joint");
    let (error, of_guess) = (d.relative_l2_error.unwrap(), d.relative_l2_error_of_guess.unwrap());
    assert!(error < 0.5 * of_guess, "{error} {of_guess}");
    let misfit = found.misfits[0].network.unwrap();
    assert!((0.5e-4..1.5e-4).contains(&misfit), "noise has the variance 1e-4: {misfit}");
}

#[test]
fn threads_do_not_change_a_bit() {
    let short = ["train.pretrain-steps=20", "train.train-steps=20"];
    let methods: [&dyn Method; 2] = [&bilo::method::Pinn, &bilo::method::Bpn];
    for method in methods {
        let [one, two] = [1, 2].map(|threads| solve(SOFT, method, &short, threads).unknowns);
        assert_eq!(one, two);
    }
}

/// dJ/dth with J = (th0² + th1² + th0 th1 - 2 th1 - th0 + 1)/3, the integral of (y - x²)² for y'' = 2 with these
/// boundary values: at the guess (1, 1) it is (2/3, 1/3). The boundary values reach y only through the weights, so all of it
/// is BPN's inverse Hessian. The mean over 64 points is the integral to 2 %, and 32 iterations on an ill-conditioned Hessian
/// leave the rest.
#[test]
fn the_gradient_through_the_weights_is_that_of_the_problem() {
    let toy = problem(SOFT, &["train.precision=f64", "train.optimiser=lbfgs", "train.pretrain-steps=400"]);
    let (mut device, operator, joint, mut point) = loaded(&toy);
    let losses = Losses::Nested(&joint);
    let mut silent = Silent;
    let mut monitor = Monitor::new(&toy, &Interrupt::default(), 0.0, &mut silent);
    monitor.name_losses(losses.names());
    let mut trainer = Trainer {
        device: device.as_mut(),
        problem: &toy,
        losses,
        fit: &Fit::default(),
        shapes: &operator.shapes(),
        upper_rates: &operator.upper_rates(&toy),
        monitor: &mut monitor,
        past: Past::default(),
    };
    trainer.pretrain(&mut point).expect("nothing to take up");
    let found = trainer.hypergradient(&joint, &point).expect("the CPU never fails").by_eta;
    let at_fixed_weights =
        joint.upper().loss(device.as_mut(), &point.weights, &point.eta).expect("the CPU never fails").by_eta;
    assert_eq!(at_fixed_weights, [0.0, 0.0]);
    for (found, exact) in found.iter().zip([2.0 / 3.0, 1.0 / 3.0]) {
        assert!((found / exact - 1.0).abs() < 0.05, "{found} {exact}");
    }
}

/// Both forms of the toy come to (0, 1), the soft one through the inverse Hessian alone.
#[test]
fn bpn_finds_the_boundary_values() {
    let steps = ["train.train-steps=100", "network.width=16", "network.layers=1", "train.rate=5e-3"];
    for toy in [HARD, SOFT] {
        let found = solve(toy, &bilo::method::Bpn, &steps, 2);
        let far =
            |unknown: &bilo::outcome::ScalarOutcome| (unknown.estimate - unknown.truth.unwrap()).abs() > 0.01;
        assert!(!found.unknowns.numbers.iter().any(far), "{:?}", found.unknowns.numbers);
        assert_eq!((found.precision.as_str(), found.audit.len()), ("f64", 0));
    }
}

#[test]
fn what_solves_for_local_operators_is_refused() {
    let job = Job { method: &bilo::method::Pinn, ..Job::default() };
    let error =
        run(&problem(SCALAR, &["train.optimiser=lm"]), &job, &mut Silent).expect_err("no local operator");
    assert_eq!(error.headline(), "`lm` solves for local operators; the networks of pinn are trained");
}

/// u = sin(pi x)/D, learned from 41 values of D and a handful of lessons.
const LESSONS: [&str; 7] = [
    "examples={ grid = { x = 33 }, unknown = { D = { from = 0.8, to = 3.0, step = 0.055 } } }",
    "deeponet={ width = 24, layers = 2, steps = 2000, batch = 20, rate = 5e-3 }",
    "fno={ width = 8, layers = 2, modes = 8, steps = 300, batch = 20, rate = 1e-2 }",
    "unknown.D.truth=1.7",
    "train.theta-rate=0.02",
    "train.train-steps=600",
    "train.settle-tolerance=0",
];

/// What is learned to a per cent gives the unknown to about as much: u is proportional to 1/D.
#[test]
fn neural_operators_find_a_scalar() {
    let methods: [(&dyn Method, usize); 2] =
        [(&bilo::method::DeepOnet, 2 * (2 * 24 + 24 * 24 + 24)), (&bilo::method::Fno, 0)];
    for (method, numbers) in methods {
        let found = solve(SCALAR, method, &LESSONS, 2);
        let learned = found.learned.as_ref().expect("it learned");
        assert_eq!((learned.examples, found.steps.train), (41, 600));
        assert!(numbers == 0 || learned.numbers == numbers);
        let held_back = learned.validation_error.expect("some were held back");
        assert!(held_back < 0.02, "{method:?}: {held_back}");
        let d = &found.unknowns.numbers[0];
        assert!(d.relative_error().unwrap() < 0.03, "{method:?}: {d:?}");
        assert!(d.sd.is_none() && d.data_optimal.is_some() && found.audit.is_empty());
        assert!(found.states[0].relative_l2_vs_classical.unwrap() < 0.03);
        assert_eq!(solve(SCALAR, method, &LESSONS, 1).unknowns, found.unknowns, "whatever the threads");
    }
}

/// A search that ends where the PDE has no solution is told of, with the learned solution and no other.
#[test]
fn unphysical_estimates_are_told_of() {
    let front = include_str!("../../../problems/fisher-kpp.toml");
    let set = [
        "examples={ grid = { x = 5, t = 5 }, unknown = { D = { from = 1, to = 2, step = 1 }, rho = { from = 1, to = 2, step = 1 } } }",
        "deeponet={ width = 4, layers = 1, steps = 3 }",
        "classical={ cells = 40, steps = 20 }",
        "unknown.D.guess=-5",
        "train.train-steps=1",
    ];
    let found = solve(front, &bilo::method::DeepOnet, &set, 1);
    assert!(found.classical_failure.is_some() && found.unknowns.numbers[0].sd.is_none());
    let fields = &found.fields;
    assert_eq!((fields.axes.len(), fields.arrays.len(), &fields.arrays[0].name[..]), (2, 1, "u_network"));
}

#[test]
fn what_neural_operators_cannot_learn_is_said() {
    let refused = |text: &str, method: &'static dyn Method, set: &[&str]| {
        let job = Job { method, ..Job::default() };
        run(&problem(text, set), &job, &mut Silent).expect_err("no examples").headline()
    };
    let none = "`deeponet` learns from examples, and the problem has none";
    assert_eq!(refused(SCALAR, &bilo::method::DeepOnet, &[]), none);
    let modes = [&LESSONS[..], &["fno.modes=64"]].concat();
    assert_eq!(refused(SCALAR, &bilo::method::Fno, &modes), "33 nodes along x do not carry 64 modes");
    let grid = ["examples.grid={ x = 51 }", "examples.count=10"];
    assert_eq!(refused(FUNCTION, &bilo::method::Fno, &grid), "an FNO needs `D` on the grid of the examples");
}
