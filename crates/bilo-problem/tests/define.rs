//! Named expressions are what they stand for.

use bilo_problem::{Overrides, Problem};
use std::path::Path;

fn problem(text: &str, set: &[&str]) -> Problem {
    let overrides = Overrides::of(set.iter().copied());
    Problem::from_toml("rate.toml", text, Path::new(""), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

const NAMED: &str = r#"
    name = "rate"
    [coordinates]
    x = [0.0, 1.0]
    t = { range = [0.0, 1.0], time = true }
    [define]
    light  = "exp(-x)"
    rate   = "k*u*light"
    flux   = "-D*u_x"
    square = "(flux)^2"
    [unknown.k]
    guess = 1.0
    truth = 1.0
    [unknown.D]
    guess = 1.0
    truth = 1.0
    [equation.balance]
    holds = "u_t = -flux_x - rate + light_xx"
    [condition.start]
    at = { t = 0.0 }
    holds = "u = light"
    [condition.ends]
    at = { x = [0.0, 1.0] }
    holds = "flux = 0"
    [observation.all]
    value = "2*rate + (square)"
    data = { synthetic = { grid = { x = 3, t = 3 } } }
    [derived]
    both = "k*D"
"#;

/// In equations, conditions, observed values and in each other, differentiated too; states are found through them.
#[test]
fn definitions_stand_for_their_values() {
    let written_out = NAMED
        .replace("-flux_x - rate + light_xx", "-d(-D*u_x, x) - (k*u*(exp(-x))) + d(exp(-x), x, x)")
        .replace("u = light", "u = (exp(-x))")
        .replace("flux = 0", "(-D*u_x) = 0")
        .replace("2*rate + (square)", "2*(k*u*(exp(-x))) + ((((-D*u_x))^2))");
    let (before, rest) = written_out.split_once("[define]").unwrap();
    let (_, after) = rest.split_once("[unknown.k]").unwrap();
    assert_eq!(problem(NAMED, &[]), problem(&format!("{before}[unknown.k]{after}"), &[]));
}

#[test]
fn a_definition_can_be_set() {
    let set = problem(NAMED, &["define.light=\"exp(-2*x)\""]);
    assert_eq!(set, problem(&NAMED.replace("exp(-x)", "exp(-2*x)"), &[]));
}

/// A constant that an experiment states as a number keeps the unit that all share.
#[test]
fn a_number_of_an_experiment_has_the_shared_unit() {
    let text = r#"
        name = "column"
        [coordinates]
        t = { range = [0.0, 1.0], unit = "h", time = true }
        [constants]
        c0 = { value = 10.0, unit = "mg/L" }
        [unknown.k]
        guess = 1.0
        truth = 1.0
        unit = "1/h"
        [equation.decay]
        holds = "c_t = -k*c"
        [condition.start]
        at = { t = 0.0 }
        holds = "c = c0"
        [observation.outlet]
        value = "c"
        unit = "mg/L"
        data = { synthetic = { grid = { t = 3 } } }
        [experiment.low]
        observation = { outlet = {} }
        [experiment.high]
        constants = { c0 = 20.0 }
        observation = { outlet = {} }
    "#;
    let high = problem(text, &[]);
    let stated = text.replace("{ c0 = 20.0 }", "{ c0 = { value = 20.0, unit = \"mg/L\" } }");
    assert_eq!(high, problem(&stated, &[]));
}
