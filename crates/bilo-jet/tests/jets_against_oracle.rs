//! The CPU device against the slow oracle.

use bilo_expr::MultiIndex;
use bilo_jet::conformance::{Case, tolerance};
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
        width in 3..=9_usize, layers in 0..=3_usize, activation in activations(),
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
    fn cases()(spec in specs())(
        wanted in derivatives(spec.coordinates), spec in Just(spec),
        residuals in 1..=2_usize, points in 1..=3_usize, seed in any::<u64>(),
    ) -> (NetworkSpec, Vec<MultiIndex>, usize, usize, u64) {
        (spec, wanted, residuals, points, seed)
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
    fn double_precision_agrees_with_the_oracle((spec, wanted, residuals, points, seed) in cases()) {
        let found = Case::new(spec, &wanted, residuals, points, seed).check(cpu(Precision::F64, Some(1)).as_mut());
        prop_assert!(found.worst() < tolerance(Precision::F64), "{found:?}");
    }

    /// Rates 1 and 2 within 5 %.
    #[test]
    fn taylor_tests_show_the_rates_of_a_right_gradient((spec, wanted, residuals, points, seed) in cases()) {
        let rates = Case::new(spec, &wanted, residuals, points, seed).taylor_rates(cpu(Precision::F64, Some(1)).as_mut());
        prop_assert!((rates[0] - 1.0).abs() < 0.05 && (rates[1] - 2.0).abs() < 0.1, "{rates:?}");
    }

    /// The same in f32, to its rounding.
    #[test]
    fn single_precision_agrees_with_the_oracle((spec, wanted, residuals, points, seed) in cases()) {
        let found = Case::new(spec, &wanted, residuals, points, seed).check(cpu(Precision::F32, Some(2)).as_mut());
        prop_assert!(found.worst() < tolerance(Precision::F32), "{found:?}");
    }
}
