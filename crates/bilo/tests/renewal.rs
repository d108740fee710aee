//! Points that training draws afresh, and batches of points.

use bilo::observer::Silent;
use bilo::problem::{OperatorKind, Overrides, Points, Problem};
use bilo::{Job, run};
use std::path::Path;

fn decay(points: &str) -> bilo::Result<Problem> {
    let text = format!(
        r#"
        name = "decay"
        [coordinates]
        x = [0.0, 1.0]
        t = {{ range = [0.0, 1.0], time = true }}
        [unknown.k]
        guess = 1.0
        truth = 2.0
        [state.u]
        form = "1 + net*t"
        [equation.decay]
        residual = "u_t + k*u"
        points = {points}
        [observation.samples]
        data = {{ synthetic = {{ grid = {{ x = 3, t = 11 }} }} }}
        [network]
        width = 12
        [train]
        precision = "f64"
        pretrain-steps = 300
        train-steps = 1500
        pretrain-on-solution = false
        [classical]
        cells = 20
        steps = 200
        "#
    );
    Problem::from_toml("decay.toml", &text, Path::new("."), &Overrides::default())
}

fn points(text: &str) -> (Problem, Points) {
    let problem = decay(text).expect("a valid problem");
    let points = problem.equations[0].points.clone();
    (problem, points)
}

fn drawn(text: &str, draw: usize) -> Vec<Vec<f64>> {
    let (problem, points) = points(text);
    let source = points.drawn(&problem, 7, draw).expect("points");
    source.columns(0..source.len())
}

#[test]
fn random_points_are_others_at_every_draw() {
    let text = "{ random = 50, resample = 10 }";
    let (problem, all) = points(text);
    assert_eq!(drawn(text, 0), all.columns(&problem, 7).unwrap());
    assert_ne!(drawn(text, 0), drawn(text, 1));
    assert_ne!(drawn(text, 1), drawn(text, 2));
    assert_eq!(drawn(text, 2), drawn(text, 2));
}

/// 11 x 10 points in 22 stretches of 5: one of each.
#[test]
fn a_batch_is_spread_over_all_points() {
    let text = "{ grid = { x = 11, t = 10 }, batch = 22 }";
    let (problem, points) = points(text);
    let all = points.columns(&problem, 7).unwrap();
    for draw in 0..3 {
        let batch = drawn(text, draw);
        assert_eq!(batch[0].len(), 22);
        for (stretch, (&x, &t)) in batch[0].iter().zip(&batch[1]).enumerate() {
            let mut five = 5 * stretch..5 * stretch + 5;
            assert!(five.any(|i| all[0][i] == x && all[1][i] == t), "stretch {stretch} of draw {draw}");
        }
    }
    assert_ne!(drawn(text, 0), drawn(text, 1));
}

/// The disc takes pi/16 of the square; all of the points are in it all the same.
#[test]
fn random_points_of_a_region_are_as_many_as_stated() {
    let columns = drawn("{ random = 300, where = \"(x - 0.5)^2 + (t - 0.5)^2 < 0.0625\", resample = 1 }", 3);
    assert_eq!(columns[0].len(), 300);
    let inside = |(x, t): (&f64, &f64)| (x - 0.5).powi(2) + (t - 0.5).powi(2) < 0.0625;
    assert!(columns[0].iter().zip(&columns[1]).all(inside));
}

/// Training on points drawn afresh finds the rate, and the same one to the bit for any number of threads.
#[test]
fn training_on_renewed_points_finds_the_unknown() {
    let mut estimates = vec![];
    for threads in [1, 3] {
        let mut problem = decay("{ random = 40, resample = 5 }").unwrap();
        problem.operator.kind = OperatorKind::Network;
        let job = Job { seed: 1, threads: Some(threads), method: &bilo::method::Bilo, ..Job::default() };
        estimates.push(run(&problem, &job, &mut Silent).unwrap().unknowns.numbers[0].estimate);
    }
    assert_eq!(estimates[0], estimates[1]);
    // 40 points at a time give a gradient with noise; one in a thousand was seen.
    assert!((estimates[0] - 2.0).abs() < 0.02, "{estimates:?}");
}

/// A dictionary is solved for at fixed points. Where others are asked for, the default is a network, and it is said why.
#[test]
fn renewed_points_are_for_networks() {
    let mut problem = decay("{ random = 40, resample = 5 }").unwrap();
    assert_eq!(problem.operator.kind, OperatorKind::Automatic);
    (problem.training.pretrain_steps, problem.training.train_steps) = (1, 1);
    let outcome = run(&problem, &Job::default(), &mut Silent).unwrap();
    let operator = outcome.operator.expect("a local operator");
    assert_eq!(operator.kind.name(), "network");
    assert_eq!(operator.why.as_deref(), Some("points are drawn afresh during training"));
}

#[test]
fn wrong_renewals_say_what_to_write() {
    let message = |points: &str| decay(points).expect_err("an error").to_string();
    let same = message("{ grid = { x = 3, t = 3 }, resample = 10 }");
    assert!(same.contains("the same at every draw") && same.contains("batch = 1000"), "{same}");
    assert!(message("{ random = 10, resample = 0 }").contains("`resample` must be at least 1"));
    assert!(message("{ random = 10, batch = 0 }").contains("`batch` must be at least 1"));
}
