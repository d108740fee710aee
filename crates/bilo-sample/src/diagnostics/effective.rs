//! R-hat, effective sample sizes and the Monte Carlo errors that follow from them.

use super::{mean, quantile, sd, sorted, variance};
use statrs::distribution::{ContinuousCDF, Normal};

/// How much wider all chains are together than each by itself, by ranks and for bulk and tails, whichever is worse: 1 for chains
/// that agree; above 1.01 they do not.
pub fn rhat(chains: &[&[f64]]) -> f64 {
    let split = split(chains);
    let middle = quantile(&sorted(split.iter().flatten().copied()), 0.5);
    let folded: Vec<Vec<f64>> =
        split.iter().map(|chain| chain.iter().map(|x| (x - middle).abs()).collect()).collect();
    plain_rhat(&by_ranks(&split)).max(plain_rhat(&by_ranks(&folded)))
}

fn plain_rhat(chains: &[Vec<f64>]) -> f64 {
    let count = chains[0].len() as f64;
    let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
    let within = mean(&chains.iter().map(|chain| variance(chain, 1.0)).collect::<Vec<_>>());
    let between = count * variance(&means, 1.0);
    ((between / within + count - 1.0) / count).sqrt()
}

/// The number of independent draws that would tell as much of the bulk.
pub fn ess_bulk(chains: &[&[f64]]) -> f64 {
    effective(&by_ranks(&split(chains)))
}

/// The same of the tails: of the quantiles at 5 and 95 %, whichever is less.
pub fn ess_tail(chains: &[&[f64]]) -> f64 {
    let all = sorted(chains.iter().flat_map(|chain| chain.iter().copied()));
    let at = |part: f64| {
        let bound = quantile(&all, part);
        let below = |chain: &Vec<f64>| chain.iter().map(|&x| f64::from(x <= bound)).collect();
        effective(&split(chains).iter().map(below).collect::<Vec<_>>())
    };
    at(0.05).min(at(0.95))
}

/// The same of the mean.
pub fn ess_mean(chains: &[&[f64]]) -> f64 {
    effective(&split(chains))
}

/// The Monte Carlo error of the mean.
pub fn mcse_mean(chains: &[&[f64]]) -> f64 {
    sd(&chains.concat()) / ess_mean(chains).sqrt()
}

/// The Monte Carlo error of the standard deviation.
pub fn mcse_sd(chains: &[&[f64]]) -> f64 {
    let centre = mean(&chains.concat());
    let square = |chain: &&[f64]| chain.iter().map(|x| (x - centre).powi(2)).collect::<Vec<f64>>();
    let squares: Vec<Vec<f64>> = chains.iter().map(square).collect();
    let slices: Vec<&[f64]> = squares.iter().map(|chain| &chain[..]).collect();
    let (ess, all) = (ess_mean(&slices), squares.concat());
    let second = mean(&all);
    let fourth = mean(&all.iter().map(|square| square * square).collect::<Vec<_>>());
    ((fourth - second * second) / ess / second / 4.0).sqrt()
}

/// The effective sample size of chains as they are, neither split nor ranked.
pub fn ess(chains: &[&[f64]]) -> f64 {
    effective(&chains.iter().map(|chain| chain.to_vec()).collect::<Vec<_>>())
}

/// Each chain as two; of an odd number of draws the middle one is left out.
fn split(chains: &[&[f64]]) -> Vec<Vec<f64>> {
    let half = chains[0].len() / 2;
    chains.iter().flat_map(|chain| [chain[..half].to_vec(), chain[chain.len() - half..].to_vec()]).collect()
}

/// The normal quantiles of all ranks, of equal values by their mean rank.
fn by_ranks(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let length = chains[0].len();
    let all: Vec<f64> = chains.concat();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&i, &j| all[i].total_cmp(&all[j]));
    let normal = Normal::standard();
    let mut quantiles = vec![0.0; all.len()];
    let mut first = 0;
    for alike in order.chunk_by(|&i, &j| all[i] == all[j]) {
        let rank = first as f64 + (alike.len() as f64 + 1.0) / 2.0;
        let value = normal.inverse_cdf((rank - 0.375) / (all.len() as f64 + 0.25));
        alike.iter().for_each(|&place| quantiles[place] = value);
        first += alike.len();
    }
    quantiles.chunks(length).map(<[f64]>::to_vec).collect()
}

/// The effective sample size by autocorrelations, over Geyer's initial sequence, positive and falling.
fn effective(chains: &[Vec<f64>]) -> f64 {
    let (number, length) = (chains.len() as f64, chains[0].len());
    let total = number * length as f64;
    let extremes = chains
        .iter()
        .flatten()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &x| (least.min(x), most.max(x)));
    if length < 4 || chains.iter().flatten().any(|x| !x.is_finite()) {
        return f64::NAN;
    }
    // Draws that are all alike tell nothing of how they hang together.
    if extremes.1 - extremes.0 < 1e-15 {
        return total;
    }
    let n = length as f64;
    let centred: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| {
            let mean = mean(chain);
            chain.iter().map(|x| x - mean).collect()
        })
        .collect();
    let covariance = |lag: usize| {
        let of = |chain: &Vec<f64>| chain.iter().zip(&chain[lag..]).map(|(a, b)| a * b).sum::<f64>() / n;
        centred.iter().map(of).sum::<f64>() / number
    };
    let within = covariance(0) * n / (n - 1.0);
    let mut variance_of_all = within * (n - 1.0) / n;
    if chains.len() > 1 {
        let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
        variance_of_all += variance(&means, 1.0);
    }
    let correlation = |lag: usize| 1.0 - (within - covariance(lag)) / variance_of_all;
    let mut pair = [1.0, correlation(1)];
    let mut correlations = pair.to_vec();
    let mut lag = 1;
    while lag + 3 < length && pair[0] + pair[1] > 0.0 {
        pair = [correlation(lag + 1), correlation(lag + 2)];
        correlations.extend(if pair[0] + pair[1] >= 0.0 { pair } else { [0.0; 2] });
        lag += 2;
    }
    let last = lag - 2 + 1;
    if pair[0] > 0.0 {
        correlations[last] = pair[0];
    }
    let mut lag = 1;
    while lag + 3 <= last {
        let before = correlations[lag - 1] + correlations[lag];
        if correlations[lag + 1] + correlations[lag + 2] > before {
            correlations[lag + 1] = before / 2.0;
            correlations[lag + 2] = before / 2.0;
        }
        lag += 2;
    }
    let sum: f64 = correlations[..last].iter().sum();
    let time = (-1.0 + 2.0 * sum + correlations[last]).max(total.log10().recip());
    total / time
}
