//! Given fields through the whole program: the same as formulas where splines are exact.

use bilo::data::observed_tables;
use bilo::examine::examine;
use bilo::level::{Lower, Upper};
use bilo::operator::LocalOperator;
use bilo::problem::{
    Coordinate, DataSpec, GivenSpec, PointsSpec, Problem, ProblemBuilder, Scheme, Unknown, Words,
};
use bilo::reference::ReferenceSolver;
use bilo::spline::Interpolation;
use bilo::{Job, run};
use bilo_jet::cpu;

fn nodes(lo: f64, hi: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| lo + (hi - lo) * i as f64 / (count - 1) as f64).collect()
}

/// A function at all combinations of nodes, the second running fastest.
fn on_grid(axes: &[Vec<f64>; 2], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    axes[0].iter().flat_map(|&x| axes[1].iter().map(|&y| f(x, y)).collect::<Vec<_>>()).collect()
}

/// 1 + x - x y² + x³ y/2: cubic along both coordinates.
const CUBIC: &str = "(1 + x - x*y^2 + 0.5*x^3*y)";

fn cubic() -> GivenSpec {
    let axes = [nodes(-0.5, 1.25, 8), nodes(0.0, 2.0, 5)];
    let values = on_grid(&axes, |x, y| 1.0 + x - x * y * y + 0.5 * x.powi(3) * y);
    GivenSpec::grid("P", ["x", "y"], axes.to_vec(), values)
}

/// Diffusion in the plane with a coefficient, which stands in the equation, the form, the observation and
/// `where`.
fn plane(coefficient: &str) -> ProblemBuilder {
    let put = |formula: &str| formula.replace('P', coefficient);
    let points = PointsSpec::grid([("x", 7), ("y", 6), ("t", 4)]).keep(&put("P > 1.1"));
    Problem::builder("plane")
        .coordinate(Coordinate::space("x", 0.0, 1.0))
        .coordinate(Coordinate::space("y", 0.0, 1.0))
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("D", 1.0).truth(1.5))
        .state("u", &put("(sin(pi*x)*P + net*t)*x*(1-x)*y*(1-y)"))
        .equation("balance", &put("P*u_t - div(D*P*grad(u)) - d(P, x, y)*u"), points)
        .observation(
            "all",
            &put("P*u + d(P, y)"),
            DataSpec::synthetic(PointsSpec::grid([("x", 5), ("y", 5), ("t", 3)]), 0.0),
        )
        .set("network.width=8")
        .set("train.precision=f64")
        .set("classical.cells=16")
        .set("classical.steps=8")
}

/// The terms of both levels and their gradients at the initial weights.
fn losses(problem: &Problem) -> Vec<f64> {
    let mut device = cpu(problem.training.precision, Some(1));
    let mut operator = LocalOperator::new(problem, 3).unwrap();
    let lower = Lower::new(problem, &mut operator, device.as_mut(), 3).unwrap();
    let tables = observed_tables(&plane(CUBIC).build().unwrap(), 3).unwrap();
    let upper = Upper::new(problem, &mut operator, device.as_mut(), tables).unwrap();
    let weights = operator.initial_weights(3);
    let mut gradient = vec![0.0; weights.len()];
    let (total, terms) =
        lower.loss(device.as_mut(), &weights, &[1.0], Some(&mut gradient)).expect("the CPU never fails");
    let above = upper.loss(device.as_mut(), &weights, &[1.0]).expect("the CPU never fails");
    [vec![total], terms, gradient, above.terms, above.by_eta].concat()
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < tolerance * size, "{found} and {expected}");
    }
}

/// The spline of a cubic is that cubic, so networks must have the same losses and gradients whether it is
/// given or a formula, up to rounding.
#[test]
fn networks_see_a_given_cubic_as_the_formula() {
    let given = plane("P").given(cubic()).build().unwrap();
    let formula = plane(CUBIC).build().unwrap();
    let [points, same] = [&given, &formula].map(|p| p.equations[0].points.columns(p, 0).unwrap());
    assert_eq!(points, same, "`where` keeps the same points");
    assert!(points[0].len() < 7 * 6 * 4);
    assert_near(&losses(&given), &losses(&formula), 1e-11);
}

/// u = (1+t) sin(pi x) sin(pi y) solves P u_t = div(P grad(u)) + f in conservative form, with f from the cubic P:
/// second order in the size of cells and steps.
#[test]
fn the_classical_solver_converges_to_an_exact_solution_with_a_given_coefficient() {
    let error = |cells: usize| {
        let exact = "(1 + t)*sin(pi*x)*sin(pi*y)";
        let source =
            format!("({CUBIC}*d({exact}, t) - div({CUBIC}*Q*grad({exact})))").replace('Q', "(2 + x*y)");
        let axes = [nodes(0.0, 1.0, 4), nodes(0.0, 1.0, 4)];
        let second = GivenSpec::grid("Q", ["y", "x"], axes.to_vec(), on_grid(&axes, |y, x| 2.0 + x * y));
        let problem = Problem::builder("exact")
            .coordinate(Coordinate::space("x", 0.0, 1.0))
            .coordinate(Coordinate::space("y", 0.0, 1.0))
            .coordinate(Coordinate::time("t", 0.0, 1.0))
            .unknown(Unknown::new("D", 1.0).truth(1.0))
            .given(cubic())
            .given(second)
            .known_state("u", "sin(pi*x)*sin(pi*y) + net*t*x*(1-x)*y*(1-y)", exact)
            .equation(
                "balance",
                &format!("P*u_t - D*div(P*Q*grad(u)) - {source}"),
                PointsSpec::grid([("x", 5), ("y", 5), ("t", 3)]),
            )
            .observation(
                "all",
                "u",
                DataSpec::synthetic(PointsSpec::grid([("x", 5), ("y", 5), ("t", 3)]), 0.0),
            )
            .set(format!("classical.cells={cells}"))
            .set(format!("classical.steps={cells}"))
            .build()
            .unwrap();
        if cells == 8 {
            let found = examine(&problem).unwrap();
            assert!(found.sections.iter().any(|(heading, _)| heading == "Stated truth"));
        }
        let reference = ReferenceSolver::new(&problem).unwrap();
        let solution = reference.solve(&[1.0]).unwrap();
        let columns = vec![vec![0.5, 0.25, 0.75], vec![0.5, 0.5, 0.25], vec![1.0, 0.5, 1.0]];
        let found = solution.state(0, &columns);
        let sine = |x: f64| (std::f64::consts::PI * x).sin();
        (0..3)
            .map(|i| (found[i] - (1.0 + columns[2][i]) * sine(columns[0][i]) * sine(columns[1][i])).abs())
            .fold(0.0, f64::max)
    };
    let errors = [8, 16, 32].map(error);
    assert!(errors[2] < 5e-3, "{errors:?}");
    let orders = [(errors[0] / errors[1]).log2(), (errors[1] / errors[2]).log2()];
    assert!(orders.iter().all(|order| (1.8..2.3).contains(order)), "{errors:?}, orders {orders:?}");
}

/// Observed values, their derivatives by the unknown and the data-optimal unknown are those of the formula.
/// The solver differences P between nodes where it stands outside a flux, so to discretisation error.
#[test]
fn the_twin_sees_a_given_cubic_as_the_formula() {
    let [given, formula] = [plane("P").given(cubic()), plane(CUBIC)].map(|b| b.build().unwrap());
    let [found, expected] = [&given, &formula].map(|problem| {
        let reference = ReferenceSolver::new(problem).unwrap();
        let solution = reference.solve(&[1.2]).unwrap();
        let columns = problem.equations[0].points.columns(problem, 0).unwrap();
        let observed = solution.observe_with_slopes(&problem.observations[0].value, &columns).unwrap();
        let weights = vec![1.0; columns[0].len()];
        let gradient = solution.gradient(&problem.observations[0].value, &columns, &weights).unwrap();
        let summed: f64 = observed.slopes[0].iter().sum();
        assert!((gradient.eta[0] - summed).abs() < 1e-9 * summed.abs().max(1.0));
        [observed.values, observed.slopes.concat()]
    });
    assert_near(&found[0], &expected[0], 2e-3);
    assert_near(&found[1], &expected[1], 2e-2);
    let outcome =
        run(&given, &Job { method: &bilo::method::Adjoint, ..Job::default() }, &mut bilo::observer::Silent);
    let unknown = &outcome.unwrap().unknowns.numbers[0];
    assert!(unknown.relative_error().unwrap() < 1e-6, "{}", unknown.estimate);
}

fn message(builder: ProblemBuilder) -> String {
    match builder.build() {
        Err(error) => error.to_string(),
        Ok(problem) => examine(&problem).map(|_| ()).unwrap_err().to_string(),
    }
}

#[test]
fn a_derivative_that_the_interpolation_does_not_have_is_one_error() {
    let linear = message(plane("P").given(cubic().interpolation(Interpolation::Linear)));
    assert!(linear.contains("this needs `P_"), "{linear}");
    assert!(
        linear.contains("write `interpolation = \"cubic\"` or `\"smooth\"` for `P` in [given]"),
        "{linear}"
    );
    let third = plane("P").given(cubic()).equation("more", "d(P, x, x, x)*u", PointsSpec::random(4));
    let third = message(third);
    assert!(third.contains("this needs `P_xxx`, and splines have 2 derivatives"), "{third}");
    // A condition and the reference solver's fluxes need no derivative.
    let without = |observed: &str| {
        Problem::builder("rod")
            .coordinate(Coordinate::space("x", 0.0, 1.0))
            .unknown(Unknown::new("D", 1.0).truth(2.0))
            .given(
                GivenSpec::grid("k", ["x"], vec![vec![0.0, 0.5, 1.0]], vec![1.0, 2.0, 1.0])
                    .interpolation(Interpolation::Nearest),
            )
            .state("u", "net*x*(1-x)")
            .equation("balance", "div(D*k*grad(u)) + 1", PointsSpec::grid([("x", 9)]).keep("k > 1.5"))
            .observation("all", observed, DataSpec::synthetic(PointsSpec::grid([("x", 9)]), 0.0))
    };
    let problem = without("k*u").build().unwrap();
    assert_eq!(problem.equations[0].points.columns(&problem, 0).unwrap()[0].len(), 4, "0.25 to 0.625");
    assert!(observed_tables(&problem, 0).is_ok());
    let observed = without("k_x*u").build().unwrap();
    let error = observed_tables(&observed, 0).unwrap_err().to_string();
    assert!(error.contains("this needs `k_x`"), "{error}");
}

#[test]
fn what_knows_no_given_fields_says_so() {
    let godunov = |scheme: Scheme| {
        Problem::builder("law")
            .coordinate(Coordinate::space("x", 0.0, 1.0).periodic())
            .coordinate(Coordinate::time("t", 0.0, 0.1))
            .unknown(Unknown::new("a", 1.0).truth(1.0))
            .given(GivenSpec::grid("f", ["x"], vec![nodes(0.0, 1.0, 9)], vec![1.0; 9]))
            .state("u", "f + net*t")
            .equation("law", "u_t + a*u*u_x", PointsSpec::grid([("x", 8), ("t", 4)]))
            .observation("all", "u", DataSpec::synthetic(PointsSpec::grid([("x", 8), ("t", 4)]), 0.0))
            .set("classical.cells=20")
            .set("classical.steps=20")
            .set(format!("classical.scheme={}", scheme.word()))
    };
    let error = message(godunov(Scheme::Godunov));
    assert!(error.contains("Godunov's scheme takes no given fields, and `f` is one"), "{error}");
    let automatic = godunov(Scheme::Automatic).build().unwrap();
    assert_eq!(ReferenceSolver::new(&automatic).unwrap().scheme(), "central");
    let input = message(plane("P").given(cubic()).input("phi", "P + x"));
    assert!(input.contains("the input `phi` uses the given field `P`"), "{input}");
    let taken = message(plane("P").given(cubic()).constant("P_x", 1.0));
    assert!(taken.contains("the name `P_x` reads as a derivative of `P`"), "{taken}");
}

#[test]
fn values_that_are_no_grid_over_the_domain_are_refused() {
    let field = |nodes: Vec<f64>, values: Vec<f64>| {
        message(plane("1").given(GivenSpec::grid("F", ["x"], vec![nodes], values)))
    };
    for (error, nodes, values) in [
        ("its `x` from 0.1 to 1 does not cover [0, 1]", nodes(0.1, 1.0, 4), vec![0.0; 4]),
        ("3 nodes along `x` are too few, 4 are needed", nodes(0.0, 1.0, 3), vec![0.0; 3]),
        ("it has the value NaN at x = 0.5", nodes(0.0, 1.0, 5), vec![0.0, 0.0, f64::NAN, 0.0, 0.0]),
        ("there are 4 nodes and 3 values", nodes(0.0, 1.0, 4), vec![0.0; 3]),
        ("finite and of even distance", vec![0.0, 0.2, 0.5, 1.0], vec![0.0; 4]),
    ] {
        let found = field(nodes, values);
        assert!(found.contains("given.F: ") && found.contains(error), "{found}");
    }
    let time = GivenSpec::grid("F", ["z"], vec![nodes(0.0, 1.0, 4)], vec![0.0; 4]);
    let error = message(plane("1").given(time));
    assert!(error.contains("given.F: there is no coordinate `z`"), "{error}");
}
