//! The head of a page: what was asked, and whether the answer can be trusted.

use super::solver;
use crate::html::source::Source;
use crate::html::text::{count, scientific};
use crate::markup::{Html, html};
use crate::table::NO_SOLUTION;

pub(super) fn header(source: &Source) -> Html {
    let about = source.problem.get("about").and_then(|about| about.as_str()).unwrap_or("");
    let list = |key: &str, class: &str| -> Html {
        let sentences = source.outcome[key].as_array().into_iter().flatten().filter_map(|text| text.as_str());
        sentences.map(|text| html!("<p class=\"{}\">{}</p>\n", class, text)).collect()
    };
    let warnings = list("warnings", "warning");
    let (ended, bad) = ended(source);
    let class = match (bad || !agrees(source), warnings.is_empty()) {
        (true, _) => "bad",
        (false, true) => "good",
        (false, false) => "fair",
    };
    let (name, facts, agreement, notes) =
        (source.word("problem"), facts(source), agreement(source), list("notes", "note"));
    html!(
        "<header>\n<h1>{name}</h1>\n<p class=\"about\">{about}</p>\n<p class=\"facts\">{facts}</p>\n\
         <div class=\"verdict {class}\"><p>{ended} {agreement}</p>\n{warnings}{notes}</div>\n</header>\n";
        name, about, facts, class, ended, agreement, warnings, notes
    )
}

fn facts(source: &Source) -> String {
    let [method, recipe, device, precision] =
        ["method", "recipe", "device", "precision"].map(|key| source.word(key));
    let seed = source.outcome["seed"].as_u64().unwrap_or(0);
    format!("method {method}, recipe {recipe}, {device}, {precision}, seed {seed}")
}

/// Why the run ended, and whether that is bad.
fn ended(source: &Source) -> (Html, bool) {
    let taken = count(source.outcome["steps"]["train"].as_u64().unwrap_or(0), "step");
    let sentence = match source.word("stop") {
        "converged" => return (html!("<b>Converged</b> after {}.", taken), false),
        "steps" => return (html!("<b>Stopped at the limit</b> of {}.", taken), false),
        "time-limit" => html!("<b>Stopped at the time limit</b> after {}.", taken),
        "interrupted" => html!("<b>Interrupted</b> after {}.", taken),
        "diverged" => {
            let reason = source.outcome["diverged"]["reason"].as_str().unwrap_or("a loss grew without bound");
            html!("<b>Diverged</b>: {}.", reason)
        }
        other => html!("<b>Ended</b>: {}.", other),
    };
    (sentence, true)
}

fn agrees(source: &Source) -> bool {
    differences(source).iter().all(|(_, difference)| *difference < NO_SOLUTION)
        && source.outcome["classical_failure"].is_null()
}

/// How far each state is from the reference solution.
fn differences(source: &Source) -> Vec<(String, f64)> {
    let states = source.outcome["states"].as_object();
    let states = states.into_iter().flatten();
    states
        .filter_map(|(name, state)| Some((name.clone(), state["relative_l2_vs_classical"].as_f64()?)))
        .collect()
}

fn agreement(source: &Source) -> Html {
    if let Some(why) = source.outcome["classical_failure"].as_str() {
        return html!("The reference solver failed at the estimate: {}.", why);
    }
    let differences = differences(source);
    let Some((worst, most)) = differences.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Html::default();
    };
    let place = if differences.len() > 1 { format!(" in {worst}") } else { String::new() };
    let (solver, by) = (solver(source), scientific(*most, 1));
    match agrees(source) {
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
