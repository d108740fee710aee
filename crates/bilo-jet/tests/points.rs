//! Points that are made when they are asked for, against plain loops and stored columns.

use bilo_expr::{Graph, MultiIndex};
use bilo_jet::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// All combinations by nested counting: the slowest way there is.
fn combinations(axes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = vec![vec![]];
    for axis in axes {
        rows = rows.iter().flat_map(|row| axis.iter().map(|&v| [row.as_slice(), &[v]].concat())).collect();
    }
    rows
}

/// Rows of points from columns.
fn rows(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..columns[0].len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

fn axes() -> impl Strategy<Value = Vec<Vec<f64>>> {
    proptest::collection::vec(proptest::collection::vec(-1.0..1.0, 1..30), 1..4)
}

/// Keeps the rows for which `mask`, read again and again, is true.
fn masked(source: PointSource, mask: &[bool]) -> PointSource {
    let mut row = 0;
    source.keep(|columns| {
        let start = row;
        row += columns[0].len();
        (start..row).map(|row| mask[row % mask.len()]).collect()
    })
}

/// The same cases every time: a failure means a change of the code.
fn config() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Any stretch of any part of a grid, and of the same points stored, to the bit.
    #[test]
    fn a_part_of_a_grid_is_the_rows_that_were_kept(
        axes in axes(), mask in proptest::collection::vec(any::<bool>(), 1..40), cut in 0.0..1.0, more in 0..9_usize,
    ) {
        let all = combinations(&axes);
        let expected: Vec<Vec<f64>> =
            all.iter().enumerate().filter(|(row, _)| mask[row % mask.len()]).map(|(_, row)| row.clone()).collect();
        let columns: Vec<Vec<f64>> = (0..axes.len()).map(|c| all.iter().map(|row| row[c]).collect()).collect();
        for source in [PointSource::grid(axes.clone()), PointSource::stored(columns)] {
            let source = masked(source, &mask);
            prop_assert_eq!(source.len(), expected.len());
            prop_assert_eq!(source.is_empty(), expected.is_empty());
            if expected.is_empty() {
                continue;
            }
            prop_assert_eq!(rows(&source.columns(0..source.len())), expected.clone());
            let start = (cut * expected.len() as f64) as usize;
            for column in 0..source.width() {
                let mut target = vec![f64::NAN; expected.len() - start + more];
                source.write(column, start, &mut target);
                let value = |place: usize| expected[(start + place).min(expected.len() - 1)][column];
                prop_assert_eq!(target.clone(), (0..target.len()).map(value).collect::<Vec<_>>());
            }
            let stretches: Vec<Vec<f64>> = source.stretches(7).flat_map(|stretch| rows(&stretch)).collect();
            prop_assert_eq!(stretches, expected.clone());
        }
    }

    /// Keeping twice keeps what both conditions keep.
    #[test]
    fn a_part_of_a_part_is_a_part(axes in axes(), bound in -1.0..1.0) {
        let above = |columns: &[Vec<f64>]| columns[0].iter().map(|&x| x > bound).collect::<Vec<_>>();
        let below = |columns: &[Vec<f64>]| columns.iter().next_back().expect("a column").iter().map(|&x| x < 0.5).collect::<Vec<_>>();
        let source = PointSource::grid(axes.clone()).keep(above).keep(below);
        let expected: Vec<Vec<f64>> = combinations(&axes)
            .into_iter().filter(|row| row[0] > bound && *row.last().expect("a coordinate") < 0.5).collect();
        prop_assert_eq!(source.len(), expected.len());
        if !expected.is_empty() {
            prop_assert_eq!(rows(&source.columns(0..source.len())), expected);
        }
    }
}

/// A coordinate that each value of another is paired with, and a constant.
#[test]
fn columns_repeat_as_they_say() {
    let columns =
        vec![Column::axis(vec![1.0, 2.0], 3), Column::stored(vec![7.0, 8.0, 9.0]), Column::uniform(5.0)];
    let source = PointSource::new(columns, 6);
    let expected = [[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [7.0, 8.0, 9.0, 7.0, 8.0, 9.0], [5.0; 6]];
    assert_eq!(source.columns(0..6), expected);
}

/// The residual u_xx - p u_t, and x u as a density, of a network u((x - 1e6)/2, t; p).
struct Subject {
    residual: ResidualProgram,
    density: DensityProgram,
    field: FieldProgram,
    weights: Vec<f64>,
}

impl Subject {
    fn new() -> Self {
        let mut graph = Graph::new();
        let (x, t, p) = (graph.symbol("x"), graph.symbol("t"), graph.symbol("p"));
        let (lo, width) = (graph.constant(1e6), graph.constant(2.0));
        let x_value = graph.leaf(x);
        let shifted = graph.sub(x_value, lo);
        let inputs = vec![graph.div(shifted, width), graph.leaf(t), graph.leaf(p)];
        let u = graph.function("u", inputs.clone());
        let u_xx = graph.derivative(u, MultiIndex::from(vec![2, 0, 0]));
        let u_t = graph.derivative(u, MultiIndex::from(vec![0, 1, 0]));
        let transported = graph.mul(inputs[2], u_t);
        let residual = graph.sub(u_xx, transported);
        let value = graph.value(u);
        let weighted = graph.mul(inputs[1], value);
        let spec = NetworkSpec {
            coordinates: 2,
            parameters: 1,
            outputs: 1,
            width: 18,
            layers: 1,
            activation: Activation::Tanh,
            fourier: None,
            residual: false,
            modified: false,
        };
        let network = Network::new(spec, 0);
        let weights = network.initial_weights(3);
        let bound = BoundNetwork::new(network, vec![u], vec![0]);
        let operator = Operator {
            networks: vec![bound],
            columns: vec![x, t],
            unknowns: vec![p],
            held: Default::default(),
        };
        Self {
            residual: ResidualProgram::new(&mut graph, &operator, &[residual]).expect("a valid program"),
            density: DensityProgram::new(&mut graph, &operator, weighted, Moves::States)
                .expect("a valid program"),
            field: FieldProgram::new(&mut graph, &operator, &[residual]).expect("a valid program"),
            weights,
        }
    }

    /// Every number that a device gives at some points.
    fn numbers(&self, precision: Precision, threads: usize, points: &PointSource) -> Vec<f64> {
        let mut device = cpu(precision, Some(threads));
        let mut gradient = vec![0.0; self.weights.len()];
        let terms = ResidualWeights { equation: vec![1.0], gradient: 0.1 };
        let residual =
            device.load_residual(self.residual.clone(), points.clone()).expect("the CPU never fails");
        let loss = device
            .residual(residual, &self.weights, &[0.5], &terms, Some(&mut gradient))
            .expect("the CPU never fails");
        let weights = Column::uniform(1.0 / points.len() as f64);
        let density =
            device.load_density(self.density.clone(), points.clone(), weights).expect("the CPU never fails");
        let (value, slope) =
            device.density(density, &self.weights, &[0.5], Some(&mut gradient)).expect("the CPU never fails");
        let field = device
            .evaluate(&self.field, points.clone(), &self.weights, &[0.5], &[])
            .expect("the CPU never fails");
        let linear = device
            .linearise(residual, &self.weights, &[0.5], Jacobian::Weights)
            .expect("the CPU never fails");
        let linear = [linear.residuals, linear.by_unknown, linear.by_weight].concat().concat();
        device
            .pullback(residual, &self.weights, &[0.5], &[vec![0.1; points.len()]], &mut gradient)
            .expect("the CPU never fails");
        // The products of all rows with each other would be too many.
        let some = PointSource::stored(points.columns(0..points.len().min(300)));
        device.move_residual(residual, some).expect("the CPU never fails");
        let scales = vec![0.5; 2 * points.len().min(300)];
        let Dual { parts, system } =
            device.dual(&[residual, residual], &self.weights, &[0.5], &scales).expect("the CPU never fails");
        let factors = system.factorise(1.0).expect("the CPU never fails").expect("all damping");
        let solved = factors.solve(&[&scales]).expect("the CPU never fails").swap_remove(0);
        let dual = [parts[0].residuals.concat(), solved.numbers, solved.product].concat();
        [loss.residual, loss.gradient, vec![value], slope, gradient, field.concat(), linear, dual].concat()
    }
}

/// A part of a grid of several tiles in every group; coordinates that single precision could not tell apart.
#[test]
fn a_device_gives_the_same_bits_for_a_grid_as_for_its_stored_points_on_one_thread_or_two() {
    let subject = Subject::new();
    let axis = |lo: f64, count: usize| (0..count).map(|i| lo + 2.0 * i as f64 / count as f64).collect();
    let grid = PointSource::grid(vec![axis(1e6, 97), axis(0.0, 91)]);
    let grid = grid.keep(|columns| {
        columns[1].iter().zip(&columns[0]).map(|(t, x)| *t > 0.0 || *x > 1e6 + 1.0).collect()
    });
    let stored = PointSource::stored(grid.columns(0..grid.len()));
    for precision in [Precision::F32, Precision::F64] {
        let expected = subject.numbers(precision, 1, &stored);
        assert!(expected.iter().all(|value| value.is_finite()));
        assert_eq!(subject.numbers(precision, 1, &grid), expected);
        assert_eq!(subject.numbers(precision, 2, &grid), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// A column that is a function of others has its values at every point, whether these are all combinations of
    /// axes, some of them, or stored.
    #[test]
    fn a_function_of_columns_is_a_column(
        axes in axes(),
        mask in proptest::collection::vec(any::<bool>(), 1..9),
        chosen in proptest::collection::vec(any::<bool>(), 3),
        stored in any::<bool>(),
    ) {
        let mut of: Vec<usize> = (0..axes.len()).filter(|&axis| chosen[axis]).collect();
        if of.is_empty() {
            of.push(0);
        }
        let grid = PointSource::grid(axes);
        let source = masked(grid, &mask);
        let source = if stored { PointSource::stored(source.columns(0..source.len())) } else { source };
        let sum = |own: &[Vec<f64>]| -> Vec<f64> {
            (0..own[0].len()).map(|i| own.iter().enumerate().map(|(k, c)| (k + 1) as f64 * c[i]).sum()).collect()
        };
        let before = source.columns(0..source.len());
        let own: Vec<Vec<f64>> = of.iter().map(|&column| before[column].clone()).collect();
        let found = source.with_function(&of, sum);
        let after = found.columns(0..found.len());
        prop_assert_eq!(&after[..before.len()], &before[..]);
        prop_assert_eq!(&after[before.len()], &sum(&own));
    }
}
