//! Whether draws may be used, by the field's standards (Vehtari et al. 2021; Stan's reference).

use crate::audit::TRUSTED;
use crate::outcome::{AuditOutcome, Marginal, PosteriorOutcome, PosteriorReason, PosteriorVerdict};
use bilo_assess::outcome::Colour;
use bilo_problem::text::digits;

/// Chains agree up to this R-hat, and are nowhere near each other from the second on.
const AGREE: f64 = 1.01;
const APART: f64 = 1.1;

/// Effective draws that quantiles take.
const ENOUGH: f64 = 400.0;

/// Energies that change less than this from draw to draw do not explore their distribution.
const ENERGY: f64 = 0.3;

/// Divergences that are more than this part of the draws are no accident, wherever they are.
const MANY: f64 = 0.01;

/// A shift of the mean below this part of a standard deviation is nobody's concern.
const SMALL: f64 = 0.1;

/// A shift is one if it is so many of its errors.
const ERRORS: f64 = 3.0;

/// Judges what was learnt. `clustered` says of which unknown divergences lie together.
pub(crate) fn judge(outcome: &PosteriorOutcome, clustered: Option<&str>) -> PosteriorVerdict {
    let all: Vec<&Marginal> = outcome.unknowns.iter().chain(&outcome.derived).chain(&outcome.noise).collect();
    let found = [
        disagreement(&all),
        few(&all),
        divergences(outcome, clustered),
        energy(outcome),
        audited(outcome),
        predicted(outcome),
    ];
    let mut reasons: Vec<PosteriorReason> = found.into_iter().flatten().collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.colour));
    let colour = reasons.iter().map(|reason| reason.colour).max().unwrap_or(Colour::Green);
    PosteriorVerdict { colour, reasons }
}

fn reason(colour: Colour, sentence: String, help: &str) -> Option<PosteriorReason> {
    Some(PosteriorReason { colour, sentence, help: help.to_owned() })
}

fn disagreement(all: &[&Marginal]) -> Option<PosteriorReason> {
    let worst = all.iter().max_by(|a, b| a.rhat.total_cmp(&b.rhat))?;
    // What is not a number was compared with nothing.
    if worst.rhat <= AGREE {
        return None;
    }
    let colour = if worst.rhat > APART || worst.rhat.is_nan() { Colour::Red } else { Colour::Orange };
    let sentence = format!("the chains disagree about {}: R-hat {}", worst.name, digits(worst.rhat, 3));
    reason(
        colour,
        sentence,
        "draw more, or look whether there are several modes: each chain may sit in one of its own",
    )
}

fn few(all: &[&Marginal]) -> Option<PosteriorReason> {
    let size = |m: &Marginal| m.ess_bulk.min(m.ess_tail);
    let worst = all.iter().min_by(|a, b| size(a).total_cmp(&size(b)))?;
    if size(worst) >= ENOUGH {
        return None;
    }
    let sentence =
        format!("only {:.0} effective draws of {} (400 are wanted)", size(worst).floor(), worst.name);
    reason(Colour::Orange, sentence, "draw more: `--draws`")
}

fn divergences(outcome: &PosteriorOutcome, clustered: Option<&str>) -> Option<PosteriorReason> {
    let count: usize = outcome.chains.iter().map(|chain| chain.divergences).sum();
    let draws: usize = outcome.chains.iter().map(|chain| chain.draws).sum();
    if count == 0 {
        return None;
    }
    let many = count as f64 > MANY * draws as f64;
    let help = "shorter steps may get through: `--set sample.acceptance=0.95`";
    match clustered {
        Some(name) => {
            let sentence = format!(
                "{count} of {draws} trajectories diverged, together in a part of {name}'s range: draws are missing there"
            );
            reason(Colour::Orange, sentence, help)
        }
        None if many => reason(Colour::Orange, format!("{count} of {draws} trajectories diverged"), help),
        None => None,
    }
}

fn energy(outcome: &PosteriorOutcome) -> Option<PosteriorReason> {
    let worst = outcome.chains.iter().map(|chain| chain.ebfmi).min_by(f64::total_cmp)?;
    if worst >= ENERGY {
        return None;
    }
    let sentence =
        format!("the chains explore energies slowly (E-BFMI {}): tails may be missing", digits(worst, 2));
    reason(Colour::Orange, sentence, "narrower priors, or another scale of the unknowns, help")
}

/// What another solver says.
fn audited(outcome: &PosteriorOutcome) -> Option<PosteriorReason> {
    let Some(audit) = &outcome.audit else {
        let why = outcome.no_audit.as_deref().unwrap_or("there is none");
        return reason(Colour::Orange, format!("no second solver has checked the posterior: {why}"), "");
    };
    let finer = "a finer solver is needed: more features (operator.modes) or cells (classical.cells)";
    if audit.failed * 20 > audit.draws {
        let sentence =
            format!("{} has no solution at {} of {} draws", audit.solver, audit.failed, audit.draws);
        return reason(Colour::Orange, sentence, "");
    }
    // Weights that are all alike have a tail of rounding.
    if audit.spread > SMALL && audit.shape > TRUSTED {
        let sentence = format!(
            "{} gives another posterior: the weights that turn one into the other have the shape {} (at most 0.7 can be \
             trusted)",
            audit.solver,
            digits(audit.shape, 2)
        );
        return reason(Colour::Orange, sentence, finer);
    }
    let (name, shift, error) = largest_shift(outcome, audit)?;
    if shift.abs() <= SMALL || shift.abs() <= ERRORS * error {
        return None;
    }
    let sentence = format!(
        "{} would shift the mean of {name} by {} +- {} of its standard deviation",
        audit.solver,
        digits(shift, 2),
        digits(error, 1)
    );
    reason(Colour::Orange, sentence, finer)
}

/// The largest shift of a mean, in standard deviations, with its error.
pub(crate) fn largest_shift<'a>(
    outcome: &PosteriorOutcome,
    audit: &'a AuditOutcome,
) -> Option<(&'a str, f64, f64)> {
    let each = outcome.unknowns.iter().zip(&audit.unknowns);
    each.map(|(marginal, shift)| {
        (&shift.name[..], shift.of_mean / marginal.sd, shift.of_mean_error / marginal.sd)
    })
    .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
}

fn predicted(outcome: &PosteriorOutcome) -> Option<PosteriorReason> {
    let checks = outcome.predictive.iter().filter_map(|check| Some((&check.observation, check.p_value?)));
    let (name, p) = checks.min_by(|a, b| a.1.min(1.0 - a.1).total_cmp(&b.1.min(1.0 - b.1)))?;
    let how = match p {
        _ if p < 1e-3 => "farther from",
        _ if p > 1.0 - 1e-3 => "nearer to",
        _ => return None,
    };
    let sentence =
        format!("the data {name} are {how} the model than its own would be (p = {})", digits(p, 1));
    reason(Colour::Orange, sentence, "look at the residuals, and at the sigma that was stated")
}
