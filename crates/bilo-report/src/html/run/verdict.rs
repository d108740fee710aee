//! The head of a page: what was asked, and whether the answer can be trusted.

use super::solver;
use crate::html::source::Source;
use crate::html::text::{count, scientific};
use crate::markup::{Html, html};
use crate::table::NO_SOLUTION;
use bilo::outcome::{Outcome, Stop};

pub(super) fn header(source: &Source) -> Html {
    let about = source.problem.get("about").and_then(|about| about.as_str()).unwrap_or("");
    let list = |sentences: &[String], class: &str| -> Html {
        sentences.iter().map(|text| html!("<p class=\"{}\">{}</p>\n", class, text)).collect()
    };
    let warnings = list(&source.outcome.warnings, "warning");
    let (ended, bad) = ended(&source.outcome);
    let class = match (bad || !agrees(&source.outcome), warnings.is_empty()) {
        (true, _) => "bad",
        (false, true) => "good",
        (false, false) => "fair",
    };
    let (name, notes) = (&source.outcome.problem, list(&source.outcome.notes, "note"));
    let (facts, agreement) = (facts(&source.outcome), agreement(&source.outcome));
    html!(
        "<header>\n<h1>{name}</h1>\n<p class=\"about\">{about}</p>\n<p class=\"facts\">{facts}</p>\n\
         <div class=\"verdict {class}\"><p>{ended} {agreement}</p>\n{warnings}{notes}</div>\n</header>\n";
        name, about, facts, class, ended, agreement, warnings, notes
    )
}

fn facts(outcome: &Outcome) -> String {
    let Outcome { method, recipe, device, precision, seed, .. } = outcome;
    format!("method {method}, recipe {recipe}, {device}, {precision}, seed {seed}")
}

/// Why the run ended, and whether that is bad.
fn ended(outcome: &Outcome) -> (Html, bool) {
    let taken = count(outcome.steps.train as u64, "step");
    let sentence = match outcome.stop {
        Stop::Converged => return (html!("<b>Converged</b> after {}.", taken), false),
        Stop::Steps => return (html!("<b>Stopped at the limit</b> of {}.", taken), false),
        Stop::TimeLimit => html!("<b>Stopped at the time limit</b> after {}.", taken),
        Stop::Interrupted => html!("<b>Interrupted</b> after {}.", taken),
        Stop::Diverged => {
            let reason = outcome.diverged.as_ref().map_or("a loss grew without bound", |found| &found.reason);
            html!("<b>Diverged</b>: {}.", reason)
        }
    };
    (sentence, true)
}

fn agrees(outcome: &Outcome) -> bool {
    differences(outcome).iter().all(|(_, difference)| *difference < NO_SOLUTION)
        && outcome.classical_failure.is_none()
}

/// How far each state is from the reference solution.
fn differences(outcome: &Outcome) -> Vec<(&str, f64)> {
    let states = outcome.states.iter();
    states.filter_map(|state| Some((&state.name[..], state.relative_l2_vs_classical?))).collect()
}

fn agreement(outcome: &Outcome) -> Html {
    if let Some(why) = &outcome.classical_failure {
        return html!("The reference solver failed at the estimate: {}.", why);
    }
    let differences = differences(outcome);
    let Some((worst, most)) = differences.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Html::default();
    };
    let place = if differences.len() > 1 { format!(" in {worst}") } else { String::new() };
    let (solver, by) = (solver(outcome), scientific(*most, 1));
    match agrees(outcome) {
        true => html!(
            "The {solver} and the reference solution at the estimate agree: they differ by {by}{place} (relative L²).";
            solver, by, place
        ),
        false => html!(
            "The {solver} <b>is no solution of the equations at the estimate</b>: it differs by {by}{place} from the \
             reference solution (relative L²).";
            solver, by, place
        ),
    }
}
