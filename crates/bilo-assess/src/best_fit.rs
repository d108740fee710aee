//! The unknowns that fit the data best under the reference solver, next to the estimate.

use crate::outcome::{Outcome, Stop, Verdict};
use bilo_fit::gauss_newton::minimise;
use bilo_problem::theta::Theta;
use bilo_reference::misfit::{Evaluation, ReferenceLoss};

/// Writes the minimum of the data loss under the exact PDE next to the estimate into the outcome.
pub(crate) fn add<'a>(outcome: &mut Outcome, mut loss: ReferenceLoss<'a>, evaluation: Evaluation<'a>) {
    let unknowns = &loss.data.problem().unknowns;
    let doubted = Verdict::of(outcome).doubts_fit();
    let mut found = search(&mut loss, evaluation);
    // From elsewhere only where there is a reason to: a search costs some ten solutions.
    if doubted || found.is_err() {
        let guess = Theta::guess(loss.data.problem()).and_then(|guess| loss.evaluate(&guess));
        let other = guess.map_err(|error| error.headline()).and_then(|guess| search(&mut loss, guess));
        found = match (found, other) {
            (Ok(found), Ok(other)) => Ok(if other.1 < found.1 { other } else { found }),
            (found, other) => found.or_else(|reason| other.map_err(|_| reason)),
        };
    }
    match found {
        Ok((eta, _)) => {
            let found = outcome.unknowns.numbers.iter_mut().zip(unknowns.iter().zip(&eta));
            found.for_each(|(out, (unknown, &eta))| out.data_optimal = Some(unknown.theta_of(eta)));
        }
        Err(reason) => outcome.warnings.push(format!("no data-optimal unknowns: {reason}")),
    }
}

/// The variables at the minimum, and the loss there; the reason if it was not found.
fn search<'a>(
    loss: &mut ReferenceLoss<'a>,
    start: Evaluation<'a>,
) -> std::result::Result<(Vec<f64>, f64), String> {
    match minimise(loss, start, &mut |_| None) {
        Ok(optimum) if optimum.stop == Stop::Converged => {
            let evaluation = optimum.evaluation;
            Ok((evaluation.theta.eta, evaluation.loss_terms.loss))
        }
        Ok(optimum) if optimum.stop == Stop::Interrupted => Err("interrupted".to_owned()),
        Ok(_) => Err("the search did not converge".to_owned()),
        Err(error) => Err(error.headline()),
    }
}
