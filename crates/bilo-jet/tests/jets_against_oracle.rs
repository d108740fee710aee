//! The CPU device against the slow oracle.

use bilo_expr::MultiIndex;
use bilo_jet::conformance::{Case, Draw, tolerance};
use bilo_jet::{Activation, Fourier, NetworkSpec, Precision, cpu};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn activations() -> impl Strategy<Value = Activation> {
    prop_oneof![
        Just(Activation::Tanh),
        Just(Activation::Sin),
        Just(Activation::Softplus),
        Just(Activation::Swish)
    ]
}

prop_compose! {
    fn specs()(
        coordinates in 1..=3_usize, parameters in 1..=3_usize, outputs in 1..=2_usize,
        width in prop_oneof![3..=9_usize, 16..=18_usize], layers in 0..=3_usize, activation in activations(),
        fourier in proptest::option::of((1..=3_usize, 0.1..0.5)),
        residual in any::<bool>(), modified in any::<bool>(),
    ) -> NetworkSpec {
        let fourier = fourier.map(|(features, scale)| Fourier { features, scale });
        NetworkSpec { coordinates, parameters, outputs, width, layers, activation, fourier, residual, modified }
    }
}

/// Derivatives up to third order over the coordinates.
fn derivatives(coordinates: usize) -> impl Strategy<Value = Vec<MultiIndex>> {
    let one = proptest::collection::vec(0..coordinates, 0..=3)
        .prop_map(move |inputs| inputs.iter().fold(MultiIndex::zero(coordinates), |index, &i| index.plus(i)));
    proptest::collection::vec(one, 1..=4)
}

prop_compose! {
    fn draws()(network in specs())(
        wanted in derivatives(network.coordinates), network in Just(network),
        residuals in 1..=2_usize, quasilinear in any::<bool>(), points in 1..=3_usize, seed in any::<u64>(),
    ) -> Draw {
        Draw { network, wanted, residuals, quasilinear, moving: false, points, seed }
    }
}

prop_compose! {
    /// Equations of second order whose highest derivatives can be carried as one.
    fn leading_draws()(spec in specs(), coordinates in 2..=3_usize)(
        seconds in proptest::collection::vec((0..coordinates, 0..coordinates), 1..=3),
        slope in 0..coordinates, network in Just(NetworkSpec { coordinates, modified: false, outputs: 1, ..spec }),
        points in 1..=3_usize, seed in any::<u64>(),
    ) -> Draw {
        let zero = MultiIndex::zero(network.coordinates);
        let mut wanted = vec![zero.clone(), zero.plus(slope)];
        wanted.extend(seconds.into_iter().map(|(i, j)| zero.plus(i).plus(j)));
        Draw { network, wanted, residuals: 1, quasilinear: true, moving: false, points, seed }
    }
}

/// The same cases every time: a failure means a change of the code.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 100,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// Jets, losses, weight gradient and density gradients to 1e-10 relative in f64.
    #[test]
    fn double_precision_agrees_with_the_oracle(draw in draws()) {
        let found = Case::new(draw).check(cpu(Precision::F64, Some(1)).as_mut()).expect("the CPU never fails");
        prop_assert!(found.worst() < tolerance(Precision::F64), "{found:?}");
    }

    /// The same where a leading part is carried.
    #[test]
    fn leading_parts_agree_with_the_oracle(draw in leading_draws()) {
        let mut case = Case::new(draw);
        prop_assume!(case.has_leading_part());
        let found = case.check(cpu(Precision::F64, Some(1)).as_mut()).expect("the CPU never fails");
        prop_assert!(found.worst() < tolerance(Precision::F64), "{found:?}");
    }

    /// The same where a coordinate input moves with the unknowns.
    #[test]
    fn moving_inputs_agree_with_the_oracle(draw in draws()) {
        let mut case = Case::new(Draw { moving: true, ..draw });
        prop_assert!(!case.has_leading_part());
        let found = case.check(cpu(Precision::F64, Some(1)).as_mut()).expect("the CPU never fails");
        prop_assert!(found.worst() < tolerance(Precision::F64), "{found:?}");
    }

    /// Rates 1 and 2 within 5 %.
    #[test]
    fn taylor_tests_show_the_rates_of_a_right_gradient(draw in draws()) {
        let rates = Case::new(draw).taylor_rates(cpu(Precision::F64, Some(1)).as_mut()).expect("the CPU never fails");
        prop_assert!((rates[0] - 1.0).abs() < 0.05 && (rates[1] - 2.0).abs() < 0.1, "{rates:?}");
    }

    /// The same in f32, to its rounding.
    #[test]
    fn single_precision_agrees_with_the_oracle(draw in draws()) {
        let found = Case::new(draw).check(cpu(Precision::F32, Some(2)).as_mut()).expect("the CPU never fails");
        prop_assert!(found.worst() < tolerance(Precision::F32), "{found:?}");
    }
}
