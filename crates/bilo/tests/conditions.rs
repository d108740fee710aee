//! Textbook statements: equations and conditions without forms, points or states.

use bilo::data::observed_tables;
use bilo::observer::Silent;
use bilo::outcome::Outcome;
use bilo::problem::{
    Coordinate, Data, DataSpec, HeldBy, Layout, Overrides, Points, PointsSpec, Problem, Table, Transform,
    Unknown,
};
use bilo::reference::ReferenceSolver;
use bilo::{Job, run};
use std::path::Path;

fn read(text: &str) -> Problem {
    match Problem::from_toml("case", text, Path::new("."), &Overrides::default()) {
        Ok(problem) => problem,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// A problem of some conditions, `name: place: what holds`.
fn stated(coordinates: &str, unknowns: &str, equations: &[&str], conditions: &[&str]) -> Problem {
    let mut text = format!("name = \"case\"\n[coordinates]\n{coordinates}\n{unknowns}\n");
    for (number, equation) in equations.iter().enumerate() {
        text += &format!("[equation.e{number}]\nholds = \"{equation}\"\n");
    }
    for (number, condition) in conditions.iter().enumerate() {
        let (at, holds) = condition.split_once(": ").unwrap();
        text += &format!("[condition.c{number}]\nat = {{ {at} }}\nholds = \"{holds}\"\n");
    }
    let first = coordinates.split_whitespace().next().unwrap();
    let others = coordinates.lines().skip(1).map(|line| line.split_whitespace().next().unwrap());
    let counts: Vec<String> = std::iter::once(first).chain(others).map(|c| format!("{c} = 5")).collect();
    let counts = counts.join(", ");
    read(&format!(
        "{text}[observation.o]\nvalue = \"u\"\ndata = {{ synthetic = {{ grid = {{ {counts} }}, noise = 0.01 }} }}\n"
    ))
}

const X: &str = "x = [0.0, 1.0]";
const XT: &str = "x = [0.0, 1.0]\nt = { range = [0.0, 2.0], time = true }";
const XY: &str = "x = [0.0, 2.0]\ny = [0.0, 1.0]";
const T: &str = "t = { range = [1.0, 3.0], time = true }";
const D: &str = "[unknown.D]\nguess = 1.0\ntruth = 2.0\n";

/// What the form is, and which conditions are left to equations.
#[test]
fn forms_hold_what_they_can() {
    // Coordinates, equations, conditions; the form, and what it does not hold.
    type Case = (
        &'static str,
        &'static [&'static str],
        &'static [&'static str],
        &'static str,
        &'static [&'static str],
    );
    let cases: &[Case] = &[
        (X, &["D*u_xx = 1"], &["x = 0: u = 0", "x = 1: u = 0"], "net*x*(1 - x)", &[]),
        (X, &["D*u_xx = 1"], &["x = 0: u = 3", "x = 1: u = D"], "3*(1 - x) + D*x + net*x*(1 - x)", &[]),
        (X, &["D*u_xx = 1"], &["x = 0: u = 3", "x = 1: u_x = -u"], "3 + net*x", &["c1"]),
        (X, &["D*u_xx = 1"], &["x = [0, 1]: u = 20"], "20 + net*x*(1 - x)", &[]),
        (T, &["u_t = -D*u"], &["t = 1: u = 5"], "5 + net*(t - 1.0)/2.0", &[]),
        (
            T,
            &["u_tt = -D*u"],
            &["t = 1: u = 5", "t = 1: u_t = D"],
            "5 + D*(t - 1.0) + net*(t - 1.0)/2.0*(t - 1.0)/2.0",
            &[],
        ),
        (
            XT,
            &["u_t = D*u_xx"],
            &["t = 0: u = sin(pi*x)", "x = [0, 1]: u = 0"],
            "sin(pi*x) + net*x*(1 - x)*t/2.0",
            &[],
        ),
        // The wall jumps at the start: it wins, and the start is an equation.
        (
            XT,
            &["u_t = D*u_xx"],
            &["t = 0: u = 0", "x = 0: u = 1", "x = 1: u_x = 0"],
            "1 + net*x",
            &["c0", "c2"],
        ),
        // A wall that moves from where the start has it.
        (
            XT,
            &["u_t = D*u_xx"],
            &["t = 0: u = x", "x = 0: u = sin(t)"],
            "sin(t) + x - (sin((0.0))) + net*x*t/2.0",
            &[],
        ),
        (
            XY,
            &["D*lap(u) = 1"],
            &["x = [0, 2]: u = y", "y = 0: u = 0", "y = 1: u = 1"],
            "y + net*x/2.0*(1 - x/2.0)*y*(1 - y)",
            &[],
        ),
        // A lid that moves over walls that do not.
        (XY, &["D*lap(u) = 1"], &["x = [0, 2]: u = 0", "y = 1: u = 1"], "net*x/2.0*(1 - x/2.0)", &["c1"]),
        (XT, &["u_t = D*u_xx"], &["t = 0: u = if(x < 0.5, 1, 0)"], "net", &["c0"]),
    ];
    for (coordinates, equations, conditions, form, left) in cases {
        let problem = stated(coordinates, D, equations, conditions);
        assert_eq!(problem.states[0].form.text, *form, "{equations:?} {conditions:?}");
        let equations: Vec<&str> = problem.equations.iter().skip(1).map(|e| e.name.as_str()).collect();
        assert_eq!(equations, *left, "{conditions:?}");
        for condition in &problem.conditions {
            let equation = left.contains(&condition.name.as_str());
            assert_eq!(condition.held_by == HeldBy::Equation, equation, "{}", condition.name);
        }
    }
}

/// Points leave out where two faces with conditions meet: at the start of a wall, at corners of a plate.
#[test]
fn places_where_conditions_meet_are_left_out() {
    let walls = stated(XT, D, &["u_t = D*u_xx"], &["t = 0: u = 0", "x = [0, 1]: u_x = 0"]);
    let count =
        |problem: &Problem, e: usize| problem.equations[e].points.columns(problem, 0).unwrap()[0].len();
    assert_eq!((count(&walls, 0), count(&walls, 1)), (51 * 51 - 2, 2 * 50));
    let one = stated(XT, D, &["u_t = D*u_xx"], &["t = 0: u = 0"]);
    assert_eq!(count(&one, 0), 51 * 51);
}

/// Names that equations differentiate are states, in the order of the text; what is declared is not.
#[test]
fn states_are_what_equations_differentiate() {
    let unknowns = "[unknown.k_x]\nguess = 1.0\ntruth = 1.0\n";
    let text =
        stated(XT, unknowns, &["u_t = lap(u) - k_x*v", "d(v, t) = u - v"], &["t = 0: u = 1", "t = 0: v = 0"]);
    let names: Vec<&str> = text.states.iter().map(|state| state.name.as_str()).collect();
    assert_eq!(names, ["u", "v"]);
}

#[test]
fn the_builder_says_the_same() {
    let read = stated(XT, D, &["u_t = D*u_xx"], &["t = 0: u = sin(pi*x)", "x = 0: u = 0", "x = 1: u_x = -u"]);
    let built = Problem::builder("case")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::time("t", 0.0, 2.0))
        .unknown(Unknown::new("D", 1.0).truth(2.0))
        .holds("e0", "u_t = D*u_xx")
        .condition("c0", ("t", 0.0), "u = sin(pi*x)")
        .condition("c1", ("x", 0.0), "u = 0")
        .condition("c2", ("x", 1.0), "u_x = -u")
        .observation("o", "u", DataSpec::synthetic(PointsSpec::grid([("x", 5), ("t", 5)]), 0.01))
        .build()
        .unwrap();
    assert_eq!(read, built);
}

/// Residuals in SI units: u_t of a rod has (80/3600)², u_x at its ends (80/0.5)².
#[test]
fn weights_make_units_comparable() {
    let rod = "x = [0.0, 0.5]\nt = { range = [0.0, 3600.0], time = true }";
    let unknowns = "[unknown.alpha]\nguess = 2e-5\ntruth = 3e-5\n[unknown.T0]\nguess = 80.0\ntruth = 90.0\n";
    let problem = stated(
        rod,
        unknowns,
        &["u_t = alpha*u_xx"],
        &["t = 0: u = T0", "x = 0: u_x = 0", "x = 0.5: u_x = -2*(u - 20)"],
    );
    let weights: Vec<f64> = problem.equations.iter().map(|equation| equation.weight).collect();
    let expected = [1.0, (0.5_f64 / 3600.0).powi(2), (0.5_f64 / 3600.0).powi(2)];
    for (found, expected) in weights.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{weights:?}");
    }
}

/// Factors of the highest derivative, and numbers of which only the square matters, stay positive; rates do not.
#[test]
fn signs_are_kept_where_they_mean_nothing() {
    let unknowns = "[unknown.D]\nguess = 1e-3\ntruth = 2e-3\n[unknown.c]\nguess = 2.0\ntruth = 1.0\n[unknown.r]\nguess = 1.0\ntruth = 1.0\n";
    let equation = ["u_t = D*u_xx + c^2*u_x - r*u"];
    let conditions = ["t = 0: u = sin(pi*x)", "x = [0, 1]: u = 0"];
    let problem = stated(XT, unknowns, &equation, &conditions);
    let moved: Vec<(Transform, f64)> = problem.unknowns.iter().map(|u| (u.transform, u.scale)).collect();
    assert_eq!(moved, [(Transform::Log, 1e-3), (Transform::Log, 1.0), (Transform::Identity, 1.0)]);
    let signed = unknowns.replace("guess = 1e-3", "signed = true\nguess = 1e-3");
    assert_eq!(stated(XT, &signed, &equation, &conditions).unknowns[0].transform, Transform::Identity);
    let fixed = unknowns.replace("guess = 2.0", "fixed = true\nguess = 2.0");
    let fixed = stated(XT, &fixed, &equation, &conditions);
    assert_eq!(fixed.unknown_names(), ["D", "r"]);
    assert!(fixed.constants.iter().any(|constant| constant.name == "c" && constant.value == 2.0));
}

/// Of two numbers whose signs mean nothing but together, the first stays positive and the other follows the data.
#[test]
fn one_sign_of_two_is_a_convention() {
    let unknowns = "[unknown.k]\nguess = 2.0\ntruth = 2.0\n[unknown.b]\nguess = 0.5\ntruth = 0.5\n[unknown.r]\nguess = 1.0\ntruth = 1.0\n";
    let equation = ["u_t = u_xx + k^2*u_x - k*b*u - r*u"];
    let conditions = ["t = 0: u = sin(pi*x)", "x = [0, 1]: u = 0"];
    let moved = |equation: &[&str]| -> Vec<Transform> {
        stated(XT, unknowns, equation, &conditions).unknowns.iter().map(|u| u.transform).collect()
    };
    assert_eq!(moved(&equation), [Transform::Log, Transform::Identity, Transform::Identity]);
    let told_apart = ["u_t = u_xx + k^2*u_x - k*b*u - b*r*u"];
    assert_eq!(moved(&told_apart), [Transform::Identity; 3]);
}

fn solved(problem: &Problem) -> Outcome {
    run(problem, &Job::default(), &mut Silent).expect("it runs")
}

/// A text and what is written in its place.
type Edit = (&'static str, &'static str);

/// Shipped problems without forms, points and states come to the same answer on the same data, within a tenth of an sd.
#[test]
fn restated_problems_have_the_same_answer() {
    let cases: [(&str, &[Edit]); 4] = [
        (
            "fisher-kpp",
            &[
                (
                    "residual = \"u_t - 0.01*D*u_xx - rho*u*(1-u)\"",
                    "holds = \"u_t = 0.01*D*u_xx + rho*u*(1-u)\"",
                ),
                (
                    "[state.u]\nform = \"0.5*sin(pi*x)^2 + net*x*(1-x)*t\"",
                    "[condition.a]\nat = { t = 0.0 }\nholds = \"u = 0.5*sin(pi*x)^2\"\n[condition.b]\nat = { x = [0, 1] }\nholds = \"u = 0\"",
                ),
                ("noise = 0.0 ", "noise = 0.01 "),
            ],
        ),
        (
            "poisson-scalar",
            &[
                ("residual = \"D*u_xx + pi^2*sin(pi*x)\"", "holds = \"-D*u_xx = pi^2*sin(pi*x)\""),
                (
                    "[state.u]\nform  = \"net*x*(1-x)\"\ntruth = \"sin(pi*x)/D\"",
                    "[condition.b]\nat = { x = [0, 1] }\nholds = \"u = 0\"",
                ),
                ("{ x = 51 }", "{ x = 51 }, noise = 0.01"),
            ],
        ),
        (
            "two-species",
            &[
                ("residual = \"u_t - D*u_xx + k*u\"", "holds = \"u_t = D*u_xx - k*u\""),
                ("residual = \"v_t - D*v_xx - k*u\"", "holds = \"v_t = D*v_xx + k*u\""),
                (
                    "[state.u]\nform  = \"sin(pi*x) + net*x*(1-x)*t\"\ntruth = \"exp(-(D*pi^2 + k)*t)*sin(pi*x)\"",
                    "[condition.a]\nat = { t = 0.0 }\nholds = \"u = sin(pi*x)\"\n[condition.b]\nat = { x = [0, 1] }\nholds = \"u = 0\"",
                ),
                (
                    "[state.v]\nform  = \"net*x*(1-x)*t\"\ntruth = \"exp(-D*pi^2*t)*(1 - exp(-k*t))*sin(pi*x)\"",
                    "[condition.c]\nat = { t = 0.0 }\nholds = \"v = 0\"\n[condition.d]\nat = { x = [0, 1] }\nholds = \"v = 0\"",
                ),
                ("scale = 0.1\n", ""),
                ("{ x = 31, t = 31 } } }\n\n[train", "{ x = 31, t = 31 }, noise = 0.005 } }\n\n[train"),
            ],
        ),
        (
            "advection-diffusion",
            &[
                ("residual = \"u_t + c*u_x - nu*u_xx - s\"", "holds = \"u_t + c*u_x = nu*u_xx + s\""),
                (
                    "[state.u]\nform  = \"sin(2*pi*x) + net*t\"\ntruth = \"s*t + exp(-4*pi^2*nu*t)*sin(2*pi*(x - c*t))\"",
                    "[condition.a]\nat = { t = 0.0 }\nholds = \"u = sin(2*pi*x)\"",
                ),
                ("scale = 0.01\n", ""),
                ("t = 17 }", "t = 17 }, noise = 0.02"),
            ],
        ),
    ];
    for (name, edits) in cases {
        let noise = edits.last().unwrap();
        same_answer(name, &edits[..edits.len() - 1], &[*noise]);
    }
}

/// A shipped problem and what it is with other words have one answer on the same data: numbers, and functions at their nodes, within
/// a tenth of an sd; functions without error bars within a thousandth. The same changes of data are made to both.
fn same_answer(name: &str, edits: &[Edit], of_both: &[Edit]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    let edited = |mut text: String, edits: &[Edit]| {
        for (from, to) in edits {
            assert!(text.contains(from), "{name}: {from}");
            text = text.replace(from, to);
        }
        text
    };
    let text = edited(std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap(), of_both);
    let restated = edited(text.clone(), edits);
    let points = |line: &&str| !line.starts_with("points ");
    let restated = restated.lines().filter(points).collect::<Vec<_>>().join("\n");
    let (mut by_hand, mut textbook) = (read(&text), read(&restated));
    for (number, table) in observed_tables(&by_hand, 0).unwrap().into_iter().enumerate() {
        for problem in [&mut by_hand, &mut textbook] {
            let observation = &mut problem.observations[number];
            let sigma = observation.stated_noise().map(|noise| vec![noise; table.values.len()]);
            if !matches!(observation.data, Data::Drawn) {
                observation.data = Data::Table(Table { sigma, ..table.clone() });
            }
        }
    }
    let (hand, book) = (solved(&by_hand), solved(&textbook));
    for (a, b) in hand.unknowns.numbers.iter().zip(&book.unknowns.numbers) {
        // Of data without noise estimates are the solvers' alone.
        let scale = a.sd.filter(|sd| *sd > 0.0).unwrap_or(1e-3);
        let distance = (a.estimate - b.estimate).abs() / scale;
        assert!(distance < 0.1, "{name}: {} {} {}, {distance} sd", a.name, a.estimate, b.estimate);
    }
    for function in &hand.unknowns.functions {
        let values = |outcome: &Outcome, suffix: &str| {
            let name = format!("{}{suffix}", function.name);
            outcome.fields.arrays.iter().find(|field| field.name == name).map(|field| field.values.clone())
        };
        let (a, b) = (values(&hand, "").unwrap(), values(&book, "").unwrap());
        let size = a.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
        let sd = values(&hand, "_sd").unwrap_or_else(|| vec![1e-2 * size; a.len()]);
        for ((a, b), sd) in a.iter().zip(&b).zip(&sd) {
            assert!((a - b).abs() <= 0.1 * sd + 1e-3 * size, "{name}: {} {a} {b} {sd}", function.name);
        }
    }
}

const ENDS: &str = "[condition.ends]\nat = { x = [0, 1] }\nholds = \"u = 0\"";

/// Functions and sources at a place: forms are chosen, equations are written as in a textbook.
#[test]
fn restated_problems_of_functions_have_the_same_answer() {
    let reaction = [
        ("residual = \"0.01*u_xx - k*u - sin(2*pi*x)\"", "holds = \"0.01*u_xx = k*u + sin(2*pi*x)\""),
        ("[state.u]\nform = \"net*x*(1-x)\"", ENDS),
    ];
    let burgers = [
        (
            "residual = \"u_t + 0.2*u*u_x\"\ntrained  = \"u_t + 0.2*u*u_x - 5e-4*u_xx\"",
            "holds = \"u_t + 0.2*u*u_x = 0\"",
        ),
        (
            "[state.u]\nform = \"net*x*(1-x)*t + f\"",
            "[condition.start]\nat = { t = 0 }\nholds = \"u = f\"\n[condition.ends]\nat = { x = [0, 1] }\nholds = \"u = 0\"",
        ),
    ];
    let poisson = [
        ("residual = \"-div(D*grad(u)) - pi^2*sin(pi*x)\"", "holds = \"-div(D*grad(u)) = pi^2*sin(pi*x)\""),
        ("[state.u]\nform = \"net*x*(1-x)\"", ENDS),
    ];
    let heat = [("residual = \"u_t - 0.01*u_xx\"", "holds = \"u_t = 0.01*u_xx\""), burgers[1]];
    let conductivity = [
        ("residual = \"u_t - div(k*grad(u))\"", "holds = \"u_t = div(k*grad(u))\""),
        (
            "[state.u]\nform = \"x^3*(10 - 15*x + 6*x^2) + net*x*(1-x)*t\"",
            "[condition.start]\nat = { t = 0 }\nholds = \"u = x^3*(10 - 15*x + 6*x^2)\"\n[condition.ends]\nat = { x = [0, 1] }\nholds = \"u = x\"",
        ),
    ];
    let toy = [
        ("residual = \"y_xx - 2\"", "holds = \"y_xx = 2\""),
        (
            "[state.y]\nform  = \"th0*(1-x) + th1*x + net*x*(1-x)\"\ntruth = \"th0*(1-x) + th1*x - x*(1-x)\"",
            "[condition.left]\nat = { x = 0 }\nholds = \"y = th0\"\n[condition.right]\nat = { x = 1 }\nholds = \"y = th1\"",
        ),
    ];
    let source = [
        (
            "residual = \"u_xx - mu*u\"\npoints   = { grid = { x = 101 }, where = \"x != z\" }",
            "holds = \"u_xx = mu*u\"",
        ),
        ("[state.u]\nform  = \"50*net^2*x*(1-x)\"", ENDS),
        (
            "[equation.jump]\nresidual = \"u_phi + lambda/2\"\npoints   = { at = { x = \"z\" } }",
            "[condition.jump]\nat = { x = \"z\" }\nholds = \"u_phi = -lambda/2\"",
        ),
    ];
    let cases: [(&str, &[Edit]); 11] = [
        ("poisson-variable", &poisson),
        ("heat-initial", &heat),
        ("reaction-coefficient", &reaction),
        ("reaction-coefficient-8", &reaction),
        ("conductivity", &conductivity),
        ("burgers-initial", &burgers),
        ("burgers-initial-2", &burgers),
        ("bpn-toy", &toy),
        ("point-process", &source),
        ("point-process-10", &source),
        ("point-process-position", &source),
    ];
    cases.iter().for_each(|(name, edits)| same_answer(name, edits, &[]));
}

/// A string: u = sin(pi x) cos(pi c t); a pendulum without friction for small angles: p = 0.01 cos(w t).
#[test]
fn second_order_in_time_has_its_exact_solutions() {
    let string = stated(
        XT,
        "[unknown.c]\nguess = 1.0\ntruth = 1.0\n",
        &["u_tt = c^2*u_xx"],
        &["t = 0: u = sin(pi*x)", "t = 0: u_t = 0", "x = [0, 1]: u = 0"],
    );
    let pi = std::f64::consts::PI;
    let reference = ReferenceSolver::new(&string).unwrap();
    let solution = reference.solve(&string.eta_of_guess()).unwrap();
    let (x, t) = (vec![0.3, 0.5, 0.8], vec![0.7, 1.3, 2.0]);
    let found = solution.observe(&string.observations[0].value, &[x.clone(), t.clone()]).unwrap();
    for ((x, t), found) in x.iter().zip(&t).zip(found) {
        // Second order on 800 cells and steps.
        assert!((found - (pi * x).sin() * (pi * t).cos()).abs() < 1e-4, "{found}");
    }
    let swing = stated(
        T,
        "[unknown.w]\nguess = 2.0\ntruth = 2.0\n",
        &["u_tt = -w^2*u"],
        &["t = 1: u = 0.5", "t = 1: u_t = 0"],
    );
    let reference = ReferenceSolver::new(&swing).unwrap();
    let solution = reference.solve(&swing.eta_of_guess()).unwrap();
    let found = solution.observe(&swing.observations[0].value, &[vec![2.0, 3.0]]).unwrap();
    for (t, found) in [2.0_f64, 3.0].iter().zip(found) {
        assert!((found - 0.5 * (2.0 * (t - 1.0)).cos()).abs() < 1e-5, "{found}");
    }
    assert!(reference.describe().contains("Runge-Kutta"), "{}", reference.describe());
}

/// Robertson's reaction, whose rates span eleven decades, against the values of the documentation of LSODE (Hindmarsh 1983).
#[test]
fn stiff_equations_are_marched_with_steps_of_their_own() {
    let stiff = stated(
        "t = { range = [0.0, 4000.0], time = true }",
        "[unknown.k]\nguess = 0.04\ntruth = 0.05\n",
        &["u_t = -k*u + 1e4*v*w", "v_t = k*u - 1e4*v*w - 3e7*v^2", "w_t = 3e7*v^2"],
        &["t = 0: u = 1", "t = 0: v = 0", "t = 0: w = 0"],
    );
    let reference = ReferenceSolver::new(&stiff).unwrap();
    let solution = reference.solve(&stiff.eta_of_guess()).unwrap();
    let times = vec![0.4, 4.0, 40.0, 400.0, 4000.0];
    let expected = [
        [9.8517e-1, 9.0551e-1, 7.1583e-1, 4.5052e-1, 1.8320e-1],
        [3.3864e-5, 2.2404e-5, 9.1851e-6, 3.2228e-6, 8.9424e-7],
        [1.4794e-2, 9.4465e-2, 2.8416e-1, 5.4948e-1, 8.1680e-1],
    ];
    for (state, expected) in expected.iter().enumerate() {
        for (found, expected) in solution.state(state, std::slice::from_ref(&times)).iter().zip(expected) {
            // The digits that are printed there.
            assert!((found / expected - 1.0).abs() < 1e-4, "state {state}: {found}, not {expected}");
        }
    }
}

/// A rod in SI units whose end cools, and an oscillation of which a dictionary of few features sees nothing: the default
/// comes to the truth within its error bars, green.
#[test]
fn the_default_finds_another_way_where_a_dictionary_fails() {
    let rod = "x = [0.0, 0.5]\nt = { range = [0.0, 3600.0], time = true }";
    let unknowns = "[unknown.alpha]\nguess = 2e-5\ntruth = 3e-5\n[unknown.h]\nguess = 2.0\ntruth = 5.0\n";
    let rod = stated(
        rod,
        unknowns,
        &["u_t = alpha*u_xx"],
        &["t = 0: u = 90", "x = 0: u_x = 0", "x = 0.5: u_x = -h*(u - 20)"],
    );
    let mut swing = stated(
        "t = { range = [0.0, 30.0], time = true }",
        "[unknown.w]\nguess = 3.0\ntruth = 3.02\n",
        &["u_tt = -w^2*u"],
        &["t = 0: u = 0.5", "t = 0: u_t = 0"],
    );
    // Often enough to tell the frequency from its images.
    let points = Points::laid_out(Layout::Grid(vec![(0, 80)]));
    swing.observations[0].data = Data::Synthetic { points, noise: 0.01, made: None };
    for problem in [rod, swing] {
        let outcome = solved(&problem);
        assert_eq!(outcome.verdict.colour, bilo::outcome::Colour::Green, "{:?}", outcome.verdict);
        for number in &outcome.unknowns.numbers {
            let distance = (number.estimate - number.truth.unwrap()).abs() / number.sd.unwrap();
            assert!(distance < 4.0, "{number:?}");
        }
    }
}

/// Diffusion out of a sphere as a textbook has it, 2/r at r = 0 and all: u = sin(pi r)/r exp(-D pi² t).
#[test]
fn equations_hold_where_they_have_a_value() {
    let sphere = stated(
        "r = [0.0, 1.0]\nt = { range = [0.0, 0.2], time = true }",
        D,
        &["u_t = D*(u_rr + 2/r*u_r)"],
        &["t = 0: u = if(r > 0, sin(pi*r)/r, pi)", "r = 0: u_r = 0", "r = 1: u = 0"],
    );
    let pi = std::f64::consts::PI;
    let reference = ReferenceSolver::new(&sphere).unwrap();
    let solution = reference.solve(&sphere.eta_of_guess()).unwrap();
    let (r, t) = (vec![0.0, 0.3, 0.7], vec![0.1, 0.2, 0.05]);
    let found = solution.observe(&sphere.observations[0].value, &[r.clone(), t.clone()]).unwrap();
    for ((r, t), found) in r.iter().zip(&t).zip(found) {
        let shape = if *r > 0.0 { (pi * r).sin() / r } else { pi };
        // Second order on 800 cells and steps.
        assert!((found - shape * (-pi * pi * t).exp()).abs() < 2e-5, "{found} at {r}, {t}");
    }
    // The default, which is a dictionary here.
    let outcome = solved(&sphere);
    let number = &outcome.unknowns.numbers[0];
    assert!((number.estimate - 2.0).abs() < 4.0 * number.sd.unwrap(), "{number:?}");
    assert_eq!(outcome.verdict.colour, bilo::outcome::Colour::Green, "{:?}", outcome.verdict);
}

/// A water table, whose equation says nothing of itself where it is dry: D u u_x = q, so that u² = 18² + 2 q (x - 1)/D. Newton's
/// iteration begins at what the data say that it is about.
#[test]
fn steady_equations_that_degenerate_at_zero_are_solved_from_the_data_on() {
    let mut table = stated(X, D, &["d(D*u*u_x, x) = 0"], &["x = 0: D*u*u_x = 30", "x = 1: u = 18"]);
    let wells = Table { coordinates: vec![vec![0.2, 0.8]], values: vec![16.0, 17.5], sigma: None };
    table.observations[0].data = Data::Table(wells);
    let reference = ReferenceSolver::new(&table).unwrap();
    let solution = reference.solve(&table.eta_of_guess()).unwrap();
    let x = vec![0.0, 0.4, 1.0];
    for (x, found) in x.iter().zip(solution.state(0, std::slice::from_ref(&x))) {
        let exact = (18.0_f64.powi(2) + 60.0 * (x - 1.0)).sqrt();
        // Second order on 800 cells.
        assert!((found - exact).abs() < 1e-5, "{found}, not {exact}, at {x}");
    }
}

/// Differences of fourth order over 800 cells would be rounding.
#[test]
fn beams_have_fewer_cells() {
    let ends = ["x = [0, 1]: u = 0", "x = [0, 1]: u_xx = 0"];
    assert_eq!(stated(X, D, &["D*u_xxxx = 1"], &ends).classical.cells, [400]);
    assert_eq!(stated(X, D, &["D*u_xx = 1"], &ends[..1]).classical.cells, [800]);
}

/// Where coefficients jump there is a node, on the grid of half as many cells too, if a moderate number of cells can do that.
#[test]
fn cells_end_where_coefficients_jump() {
    let ends = ["x = 0: u = 0", "x = 1: u = 1"];
    let cells = |place: &str| {
        let equation = format!("d(if(x < {place}, 1, 5)*D*u_x, x) = 1");
        stated(X, D, &[&equation], &ends).classical.cells
    };
    assert_eq!(cells("0.3"), [800]);
    // Multiples of 14, and of 66 for thirds and elevenths.
    assert_eq!(cells("1/7"), [812]);
    let both = "d(if(x < 1/3, 1, if(x < 5/11, 2, 5))*D*u_x, x) = 1";
    assert_eq!(stated(X, D, &[both], &ends).classical.cells, [858]);
    assert_eq!(cells("sqrt(0.5)"), [800], "no number of cells does it");
    assert_eq!(cells("D"), [800], "an unknown place moves");
}

/// Well-posed statements have a reference solver; of the others it says what is missing or too much.
#[test]
fn conditions_are_counted() {
    let u = |order: &str| format!("u_t = D*{order}");
    let heat = u("u_xx");
    let (kdv, beam) = ("u_t = -D*u_xxx".to_owned(), "u_tt = -D*u_xxxx".to_owned());
    let start = "t = 0: u = sin(pi*x)^2";
    let cases: &[(&str, &[&str], &[&str], &str)] = &[
        (X, &["D*u_xx = 1"], &["x = 0: u = 0", "x = 1: u = 0"], ""),
        (X, &["D*u_xx = 1"], &["x = 0: u = 0", "x = 0: u_x = 1"], ""),
        (X, &["D*u_xx = 1"], &["x = 0: u = 0"], "u needs one condition at x = 1"),
        (X, &["D*u_xx = 1"], &["x = 1: u_x = u"], "u needs one condition at x = 0"),
        (
            X,
            &["D*u_xx = 1"],
            &["x = 0: u = 0", "x = 1: u = 0", "x = 1: u_x = 0"],
            "u has three conditions along x, where its equation takes two",
        ),
        (X, &["D*u_x = 1"], &["x = 0: u = 0"], ""),
        (X, &["D*u_x = 1"], &[], "u needs one condition at x = 0 or x = 1, where it flows in"),
        (X, &["D*u_xxxx = 1"], &["x = [0, 1]: u = 0", "x = [0, 1]: u_xx = 0"], ""),
        (
            X,
            &["D*u_xxxx = 1"],
            &["x = [0, 1]: u = 0"],
            "u needs one condition at x = 0, and u needs one condition at x = 1",
        ),
        (XT, &[&heat], &[start, "x = [0, 1]: u = 0"], ""),
        (XT, &[&heat], &["x = [0, 1]: u = 0"], "the state `u` has no initial value"),
        (XT, &[&heat], &[start, "t = 0: u = 0", "x = [0, 1]: u = 0"], "u has two initial values"),
        (XT, &[&heat], &[start], "u needs one condition at x = 0, and u needs one condition at x = 1"),
        (XT, &["u_tt = D*u_xx"], &[start, "x = [0, 1]: u = 0"], "the state `u` has no initial rate `u_t`"),
        (XT, &[&kdv], &[start, "x = [0, 1]: u = 0", "x = 1: u_x = 0"], ""),
        (XT, &[&kdv], &[start, "x = [0, 1]: u = 0"], "u needs three conditions along x, found two"),
        (
            XT,
            &[&beam],
            &[start, "t = 0: u_t = 0", "x = [0, 1]: u = 0", "x = 1: u_x = 0"],
            "u needs one condition at x = 0",
        ),
        (XY, &["D*lap(u) = 1"], &["x = [0, 2]: u = 0", "y = 0: u = 0"], "u needs one condition at y = 1"),
        (XT, &["u_t = D*u_xx - v", "v_t = u - v"], &[start, "t = 0: v = 0", "x = [0, 1]: u = 0"], ""),
        (
            XT,
            &["u_t = D*u_xx - v", "v_t = v_xx + u"],
            &[start, "t = 0: v = 0", "x = [0, 1]: u = 0"],
            "v needs one condition at x = 0, and v needs one condition at x = 1",
        ),
        (
            XT,
            &["u_t = D*u_xx - v", "v_t = u - v"],
            &[start, "t = 0: v = 0", "x = [0, 1]: u = 0", "x = 0: v = 0"],
            "v has one condition along x, and no derivative along it asks for any",
        ),
        (T, &["u_t = -D*u"], &["t = 1: u = 1"], ""),
        // Real and imaginary part, each of whose derivatives are in the rate of the other.
        (
            XT,
            &["u_t = -D*v_xx", "v_t = D*u_xx"],
            &[start, "t = 0: v = 0", "x = [0, 1]: u = 0", "x = [0, 1]: v = 0"],
            "",
        ),
        (
            XT,
            &["u_t = -D*v_xx", "v_t = D*u_xx"],
            &[start, "t = 0: v = 0", "x = [0, 1]: u = 0"],
            "v needs one condition at x = 0, and v needs one condition at x = 1",
        ),
    ];
    for (coordinates, equations, conditions, expected) in cases {
        let problem = stated(coordinates, D, equations, conditions);
        let found = ReferenceSolver::new(&problem).err().map_or(String::new(), |error| error.headline());
        assert_eq!(found, *expected, "{equations:?} {conditions:?}");
    }
}
