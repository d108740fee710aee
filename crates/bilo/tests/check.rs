//! What `bilo check` finds before any training: truths that violate their problem, corners, unknowns
//! that the data do not see.

use bilo::data::observed_tables;
use bilo::identify::identifiability;
use bilo::problem::{
    Coordinate, DataSpec, FunctionSpec, Overrides, PointsSpec, Problem, ProblemBuilder, Table, Unknown,
};
use bilo::{Examination, examine};
use std::f64::consts::PI;
use std::path::Path;

const POISSON: &str = include_str!("../../../problems/poisson-scalar.toml");
const WAVE: &str = include_str!("../../../problems/advection-diffusion.toml");
const SPECIES: &str = include_str!("../../../problems/two-species.toml");
const TOY: &str = include_str!("../../../problems/bpn-toy.toml");
const SOFT_TOY: &str = include_str!("../../../problems/bpn-toy-soft.toml");
const FISHER: &str = include_str!("../../../problems/fisher-kpp.toml");

fn read(text: &str) -> Problem {
    Problem::from_toml("shipped.toml", text, Path::new("."), &Overrides::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The text with one of its parts replaced.
#[track_caller]
fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "nothing to replace: {from}");
    text.replacen(from, to, 1)
}

fn check(text: &str) -> Examination {
    examine(&read(text)).unwrap_or_else(|error| panic!("{error}"))
}

fn error_of(text: &str) -> String {
    examine(&read(text)).expect_err("a violated truth").to_string()
}

fn lines<'a>(found: &'a Examination, heading: &str) -> &'a [String] {
    let section = found.sections.iter().find(|(name, _)| name == heading);
    section.map_or(&[], |(_, lines)| lines.as_slice())
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

// The stated truth

/// Rounding of double precision, with sums over a thousand terms of different sizes: below 1e-12 %.
#[test]
fn exact_solutions_of_shipped_problems_satisfy_them_to_rounding() {
    for (text, claims) in [(POISSON, 2), (WAVE, 3), (SPECIES, 4), (TOY, 2), (SOFT_TOY, 3)] {
        let found = check(text);
        assert_eq!(found.warnings, [""; 0], "{:?}", found.warnings);
        let lines = lines(&found, "Stated truth");
        assert_eq!(lines.len(), claims, "{lines:?}");
        for line in lines {
            let share = line.split_once("satisfied (off by ").and_then(|(_, rest)| rest.split_once(" %"));
            let percent = share.map_or(0.0, |(percent, _)| percent.parse().expect("a number"));
            assert!(line.contains(": satisfied") && percent < 1e-12, "{line}");
        }
        // The reference solver on 200 cells: the wave is late by (2 pi h)^2/6 of its way of pi, 5e-4; the others less.
        let reference = self::lines(&found, "Identifiability").last().expect("a line");
        let (_, rest) = reference.split_once("differs from the stated truth by ").expect("a comparison");
        let relative: f64 = rest.split_once(" of it").expect("a share").0.parse().expect("a number");
        assert!(relative < 5e-4, "{reference}");
    }
}

/// -div(k a grad u) = f on the unit square, u = sin(pi x) sin(pi y), a = 1/(1 + x^2 + y^2 + (x-1)^2 +
/// (y-1)^2); a public benchmark has `slip` = + in its source, where the equation needs -.
fn benchmark(slip: char, points: PointsSpec) -> Problem {
    let a = "(1 + x^2 + y^2 + (x-1)^2 + (y-1)^2)";
    let source = format!(
        "2*pi^2*sin(pi*x)*sin(pi*y)/{a} + 2*pi*((2*x{slip}1)*cos(pi*x)*sin(pi*y) \
         + (2*y{slip}1)*sin(pi*x)*cos(pi*y))/{a}^2"
    );
    let table = Table { coordinates: vec![vec![0.5], vec![0.5]], values: vec![1.0], sigma: None };
    square()
        .unknown(Unknown::new("k", 0.5).truth(1.0))
        .known_state("u", "net", "sin(pi*x)*sin(pi*y)")
        .equation("balance", &format!("-div(k/{a}*grad(u)) - ({source})"), points)
        .observation("middle", "u", DataSpec::table(table))
        .build()
        .unwrap_or_else(|error| panic!("{error}"))
}

fn square() -> ProblemBuilder {
    Problem::builder("square")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::space("y", 0.0, 1.0))
}

/// The slip was published with a relative L2 difference of the sources of 38.8 %; the mean square over
/// a grid of 201x201 points with the boundary differs from the integral by a part in 200.
#[test]
fn the_sign_slip_of_a_public_benchmark_is_found_with_its_size() {
    let grid = || PointsSpec::grid([("x", 201), ("y", 201)]);
    let error = examine(&benchmark('+', grid())).expect_err("the slip").to_string();
    assert_has(
        &error,
        &["--> equation.balance.residual:1:1", "worst at x = 0.285, y = 0.29: ", "(here k = 1)"],
    );
    let (_, rest) = error.split_once("the stated truth violates the equation `balance` by ").expect("so");
    let percent: f64 = rest.split_once(" % (relative L2)").expect("a share").0.parse().expect("a number");
    assert!((percent - 38.8).abs() < 0.2, "{percent}");
    let found = examine(&benchmark('-', grid())).unwrap_or_else(|error| panic!("{error}"));
    assert_has(&lines(&found, "Stated truth")[0], &["equation balance: satisfied"]);
}

/// The same with a as an unknown function, as the benchmark has it: div(a*grad(u)) is then expanded for
/// an opaque a, and the stated a put in its place.
#[test]
fn the_sign_slip_is_found_with_an_unknown_function() {
    let a = "1/(1 + x^2 + y^2 + (x-1)^2 + (y-1)^2)";
    let problem = |slip: char| {
        let source = format!(
            "2*pi^2*sin(pi*x)*sin(pi*y)*{a} + 2*pi*((2*x{slip}1)*cos(pi*x)*sin(pi*y) \
             + (2*y{slip}1)*sin(pi*x)*cos(pi*y))*({a})^2"
        );
        let table = Table { coordinates: vec![vec![0.5], vec![0.5]], values: vec![1.0], sigma: None };
        square()
            .unknown_function(FunctionSpec::new("a", ["x", "y"], "0.5").truth(a).form("softplus(net)"))
            .known_state("u", "net*x*(1-x)*y*(1-y)", "sin(pi*x)*sin(pi*y)")
            .equation(
                "balance",
                &format!("-div(a*grad(u)) - ({source})"),
                PointsSpec::grid([("x", 201), ("y", 201)]),
            )
            .observation("middle", "u", DataSpec::table(table))
            .build()
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let error = examine(&problem('+')).expect_err("the slip").to_string();
    let (_, rest) = error.split_once("the stated truth violates the equation `balance` by ").expect("so");
    let percent: f64 = rest.split_once(" % (relative L2)").expect("a share").0.parse().expect("a number");
    assert!((percent - 38.8).abs() < 0.2, "{percent}");
    let found = examine(&problem('-')).unwrap_or_else(|error| panic!("{error}"));
    assert_has(&lines(&found, "Stated truth")[0], &["equation balance: satisfied"]);
}

/// The values published with the slip: at (0.2, 0.3) the operator gives 3.5002, the source 5.9606.
#[test]
fn a_violation_says_what_is_made_and_what_is_needed() {
    let point = PointsSpec::list(vec![vec![0.2], vec![0.3]]);
    let error = examine(&benchmark('+', point)).expect_err("the slip").to_string();
    let made = "worst at x = 0.2, y = 0.3: its terms with `u` make 3.5002, where 5.9606 is needed";
    assert_has(&error, &[made]);
}

#[test]
fn a_violated_equation_is_shown_in_the_file() {
    let wrong = with(POISSON, "truth = \"sin(pi*x)/D\"", "truth = \"sin(pi*x)\"");
    // D u'' = -2 pi^2 sin against -pi^2 sin: half of what is made.
    let error = error_of(&wrong);
    assert_has(
        &error,
        &["violates the equation `balance` by 50.0 % (relative L2)", "--> shipped.toml:18:13"],
    );
    let wrong = with(POISSON, "truth = 2.0", "truth = 3.0");
    assert_has(&error_of(&with(&wrong, "sin(pi*x)/D\"", "sin(pi*x)/2\"")), &["by 33.3 %", "(here D = 3)"]);
}

/// A truth that satisfies the equation and misses a condition by a number.
#[test]
fn violated_conditions_forms_and_periods_are_errors_of_their_own() {
    let soft = with(SOFT_TOY, "- x*(1-x)\"", "- x*(1-x) + 0.25*x\"");
    let expected = "violates the equation `right` by 20.0 % (relative L2); worst at x = 1: its terms with `y` make \
                    1.25, where 1 is needed";
    assert_has(&error_of(&soft), &[expected]);
    let hard = with(POISSON, "sin(pi*x)/D\"", "sin(pi*x)/D + 0.5*x\"");
    let expected = "violates the values that the form of `u` holds by 100.0 % (relative L2); worst at x = 1: it is \
                    0.5, where 0 is needed";
    assert_has(&error_of(&hard), &[expected, "form  = \"net*x*(1-x)\""]);
    let torn = with(WAVE, "form  = \"sin(2*pi*x) + net*t\"", "form = \"net\"");
    let torn = with(&torn, "truth = \"s*t +", "truth = \"x - c*t + s*t +");
    assert_has(&error_of(&torn), &["violates the period of `x`", "truth = \"x - c*t"]);
}

/// Terms that cancel, or vanish at their points, are measured against their own size.
#[test]
fn homogeneous_equations_have_a_scale() {
    let harmonic = |truth: &str| {
        let ends = PointsSpec::grid([("x", 11)]).hold("y", [0.0, 1.0]);
        let table = Table { coordinates: vec![vec![0.5], vec![0.5]], values: vec![4.81], sigma: None };
        square()
            .unknown(Unknown::new("k", 0.5).truth(1.0))
            .known_state("u", "net", truth)
            .equation("laplace", "lap(u)", PointsSpec::grid([("x", 11), ("y", 11)]))
            .equation("ends", "u", ends)
            .observation("middle", "k*u", DataSpec::table(table))
            .build()
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let found = examine(&harmonic("k*exp(pi*x)*sin(pi*y)")).unwrap_or_else(|error| panic!("{error}"));
    let found = lines(&found, "Stated truth");
    assert!(found[..2].iter().all(|line| line.contains("satisfied")), "{found:?}");
    // u_yy is four times too large: r = u_xx + u_yy = 3/4 u_yy, all of it made by the states.
    let error = examine(&harmonic("k*exp(pi*x)*sin(2*pi*y)")).expect_err("not harmonic").to_string();
    assert_has(&error, &["violates the equation `laplace` by 75.0 %", "where 0 is needed"]);
}

#[test]
fn equations_of_states_without_a_truth_are_named_as_not_checked() {
    let text = with(SPECIES, "truth = \"exp(-D*pi^2*t)*(1 - exp(-k*t))*sin(pi*x)\"\n", "");
    let found = check(&text);
    let found = lines(&found, "Stated truth");
    assert_has(&found.join("\n"), &["equation consumed: satisfied"]);
    assert_has(&found.join("\n"), &["equation produced: not checked, the truth of `v` is not stated"]);
}

#[test]
fn a_truth_without_a_finite_residual_is_an_error_at_the_point() {
    let text = with(POISSON, "sin(pi*x)/D\"", "sqrt(x)\"");
    assert_has(&error_of(&text), &["the equation `balance` has no finite residual at x = 0\n"]);
}

/// Data of u = sin(pi x)/2 with an error of known size and a stated sigma.
fn measured(error: f64, sigma: Option<f64>) -> Problem {
    let x: Vec<f64> = (1..20).map(|i| f64::from(i) / 20.0).collect();
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let values: Vec<f64> =
        x.iter().enumerate().map(|(i, x)| (PI * x).sin() / 2.0 + sign(i) * error).collect();
    // The first half is ten times as precise.
    let sigma = sigma.map(|s| (0..19).map(|i| if i < 10 { s / 10.0 } else { s }).collect());
    let mut problem = read(POISSON);
    problem.observations[0].data = bilo::problem::Data::Table(Table { coordinates: vec![x], values, sigma });
    problem
}

#[test]
fn data_are_held_against_the_stated_truth_in_units_of_their_sigma() {
    let found = examine(&measured(1e-3, Some(1e-2))).expect("good data");
    // (10*1 + 9*0.01)/19 = 0.531, its root 0.73.
    assert_has(
        &lines(&found, "Stated truth").join("\n"),
        &["data profile: off by 1.000e-3", "0.73 of their sigma"],
    );
    assert_eq!(found.warnings, [""; 0]);
    let found = examine(&measured(1e-2, Some(1e-2))).expect("data apart from the truth");
    assert_has(
        &found.warnings[0],
        &["the stated truth does not describe the data `profile`", "7.29 of their sigma"],
    );
    assert_eq!(examine(&measured(1e-2, None)).expect("unknown noise").warnings, [""; 0]);
    let found = examine(&measured(0.5, None)).expect("other data");
    assert_has(&found.warnings[0], &["the stated truth does not describe the data `profile`"]);
}

// Corners

#[test]
fn the_corners_of_fisher_kpp_are_named_with_their_cost() {
    let text = with(FISHER, ", where = \"t > 0 or (x > 0 and x < 1)\"", "");
    let found = check(&text);
    // r = -0.01 pi^2 D at both corners, D = 1: -0.0987; mean square 2*0.0987^2/2601 = 7.49e-6.
    let expected = "at 2 of the 2601 points of equation `front`, (x, t) = (0, 0), (1, 0), the residual is -0.0987 for \
                    every network";
    assert_has(&found.warnings.join("\n"), &[expected, "cannot fall below 7.49e-6"]);
    let shipped = check(FISHER);
    assert_eq!(shipped.warnings, [""; 0]);
    let expected = "left out, rightly: (x, t) = (0, 0), (1, 0), where conditions and equation disagree: the residual is -0.0987";
    assert_has(&lines(&shipped, "Local operator").join("\n"), &[expected]);
    let random = check(&with(
        FISHER,
        "grid = { x = 51, t = 51 }, where = \"t > 0 or (x > 0 and x < 1)\"",
        "random = 50",
    ));
    assert_has(
        &lines(&random, "Local operator").join("\n"),
        &["not among them, rightly: (x, t) = (0, 0), (1, 0)"],
    );
}

/// The heat equation with the start held by the form or by a condition, and a condition at x = 0.
fn heated(form: &str, start: Option<&str>, left: &str, keep: &str) -> Examination {
    let mut heat = Problem::builder("heat")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("D", 1.0))
        .state("u", form)
        .equation("heat", "u_t - D*u_xx", PointsSpec::grid([("x", 11), ("t", 11)]).keep("t > 0"))
        .equation("left", left, PointsSpec::grid([("t", 11)]).hold("x", [0.0]).keep(keep))
        .equation("right", "u_x", PointsSpec::grid([("t", 11)]).hold("x", [1.0]));
    if let Some(start) = start {
        heat = heat.equation("start", start, PointsSpec::grid([("x", 11)]).hold("t", [0.0]));
    }
    let table = Table { coordinates: vec![vec![0.5], vec![0.5]], values: vec![1.0], sigma: None };
    let problem = heat.observation("middle", "u", DataSpec::table(table)).build();
    let problem = problem.unwrap_or_else(|error| panic!("{error}"));
    examine(&problem).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_form_and_a_condition_that_disagree_at_a_corner_are_named() {
    let found = heated("cos(pi*x) + net*t", None, "u - 0.25", "1");
    let expected = "at 1 of the 11 points of equation `left`, (x, t) = (0, 0), the residual is 0.75 for every network: \
                    the form holds other values there than this condition asks for";
    // 0.75^2/11 = 0.0511.
    assert_has(&found.warnings.join("\n"), &[expected, "cannot fall below 5.11e-2"]);
    assert_eq!(heated("cos(pi*x) + net*t", None, "u - 1", "1").warnings, [""; 0]);
    assert_eq!(heated("cos(pi*x) + net*t", None, "u - 0.25", "t > 0").warnings, [""; 0]);
}

#[test]
fn an_initial_and_a_boundary_condition_that_disagree_are_named() {
    let found = heated("net", Some("u - cos(pi*x)"), "2*u - 0.5", "1");
    // 2 u = 2 at the start, 2 u = 0.5 at the left.
    let expected = "equations `left` and `start` contradict each other where they meet: at x = 0, t = 0 they ask for \
                    values that differ by 0.75";
    assert_has(&found.warnings.join("\n"), &[expected]);
    assert_eq!(heated("net", Some("u - cos(pi*x)"), "u - 1 - t", "1").warnings, [""; 0]);
    assert_eq!(heated("net", Some("u - cos(pi*x)"), "u_x", "1").warnings, [""; 0]);
    assert_eq!(heated("net", Some("u - cos(pi*x)"), "2*u - 0.5", "t > 0").warnings, [""; 0]);
}

// What the data see

/// Two species where the second only follows the first, with a rate m of its own.
fn with_follower(observed: &str) -> String {
    let text = with(SPECIES, "[state.u]", "[unknown.m]\nguess = 1.0\ntruth = 0.5\n\n[state.u]");
    let text = with(&text, "- k*u\"", "- k*u + m*v\"");
    let text = with(&text, "truth = \"exp(-D*pi^2*t)*(1 - exp(-k*t))*sin(pi*x)\"\n", "");
    with(&text, "value = \"v\"", &format!("value = \"{observed}\""))
}

#[test]
fn an_unknown_of_a_state_that_is_not_observed_is_named() {
    let found = check(&with_follower("u"));
    let expected = "no data depend on the unknown `m`, so nothing can move it from its guess: it occurs in equation \
                    produced only and moves the state `v`, which is not observed (only `u` is";
    assert_has(&found.warnings.join("\n"), &[expected]);
    // u alone depends on D pi^2 + k only, which is another matter and said by itself.
    assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
    assert_has(&found.warnings[1], &["the data hardly see the combination"]);
    assert_has(
        &lines(&found, "Unknowns").join("\n"),
        &["m: guess 1, truth 0.5; in equation produced; reaches no data"],
    );
    for observed in ["v", "u + v"] {
        assert_eq!(check(&with_follower(observed)).warnings, [""; 0], "{observed}");
    }
}

/// k moves u, and u moves v: seen through an equation in which it does not occur.
#[test]
fn an_unknown_may_reach_the_data_through_another_state() {
    let text = with(SPECIES, "- k*u\"", "- u\"");
    let text = with(&text, "truth = \"exp(-D*pi^2*t)*(1 - exp(-k*t))*sin(pi*x)\"\n", "");
    let found = check(&text);
    assert_has(
        &lines(&found, "Unknowns").join("\n"),
        &["k: guess 1, truth 2; in equation consumed; reaches the data through the solution"],
    );
    assert_eq!(found.warnings, [""; 0]);
}

/// The form holds u at t = 0, so data of the start say nothing.
#[test]
fn unknowns_without_sensitivities_are_named_after_the_solve() {
    let text = with(
        FISHER,
        "grid = { x = 51, t = 51 }, noise = 0.0",
        "grid = { x = 51 }, at = { t = 0.0 }, noise = 0.1",
    );
    let found = check(&text);
    let said = found.warnings.join("\n");
    assert_has(&said, &["the data do not see the unknown `D`", "the data do not see the unknown `rho`"]);
    assert_has(&lines(&found, "Identifiability").join("\n"), &["D: not determined by the data"]);
}

/// u = s t + a wave without s: what is left of s in u - s t is rounding, and a part in 1e8 of it is more.
#[test]
fn an_unknown_that_cancels_up_to_rounding_is_unseen_and_a_weak_one_is_not() {
    let cancelled = check(&with(WAVE, "value = \"u\"", "value = \"u - s*t\""));
    assert_eq!(cancelled.warnings.len(), 1, "{:?}", cancelled.warnings);
    assert_has(&cancelled.warnings[0], &["the data do not see the unknown `s`"]);
    let weak = check(&with(WAVE, "value = \"u\"", "value = \"u - s*t + 1e-8*s\""));
    assert_eq!(weak.warnings.len(), 1, "{:?}", weak.warnings);
    assert_has(&weak.warnings[0], &["the data hardly see the combination ", "1.00 s of relative changes"]);
}

// Cramer-Rao

/// u = sin(pi x)/D, so du/dlog D = -u, and the bound on the relative deviation of D is one over the
/// root of the sum of (u/sigma)^2. The classical solution has an error of (pi/200)^2/12 = 2e-5.
#[test]
fn the_bound_uses_the_sigma_of_each_value() {
    let problem = measured(0.0, Some(1e-2));
    let information = |i: i32| {
        let sigma = if i < 11 { 1e-3 } else { 1e-2 };
        ((PI * f64::from(i) / 20.0).sin() / 2.0 / sigma).powi(2)
    };
    let bound = 1.0 / (1..20).map(information).sum::<f64>().sqrt();
    let found = identifiability(&problem).expect("a reference solver").expect("a solution");
    assert!((found.relative_deviation[0] / bound - 1.0).abs() < 1e-4, "{found:?} {bound}");
    let said = examine(&problem).expect("good data");
    let expected =
        format!("D: standard deviation {:.2} % at best with the sigma of each value", 100.0 * bound);
    assert_has(&lines(&said, "Identifiability").join("\n"), &[&expected]);
    // Of errors that nobody stated it is a hundredth of the data: the root of the sum of (u/(0.01 rms))^2 is 100 times that
    // of the number of data.
    let assumed = identifiability(&measured(0.0, None)).expect("a reference solver").expect("a solution");
    assert_eq!(assumed.noise.as_deref(), Some("noise of 1 % of the data"));
    let count = observed_tables(&measured(0.0, None), 0).unwrap()[0].values.len() as f64;
    assert!((assumed.relative_deviation[0] * 100.0 * count.sqrt() - 1.0).abs() < 1e-3, "{assumed:?}");
}

#[test]
fn the_bound_uses_the_noise_of_synthetic_data() {
    let problem = read(&with(POISSON, "grid = { x = 51 }", "grid = { x = 51 }, noise = 0.1"));
    // The sum of sin^2 over a grid of 50 cells is 25.
    let bound = 0.1 / (25.0_f64 / 4.0).sqrt();
    let found = identifiability(&problem).expect("a reference solver").expect("a solution");
    assert!((found.relative_deviation[0] / bound - 1.0).abs() < 1e-4, "{found:?} {bound}");
    assert_eq!(found.noise.as_deref(), Some("noise 0.1"));
}

/// Derivatives by relative changes of an unknown, whether it is moved as itself, scaled or by its logarithm:
/// the same up to rounding, and for u = sin(pi x)/D the root of the sum of u^2, 25/4, up to 2e-5.
#[test]
fn singular_values_do_not_depend_on_what_moves_the_unknowns() {
    let values = |text: &str| {
        identifiability(&read(text)).expect("a reference solver").expect("a solution").singular_values
    };
    for (text, unknown) in [(POISSON, "[unknown.D]"), (WAVE, "[unknown.c]"), (FISHER, "[unknown.rho]")] {
        let plain = values(text);
        for moved in ["transform = \"log\"", "scale = 7.0"] {
            let found = values(&with(text, unknown, &format!("{unknown}\n{moved}")));
            for (found, plain) in found.iter().zip(&plain) {
                assert!((found / plain - 1.0).abs() < 1e-9, "{unknown} {moved}: {found} {plain}");
            }
        }
    }
    assert!((values(POISSON)[0] / 2.5 - 1.0).abs() < 1e-4, "{:?}", values(POISSON));
}
