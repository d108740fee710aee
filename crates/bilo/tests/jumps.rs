//! Unknowns that say where equations jump: derivatives by them against closed forms, and a day that is found.

use bilo::data::observed_tables;
use bilo::data_loss::DataLoss;
use bilo::misfit::ReferenceLoss;
use bilo::observer::Silent;
use bilo::outcome::{Colour, SolvedBy};
use bilo::problem::{Overrides, Problem};
use bilo::reference::ReferenceSolver;
use bilo::{Job, run};
use std::f64::consts::PI;
use std::path::Path;

fn read(text: &str) -> Problem {
    Problem::from_toml("jumps", text, Path::new("."), &Overrides::default()).expect("it reads")
}

/// The derivatives of the first observation's values at the guess by each unknown (not by its variable), with its places.
fn slopes(problem: &Problem) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let (reference, tables) =
        (ReferenceSolver::new(problem).expect("a solver"), observed_tables(problem, 0).expect("data"));
    let loss = ReferenceLoss { data: DataLoss::new(problem, &tables), reference: &reference };
    let evaluation = loss.evaluate(&problem.eta_of_guess()).expect("a solution");
    let observed = loss.slopes(&evaluation).expect("derivatives");
    let gradient = loss.gradient(&evaluation).expect("a gradient").eta;
    for (j, by_adjoint) in gradient.iter().enumerate() {
        let products = observed[0].slopes[j].iter().zip(&evaluation.loss_terms.by_values[0]);
        let expected: f64 = products.map(|(slope, by_value)| slope * by_value).sum();
        assert!((by_adjoint - expected).abs() < 1e-6 * expected.abs().max(1e-6), "{by_adjoint} {expected}");
    }
    let columns = problem.unknowns.iter().zip(&observed[0].slopes).map(|(unknown, slopes)| {
        let factor = unknown.theta_slope(unknown.eta_of(unknown.guess));
        slopes.iter().map(|slope| slope / factor).collect()
    });
    (columns.collect(), tables[0].coordinates.clone())
}

const TANK: &str = r#"
name = "tank"
[coordinates]
t = { range = [0.0, 10.0], time = true }
[unknown.a]
guess = 2.0
truth = 1.0
[unknown.t1]
guess = 4.3
truth = 5.0
bounds = [0.0, 10.0]
[equation.level]
holds = "h_t = if(t < t1, a, 0.5) - 0.2*h"
[condition.start]
at = { t = 0.0 }
holds = "h = 0"
[observation.gauge]
value = "h"
data = { synthetic = { grid = { t = 21 }, noise = 0.01 } }
"#;

/// h_t1 is (a - 0.5) exp(-0.2 (t - t1)) after t1, and nothing before.
#[test]
fn derivatives_by_a_switching_time_are_those_of_the_solution() {
    let (slopes, places) = slopes(&read(TANK));
    for (&t, (by_a, by_time)) in places[0].iter().zip(slopes[0].iter().zip(&slopes[1])) {
        let expected = if t < 4.3 { 0.0 } else { 1.5 * (-0.2 * (t - 4.3)).exp() };
        // Central differences over a thousandth of the time.
        assert!((by_time - expected).abs() < 1e-5, "{t}: {by_time} {expected}");
        let until = t.min(4.3);
        let expected = ((-0.2 * (t - until)).exp() - (-0.2 * t).exp()) / 0.2;
        assert!((by_a - expected).abs() < 1e-5, "{t}: {by_a} {expected}");
    }
}

/// u is sin(pi x) times what h is above, with the rate D pi².
#[test]
fn derivatives_by_the_end_of_a_source_are_those_of_the_solution() {
    let problem = read(
        r#"
name = "lamp"
[coordinates]
x = [0.0, 1.0]
t = { range = [0.0, 1.0], time = true }
[unknown.off]
guess = 0.4
truth = 0.5
[equation.heat]
holds = "u_t = 0.1*u_xx + if(t < off, 3, 0)*sin(pi*x)"
[condition.start]
at = { t = 0.0 }
holds = "u = 0"
[condition.ends]
at = { x = [0.0, 1.0] }
holds = "u = 0"
[observation.probe]
value = "u"
data = { synthetic = { grid = { x = 5, t = 11 }, noise = 0.01 } }
"#,
    );
    let (slopes, places) = slopes(&problem);
    for (i, by_time) in slopes[0].iter().enumerate() {
        let (x, t) = (places[0][i], places[1][i]);
        // The source ends where a datum is: a step of the scheme has either side.
        if (t - 0.4).abs() < 1e-9 {
            continue;
        }
        let after = if t < 0.4 { 0.0 } else { (-0.1 * PI * PI * (t - 0.4)).exp() };
        let expected = 3.0 * (PI * x).sin() * after;
        // Of second order in both meshes.
        assert!((by_time - expected).abs() < 0.01, "{x} {t}: {by_time} {expected}");
    }
}

/// The day is found from one that is a fifth off, and told with its error bar.
#[test]
fn a_switching_time_is_found() {
    let outcome = run(&read(TANK), &Job::default(), &mut Silent).expect("it runs");
    assert_eq!(outcome.solved_by, SolvedBy::ReferenceSolver);
    assert_eq!(outcome.verdict.colour, Colour::Green, "{:?}", outcome.verdict.reasons);
    for (number, truth) in outcome.unknowns.numbers.iter().zip([1.0, 5.0]) {
        let sd = number.sd.expect("an error bar");
        assert!(sd < 0.02 * truth && (number.estimate - truth).abs() < 3.5 * sd, "{number:?}");
    }
}
