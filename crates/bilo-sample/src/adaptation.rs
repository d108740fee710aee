//! How a chain finds its step length and its metric, by the rules of Stan.

use crate::metric::Metric;
use serde::{Deserialize, Serialize};

/// The step length at which a wanted part of the proposals is accepted, by dual averaging (Hoffman and Gelman 2014, with
/// their constants).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DualAveraging {
    target: f64,
    /// The logarithm that the search shrinks to.
    towards: f64,
    count: f64,
    /// Mean distance of the acceptance from the target.
    distance: f64,
    logarithm: f64,
    averaged: f64,
}

impl DualAveraging {
    const SHRINKAGE: f64 = 0.05;
    const DELAY: f64 = 10.0;
    const DECAY: f64 = 0.75;

    /// Begins from a step length.
    pub fn new(step: f64, target: f64) -> DualAveraging {
        let logarithm = step.ln();
        DualAveraging {
            target,
            towards: logarithm + 10.0_f64.ln(),
            count: 0.0,
            distance: 0.0,
            logarithm,
            averaged: logarithm,
        }
    }

    /// The step length to be tried next.
    pub fn step(&self) -> f64 {
        self.logarithm.exp()
    }

    /// The step length to be kept.
    pub fn averaged(&self) -> f64 {
        self.averaged.exp()
    }

    /// Learns how much of a trajectory was accepted.
    pub fn learn(&mut self, accepted: f64) {
        self.count += 1.0;
        let weight = (self.count + DualAveraging::DELAY).recip();
        self.distance += weight * (self.target - accepted - self.distance);
        self.logarithm = self.towards - self.count.sqrt() / DualAveraging::SHRINKAGE * self.distance;
        let weight = self.count.powf(-DualAveraging::DECAY);
        self.averaged += weight * (self.logarithm - self.averaged);
    }
}

/// Mean and covariance of positions as they come (Welford).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    count: f64,
    mean: Vec<f64>,
    /// Sums of products of distances from the mean: of each coordinate with itself and those before it, or with itself alone.
    products: Vec<Vec<f64>>,
}

impl Moments {
    /// None yet; with correlations if the metric has any.
    pub fn like(metric: &Metric) -> Moments {
        let length = |i: usize| if matches!(metric, Metric::Dense(_)) { i + 1 } else { 1 };
        let dimension = metric.dimension();
        Moments {
            count: 0.0,
            mean: vec![0.0; dimension],
            products: (0..dimension).map(|i| vec![0.0; length(i)]).collect(),
        }
    }

    /// One more position.
    pub fn add(&mut self, position: &[f64]) {
        self.count += 1.0;
        let before: Vec<f64> = position.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        for (mean, distance) in self.mean.iter_mut().zip(&before) {
            *mean += distance / self.count;
        }
        let after: Vec<f64> = position.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        for (i, row) in self.products.iter_mut().enumerate() {
            let first = i + 1 - row.len();
            for (product, other) in row.iter_mut().zip(&after[first..]) {
                *product += before[i] * other;
            }
        }
    }

    /// The metric of what was seen, pulled to another one as if five positions had been seen of that.
    pub fn metric(&self, prior: &Metric) -> Option<Metric> {
        const AS_IF: f64 = 5.0;
        if self.count < 2.0 {
            return None;
        }
        let (ours, theirs) = (self.count / (self.count + AS_IF), AS_IF / (self.count + AS_IF));
        let seen = |product: f64| ours * product / (self.count - 1.0);
        match prior {
            Metric::Diagonal(scales) => {
                let variances = self
                    .products
                    .iter()
                    .zip(scales)
                    .map(|(row, scale)| seen(row[0]) + theirs * scale * scale);
                Some(Metric::Diagonal(variances.map(f64::sqrt).collect()))
            }
            Metric::Dense(rows) => {
                let dot = |i: usize, j: usize| rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum::<f64>();
                let entry = |i: usize, j: usize| {
                    let (i, j) = (i.max(j), i.min(j));
                    seen(self.products[i][j]) + theirs * dot(i, j)
                };
                let covariance: Vec<Vec<f64>> =
                    (0..rows.len()).map(|i| (0..rows.len()).map(|j| entry(i, j)).collect()).collect();
                Metric::of_covariance(&covariance)
            }
        }
    }
}

/// When a chain that is tuned for so many draws takes a new metric: windows that double, between a first part that finds
/// the bulk and a last one for the step length alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    first: usize,
    last: usize,
    width: usize,
    draws: usize,
}

impl Windows {
    /// Those of Stan: 75 and 50 draws at the ends and 25 in the first window; parts of these where there are fewer.
    pub fn new(draws: usize) -> Windows {
        let (first, last, width) = match draws {
            0..20 => (draws, 0, 0),
            20..150 => (draws * 15 / 100, draws / 10, draws - draws * 15 / 100 - draws / 10),
            _ => (75, 50, 25),
        };
        Windows { first, last, width, draws }
    }

    /// Whether positions of this draw, counted from zero, are looked at for the metric.
    pub fn learns(&self, draw: usize) -> bool {
        draw >= self.first && draw + self.last < self.draws
    }

    /// Whether a window ends with this draw.
    pub fn ends_with(&self, draw: usize) -> bool {
        let (mut end, mut width, stop) = (self.first, self.width, self.draws - self.last);
        while end < stop && width > 0 {
            end += width;
            width *= 2;
            // A window that leaves no room for the next one takes that too.
            if end + width > stop {
                end = stop;
            }
            if end == draw + 1 {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stan's windows of 1,000 draws end after 100, 150, 250, 450 and 950.
    #[test]
    fn windows_are_those_of_stan() {
        let windows = Windows::new(1000);
        let ends: Vec<usize> = (0..1000).filter(|&draw| windows.ends_with(draw)).collect();
        assert_eq!(ends, [99, 149, 249, 449, 949]);
        assert!(!windows.learns(74) && windows.learns(75) && windows.learns(949) && !windows.learns(950));
        let few = Windows::new(100);
        assert_eq!((0..100).filter(|&draw| few.ends_with(draw)).collect::<Vec<_>>(), [89]);
        assert!((0..10).all(|draw| !Windows::new(10).ends_with(draw)));
    }

    #[test]
    fn moments_are_those_of_the_positions() {
        let positions = [[1.0, 2.0], [2.0, 1.0], [4.0, 7.0], [-1.0, 0.5]];
        let mut moments = Moments::like(&Metric::Dense(vec![vec![1.0], vec![0.0, 1.0]]));
        positions.iter().for_each(|position| moments.add(position));
        let mean = [1.5, 2.625];
        let sum =
            |i: usize, j: usize| positions.iter().map(|x| (x[i] - mean[i]) * (x[j] - mean[j])).sum::<f64>();
        assert_eq!(moments.mean, mean);
        for (i, j) in [(0, 0), (1, 0), (1, 1)] {
            assert!((moments.products[i][j] - sum(i, j)).abs() < 1e-12);
        }
    }

    /// With an acceptance that falls with the step, the search finds the step of the wanted one.
    #[test]
    fn the_step_is_that_of_the_wanted_acceptance() {
        let mut search = DualAveraging::new(1.0, 0.8);
        for _ in 0..2000 {
            search.learn((-search.step()).exp());
        }
        assert!((search.averaged() + 0.8_f64.ln()).abs() < 0.01, "{}", search.averaged());
    }
}
