//! Extra inputs of networks, and equations at a place inside the domain: a point source,
//! u_xx + lambda delta(x - z) - mu u = 0 with u = 0 at both ends, whose exact solution is known.

use crate::common;
use crate::source;

use bilo::observer::{Control, Event, Observer, Silent};
use bilo::operator::LocalOperator;
use bilo::outcome::Outcome;
use bilo::problem::{
    Coordinate, DataSpec, FunctionSpec, Names, Overrides, PointsSpec, Problem, ProblemBuilder, Table, Unknown,
};
use bilo::reference::ReferenceSolver;
use bilo::{Job, run};
use bilo_expr::{Expr, Graph, Input, Leaf, MultiIndex, Scratch, Tape};
use source::{exact, read, try_read};
use std::path::Path;

const SOURCE: &str = r#"
name = "point-source"

[coordinates]
x = [0.0, 1.0]

[constants]
z = 0.5

[input.phi]
value = "abs(x - z)"

[unknown.lambda]
guess = 250.0
truth = 500.0
scale = 100.0

[unknown.mu]
guess = 5.0
truth = 2.5

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

fn truth(problem: &Problem) -> Vec<f64> {
    problem.unknowns.iter().map(|unknown| unknown.eta_of(unknown.truth.expect("a truth"))).collect()
}

/// Data of the exact solution at (500, 2.5), on 21 points.
fn with_exact_data(mut problem: Problem) -> Problem {
    let x: Vec<f64> = (0..=20).map(|i| f64::from(i) / 20.0).collect();
    let values = x.iter().map(|&x| exact(x, [0.5, 500.0, 2.5])).collect();
    problem.observations[0].data =
        bilo::problem::Data::Table(Table { coordinates: vec![x], values, sigma: None });
    problem
}

fn evaluate(graph: &Graph, expression: Expr, given: &[(Leaf, f64)]) -> f64 {
    let leaves: Vec<Leaf> = given.iter().map(|(leaf, _)| leaf.clone()).collect();
    let values: Vec<Input<'_, f64>> = given.iter().map(|(_, value)| Input::Uniform(*value)).collect();
    let tape = Tape::compile(graph, &[expression], &leaves).expect("all leaves are given");
    let mut scratch = Scratch::new();
    tape.eval(&values, 1, &mut scratch);
    scratch.output(&tape, 0)[0]
}

/// Data that make a problem complete.
fn one_value(coordinates: Vec<Vec<f64>>) -> DataSpec {
    DataSpec::table(Table { coordinates, values: vec![0.5], sigma: None })
}

/// A state u = x*phi*net over [0, 2] with phi = |x - 0.5|, and observations of these expressions.
fn observing(values: &[&str]) -> Problem {
    let start = Problem::builder("by-hand")
        .coordinate(Coordinate::space("x", 0.0, 2.0))
        .constant("z", 0.5)
        .input("phi", "abs(x - z)")
        .unknown(Unknown::new("mu", 1.0))
        .state("u", "x*phi*net")
        .equation("bulk", "u_xx - mu*u", PointsSpec::grid([("x", 12)]));
    let observe = |builder: ProblemBuilder, (number, value): (usize, &&str)| {
        builder.observation(&format!("o{number}"), value, one_value(vec![vec![1.0]]))
    };
    values.iter().enumerate().fold(start, observe).build().expect("a valid problem")
}

/// net = exp(2 a) phi³ where its first input is a = x/2: u is x e^x phi⁴, differentiated by hand.
#[test]
fn derivatives_by_coordinates_are_total_and_by_inputs_partial() {
    let written = ["u", "u_x", "u_xx", "u_phi", "d(u, phi)", "u_phix", "u_xphi", "phi*u_phi", "d(phi, x)"];
    let problem = observing(&written);
    let operator = LocalOperator::new(&problem, 0).expect("an operator");
    let bound = &operator.operator.networks[0];
    assert_eq!((bound.network.coordinates(), bound.network.parameters()), (2, 1));
    for x in [0.2_f64, 1.3] {
        let (phi, s, e) = ((x - 0.5).abs(), (x - 0.5).signum(), x.exp());
        let mut given = vec![(Leaf::Symbol(operator.names.coordinates[0]), x)];
        for (i, by_a) in [1.0, 2.0, 4.0].into_iter().enumerate() {
            let by_phi = [phi.powi(3), 3.0 * phi.powi(2), 6.0 * phi];
            for (j, by_phi) in by_phi.into_iter().enumerate() {
                let index = MultiIndex::from(vec![i as u8, j as u8, 0]);
                given.push((Leaf::Derivative(bound.outputs[0], index), by_a * e * by_phi));
            }
        }
        let u_xphi = 4.0 * (x + 1.0) * e * phi.powi(3) + 12.0 * x * e * phi.powi(2) * s;
        let by_hand = [
            x * e * phi.powi(4),
            (x + 1.0) * e * phi.powi(4) + 4.0 * x * e * phi.powi(3) * s,
            (x + 2.0) * e * phi.powi(4) + 8.0 * (x + 1.0) * e * phi.powi(3) * s + 12.0 * x * e * phi.powi(2),
            4.0 * x * e * phi.powi(3),
            4.0 * x * e * phi.powi(3),
            u_xphi,
            u_xphi,
            4.0 * x * e * phi.powi(4),
            s,
        ];
        for ((observed, by_hand), written) in operator.observed.iter().zip(by_hand).zip(written) {
            let found = evaluate(&operator.names.graph, observed[0], &given);
            // A dozen roundings of numbers up to 30.
            assert!((found - by_hand).abs() < 1e-13 * 30.0, "{written} at {x}: {found}, by hand {by_hand}");
        }
    }
}

/// Without a network, derivatives of a state are leaves: total ones by coordinates, partial ones by inputs.
#[test]
fn opaque_states_tell_total_from_partial_derivatives() {
    let problem = observing(&["u_xx", "u_phi", "d(phi*u, x)", "d(phi*u, phi)"]);
    let mut names = Names::new(&problem).expect("names");
    names.bind_states_opaque(&problem);
    let shown = problem.observations.iter().map(|observation| {
        let value = names.lower(&observation.value).expect("an expression");
        names.graph.display(value).to_string()
    });
    let shown: Vec<String> = shown.collect();
    assert_eq!(shown[..2], ["u_xx", "u_phi"]);
    // sign(x - z) u + phi u_x, and u + phi u_phi.
    assert!(
        shown[2].contains("sign(") && shown[2].contains("u_x") && !shown[2].contains("u_phi"),
        "{shown:?}"
    );
    assert!(shown[3].contains("u_phi") && !shown[3].contains("sign("), "{shown:?}");
}

fn assert_second_order(what: &str, errors: [f64; 3]) {
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.1, "{what}: order {order}, errors {errors:?}");
    }
}

#[test]
fn the_twin_of_a_point_source_is_of_second_order() {
    let x: Vec<f64> = (1..20).map(|i| f64::from(i) / 20.0).collect();
    for z in [0.5, 0.3] {
        let errors = [40, 80, 160].map(|cells| {
            let set = [format!("constants.z={z}"), format!("classical.cells={cells}")];
            let problem = read(SOURCE, &set.each_ref().map(String::as_str));
            let reference = ReferenceSolver::new(&problem).expect("a reference solver");
            let solution = reference.solve(&truth(&problem)).expect("linear");
            let found = solution.state(0, std::slice::from_ref(&x));
            let error = |(u, &x): (f64, &f64)| (u - exact(x, [z, 500.0, 2.5])).abs();
            found.into_iter().zip(&x).map(error).fold(0.0, f64::max)
        });
        assert_second_order(&format!("z = {z}"), errors);
        // About h² of the largest value.
        let h = 1.0 / 160.0;
        assert!(errors[2] < 2.0 * h * h * exact(z, [z, 500.0, 2.5]), "{errors:?}");
    }
}

/// An input with a kink of 1 rather than 2: the same solution, to rounding, from u_phi = -lambda.
#[test]
fn the_jump_follows_from_the_kink_of_the_input() {
    let solve = |text: &str| {
        let problem = read(text, &["classical.cells=40"]);
        let reference = ReferenceSolver::new(&problem).expect("a reference solver");
        reference.solve(&truth(&problem)).expect("linear").state(0, &[vec![0.1, 0.5, 0.8]])
    };
    let other = SOURCE.replace("abs(x - z)", "max(x - z, 0)^2 + max(x - z, 0)").replace("lambda/2", "lambda");
    for (a, b) in solve(SOURCE).into_iter().zip(solve(&other)) {
        assert!((a - b).abs() < 1e-11 * a, "{a}, {b}");
    }
}

/// u = min(x, z) (1 - max(x, z)) + exp(-pi² t/10) sin(pi x): its slope jumps by -1 at all times.
#[test]
fn the_slope_of_an_evolving_state_may_jump() {
    let (z, decay) = (0.4_f64, std::f64::consts::PI.powi(2) / 10.0);
    // Fine enough for terms of higher order to be small beside h².
    let errors = [160, 320, 640].map(|n| {
        let problem = Problem::builder("evolving")
            .coordinate(Coordinate::space("x", 0.0, 1.0))
            .coordinate(Coordinate::time("t", 0.0, 1.0))
            .constant("z", z)
            .input("phi", "abs(x - z)")
            .unknown(Unknown::new("k", 0.1))
            .state("u", "min(x, z)*(1 - max(x, z)) + sin(pi*x) + net*x*(1-x)*t")
            .equation("bulk", "u_t - k*u_xx", PointsSpec::grid([("x", 11), ("t", 11)]).keep("x != z"))
            .equation("jump", "2*u_phi + 1", PointsSpec::grid([("t", 11)]).hold("x", [z]))
            .observation("level", "u", one_value(vec![vec![0.5], vec![1.0]]))
            .set(format!("classical.cells={n}"))
            .set(format!("classical.steps={n}"))
            .build()
            .expect("a valid problem");
        let reference = ReferenceSolver::new(&problem).expect("a reference solver");
        let x = vec![0.1, 0.25, 0.4, 0.6, 0.9];
        let found = reference.solve(&[0.1]).expect("linear").state(0, &[x.clone(), vec![1.0; 5]]);
        let exact = |x: f64| x.min(z) * (1.0 - x.max(z)) + (-decay).exp() * (std::f64::consts::PI * x).sin();
        found.iter().zip(&x).map(|(u, &x)| (u - exact(x)).abs()).fold(0.0, f64::max)
    });
    assert_second_order("evolving", errors);
}

/// u'' = v'' = 0 with [u'] = -1 and [v'] = -u at z: v = z (1-z) u with u = min(x, z) (1 - max(x, z)), straight on
/// both sides and so exact to rounding.
#[test]
fn every_state_of_a_system_has_its_jump() {
    let z = 0.3;
    let inside = PointsSpec::grid([("x", 12)]).keep("x != z");
    let at_z = PointsSpec::grid([]).hold("x", [z]);
    let start = Problem::builder("system")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .constant("z", z)
        .input("phi", "abs(x - z)")
        .unknown(Unknown::new("lambda", 1.0))
        .state("u", "net*x*(1-x)")
        .state("v", "net*x*(1-x)")
        .equation("v-bulk", "v_xx", inside.clone())
        .equation("u-bulk", "u_xx", inside)
        .equation("v-jump", "2*v_phi + lambda*u", at_z.clone())
        .observation("level", "u", one_value(vec![vec![0.5]]))
        .set("classical.cells=20");
    let whole = start.clone().equation("u-jump", "2*u_phi + lambda", at_z).build().expect("a valid problem");
    let reference = ReferenceSolver::new(&whole).expect("a reference solver");
    let solution = reference.solve(&[1.0]).expect("linear");
    let x = vec![0.1, 0.3, 0.45, 0.9];
    for (state, factor) in [(0, 1.0), (1, z * (1.0 - z))] {
        for (value, &x) in solution.state(state, std::slice::from_ref(&x)).iter().zip(&x) {
            let exact = factor * x.min(z) * (1.0 - x.max(z));
            assert!((value - exact).abs() < 1e-13, "state {state} at {x}: {value}, exact {exact}");
        }
    }
    let half = start.build().expect("a valid problem");
    let error = ReferenceSolver::new(&half).err().expect("one jump for two states").to_string();
    assert!(error.contains("1 equations at a place inside the domain for 2 states"), "{error}");
}

/// Central differences with h = 1e-4 have an error of about h², and rounding of 1e-12 relative.
#[test]
fn slopes_by_the_unknowns_are_those_of_central_differences() {
    let problem = read(SOURCE, &["classical.cells=40"]);
    let reference = ReferenceSolver::new(&problem).expect("a reference solver");
    let eta: Vec<f64> = problem.unknowns.iter().map(|unknown| unknown.eta_of(unknown.guess)).collect();
    let formula = bilo::problem::Formula::parse("u*(1 + phi)*mu", Default::default()).expect("it parses");
    let columns = [vec![0.1, 0.45, 0.5, 0.55, 0.8]];
    let observe =
        |eta: &[f64]| reference.solve(eta).expect("linear").observe(&formula, &columns).expect("values");
    let found =
        reference.solve(&eta).expect("linear").observe_with_slopes(&formula, &columns).expect("slopes");
    assert_eq!(found.values, observe(&eta));
    for (j, slopes) in found.slopes.iter().enumerate() {
        let h = 1e-4;
        let [mut low, mut high] = [eta.clone(), eta.clone()];
        (low[j], high[j]) = (low[j] - h, high[j] + h);
        for ((slope, low), high) in slopes.iter().zip(observe(&low)).zip(observe(&high)) {
            let quotient = (high - low) / (2.0 * h);
            assert!((slope - quotient).abs() < 1e-6 * quotient.abs(), "by {j}: {slope}, {quotient}");
        }
    }
}

fn adjoint(problem: &Problem) -> Outcome {
    run(
        problem,
        &Job { seed: 0, threads: None, method: &bilo::method::Adjoint, ..Job::default() },
        &mut Silent,
    )
    .expect("it runs")
}

/// Clean data of the exact formula: what is left is the error of the discretisation, 0.8 h² for lambda and
/// 0.2 h² for mu.
#[test]
fn the_adjoint_method_recovers_the_source_from_exact_data() {
    let errors = |unknown: usize| {
        [50, 100, 200].map(|cells| {
            let problem = with_exact_data(read(SOURCE, &[&format!("classical.cells={cells}")]));
            common::errors_on_own_grid(&problem)[unknown]
        })
    };
    for unknown in 0..2 {
        let errors = errors(unknown);
        assert_second_order(&format!("unknown {unknown}"), errors);
        assert!(errors[2] < (1.0_f64 / 200.0).powi(2), "{errors:?}");
    }
}

/// The jump of the slope is 2 u_phi: with u_phi = -lambda in place of -lambda/2 half the source is found.
#[test]
fn a_jump_condition_without_its_half_misses_the_source() {
    let problem = with_exact_data(read(&SOURCE.replace("lambda/2", "lambda"), &["classical.cells=100"]));
    let lambda = adjoint(&problem).unknowns.numbers[0].estimate;
    assert!((lambda - 250.0).abs() < 1e-3 * 250.0, "{lambda}");
}

/// Residual losses of the two equations at each step of pre-training.
#[derive(Default)]
struct Residuals(Vec<[f64; 2]>);

impl Observer for Residuals {
    fn event(&mut self, event: &Event<'_>) -> Control {
        if let Event::Step(record) = event {
            let term = |name: &str| {
                let place = record.loss_names.iter().position(|n| n == name).expect("a term");
                record.losses[place]
            };
            self.0.push(["residual.bulk", "residual.jump"].map(term));
        }
        Control::Continue
    }
}

/// Over eight seeds the bulk residual ended below 2e-3 of the size of its terms, that of the jump below 2e-6, and u
/// within 2.2e-3 of the classical solution.
#[test]
fn networks_with_an_input_learn_the_equation_and_the_jump() {
    let at_truth = SOURCE.replace("guess = 250.0", "guess = 500.0").replace("guess = 5.0", "guess = 2.5");
    let set = [
        "operator.kind=network",
        "train.pretrain-steps=400",
        "train.train-steps=400",
        "network.width=16",
        "classical.cells=100",
        "equation.bulk.points.grid.x=31",
        "constants.z=0.4",
    ];
    let mut residuals = Residuals::default();
    let job = Job { seed: 1, threads: Some(1), method: &bilo::method::Bilo, ..Job::default() };
    let outcome = run(&read(&at_truth, &set), &job, &mut residuals).expect("it runs");
    let square = |i: i32| (2.5 * exact(f64::from(i) / 30.0, [0.4, 500.0, 2.5])).powi(2);
    let sizes = [(0..=30).map(square).sum::<f64>() / 31.0, 250.0_f64.powi(2)];
    assert!(residuals.0[0][1] > 0.5 * sizes[1], "an untrained network has no jump: {:?}", residuals.0[0]);
    for step in [399, 799] {
        for (residual, size) in residuals.0[step].into_iter().zip(sizes) {
            assert!(residual < 0.01 * size, "step {step}: {:?}", residuals.0[step]);
        }
    }
    let off = outcome.states[0].relative_l2_vs_classical.expect("a reference solver");
    assert!(off < 0.01, "u is off by {off}");
}

/// (D u')' = 0 with a unit source at z and D an unknown function, a network that feeds that of u; pre-trained at
/// D = 1 + x, where D(z) u_phi = -1/2.
#[test]
fn inputs_and_unknown_functions_go_together() {
    let problem = Problem::builder("both")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .constant("z", 0.4)
        .input("phi", "abs(x - z)")
        .unknown_function(FunctionSpec::new("D", ["x"], "1 + x"))
        .state("u", "net*x*(1-x)")
        .equation("bulk", "div(D*grad(u))", PointsSpec::grid([("x", 32)]).keep("x != z"))
        .equation("jump", "2*D*u_phi + 1", PointsSpec::grid([]).hold("x", [0.4]))
        .observation("level", "u", one_value(vec![vec![0.5]]))
        .set("operator.kind=network")
        .set("network.width=16")
        .set("train.pretrain-steps=400")
        .set("train.train-steps=0")
        .set("classical.cells=100")
        .build()
        .expect("a valid problem");
    // u' = a/(1 + x) below z and (a - 1)/(1 + x) above, with u(1) = 0.
    let a = 1.0 - 1.4_f64.ln() / 2.0_f64.ln();
    let exact = |x: f64| if x < 0.4 { a * x.ln_1p() } else { (a - 1.0) * (x.ln_1p() - 2.0_f64.ln()) };
    let job = Job { seed: 1, threads: Some(1), method: &bilo::method::Bilo, ..Job::default() };
    let outcome = run(&problem, &job, &mut Silent).expect("it runs");
    let field = outcome.fields.arrays.iter().find(|field| field.name == "u_network").expect("u");
    let x = (0..=100).map(|i| f64::from(i) / 100.0);
    let square = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>();
    let off = square(&mut field.values.iter().zip(x.clone()).map(|(u, x)| u - exact(x)));
    let off = (off / square(&mut x.map(exact))).sqrt();
    assert!(off < 0.02, "u is off by {off}");
}

fn message(text: &str, set: &[&str]) -> String {
    match try_read(text, set) {
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
    let cases = [
        ("abs(x - z)", "abs(x - mu)", "exactly one input must have a kink at this place"),
        ("abs(x - z)", "abs(x - u)", "unknown name `u`"),
        ("abs(x - z)", "abs(x - phi)", "unknown name `phi`"),
        ("input.phi", "input.mu", "the name `mu`"),
        ("input.phi", "input.sin", "the name `sin` is reserved"),
        ("[constants]", "[constants]\nu_phi = 1.0", "the name `u_phi` reads as a derivative of `u`"),
        ("value = \"abs(x - z)\"", "", "missing key `value` in [input.phi]"),
        ("x = \"z\"", "x = \"mu/10\"", "exactly one input must have a kink at this place"),
        (
            "u_xx - mu*u",
            "u_xx - mu*u + u_phi",
            "takes derivatives by inputs at a place inside the domain only",
        ),
        (
            "u_phi + lambda/2",
            "u + u_phi + lambda/2 + u_x",
            "takes values of states and their first derivatives",
        ),
        ("u_phi + lambda/2", "u_phiphi + lambda/2", "takes values of states and their first derivatives"),
        ("u_phi + lambda/2", "u - lambda/2", "conditions at the ends only, not inside the domain"),
        ("x = \"z\"", "x = [0.3, \"z\"]", "takes jumps at one place only"),
        ("x = \"z\"", "x = 0.3", "exactly one input must have a kink at this place"),
        ("abs(x - z)", "(x - z)^2", "exactly one input must have a kink at this place"),
        ("abs(x - z)", "sqrt(abs(x - z))", "exactly one input must have a kink at this place"),
        ("abs(x - z)", "sign(x - z)*(1 + x)", "exactly one input must have a kink at this place"),
        ("u_xx - mu*u", "u_x - mu*u", "jumps of slopes in equations of second order only"),
    ];
    for (from, to, expected) in cases {
        assert!(SOURCE.contains(from));
        let found = message(&SOURCE.replace(from, to), &[]);
        assert!(found.contains(expected), "{to}: {found}");
        assert!(found.contains("--> source.toml"), "{to}: {found}");
    }
    let godunov = message(SOURCE, &["classical.scheme=godunov"]);
    assert!(godunov.contains("takes no extra inputs"), "{godunov}");
}

#[test]
fn an_input_must_be_finite_where_an_equation_holds() {
    let problem = read(&SOURCE.replace("abs(x - z)", "abs(x - z) + 0*log(x)"), &[]);
    assert!(bilo::examine(&problem).is_ok(), "0*log(x) is 0");
    let problem = read(&SOURCE.replace("abs(x - z)", "abs(x - z) + 1e-9*log(x)"), &[]);
    let error = bilo::examine(&problem).expect_err("log(0)").to_string();
    assert!(error.contains("the input `phi` has no finite value at x = 0"), "{error}");
}

#[test]
fn the_check_shows_the_inputs_and_what_the_network_carries() {
    let truth = "state.u.truth='lambda/sqrt(mu)*sinh(sqrt(mu)*min(x, z))*sinh(sqrt(mu)*(1-max(x, z)))/sinh(sqrt(mu))'";
    let found = bilo::examine(&read(SOURCE, &["classical.cells=100", truth])).expect("a valid problem");
    let section = |name: &str| {
        let found = found.sections.iter().find(|(heading, _)| heading == name).expect("a section");
        found.1.join("\n")
    };
    assert_eq!(section("Inputs"), "phi = abs(x - z)");
    let stated = section("Stated truth");
    assert!(stated.contains("equation bulk: satisfied"), "{stated}");
    assert!(stated.contains("equation jump: not checked, it is about a derivative by an input"), "{stated}");
    let equations = section("Equations");
    assert!(equations.contains("jump: 0 = ∂u/∂φ + "), "{equations}");
    let local = section("Local operator");
    assert!(local.contains("net, net_x, net_phi, net_xx, net_xphi, net_phiphi"), "{local}");
    assert!(section("Network").contains("2 coordinate inputs and 2 unknowns in"), "{}", section("Network"));
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

/// A pendulum at rest is kicked at s: u = sin(w (t - s))/w afterwards.
#[test]
fn a_kick_in_time_is_a_jump_of_the_speed() {
    let (s, w) = (0.4_f64, 3.0_f64);
    let errors = [40, 80, 160].map(|cells| {
        let problem = Problem::builder("kick")
            .coordinate(Coordinate::time("t", 0.0, 1.0))
            .constant("s", s)
            .input("phi", "max(t - s, 0)")
            .unknown(Unknown::new("w", w))
            .state("u", "net*t")
            .equation("swing", "u_tt + w^2*u", PointsSpec::grid([("t", 21)]).keep("t != s"))
            .equation("rest", "u_t", PointsSpec::grid([]).hold("t", [0.0]))
            .equation("kick", "u_phi - 1", PointsSpec::grid([]).hold("t", [s]))
            .observation("swing-seen", "u", one_value(vec![vec![1.0]]))
            .set(format!("classical.cells={cells}"))
            .build()
            .expect("a valid problem");
        let reference = ReferenceSolver::new(&problem).expect("a reference solver");
        let t = vec![0.2, 0.4, 0.5, 0.75, 1.0];
        let found = reference.solve(&[w]).expect("linear").state(0, std::slice::from_ref(&t));
        let exact = |t: f64| (w * (t - s).max(0.0)).sin() / w;
        found.iter().zip(&t).map(|(u, &t)| (u - exact(t)).abs()).fold(0.0, f64::max)
    });
    assert_second_order("kick", errors);
}

/// A wave has a rate as a further state; beside an input, which may follow coordinates without a kink, it is solved as with the
/// formula in its place, up to rounding.
#[test]
fn a_wave_takes_an_input_as_its_value() {
    let solved = |input: &str, speed: &str| {
        let text = format!(
            r#"
            name = "wave"
            [coordinates]
            x = [0.0, 1.0]
            t = {{ range = [0.0, 1.0], time = true }}
            {input}
            [unknown.c]
            guess = 1.5
            truth = 1.5
            [equation.wave]
            holds = "u_tt = c*{speed}*u_xx"
            [condition.start]
            at = {{ t = 0.0 }}
            holds = "u = sin(pi*x)"
            [condition.rest]
            at = {{ t = 0.0 }}
            holds = "u_t = 0"
            [condition.ends]
            at = {{ x = [0.0, 1.0] }}
            holds = "u = 0"
            [observation.all]
            data = {{ synthetic = {{ grid = {{ x = 3, t = 3 }} }} }}
            [classical]
            cells = 50
            steps = 50
            "#
        );
        let problem = Problem::from_toml("wave.toml", &text, Path::new("."), &Overrides::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let reference = ReferenceSolver::new(&problem).unwrap();
        reference.solve(&problem.eta_of_guess()).unwrap().state(0, &[vec![0.3, 0.7], vec![0.5, 1.0]])
    };
    let (found, expected) = (solved("[input.s]\nvalue = \"1 + x\"", "s"), solved("", "(1 + x)"));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    }
}
