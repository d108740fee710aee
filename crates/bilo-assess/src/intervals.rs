//! Confidence intervals of unknown numbers by Wald: the variable that the method moves is normal, or has Student's
//! distribution where the noise was estimated from few data; its interval is mapped to the unknown.

use crate::outcome::{NoiseSource, Outcome, ScalarOutcome};
use bilo_problem::{Problem, Unknown};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// With more degrees of freedom than this Student's distribution is as good as normal.
const MANY: f64 = 30.0;

/// The probabilities below the upper ends: one standard deviation of a normal number, and 95 % between both ends.
pub(crate) const UPPER: [f64; 2] = [0.841_344_746_068_542_9, 0.975];

/// Adds the intervals of all numbers that have an error bar.
pub(crate) fn add(outcome: &mut Outcome, problem: &Problem) {
    let freedom = freedom(outcome);
    let [one, two] = UPPER.map(|upper| quantile(upper, freedom));
    for (number, unknown) in outcome.unknowns.numbers.iter_mut().zip(&problem.unknowns) {
        let Some(sd) = number.sd.or(number.sd_network).filter(|sd| sd.is_finite()) else { continue };
        number.interval_68 = Some(interval(number, unknown, one * sd));
        number.interval_95 = Some(interval(number, unknown, two * sd));
    }
}

/// Half of a 95 % interval for a standard deviation.
pub(crate) fn half_width(outcome: &Outcome, sd: f64) -> f64 {
    quantile(UPPER[1], freedom(outcome)) * sd
}

/// The degrees of freedom that the noise was estimated with; infinite where it is stated.
fn freedom(outcome: &Outcome) -> f64 {
    let estimated = outcome.noise.iter().filter(|noise| noise.source == NoiseSource::Residuals);
    estimated.map(|noise| noise.freedom).fold(f64::INFINITY, f64::min)
}

/// The value that a standardised estimate stays below with a probability.
pub(crate) fn quantile(probability: f64, freedom: f64) -> f64 {
    let student = (freedom <= MANY).then(|| StudentsT::new(0.0, 1.0, freedom.max(1.0)).ok()).flatten();
    match student {
        Some(student) => student.inverse_cdf(probability),
        None => Normal::standard().inverse_cdf(probability),
    }
}

/// The interval of so much to both sides, symmetric in the variable, within the bounds.
fn interval(number: &ScalarOutcome, unknown: &Unknown, half: f64) -> (f64, f64) {
    let eta = unknown.eta_of(number.estimate);
    let half = half / unknown.theta_slope(eta).abs();
    let end = |eta: f64| unknown.theta_of(unknown.project(eta));
    let (a, b) = (end(eta - half), end(eta + half));
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tabulated: 1.96 and 1 for normal errors; for Student's distribution with 5 degrees of freedom 2.5706 and 1.1107
    /// (scipy.stats.t.ppf).
    #[test]
    fn quantiles_are_those_of_the_tables() {
        let cases = [
            (0.975, 1e9, 1.959_964),
            (UPPER[0], 1e9, 1.0),
            (0.975, 5.0, 2.570_582),
            (UPPER[0], 5.0, 1.110_507),
        ];
        for (probability, freedom, expected) in cases {
            assert!((quantile(probability, freedom) - expected).abs() < 1e-5, "{probability} {freedom}");
        }
    }

    #[test]
    fn an_interval_follows_its_variable_and_its_bounds() {
        let number = ScalarOutcome { estimate: 2.0, ..ScalarOutcome::default() };
        assert_eq!(interval(&number, &Unknown::new("D", 1.0), 0.5), (1.5, 2.5));
        let (lo, hi) = interval(&number, &Unknown::new("D", 1.0).log(), 0.5);
        assert!((lo * hi - 4.0).abs() < 1e-12 && (hi / 2.0 - 0.25_f64.exp()).abs() < 1e-12);
        assert_eq!(interval(&number, &Unknown::new("D", 1.0).bounds(1.8, 3.0), 0.5), (1.8, 2.5));
    }
}
