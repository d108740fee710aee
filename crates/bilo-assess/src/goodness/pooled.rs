//! Experiments with few data each: what no test can see in one of them, all of them together may show.

use super::residuals::{self, Places};
use super::{FEWEST, Fitting};
use crate::outcome::{Goodness, ResidualTest, TestKind};
use bilo_problem::Likelihood;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Tests the same observation of several experiments together, where there are too few data in each; the first of them has what
/// comes of it.
pub(super) fn add(goodness: &mut Goodness, fittings: &[Fitting<'_>]) {
    let mut left: Vec<usize> = (0..fittings.len()).filter(|&o| fittings[o].has_residuals()).collect();
    left.retain(|&o| {
        goodness.observations[o].chi_square.is_none() && goodness.observations[o].tests.is_empty()
    });
    while let Some(&first) = left.first() {
        let (own, others): (Vec<usize>, Vec<usize>) =
            left.iter().partition(|&&o| fittings[o].shared_name() == fittings[first].shared_name());
        left = others;
        let pooled: Vec<&Fitting<'_>> = own.iter().map(|&o| &fittings[o]).collect();
        let tests = if own.len() > 1 { tests(&pooled) } else { vec![] };
        if !tests.is_empty() {
            own.iter().for_each(|&o| goodness.observations[o].untested = None);
            goodness.observations[first].tests = tests;
        }
    }
}

impl Fitting<'_> {
    /// What an observation is called in all experiments.
    fn shared_name(&self) -> &str {
        let name = &self.observation.name;
        name.split_once('@').map_or(name, |(shared, _)| shared)
    }

    /// Whether each datum has a residual that is noise.
    fn has_residuals(&self) -> bool {
        let no_residuals = matches!(
            self.observation.likelihood,
            Likelihood::Bernoulli | Likelihood::PoissonProcess { .. } | Likelihood::RelativeL2
        );
        let part = self.sites.parts.last().filter(|part| !part.data.is_empty());
        !no_residuals && self.leverages.is_some() && part.is_some_and(|part| !self.is_noise_free(part))
    }
}

/// Along each coordinate, each experiment by itself; and between places beside what differs at one place.
fn tests(pooled: &[&Fitting<'_>]) -> Vec<ResidualTest> {
    let (mut columns, mut experiments, mut standardised, mut scaled) = (vec![], vec![], vec![], vec![]);
    for (experiment, fitting) in pooled.iter().enumerate() {
        let Some(part) = fitting.sites.parts.last() else { continue };
        let (seen, values) = fitting.standardised(part);
        let all = fitting.scaled(part);
        columns.resize(fitting.sites.sampling.coordinates.len(), vec![]);
        for (column, own) in columns.iter_mut().zip(&fitting.sites.sampling.coordinates) {
            column.extend(seen.iter().map(|&row| own[row]));
        }
        experiments.extend(seen.iter().map(|_| experiment));
        scaled.extend(seen.iter().filter_map(|&row| all[row]));
        standardised.extend(values);
    }
    let fitted: f64 = pooled.iter().map(|fitting| fitting.fitted()).sum();
    if (standardised.len() as f64) < FEWEST + fitted {
        return vec![];
    }
    let lack = lack_of_fit(&columns, &experiments, &scaled, fitted);
    let likelihood = &pooled[0].observation.likelihood;
    let normal = likelihood.is_normal() || *likelihood == Likelihood::MeanSquare;
    let places = Places::new(pooled[0].problem, &columns).apart(&experiments);
    residuals::tests(&places, &standardised, normal).into_iter().chain(lack).collect()
}

/// Residuals that are repeated at one place say what noise is: those of different places may not differ by more (the F test of
/// lack of fit beside pure error; Draper and Smith, Applied Regression Analysis, 1998, section 2.1).
fn lack_of_fit(
    columns: &[Vec<f64>],
    experiments: &[usize],
    scaled: &[f64],
    fitted: f64,
) -> Option<ResidualTest> {
    let key = |i: usize| -> (usize, Vec<u64>) {
        (experiments[i], columns.iter().map(|column| (column[i] + 0.0).to_bits()).collect())
    };
    let mut order: Vec<usize> = (0..scaled.len()).collect();
    order.sort_by_key(|&i| key(i));
    let (mut places, mut between, mut within) = (0.0, 0.0, 0.0);
    for place in order.chunk_by(|&a, &b| key(a) == key(b)) {
        let count = place.len() as f64;
        let mean = place.iter().map(|&i| scaled[i]).sum::<f64>() / count;
        places += 1.0;
        between += count * mean * mean;
        within += place.iter().map(|&i| (scaled[i] - mean).powi(2)).sum::<f64>();
    }
    let (above, below) = (places - fitted, scaled.len() as f64 - places);
    if above < 1.0 || below < FEWEST || within <= 0.0 {
        return None;
    }
    let statistic = (between / above) / (within / below);
    let p = FisherSnedecor::new(above, below).ok()?.sf(statistic);
    p.is_finite().then_some(ResidualTest {
        kind: TestKind::LackOfFit,
        along: None,
        statistic,
        p,
        adjusted_p: p,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, four places with means 1, -1, 2, 0 and four residuals each: between 4 (1 + 1 + 4)/(4 - 1) = 8, within
    /// 16 * 0.25/(16 - 4) = 1/3, F = 24. With two degrees of freedom above, F = 36 and the tail is (1 + 2 F/12)^-6.
    #[test]
    fn lack_of_fit_is_that_of_the_textbook() {
        let x = vec![vec![0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]];
        let residuals = [1.5, 0.5, -0.5, -1.5, 2.5, 1.5, 0.5, -0.5];
        assert!(lack_of_fit(&x, &[0; 8], &residuals, 1.0).is_none(), "too few repeated");
        let twice = |values: &[f64]| [values, values].concat();
        let x = vec![twice(&x[0])];
        let test = lack_of_fit(&x, &[0; 16], &twice(&residuals), 1.0).unwrap();
        assert!((test.statistic - 24.0).abs() < 1e-12, "{test:?}");
        let exact = lack_of_fit(&x, &[0; 16], &twice(&residuals), 2.0).unwrap();
        assert!((exact.p - 7.0_f64.powi(-6)).abs() < 1e-12, "{exact:?}");
        // Places of different experiments are different places.
        let experiments: Vec<usize> = (0..16).map(|i| usize::from(i >= 8)).collect();
        let apart = lack_of_fit(&x, &experiments, &twice(&residuals), 1.0).unwrap();
        assert!((apart.statistic - (24.0 / 7.0) / (4.0 / 8.0)).abs() < 1e-12, "{apart:?}");
    }
}
