//! Networks that are fed with functions of the coordinates.

use bilo_expr::{Expr, Function, Graph, MultiIndex, Symbol};
use bilo_jet::{
    Activation, BoundNetwork, Column, DensityProgram, Fed, FieldProgram, Jacobian, Moves, Network,
    NetworkSpec, Operator, PointSource, Precision, ResidualProgram, ResidualWeights, cpu,
};

const WIDTH: usize = 6;

fn spec(coordinates: usize, parameters: usize) -> NetworkSpec {
    NetworkSpec {
        coordinates,
        parameters,
        outputs: 1,
        width: WIDTH,
        layers: 2,
        activation: Activation::Tanh,
        fourier: None,
        residual: true,
        modified: false,
    }
}

fn points() -> PointSource {
    PointSource::grid(vec![(0..23).map(|i| -0.4 + 0.07 * f64::from(i)).collect()])
}

/// sin(2 x) + 0.3 x.
fn profile(graph: &mut Graph, x: Symbol) -> Expr {
    let x = graph.leaf(x);
    let (two, slope) = (graph.constant(2.0), graph.constant(0.3));
    let angle = graph.mul(two, x);
    let (sine, line) = (graph.unary(bilo_expr::Unary::Sin, angle), graph.mul(slope, x));
    graph.add(sine, line)
}

/// (f + s) u_xx + f_x u_x + u², u the network by its derivatives.
fn residual(graph: &mut Graph, u: Function, x: Symbol, f: Expr, s: Expr) -> Expr {
    let u = graph.value(u);
    let u_x = graph.diff(u, x);
    let u_xx = graph.diff(u_x, x);
    let f_x = graph.diff(f, x);
    let coefficient = graph.add(f, s);
    let terms = [graph.mul(coefficient, u_xx), graph.mul(f_x, u_x), graph.mul(u, u)];
    graph.sum(&terms)
}

/// The network u(x, z) with z = f(x) + s, once fed with z as a parameter, once with z as a second
/// coordinate, where d/dx and d/ds are expanded symbolically by the chain rule. Losses, residual
/// gradient and weight gradient must be the same up to rounding.
#[test]
fn a_fed_function_is_differentiated_like_a_coordinate_by_the_chain_rule() {
    let mut device = cpu(Precision::F64, Some(1));
    let gradient_weight = 0.3;

    let mut graph = Graph::new();
    let [x, s] = ["x", "s"].map(|name| graph.symbol(name));
    let (at, shift) = (graph.leaf(x), graph.leaf(s));
    let f = profile(&mut graph, x);
    // The network takes x scaled, as problems do: derivatives by its input are not those by x.
    let scale = graph.constant(0.5);
    let scaled = graph.mul(scale, at);
    let u = graph.function("u", vec![scaled, shift]);
    let r = residual(&mut graph, u, x, f, shift);
    let bound = BoundNetwork {
        fed: vec![Fed { input: 0, value: f }],
        ..BoundNetwork::new(Network::new(spec(1, 1), 0), vec![u], vec![0])
    };
    let fed_weights = bound.network.initial_weights(3);
    let operator =
        Operator { networks: vec![bound], columns: vec![x], unknowns: vec![s], held: Default::default() };
    let program = ResidualProgram::new(&mut graph, &operator, &[r]).unwrap();
    let id = device.load_residual(program, points()).expect("the CPU never fails");
    let terms = ResidualWeights { equation: vec![1.0], gradient: gradient_weight };
    let mut fed_gradient = vec![0.0; fed_weights.len()];
    let fed = device
        .residual(id, &fed_weights, &[0.0], &terms, Some(&mut fed_gradient))
        .expect("the CPU never fails");

    let mut graph = Graph::new();
    let [x, s] = ["x", "s"].map(|name| graph.symbol(name));
    let (at, shift) = (graph.leaf(x), graph.leaf(s));
    let f = profile(&mut graph, x);
    let scale = graph.constant(0.5);
    let (scaled, z) = (graph.mul(scale, at), graph.add(f, shift));
    let u = graph.function("u", vec![scaled, z]);
    let r = residual(&mut graph, u, x, f, shift);
    let by_shift = graph.diff(r, s);
    // The shift is zero where it is given.
    let none = std::collections::BTreeMap::from([(bilo_expr::Leaf::Symbol(s), graph.constant(0.0))]);
    let residuals = [r, by_shift].map(|r| graph.substitute(r, &none));
    let network = Network::new(spec(2, 0), 0);
    let inputs = [scaled, f];
    let v = graph.function("v", inputs.to_vec());
    let residuals = residuals.map(|r| renamed(&mut graph, r, u, v));
    let operator = Operator {
        networks: vec![BoundNetwork::new(network, vec![v], vec![])],
        columns: vec![x],
        unknowns: vec![],
        held: Default::default(),
    };
    let program = ResidualProgram::expanded(&mut graph, &operator, &residuals).unwrap();
    let id = device.load_residual(program, points()).expect("the CPU never fails");
    let terms = ResidualWeights { equation: vec![1.0, gradient_weight], gradient: 0.0 };
    let weights = interleaved(&fed_weights);
    let mut gradient = vec![0.0; weights.len()];
    let chained =
        device.residual(id, &weights, &[], &terms, Some(&mut gradient)).expect("the CPU never fails");

    let close = |a: f64, b: f64| (a - b).abs() < 1e-11 * b.abs().max(1.0);
    assert!(close(fed.residual[0], chained.residual[0]), "{fed:?} and {chained:?}");
    assert!(close(fed.gradient[0], chained.residual[1]), "{fed:?} and {chained:?}");
    for (i, (a, b)) in interleaved(&fed_gradient).iter().zip(&gradient).enumerate() {
        assert!(close(*a, *b), "weight {i}: {a} and {b}");
    }
}

/// The first layer's columns for x and z, one after the other, as the columns of one matrix.
fn interleaved(weights: &[f64]) -> Vec<f64> {
    let columns = (0..WIDTH).flat_map(|neuron| [weights[neuron], weights[WIDTH + neuron]]);
    columns.chain(weights[2 * WIDTH..].iter().copied()).collect()
}

/// An expression with the derivatives of one function replaced by those of another.
fn renamed(graph: &mut Graph, expression: Expr, from: Function, to: Function) -> Expr {
    let mut map = std::collections::BTreeMap::new();
    for leaf in graph.leaves(&[expression]) {
        if let bilo_expr::Leaf::Derivative(function, index) = &leaf
            && *function == from
        {
            let other = graph.derivative(to, index.clone());
            map.insert(leaf, other);
        }
    }
    graph.substitute(expression, &map)
}

/// A problem with an unknown function: its network f(x; V) feeds u(x, z; W).
struct Problem {
    graph: Graph,
    operator: Operator,
    x: Symbol,
    s: Symbol,
    /// 1 + f², the function as its form makes it.
    f: Expr,
    u: Function,
}

fn problem() -> Problem {
    let mut graph = Graph::new();
    let [x, s] = ["x", "s"].map(|name| graph.symbol(name));
    let (at, shift) = (graph.leaf(x), graph.leaf(s));
    let net = graph.function("f", vec![at]);
    let value = graph.value(net);
    let (one, square) = (graph.constant(1.0), graph.mul(value, value));
    let f = graph.add(one, square);
    let u = graph.function("u", vec![at, shift]);
    let below =
        BoundNetwork { given: true, ..BoundNetwork::new(Network::new(spec(1, 0), 0), vec![net], vec![]) };
    let above = BoundNetwork {
        fed: vec![Fed { input: 0, value: f }],
        ..BoundNetwork::new(Network::new(spec(1, 1), 0), vec![u], vec![0])
    };
    let operator = Operator {
        networks: vec![below, above],
        columns: vec![x],
        unknowns: vec![s],
        held: Default::default(),
    };
    Problem { graph, operator, x, s, f, u }
}

impl Problem {
    fn weights(&self) -> Vec<f64> {
        self.operator
            .networks
            .iter()
            .enumerate()
            .flat_map(|(i, bound)| bound.network.initial_weights(5 + i as u64))
            .collect()
    }

    /// Weights of the unknown function.
    fn given(&self) -> usize {
        self.operator.networks[0].network.weights()
    }

    /// u_x² + x u f: values, a derivative and the function itself.
    fn density(&mut self) -> Expr {
        let graph = &mut self.graph;
        let (u, x) = (graph.value(self.u), graph.leaf(self.x));
        let u_x = graph.diff(u, self.x);
        let product = graph.mul(u, self.f);
        let terms = [graph.mul(u_x, u_x), graph.mul(x, product)];
        graph.sum(&terms)
    }
}

fn differences(loss: &mut dyn FnMut(&[f64]) -> f64, at: &[f64]) -> Vec<f64> {
    let step = 1e-5;
    let moved = |i: usize, by: f64| {
        let mut moved = at.to_vec();
        moved[i] += by;
        moved
    };
    (0..at.len()).map(|i| (loss(&moved(i, step)) - loss(&moved(i, -step))) / (2.0 * step)).collect()
}

/// The gradient of a density by the function's weights V, through z and where f stands itself, and by
/// the weights W, against central differences; neither touches the other unless both are moved.
#[test]
fn densities_move_the_function_or_the_operator_or_both() {
    for moves in [Moves::Functions, Moves::States, Moves::All] {
        let mut device = cpu(Precision::F64, Some(1));
        let mut problem = problem();
        let (weights, given) = (problem.weights(), problem.given());
        let density = problem.density();
        let program = DensityProgram::new(&mut problem.graph, &problem.operator, density, moves).unwrap();
        let id = device.load_density(program, points(), Column::uniform(0.1)).expect("the CPU never fails");
        let mut gradient = vec![0.0; weights.len()];
        device.density(id, &weights, &[0.0], Some(&mut gradient)).expect("the CPU never fails");
        let expected = differences(
            &mut |weights| device.density(id, weights, &[0.0], None).expect("the CPU never fails").0,
            &weights,
        );
        for (i, (found, expected)) in gradient.iter().zip(&expected).enumerate() {
            let expected = if moves.moves(i < given) { *expected } else { 0.0 };
            assert!((found - expected).abs() < 1e-8, "weight {i}: {found} and {expected}");
        }
    }
}

/// The lower level moves W only, and its gradient is right with an f that comes from a network.
#[test]
fn the_lower_level_takes_the_function_as_given() {
    let mut device = cpu(Precision::F64, Some(1));
    let mut problem = problem();
    let (weights, given) = (problem.weights(), problem.given());
    let shift = problem.graph.leaf(problem.s);
    let r = residual(&mut problem.graph, problem.u, problem.x, problem.f, shift);
    let program = ResidualProgram::new(&mut problem.graph, &problem.operator, &[r]).unwrap();
    let id = device.load_residual(program, points()).expect("the CPU never fails");
    let terms = ResidualWeights { equation: vec![1.3], gradient: 0.2 };
    let mut gradient = vec![0.0; weights.len()];
    device.residual(id, &weights, &[0.0], &terms, Some(&mut gradient)).expect("the CPU never fails");
    let mut loss = |weights: &[f64]| {
        let loss = device.residual(id, weights, &[0.0], &terms, None).expect("the CPU never fails");
        1.3 * (loss.residual[0] + 0.2 * loss.gradient[0])
    };
    let expected = differences(&mut loss, &weights);
    assert!(gradient[..given].iter().all(|&slope| slope == 0.0));
    for (i, (found, expected)) in gradient.iter().zip(&expected).enumerate().skip(given) {
        assert!(
            (found - expected).abs() < 1e-7 * expected.abs().max(1.0),
            "weight {i}: {found} and {expected}"
        );
    }
}

/// The derivatives of a residual at every point: by the shift as the field of its direction has them, by W
/// against central differences, which are good to 1e-9 with a step of 1e-5; none by V.
#[test]
fn a_residual_is_linearised_with_the_function_as_given() {
    let mut device = cpu(Precision::F64, Some(1));
    let mut problem = problem();
    let (weights, given) = (problem.weights(), problem.given());
    let shift = problem.graph.leaf(problem.s);
    let r = residual(&mut problem.graph, problem.u, problem.x, problem.f, shift);
    let slope = problem.graph.diff(r, problem.s);
    let field = FieldProgram::new(&mut problem.graph, &problem.operator, &[r, slope]).unwrap();
    let expected = device.evaluate(&field, points(), &weights, &[0.0], &[]).expect("the CPU never fails");
    let program = ResidualProgram::new(&mut problem.graph, &problem.operator, &[r]).unwrap();
    let id = device.load_residual(program, points()).expect("the CPU never fails");
    let found = device.linearise(id, &weights, &[0.0], Jacobian::Weights).expect("the CPU never fails");
    for (point, rows) in found.rows(weights.len()).enumerate() {
        let columns = [&found.residuals[0], &found.by_unknown[0]];
        for (column, expected) in columns.into_iter().zip(&expected) {
            assert!((column[point] - expected[point]).abs() < 1e-12, "point {point}");
        }
        let mut value = |weights: &[f64]| {
            device.linearise(id, weights, &[0.0], Jacobian::None).expect("the CPU never fails").residuals[0]
                [point]
        };
        let by_weight = differences(&mut value, &weights);
        assert!(rows[..given].iter().all(|&slope| slope == 0.0));
        for (i, (found, expected)) in rows.iter().zip(&by_weight).enumerate().skip(given) {
            assert!((found - expected).abs() < 1e-8, "point {point}, weight {i}: {found} and {expected}");
        }
    }
}

/// Fields along the shift: v = du/dz against a difference of the function's bias.
#[test]
fn the_direction_of_a_shift_is_the_derivative_by_the_function() {
    let mut device = cpu(Precision::F64, Some(1));
    let mut problem = problem();
    let weights = problem.weights();
    let v = problem.graph.derivative(problem.u, MultiIndex::from(vec![0, 1]));
    let v_x = problem.graph.diff(v, problem.x);
    // Shifting the form rather than the network's output shifts z by a constant.
    let shifted = |by: f64| {
        let mut problem = self::problem();
        let by = problem.graph.constant(by);
        let value = problem.graph.add(problem.f, by);
        problem.operator.networks[1].fed[0].value = value;
        problem
    };
    let program = FieldProgram::new(&mut problem.graph, &problem.operator, &[v, v_x]).unwrap();
    let found = device.evaluate(&program, points(), &weights, &[0.0], &[]).expect("the CPU never fails");
    let step = 1e-5;
    let mut at = |by: f64| {
        let mut problem = shifted(by);
        let (u, x) = (problem.graph.value(problem.u), problem.x);
        let u_x = problem.graph.diff(u, x);
        let program = FieldProgram::new(&mut problem.graph, &problem.operator, &[u, u_x]).unwrap();
        device.evaluate(&program, points(), &weights, &[0.0], &[]).expect("the CPU never fails")
    };
    let (above, below) = (at(step), at(-step));
    for quantity in 0..2 {
        for point in 0..found[0].len() {
            let expected = (above[quantity][point] - below[quantity][point]) / (2.0 * step);
            let found = found[quantity][point];
            assert!((found - expected).abs() < 1e-8, "{quantity} at point {point}: {found} and {expected}");
        }
    }
}
