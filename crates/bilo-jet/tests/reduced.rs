//! Dictionaries of combinations of features, against the dictionary of all features.

use bilo_expr::{Graph, MultiIndex};
use bilo_jet::{
    Axis, BoundNetwork, Device, DictionarySpec, Family, Features, Jacobian, Linearisation, Network,
    NetworkSpec, Operator, PointSource, Precision, ResidualProgram, cpu,
};

/// u_t - D u_xx + u², with a network for u.
fn program(network: Network) -> ResidualProgram {
    let mut graph = Graph::new();
    let columns = vec![graph.symbol("x"), graph.symbol("t")];
    let inputs: Vec<_> = columns.iter().map(|&symbol| graph.leaf(symbol)).collect();
    let function = graph.function("u", inputs);
    let mut derivative = |orders: [u8; 2]| graph.derivative(function, MultiIndex::from(orders.to_vec()));
    let (u, u_t, u_xx) = (derivative([0, 0]), derivative([0, 1]), derivative([2, 0]));
    let unknown = graph.symbol("D");
    let d = graph.leaf(unknown);
    let (diffusion, square) = (graph.mul(d, u_xx), graph.mul(u, u));
    let rest = graph.sub(u_t, diffusion);
    let residual = graph.add(rest, square);
    let networks = vec![BoundNetwork::new(network, vec![function], vec![])];
    let operator = Operator { networks, columns, unknowns: vec![unknown], held: Default::default() };
    ResidualProgram::expanded(&mut graph, &operator, &[residual]).expect("a program")
}

/// At two sets of points in turn.
fn linearised(network: Network, weights: &[f64]) -> [Linearisation; 2] {
    let mut device: Box<dyn Device> = cpu(Precision::F64, Some(1));
    let grid = |from: f64| {
        let nodes = |count: usize| (0..count).map(|i| from + 0.9 * i as f64 / count as f64).collect();
        PointSource::grid(vec![nodes(40), nodes(30)])
    };
    let id = device.load_residual(program(network), grid(0.0)).expect("the CPU never fails");
    let first = device.linearise(id, weights, &[0.7], Jacobian::Weights).expect("the CPU never fails");
    device.move_residual(id, grid(0.1)).expect("the CPU never fails");
    [first, device.linearise(id, weights, &[0.7], Jacobian::Weights).expect("the CPU never fails")]
}

/// The same sums in another order.
fn assert_same(ours: &[f64], exact: &[f64]) {
    let size = exact.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    let worst = ours.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert_eq!(ours.len(), exact.len());
    assert!(worst < 1e-13 * size, "{worst:e} of {size:e}");
}

#[test]
fn combinations_of_features_say_what_the_features_do() {
    let axis = |count: usize| Axis { count, family: Family::Chebyshev };
    let spec =
        DictionarySpec { coordinates: 2, outputs: 1, features: Features::Tensor(vec![axis(6), axis(5)]) };
    let whole = Network::dictionary(&spec, 0);
    let combination = |k: usize| (0..30).map(|i| ((i * (k + 2) + k) as f64).sin() / (1 + i) as f64).collect();
    let combinations: Vec<Vec<f64>> = (0..4).map(combination).collect();
    let reduced = whole.reduced(&combinations).expect("a dictionary of products");
    let coefficients = [0.5, -1.0, 0.25, 2.0];
    let sum = |i: usize| combinations.iter().zip(coefficients).map(|(row, c)| c * row[i]).sum();
    let weights: Vec<f64> = (0..30).map(sum).collect();
    for (ours, exact) in linearised(reduced, &coefficients).iter().zip(linearised(whole, &weights)) {
        assert_same(&ours.residuals[0], &exact.residuals[0]);
        assert_same(&ours.by_unknown[0], &exact.by_unknown[0]);
        let product = |point: usize| {
            let row = exact.row(0, point, 30);
            combinations.iter().map(|c| c.iter().zip(&row).map(|(a, b)| a * b).sum()).collect::<Vec<f64>>()
        };
        let expected: Vec<f64> = (0..exact.residuals[0].len()).flat_map(product).collect();
        assert_same(&ours.by_weight[0], &expected);
    }
}

#[test]
fn other_networks_have_no_features_to_combine() {
    let spec = NetworkSpec {
        coordinates: 2,
        parameters: 0,
        outputs: 1,
        width: 4,
        layers: 1,
        activation: bilo_jet::Activation::Tanh,
        fourier: None,
        residual: false,
        modified: false,
    };
    assert_eq!(Network::new(spec, 0).reduced(&[vec![1.0; 4]]), None);
}
