//! The dual form at many points: K = S J Jᵀ S, what solves with it, and Jᵀ seeds, against the rows of J.

use bilo_expr::{Expr, Graph};
use bilo_jet::*;

fn network(coordinates: usize, parameters: usize, width: usize) -> Network {
    let spec = NetworkSpec {
        coordinates,
        parameters,
        outputs: 1,
        width,
        layers: 2,
        activation: Activation::Tanh,
        fourier: None,
        residual: false,
        modified: false,
    };
    Network::new(spec, 0)
}

/// A function f(x) that feeds u(x, t; f, p), and v(x) beside it. Their widths make matrices whose derivatives
/// are written out and others.
struct Problem {
    graph: Graph,
    operator: Operator,
    u: Expr,
    v: Expr,
}

fn problem() -> Problem {
    let mut graph = Graph::new();
    let [x, t, s, p] = ["x", "t", "s", "p"].map(|name| graph.symbol(name));
    let [at, time, shift, growth] = [x, t, s, p].map(|symbol| graph.leaf(symbol));
    let f = graph.function("f", vec![at]);
    let value = graph.value(f);
    let u = graph.function("u", vec![at, time, shift, growth]);
    let v = graph.function("v", vec![at]);
    let given = BoundNetwork { given: true, ..BoundNetwork::new(network(1, 0, 4), vec![f], vec![]) };
    let fed = BoundNetwork {
        fed: vec![Fed { input: 0, value }],
        ..BoundNetwork::new(network(2, 2, 40), vec![u], vec![0, 1])
    };
    let beside = BoundNetwork::new(network(1, 0, 20), vec![v], vec![]);
    let operator = Operator {
        networks: vec![given, fed, beside],
        columns: vec![x, t],
        unknowns: vec![s, p],
        held: Default::default(),
    };
    let [u, v] = [u, v].map(|function| graph.value(function));
    Problem { graph, operator, u, v }
}

impl Problem {
    /// u_t - p u_xx + u v and v_xx + p v²; then u² alone, which does not ask for v.
    fn programs(&mut self) -> [ResidualProgram; 2] {
        let (graph, operator) = (&mut self.graph, &self.operator);
        let (x, t) = (operator.columns[0], operator.columns[1]);
        let p = graph.leaf(operator.unknowns[1]);
        let (u_x, u_t, v_x) = (graph.diff(self.u, x), graph.diff(self.u, t), graph.diff(self.v, x));
        let (u_xx, v_xx) = (graph.diff(u_x, x), graph.diff(v_x, x));
        let [diffusion, reaction] = [graph.mul(p, u_xx), graph.mul(self.u, self.v)];
        let balance = graph.sub(u_t, diffusion);
        let first = graph.add(balance, reaction);
        let square = graph.mul(self.v, self.v);
        let square = graph.mul(p, square);
        let second = graph.add(v_xx, square);
        let third = graph.mul(self.u, self.u);
        let programs = [&[first, second][..], &[third]];
        programs.map(|residuals| ResidualProgram::new(graph, operator, residuals).expect("a program"))
    }

    fn weights(&self) -> Vec<f64> {
        let networks = self.operator.networks.iter().enumerate();
        networks.flat_map(|(i, bound)| bound.network.initial_weights(5 + i as u64)).collect()
    }
}

fn grid(first: u32, second: u32) -> PointSource {
    let axis = |count: u32| (0..count).map(|i| f64::from(i) / f64::from(count)).collect();
    PointSource::grid(vec![axis(first), axis(second)])
}

/// Relative to the rows' sizes: 1e-13 in f64 and 1e-5 in f32, which is rounding with room for sums of a
/// thousand terms. Several tiles and pieces; one network is given, another idle in one of the programs.
#[test]
fn products_of_rows_and_sums_of_rows_are_those_of_the_rows_written_out() {
    for (precision, tolerance) in [(Precision::F64, 1e-13), (Precision::F32, 1e-5)] {
        let mut problem = problem();
        let (weights, unknowns) = (problem.weights(), [0.0, 0.7]);
        let mut device = cpu(precision, Some(2));
        let [first, second] = problem.programs();
        let ids = [
            device.load_residual(first, grid(11, 10)).expect("the CPU never fails"),
            device.load_residual(second, grid(5, 4)).expect("the CPU never fails"),
        ];
        let linear = ids.map(|id| {
            device.linearise(id, &weights, &unknowns, Jacobian::Weights).expect("the CPU never fails")
        });
        let rows: Vec<Vec<f64>> = linear.iter().flat_map(|linear| linear.rows(weights.len())).collect();
        assert_eq!(rows.len(), 2 * 11 * 10 + 5 * 4);
        let sizes: Vec<f64> = rows.iter().map(|row| dot(row, row).sqrt()).collect();
        let scales: Vec<f64> = (0..rows.len()).map(|i| 1.5 + (i as f64).cos()).collect();
        let Dual { parts, system } =
            device.dual(&ids, &weights, &unknowns, &scales).expect("the CPU never fails");
        let damping = 0.1 * sizes.iter().map(|size| size * size).sum::<f64>() / rows.len() as f64;
        let factorise = |damping: f64| system.factorise(damping).expect("the CPU never fails");
        let factors = factorise(damping).expect("it is positive definite");
        let right: Vec<f64> = (0..rows.len()).map(|i| (1.0 + i as f64).sin()).collect();
        let Solved { numbers, product } =
            factors.solve(&[&right]).expect("the CPU never fails").swap_remove(0);
        for (a, found) in product.iter().enumerate() {
            let others = (0..rows.len()).map(|b| (scales[b] * numbers[b], b));
            let exact: f64 = others.clone().map(|(y, b)| scales[a] * y * dot(&rows[a], &rows[b])).sum();
            let scale = scales[a] * sizes[a] * others.map(|(y, b)| sizes[b] * y.abs()).sum::<f64>();
            assert!((found - exact).abs() < tolerance * scale, "{precision:?} row {a}: {found} {exact}");
            let left = exact + damping * numbers[a] - right[a];
            assert!(left.abs() < tolerance * (scale + right[a].abs()), "{precision:?} row {a}: {left}");
        }
        assert!(factorise(-1e9 * damping).is_none(), "indefinite");
        let mut start = 0;
        for ((id, linear), part) in ids.into_iter().zip(&linear).zip(&parts) {
            assert_eq!((&part.residuals, &part.by_unknown), (&linear.residuals, &linear.by_unknown));
            // Seeds that are the residuals themselves: half the gradient of Σ r².
            let mut found = vec![0.0; weights.len()];
            device
                .pullback(id, &weights, &unknowns, &linear.residuals, &mut found)
                .expect("the CPU never fails");
            let seeds = linear.residuals.concat();
            let own = &rows[start..start + seeds.len()];
            start += seeds.len();
            let scale: f64 =
                own.iter().zip(&seeds).map(|(row, seed)| dot(row, row).sqrt() * seed.abs()).sum();
            for (i, found) in found.iter().enumerate() {
                let expected: f64 = own.iter().zip(&seeds).map(|(row, seed)| row[i] * seed).sum();
                assert!((found - expected).abs() < tolerance * scale, "{precision:?} weight {i}");
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
