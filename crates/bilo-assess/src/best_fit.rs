//! The unknowns that fit the data best under the reference solver, next to the estimate.

use crate::estimate::Remedy;
use crate::outcome::{Kind, NoiseSource, Outcome, ScalarOutcome, Stop};
use bilo_fit::gauss_newton::minimise;
use bilo_problem::text::digits;
use bilo_reference::misfit::{Evaluation, ReferenceLoss};

/// Said of solvers that agree as well as solvers can.
const WITHOUT_NOISE: &str = "Without noise in the data ± is next to nothing: estimate and data-optimal value differ by what the two solvers differ by";

/// Writes the minimum of the data loss under the exact PDE next to the estimate into the outcome, with a sentence if the
/// estimate is far from it.
pub(crate) fn add<'a>(
    outcome: &mut Outcome,
    mut loss: ReferenceLoss<'a>,
    evaluation: Evaluation<'a>,
    remedy: Remedy,
) {
    let unknowns = &loss.data.problem().unknowns;
    let reason = match minimise(&mut loss, evaluation, &mut |_| None) {
        Ok(optimum) if optimum.stop == Stop::Converged => {
            let eta = unknowns.iter().zip(&optimum.evaluation.theta.eta);
            let found = outcome.unknowns.numbers.iter_mut().zip(eta);
            found.for_each(|(out, (unknown, &eta))| out.data_optimal = Some(unknown.theta_of(eta)));
            return compare(outcome, remedy);
        }
        Ok(optimum) if optimum.stop == Stop::Interrupted => "interrupted".to_owned(),
        Ok(_) => "the search did not converge".to_owned(),
        Err(error) => error.headline(),
    };
    outcome.warnings.push(format!("no data-optimal unknowns: {reason}"));
}

/// Says if the estimate is far from the best fit.
fn compare(outcome: &mut Outcome, remedy: Remedy) {
    // Without noise there is nothing but training error, and it may be as small as one likes.
    let clean = outcome.noise.iter().all(|noise| noise.source == NoiseSource::Residuals);
    let dictionary = outcome.operator.as_ref().is_some_and(|operator| operator.kind == Kind::Dictionary);
    let far = sentence(&outcome.unknowns.numbers, remedy);
    // Two discretisations without noise are never the same.
    let far = if dictionary && clean { far.map(|_| WITHOUT_NOISE.to_owned()) } else { far };
    let sentences = if clean { &mut outcome.notes } else { &mut outcome.warnings };
    sentences.extend(far);
}

/// A sentence if an estimate is farther from the data-optimal value than its standard deviation, which
/// knows of noise only: what dominates then, and what helps.
fn sentence(unknowns: &[ScalarOutcome], Remedy { dominates, helps }: Remedy) -> Option<String> {
    let far = |unknown: &ScalarOutcome| {
        let (optimal, sd) = (unknown.data_optimal?, unknown.sd?);
        let distance = (unknown.estimate - optimal).abs();
        let (ratio, optimal) = (digits(distance / sd, 2), digits(optimal, 6));
        let sentence = format!("{} is {ratio} sd from the data-optimal value {optimal}", unknown.name);
        (distance > sd).then_some(sentence)
    };
    let far: Vec<String> = unknowns.iter().filter_map(far).collect();
    let them = match far.len() {
        0 => return None,
        1 => "value",
        _ => "values",
    };
    Some(format!(
        "{}: {dominates}, not noise, dominates; {helps} or take the data-optimal {them}",
        far.join(", ")
    ))
}
