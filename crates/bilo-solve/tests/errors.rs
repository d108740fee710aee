//! Every way to fail says what is wrong and what to do.

use crate::common;

use bilo_solve::{Axis, Interrupt, Resolution, SolveError, Solver, Values};
use common::{Text, UNIT};

const POISSON: Text<'static> =
    Text { parameters: &["D"], interior: &["D*u_xx + 1"], lower: &["u"], upper: &["u"], ..UNIT };

const HEAT: Text<'static> =
    Text { time: Some((0.0, 1.0)), interior: &["u_t - D*u_xx"], initial: &["sin(pi*x)"], ..POISSON };

fn refusal(text: Text<'_>) -> SolveError {
    text.solver().expect_err("ill posed")
}

fn assert_count(text: Text<'_>, counted: &str, needed: usize, given: usize) {
    match refusal(text) {
        SolveError::WrongCount { what, expected, found, .. } => {
            assert_eq!((what, expected, found), (counted, needed, given))
        }
        other => panic!("{other}"),
    }
}

#[test]
fn wrong_numbers_of_things_are_counted() {
    let none = Text { states: &[], interior: &[], lower: &[], upper: &[], ..POISSON };
    assert_count(none, "states", 1, 0);
    let two_equations = Text { interior: &["u_xx", "u_x"], ..POISSON };
    assert_count(two_equations, "interior residuals", 1, 2);
    let no_start = Text { initial: &[], ..HEAT };
    assert_count(no_start, "initial values", 1, 0);
    let start_of_steady = Text { initial: &["0"], ..POISSON };
    assert_count(start_of_steady, "initial values", 0, 1);
    let guess_of_evolving = Text { guess: &["0"], ..HEAT };
    assert_count(guess_of_evolving, "guesses", 0, 1);
}

#[test]
fn the_equations_say_how_many_boundary_equations_they_need() {
    let one_end = Text { upper: &[], ..POISSON };
    assert_count(one_end, "boundary equations", 2, 1);
    let beam = Text { interior: &["u_xxxx - 1"], ..POISSON };
    assert_count(beam, "boundary equations", 4, 2);
    let transport = Text { interior: &["u_t + u_x"], ..HEAT };
    assert_count(transport, "boundary equations", 1, 2);
    let ring = Text { periodic: &["x"], ..POISSON };
    assert_count(ring, "boundary equations", 0, 2);
    assert!(refusal(transport).to_string().contains("inflow end"));
}

#[test]
fn parameter_values_are_counted() {
    let error = POISSON.solve(&[], 8, 0).expect_err("D has no value");
    assert!(error.to_string().starts_with("0 parameter values given where 1 are needed"));
}

#[test]
fn a_second_time_derivative_is_refused_by_name() {
    let wave = Text { interior: &["u_tt - u_xx"], ..HEAT };
    let derivative = "u_tt".to_string();
    assert_eq!(refusal(wave), SolveError::OrderInTime { derivative });
}

#[test]
fn names_without_a_value_are_told() {
    let time_in_steady = Text { interior: &["D*u_xx + sin(t)"], ..POISSON };
    let state_in_initial = Text { initial: &["1 + u"], ..HEAT };
    for (text, name, where_used) in
        [(time_in_steady, "t", "an interior residual"), (state_in_initial, "u", "an initial value")]
    {
        let expected = SolveError::UnknownLeaf { leaf: name.to_string(), place: where_used };
        assert_eq!(refusal(text), expected);
    }
}

#[test]
fn a_state_must_depend_on_the_coordinates() {
    let mut statement = HEAT.statement();
    // The time is no longer declared, but u(x, t) still depends on it.
    statement.time = None;
    statement.initial.clear();
    let error = Solver::new(statement).expect_err("u(x, t) is not steady");
    let state = "u".to_string();
    assert_eq!(error, SolveError::StateInputs { state });
}

#[test]
fn a_coefficient_is_a_function_of_space_with_a_value_per_node() {
    let text = Text { coefficients: &[("f", &["x"])], interior: &["D*u_xx + f"], ..POISSON };
    let solver = text.solver().expect("well posed");
    let solve = |coefficients: Vec<Vec<f64>>| {
        let values = Values { parameters: vec![1.0], coefficients };
        solver.solve(&values, &text.resolution(8, 0))
    };
    solve(vec![vec![1.0; 9]]).expect("nine nodes");
    for (coefficients, counted) in [(vec![], "coefficients"), (vec![vec![1.0; 8]], "values of a coefficient")]
    {
        let error = solve(coefficients).expect_err("too few");
        assert!(matches!(error, SolveError::WrongCount { what, .. } if what == counted), "{error}");
    }
    let error = solve(vec![vec![f64::NAN; 9]]).expect_err("not numbers");
    assert!(matches!(error, SolveError::NonFinite { .. }), "{error}");
    let in_time = Text { coefficients: &[("f", &["t"])], ..HEAT };
    assert_eq!(refusal(in_time), SolveError::CoefficientInputs { coefficient: "f".to_string() });
    let constant = Text { coefficients: &[("f", &[])], ..POISSON };
    assert_eq!(refusal(constant), SolveError::CoefficientInputs { coefficient: "f".to_string() });
}

#[test]
fn space_has_the_axes_that_it_has() {
    let mut statement = POISSON.statement();
    statement.boundary[1].side.axis = 1;
    let error = Solver::new(statement).expect_err("there is no second axis");
    assert_eq!(error, SolveError::NoSuchSide { axis: 1, axes: 1 });
    let mut statement = HEAT.statement();
    statement.time = statement.time.map(Axis::periodic);
    assert_eq!(Solver::new(statement).expect_err("time goes on"), SolveError::PeriodicTime);
    let mut statement = POISSON.statement();
    statement.space.clear();
    let error = Solver::new(statement).expect_err("no space");
    assert!(matches!(error, SolveError::WrongCount { what: "space axes", .. }), "{error}");
    let error = POISSON.solver().and_then(|solver| {
        let resolution = Resolution { cells: vec![8, 8], steps: 0 };
        solver.solve(&Values::parameters(&[1.0]), &resolution)
    });
    assert!(matches!(error, Err(SolveError::WrongCount { what: "numbers of cells", .. })));
}

#[test]
fn every_state_needs_an_equation() {
    let text = Text { states: &["u", "v"], interior: &["u_xx - 1", "u_x - 2"], ..POISSON };
    assert_eq!(refusal(text), SolveError::Undetermined);
}

#[test]
fn ranges_and_resolutions_are_checked() {
    let reversed = Text { x: (1.0, 0.0), ..POISSON };
    assert!(matches!(refusal(reversed), SolveError::EmptyAxis { name, .. } if name == "x"));
    let endless = Text { time: Some((0.0, f64::INFINITY)), ..HEAT };
    assert!(matches!(refusal(endless), SolveError::EmptyAxis { name, .. } if name == "t"));
    let coarse = POISSON.solve(&[1.0], 3, 0).expect_err("three cells");
    let expected = SolveError::TooCoarse { name: "x".to_string(), cells: 3, needed: 4 };
    assert_eq!(coarse, expected);
    let still = HEAT.solve(&[1.0], 8, 0).expect_err("no steps");
    assert_eq!(still, SolveError::NoSteps);
}

#[test]
fn a_steady_problem_with_flux_conditions_only_is_singular() {
    let text = Text { lower: &["u_x"], upper: &["u_x + 1"], ..POISSON };
    for cells in [8, 100, 1000] {
        let error = text.solve(&[1.0], cells, 0).expect_err("u + c solves it");
        assert!(matches!(error, SolveError::Singular { .. }), "{error}");
    }
    // Even where the guess is one of the solutions.
    let zero = Text { interior: &["D*u_xx"], lower: &["u_x"], upper: &["u_x"], ..POISSON };
    let error = zero.solve(&[1.0], 8, 0).expect_err("any constant solves it");
    assert!(matches!(error, SolveError::Singular { .. }), "{error}");
    // A parameter that switches the equation off is seen too.
    let error = POISSON.solve(&[0.0], 8, 0).expect_err("D = 0");
    assert!(matches!(error, SolveError::Singular { .. }), "{error}");
}

#[test]
fn a_problem_without_solution_does_not_converge() {
    // Bratu's problem has none beyond lambda = 3.5138.
    let text = Text { parameters: &["lambda"], interior: &["u_xx + lambda*exp(u)"], ..POISSON };
    text.solve(&[3.5], 100, 0).expect("below the fold");
    for lambda in [3.6, 10.0] {
        let error = text.solve(&[lambda], 100, 0).expect_err("beyond the fold");
        assert!(matches!(error, SolveError::NoConvergence { .. }), "{error}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_located() {
    let start = Text { initial: &["log(x - 0.25)"], ..HEAT };
    let error = start.solve(&[1.0], 8, 4).expect_err("log of -0.25");
    assert!(matches!(&error, SolveError::NonFinite { place, .. } if place == "x = 0, t = 0"), "{error}");
    // With the zero guess log(u) is not finite; a guess mends it.
    let log = Text { interior: &["D*u_xx - log(u)"], lower: &["u - 1"], upper: &["u - 1"], ..POISSON };
    let error = log.solve(&[1.0], 8, 0).expect_err("log of 0");
    let SolveError::NonFinite { what, place } = error else {
        panic!("{error}");
    };
    assert_eq!((what, &place[..]), ("a residual", "x = 0.125"));
    let mended = Text { guess: &["2"], ..log };
    let solution = mended.solve(&[1.0], 8, 0).expect("u = 1");
    assert!(common::largest_error(&solution, 0, |_, _| 1.0) < 1e-11);
    // A parameter value that is not a number.
    let error = HEAT.solve(&[f64::NAN], 8, 4).expect_err("D is not a number");
    assert!(matches!(error, SolveError::NonFinite { .. }), "{error}");
}

/// Steady and evolving, forward, along tangents and back.
#[test]
fn a_solver_that_is_interrupted_says_so() {
    for text in [POISSON, HEAT] {
        let signal = Interrupt::default();
        let solver = text.solver().expect("well posed").interruptible(signal.for_run());
        let (values, resolution) = (Values::parameters(&[1.0]), Resolution { cells: vec![20], steps: 20 });
        let solution = solver.solve(&values, &resolution).expect("nobody asked yet");
        signal.ask();
        assert_eq!(solver.solve(&values, &resolution).err(), Some(SolveError::Interrupted));
        assert_eq!(solver.tangents(&solution, 0..1).err(), Some(SolveError::Interrupted));
        assert_eq!(solver.adjoint(&solution, &solution.load()).err(), Some(SolveError::Interrupted));
    }
}
