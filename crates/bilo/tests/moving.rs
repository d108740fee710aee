//! Inputs and points that move with unknowns: a source of unknown strength lambda at an unknown place z,
//! u_xx + lambda delta(x - z) - mu u = 0 with u = 0 at both ends, whose exact solution is known.

use crate::common;
use crate::source;

use bilo::data::observed_tables;
use bilo::data_loss::DataLoss;
use bilo::level::{Lower, Upper};
use bilo::observed::network_observed;
use bilo::observer::Silent;
use bilo::operator::LocalOperator;
use bilo::outcome::Outcome;
use bilo::problem::{Coordinate, DataSpec, Formula, PointsSpec, Problem, Table, Unknown};
use bilo::reference::ReferenceSolver;
use bilo::state::OperatorState;
use bilo::{Job, Method, run};
use bilo_jet::{Device, FieldProgram, PointSource, Precision, cpu};
use source::{exact, read, try_read};

const SOURCE: &str = r#"
name = "unknown-source"

[coordinates]
x = [0.0, 1.0]

[unknown.z]
guess = 0.4
truth = 0.57

[unknown.lambda]
guess = 250.0
truth = 500.0
scale = 100.0

[unknown.mu]
guess = 5.0
truth = 2.5

[input.phi]
value = "abs(x - z)"

[state.u]
form = "50*net^2*x*(1-x)"

[equation.bulk]
residual = "u_xx - mu*u"
points   = { grid = { x = 101 }, where = "x != z" }

[equation.jump]
residual = "u_phi + lambda/2"
points   = { at = { x = "z" } }

[observation.level]
value = "u"
data  = { synthetic = { grid = { x = 21 } } }
"#;

/// du/dz at a fixed x, which jumps by lambda where z passes x.
fn exact_slope(x: f64, [z, lambda, mu]: [f64; 3]) -> f64 {
    let s = f64::sqrt(mu);
    match x < z {
        true => -lambda * (s * x).sinh() * (s * (1.0 - z)).cosh() / s.sinh(),
        false => lambda * (s * z).cosh() * (s * (1.0 - x)).sinh() / s.sinh(),
    }
}

/// Data of the exact solution at (0.57, 500, 2.5), on 21 points.
fn with_exact_data(mut problem: Problem) -> Problem {
    let x: Vec<f64> = (0..=20).map(|i| f64::from(i) / 20.0).collect();
    let values = x.iter().map(|&x| exact(x, [0.57, 500.0, 2.5])).collect();
    problem.observations[0].data =
        bilo::problem::Data::Table(Table { coordinates: vec![x], values, sigma: None });
    problem
}

/// (f(eta + h) - f(eta - h))/(2 h) by variable j, whose error is about h² and rounding/h.
fn difference(f: &mut dyn FnMut(&[f64]) -> Vec<f64>, eta: &[f64], j: usize) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let [mut low, mut high] = [eta.to_vec(), eta.to_vec()];
    (low[j], high[j]) = (low[j] - STEP, high[j] + STEP);
    f(&low).iter().zip(f(&high)).map(|(low, high)| (high - low) / (2.0 * STEP)).collect()
}

/// A network with its device, in double precision.
struct Network {
    operator: LocalOperator,
    device: Box<dyn Device>,
    weights: Vec<f64>,
}

impl Network {
    fn new(problem: &Problem) -> Self {
        let operator = LocalOperator::new(problem, 3).expect("an operator");
        let weights = operator.initial_weights(3);
        Self { operator, device: cpu(Precision::F64, Some(1)), weights }
    }

    /// The residual of an equation at fixed places.
    fn residual(&mut self, equation: usize, columns: Vec<Vec<f64>>, eta: &[f64]) -> Vec<f64> {
        let residual = self.operator.residuals[equation];
        let graph = &mut self.operator.names.graph;
        let program = FieldProgram::new(graph, &self.operator.operator, &[residual]).expect("a program");
        self.device
            .evaluate(&program, PointSource::stored(columns), &self.weights, eta, &[])
            .expect("the CPU never fails")
            .remove(0)
    }
}

fn mean_square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64
}

/// Untrained, at fixed weights: the bulk's residual at fixed points, that of the jump at the point that goes with z.
/// The tolerance is that of the differences, relative to residuals of order one hundred.
#[test]
fn residual_gradients_are_total_derivatives_by_the_unknowns() {
    let problem = read(SOURCE, &["network.width=8", "equation.bulk.points.grid.x=12"]);
    let mut network = Network::new(&problem);
    let eta = [0.4, 2.5, 5.0];
    let lower = Lower::new(&problem, &mut network.operator, network.device.as_mut(), 0).expect("loaded");
    let mut gradient = vec![0.0; network.weights.len()];
    let weights = network.weights.clone();
    let (total, terms) = lower
        .loss(network.device.as_mut(), &weights, &eta, Some(&mut gradient))
        .expect("the CPU never fails");
    let bulk = problem.equations[0].points.columns(&problem, 0).expect("points").remove(0);
    assert_eq!(bulk.len(), 12, "no node of this grid is at the guess of z");
    for equation in 0..2 {
        let places = |eta: &[f64]| if equation == 0 { bulk.clone() } else { vec![eta[0]] };
        let mut residual = |eta: &[f64]| network.residual(equation, vec![places(eta)], eta);
        let value = mean_square(&residual(&eta));
        let slopes: f64 = (0..3).map(|j| mean_square(&difference(&mut residual, &eta, j))).sum();
        let found = &terms[2 * equation..2 * equation + 2];
        assert!((found[0] - value).abs() < 1e-12 * value, "{equation}: {found:?}, {value}");
        assert!((found[1] - slopes).abs() < 1e-7 * slopes, "{equation}: {found:?}, {slopes}");
    }
    let mut loss = |weights: &[f64]| {
        vec![lower.loss(network.device.as_mut(), weights, &eta, None).expect("the CPU never fails").0]
    };
    for j in (0..weights.len()).step_by(7) {
        let expected = difference(&mut loss, &weights, j)[0];
        assert!((gradient[j] - expected).abs() < 1e-7 * total, "weight {j}: {}, {expected}", gradient[j]);
    }
}

/// d/d eta of observed values and of the data loss at fixed weights.
#[test]
fn observed_values_move_with_the_input() {
    let problem = read(SOURCE, &["network.width=8", "observation.level.value='u*(1 + phi)*mu'"]);
    let mut network = Network::new(&problem);
    let tables = observed_tables(&problem, 0).expect("data");
    let (eta, data) = (vec![0.42, 2.5, 5.0], DataLoss::new(&problem, &tables));
    let weights = network.weights.clone();
    let mut observed = |eta: &[f64]| {
        let point = OperatorState::new(weights.clone(), eta.to_vec());
        let Network { operator, device, .. } = &mut network;
        network_observed(&data, &data.sites(&point.eta).expect("sites"), operator, device.as_mut(), &point)
            .expect("values")
            .remove(0)
    };
    let found = observed(&eta);
    let size = found.values.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    for (j, slopes) in found.slopes.iter().enumerate() {
        let expected = difference(&mut |eta| observed(eta).values, &eta, j);
        for (slope, expected) in slopes.iter().zip(expected) {
            assert!((slope - expected).abs() < 1e-7 * size, "by {j}: {slope}, {expected}");
        }
    }
    let Network { operator, device, .. } = &mut network;
    let upper = Upper::new(&problem, operator, device.as_mut(), tables.clone()).expect("loaded");
    let found = upper.loss(device.as_mut(), &weights, &eta).expect("the CPU never fails");
    for (j, slope) in found.by_eta.iter().enumerate() {
        let expected = difference(
            &mut |eta| upper.loss(device.as_mut(), &weights, eta).expect("the CPU never fails").terms,
            &eta,
            j,
        )[0];
        assert!((slope - expected).abs() < 1e-7 * found.terms[0], "by {j}: {slope}, {expected}");
    }
}

/// Halving h divides the errors by four, for u and for du/dz, also within a hundredth of a cell of the kink.
#[test]
fn the_twin_solves_and_differentiates_at_any_place_of_the_source() {
    let [z, lambda, mu] = [0.37, 500.0, 2.5];
    let x = vec![0.1, 0.25, z - 1e-2, z - 1e-5, z + 1e-5, z + 1e-2, 0.6, 0.93];
    let u = Formula::parse("u", Default::default()).expect("it parses");
    let errors = [100, 200, 400].map(|cells| {
        let reference = ReferenceSolver::new(&read(SOURCE, &[&format!("classical.cells={cells}")]))
            .expect("a reference solver");
        let found = reference.solve(&[z, lambda / 100.0, mu]).expect("linear");
        let found = found.observe_with_slopes(&u, std::slice::from_ref(&x)).expect("slopes");
        let worst = |values: &[f64], exact: fn(f64, [f64; 3]) -> f64| {
            let off = |(value, &x): (&f64, &f64)| (value - exact(x, [z, lambda, mu])).abs() / lambda;
            values.iter().zip(&x).map(off).fold(0.0, f64::max)
        };
        [worst(&found.values, exact), worst(&found.slopes[0], exact_slope)]
    });
    for quantity in 0..2 {
        let errors = errors.map(|errors| errors[quantity]);
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((order - 2.0).abs() < 0.1, "quantity {quantity}: {errors:?}");
        }
        assert!(errors[2] < 1e-5, "quantity {quantity}: {errors:?}");
    }
}

#[test]
fn the_adjoint_agrees_with_differences_by_the_place_of_the_source() {
    common::assert_gradient(&with_exact_data(read(SOURCE, &["classical.cells=40", "unknown.z.guess=0.42"])));
}

/// A source that is switched on at t = 0 at an unknown place: the same for a state that evolves.
#[test]
fn the_place_of_a_source_in_time_has_an_adjoint_too() {
    let table =
        Table { coordinates: vec![vec![0.2, 0.7], vec![0.5, 1.0]], values: vec![0.1, 0.2], sigma: None };
    let problem = Problem::builder("evolving")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("z", 0.43))
        .unknown(Unknown::new("k", 0.1))
        .input("phi", "abs(x - z)")
        .state("u", "net*x*(1-x)*t")
        .equation("bulk", "u_t - k*u_xx", PointsSpec::grid([("x", 11), ("t", 11)]).keep("x != z"))
        .equation("jump", "2*u_phi + 1", PointsSpec::grid([("t", 11)]).follow("x", "z"))
        .observation("level", "u", DataSpec::table(table))
        .set("classical.cells=20")
        .set("classical.steps=10")
        .build()
        .expect("a valid problem");
    common::assert_gradient(&problem);
    let mut network = Network::new(&problem);
    let lower = Lower::new(&problem, &mut network.operator, network.device.as_mut(), 0).expect("loaded");
    let (eta, weights) = ([0.43, 0.1], network.weights.clone());
    let (_, terms) = lower.loss(network.device.as_mut(), &weights, &eta, None).expect("the CPU never fails");
    let t: Vec<f64> = (0..11).map(|i| f64::from(i) / 10.0).collect();
    let mut residual = |eta: &[f64]| network.residual(1, vec![vec![eta[0]; t.len()], t.clone()], eta);
    let slopes: f64 = (0..2).map(|j| mean_square(&difference(&mut residual, &eta, j))).sum();
    assert!((terms[3] - slopes).abs() < 1e-7 * slopes, "{terms:?}, {slopes}");
}

fn outcome(problem: &Problem, method: &'static dyn Method, seed: u64) -> Outcome {
    run(problem, &Job { seed, threads: Some(1), method, ..Job::default() }, &mut Silent).expect("it runs")
}

/// Clean data of the exact formula: what is left is the error of the discretisation.
#[test]
fn the_adjoint_method_finds_the_place_of_the_source() {
    let problem = with_exact_data(read(SOURCE, &["classical.cells=200"]));
    let found = outcome(&problem, &bilo::method::Adjoint, 0);
    for (unknown, tolerance) in found.unknowns.numbers.iter().zip([1e-5, 1e-4, 1e-4]) {
        let error = unknown.relative_error().expect("a truth");
        assert!(error < tolerance, "{}: off by {error}", unknown.name);
    }
}

/// Over eight seeds z ended within 1.2e-4 of the truth (relative), lambda within 4e-3 and mu, which the data see fifty
/// times worse than these, within 2e-2.
#[test]
fn training_finds_the_place_of_the_source() {
    let set = [
        "operator.kind=network",
        "network.width=16",
        "equation.bulk.points.grid.x=32",
        "classical.cells=100",
        "train.pretrain-steps=500",
        "train.train-steps=1500",
        "train.theta-rate=0.02",
        "train.optimiser=soap",
        "train.theta-optimiser=soap",
    ];
    let found = outcome(&read(SOURCE, &set), &bilo::method::Bilo, 2);
    for (unknown, tolerance) in found.unknowns.numbers.iter().zip([1e-3, 0.02, 0.1]) {
        let error = unknown.relative_error().expect("a truth");
        assert!(error < tolerance, "{}: off by {error}", unknown.name);
    }
    let off = found.states[0].relative_l2_vs_classical.expect("a reference solver");
    assert!(off < 1e-3, "u is off by {off}");
}

/// Polynomials of x and phi move with z too. Clean data of the reference solver, whose cells are what the two differ by.
#[test]
fn a_dictionary_finds_the_place_of_the_source() {
    let found = outcome(&read(SOURCE, &[]), &bilo::method::Bilo, 0);
    assert_eq!(found.operator.as_ref().expect("a local operator").kind.name(), "dictionary");
    for (unknown, tolerance) in found.unknowns.numbers.iter().zip([1e-5, 1e-4, 1e-4]) {
        let error = unknown.relative_error().expect("a truth");
        assert!(error < tolerance, "{}: off by {error}", unknown.name);
    }
    let off = found.states[0].relative_l2_vs_classical.expect("a reference solver");
    assert!(off < 1e-4, "u is off by {off}");
}

/// The same problem from Rust, and one that says where its source is by an expression.
#[test]
fn the_builder_states_points_that_follow_unknowns() {
    let by_hand = |place: &str, input: &str| {
        Problem::builder("unknown-source")
            .coordinate(Coordinate::space("x", 0.0, 1.0))
            .unknown(Unknown::new("z", 0.4).truth(0.57))
            .unknown(Unknown::new("lambda", 250.0).truth(500.0).scale(100.0))
            .unknown(Unknown::new("mu", 5.0).truth(2.5))
            .input("phi", input)
            .state("u", "50*net^2*x*(1-x)")
            .equation("bulk", "u_xx - mu*u", PointsSpec::grid([("x", 101)]).keep("x != z"))
            .equation("jump", "u_phi + lambda/2", PointsSpec::grid([]).follow("x", place))
            .observation("level", "u", DataSpec::synthetic(PointsSpec::grid([("x", 21)]), 0.0))
            .build()
    };
    let problem = by_hand("z", "abs(x - z)").expect("a valid problem");
    assert_eq!(problem, read(SOURCE, &[]));
    assert_eq!(problem.equations[1].points.at, [(0, vec![0.4])], "the values at the guess");
    assert_eq!(problem.equations[0].points.columns(&problem, 0).expect("points")[0].len(), 100);
    let shifted = by_hand("0.1 + z/2", "abs(x - 0.1 - z/2)").expect("a valid problem");
    let solve = |problem: &Problem, z: f64| {
        let reference = ReferenceSolver::new(problem).expect("a reference solver");
        reference.solve(&[z, 5.0, 2.5]).expect("linear").state(0, &[vec![0.1, 0.3, 0.35, 0.9]])
    };
    for (a, b) in solve(&problem, 0.35).into_iter().zip(solve(&shifted, 0.5)) {
        assert!((a - b).abs() < 1e-9 * a, "{a}, {b}");
    }
    let error = by_hand("z + 1", "abs(x - z)").expect_err("outside").to_string();
    assert!(error.contains("at the guess of the unknowns x = 1.4 is outside the domain"), "{error}");
}

/// phi = lambda |x - z| makes u_phi = -1/2 of the same jump: the slope of the input moves with lambda.
#[test]
fn the_size_of_a_kink_may_move_with_unknowns() {
    let stretched =
        SOURCE.replace("abs(x - z)", "lambda*abs(x - z)").replace("u_phi + lambda/2", "u_phi + 1/2");
    let u = Formula::parse("u", Default::default()).expect("it parses");
    let [found, expected] = [&stretched[..], SOURCE].map(|text| {
        let reference =
            ReferenceSolver::new(&read(text, &["classical.cells=100"])).expect("a reference solver");
        let solution = reference.solve(&[0.37, 5.0, 2.5]).expect("linear");
        solution.observe_with_slopes(&u, &[vec![0.1, 0.36, 0.5]]).expect("slopes")
    });
    for (found, expected) in found.slopes.iter().flatten().zip(expected.slopes.iter().flatten()) {
        assert!((found - expected).abs() < 1e-9 * expected.abs(), "{found}, {expected}");
    }
}

fn message(text: &str) -> String {
    match try_read(text, &[]) {
        Err(error) => error.to_string(),
        Ok(problem) => match ReferenceSolver::new(&problem) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("no error"),
        },
    }
}

/// Every error shows the line and says what is wrong with it.
#[test]
fn what_cannot_be_is_told_where_it_is_written() {
    let function = "[unknown.D]\nof = [\"x\"]\nguess = \"1\"\n\n[input.phi]";
    let cases = [
        (
            "x = \"z\"",
            "x = \"z + 1\"",
            "at the guess of the unknowns x = 1.4 is outside the domain [0.0, 1.0]",
        ),
        (
            "x = \"z\"",
            "x = \"z + 0.5\"",
            "at the truth of the unknowns x = 1.0699999999999998 is outside the domain",
        ),
        ("x = \"z\"", "x = \"z*x\"", "unknown name `x`"),
        ("x = \"z\"", "x = \"z*u\"", "unknown name `u`"),
        ("x = \"z\"", "x = [0.3, \"z\"]", "a place that follows an unknown must be the only one"),
        ("x = \"z\"", "x = \"z/2 + 0.2\"", "exactly one input must have a kink at this place"),
        ("x = \"z\"", "x = 0.4", "exactly one input must have a kink at this place"),
        ("u_phi + lambda/2", "u - lambda/2", "at a place that follows unknowns only where they are about"),
        ("where = \"x != z\"", "where = \"x != z + u\"", "unknown name `u`"),
        ("where = \"x != z\"", "where = \"x < z - 0.5\"", "`where` leaves no points"),
        (
            "grid = { x = 21 }",
            "at = { x = \"z\" }",
            "data cannot follow an unknown: `z` moves with the estimate",
        ),
        (
            "[input.phi]",
            &format!("{function}\nvalue = \"abs(x - z) + D\"\n\n[input.psi]"),
            "the input `phi` depends on the unknown function `D`",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(SOURCE.contains(from));
        let found = message(&SOURCE.replace(from, to));
        assert!(found.contains(expected), "{to}: {found}");
        assert!(found.contains("--> source.toml"), "{to}: {found}");
    }
}

#[test]
fn the_check_shows_what_moves() {
    let truth = "state.u.truth='lambda/sqrt(mu)*sinh(sqrt(mu)*min(x, z))*sinh(sqrt(mu)*(1-max(x, z)))/sinh(sqrt(mu))'";
    // A grid with a node at the truth of z, where the stated truth has no second derivative.
    let set = ["classical.cells=100", truth, "unknown.z.truth=0.5"];
    let found = bilo::examine(&read(SOURCE, &set)).expect("a valid problem");
    let section = |name: &str| {
        let found = found.sections.iter().find(|(heading, _)| heading == name).expect("a section");
        found.1.join("\n")
    };
    assert_eq!(section("Inputs"), "phi = abs(x - z)");
    let unknowns = section("Unknowns");
    let line = "z: guess 0.4, truth 0.5; in equation jump, input phi; reaches the data through the solution";
    assert!(unknowns.contains(line), "{unknowns}");
    let local = section("Local operator");
    assert!(local.contains("jump: 1 point, following x = z; carries net, net_x,"), "{local}");
    assert!(local.contains("bulk: 100 points; carries"), "{local}");
    let stated = section("Stated truth");
    assert!(stated.contains("equation bulk: satisfied"), "{stated}");
    assert!(section("Network").contains("2 coordinate inputs and 3 unknowns in"), "{}", section("Network"));
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}
