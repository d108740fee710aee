//! Whether posteriors hold: truths are drawn from the prior, and the rank of each among the draws of its own posterior is
//! uniform if these are right (simulation-based calibration; Talts et al. 2018, Säilynoja et al. 2022).

use crate::audit::thinned;
use crate::range::Range;
use crate::sampling::Kept;
use bilo_problem::Problem;
use bilo_problem::diagnostic::{Diagnostic, Error, ErrorKind, Result};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_sample::diagnostics::{quantile, rhat, sorted};
use rand::{RngExt, SeedableRng};
use rand_distr::Distribution;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, Discrete, DiscreteCDF};

/// Draws that a truth is ranked among: the ranks are 0 to this number.
pub const RANKED_AMONG: usize = 99;

/// Chains that are this far apart have no posterior to rank a truth in.
const APART: f64 = 1.1;

/// How often ranks of the right posterior stay within the band, all of them.
const WITHIN: f64 = 0.99;

/// What came of one truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The number of the truth.
    pub number: usize,
    /// The values drawn.
    pub truths: Vec<f64>,
    /// How many of the thinned draws lie below each.
    pub ranks: Vec<usize>,
    /// Whether the middle 50 and 95 % of all draws hold each.
    pub held: Vec<[bool; 2]>,
    /// Why there is no posterior, if there is none; all else is empty then.
    pub failed: Option<String>,
}

/// What came of all truths: `calibration.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Name of the problem.
    pub problem: String,
    /// The seed of everything random.
    pub seed: u64,
    /// Truths that were drawn.
    pub truths: usize,
    /// Those of them that have no posterior, with the first reason.
    pub failed: usize,
    /// The first reason, if there is any.
    pub first_failure: Option<String>,
    /// What ranks may be at most.
    pub among: usize,
    /// Counts of ranks below 1, 2, .. between which all are with a probability of 99 % if the posteriors are right.
    pub band: Vec<(usize, usize)>,
    /// The unknown numbers.
    pub unknowns: Vec<CalibratedUnknown>,
}

/// How the truths of one number lie in their posteriors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibratedUnknown {
    /// Its name.
    pub name: String,
    /// How many truths have each rank.
    pub histogram: Vec<usize>,
    /// The part of truths that the middle 50 and 95 % of the draws hold.
    pub covered: [f64; 2],
    /// How far these are from 50 and 95 %, in binomial standard deviations.
    pub off: [f64; 2],
    /// Whether the ranks stay within the band.
    pub within: bool,
}

/// Values of all unknown numbers, drawn from their priors within their bounds.
pub fn from_prior(problem: &Problem, seed: u64, number: usize) -> Result<Vec<f64>> {
    const TRIES: usize = 10_000;
    let mut random = Pcg64::seed_from_u64(seed_for(seed, Purpose::Prior, number));
    let one = |unknown: &bilo_problem::Unknown| {
        let (lo, hi) = unknown.bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let mut draw = || match (unknown.prior, Range::of(unknown)) {
            (Some(prior), _) => Some(prior.sample(&mut random)),
            (None, Range::Between(lo, hi)) => Some(lo + (hi - lo) * random.random::<f64>()),
            _ => None,
        };
        let refuse = |message: String, help: &str| {
            Err(Error::new(ErrorKind::Input, Diagnostic::from(message).help(help)))
        };
        for _ in 0..TRIES {
            match draw() {
                Some(value) if (lo..=hi).contains(&value) => return Ok(value),
                Some(_) => {}
                None => {
                    let message =
                        format!("no values can be drawn for `{}`, which has no prior", unknown.name);
                    return refuse(
                        message,
                        "state one: `prior = \"normal(1, 0.5)\"`, or `bounds = [lo, hi]`",
                    );
                }
            }
        }
        let message = format!("the prior of `{}` has next to nothing within its bounds", unknown.name);
        refuse(message, "state bounds where the prior is")
    };
    problem.unknowns.iter().map(one).collect()
}

impl Ranked {
    /// A truth among the draws of its posterior.
    pub fn new(problem: &Problem, number: usize, truths: Vec<f64>, kept: &[Vec<Kept>]) -> Ranked {
        let mut few = thinned(kept, RANKED_AMONG);
        few.truncate(RANKED_AMONG);
        let (mut ranks, mut held) = (vec![], vec![]);
        for (j, (unknown, &truth)) in problem.unknowns.iter().zip(&truths).enumerate() {
            let range = Range::of(unknown);
            let values = |chain: &Vec<Kept>| {
                chain.iter().map(|draw| range.theta(draw.position[j])).collect::<Vec<f64>>()
            };
            let chains: Vec<Vec<f64>> = kept.iter().map(values).collect();
            let apart = rhat(&chains.iter().map(|chain| &chain[..]).collect::<Vec<_>>());
            if apart > APART || apart.is_nan() {
                return Ranked::failed(number, format!("the chains disagree about {}", unknown.name));
            }
            let in_order = sorted(chains.concat());
            let holds = |level: f64| {
                let outside = (1.0 - level) / 2.0;
                (quantile(&in_order, outside)..=quantile(&in_order, 1.0 - outside)).contains(&truth)
            };
            ranks.push(few.iter().filter(|draw| range.theta(draw.position[j]) < truth).count());
            held.push([0.5, 0.95].map(holds));
        }
        Ranked { number, truths, ranks, held, failed: None }
    }

    /// A truth without a posterior.
    pub fn failed(number: usize, reason: String) -> Ranked {
        Ranked { number, truths: vec![], ranks: vec![], held: vec![], failed: Some(reason) }
    }
}

impl Calibration {
    /// Of what came of all truths.
    pub fn new(problem: &Problem, seed: u64, all: &[Ranked]) -> Calibration {
        let good: Vec<&Ranked> = all.iter().filter(|ranked| ranked.failed.is_none()).collect();
        let band = band(good.len(), RANKED_AMONG + 1, WITHIN);
        let unknown = |(j, unknown): (usize, &bilo_problem::Unknown)| {
            let mut histogram = vec![0; RANKED_AMONG + 1];
            good.iter().for_each(|ranked| histogram[ranked.ranks[j]] += 1);
            let count = good.len() as f64;
            let covered =
                [0, 1].map(|i| good.iter().filter(|ranked| ranked.held[j][i]).count() as f64 / count);
            let off = [0, 1].map(|i| {
                let level = [0.5, 0.95][i];
                (covered[i] - level) / (level * (1.0 - level) / count).sqrt()
            });
            let within = is_within(&histogram, &band);
            CalibratedUnknown { name: unknown.name.clone(), histogram, covered, off, within }
        };
        Calibration {
            problem: problem.name.clone(),
            seed,
            truths: all.len(),
            failed: all.len() - good.len(),
            first_failure: all.iter().find_map(|ranked| ranked.failed.clone()),
            among: RANKED_AMONG,
            unknowns: problem.unknowns.iter().enumerate().map(unknown).collect(),
            band,
        }
    }
}

/// Whether the counts of all ranks below 1, 2, .. are in a band.
fn is_within(histogram: &[usize], band: &[(usize, usize)]) -> bool {
    let below = histogram.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    below.zip(band).all(|(below, (least, most))| (*least..=*most).contains(&below))
}

/// Between which counts of so many uniform numbers below 1/cells, 2/cells, .. all lie with a probability: binomial intervals of
/// one level at all of them, whose probability of holding all is that asked for (Säilynoja et al. 2022).
fn band(count: usize, cells: usize, probability: f64) -> Vec<(usize, usize)> {
    let (mut wide, mut narrow) = (0.0_f64, 1.0 - probability);
    for _ in 0..40 {
        let level = 0.5 * (wide + narrow);
        match holding(count, cells, &intervals(count, cells, level)) >= probability {
            true => wide = level,
            false => narrow = level,
        }
    }
    intervals(count, cells, wide)
}

/// Binomial intervals that each miss with a probability of at most `level`.
fn intervals(count: usize, cells: usize, level: f64) -> Vec<(usize, usize)> {
    let interval = |k: usize| {
        let law = Binomial::new(k as f64 / cells as f64, count as u64).expect("a probability");
        let least = law.inverse_cdf((level / 2.0).max(f64::MIN_POSITIVE));
        (least as usize, law.inverse_cdf(1.0 - level / 2.0) as usize)
    };
    (1..cells).map(interval).collect()
}

/// The probability that the counts of uniform numbers stay within a band: of those above k/cells each is below (k + 1)/cells
/// with the probability 1/(cells - k).
fn holding(count: usize, cells: usize, band: &[(usize, usize)]) -> f64 {
    let (mut at, mut probabilities) = (0, vec![1.0]);
    for (k, &(least, most)) in band.iter().enumerate() {
        let part = 1.0 / (cells - k) as f64;
        let mut next = vec![0.0; most + 1 - least];
        for (i, probability) in probabilities.iter().enumerate() {
            let below = at + i;
            let law = Binomial::new(part, (count - below) as u64).expect("a probability");
            for target in least.max(below)..=most {
                next[target - least] += probability * law.pmf((target - below) as u64);
            }
        }
        (at, probabilities) = (least, next);
    }
    probabilities.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 2,000 sets of 100 uniform ranks 95 % stay in their band, within three binomial standard deviations. The band is at
    /// least that wide: counts are whole numbers.
    #[test]
    fn uniform_ranks_stay_in_the_band_as_often_as_it_says() {
        let (count, cells) = (100, 20);
        let band = band(count, cells, 0.95);
        let mut random = Pcg64::seed_from_u64(1);
        let mut histogram = || {
            let mut histogram = vec![0; cells];
            (0..count).for_each(|_| histogram[random.random_range(0..cells)] += 1);
            histogram
        };
        let inside = (0..2000).filter(|_| is_within(&histogram(), &band)).count() as f64 / 2000.0;
        let exactly = holding(count, cells, &band);
        assert!((0.95..0.97).contains(&exactly), "{exactly}");
        assert!((inside - exactly).abs() < 3.0 * (exactly * (1.0 - exactly) / 2000.0).sqrt(), "{inside}");
    }

    /// Ranks of posteriors that are too narrow by a fifth leave the band.
    #[test]
    fn ranks_of_narrow_posteriors_leave_the_band() {
        let band = band(500, 100, 0.99);
        let mut random = Pcg64::seed_from_u64(2);
        let mut histogram = |narrow: f64| {
            let mut histogram = vec![0; 100];
            for _ in 0..500 {
                let z: f64 = random.sample(rand_distr::StandardNormal);
                let rank = 100.0
                    * statrs::distribution::ContinuousCDF::cdf(
                        &statrs::distribution::Normal::standard(),
                        z / narrow,
                    );
                histogram[(rank as usize).min(99)] += 1;
            }
            histogram
        };
        assert!(is_within(&histogram(1.0), &band));
        assert!(!is_within(&histogram(0.8), &band));
    }
}
