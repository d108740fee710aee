//! Inputs of networks, and points, that move with unknowns: everything against central differences in the
//! unknowns. Those have an error of about h² and of rounding/h: 1e-8 with h = 1e-5 for numbers of order one.

use bilo_expr::{Expr, Function, Graph, Symbol};
use bilo_jet::{
    Activation, BoundNetwork, Column, DensityProgram, Device, Fed, FieldProgram, Moves, Network, NetworkSpec,
    Operator, PointSource, Precision, ResidualProgram, ResidualWeights, cpu,
};
use std::collections::BTreeMap;

const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 1e-7;

/// A network u(x, phi; p, z) with phi = |x - z|, and the residual u_xx - p x u + x² of it.
struct Problem {
    graph: Graph,
    operator: Operator,
    u: Function,
    phi: Symbol,
    residual: Expr,
}

fn network(coordinates: usize, parameters: usize) -> Network {
    let spec = NetworkSpec {
        coordinates,
        parameters,
        outputs: 1,
        width: 5,
        layers: 1,
        activation: Activation::Tanh,
        fourier: None,
        residual: false,
        modified: false,
    };
    Network::new(spec, 0)
}

fn problem() -> Problem {
    let mut graph = Graph::new();
    let [x, p, z] = ["x", "p", "z"].map(|name| graph.symbol(name));
    let [at, growth, place] = [x, p, z].map(|symbol| graph.leaf(symbol));
    let distance = graph.sub(at, place);
    let distance = graph.unary(bilo_expr::Unary::Abs, distance);
    let phi = graph.define("phi", distance);
    let inputs = vec![at, graph.leaf(phi), growth, place];
    let u = graph.function("u", inputs);
    let value = graph.value(u);
    let u_x = graph.diff(value, x);
    let u_xx = graph.diff(u_x, x);
    let product = graph.mul(growth, value);
    let (reaction, square) = (graph.mul(at, product), graph.mul(at, at));
    let residual = graph.sub(u_xx, reaction);
    let residual = graph.add(residual, square);
    let residual = graph.expand_definitions(residual);
    let bound = BoundNetwork::new(network(2, 2), vec![u], vec![0, 1]);
    let operator =
        Operator { networks: vec![bound], columns: vec![x], unknowns: vec![p, z], held: BTreeMap::new() };
    Problem { graph, operator, u, phi, residual }
}

impl Problem {
    fn weights(&self) -> Vec<f64> {
        let networks = self.operator.networks.iter().enumerate();
        networks.flat_map(|(i, bound)| bound.network.initial_weights(7 + i as u64)).collect()
    }

    /// An expression at places x, at these unknowns.
    fn values(&mut self, device: &mut dyn Device, value: Expr, x: &[f64], unknowns: &[f64]) -> Vec<f64> {
        let program = FieldProgram::new(&mut self.graph, &self.operator, &[value]).unwrap();
        device
            .evaluate(&program, PointSource::stored(vec![x.to_vec()]), &self.weights(), unknowns, &[])
            .expect("the CPU never fails")
            .remove(0)
    }

    /// d(value)/dη_j at places that may depend on the unknowns, by central differences.
    fn differences(
        &mut self,
        device: &mut dyn Device,
        value: Expr,
        x: &dyn Fn(&[f64]) -> Vec<f64>,
        (unknowns, j): (&[f64], usize),
    ) -> Vec<f64> {
        let [mut low, mut high] = [unknowns.to_vec(), unknowns.to_vec()];
        (low[j], high[j]) = (low[j] - STEP, high[j] + STEP);
        let [low, high] = [low, high].map(|at| self.values(device, value, &x(&at), &at));
        low.iter().zip(high).map(|(low, high)| (high - low) / (2.0 * STEP)).collect()
    }

    /// Holds the losses of a residual program against differences in the unknowns, and its gradient
    /// against differences in the weights.
    fn check_residual(&mut self, x: &dyn Fn(&[f64]) -> Vec<f64>, at: &Operator, unknowns: &[f64]) {
        let mut device = cpu(Precision::F64, Some(1));
        let (residual, weights) = (self.residual, self.weights());
        let places = x(unknowns);
        let mean = |values: Vec<f64>| values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
        let value = mean(self.values(device.as_mut(), residual, &places, unknowns));
        let slopes = (0..unknowns.len())
            .map(|j| mean(self.differences(device.as_mut(), residual, x, (unknowns, j))))
            .sum::<f64>();
        let program = ResidualProgram::new(&mut self.graph, at, &[residual]).unwrap();
        // Where points are held, what the source gives is not used.
        let given = if at.held.is_empty() { places } else { vec![f64::NAN; places.len()] };
        let id =
            device.load_residual(program, PointSource::stored(vec![given])).expect("the CPU never fails");
        let terms = ResidualWeights { equation: vec![1.0], gradient: 0.3 };
        let mut gradient = vec![0.0; weights.len()];
        let loss = device
            .residual(id, &weights, unknowns, &terms, Some(&mut gradient))
            .expect("the CPU never fails");
        assert!((loss.residual[0] - value).abs() < 1e-12 * value, "{loss:?} and {value}");
        assert!((loss.gradient[0] - slopes).abs() < TOLERANCE * slopes, "{loss:?} and {slopes}");
        let mut total = |weights: &[f64]| {
            let loss = device.residual(id, weights, unknowns, &terms, None).expect("the CPU never fails");
            loss.residual[0] + 0.3 * loss.gradient[0]
        };
        for i in 0..weights.len() {
            let mut moved = |by: f64| {
                let mut weights = weights.clone();
                weights[i] += by;
                total(&weights)
            };
            let expected = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            let found = gradient[i];
            assert!(
                (found - expected).abs() < TOLERANCE * (1.0 + expected.abs()),
                "{i}: {found}, {expected}"
            );
        }
    }
}

/// Both sides of z, and near to it.
fn fixed(_: &[f64]) -> Vec<f64> {
    vec![-0.3, 0.1, 0.299, 0.301, 0.5, 0.8]
}

#[test]
fn residuals_at_fixed_points_move_with_the_input() {
    let mut problem = problem();
    let operator = problem.operator.clone();
    problem.check_residual(&fixed, &operator, &[0.7, 0.3]);
}

/// The points x = 0.2 + z²; there phi = |0.2 + z² - z|.
#[test]
fn residuals_at_moving_points_are_differentiated_along_them() {
    let mut problem = problem();
    let mut operator = problem.operator.clone();
    let (shift, z) = (problem.graph.constant(0.2), problem.graph.leaf(operator.unknowns[1]));
    let square = problem.graph.mul(z, z);
    operator.held.insert(operator.columns[0], problem.graph.add(shift, square));
    problem.check_residual(&|unknowns| vec![0.2 + unknowns[1].powi(2)], &operator, &[0.7, 0.3]);
}

/// At x = z the input is zero whatever z is: d/dz of u_phi there is u_phix plus what the parameter input does.
#[test]
fn the_partial_derivative_at_the_kink_follows_it() {
    let mut problem = problem();
    let value = problem.graph.value(problem.u);
    problem.residual = problem.graph.diff(value, problem.phi);
    let mut operator = problem.operator.clone();
    operator.held.insert(operator.columns[0], problem.graph.leaf(operator.unknowns[1]));
    problem.check_residual(&|unknowns| vec![unknowns[1]], &operator, &[0.7, 0.3]);
}

/// (value, gradient by the unknowns) of Σ weights (u - x)² u_x against differences.
#[test]
fn densities_move_with_the_input() {
    let mut device = cpu(Precision::F64, Some(1));
    let mut problem = problem();
    let (weights, unknowns) = (problem.weights(), [0.7, 0.3]);
    let graph = &mut problem.graph;
    let (u, x) = (graph.value(problem.u), graph.leaf(problem.operator.columns[0]));
    let u_x = graph.diff(u, problem.operator.columns[0]);
    let misfit = graph.sub(u, x);
    let square = graph.mul(misfit, misfit);
    let density = graph.mul(square, u_x);
    let density = graph.expand_definitions(density);
    let program = DensityProgram::new(graph, &problem.operator, density, Moves::States).unwrap();
    let quadrature: Vec<f64> = (0..6).map(|i| 0.5 + f64::from(i)).collect();
    let points = PointSource::stored(vec![fixed(&unknowns)]);
    let id = device
        .load_density(program, points, Column::stored(quadrature.clone()))
        .expect("the CPU never fails");
    let (value, by_unknown) = device.density(id, &weights, &unknowns, None).expect("the CPU never fails");
    let sum = |values: Vec<f64>| values.iter().zip(&quadrature).map(|(v, w)| v * w).sum::<f64>();
    let exact = sum(problem.values(device.as_mut(), density, &fixed(&unknowns), &unknowns));
    assert!((value - exact).abs() < 1e-12 * exact.abs(), "{value}, {exact}");
    for (j, found) in by_unknown.iter().enumerate() {
        let exact = sum(problem.differences(device.as_mut(), density, &fixed, (&unknowns, j)));
        assert!((found - exact).abs() < TOLERANCE * (1.0 + exact.abs()), "by {j}: {found}, {exact}");
    }
}

/// u(x, phi; f(x) + s, z), fed with the network f(x): at fixed points, and at x = 0.2 + z², where f moves too.
#[test]
fn networks_that_are_fed_move_as_well() {
    for follows in [false, true] {
        let mut graph = Graph::new();
        let [x, z, s] = ["x", "z", "s"].map(|name| graph.symbol(name));
        let [at, place, shift] = [x, z, s].map(|symbol| graph.leaf(symbol));
        let net = graph.function("f", vec![at]);
        let form = graph.value(net);
        let form = graph.mul(at, form);
        let distance = graph.sub(at, place);
        let distance = graph.unary(bilo_expr::Unary::Abs, distance);
        let phi = graph.define("phi", distance);
        let inputs = vec![at, graph.leaf(phi), shift, place];
        let u = graph.function("u", inputs);
        let value = graph.value(u);
        let u_x = graph.diff(value, x);
        let flux = graph.mul(form, u_x);
        let balance = graph.diff(flux, x);
        let residual = graph.expand_definitions(balance);
        let below = BoundNetwork { given: true, ..BoundNetwork::new(network(1, 0), vec![net], vec![]) };
        let above = BoundNetwork {
            fed: vec![Fed { input: 0, value: form }],
            ..BoundNetwork::new(network(2, 2), vec![u], vec![1, 0])
        };
        // The shift is no unknown that differences can move: its value is zero.
        let networks = vec![below, above];
        let operator = Operator { networks, columns: vec![x], unknowns: vec![z, s], held: BTreeMap::new() };
        let mut problem = Problem { graph, operator, u, phi, residual };
        let mut at = problem.operator.clone();
        if follows {
            let graph = &mut problem.graph;
            let (shift, square) = (graph.constant(0.2), graph.mul(place, place));
            at.held.insert(x, graph.add(shift, square));
            problem.check_fed(&|unknowns| vec![0.2 + unknowns[0].powi(2)], &at);
        } else {
            problem.check_fed(&fixed, &at);
        }
    }
}

impl Problem {
    /// The residual gradient by the scalar by differences, by the shift by the field of its direction.
    fn check_fed(&mut self, x: &dyn Fn(&[f64]) -> Vec<f64>, at: &Operator) {
        let mut device = cpu(Precision::F64, Some(1));
        let (unknowns, residual, weights) = ([0.3, 0.0], self.residual, self.weights());
        let mean = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
        let by_scalar = self.differences(device.as_mut(), residual, x, (&unknowns, 0));
        let by_shift = self.graph.diff(residual, self.operator.unknowns[1]);
        let by_shift = self.values(device.as_mut(), by_shift, &x(&unknowns), &unknowns);
        let exact = mean(&by_scalar) + mean(&by_shift);
        let program = ResidualProgram::new(&mut self.graph, at, &[residual]).unwrap();
        let id = device
            .load_residual(program, PointSource::stored(vec![x(&unknowns)]))
            .expect("the CPU never fails");
        let terms = ResidualWeights { equation: vec![1.0], gradient: 0.3 };
        let loss = device.residual(id, &weights, &unknowns, &terms, None).expect("the CPU never fails");
        assert!((loss.gradient[0] - exact).abs() < TOLERANCE * exact, "{loss:?} and {exact}");
    }
}
