//! Unknown functions of a state: k(u) in the reference solver, in the adjoint method and in BiLO.

use crate::common;

use bilo::examine::examine;
use bilo::observer::Silent;
use bilo::outcome::{Outcome, Stop};
use bilo::problem::{
    Coordinate, DataSpec, FunctionSpec, GradientMode, KnownSpec, Names, Overrides, PointsSpec, Problem,
    RandomField, RegulariserKind, Unknown,
};
use bilo::reference::ReferenceSolver;
use bilo::theta::Theta;
use bilo::{Job, run};
use common::assert_gradient;
use std::path::Path;

const CONDUCTIVITY: &str = include_str!("../../../problems/conductivity.toml");

fn shipped(set: &[&str]) -> Problem {
    let overrides = Overrides::of(set.iter().copied());
    Problem::from_toml("conductivity", CONDUCTIVITY, Path::new("."), &overrides).expect("a shipped problem")
}

/// (k(u) u')' = 0 with u(0) = 0 and u(1) = 1, so that with K' = k (Kirchhoff's transform)
/// K(u(x)) = K(0) + (K(1) - K(0)) x.
fn steady(truth: impl Into<KnownSpec>, cells: usize, nodes: usize) -> Problem {
    with_exact(truth, cells, nodes, None)
}

/// The same with the solution stated.
fn with_exact(truth: impl Into<KnownSpec>, cells: usize, nodes: usize, exact: Option<&str>) -> Problem {
    let data = DataSpec::synthetic(PointsSpec::grid([("x", 5)]), 0.0);
    let form = "x + net*x*(1-x)";
    let builder = Problem::builder("steady")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .unknown_function(FunctionSpec::new("k", ["u"], "1").range(0.0, 1.0).truth(truth).nodes([nodes]))
        .equation("balance", "div(k*grad(u))", PointsSpec::grid([("x", 11)]))
        .observation("values", "u", data)
        .set(format!("classical.cells={cells}"));
    let builder = match exact {
        Some(exact) => builder.known_state("u", form, exact),
        None => builder.state("u", form),
    };
    builder.build().expect("a valid problem")
}

/// A stated solution is held against the equation with the stated k at that solution.
#[test]
fn the_check_knows_whether_a_stated_solution_satisfies_the_equation() {
    let examine = |exact| examine(&with_exact("1 + u", 50, 6, Some(exact)));
    assert_eq!(examine("sqrt(1 + 3*x) - 1").unwrap().warnings, Vec::<String>::new());
    assert!(examine("x").is_err(), "u = x is the solution for constant k only");
}

/// The truth on the nodes of the function's grid.
fn truth_on_nodes(problem: &Problem) -> Theta {
    let function = &problem.functions[0];
    let values = function.on_nodes(problem, function.truth.as_ref().unwrap()).unwrap();
    Theta { eta: vec![], functions: vec![values] }
}

/// Largest distance from an exact solution at the nodes of a grid of so many cells.
fn distance(found: impl Fn(&[Vec<f64>]) -> Vec<f64>, exact: impl Fn(f64) -> f64, cells: usize) -> f64 {
    let x: Vec<f64> = (0..=cells).map(|i| i as f64 / cells as f64).collect();
    let u = found(std::slice::from_ref(&x));
    x.iter().zip(u).fold(0.0_f64, |worst, (&x, u)| worst.max((u - exact(x)).abs()))
}

/// k = 1 + u gives u = sqrt(1 + 3 x) - 1. With k at the mean of two nodes the flux between them is the
/// difference of K exactly, and the polygon through the values of a linear k is k: up to rounding, by the
/// formula, by values at nodes and by a table of two values, which is no formula.
#[test]
fn a_linear_conductivity_has_the_solution_of_kirchhoffs_transform() {
    let exact = |x: f64| (1.0 + 3.0 * x).sqrt() - 1.0;
    let table = KnownSpec::Grid(vec![vec![0.0, 1.0]], vec![1.0, 2.0]);
    for truth in [KnownSpec::from("1 + u"), table] {
        let problem = steady(truth, 20, 6);
        let reference = ReferenceSolver::new(&problem).unwrap();
        let stated = reference.solve_truth(&problem).unwrap().expect("a truth").unwrap();
        let nodal = reference.solve(truth_on_nodes(&problem)).unwrap();
        for solution in [stated, nodal] {
            let error = distance(|columns| solution.state(0, columns), exact, 20);
            assert!(error < 1e-12, "{error:.1e}");
        }
    }
}

/// k = exp(u) gives u = log(1 + (e - 1) x), which finite differences find with second order: twice as many
/// cells, a quarter of the error.
#[test]
fn a_conductivity_by_a_formula_is_solved_with_second_order() {
    let exact = |x: f64| (1.0 + (1.0_f64.exp() - 1.0) * x).ln();
    let error = |cells: usize| {
        let problem = steady("exp(u)", cells, 6);
        let reference = ReferenceSolver::new(&problem).unwrap();
        let solution = reference.solve_truth(&problem).unwrap().expect("a truth").unwrap();
        distance(|columns| solution.state(0, columns), exact, cells)
    };
    let ratio = error(20) / error(40);
    assert!((3.8..4.2).contains(&ratio), "{ratio}");
}

/// k = 1 + u² gives u + u³/3 = 4x/3, solved here by Newton's method. Values at nodes make k off by its
/// curvature times the square of their distance: four times less on twice as many.
#[test]
fn values_at_nodes_give_the_solution_with_second_order_in_their_distance() {
    let step = |x: f64, u: f64| u - (u + u.powi(3) / 3.0 - 4.0 * x / 3.0) / (1.0 + u * u);
    let exact = |x: f64| (0..20).fold(x, |u, _| step(x, u));
    let error = |nodes: usize| {
        let problem = steady("1 + u^2", 400, nodes);
        let reference = ReferenceSolver::new(&problem).unwrap();
        let solution = reference.solve(truth_on_nodes(&problem)).unwrap();
        distance(|columns| solution.state(0, columns), exact, 400)
    };
    let ratio = error(6) / error(11);
    assert!((3.0..5.0).contains(&ratio), "{ratio}");
}

/// A drawn truth is a function on the range of the state like any other.
#[test]
fn a_truth_may_be_drawn_over_the_values_of_a_state() {
    let field = RandomField { sd: 0.3, length: 0.5, seed: 2 };
    let problem = steady(KnownSpec::Random(field, "exp(field)".into()), 50, 21);
    let reference = ReferenceSolver::new(&problem).unwrap();
    let stated = reference.solve_truth(&problem).unwrap().expect("a truth").unwrap();
    let nodal = reference.solve(truth_on_nodes(&problem)).unwrap();
    let columns = vec![vec![0.25, 0.5, 0.75]];
    let both = stated.state(0, &columns).into_iter().zip(nodal.state(0, &columns));
    // Both take it at the nodes.
    both.for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} and {b}"));
}

/// k(u) = 0.3 for every u is the heat equation with the number 0.3: the same differences in another order.
#[test]
fn a_constant_function_of_a_state_is_a_number() {
    let of_state = shipped(&["classical.cells=40", "classical.steps=20"]);
    let of_number = Problem::builder("number")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::time("t", 0.0, 0.5))
        .unknown(Unknown::new("k", 0.3).truth(0.3))
        .state("u", &of_state.states[0].form.text)
        .equation("heat", "u_t - k*lap(u)", PointsSpec::grid([("x", 11), ("t", 11)]))
        .observation("probes", "u", DataSpec::synthetic(PointsSpec::grid([("x", 3), ("t", 3)]), 0.0))
        .set("classical.cells=40")
        .set("classical.steps=20")
        .build()
        .expect("a valid problem");
    let columns = vec![vec![0.1, 0.3, 0.5, 0.7, 0.9], vec![0.1, 0.2, 0.3, 0.4, 0.5]];
    let (a, b) = (ReferenceSolver::new(&of_state).unwrap(), ReferenceSolver::new(&of_number).unwrap());
    let theta = Theta { eta: vec![], functions: vec![vec![0.3; 21]] };
    let (a, b) = (a.solve(&theta).unwrap(), b.solve(&[0.3]).unwrap());
    let both = a.state(0, &columns).into_iter().zip(b.state(0, &columns));
    both.for_each(|(a, b)| assert!((a - b).abs() < 1e-11, "{a} and {b}"));
}

/// A number, a function of a state, which stands in the equation with its slope and in the observation, and
/// a function of a coordinate.
fn several() -> Problem {
    Problem::builder("several")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::time("t", 0.0, 0.3))
        .unknown(Unknown::new("c", 1.0).truth(1.5).log())
        .unknown_function(
            FunctionSpec::new("k", ["u"], "0.3 + 0.1*u")
                .range(0.0, 1.0)
                .form("softplus(net) + 0.1*u")
                .truth("0.1 + 0.5*u^2")
                .nodes([8])
                .modes([4])
                .regularise(RegulariserKind::H1, 1e-3),
        )
        .unknown_function(FunctionSpec::new("f", ["x"], "1 + x").truth("1").nodes([5]).modes([3]))
        .state("u", "x^3*(10 - 15*x + 6*x^2) + net*x*(1-x)*t")
        .equation(
            "heat",
            "u_t - k*u_xx - k_u*u_x^2 + c*f*u*(1 - u)",
            PointsSpec::grid([("x", 11), ("t", 11)]),
        )
        .observation("probes", "u + 0.1*k", DataSpec::synthetic(PointsSpec::grid([("x", 6), ("t", 4)]), 0.01))
        .set("classical.cells=40")
        .set("classical.steps=20")
        .build()
        .expect("a valid problem")
}

/// By every variable. The slope of k has kinks in the middle of its cells, which the values of u pass as
/// variables move: the differences are off by about the step, times the part of the values that do.
#[test]
fn gradients_agree_with_central_differences() {
    let coarse = shipped(&["classical.cells=40", "classical.steps=20", "unknown.k.grid.u=9"]);
    for problem in [several(), coarse] {
        assert_gradient(&problem);
    }
}

/// k stands for k(u(x, t)): its derivatives by coordinates are total ones.
#[test]
fn derivatives_follow_the_chain_rule() {
    let problem = shipped(&[]);
    let mut names = Names::new(&problem).unwrap();
    names.bind_states_opaque(&problem);
    let mut read = |text: &str| {
        let formula = bilo::problem::Formula::parse(text, Default::default()).unwrap();
        names.lower(&formula).unwrap()
    };
    assert_eq!(read("k_x"), read("k_u*u_x"));
    assert_eq!(read("d(k, t)"), read("d(k, u)*u_t"));
}

/// RMS(k - truth)/max(truth) over the range, from the fields of the report.
fn rms_over_max(outcome: &Outcome) -> f64 {
    let field = |name: &str| {
        let found = outcome.fields.arrays.iter().find(|array| array.name == name);
        let found = found.expect("a field of this name");
        assert_eq!(found.of, [2], "over the axis of the state, after x and t");
        found.values.clone()
    };
    assert_eq!(outcome.fields.axes[2].0, "u");
    let (k, truth) = (field("k"), field("k_truth"));
    let square: f64 = k.iter().zip(&truth).map(|(k, truth)| (k - truth).powi(2)).sum();
    (square / k.len() as f64).sqrt() / truth.iter().fold(0.0, |most, &k| k.max(most))
}

/// From noisy data, on a coarse grid of the reference solver.
#[test]
fn the_adjoint_method_finds_the_conductivity() {
    let problem = shipped(&["classical.cells=50", "classical.steps=50"]);
    let job = Job { method: &bilo::method::Adjoint, ..Job::default() };
    let outcome = run(&problem, &job, &mut Silent).expect("it runs");
    assert_eq!(outcome.stop, Stop::Converged);
    let error = rms_over_max(&outcome);
    assert!(error < 0.05, "{error}");
    let found = &outcome.unknowns.functions[0];
    assert_eq!((&found.of[..], &*found.gradient), (&["u".to_string()][..], "exact"));
    assert!(found.relative_l2_error.unwrap() < 0.2 * found.relative_l2_error_of_guess.unwrap());
}

/// By a network with a tenth of the points and a quarter of the steps of the recipe, and by default.
#[test]
fn bilo_finds_the_conductivity() {
    for (kind, name) in [("network", "network"), ("automatic", "dictionary")] {
        finds_the_conductivity(kind, name);
    }
}

fn finds_the_conductivity(kind: &str, name: &str) {
    let problem = shipped(&[
        &format!("operator.kind={kind}"),
        "equation.heat.points.grid.x=17",
        "equation.heat.points.grid.t=17",
        "train.pretrain-steps=400",
        "train.train-steps=1200",
        "classical.cells=50",
        "classical.steps=50",
    ]);
    assert_eq!(problem.training.gradient, GradientMode::Exact, "although nothing is said");
    let outcome = run(&problem, &Job { threads: Some(1), ..Job::default() }, &mut Silent).expect("it runs");
    assert_eq!(outcome.operator.as_ref().expect("a local operator").kind.name(), name);
    let error = rms_over_max(&outcome);
    assert!(error < 0.1, "{name}: {error}");
    assert!(outcome.audit[0].cosine > 0.95, "{:?}", outcome.audit);
    assert!(outcome.states[0].relative_l2_vs_classical.unwrap() < 0.02, "{:?}", outcome.states);
    let regulariser = outcome.losses.iter().find(|(name, _)| name == "regulariser.k").expect("a term");
    // mean k'² of the truth is the mean of u², 1/3.
    assert!((0.15..0.6).contains(&regulariser.1), "{regulariser:?}");
}

/// u goes from 0 to 1 at all times.
#[test]
fn a_run_tells_if_a_state_does_not_take_the_values_of_the_range() {
    let outcome = |range: &str| {
        let range = format!("unknown.k.range={range}");
        let set = ["classical.cells=20", "classical.steps=10", "unknown.k.grid.u=5", &range];
        let job = Job { method: &bilo::method::Adjoint, ..Job::default() };
        run(&shipped(&set), &job, &mut Silent).expect("it runs")
    };
    let fitting = outcome("[0.0, 1.0]");
    assert!(fitting.notes.is_empty() && fitting.warnings.is_empty(), "{:?}", fitting.warnings);
    // Up to interpolation, which may pass 0 a little.
    let is = |sentences: &[String], end: &str| {
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        assert!(sentences[0].starts_with("u goes from ") && sentences[0].ends_with(end), "{sentences:?}");
    };
    is(&outcome("[0.0, 2.0]").notes, " to 1 only, so of k in the rest of its range the data say nothing");
    let beyond = " to 1, where k is held constant beyond its range [0, 0.5]; widen the range";
    is(&outcome("[0.0, 0.5]").warnings, beyond);
}

#[test]
fn the_check_shows_the_function_with_its_state() {
    let examination = examine(&shipped(&[])).unwrap();
    let lines: Vec<&String> = examination.sections.iter().flat_map(|(_, lines)| lines).collect();
    let unknown = lines
        .iter()
        .find(|line| line.starts_with("k(u) = softplus(net), u in [0, 1]: guess 0.3, truth"))
        .unwrap();
    assert!(unknown.contains("in equation heat"), "{unknown}");
    let heat = "heat: 0 = ∂u/∂t − (∂u/∂x ∂u/∂x ∂k/∂u + k ∂²u/∂x²)";
    assert!(lines.iter().any(|line| line.starts_with(heat)), "{lines:?}");
    assert_eq!(examination.warnings, Vec::<String>::new());
}
