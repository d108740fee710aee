//! The verdict on a run: red, orange or green, with reasons.
//!
//! It is a function of the outcome alone. Green means that everything was tested and passed; what could not be tested is a
//! reason for orange, except that data without noise leave nothing to test, which is said.

use crate::outcome::{
    Colour, NoiseSource, Outcome, Reason, ReasonKind, ScalarOutcome, SolvedBy, Stop, TestKind, Verdict,
};
use bilo_problem::text::digits;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// A fit with a smaller probability is impossible ..
const IMPOSSIBLE: f64 = 1e-6;

/// .. and one with a smaller or, on the other side, a larger one needs a look, as does a test of residuals.
const UNLIKELY: f64 = 1e-3;

/// From this relative difference on, what stands for the solution solves nothing. What training leaves is ten times
/// smaller or less.
const NO_SOLUTION: f64 = 0.05;

/// Without noise, a relative difference of two solvers' unknowns that needs a look.
const DIFFERS: f64 = 0.01;

/// The part of an error bar that an error of a solver may have without a word.
const SMALL: f64 = 0.3;

/// The probability of the region about the best fit in which an estimate of functions must be.
const REGION: f64 = 0.95;

/// Singular values below this part of the largest are zero: structure, not lack of data.
const STRUCTURAL: f64 = 1e-8;

/// .. and below this the data hardly see a combination of unknowns.
const HARDLY_SEEN: f64 = 1e-4;

/// The part of its guess below which a number counts as zero.
const NEXT_TO_NOTHING: f64 = 1e-3;

/// A number that moved by more than this factor ran away.
const RUNAWAY: f64 = 1e5;

/// Rows of data that a sentence names.
const NAMED_ROWS: usize = 5;

impl Outcome {
    /// Writes the verdict on what is known now.
    pub fn judge(&mut self) {
        self.verdict = Verdict::of(self);
    }
}

impl Outcome {
    /// Whether chi-square over all data is possible; true where no errors are stated, since nothing tells.
    pub fn passes_chi_square(&self) -> bool {
        self.goodness.total.is_none_or(|total| total.p >= IMPOSSIBLE)
    }
}

impl Verdict {
    /// Whether it doubts that the model fits the data.
    pub fn doubts_fit(&self) -> bool {
        let doubts = |reason: &Reason| matches!(reason.kind, ReasonKind::Misfit | ReasonKind::Structure);
        self.reasons.iter().any(doubts)
    }

    /// Whether an unknown is where nobody expects it.
    pub fn ran_away(&self) -> bool {
        self.reasons.iter().any(|reason| reason.kind == ReasonKind::RanAway)
    }

    /// The verdict on an outcome.
    pub fn of(outcome: &Outcome) -> Verdict {
        let parts: [fn(&Outcome) -> Vec<Reason>; 8] =
            [ended, solvers, grid, chi_square, residuals, identified, bounds, untested];
        let mut reasons: Vec<Reason> = parts.iter().flat_map(|part| part(outcome)).collect();
        // The worst first; within a colour in the order above.
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.colour));
        let colour = reasons.iter().map(|reason| reason.colour).max().unwrap_or(Colour::Green);
        Verdict { colour, reasons }
    }
}

fn red(kind: ReasonKind, sentence: String) -> Reason {
    Reason { colour: Colour::Red, kind, sentence, help: String::new() }
}

fn orange(kind: ReasonKind, sentence: String) -> Reason {
    Reason { colour: Colour::Orange, ..red(kind, sentence) }
}

fn green(kind: ReasonKind, sentence: &str) -> Reason {
    Reason { colour: Colour::Green, ..red(kind, sentence.to_owned()) }
}

impl Reason {
    fn help(self, help: &str) -> Reason {
        Reason { help: help.to_owned(), ..self }
    }
}

/// Why the search ended.
fn ended(outcome: &Outcome) -> Vec<Reason> {
    let searched = outcome.operator.as_ref().is_some_and(|operator| operator.work.is_some())
        || outcome.solved_by == SolvedBy::ReferenceSolver;
    match outcome.stop {
        Stop::Diverged => {
            let reason = outcome.diverged.as_ref().map_or("a loss grew without bound", |d| &d.reason);
            vec![red(ReasonKind::Diverged, format!("the search diverged: {reason}"))]
        }
        Stop::Interrupted | Stop::TimeLimit => {
            let why =
                if outcome.stop == Stop::Interrupted { "interrupted" } else { "stopped at the time limit" };
            vec![red(ReasonKind::Interrupted, format!("the search was {why}: these are its last values"))]
        }
        // Networks take all steps of their schedule; whether they came to a minimum the data-optimal values say.
        Stop::Steps if searched => {
            let sentence = "the search took all its steps and did not come to a minimum".to_owned();
            vec![red(ReasonKind::NotConverged, sentence)]
        }
        Stop::Steps | Stop::Converged => vec![],
    }
}

/// Whether the two solvers agree.
fn solvers(outcome: &Outcome) -> Vec<Reason> {
    let mut reasons = vec![];
    if let Some(failure) = &outcome.classical_failure {
        let sentence =
            format!("no second solver has checked the solution: {}", failure.trim_end_matches('.'));
        reasons.push(orange(ReasonKind::NoReference, sentence));
    }
    // What is not a number is not small either.
    let fine = |difference: f64| difference <= NO_SOLUTION;
    let off = outcome.states.iter().filter(|state| !state.relative_l2_vs_classical.is_none_or(fine));
    let names: Vec<&str> = off.map(|state| state.name.as_str()).collect();
    if !names.is_empty() {
        let (ours, names) = (outcome.solved_by.name(), names.join(", "));
        let sentence = format!("the {ours} does not solve the equations at the estimate (see {names})");
        let help = match outcome.solved_by {
            SolvedBy::Dictionary => {
                "try more features (operator.modes) or a network (operator.kind = \"network\")"
            }
            SolvedBy::LearnedOperator => {
                "its examples may not reach there: widen them ([examples]), take more, or learn longer"
            }
            SolvedBy::Network | SolvedBy::ReferenceSolver => {
                "try more steps (train.pretrain-steps, train.train-steps) or smaller rates (train.rate, train.theta-rate)"
            }
        };
        reasons.push(red(ReasonKind::SolversDisagree, sentence).help(help));
    }
    let numbers = outcome.unknowns.numbers.iter().enumerate();
    let unconfirmed = numbers.filter(|&(number, _)| !is_confirmed_beyond_grid(outcome, number));
    let far = unconfirmed.filter_map(|(_, unknown)| differs(unknown));
    reasons.extend(far.map(|reason| reason.help(&outcome.remedy)));
    if let Some(gain) = outcome.expected_gain.filter(|gain| *gain > edge(outcome.fitted_unknowns)) {
        let sentence = format!(
            "the estimate is not the best fit, and outside its 95 % region: by the reference solver its log-likelihood \
             could rise by {}",
            digits(gain, 2)
        );
        let help = "the pointwise gradient has another aim; write `gradient = \"exact\"` in [train], or take the method `adjoint`";
        reasons.push(orange(ReasonKind::NotConverged, sentence).help(help));
    }
    let searched = outcome.classical_failure.is_none() && outcome.unknowns.functions.is_empty();
    let missing = |unknown: &ScalarOutcome| unknown.data_optimal.is_none();
    if searched && is_whole(outcome) && outcome.unknowns.numbers.iter().any(missing) {
        let sentence = "the reference solver found no best fit to compare the estimate with".to_owned();
        reasons.push(orange(ReasonKind::NoBestFit, sentence));
    }
    reasons
}

/// By how much the log-likelihood is smaller than the largest at the edge of the region about the best fit: half of
/// chi-square's quantile, with as many degrees of freedom as the data determine.
fn edge(freedom: Option<f64>) -> f64 {
    let law = ChiSquared::new(freedom.unwrap_or(1.0).max(1.0));
    law.map_or(f64::INFINITY, |law| law.inverse_cdf(REGION) / 2.0)
}

/// Whether the run came to its own end.
fn is_whole(outcome: &Outcome) -> bool {
    matches!(outcome.stop, Stop::Converged | Stop::Steps)
}

/// An estimate that is not the best fit by the reference solver.
fn differs(unknown: &ScalarOutcome) -> Option<Reason> {
    let (optimal, name) = (unknown.data_optimal?, &unknown.name);
    let distance = (unknown.estimate - optimal).abs();
    let shown = digits(optimal, 6);
    let Some(sd) = unknown.sd.filter(|sd| *sd > 0.0) else {
        // Zero is a value like others, and has no size of its own.
        let relative =
            distance / optimal.abs().max(NEXT_TO_NOTHING * unknown.guess.abs()).max(f64::MIN_POSITIVE);
        let sentence = format!("{name} is {} of its size from the best fit {shown}", digits(relative, 2));
        let colour = if relative > NO_SOLUTION { red } else { orange };
        return (relative > DIFFERS).then(|| colour(ReasonKind::SolversDisagree, sentence));
    };
    let ratio = distance / sd;
    let sentence = format!("{name} is {} sd from the best fit {shown}", digits(ratio, 2));
    match ratio {
        _ if ratio > 1.0 => Some(red(ReasonKind::SolversDisagree, sentence)),
        _ if ratio > SMALL => Some(orange(ReasonKind::SolversDisagree, sentence)),
        _ => None,
    }
}

/// Whether an estimate that is not the reference solver's own is its best fit once the error that its grid is known to make
/// is taken off (Richardson): then the grid says nothing against it.
fn is_confirmed_beyond_grid(outcome: &Outcome, number: usize) -> bool {
    let unknown = &outcome.unknowns.numbers[number];
    // An order that three grids do not show is nothing to extrapolate by.
    let known = outcome.discretisation.as_ref().filter(|found| found.safety <= 1.0);
    let shift = known.and_then(|found| found.shift.get(number));
    let (Some(shift), Some(optimal), Some(sd)) = (shift, unknown.data_optimal, unknown.sd) else {
        return false;
    };
    outcome.solved_by != SolvedBy::ReferenceSolver
        && (unknown.estimate - (optimal - shift)).abs() <= SMALL * sd
}

/// The error of the reference solver's grid beside the error bars.
fn grid(outcome: &Outcome) -> Vec<Reason> {
    let Some(found) = &outcome.discretisation else { return vec![] };
    if found.grids < 2 {
        let sentence = "the error of the reference solver's grid is not known: no other grid has a solution";
        return vec![orange(ReasonKind::Untested, sentence.to_owned())];
    }
    let safety = found.safety.max(1.0);
    let numbers = outcome.unknowns.numbers.iter().zip(&found.shift).enumerate();
    let unconfirmed = numbers.filter(|&(number, _)| !is_confirmed_beyond_grid(outcome, number));
    let numbers = unconfirmed
        .filter_map(|(_, (unknown, shift))| Some((safety * shift.abs() / unknown.sd?, &unknown.name)));
    let functions = outcome.unknowns.functions.iter().zip(&found.of_functions);
    let functions = functions.map(|(function, ratio)| (*ratio, &function.name));
    let worst = numbers.chain(functions).max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((ratio, name)) = worst else { return vec![] };
    let by = if safety > 1.0 { "up to " } else { "" };
    let sentence = format!("the reference solver's finest grid moves {name} by {by}{} sd", digits(ratio, 2));
    let colour = if ratio > 1.0 { red } else { orange };
    let reason =
        colour(ReasonKind::Discretisation, sentence).help("refine it (classical.cells, classical.steps)");
    if ratio > SMALL { vec![reason] } else { vec![] }
}

/// Chi-square, where the size of errors is stated.
fn chi_square(outcome: &Outcome) -> Vec<Reason> {
    let each = outcome.goodness.observations.iter().filter_map(|fit| Some((&fit.name, fit.chi_square?)));
    each.filter_map(|(name, found)| {
        let per_datum = digits(found.value / found.freedom, 3);
        let sentence = |what: &str| {
            format!(
                "chi-square of {name} is {per_datum} per degree of freedom, {what} (p = {}): the model, its data or \
                 their sigma are wrong",
                digits(found.p, 2)
            )
        };
        match found.p {
            p if p < IMPOSSIBLE => Some(red(ReasonKind::Misfit, sentence("impossible for errors of the stated size"))),
            p if p < UNLIKELY => Some(orange(ReasonKind::Misfit, sentence("unlikely for errors of the stated size"))),
            p if p > 1.0 - UNLIKELY => Some(orange(
                ReasonKind::TooGood,
                format!(
                    "chi-square of {name} is {per_datum} per degree of freedom, too good to be true: its sigma is too \
                     large, or the data were smoothed"
                ),
            )),
            _ => None,
        }
    })
    .collect()
}

/// What is left of the data has a pattern, or rows that stand out.
fn residuals(outcome: &Outcome) -> Vec<Reason> {
    let mut reasons = vec![];
    for fit in &outcome.goodness.observations {
        let name = &fit.name;
        let worst = fit.tests.iter().min_by(|a, b| a.adjusted_p.total_cmp(&b.adjusted_p));
        if let Some(test) = worst.filter(|test| test.adjusted_p < UNLIKELY) {
            let along = test.along.as_ref().map(|along| format!(" along {along}")).unwrap_or_default();
            let (finding, p) = (test.kind.finding(), digits(test.adjusted_p, 2));
            let meaning = match test.kind {
                TestKind::Normality => "errors have another distribution, or the model is wrong in places",
                _ => "something is missing in the model, or the noise is not independent",
            };
            let sentence = format!("the residuals of {name} {finding}{along} (p = {p}): {meaning}");
            reasons.push(orange(ReasonKind::Structure, sentence));
        }
        if !fit.outliers.is_empty() {
            let shown = fit.outliers.iter().take(NAMED_ROWS);
            let rows: Vec<String> = shown
                .map(|outlier| format!("{} ({} sd)", outlier.row, digits(outlier.residual, 2)))
                .collect();
            let sentence = format!("{name} has outliers: rows {}", rows.join(", "));
            reasons.push(orange(ReasonKind::Outliers, sentence));
        }
        if !fit.repeated_rows.is_empty() {
            let shown = fit.repeated_rows.iter().take(NAMED_ROWS);
            let rows: Vec<String> = shown.map(ToString::to_string).collect();
            let (count, rows) = (fit.repeated_rows.len(), rows.join(", "));
            let sentence =
                format!("{name} has {count} rows that repeat earlier ones to the last digit: rows {rows}");
            reasons.push(orange(ReasonKind::RepeatedRows, sentence));
        }
    }
    reasons
}

/// Whether the data determine the unknowns.
fn identified(outcome: &Outcome) -> Vec<Reason> {
    let mut reasons = vec![];
    let (first, last) = (outcome.singular_values.first(), outcome.singular_values.last());
    if let (Some(first), Some(last)) = (first, last) {
        let (ratio, combination) = (last / first, &outcome.weakest);
        let seen = if combination.is_empty() { "a combination of the unknowns" } else { combination };
        if outcome.singular_values.len() == 1 && *first == 0.0 {
            reasons.push(red(ReasonKind::NotIdentified, "the data do not see the unknown".to_owned()));
        } else if ratio.is_nan() || ratio <= STRUCTURAL {
            reasons.push(red(ReasonKind::NotIdentified, format!("the data do not determine {seen}")));
        } else if ratio <= HARDLY_SEEN {
            reasons.push(orange(ReasonKind::HardlyIdentified, format!("the data hardly see {seen}")));
        }
    }
    for unknown in &outcome.unknowns.numbers {
        let Some(sd) = unknown.sd else { continue };
        let size = if unknown.positive { 0.0 } else { unknown.guess.abs() };
        if sd.is_finite() && sd > unknown.estimate.abs().max(size) {
            let sentence = format!("the error bar of {} is larger than its estimate", unknown.name);
            reasons.push(orange(ReasonKind::HardlyIdentified, sentence));
        }
    }
    for unknown in &outcome.unknowns.numbers {
        let (guess, estimate) = (unknown.guess.abs(), unknown.estimate.abs());
        let small = unknown.positive && estimate * RUNAWAY < guess;
        if guess > 0.0 && (estimate > RUNAWAY * guess || small) {
            let sentence =
                format!("{} ran away from its guess, by more than {RUNAWAY:e} times", unknown.name);
            reasons.push(orange(ReasonKind::RanAway, sentence));
        }
    }
    let (same, others): (Vec<_>, Vec<_>) = outcome.minima.iter().partition(|minimum| minimum.same_equations);
    if !same.is_empty() {
        let mut same: Vec<String> = same.into_iter().map(|minimum| minimum.in_words()).collect();
        // Images and other starts may come to the same.
        same.sort_unstable();
        same.dedup();
        let sentence = format!(
            "the equations are the same with {}: no data tell these apart from the estimate, `bounds` choose one",
            same.join("; or with ")
        );
        reasons.push(orange(ReasonKind::SeveralMinima, sentence));
    }
    for minimum in others {
        let sentence = format!("{} fits the data as well: the answer is not unique", minimum.in_words());
        reasons.push(orange(ReasonKind::SeveralMinima, sentence));
    }
    reasons
}

/// Estimates that lean on their bounds.
fn bounds(outcome: &Outcome) -> Vec<Reason> {
    let near = |unknown: &ScalarOutcome| {
        let (lo, hi) = unknown.bounds?;
        let sd = unknown.sd.filter(|sd| sd.is_finite()).unwrap_or(0.0);
        // A bound far beyond the error bar of a value that is not at it matters to nobody.
        let at = |bound: f64| {
            (unknown.estimate - bound).abs() <= sd.max(1e-9 * bound.abs().max(unknown.estimate.abs()))
        };
        let bound = [lo, hi].into_iter().find(|&bound| bound.is_finite() && at(bound))?;
        let sentence =
            format!("{} is at its bound {}, or within one sd of it", unknown.name, digits(bound, 6));
        Some(orange(ReasonKind::AtBound, sentence))
    };
    outcome.unknowns.numbers.iter().filter_map(near).collect()
}

/// What was not tested.
fn untested(outcome: &Outcome) -> Vec<Reason> {
    let mut reasons = vec![];
    let tested = &outcome.goodness.observations;
    if !tested.is_empty() && tested.iter().all(|fit| fit.noise_free) {
        let sentence = "data without noise: limited by the solver";
        reasons.push(green(ReasonKind::NoNoise, sentence));
    }
    for fit in tested.iter().filter(|fit| !fit.noise_free) {
        if let Some(why) = &fit.untested {
            let sentence = format!("the fit of {} was not tested: {why}", fit.name);
            reasons.push(orange(ReasonKind::Untested, sentence));
        }
    }
    if tested.is_empty() && is_whole(outcome) {
        reasons.push(orange(ReasonKind::Untested, "the fit of the data was not tested".to_owned()));
    }
    let stated = |noise: &crate::outcome::Noise| noise.source == NoiseSource::None;
    let noisy = !outcome.noise.iter().all(stated) && !tested.iter().all(|fit| fit.noise_free);
    let bare = |unknown: &ScalarOutcome| unknown.sd.is_none() && unknown.sd_network.is_none();
    if noisy && is_whole(outcome) && outcome.unknowns.numbers.iter().any(bare) {
        reasons.push(orange(ReasonKind::Untested, "there are no error bars".to_owned()));
    }
    reasons
}

#[cfg(test)]
mod tests;
