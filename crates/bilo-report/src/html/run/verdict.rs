//! The head of a page: what was asked, and whether the answer can be trusted.

use super::solver;
use crate::html::source::Source;
use crate::html::text::{count, scientific};
use crate::markup::{Html, html};
use bilo::outcome::{Colour, Outcome, Reason, Stop};

pub(super) fn header(source: &Source) -> Html {
    let about = source.problem.get("about").and_then(|about| about.as_str()).unwrap_or("");
    let outcome = &source.outcome;
    let list = |sentences: &[String], class: &str| -> Html {
        sentences.iter().map(|text| html!("<p class=\"{}\">{}</p>\n", class, text)).collect()
    };
    let (warnings, notes) = (list(&outcome.warnings, "warning"), list(&outcome.notes, "note"));
    let reasons: Html = outcome.verdict.reasons.iter().map(reason).collect();
    let (class, verdict) = match outcome.verdict.colour {
        Colour::Green => ("good", "Green: everything was tested and passed."),
        Colour::Orange => ("fair", "Orange: something needs a look."),
        Colour::Red => ("bad", "Red: do not use this answer."),
    };
    let (name, facts) = (&outcome.problem, facts(outcome));
    let (ended, agreement) = (ended(outcome), agreement(outcome));
    html!(
        "<header>\n<h1>{name}</h1>\n<p class=\"about\">{about}</p>\n<p class=\"facts\">{facts}</p>\n\
         <div class=\"verdict {class}\"><p><b>{verdict}</b></p>\n{reasons}<p>{ended} {agreement}</p>\n{warnings}{notes}</div>\n\
         </header>\n";
        name, about, facts, class, verdict, reasons, ended, agreement, warnings, notes
    )
}

/// A line of the verdict.
fn reason(Reason { colour, sentence, help, .. }: &Reason) -> Html {
    let class = if *colour == Colour::Green { "note" } else { "warning" };
    let help = if help.is_empty() { String::new() } else { format!("; {help}") };
    html!("<p class=\"{}\">{}{}.</p>\n", class, sentence, help)
}

fn facts(outcome: &Outcome) -> String {
    let Outcome { method, recipe, device, precision, seed, .. } = outcome;
    format!("method {method}, recipe {recipe}, {device}, {precision}, seed {seed}")
}

/// Why the run ended.
fn ended(outcome: &Outcome) -> Html {
    let taken = count(outcome.steps.train as u64, "step");
    match outcome.stop {
        Stop::Converged => html!("Converged after {}.", taken),
        Stop::Steps => html!("Stopped at the limit of {}.", taken),
        Stop::TimeLimit => html!("Stopped at the time limit after {}.", taken),
        Stop::Interrupted => html!("Interrupted after {}.", taken),
        Stop::Diverged => html!("Diverged after {}.", taken),
    }
}

/// How far the two solvers are apart.
fn agreement(outcome: &Outcome) -> Html {
    let states = outcome.states.iter();
    let differences: Vec<(&str, f64)> =
        states.filter_map(|state| Some((&state.name[..], state.relative_l2_vs_classical?))).collect();
    let Some((worst, most)) = differences.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Html::default();
    };
    let place = if differences.len() > 1 { format!(" in {worst}") } else { String::new() };
    let (solver, by) = (solver(outcome), scientific(*most, 1));
    html!(
        "The {solver} and the reference solution at the estimate differ by {by}{place} (relative L²).";
        solver, by, place
    )
}
