//! The reference solver, straight from problem files: conditions read off forms and equations in the
//! plane, and conservation laws, against exact solutions.

use bilo::problem::{Formula, Overrides, Problem};
use bilo::reference::ReferenceSolver;
use std::f64::consts::PI;
use std::path::Path;

/// A problem with the scalar unknown `k`, whose data do not matter here.
fn problem(middle: &str, set: &[&str]) -> Problem {
    let text = format!(
        "name = \"reference\"\n{middle}\n[unknown.k]\nguess = 1.0\ntruth = 2.0\n\
         [observation.all]\nvalue = \"u\"\ndata = {{ synthetic = {{ random = 1 }} }}\n"
    );
    let overrides = Overrides::of(set.iter().copied());
    Problem::from_toml("reference.toml", &text, Path::new("."), &overrides).unwrap_or_else(|e| panic!("{e}"))
}

/// Points between the nodes of any grid, one column per coordinate of the unit cube.
fn scattered(coordinates: usize) -> Vec<Vec<f64>> {
    let column =
        |c: usize| (1..=200).map(move |i| (f64::from(i) * (0.618_034 + 0.123_457 * c as f64)).fract());
    (0..coordinates).map(|c| column(c).collect()).collect()
}

/// The largest error at scattered points with k = 0.5.
fn error(problem: &Problem, exact: impl Fn(&[f64]) -> f64) -> f64 {
    let points = scattered(problem.coordinates.len());
    let reference = ReferenceSolver::new(problem).unwrap_or_else(|e| panic!("{e}"));
    let u = reference.solve(&[0.5]).expect("a solution").state(0, &points);
    let place = |i: usize| points.iter().map(|column| column[i]).collect::<Vec<f64>>();
    (0..u.len()).map(|i| (u[i] - exact(&place(i))).abs()).fold(0.0, f64::max)
}

/// Halving all widths quarters the error: order 2, to a tenth. Central differences miss a part
/// (q h)^2/12 of what a wave number q contributes, which gives the size of the error.
fn assert_second_order(middle: &str, coarse: [usize; 2], most: f64, exact: impl Fn(&[f64]) -> f64) {
    let at = |factor: usize| {
        let cells = format!("classical.cells={}", factor * coarse[0]);
        let steps = format!("classical.steps={}", factor * coarse[1]);
        error(&problem(middle, &[&cells, &steps]), &exact)
    };
    let (coarse, fine) = (at(1), at(2));
    let order = (coarse / fine).log2();
    assert!((order - 2.0).abs() < 0.1, "order {order} from errors {coarse:.2e} and {fine:.2e}");
    assert!(fine < most, "error {fine:.2e}");
}

/// All four sides held by the form: u = g/k with g = sin(pi x) sin(2 pi y).
const HELD_BY_THE_FORM: &str = r#"
[coordinates]
x = [0.0, 1.0]
y = [0.0, 1.0]
[state.u]
form = "net*x*(1-x)*y*(1-y)"
[equation.balance]
residual = "-k*div((1+x*y)*grad(u)) + div((1+x*y)*grad(sin(pi*x)*sin(2*pi*y)))"
points = { random = 10 }
"#;

#[test]
fn a_steady_problem_in_the_plane_is_of_second_order() {
    let exact = |p: &[f64]| (PI * p[0]).sin() * (2.0 * PI * p[1]).sin() / 0.5;
    // Amplitude 2, q = 2 pi, 40 cells: 4.1e-3.
    assert_second_order(HELD_BY_THE_FORM, [20, 1], 4.1e-3, exact);
}

/// u = exp(y) sin(pi x)/k: values in the form at the sides of x, a slope below and a combination above.
#[test]
fn neumann_and_robin_conditions_on_sides_are_read_off_equations() {
    let middle = r#"
        [coordinates]
        x = [0.0, 1.0]
        y = [0.0, 1.0]
        [state.u]
        form = "net*x*(1-x)"
        [equation.balance]
        residual = "k*lap(u) + (pi^2 - 1)*exp(y)*sin(pi*x)"
        points = { random = 10 }
        [equation.below]
        residual = "k*u_y - sin(pi*x)"
        points = { grid = { x = 11 }, at = { y = 0.0 } }
        [equation.above]
        residual = "k*u_y + k*u - 2*e*sin(pi*x)"
        points = { grid = { x = 11 }, at = { y = 1.0 } }
    "#;
    // Amplitude 2 e, q = pi, 40 cells: 2.8e-3; the one-sided slopes add to it.
    assert_second_order(middle, [20, 1], 3e-3, |p| p[1].exp() * (PI * p[0]).sin() / 0.5);
}

/// u = exp(-5 pi^2 k t) sin(pi x) cos(2 pi y), a ring in y, with time between the space coordinates.
#[test]
fn an_evolving_problem_in_the_plane_with_a_ring_is_of_second_order() {
    let middle = r#"
        [coordinates]
        x = [0.0, 1.0]
        t = { range = [0.0, 1.0], time = true }
        y = { range = [0.0, 1.0], periodic = true }
        [state.u]
        form = "sin(pi*x)*cos(2*pi*y) + net*t*x*(1-x)"
        [equation.heat]
        residual = "u_t - 0.05*k*lap(u)"
        points = { random = 10 }
    "#;
    let exact = |p: &[f64]| (-0.125 * PI * PI * p[1]).exp() * (PI * p[0]).sin() * (2.0 * PI * p[2]).cos();
    // q = 2 pi, 48 cells: a decay rate that is off by 1.4e-3 moves r t exp(-r t) < 1/e by 5.2e-4.
    assert_second_order(middle, [24, 20], 1e-3, exact);
}

#[test]
fn cells_are_stated_for_all_coordinates_or_for_each() {
    let described = |set: &[&str]| {
        ReferenceSolver::new(&problem(HELD_BY_THE_FORM, set)).expect("a reference solver").describe()
    };
    assert_eq!(described(&[]), "finite differences, 100 x 100 cells");
    assert_eq!(described(&["classical.cells=30"]), "finite differences, 30 x 30 cells");
    assert_eq!(described(&["classical.cells={ y = 30, x = 20 }"]), "finite differences, 20 x 30 cells");
}

fn refusal(middle: &str, set: &[&str]) -> String {
    ReferenceSolver::new(&problem(middle, set)).err().expect("no reference solver").to_string()
}

#[test]
fn what_the_twin_cannot_take_in_the_plane_is_said_at_its_place() {
    let disc = refusal(HELD_BY_THE_FORM, &["state.u.form='net*(0.2 - (x-0.5)^2 - (y-0.5)^2)'"]);
    assert!(disc.contains("vanishes inside the domain") && disc.contains("--> --set"), "{disc}");
    let open = refusal(HELD_BY_THE_FORM, &["state.u.form='net*x*(1-x)*y'"]);
    assert!(open.contains("u needs one condition at y = 1"), "{open}");
    let corner = "\n[equation.corner]\nresidual = \"u\"\npoints = { at = { x = 0.0, y = 0.0 } }";
    let corner = refusal(&(HELD_BY_THE_FORM.to_owned() + corner), &[]);
    assert!(corner.contains("conditions on whole sides") && corner.contains("residual = \"u\""), "{corner}");
}

/// Burgers' equation on a ring: from t = 1/(2 pi k) on there is a shock at x = 1/2.
const BURGERS: &str = r#"
[coordinates]
x = { range = [0.0, 1.0], periodic = true }
t = { range = [0.0, 1.0], time = true }
[state.u]
form = "sin(2*pi*x) + net*t"
[equation.burgers]
residual = "u_t + k*u*u_x"
points = { random = 10 }
"#;

/// Along characteristics: u = sin(2 pi s) with x = s + k t sin(2 pi s), and s the first such foot on
/// the left of the shock; odd about it.
fn burgers(k: f64, x: f64, t: f64) -> f64 {
    if x > 0.5 {
        return -burgers(k, 1.0 - x, t);
    }
    let steepest = 2.0 * PI * k * t;
    let (mut lo, mut hi) = (0.0, if steepest > 1.0 { (-1.0 / steepest).acos() / (2.0 * PI) } else { 0.5 });
    for _ in 0..60 {
        let s = 0.5 * (lo + hi);
        if s + k * t * (2.0 * PI * s).sin() < x { lo = s } else { hi = s }
    }
    (2.0 * PI * lo).sin()
}

/// The mean distance from the exact solution at the end falls as the width of a cell (order 1 in L1),
/// and is about that width: the shock is smeared over a few cells.
#[test]
fn burgers_equation_is_solved_through_its_shock() {
    let k = 0.7;
    let x: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
    let exact: Vec<f64> = x.iter().map(|&x| burgers(k, x, 1.0)).collect();
    let distance = |cells: usize| {
        let problem = problem(BURGERS, &[&format!("classical.cells={cells}"), "classical.steps=10"]);
        let reference = ReferenceSolver::new(&problem).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(reference.describe(), format!("Godunov's scheme, {cells} cells, 10 intervals of time"));
        let solution = reference.solve(&[k]).expect("a solution");
        // Courant number 0.9 at the largest speed, k.
        assert!(solution.work().steps as f64 >= k * cells as f64 / 0.9);
        let u = solution.state(0, &[x.clone(), vec![1.0; x.len()]]);
        u.iter().zip(&exact).map(|(u, exact)| (u - exact).abs()).sum::<f64>() / x.len() as f64
    };
    let (coarse, fine) = (distance(200), distance(400));
    let order = (coarse / fine).log2();
    assert!(fine < 1.5 / 400.0 && (order - 1.0).abs() < 0.2, "{coarse:.2e}, {fine:.2e}, order {order}");
}

/// From 1 down to 0 the shock moves at k/2. The form gives the state at x = 0; nothing is said at x = 1.
#[test]
fn values_at_the_ends_of_a_conservation_law_come_from_the_form() {
    let middle = r#"
        [coordinates]
        x = [0.0, 1.0]
        t = { range = [0.0, 1.0], time = true }
        [state.u]
        form = "if(x < 0.25, 1, 0)*exp(0*x*t) + net*t*x"
        [equation.burgers]
        residual = "u_t + k*u*u_x"
        points = { random = 10 }
        [classical]
        cells = 400
        steps = 10
    "#;
    let problem = problem(middle, &[]);
    let reference = ReferenceSolver::new(&problem).unwrap_or_else(|e| panic!("{e}"));
    // The layer of the shock is a few cells wide on either side of 0.25 + k/2.
    for (k, shock) in [(0.8, 0.65), (1.2, 0.85)] {
        let x = vec![0.0, 0.1, shock - 0.02, shock + 0.02, 1.0];
        let u = reference.solve(&[k]).expect("a solution").state(0, &[x, vec![1.0; 5]]);
        let exact = [1.0, 1.0, 1.0, 0.0, 0.0];
        assert!(u.iter().zip(exact).all(|(u, exact)| (u - exact).abs() < 1e-3), "k = {k}: {u:?}");
    }
    // Beyond k = 1.5 the shock has left through x = 1.
    let u = reference.solve(&[1.7]).expect("a solution").state(0, &[vec![1.0], vec![1.0]]);
    assert!((u[0] - 1.0).abs() < 1e-3, "{u:?}");
}

#[test]
fn the_scheme_may_be_chosen_and_linear_transport_keeps_central_differences() {
    let scheme =
        |set: &[&str]| ReferenceSolver::new(&problem(BURGERS, set)).expect("a reference solver").scheme();
    assert_eq!(scheme(&[]), "godunov");
    assert_eq!(scheme(&["classical.scheme=central"]), "central");
    assert_eq!(scheme(&["classical.flux='k*u^2/2 + 3'"]), "godunov");
    let linear = "equation.burgers.residual='u_t + k*u_x'";
    assert_eq!(scheme(&[linear]), "central");
    assert_eq!(scheme(&[linear, "classical.scheme=godunov"]), "godunov");
    let viscous = "equation.burgers.residual='u_t + k*u*u_x - 0.01*u_xx'";
    assert_eq!(scheme(&[viscous]), "central");
}

#[test]
fn derivatives_of_a_solution_with_shocks_are_an_error() {
    // With 40 cells x = 1/4 is a node.
    let problem = problem(BURGERS, &["classical.cells=40", "classical.steps=5"]);
    let reference = ReferenceSolver::new(&problem).expect("a reference solver");
    let solution = reference.solve(&[1.0]).expect("a solution");
    let point = [vec![0.25], vec![0.0]];
    let observe = |text: &str| {
        let formula = Formula::parse(text, bilo::diagnostic::Origin::text("value", text)).expect("a formula");
        solution.observe(&formula, &point)
    };
    assert_eq!(observe("3*u + x").expect("values"), [3.25]);
    let error = observe("u + u_x").expect_err("a derivative").to_string();
    assert!(error.contains("derivatives cannot be observed") && error.contains("--> value:1:1"), "{error}");
}
