//! What is known of the posterior, and how far draws are from it.

use crate::model::BLOCKS;
use bilo_sample::diagnostics::{mcse_mean, mcse_sd, mean, sd};

/// Mean and standard deviation of the logarithm of each coefficient, by eight thousand draws of another sampler.
pub(crate) fn moments() -> Vec<(f64, f64)> {
    let text = include_str!("../../tests/data/aristoff-bangerth/moments.txt");
    let numbers: Vec<f64> = text
        .lines()
        .filter(|line| !line.contains("log"))
        .flat_map(str::split_whitespace)
        .map(|word| word.parse().expect("moments.txt has numbers below its two headings"))
        .collect();
    let (means, sds) = numbers.split_at(numbers.len() / 2);
    means.iter().copied().zip(sds.iter().copied()).collect()
}

/// A moment of draws beside the published one.
pub(crate) struct Compared {
    /// By our draws, and its Monte Carlo error.
    pub(crate) ours: f64,
    pub(crate) uncertain: f64,
    /// As published.
    pub(crate) theirs: f64,
    /// Their distance in standard deviations of what both are uncertain by.
    pub(crate) errors: f64,
}

/// Mean and standard deviation of one logarithm, by chains, beside those that are published.
///
/// The published means have Monte Carlo errors of 0.02 to 0.04 standard deviations. The smaller one is taken, which is the
/// stricter comparison. Published standard deviations of coefficients that mirror each other, and are equal by symmetry, are
/// off by 0.025 of themselves on average.
pub(crate) fn compare(chains: &[&[f64]], published: (f64, f64)) -> [Compared; 2] {
    const ERRORS: [f64; 2] = [0.02, 0.025];
    let all = chains.concat();
    let theirs = [published.0, published.1];
    let ours = [mean(&all), sd(&all)];
    let uncertain = [mcse_mean(chains), mcse_sd(chains)];
    std::array::from_fn(|i| {
        let errors = (ours[i] - theirs[i]) / uncertain[i].hypot(ERRORS[i] * published.1);
        Compared { ours: ours[i], uncertain: uncertain[i], theirs: theirs[i], errors }
    })
}

/// How far the moments of a coefficient and of the one in its mirror image are from each other, in Monte Carlo errors and where
/// that is most, by what was found of all 64: the posterior is symmetric under an exchange of x and y.
pub(crate) fn asymmetry(moments: &[[Compared; 2]]) -> [f64; 2] {
    let distance = |i: usize, x: usize, y: usize| {
        let (one, other) = (&moments[y * BLOCKS + x][i], &moments[x * BLOCKS + y][i]);
        (one.ours - other.ours).abs() / one.uncertain.hypot(other.uncertain)
    };
    let pairs = || (0..BLOCKS).flat_map(|y| (0..y).map(move |x| (x, y)));
    std::array::from_fn(|i| pairs().map(|(x, y)| distance(i, x, y)).fold(0.0, f64::max))
}
