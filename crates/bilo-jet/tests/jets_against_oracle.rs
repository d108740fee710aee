//! The CPU device against the slow oracle.

use bilo_expr::MultiIndex;
use bilo_jet::conformance::{Case, tolerance};
use bilo_jet::{Activation, Fourier, NetworkSpec, Precision, cpu};
use proptest::prelude::*;

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Jets, losses, weight gradient and density gradients to 1e-10 relative in f64.
    #[test]
    fn double_precision_agrees_with_the_oracle((spec, wanted, residuals, points, seed) in cases()) {
        let found = Case::new(spec, &wanted, residuals, points, seed).check(cpu(Precision::F64, Some(1)).as_mut());
        prop_assert!(found.worst() < tolerance(Precision::F64), "{found:?}");
    }

    /// The same in f32, to its rounding.
    #[test]
    fn single_precision_agrees_with_the_oracle((spec, wanted, residuals, points, seed) in cases()) {
        let found = Case::new(spec, &wanted, residuals, points, seed).check(cpu(Precision::F32, Some(2)).as_mut());
        prop_assert!(found.worst() < tolerance(Precision::F32), "{found:?}");
    }
}
