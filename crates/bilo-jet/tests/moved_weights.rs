//! Networks whose weights move with the unknowns, W(η) = W + η S: derivatives along the unknowns against
//! central differences, whose error of about h² and rounding/h is 1e-8 with h = 1e-5 for numbers of order one.

use bilo_expr::{Expr, Graph};
use bilo_jet::*;

const STEP: f64 = 1e-5;

fn network(coordinates: usize, parameters: usize, fourier: Option<Fourier>) -> Network {
    let spec = NetworkSpec {
        coordinates,
        parameters,
        outputs: 1,
        width: 6,
        layers: 1,
        activation: Activation::Tanh,
        fourier,
        residual: false,
        modified: false,
    };
    Network::new(spec, 0)
}

/// Two networks: u(x, |x - b|) that sees neither a nor b but for an input that moves with b, through frozen
/// features; v(x; a) that sees a. The values a u v_x + b² u.
struct Problem {
    graph: Graph,
    operator: Operator,
    values: [Expr; 2],
}

fn problem() -> Problem {
    let mut graph = Graph::new();
    let [x, a, b] = ["x", "a", "b"].map(|name| graph.symbol(name));
    let [at, first, second] = [x, a, b].map(|symbol| graph.leaf(symbol));
    let difference = graph.sub(at, second);
    let distance = graph.unary(bilo_expr::Unary::Abs, difference);
    let u = graph.function("u", vec![at, distance]);
    let v = graph.function("v", vec![at, first]);
    let [u_value, v_value] = [u, v].map(|function| graph.value(function));
    let v_x = graph.diff(v_value, x);
    let flux = graph.mul(u_value, v_x);
    let flux = graph.mul(first, flux);
    let square = graph.mul(second, second);
    let source = graph.mul(square, u_value);
    let value = graph.add(flux, source);
    let fourier = Fourier { features: 3, scale: 0.3 };
    let networks = vec![
        BoundNetwork::new(network(2, 0, Some(fourier)), vec![u], vec![]),
        BoundNetwork::new(network(1, 1, None), vec![v], vec![0]),
    ];
    let operator = Operator { networks, columns: vec![x], unknowns: vec![a, b], held: Default::default() };
    Problem { graph, operator, values: [value, u_value] }
}

fn points() -> PointSource {
    PointSource::stored(vec![(0..40).map(|i| -0.5 + 0.031 * f64::from(i)).collect()])
}

/// Two directions, in which the unknowns are asked for in another order than theirs.
#[test]
fn derivatives_along_unknowns_see_the_weights_move() {
    let Problem { mut graph, operator, values } = problem();
    let each = operator.networks.iter().enumerate();
    let weights: Vec<f64> = each.flat_map(|(i, n)| n.network.initial_weights(3 + i as u64)).collect();
    let slopes: Vec<Vec<f64>> =
        [1.7, 0.6].map(|w| (0..weights.len()).map(|i| (w * i as f64).sin()).collect()).to_vec();
    let unknowns = [0.8, 0.4];
    let mut device = cpu(Precision::F64, Some(1));
    let along = FieldProgram::along(&mut graph, &operator, &values, &[1, 0]).expect("a valid program");
    let found = device.evaluate(&along, points(), &weights, &unknowns, &slopes).expect("the CPU never fails");
    let fields = FieldProgram::new(&mut graph, &operator, &values).expect("a valid program");
    let mut at = |j: usize, by: f64| {
        let mut unknowns = unknowns;
        unknowns[j] += by;
        let weights: Vec<f64> = weights.iter().zip(&slopes[j]).map(|(w, slope)| w + by * slope).collect();
        device.evaluate(&fields, points(), &weights, &unknowns, &[]).expect("the CPU never fails")
    };
    for j in 0..2 {
        let (low, here, high) = (at(j, -STEP), at(j, 0.0), at(j, STEP));
        for value in 0..2 {
            let slope = &found[2 + 2 * value + (1 - j)];
            assert_eq!(found[value], here[value]);
            for point in 0..slope.len() {
                let expected = (high[value][point] - low[value][point]) / (2.0 * STEP);
                let found = slope[point];
                assert!((found - expected).abs() < 1e-8, "{value} by {j} at {point}: {found}, {expected}");
            }
        }
    }
}

/// Second derivatives by unknowns are not carried.
#[test]
fn a_derivative_by_an_unknown_has_none_along_unknowns() {
    let Problem { mut graph, operator, values } = problem();
    let slope = graph.diff(values[0], operator.unknowns[0]);
    let error = FieldProgram::along(&mut graph, &operator, &[slope], &[0]).expect_err("too high an order");
    assert!(matches!(error, ProgramError::Order(_)), "{error}");
}
