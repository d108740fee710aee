//! Tables of times and values as known functions: what a pump did, what a logger wrote down.

use bilo::problem::{Overrides, Problem};
use bilo::reference::ReferenceSolver;

/// A problem beside a file `log.csv`.
fn problem(text: &str, log: &str) -> Problem {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("log.csv"), log).expect("a data file");
    Problem::from_toml("series.toml", text, folder.path(), &Overrides::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

const PUMP: &str = r#"
    name = "pump"
    [coordinates]
    t = { range = [0.0, 8.0], time = true }
    [given]
    pump = { file = "log.csv", of = ["t"], columns = { t = "hour", pump = "mg/h" }, missing = "skip", decimal = ",", interpolation = "previous" }
    [unknown.k]
    guess = 0.7
    truth = 0.7
    [equation.amount]
    holds = "C_t = pump - k*C"
    [condition.start]
    at = { t = 0.0 }
    holds = "C = 1"
    [observation.samples]
    value = "C"
    data = { synthetic = { grid = { t = 9 } } }
"#;

/// Rows in any order, one without a value, one before the start; commas before decimals. What was switched last holds on.
const PUMPED: &str = "hour;note;mg/h\n4;b;5\n-1;a;2\n1,5;a;0\n3;;NA\n4,5;c;0\n";

/// The amount and its derivative by k, piece by piece: C = p/k + (C0 - p/k) exp(-k s).
fn pumped(k: f64, t: f64) -> f64 {
    let pieces = [(0.0, 1.5, 2.0), (1.5, 4.0, 0.0), (4.0, 4.5, 5.0), (4.5, 8.0, 0.0)];
    pieces.iter().fold(1.0, |c, &(from, to, p)| {
        let s = (t.min(to) - from).max(0.0);
        p / k + (c - p / k) * (-k * s).exp()
    })
}

/// Steps end where the table jumps, so a method of fourth order keeps its order; 200 steps in eight hours give six digits.
#[test]
fn a_pump_is_followed_from_its_table() {
    let problem = problem(PUMP, PUMPED);
    let reference = ReferenceSolver::new(&problem).unwrap();
    assert!(reference.describe().contains("Runge-Kutta"), "marched: {}", reference.describe());
    let t = vec![0.0, 0.9, 1.5, 2.0, 4.0, 4.3, 4.5, 5.0, 8.0];
    let eta = problem.eta_of_guess();
    let solution = reference.solve(&eta).unwrap();
    let columns = vec![t.clone()];
    let found = solution.observe_with_slopes(&problem.observations[0].value, &columns).unwrap();
    let eta_slope =
        |k: f64| if problem.unknowns[0].transform == bilo::problem::Transform::Log { k } else { 1.0 };
    for (i, &t) in t.iter().enumerate() {
        assert!((found.values[i] - pumped(0.7, t)).abs() < 1e-6, "{t}: {}", found.values[i]);
        let slope = (pumped(0.7001, t) - pumped(0.6999, t)) / 2e-4 * eta_slope(0.7);
        assert!((found.slopes[0][i] - slope).abs() < 1e-5, "{t}: {} for {slope}", found.slopes[0][i]);
    }
}

/// u = t + (x² - 1)/2 has u = t at the wall, which a logger wrote down at odd times: second differences and linear values in time
/// have no error, so the solution is that up to rounding.
#[test]
fn a_wall_follows_its_logger() {
    let text = r#"
        name = "wall"
        [coordinates]
        x = [0.0, 1.0]
        t = { range = [0.0, 2.0], time = true }
        [given]
        wall = { file = "log.csv", of = ["t"] }
        [unknown.D]
        guess = 1.0
        truth = 1.0
        [equation.heat]
        holds = "u_t = D*u_xx"
        [condition.start]
        at = { t = 0.0 }
        holds = "u = (x^2 - 1)/2"
        [condition.middle]
        at = { x = 0.0 }
        holds = "u_x = 0"
        [condition.wall]
        at = { x = 1.0 }
        holds = "u = wall"
        [observation.all]
        value = "u - wall"
        data = { synthetic = { grid = { x = 3, t = 3 } } }
    "#;
    let problem = problem(text, "t,wall\n0,0\n0.3,0.3\n0.35,0.35\n1.1,1.1\n2.5,2.5\n");
    let solution = ReferenceSolver::new(&problem).unwrap();
    let solution = solution.solve(&problem.eta_of_guess()).unwrap();
    let columns = vec![vec![0.0, 0.5, 0.25, 1.0], vec![0.5, 0.77, 2.0, 1.3]];
    let found = solution.observe_with_slopes(&problem.observations[0].value, &columns).unwrap();
    for (i, &x) in columns[0].iter().enumerate() {
        assert!((found.values[i] - 0.5 * (x * x - 1.0)).abs() < 1e-9, "{x}: {}", found.values[i]);
    }
}
