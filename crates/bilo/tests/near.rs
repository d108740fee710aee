//! The local operator beside the guess, held against the classical solution.

use bilo::observer::Silent;
use bilo::outcome::Near;
use bilo::outcome::Outcome;
use bilo::problem::{Overrides, Problem};
use bilo::{Job, run};
use std::path::Path;

fn outcome(text: &str, set: &[&str]) -> Outcome {
    let overrides = Overrides::of(set.iter().copied());
    let problem = Problem::from_toml("problem.toml", text, Path::new("."), &overrides);
    let problem = problem.unwrap_or_else(|error| panic!("{error}"));
    run(&problem, &Job::default(), &mut Silent).unwrap_or_else(|error| panic!("{error}"))
}

fn distance(near: &Near) -> f64 {
    near.states[0].relative_l2_vs_classical
}

/// A dictionary is linear in the unknowns: what it misses falls as the square of the distance, a change of the
/// solution as the distance itself.
#[test]
fn what_a_dictionary_misses_is_of_second_order() {
    let set = "audit.near=[{D=1.4,rho=1.4},{D=1.2,rho=1.2},{D=1.1,rho=1.1}]";
    let outcome = outcome(include_str!("../../../problems/fisher-kpp.toml"), &[set]);
    assert_eq!(outcome.near[0].at, "D = 1.4, rho = 1.4");
    for pair in outcome.near.windows(2) {
        let missed = distance(&pair[0]) / distance(&pair[1]);
        let moved = pair[0].states[0].relative_l2_of_guess / pair[1].states[0].relative_l2_of_guess;
        // 4 and 2 but for the next order, which at these distances is a fifth of the first.
        assert!((missed - 4.0).abs() < 0.8, "{missed}");
        assert!((moved - 2.0).abs() < 0.4, "{moved}");
    }
    let fields = outcome.fields.arrays.iter().map(|field| field.name.as_str());
    let fields: Vec<&str> = fields.filter(|name| name.ends_with("_near_2")).collect();
    assert_eq!(fields, ["u_network_near_2", "u_classical_near_2"]);
}

/// The same for a function that is a sum of given ones: -(D u')' = f has u/c where D is c, here 1/(1 + h) against
/// 1 - h. D is 1 at the ends by its form, so a form without that is taken.
#[test]
fn coefficients_of_functions_move_the_solution() {
    let set = ["unknown.D.form=\"1 + net\"", "audit.near=[{D=0.9},{D=0.95}]"];
    let outcome = outcome(include_str!("../../../problems/poisson-variable.toml"), &set);
    for (near, h) in outcome.near.iter().zip([-0.1_f64, -0.05]) {
        let exact = ((1.0 - h) * (1.0 + h) - 1.0).abs();
        let found = distance(near);
        // The reference solver's cells leave 1e-4 of u.
        assert!((found - exact).abs() < 0.02 * exact + 2e-4, "{found} {exact}");
        let state = &near.states[0];
        assert!((state.relative_l2_of_guess - h.abs()).abs() < 1e-6, "{state:?}");
    }
}

/// Where nothing moves the operator is that of the guess, whether its function is a network or the same as a formula;
/// and where D is 0.9 everywhere, a network that has learned du/dz knows most of the way.
#[test]
fn networks_are_fed_with_other_functions() {
    let set = [
        "operator.kind=network",
        "train.gradient=pointwise",
        "train.train-steps=0",
        "audit.near=[{D=\"1\"},{D=0.9}]",
    ];
    let outcome = outcome(include_str!("../../../problems/poisson-variable.toml"), &set);
    let [same, moved] = &outcome.near[..] else { panic!("{:?}", outcome.near) };
    assert_eq!(same.states[0].relative_l2_of_guess, 0.0);
    let at_guess = outcome.states[0].relative_l2_vs_classical.expect("a solution");
    // The function's own network has the guess to 1e-4 or so.
    assert!((distance(same) - at_guess).abs() < 1e-3, "{} {at_guess}", distance(same));
    let change = moved.states[0].relative_l2_of_guess;
    assert!((change - 0.1).abs() < 1e-6, "{change}");
    // To first order u moves by h u_z, which leaves h², 0.01; as much again is the network's.
    assert!(distance(moved) < 0.02, "{}", distance(moved));
}
