//! Rows with few entries, from derivatives by slots, against the rows of all weights.

use bilo_expr::{Graph, MultiIndex};
use bilo_jet::{
    Axis, BoundNetwork, DictionarySpec, Family, Features, Jacobian, Network, Operator, PointSource,
    Precision, ResidualProgram, cpu,
};

/// Two dictionaries, one of splines along both coordinates and one of splines and polynomials, in two residuals that
/// are not linear in them and depend on an unknown.
fn program(graph: &mut Graph) -> (ResidualProgram, Vec<f64>) {
    let columns = vec![graph.symbol("x"), graph.symbol("y")];
    let inputs: Vec<_> = columns.iter().map(|&symbol| graph.leaf(symbol)).collect();
    let splines = Axis { count: 7, family: Family::Splines };
    let polynomials = Axis { count: 3, family: Family::Chebyshev };
    let mut networks = vec![];
    for (name, features) in [("u", [splines, splines]), ("v", [splines, polynomials])] {
        let spec =
            DictionarySpec { coordinates: 2, outputs: 2, features: Features::Tensor(features.to_vec()) };
        let outputs = (0..2).map(|k| graph.function(&format!("{name}{k}"), inputs.clone())).collect();
        networks.push(BoundNetwork::new(Network::dictionary(&spec, 0), outputs, vec![]));
    }
    let weights = networks.iter().flat_map(|bound| bound.network.initial_weights(5)).collect();
    let unknown = graph.symbol("D");
    let mut derivative = |network: usize, output: usize, orders: [u8; 2]| {
        graph.derivative(networks[network].outputs[output], MultiIndex::from(orders.to_vec()))
    };
    let (u_xx, u, v_y, w_xy) = (
        derivative(0, 0, [2, 0]),
        derivative(0, 1, [0, 0]),
        derivative(1, 0, [0, 1]),
        derivative(1, 1, [1, 1]),
    );
    let d = graph.leaf(unknown);
    let diffusion = graph.mul(d, u_xx);
    let reaction = graph.mul(u, v_y);
    let first = graph.add(diffusion, reaction);
    let square = graph.mul(w_xy, w_xy);
    let second = graph.sub(square, u);
    let operator = Operator { networks, columns, unknowns: vec![unknown], held: Default::default() };
    (ResidualProgram::expanded(graph, &operator, &[first, second]).unwrap(), weights)
}

/// Sums of the same products in another order: up to rounding of numbers of the size of the largest.
#[test]
fn rows_with_few_entries_are_the_rows_of_all_weights() {
    let mut graph = Graph::new();
    let (program, weights) = program(&mut graph);
    let frame = program.frame.clone();
    let points = PointSource::grid(vec![vec![0.0, 0.2, 0.55, 1.0], vec![0.1, 0.25, 0.8]]);
    let mut device = cpu(Precision::F64, Some(1));
    let id = device.load_residual(program, points.clone()).expect("the CPU never fails");
    let dense = device.linearise(id, &weights, &[0.7], Jacobian::Weights).expect("the CPU never fails");
    let by_slot = device.linearise(id, &weights, &[0.7], Jacobian::Slots).expect("the CPU never fails");
    assert_eq!((&dense.residuals, &dense.by_unknown), (&by_slot.residuals, &by_slot.by_unknown));
    let features = frame.local_features(&points, &[0.7]).unwrap();
    for (q, all) in dense.by_weight.iter().enumerate() {
        let rows = features.rows(&by_slot.by_slot[q * frame.slots.len()..(q + 1) * frame.slots.len()]);
        let size = all.iter().fold(0.0_f64, |size, entry| size.max(entry.abs()));
        for point in 0..points.len() {
            let row = dense.row(q, point, weights.len());
            let mut found = vec![0.0; weights.len()];
            rows.row(point).for_each(|(column, value)| found[column] = value);
            let worst = row.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-14 * size, "{q} {point}: {worst:e} of {size:e}");
        }
    }
}

#[test]
fn products_with_many_vectors_are_those_with_each() {
    let mut graph = Graph::new();
    let (program, weights) = program(&mut graph);
    let points = PointSource::grid(vec![vec![0.0, 0.2, 0.55, 1.0], vec![0.1, 0.25, 0.8]]);
    let features = program.frame.local_features(&points, &[0.7]).unwrap();
    let rows = features.rows(&vec![vec![1.0; points.len()]; program.frame.slots.len()]);
    let vectors: Vec<Vec<f64>> =
        (0..11).map(|k| (0..weights.len()).map(|i| ((i * (k + 2)) as f64).sin()).collect()).collect();
    for (product, vector) in rows.times(&vectors).iter().zip(&vectors) {
        for (point, found) in product.iter().enumerate() {
            let exact: f64 = rows.row(point).map(|(column, value)| value * vector[column]).sum();
            assert!((found - exact).abs() < 1e-13 * (1.0 + exact.abs()), "{found} {exact}");
        }
    }
}
