//! Unknown functions of time: a source of an ordinary equation, a flux at a boundary; and what is chosen for functions of
//! which nothing is stated but a guess.

use crate::common;

use bilo::observer::Silent;
use bilo::outcome::{Colour, SolvedBy};
use bilo::problem::{HeldBy, Overrides, Problem, Sampling};
use bilo::reference::ReferenceSolver;
use bilo::theta::Theta;
use bilo::{Job, run};
use common::assert_gradient;
use std::path::Path;

/// u' = f - u with f = 1 + t has the solution t.
const SOURCE: &str = r#"
name = "fed"
[coordinates]
t = { range = [0.0, 2.0], time = true }
[unknown.f]
of    = ["t"]
guess = "0.5"
truth = "1 + t"
grid  = { t = 6 }
[equation.balance]
holds = "u_t = f - u"
[condition.start]
at    = { t = 0.0 }
holds = "u = 0"
[observation.samples]
value = "u"
data  = { synthetic = { grid = { t = 9 }, noise = 0.01 } }
[classical]
cells = { t = 40 }
"#;

/// u_t = u_xx + x² - 2t with no flux at 0 and the slope q = 2t at 1 has the solution t x².
const FLUX: &str = r#"
name = "flux"
[coordinates]
x = [0.0, 1.0]
t = { range = [0.0, 1.0], time = true }
[unknown.q]
of    = ["t"]
guess = "1 + t^2"
truth = "2*t"
grid  = { t = 5 }
[equation.heat]
holds = "u_t = u_xx + x^2 - 2*t"
[condition.start]
at    = { t = 0.0 }
holds = "u = 0"
[condition.closed]
at    = { x = 0.0 }
holds = "u_x = 0"
[condition.heated]
at    = { x = 1.0 }
holds = "u_x = q"
[observation.samples]
value = "u"
data  = { synthetic = { grid = { x = 3, t = 4 }, noise = 0.01 } }
[classical]
cells = { x = 20 }
steps = 20
"#;

fn read(text: &str) -> Problem {
    Problem::from_toml("p", text, Path::new("."), &Overrides::default()).expect("a valid problem")
}

fn truth_on_nodes(problem: &Problem) -> Theta {
    let function = &problem.functions[0];
    let values = function.on_nodes(problem, function.truth.as_ref().expect("stated")).unwrap();
    Theta { eta: vec![], functions: vec![values] }
}

/// Both solutions are of first degree in time and of second in space, for which steps and differences are exact, and both
/// functions are their own polygons: up to rounding, by the formula and by values at nodes.
#[test]
fn linear_functions_of_time_have_exact_solutions() {
    let exact = |columns: &[Vec<f64>], point: usize| match columns {
        [t] => t[point],
        [x, t] => t[point] * x[point].powi(2),
        _ => unreachable!("one or two coordinates"),
    };
    for (text, columns) in
        [(SOURCE, vec![vec![0.3, 1.1, 2.0]]), (FLUX, vec![vec![0.2, 1.0], vec![0.35, 0.9]])]
    {
        let problem = read(text);
        let reference = ReferenceSolver::new(&problem).unwrap();
        let stated = reference.solve_truth(&problem).unwrap().expect("a truth").unwrap();
        let nodal = reference.solve(truth_on_nodes(&problem)).unwrap();
        for solution in [stated, nodal] {
            for (point, found) in solution.state(0, &columns).into_iter().enumerate() {
                let error = (found - exact(&columns, point)).abs();
                assert!(error < 1e-10, "{}: {error:.1e}", problem.name);
            }
        }
    }
}

#[test]
fn the_gradient_by_the_adjoint_is_that_of_differences() {
    assert_gradient(&read(FLUX));
}

/// One more of f everywhere adds 1 - exp(-t) to u. Steps in time follow the solution, so differences of solutions say less:
/// 40 steps are right to their square.
#[test]
fn the_derivatives_of_an_ordinary_equation_sum_to_the_exact_one() {
    let problem = read(SOURCE);
    let reference = ReferenceSolver::new(&problem).unwrap();
    let solution = reference.solve(truth_on_nodes(&problem)).unwrap();
    let place = Sampling::local(vec![vec![2.0]]);
    let gradient = solution.observed_gradient(&problem.observations[0], &place, &[1.0]).unwrap();
    let sum: f64 = gradient.functions[0].iter().sum();
    assert!((sum - (1.0 - (-2.0_f64).exp())).abs() < 1e-3, "{sum}");
}

/// A flux of 2e5 W/m² into steel, in SI units, with nothing stated but a guess: the default regulariser, its weight and the
/// units of `net` are chosen. The band is checked by its own size: errors of 51 correlated values stay below two of it.
#[test]
fn a_flux_in_si_units_is_found_by_default() {
    let problem = read(
        r#"
name = "quench"
[coordinates]
x = [0.0, 0.02]
t = { range = [0.0, 60.0], time = true }
[unknown.q]
of    = ["t"]
guess = "5e4"
truth = "2e5*exp(-((t - 25)/10)^2)"
grid  = { t = 51 }
[equation.heat]
holds = "3.6e6*T_t = 45*T_xx"
[condition.start]
at    = { t = 0.0 }
holds = "T = 25"
[condition.flame]
at    = { x = 0.0 }
holds = "-45*T_x = q"
[condition.back]
at    = { x = 0.02 }
holds = "T_x = 0"
[observation.thermocouples]
value = "T"
data  = { synthetic = { grid = { x = 3, t = 40 }, noise = 0.3 } }
[classical]
cells = { x = 60 }
steps = 120
"#,
    );
    assert_eq!(problem.functions[0].form.text, "1e5*net");
    let outcome = run(&problem, &Job::default(), &mut Silent).unwrap();
    assert_eq!(outcome.verdict.colour, Colour::Green, "{:?}", outcome.verdict.reasons);
    let found = &outcome.unknowns.functions[0];
    let (error, sd) = (found.relative_l2_error.expect("a truth"), found.relative_sd.expect("error bars"));
    assert!(error < 2.0 * sd && error < 0.1, "{error} with error bars of {sd}, by {:?}", outcome.solved_by);
}

/// A plucked string is a polygon, whose second derivative is nothing to a formula: with it in the form a string that never
/// moves would solve the wave equation.
#[test]
fn a_value_with_a_kink_is_left_to_an_equation() {
    let statement = |start: &str| {
        read(&format!(
            r#"
name = "string"
[coordinates]
x = [0.0, 1.0]
t = {{ range = [0.0, 1.0], time = true }}
[unknown.v]
guess = 1.0
truth = 1.2
[equation.wave]
holds = "u_tt = v^2*u_xx"
[condition.plucked]
at    = {{ t = 0.0 }}
holds = "u = {start}"
[condition.rest]
at    = {{ t = 0.0 }}
holds = "u_t = 0"
[condition.ends]
at    = {{ x = [0.0, 1.0] }}
holds = "u = 0"
[observation.o]
value = "u"
data  = {{ synthetic = {{ grid = {{ x = 9, t = 9 }}, noise = 0.001 }} }}
"#
        ))
    };
    let held = |problem: Problem| problem.conditions[0].held_by;
    assert_eq!(held(statement("min(x/0.2, (1 - x)/0.8)")), HeldBy::Equation);
    assert_eq!(held(statement("if(x < 0.5, 1, 0)*x*(1 - x)")), HeldBy::Equation);
    assert_eq!(held(statement("sin(pi*x)*max(1, 0.5)")), HeldBy::Form);
    assert_eq!(held(statement("if(x < 0.5, sin(2*pi*x)^2*x, 0)*(1 - x)")), HeldBy::Form);
}

/// D multiplies the highest derivative: it has the sign of its guess. A source may have any.
#[test]
fn a_diffusivity_stays_positive_and_a_source_need_not() {
    let statement = |equation: &str| {
        read(&format!(
            r#"
name = "gel"
[coordinates]
x = [0.0, 1.0]
[unknown.f]
of    = ["x"]
guess = "0.05"
truth = "0.04 + 0.02*x"
[equation.e]
holds = "{equation}"
[condition.ends]
at    = {{ x = [0.0, 1.0] }}
holds = "c = 0"
[observation.o]
value = "c"
data  = {{ synthetic = {{ grid = {{ x = 9 }}, noise = 0.001 }} }}
"#
        ))
    };
    assert_eq!(statement("div(f*grad(c)) = -1").functions[0].form.text, "1e-1*exp(net)");
    assert_eq!(statement("c_xx = -f").functions[0].form.text, "1e-1*net");
    assert!(statement("c_xx = -f").functions[0].regulariser.as_ref().is_some_and(|r| r.automatic));
    let outcome = run(&statement("c_xx = -f"), &Job::default(), &mut Silent).unwrap();
    assert!(outcome.solved_by != SolvedBy::Network, "{:?}", outcome.notes);
}
