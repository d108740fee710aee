//! States that an equation defines: the reference solver of a first-order system against that of the same
//! equation for one state. Both have the same differences, so that they agree up to rounding.

use bilo::diagnostic::Origin;
use bilo::problem::{Formula, Overrides, Problem};
use bilo::reference::{ReferenceSolution, ReferenceSolver};
use bilo::theta::Theta;
use bilo::{examine, forward};
use std::f64::consts::FRAC_PI_2;
use std::path::Path;

use crate::common;

fn read(text: &str) -> Problem {
    Problem::from_toml("flow.toml", text, Path::new("."), &Overrides::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Darcy's flow with an unknown scalar k and an unknown function A.
fn darcy(states_and_equations: &str) -> Problem {
    read(&format!(
        r#"
name = "flow"
[coordinates]
x = [0.0, 1.0]
y = [0.0, 1.0]
[unknown.k]
guess = 1.3
truth = 0.8
transform = "log"
[unknown.A]
of = ["x", "y"]
form = "net"
guess = "2 + sin(3*x)*y"
truth = "if(x + y < 1.1, 1, 4)"
grid = {{ x = 9, y = 8 }}
{states_and_equations}
[observation.pressure]
value = "u"
data = {{ synthetic = {{ random = 20 }} }}
[classical]
cells = {{ x = 24, y = 20 }}
"#
    ))
}

const SCALAR: &str = r#"
[state.u]
form = "net*x*(1-x)*y*(1-y)"
[equation.balance]
residual = "-div(k*A*grad(u)) + u_x - 1 - x*y"
points = { random = 10 }
"#;

const MIXED: &str = r#"
[state.u]
form = "net*x*(1-x)*y*(1-y)"
[state.p]
form = "net"
[state.q]
form = "1 + 2*net"
[equation.x-flux]
residual = "p + k*A*u_x"
points = { random = 10 }
[equation.y-flux]
residual = "2*q/(k*A) + 2*u_y"
points = { random = 10 }
[equation.balance]
residual = "p_x + q_y + u_x - 1 - x*y"
points = { random = 10 }
"#;

/// Points between the nodes of any grid, one column per coordinate of the unit square.
fn scattered() -> Vec<Vec<f64>> {
    let column = |c: usize| {
        (1..=150).map(move |i| (f64::from(i) * (0.618_034 + 0.123_457 * c as f64)).fract()).collect()
    };
    (0..2).map(column).collect()
}

fn formula(text: &str) -> Formula {
    Formula::parse(text, Origin::text("value", text)).expect("a formula")
}

fn observe(solution: &ReferenceSolution<'_>, text: &str) -> Vec<f64> {
    solution.observe(&formula(text), &scattered()).unwrap_or_else(|error| panic!("{error}"))
}

fn reference(problem: &Problem) -> ReferenceSolver {
    ReferenceSolver::new(problem).unwrap_or_else(|error| panic!("{error}"))
}

fn at_truth<'a>(reference: &'a ReferenceSolver, problem: &Problem) -> ReferenceSolution<'a> {
    reference.solve_truth(problem).unwrap().expect("a truth").unwrap()
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let error = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0_f64, f64::max) / largest;
    assert!(error <= tolerance, "off by {error:.1e}");
}

#[test]
fn a_flow_in_mixed_form_has_the_solution_of_the_equation_in_divergence_form() {
    let (scalar, mixed) = (darcy(SCALAR), darcy(MIXED));
    let (by_scalar, by_mixed) = (reference(&scalar), reference(&mixed));
    let guess = Theta::guess(&scalar).unwrap();
    let at_guess = [by_scalar.solve(&guess).unwrap(), by_mixed.solve(&guess).unwrap()];
    let at_truth =
        [(&by_scalar, &scalar), (&by_mixed, &mixed)].map(|(reference, problem)| at_truth(reference, problem));
    for [one, system] in [at_guess, at_truth] {
        for (state, text) in ["u", "-k*A*u_x", "-k*A*u_y"].into_iter().enumerate() {
            let expected = observe(&one, text);
            assert_close(&system.state(state, &scattered()), &expected, 1e-12);
            assert_close(&observe(&system, ["u", "p", "q"][state]), &expected, 1e-12);
        }
        assert_close(&observe(&system, "u + p*q"), &observe(&one, "u + (k*A)^2*u_x*u_y"), 1e-12);
    }
}

/// What is observed holds the fluxes, by which the unknowns count directly too.
#[test]
fn derivatives_by_unknowns_are_those_of_the_equation_in_divergence_form() {
    let (scalar, mixed) = (reference(&darcy(SCALAR)), reference(&darcy(MIXED)));
    let guess = Theta::guess(&darcy(SCALAR)).unwrap();
    let (one, system) = (scalar.solve(&guess).unwrap(), mixed.solve(&guess).unwrap());
    let (of_one, of_system) = (formula("u - k*A*u_x - 3*k*A*u_y"), formula("u + p + 3*q"));
    let weights: Vec<f64> = (0..150).map(|i| (f64::from(i) + 0.5).sin()).collect();
    let expected = one.gradient(&of_one, &scattered(), &weights).unwrap();
    let found = system.gradient(&of_system, &scattered(), &weights).unwrap();
    assert_close(&found.eta, &expected.eta, 1e-10);
    assert_close(&found.functions[0], &expected.functions[0], 1e-10);
    let expected = one.observe_with_slopes(&of_one, &scattered()).unwrap();
    let found = system.observe_with_slopes(&of_system, &scattered()).unwrap();
    assert_close(&found.slopes[0], &expected.slopes[0], 1e-10);
}

#[test]
fn a_flux_that_is_observed_has_the_gradient_of_differences() {
    let observed = "\n[observation.flux]\nvalue = \"p\"\ndata = { synthetic = { random = 15 } }\n";
    common::assert_gradient(&darcy(&(MIXED.to_owned() + observed)));
}

#[test]
fn all_states_come_with_a_solution_on_a_grid() {
    let (scalar, mixed) = (darcy(SCALAR), darcy(MIXED));
    let fields = forward::solve(&mixed, &[0.8], &[6, 5]).unwrap().fields.arrays;
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["u", "p", "q"]);
    let expected = &forward::solve(&scalar, &[0.8], &[6, 5]).unwrap().fields.arrays[0].values;
    assert_close(&fields[0].values, expected, 1e-12);
}

#[test]
fn the_check_says_what_is_put_into_the_other_equations() {
    let mixed = MIXED.replace("2*q/(k*A) + 2*u_y", "q + k*A*u_y");
    let found = examine(&darcy(&mixed)).unwrap_or_else(|error| panic!("{error}"));
    let (_, lines) = found.sections.iter().find(|(name, _)| name == "Reference solver").expect("a section");
    let put = "p = -k*A*u_x and q = -k*A*u_y are put into the other equations";
    assert_eq!(lines[..], ["finite differences, 24 x 20 cells", put]);
}

/// u = exp(-D pi^2/4 t) cos(pi x/2): no flux at x = 0, nothing left at x = 1.
fn heat(states_and_equations: &str) -> Problem {
    read(&format!(
        r#"
name = "heat"
[coordinates]
x = [0.0, 1.0]
t = {{ range = [0.0, 1.0], time = true }}
[unknown.D]
guess = 0.4
truth = 0.3
[state.u]
form = "cos(pi*x/2) + net*t*(1-x)"
{states_and_equations}
[observation.temperature]
value = "u"
data = {{ synthetic = {{ random = 20 }} }}
[classical]
cells = 60
steps = 30
"#
    ))
}

const HEAT: &str = r#"
[equation.heat]
residual = "u_t - D*u_xx"
points = { random = 10 }
[equation.insulated]
residual = "-D*u_x"
points = { grid = { t = 5 }, at = { x = 0.0 } }
"#;

const HEAT_IN_A_CHAIN: &str = r#"
[state.p]
form = "net"
[state.slope]
form = "net"
[equation.heat]
residual = "u_t + p_x"
points = { random = 10 }
[equation.flux]
residual = "p + D*slope"
points = { random = 10 }
[equation.gradient]
residual = "u_x - slope"
points = { random = 10 }
[equation.insulated]
residual = "p"
points = { grid = { t = 5 }, at = { x = 0.0 } }
"#;

#[test]
fn a_chain_of_definitions_in_time_and_a_condition_on_a_flux() {
    let (scalar, chain) = (reference(&heat(HEAT)), reference(&heat(HEAT_IN_A_CHAIN)));
    let (one, system) = (scalar.solve(&[0.3]).unwrap(), chain.solve(&[0.3]).unwrap());
    for (state, text) in ["u", "-D*u_x", "u_x"].into_iter().enumerate() {
        assert_close(&system.state(state, &scattered()), &observe(&one, text), 1e-12);
    }
    let exact = |(x, t): (&f64, &f64)| (-0.3 * FRAC_PI_2.powi(2) * t).exp() * (FRAC_PI_2 * x).cos();
    let [x, t] = &scattered()[..] else { panic!("two columns") };
    let exact: Vec<f64> = x.iter().zip(t).map(exact).collect();
    // A part (pi/2 h)^2/12 of the rate 0.74 with h = 1/60 is 4e-5; the one-sided slope at x = 0 adds to it.
    assert_close(&system.state(0, &scattered()), &exact, 1e-4);
}

/// Burgers' equation on a ring.
fn burgers(states_and_equations: &str) -> Problem {
    read(&format!(
        r#"
name = "burgers"
[coordinates]
x = {{ range = [0.0, 1.0], periodic = true }}
t = {{ range = [0.0, 1.0], time = true }}
[unknown.k]
guess = 1.0
truth = 0.7
[state.u]
form = "sin(2*pi*x) + net*t"
{states_and_equations}
[observation.all]
value = "u"
data = {{ synthetic = {{ random = 1 }} }}
[classical]
cells = 60
steps = 30
"#
    ))
}

#[test]
fn a_conservation_law_with_its_flux_as_a_state_goes_to_godunovs_scheme() {
    let plain = "[equation.law]\nresidual = \"u_t + k*u*u_x\"\npoints = { random = 10 }";
    let with_flux = r#"
[state.f]
form = "net"
[equation.law]
residual = "u_t + f_x"
points = { random = 10 }
[equation.flux]
residual = "f - k*u^2/2"
points = { random = 10 }
"#;
    let (plain, with_flux) = (reference(&burgers(plain)), reference(&burgers(with_flux)));
    assert_eq!([plain.scheme(), with_flux.scheme()], ["godunov"; 2]);
    let (one, system) = (plain.solve(&[0.7]).unwrap(), with_flux.solve(&[0.7]).unwrap());
    assert_close(&system.state(0, &scattered()), &observe(&one, "u"), 1e-12);
    assert_close(&system.state(1, &scattered()), &observe(&one, "k*u^2/2"), 1e-12);
}

/// A solution with jumps has no slopes, so that differences are taken; k is small enough for no shock.
#[test]
fn a_state_that_is_a_slope_keeps_central_differences() {
    let with_slope = r#"
[state.s]
form = "net"
[equation.law]
residual = "u_t + k*u*s"
points = { random = 10 }
[equation.gradient]
residual = "s - u_x"
points = { random = 10 }
"#;
    let reference = reference(&burgers(with_slope));
    assert_eq!(reference.scheme(), "central");
    let solution = reference.solve(&[0.1]).unwrap();
    assert_close(&solution.state(1, &scattered()), &observe(&solution, "u_x"), 0.0);
}

/// A system on an interval, u given at both ends.
fn interval(states_and_equations: &str) -> Problem {
    read(&format!(
        r#"
name = "interval"
[coordinates]
x = [0.0, 1.0]
[unknown.k]
guess = 1.0
truth = 1.0
[state.u]
form = "net*x*(1-x)"
{states_and_equations}
[equation.balance]
residual = "k*p_x - 1"
points = {{ random = 10 }}
[observation.all]
value = "u"
data = {{ synthetic = {{ random = 1 }} }}
"#
    ))
}

/// p = s and u = 9/64 - s^2/2 - s^4/4 with s = x - 1/2: the reference solver keeps both states.
#[test]
fn a_state_in_which_an_equation_is_not_linear_is_solved_for() {
    let problem = interval(
        r#"
[state.p]
form = "net"
[equation.flux]
residual = "p + p^3 + u_x"
points = { random = 10 }
"#,
    );
    let reference = reference(&problem);
    let solution = reference.solve(&[1.0]).unwrap();
    let x = &scattered()[..1];
    let p: Vec<f64> = x[0].iter().map(|x| x - 0.5).collect();
    let u: Vec<f64> = p.iter().map(|s| 9.0 / 64.0 - s * s / 2.0 - s.powi(4) / 4.0).collect();
    // Second order with 800 cells.
    assert_close(&solution.state(0, x), &u, 1e-5);
    assert_close(&solution.state(1, x), &p, 1e-5);
}

/// Once the first equation is put in, the second one says nothing of p and q, and nothing determines p.
#[test]
fn states_that_define_each_other_are_an_error() {
    let problem = interval(
        r#"
[state.p]
form = "net"
[state.q]
form = "net"
[equation.first]
residual = "p - q - u_x"
points = { random = 10 }
[equation.second]
residual = "q - p"
points = { random = 10 }
"#,
    );
    let error = reference(&problem).solve(&[1.0]).err().expect("no solution").to_string();
    assert!(error.contains("do not fix the solution"), "{error}");
}
