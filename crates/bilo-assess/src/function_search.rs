//! Functions at the nodes of their grids by Gauss-Newton: the values on a grid as it is stated, their derivatives on a coarse
//! one, where they cost less.

use crate::context::RunContext;
use crate::function_uncertainty::{Derivatives, FunctionFit, weighted_residuals};
use crate::outcome::Stop;
use bilo_fit::gauss_newton::Iterate;
use bilo_problem::diagnostic::Result;
use bilo_problem::theta::Theta;
use bilo_reference::descent::{ObjectiveAt, Target};

/// Most steps; if these are not enough, another method has to go on ..
pub const MOST: usize = 25;

/// .. unless the last step promised no more of the logarithm of the likelihood than this: then the end is near, and so many steps are
/// enough.
const NEARLY: f64 = 1.0;
const MOST_TO_THE_END: usize = 50;

/// Converged when the logarithm of the likelihood rises by less than this ..
const LITTLE: f64 = 1e-4;

/// .. or cannot be made to rise, and should not by more than this.
const NOTHING: f64 = 0.05;

/// Derivatives serve as long as a step gains this part of what they promise.
const AS_PROMISED: f64 = 0.8;

/// The shortest part of a step that is tried.
const SHORTEST: f64 = 1e-3;

/// What came of Gauss-Newton.
pub struct Searched<'a> {
    /// Where it went.
    pub end: ObjectiveAt<'a>,
    /// Why it ended; none if it came to no end.
    pub stop: Option<Stop>,
    /// In so many steps.
    pub steps: usize,
}

/// Minimises the loss of the upper level from somewhere; `watch` may end it before a step.
pub fn gauss_newton<'a>(
    run: &RunContext<'_>,
    target: &Target<'a>,
    mut here: ObjectiveAt<'a>,
    watch: &mut dyn FnMut(&Iterate<'_>) -> Option<Stop>,
) -> Result<Searched<'a>> {
    let mut nets = target.nets(&here.evaluation.theta)?;
    // The loss is 2/N times minus the logarithm of the likelihood, or moves as that does where it is small.
    let unit = 2.0 / run.data().joint().count().max(1.0);
    let mut derivatives: Option<Derivatives> = None;
    for step in 1..=MOST_TO_THE_END {
        let (eta, terms) = (&here.evaluation.theta.eta, &here.terms);
        if let Some(stop) = watch(&Iterate { step, eta, terms, lower: &[] }) {
            return Ok(Searched { end: here, stop: Some(stop), steps: step });
        }
        let unended = |end, steps| Ok(Searched { end, stop: None, steps });
        let fresh = derivatives.is_none();
        if fresh {
            derivatives = Derivatives::new(run, &here.evaluation)?;
        }
        let Some(known) = &derivatives else { return unended(here, step - 1) };
        let Some(fit) = FunctionFit::with(run, &here.evaluation, known)? else {
            return unended(here, step - 1);
        };
        let residuals = weighted_residuals(&here.evaluation);
        let promised = fit.expected_gain(&residuals);
        let change = fit.newton_step(&here.evaluation.theta, &residuals);
        let log_likelihood = unit * here.total.abs();
        let mut gain = 0.0;
        if let Some((next, moved)) = descended(target, &here, &nets, &change)? {
            gain = here.total - next.total;
            (here, nets) = (next, moved);
        }
        match gain <= LITTLE * log_likelihood {
            true if promised <= NOTHING * log_likelihood => {
                return Ok(Searched { end: here, stop: Some(Stop::Converged), steps: step });
            }
            true if fresh => return unended(here, step),
            _ if step >= MOST && promised > NEARLY * log_likelihood => return unended(here, step),
            _ if gain < AS_PROMISED * promised => derivatives = None,
            _ => {}
        }
    }
    Ok(Searched { end: here, stop: None, steps: MOST_TO_THE_END })
}

/// A part of a change that makes the loss no larger, and `net` of the functions there; none if there is no such.
fn descended<'a>(
    target: &Target<'a>,
    here: &ObjectiveAt<'a>,
    nets: &[Vec<f64>],
    change: &Theta,
) -> Result<Option<(ObjectiveAt<'a>, Vec<Vec<f64>>)>> {
    let mut part = 1.0;
    while part >= SHORTEST {
        let (theta, moved) = target.moved(&here.evaluation.theta, nets, change, part);
        match target.evaluate_near(&theta, Some(&here.evaluation)) {
            Ok(there) if there.total <= here.total => return Ok(Some((there, moved))),
            Err(error) if error.ends_search() => return Err(error),
            // Too far, where the equations may have no solution.
            _ => part *= 0.5,
        }
    }
    Ok(None)
}
