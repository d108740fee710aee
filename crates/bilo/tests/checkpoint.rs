//! Training that stops at a checkpoint and goes on from it comes to the same bits as training that never stopped.

use bilo::checkpoint::Checkpoint;
use bilo::observer::{Control, Event, Observer, Phase, Silent};
use bilo::outcome::{Outcome, Stop};
use bilo::problem::{Overrides, Problem};
use bilo::{Job, Method, run};
use std::path::Path;
use std::sync::Arc;

/// A scalar and a function unknown, points that are drawn anew every seven steps.
const PROBLEM: &str = r#"
    name = "kept"
    [coordinates]
    x = [0.0, 1.0]
    [unknown.D]
    of = ["x"]
    form = "1 + net*x*(1-x)"
    guess = "1"
    truth = "1 + x*(1-x)"
    network = { width = 6, layers = 1 }
    regularise = { kind = "h1", weight = 1e-4 }
    [unknown.s]
    guess = 1.0
    truth = 1.5
    bounds = [0.1, 10.0]
    [state.u]
    form = "net*x*(1-x)"
    [equation.balance]
    residual = "-div(D*grad(u)) - s*pi^2*sin(pi*x)"
    points = { random = 31, resample = 7 }
    [observation.profile]
    data = { synthetic = { grid = { x = 21 }, noise = 0.01 } }
    [operator]
    kind = "network"
    [network]
    width = 8
    layers = 2
    [train]
    pretrain-steps = 40
    train-steps = 60
    record-every = 1
    settle-steps = 11
"#;

/// Points that stay, as L-BFGS needs them.
const GRID: &str = "equation.balance.points={ grid = { x = 31 } }";

fn problem(set: &[&str]) -> Problem {
    let overrides = Overrides::of(set.iter().copied());
    Problem::from_toml("kept.toml", PROBLEM, Path::new("."), &overrides)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Asks for checkpoints after some steps, or to stop after one.
#[derive(Default)]
struct Keeper {
    keep: Vec<(Phase, usize)>,
    stop: Option<(Phase, usize)>,
    kept: Vec<Checkpoint>,
    rows: Vec<(Phase, usize, Vec<u64>)>,
}

impl Observer for Keeper {
    fn event(&mut self, event: &Event<'_>) -> Control {
        match event {
            Event::Checkpoint(kept) => self.kept.push((*kept).clone()),
            Event::Step(record) => {
                let numbers = record.losses.iter().chain(record.unknowns).map(|number| number.to_bits());
                self.rows.push((record.phase, record.step, numbers.collect()));
                let here = (record.phase, record.step);
                if self.stop == Some(here) {
                    return Control::Stop;
                }
                if self.keep.contains(&here) {
                    return Control::Keep;
                }
            }
            _ => {}
        }
        Control::Continue
    }
}

/// Everything of an outcome that does not depend on the clock.
fn lasting(mut outcome: Outcome) -> String {
    outcome.seconds = Default::default();
    format!("{outcome:?}")
}

fn job(method: &'static dyn Method, from: Option<Checkpoint>) -> Job {
    Job { seed: 3, method, from: from.map(Arc::new), ..Job::default() }
}

#[test]
fn every_way_of_training_goes_on_to_the_same_bits() {
    let ways: [(&'static dyn Method, &[&str]); 6] = [
        (&bilo::method::Bilo, &[]),
        (&bilo::method::Bilo, &["train.optimiser=soap", "train.theta-optimiser=soap", "train.precision=f64"]),
        (&bilo::method::Bilo, &["train.optimiser=lbfgs", GRID]),
        (
            &bilo::method::Bilo,
            &["train.levels=alternating", "train.optimiser=lbfgs", "train.max-lower-steps=5", GRID],
        ),
        (&bilo::method::Pinn, &[]),
        (&bilo::method::Bpn, &["train.train-steps=4", "train.lower-steps=3", "train.inverse-steps=4"]),
    ];
    for (method, set) in ways {
        let problem = problem(set);
        let last = problem.training.train_steps;
        let places =
            [(Phase::Pretrain, 1), (Phase::Pretrain, 23), (Phase::Pretrain, 40), (Phase::Train, last / 2)];
        let mut keeper = Keeper { keep: places.to_vec(), ..Keeper::default() };
        let whole = run(&problem, &job(method, None), &mut keeper).expect("it trains");
        assert_eq!(keeper.kept.len(), places.len(), "{method:?} {set:?}");
        for kept in keeper.kept {
            let (phase, step) = (kept.phase, kept.step);
            let mut watched = Keeper::default();
            let rest = run(&problem, &job(method, Some(kept)), &mut watched).expect("it goes on");
            let begin =
                keeper.rows.iter().position(|row| (row.0, row.1) == (phase, step)).expect("a row") + 1;
            assert_eq!(watched.rows, keeper.rows[begin..], "{method:?} {set:?} {phase:?} {step}");
            assert_eq!(lasting(rest), lasting(whole.clone()), "{method:?} {set:?} {phase:?} {step}");
        }
    }
}

/// A run that is stopped has a checkpoint at its last step, without asking.
#[test]
fn a_stopped_run_can_go_on() {
    let problem = problem(&[]);
    let whole = run(&problem, &job(&bilo::method::Bilo, None), &mut Silent).expect("it trains");
    for stop in [(Phase::Pretrain, 17), (Phase::Train, 30)] {
        let mut keeper = Keeper { stop: Some(stop), ..Keeper::default() };
        let part = run(&problem, &job(&bilo::method::Bilo, None), &mut keeper).expect("it trains");
        assert_eq!(part.stop, Stop::Interrupted);
        let kept = keeper.kept.pop().expect("a checkpoint");
        assert_eq!((kept.phase, kept.step), stop);
        let rest = run(&problem, &job(&bilo::method::Bilo, Some(kept)), &mut Silent).expect("it goes on");
        assert_eq!(lasting(rest), lasting(whole.clone()));
    }
}

/// The reason why a dictionary would not do is kept, and not found out again.
#[test]
fn the_choice_of_an_operator_is_kept() {
    let problem = problem(&["operator.kind=automatic", "train.gradient=exact"]);
    let mut keeper = Keeper { keep: vec![(Phase::Pretrain, 20)], ..Keeper::default() };
    let whole = run(&problem, &job(&bilo::method::Bilo, None), &mut keeper).expect("it trains");
    let kept = keeper.kept.pop().expect("a checkpoint");
    assert!(kept.why.is_some());
    let rest = run(&problem, &job(&bilo::method::Bilo, Some(kept)), &mut Silent).expect("it goes on");
    assert_eq!(lasting(rest), lasting(whole));
}

/// Of another problem, or with something missing: an error and no panic.
#[test]
fn what_does_not_fit_is_refused() {
    let mut keeper = Keeper { keep: vec![(Phase::Train, 20)], ..Keeper::default() };
    run(&problem(&[]), &job(&bilo::method::Bilo, None), &mut keeper).expect("it trains");
    let kept = keeper.kept.pop().expect("a checkpoint");
    let refused = |problem: &Problem, kept: Checkpoint| {
        let error =
            run(problem, &job(&bilo::method::Bilo, Some(kept)), &mut Silent).expect_err("it does not fit");
        error.to_string()
    };
    let wider = refused(&problem(&["network.width=9"]), kept.clone());
    assert!(wider.contains("the checkpoint does not fit this problem: see its `guess.weights`"), "{wider}");
    let soap = refused(&problem(&["train.optimiser=soap"]), kept.clone());
    assert!(soap.contains("see its `lower.0`"), "{soap}");
    for missing in 0..kept.arrays.len() {
        let mut less = kept.clone();
        let (name, _) = less.arrays.remove(missing);
        let error = refused(&problem(&[]), less);
        assert!(error.contains("does not fit"), "without {name}: {error}");
    }
}
