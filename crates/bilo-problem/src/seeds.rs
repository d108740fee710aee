//! One random stream per purpose, from the seed of the run or of a problem.

/// What randomness is for. The number of a purpose is part of its seeds: new ones go to the end.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// Initial weights of a network.
    Weights,
    /// Frozen features of a network.
    Features,
    /// Points of an equation.
    EquationPoints,
    /// Points of an observation.
    ObservationPoints,
    /// Noise of an observation.
    Noise,
    /// Points where pre-training fits u_0.
    StartPoints,
    /// Initial weights of an unknown function's network.
    FunctionWeights,
    /// Frozen features of an unknown function's network.
    FunctionFeatures,
    /// A random field; its seed is its own, not that of the run.
    RandomField,
    /// Points of an equation that are drawn afresh.
    Renewal,
    /// Points where the solutions of two dictionaries are compared.
    Checks,
    /// Values of the unknowns in an example; the seed is that of the examples.
    Example,
    /// The weights of a neural operator, the order of its examples and those held back.
    Learning,
    /// Draws from a posterior.
    Sampling,
    /// Values of the unknowns by their priors.
    Prior,
    /// Places whose solutions span a reduced basis.
    Snapshots,
}

/// The seed of one stream: the SplitMix64 mixing function over seed, purpose and number.
pub fn seed_for(seed: u64, purpose: Purpose, number: usize) -> u64 {
    let mut state = seed;
    for word in [purpose as u64 + 1, number as u64 + 1] {
        state = mix(state ^ word.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    }
    state
}

fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
