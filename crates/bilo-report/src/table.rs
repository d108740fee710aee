//! The closing table: for people.

use super::number::{duration, significant};
use crate::columns::aligned;
use crate::files::{FIELDS, HISTORY, OUTCOME, PROBLEM, REPORT, RUN, fit_file, picture_file};
use bilo::observer::Phase;
use bilo::outcome::{
    DerivedOutcome, Divergence, FunctionOutcome, LearnedOutcome, NoiseSource, OperatorOutcome, Outcome,
    Reason, RegularisationOutcome, ScalarOutcome, SolvedBy, Stop, Verdict,
};
use bilo::problem::text::digits;
use std::fmt::Write;
use std::path::Path;

const COLUMNS: usize = 8;

const HEADING: [&str; COLUMNS] =
    ["unknown", "guess", "estimate", "±", "95 % interval", "data-optimal", "truth", "relative error"];

/// Unknowns, verdict, states, why, when and in which phase the run ended, and where the files are.
pub fn render(outcome: &Outcome, phase: Phase, out: &Path) -> String {
    findings(outcome) + &ending(outcome, phase, out)
}

/// Unknowns, verdict, states: what a run found.
pub fn findings(outcome: &Outcome) -> String {
    let mut text = String::new();
    let numbers = &outcome.unknowns.numbers;
    if !numbers.is_empty() {
        // A search that was cut off has no estimate, only a place where it was.
        text += &match outcome.stop {
            Stop::Interrupted | Stop::TimeLimit => last_values(numbers),
            _ => unknowns(numbers),
        };
        text.push('\n');
    }
    outcome.unknowns.functions.iter().for_each(|unknown| text += &function(unknown));
    if !matches!(outcome.stop, Stop::Interrupted | Stop::TimeLimit) {
        outcome.derived.iter().for_each(|derived| text += &follows(derived));
    }
    text += &verdict(&outcome.verdict);
    text += &operator(outcome);
    text += &states(outcome);
    text += &classical(outcome);
    for note in &outcome.notes {
        let _ = writeln!(text, "{}.", capital(note.trim_end_matches('.')));
    }
    for warning in &outcome.warnings {
        let _ = writeln!(text, "WARNING: {}.", warning.trim_end_matches('.'));
    }
    for RegularisationOutcome { name, weight, by_discrepancy, by_l_curve, field, .. } in
        &outcome.regularisation
    {
        if let Some((sd, length)) = field {
            let _ = writeln!(
                text,
                "{name}: the data chose a field of sd {} and length {}.",
                digits(*sd, 2),
                digits(*length, 2)
            );
            continue;
        }
        let other = |what: &str, weight: Option<f64>| {
            weight.map_or(String::new(), |weight| format!("; by {what} it would be {weight:.1e}"))
        };
        let (noise, corner) =
            (other("the discrepancy principle", *by_discrepancy), other("the L-curve", *by_l_curve));
        let _ = writeln!(
            text,
            "{name}: the data chose the weight {weight:.1e} of its regulariser{noise}{corner}."
        );
    }
    if !outcome.starts.is_empty() {
        let converged = outcome.starts.iter().filter(|start| start.converged).count();
        let _ = writeln!(
            text,
            "{converged} of {} searches from other starts came to a minimum.",
            outcome.starts.len()
        );
    }
    text
}

/// Why, when and in which phase the run ended, and where the files are.
fn ending(outcome: &Outcome, phase: Phase, out: &Path) -> String {
    let mut text = format!("Stopped: {}.\n", stop(outcome, phase));
    if matches!(outcome.stop, Stop::Interrupted | Stop::TimeLimit) {
        let _ = writeln!(text, "Go on with: bilo run --resume {}", out.display());
    }
    let _ = writeln!(text, "{}", effort(outcome));
    let pictures: String =
        outcome.drawings.iter().map(|drawing| format!(", {}", picture_file(&drawing.name))).collect();
    let fits: String = outcome.misfits.iter().map(|misfit| format!(", {}", fit_file(&misfit.name))).collect();
    let _ = writeln!(
        text,
        "Files in {}: {REPORT}, {OUTCOME}, {HISTORY}, {FIELDS}{fits}, {PROBLEM}, {RUN}{pictures}",
        out.display()
    );
    text
}

/// Where a search was when it was cut off.
fn last_values(unknowns: &[ScalarOutcome]) -> String {
    let each = unknowns.iter().map(|unknown| format!("{} = {}", unknown.name, significant(unknown.estimate)));
    format!("Last values, no estimates: {}.\n", each.collect::<Vec<_>>().join(", "))
}

/// Names to the left, numbers to the right.
fn unknowns(unknowns: &[ScalarOutcome]) -> String {
    let rows: Vec<[String; COLUMNS]> =
        [HEADING.map(String::from)].into_iter().chain(unknowns.iter().map(row)).collect();
    aligned(&rows)
}

/// What follows from the unknowns.
fn follows(derived: &DerivedOutcome) -> String {
    let sd = derived.sd.map_or(String::new(), |sd| format!(" ± {sd:.1e}"));
    let ends = |(lo, hi): (f64, f64)| format!(", 95 % interval [{}, {}]", significant(lo), significant(hi));
    let interval = derived.interval_95.map_or(String::new(), ends);
    let truth = derived.truth.map_or(String::new(), |truth| format!(", truth {}", significant(truth)));
    format!("It follows that {} = {}{sd}{interval}{truth}.\n", derived.name, significant(derived.estimate))
}

/// A sentence as it begins.
fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn function(unknown: &FunctionOutcome) -> String {
    let unit = unknown.unit.as_ref().map(|unit| format!(" [{unit}]")).unwrap_or_default();
    let (least, most) = (significant(unknown.range.0), significant(unknown.range.1));
    let error = match (unknown.relative_l2_error, unknown.relative_l2_error_of_guess) {
        (Some(error), Some(guess)) => {
            format!("; relative L2 error {error:.2e} (of the guess {guess:.2e})")
        }
        _ => String::new(),
    };
    let sd = unknown.relative_sd.map_or(String::new(), |sd| format!(" ± {sd:.1e} (relative L2)"));
    let accuracy = unknown.classification_accuracy;
    let classes =
        accuracy.map(|share| format!("; {:.1} % on the right side of the threshold", 100.0 * share));
    let classes = classes.unwrap_or_default();
    let (name, of, mode) = (&unknown.name, unknown.of.join(", "), &unknown.gradient);
    format!("{name}({of}){unit}: from {least} to {most}{sd}{error}{classes}; moved by the {mode} gradient.\n")
}

fn row(unknown: &ScalarOutcome) -> [String; COLUMNS] {
    let name = match &unknown.unit {
        Some(unit) => format!("{} [{unit}]", unknown.name),
        None => unknown.name.clone(),
    };
    let optional = |value: Option<f64>, text: fn(f64) -> String| value.map_or("-".to_string(), text);
    let error = match unknown.truth {
        Some(0.0) => |error: f64| format!("{error:.2e} (absolute)"),
        _ => |error: f64| format!("{error:.2e}"),
    };
    [
        name,
        significant(unknown.guess),
        significant(unknown.estimate),
        optional(unknown.sd.or(unknown.sd_network), |sd| format!("{sd:.1e}")),
        unknown.interval_95.map_or("-".to_owned(), interval),
        optional(unknown.data_optimal, significant),
        optional(unknown.truth, significant),
        optional(unknown.relative_error(), error),
    ]
}

/// An interval to as many digits as its width is worth, two.
pub fn interval((lo, hi): (f64, f64)) -> String {
    let width = hi - lo;
    let size = lo.abs().max(hi.abs());
    let count = if width > 0.0 && width.is_finite() { (size / width).log10().ceil() + 2.0 } else { 6.0 };
    let count = count.clamp(2.0, 15.0) as usize;
    format!("[{}, {}]", digits(lo, count), digits(hi, count))
}

/// The verdict, and a line for each reason.
fn verdict(verdict: &Verdict) -> String {
    let mut text = format!("Verdict: {}.\n", verdict.colour.name());
    for Reason { colour, sentence, help, .. } in &verdict.reasons {
        let help = if help.is_empty() { String::new() } else { format!("; {help}") };
        let _ = writeln!(text, "  {}: {sentence}{help}.", colour.name());
    }
    text
}

/// What stands for the solution, if it is not the network that everybody expects.
fn operator(outcome: &Outcome) -> String {
    if let Some(learned) = &outcome.learned {
        let LearnedOutcome { examples, numbers, training_error, .. } = learned;
        let held_back = learned.validation_error.map(|error| format!(", {error:.1e} on those held back"));
        let held_back = held_back.unwrap_or_default();
        return format!(
            "Learned from {examples} examples, {numbers} numbers: error {training_error:.1e} on them{held_back}.\n"
        );
    }
    let Some(OperatorOutcome { why, dictionary, .. }) = &outcome.operator else { return String::new() };
    let Some(found) = dictionary else {
        return why.as_ref().map_or(String::new(), |why| format!("A network, not a dictionary: {why}.\n"));
    };
    let modes: Vec<String> = found.modes.iter().map(|(name, count)| format!("{count} in {name}")).collect();
    let modes = if modes.is_empty() { String::new() } else { format!(" ({})", modes.join(", ")) };
    let change =
        found.change.map_or(String::new(), |change| format!("; fewer change the solution by {change:.1e}"));
    let (basis, features, residual) = (&found.basis, found.features, found.residual);
    format!(
        "Dictionary of {features} {basis} features{modes}: residual {residual:.1e} between its points{change}.\n"
    )
}

fn states(outcome: &Outcome) -> String {
    let mut text = String::new();
    let ours = outcome.solved_by.name();
    for state in &outcome.states {
        if let Some(error) = state.relative_l2_vs_classical {
            let name = &state.name;
            let _ = writeln!(
                text,
                "{name}: {ours} and classical solution at the estimate differ by {error:.2e} (relative L2)."
            );
        }
    }
    if let Some(failure) = &outcome.classical_failure {
        let failure = failure.trim_end_matches('.');
        let _ = writeln!(
            text,
            "No classical solution at the estimate, so no comparison, data-optimal unknowns or ±: {failure}."
        );
    }
    text
}

/// What the classical solution says of data, gradients and error bars.
fn classical(outcome: &Outcome) -> String {
    let mut text = String::new();
    let ours = outcome.solved_by.name();
    for misfit in &outcome.misfits {
        let of = |solution: &str, value: Option<f64>| value.map(|value| format!("{value:.3e} {solution}"));
        let both = [
            of(&format!("by the {ours}"), misfit.network),
            of("by the classical solution", misfit.classical),
        ];
        let both: Vec<String> = both.into_iter().flatten().collect();
        let _ = writeln!(text, "{}: data loss at the estimate {}.", misfit.name, both.join(", "));
        let of = |solution: &str, dice: Option<f64>| dice.map(|dice| format!("{dice:.3} {solution}"));
        let dice = [
            of(&format!("of the {ours}"), misfit.dice_network),
            of("of the classical solution", misfit.dice_classical),
        ];
        let dice: Vec<String> = dice.into_iter().flatten().collect();
        if !dice.is_empty() {
            let _ = writeln!(text, "{}: overlap with the data (DICE) {}.", misfit.name, dice.join(", "));
        }
    }
    for audit in &outcome.audit {
        let (at, cosine, error) = (audit.at.name(), audit.cosine, audit.relative_error);
        let noise = if audit.below_noise { " (below the noise of the operator: no verdict)" } else { "" };
        let _ = writeln!(
            text,
            "Gradient at the {at} against the classical one: cosine {cosine:.4}, relative error {error:.1e}{noise}."
        );
    }
    for near in &outcome.near {
        for state in &near.states {
            let (at, name) = (&near.at, &state.name);
            let (error, moves) = (state.relative_l2_vs_classical, state.relative_l2_of_guess);
            let _ = writeln!(
                text,
                "{name} by the {ours} of the guess at {at}: {error:.1e} from the classical solution, which moved by {moves:.1e}."
            );
        }
    }
    let noise = noise(outcome);
    let alone = |unknown: &ScalarOutcome| unknown.sd.is_none() && unknown.sd_network.is_some();
    if outcome.unknowns.numbers.iter().any(alone) {
        let _ = writeln!(text, "± is by the {ours}'s own derivatives: no second solver has checked it.");
    }
    if !noise.is_empty() && outcome.unknowns.numbers.iter().any(|unknown| unknown.sd.is_some()) {
        let _ = writeln!(text, "± is one standard deviation with {}.", noise.join(", "));
    }
    text
}

/// What is known of the noise, observations of the same in one go.
fn noise(outcome: &Outcome) -> Vec<String> {
    let mut found: Vec<(String, Vec<&str>, String)> = vec![];
    for noise in &outcome.noise {
        let source = match noise.source {
            NoiseSource::Sigma => "as its sigma says",
            NoiseSource::Stated => "as stated",
            NoiseSource::Residuals => "from the residuals",
            NoiseSource::Likelihood => "as its likelihood says",
            NoiseSource::None => "as stated",
        };
        let (before, after) = match (noise.sd, noise.dispersion, noise.dispersion_error) {
            (Some(sd), ..) => (format!("noise {sd:.2e} in "), format!(" ({source})")),
            (None, Some(dispersion), Some(error)) => {
                (format!("dispersion {dispersion:.3} ± {error:.1} in "), " (from the counts)".to_owned())
            }
            _ => (String::new(), format!(" {source}")),
        };
        match found.iter_mut().find(|(first, _, last)| (first, last) == (&before, &after)) {
            Some((_, names, _)) => names.push(&noise.observation),
            None => found.push((before, vec![&noise.observation], after)),
        }
    }
    let told = found.into_iter().map(|(before, names, after)| {
        let after = if names.len() > 1 { after.replace("as its", "as their own") } else { after };
        format!("{before}{}{after}", names.join(", "))
    });
    told.collect()
}

fn stop(outcome: &Outcome, phase: Phase) -> String {
    match outcome.stop {
        Stop::Converged => "converged, the unknowns and the losses settled".to_string(),
        Stop::Steps => "all steps were taken".to_string(),
        Stop::TimeLimit => format!("the time limit was reached in {}", in_words(phase)),
        Stop::Interrupted => format!("interrupted in {}", in_words(phase)),
        Stop::Diverged => {
            let Some(Divergence { last_good_step, reason }) = &outcome.diverged else {
                return format!("diverged in {}", in_words(phase));
            };
            let state = last_good(*last_good_step);
            format!("diverged in {}, {reason}; reported is {state}", in_words(phase))
        }
    }
}

/// A phase of a run in words.
pub fn in_words(phase: Phase) -> &'static str {
    match phase {
        Phase::Examples => "solving examples",
        Phase::Pretrain => "pre-training",
        Phase::Train => "training",
    }
}

/// The state that a diverged run reports.
pub fn last_good(step: usize) -> String {
    match step {
        0 => "the state before the first step".to_string(),
        step => format!("the state of step {step}, the last good one"),
    }
}

fn effort(outcome: &Outcome) -> String {
    let pretrain = outcome.steps.pretrain;
    let steps = if pretrain == 1 { "step" } else { "steps" };
    let (train, total) = (outcome.steps.train, duration(outcome.seconds.total));
    let per_step = match train {
        0 => String::new(),
        _ => format!(" ({} a step)", duration(outcome.seconds.per_step)),
    };
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let mut memory = outcome
        .peak_memory_bytes
        .map_or(String::new(), |bytes| format!(", {:.0} MB at most", megabytes(bytes)));
    if let Some(bytes) = outcome.device_memory_bytes {
        memory += &format!(", {:.0} MB on the GPU", megabytes(bytes));
    }
    let solved_for = outcome.operator.as_ref().is_some_and(|operator| operator.work.is_some());
    let done = match outcome.solved_by {
        _ if solved_for => iterations(train),
        SolvedBy::ReferenceSolver => iterations(train),
        SolvedBy::LearnedOperator => format!("{pretrain} {steps} of learning and {train} of descent"),
        _ if outcome.operator.is_some() => {
            format!("{pretrain} {steps} of pre-training and {train} of both levels")
        }
        _ => format!("{pretrain} {steps} of pre-training and {train} of equation and data together"),
    };
    format!("{done} in {total}{per_step}{memory}.")
}

fn iterations(count: usize) -> String {
    format!("{count} {}", if count == 1 { "iteration" } else { "iterations" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use bilo::outcome::Steps;

    #[test]
    fn columns_are_aligned_and_units_and_files_are_shown() {
        let expected = "\
unknown     guess  estimate       ±  95 % interval  data-optimal  truth  relative error
k [cm^2/s]      1      2.02  4.0e-2    [1.94, 2.1]          2.01      2         1.00e-2
a             0.1      0.25       -              -             -      -               -

Verdict: orange.
  orange: the fit of the data was not tested.
u: network and classical solution at the estimate differ by 1.00e-3 (relative L2).
ends: data loss at the estimate 2.000e-4 by the network, 3.000e-4 by the classical solution.
Gradient at the guess against the classical one: cosine 0.9950, relative error 2.0e-2.
Gradient at the estimate against the classical one: cosine -0.2500, relative error 1.5e0 (below the noise of the operator: no verdict).
u by the network of the guess at k = 1.5: 4.0e-3 from the classical solution, which moved by 1.2e-1.
± is one standard deviation with noise 1.00e-2 in ends (as stated).
Stopped: all steps were taken.
10 steps of pre-training and 20 of both levels in 3.5 s (100.0 ms a step), 1 MB at most.
Files in runs/rod-7: report.html, outcome.json, history.csv, fields.npz, fit-ends.csv, problem.toml, run.json
";
        assert_eq!(render(&example::outcome(), Phase::Train, Path::new("runs/rod-7")), expected);
    }

    #[test]
    fn memory_of_a_gpu_is_told() {
        let outcome = Outcome { device_memory_bytes: Some(3 << 20), ..example::outcome() };
        let text = render(&outcome, Phase::Train, Path::new("out"));
        assert!(text.contains("1 MB at most, 3 MB on the GPU."), "{text}");
    }

    #[test]
    fn warnings_are_told() {
        let mut outcome = example::outcome();
        outcome.warnings = vec!["the data hardly see the combination +0.71 k -0.71 a".into()];
        let text = render(&outcome, Phase::Train, Path::new("out"));
        assert!(text.contains("WARNING: the data hardly see the combination +0.71 k -0.71 a.\n"), "{text}");
    }

    #[test]
    fn the_adjoint_method_counts_iterations() {
        let mut outcome = example::outcome();
        (outcome.solved_by, outcome.steps) = (SolvedBy::ReferenceSolver, Steps { pretrain: 0, train: 6 });
        outcome.peak_memory_bytes = None;
        assert_eq!(effort(&outcome), "6 iterations in 3.5 s (100.0 ms a step).");
    }

    #[test]
    fn a_function_tells_its_errors_and_its_classes() {
        let unknown = FunctionOutcome {
            name: "A".into(),
            of: vec!["x".into(), "y".into()],
            unit: None,
            range: (3.0, 12.0),
            relative_l2_error: Some(0.125),
            relative_l2_error_of_guess: Some(0.75),
            relative_sd: Some(0.0625),
            classification_accuracy: Some(0.9826),
            gradient: "exact".into(),
        };
        let expected = "A(x, y): from 3 to 12 ± 6.2e-2 (relative L2); relative L2 error 1.25e-1 (of the guess 7.50e-1); \
                        98.3 % on the right side of the threshold; moved by the exact gradient.\n";
        assert_eq!(function(&unknown), expected);
    }

    #[test]
    fn a_truth_of_zero_has_an_absolute_error() {
        let mut outcome = example::outcome();
        outcome.unknowns.numbers[0].truth = Some(0.0);
        assert!(unknowns(&outcome.unknowns.numbers).contains("2.02e0 (absolute)"));
    }

    #[test]
    fn divergence_and_a_failed_classical_solve_are_told() {
        let mut outcome = example::outcome();
        outcome.stop = Stop::Diverged;
        let reason = "the residual loss is not finite".into();
        outcome.diverged = Some(Divergence { last_good_step: 12, reason });
        outcome.peak_memory_bytes = None;
        outcome.states[0].relative_l2_vs_classical = None;
        outcome.classical_failure = Some("Newton's method did not converge".into());
        let text = render(&outcome, Phase::Train, Path::new("out"));
        let stopped =
            "diverged in training, the residual loss is not finite; reported is the state of step 12,";
        assert!(text.contains(stopped), "{text}");
        assert!(text.contains("No classical solution at the estimate, so no comparison"));
        assert!(text.contains("or ±: Newton's method did not converge."));
        assert!(!text.contains("differ by") && !text.contains("MB"));
    }

    #[test]
    fn what_was_cut_off_has_last_values_and_a_way_to_go_on() {
        let outcome = Outcome { stop: Stop::Interrupted, ..example::outcome() };
        let text = render(&outcome, Phase::Train, Path::new("runs/rod-7"));
        assert!(text.starts_with("Last values, no estimates: k = 2.02, a = 0.25.\n"), "{text}");
        assert!(text.contains("Go on with: bilo run --resume runs/rod-7\n"), "{text}");
    }

    #[test]
    fn an_interval_has_the_digits_of_its_width() {
        assert_eq!(interval((1.934_567, 2.061_234)), "[1.935, 2.061]");
        assert_eq!(interval((-0.5, 12.0)), "[-0.5, 12]");
        assert_eq!(interval((f64::NEG_INFINITY, 2.0)), "[-inf, 2]");
    }

    #[test]
    fn what_ended_in_pretraining_says_so_and_has_no_time_a_step() {
        let mut outcome = example::outcome();
        (outcome.steps, outcome.peak_memory_bytes) = (Steps { pretrain: 1, train: 0 }, None);
        assert_eq!(effort(&outcome), "1 step of pre-training and 0 of both levels in 3.5 s.");
        outcome.stop = Stop::Interrupted;
        assert_eq!(stop(&outcome, Phase::Pretrain), "interrupted in pre-training");
        outcome.stop = Stop::Diverged;
        outcome.diverged = Some(Divergence { last_good_step: 0, reason: "a loss is not finite".into() });
        let expected =
            "diverged in pre-training, a loss is not finite; reported is the state before the first step";
        assert_eq!(stop(&outcome, Phase::Pretrain), expected);
    }
}
