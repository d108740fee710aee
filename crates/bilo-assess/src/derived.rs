//! What follows from the unknowns, with error bars: to first order those of the unknowns, with their correlations.

use crate::intervals::half_width;
use crate::outcome::{DerivedOutcome, Outcome};
use bilo_problem::diagnostic::Result;
use bilo_problem::{Derived, Problem};

/// Writes the derived quantities of a problem at the estimate into its outcome.
pub(crate) fn add(outcome: &mut Outcome, problem: &Problem) -> Result<()> {
    let each = problem.derived.iter().map(|derived| found(outcome, problem, derived));
    outcome.derived = each.collect::<Result<_>>()?;
    Ok(())
}

fn found(outcome: &Outcome, problem: &Problem, derived: &Derived) -> Result<DerivedOutcome> {
    let numbers = &outcome.unknowns.numbers;
    let estimates: Vec<f64> = numbers.iter().map(|number| number.estimate).collect();
    let (estimate, slopes) = derived.at(problem, &estimates)?;
    let truths: Option<Vec<f64>> = numbers.iter().map(|number| number.truth).collect();
    let truth = truths.map(|truths| derived.at(problem, &truths)).transpose()?.map(|(value, _)| value);
    let sd = deviation(outcome, &slopes);
    let interval = |sd: f64| {
        let half = half_width(outcome, sd);
        (estimate - half, estimate + half)
    };
    Ok(DerivedOutcome { name: derived.name.clone(), estimate, truth, sd, interval_95: sd.map(interval) })
}

/// √(gᵀ C g) with the covariance C of the unknowns; none unless that is known.
fn deviation(outcome: &Outcome, slopes: &[f64]) -> Option<f64> {
    let sd: Vec<f64> = outcome.unknowns.numbers.iter().map(|number| number.sd).collect::<Option<_>>()?;
    let moved: Vec<f64> = slopes.iter().zip(&sd).map(|(slope, sd)| slope * sd).collect();
    let correlation = |i: usize, j: usize| -> Option<f64> { outcome.correlations.get(i)?.get(j).copied() };
    let mut variance = 0.0;
    for i in 0..moved.len() {
        for j in 0..moved.len() {
            // A number that it does not depend on may have no correlations.
            if moved[i] != 0.0 && moved[j] != 0.0 {
                variance += moved[i] * moved[j] * if i == j { 1.0 } else { correlation(i, j)? };
            }
        }
    }
    Some(variance.max(0.0).sqrt()).filter(|sd| sd.is_finite())
}
