//! The head of a page: what was asked, and whether the answer can be trusted.

use super::solver;
use crate::escape::escaped;
use crate::html::source::Source;
use crate::html::text::{count, scientific};
use crate::table::NO_SOLUTION;

pub(super) fn header(source: &Source) -> String {
    let about = source.problem.get("about").and_then(|about| about.as_str()).unwrap_or("");
    let list = |key: &str, class: &str| -> String {
        let sentences = source.outcome[key].as_array().into_iter().flatten().filter_map(|text| text.as_str());
        sentences.map(|text| format!("<p class=\"{class}\">{}</p>\n", escaped(text))).collect()
    };
    let warnings = list("warnings", "warning");
    let trouble = ended(source).1 || !agrees(source);
    let class = if trouble {
        "bad"
    } else if warnings.is_empty() {
        "good"
    } else {
        "fair"
    };
    let sentences = [ended(source).0, agreement(source)].join(" ");
    format!(
        "<header>\n<h1>{}</h1>\n<p class=\"about\">{}</p>\n<p class=\"facts\">{}</p>\n\
         <div class=\"verdict {class}\"><p>{sentences}</p>\n{warnings}{}</div>\n</header>\n",
        escaped(source.word("problem")),
        escaped(about),
        facts(source),
        list("notes", "note"),
    )
}

fn facts(source: &Source) -> String {
    let seed = source.outcome["seed"].as_u64().unwrap_or(0);
    let words = ["method", "recipe", "device", "precision"].map(|key| {
        let word = escaped(source.word(key));
        match key {
            "method" | "recipe" => format!("{key} {word}"),
            _ => word,
        }
    });
    format!("{}, seed {seed}", words.join(", "))
}

/// Why the run ended, and whether that is bad.
fn ended(source: &Source) -> (String, bool) {
    let steps = |phase: &str| source.outcome["steps"][phase].as_u64().unwrap_or(0);
    let taken = count(steps("train"), "step");
    let sentence = match source.word("stop") {
        "converged" => {
            return (format!("<b>Converged</b> after {taken}: unknowns and losses settled."), false);
        }
        "steps" => return (format!("<b>Ended</b> after all of its {taken}."), false),
        "time-limit" => format!("<b>Stopped by the time limit</b> after {taken}."),
        "interrupted" => format!("<b>Interrupted</b> after {taken}."),
        "diverged" => {
            let reason = source.outcome["diverged"]["reason"].as_str().unwrap_or("a loss grew without bound");
            format!("<b>Diverged</b>: {}.", escaped(reason))
        }
        other => format!("<b>Ended</b>: {}.", escaped(other)),
    };
    (sentence, true)
}

fn agrees(source: &Source) -> bool {
    differences(source).iter().all(|(_, difference)| *difference < NO_SOLUTION)
        && source.outcome["classical_failure"].is_null()
}

/// How far each state is from the classical solution.
fn differences(source: &Source) -> Vec<(String, f64)> {
    let states = source.outcome["states"].as_object();
    let states = states.into_iter().flatten();
    states
        .filter_map(|(name, state)| Some((name.clone(), state["relative_l2_vs_classical"].as_f64()?)))
        .collect()
}

fn agreement(source: &Source) -> String {
    if let Some(why) = source.outcome["classical_failure"].as_str() {
        return format!("The classical solver failed at the estimate: {}.", escaped(why));
    }
    let differences = differences(source);
    let Some((worst, most)) = differences.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return String::new();
    };
    let (solver, by) = (solver(source), scientific(*most, 1));
    let where_ = if differences.len() > 1 { format!(" in {}", escaped(worst)) } else { String::new() };
    match agrees(source) {
        true => format!(
            "The {solver} and the classical solution at the estimate agree: they differ by {by}{where_} (relative L²)."
        ),
        false => format!(
            "The {solver} <b>is no solution of the equations at the estimate</b>: it differs by {by}{where_} from the classical one (relative L²)."
        ),
    }
}
