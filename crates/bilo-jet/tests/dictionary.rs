//! Dictionaries against the oracle.

use bilo_expr::{Graph, MultiIndex};
use bilo_jet::oracle::Subject;
use bilo_jet::{
    Activation, Axis, BoundNetwork, Column, DensityProgram, DictionarySpec, Family, Features, FieldProgram,
    Moves, Network, Operator, PointSource, Precision, Ridge, cpu,
};

fn tensor(first: Family, second: Family) -> Features {
    Features::Tensor(vec![Axis { count: 6, family: first }, Axis { count: 5, family: second }])
}

fn ridge(activation: Activation) -> Features {
    Features::Ridge(Ridge { activation, count: 20, scale: 3.0 })
}

fn every_kind() -> [Features; 5] {
    use Family::{Chebyshev, Splines, Waves};
    [
        tensor(Chebyshev, Chebyshev),
        tensor(Waves, Chebyshev),
        tensor(Splines, Splines),
        ridge(Activation::Tanh),
        ridge(Activation::Sin),
    ]
}

/// A dictionary of two coordinates with two outputs, and random weights.
fn dictionary(features: Features) -> (Network, Vec<f64>) {
    let network = Network::dictionary(&DictionarySpec { coordinates: 2, outputs: 2, features }, 3);
    let weights = network.initial_weights(4);
    (network, weights)
}

fn operator(graph: &mut Graph, network: &Network) -> Operator {
    let columns = vec![graph.symbol("x"), graph.symbol("y")];
    let inputs: Vec<_> = columns.iter().map(|&symbol| graph.leaf(symbol)).collect();
    let outputs = vec![graph.function("a", inputs.clone()), graph.function("b", inputs)];
    let networks = vec![BoundNetwork::new(network.clone(), outputs, vec![])];
    Operator { networks, columns, unknowns: vec![], held: Default::default() }
}

fn points() -> PointSource {
    PointSource::grid(vec![vec![0.0, 0.13, 0.5, 0.77, 1.0], vec![0.0, 0.31, 0.9]])
}

#[test]
fn derivatives_of_all_features_are_those_of_the_oracle() {
    for features in every_kind() {
        let (network, weights) = dictionary(features);
        let mut graph = Graph::new();
        let operator = operator(&mut graph, &network);
        let outputs = &operator.networks[0].outputs;
        let indices: Vec<MultiIndex> = [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 3]]
            .map(|orders| MultiIndex::from(orders.to_vec()))
            .to_vec();
        let wanted: Vec<_> =
            indices.iter().map(|index| graph.derivative(outputs[1], index.clone())).collect();
        let program = FieldProgram::new(&mut graph, &operator, &wanted).unwrap();
        let mut device = cpu(Precision::F64, Some(1));
        let values = device.evaluate(&program, points(), &weights, &[], &[]).expect("the CPU never fails");
        let direction = vec![0.0; weights.len()];
        let subject = Subject { network: &network, weights: &weights, direction: &direction };
        let columns = points().columns(0..points().len());
        for (index, values) in indices.iter().zip(&values) {
            for (point, value) in values.iter().enumerate() {
                let (exact, _) = subject.derivative(&[columns[0][point], columns[1][point]], index, 1);
                // Derivatives of high polynomials are large at the ends: rounding relative to that.
                assert!((value - exact).abs() < 1e-11 * (1.0 + exact.abs()), "{index:?}: {value} {exact}");
            }
        }
    }
}

/// The gradient by the weights of a sum of outputs, which is linear in them: its product with the weights is
/// the sum itself.
#[test]
fn heads_without_a_bias_have_a_gradient() {
    for features in every_kind() {
        let (network, weights) = dictionary(features);
        let mut graph = Graph::new();
        let operator = operator(&mut graph, &network);
        let outputs: Vec<_> =
            operator.networks[0].outputs.clone().into_iter().map(|output| graph.value(output)).collect();
        let sum = graph.sum(&outputs);
        let program = DensityProgram::new(&mut graph, &operator, sum, Moves::States).unwrap();
        let mut device = cpu(Precision::F64, Some(1));
        let id = device.load_density(program, points(), Column::uniform(1.0)).expect("the CPU never fails");
        let mut gradient = vec![0.0; weights.len()];
        let (value, _) = device.density(id, &weights, &[], Some(&mut gradient)).expect("the CPU never fails");
        let product: f64 = gradient.iter().zip(&weights).map(|(slope, weight)| slope * weight).sum();
        assert!((product - value).abs() < 1e-12 * value.abs(), "{product} {value}");
    }
}
