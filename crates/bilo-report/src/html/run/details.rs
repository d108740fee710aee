//! What was checked, and everything needed to repeat the run.

use super::solver;
use crate::html::mathml::inline_name;
use crate::html::page::{legend, table, without_empty};
use crate::html::source::Source;
use crate::html::text::{none, number, or_none, scientific};
use crate::markup::{Html, html};
use crate::number::duration;
use serde_json::{Map, Value};

pub(super) fn checks(source: &Source) -> Html {
    [states, misfits, audit, near, identifiability, noise, operator]
        .map(|part| part(source))
        .into_iter()
        .collect()
}

fn object<'a>(source: &'a Source, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    source.outcome[key].as_object().into_iter().flat_map(Map::iter)
}

fn list<'a>(source: &'a Source, key: &str) -> impl Iterator<Item = &'a Value> {
    source.outcome[key].as_array().into_iter().flatten()
}

fn cell(value: &Value) -> Html {
    or_none(value.as_f64(), |value| scientific(value, 2))
}

/// A table under a heading with a line of explanation; nothing without rows.
fn titled(heading: &str, header: &[&str], rows: Vec<Vec<Html>>, remark: &str) -> Html {
    if rows.is_empty() {
        return Html::default();
    }
    let remark = if remark.is_empty() { Html::default() } else { legend(remark) };
    html!("<h3>{}</h3>\n{}{}", heading, table(header, &rows), remark)
}

fn states(source: &Source) -> Html {
    let known = object(source, "states").filter(|(_, state)| !state["relative_l2_vs_classical"].is_null());
    let rows = known.map(|(name, state)| {
        vec![inline_name(name), cell(&state["relative_l2_vs_classical"]), cell(&state["relative_l2_at_end"])]
    });
    let header = ["state", "relative L² difference", "at the final time"];
    let legend = format!("Between the {} and the reference solution at the estimate.", solver(source));
    let (header, rows) = without_empty(&header, rows.collect());
    titled("Agreement with the reference solver", &header, rows, &legend)
}

fn misfits(source: &Source) -> Html {
    let rows = object(source, "data_misfit").map(|(name, misfit)| {
        let keys = ["network", "classical", "dice_network", "dice_classical"];
        let cells = keys.map(|key| misfit.get(key).map_or_else(none, cell));
        [vec![Html::text(name)], cells.to_vec()].concat()
    });
    let name = format!("by the {}", solver(source));
    let header =
        ["observation", &name, "by the reference solution", "overlap (Dice)", "overlap, reference solution"];
    let (header, rows) = without_empty(&header, rows.collect());
    titled("Data loss at the estimate", &header, rows, "The same data, the same unknowns, two solvers.")
}

fn audit(source: &Source) -> Html {
    let rows = list(source, "audit").map(|audit| {
        let below = audit["below_noise"].as_bool().unwrap_or(false);
        vec![
            Html::text(audit["at"].as_str().unwrap_or("")),
            or_none(audit["cosine"].as_f64(), |cosine| format!("{cosine:.4}").replace('-', "−")),
            cell(&audit["relative_error"]),
            Html::text(if below { "no: below the noise of the operator" } else { "yes" }),
        ]
    });
    let header = ["gradient at", "cosine", "relative error", "meaningful"];
    let legend = "The gradient of the data loss by the unknowns, against the exact one of the reference solver. \
                  A cosine of 1 is the same direction.";
    titled("Audit of the gradient", &header, rows.collect(), legend)
}

fn near(source: &Source) -> Html {
    let rows = list(source, "near").flat_map(|near| {
        let at = Html::text(near["at"].as_str().unwrap_or(""));
        let cells =
            |state: &Value| ["relative_l2_vs_classical", "relative_l2_of_guess"].map(|key| cell(&state[key]));
        let states = near["states"].as_object().into_iter().flatten();
        states.map(move |(name, state)| [vec![at.clone(), inline_name(name)], cells(state).to_vec()].concat())
    });
    let header = ["at", "state", "operator, relative L²", "solution at the guess, relative L²"];
    let legend = "How far the local operator reaches: its solution beside the guess, without further training, against the \
                  reference solution there.";
    titled("Near the guess", &header, rows.collect(), legend)
}

fn identifiability(source: &Source) -> Html {
    let values: Vec<f64> = list(source, "singular_values").filter_map(Value::as_f64).collect();
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Html::default() };
    let shown = values.iter().take(12).map(|value| scientific(*value, 2)).collect::<Vec<String>>();
    let (shown, correlations) = (shown.join(", "), correlations(source));
    let more = if values.len() > 12 { ", …" } else { "" };
    let times = (values.len() > 1 && *last > 0.0).then(|| scientific(first / last, 1));
    let say =
        |times| format!(" The data constrain the best known direction {times} times better than the worst.");
    let ratio = times.map(say).unwrap_or_default();
    html!(
        "<h3>What the data tell of the unknowns</h3>\n<p>Singular values of the derivatives of observed values by relative \
         changes of the unknowns: {shown}{more}.{ratio}</p>\n{correlations}";
        shown, more, ratio, correlations
    )
}

/// Those of different unknowns, if there are several.
fn correlations(source: &Source) -> Html {
    let names: Vec<Html> = object(source, "unknowns").map(|(name, _)| inline_name(name)).collect();
    let rows: Vec<&Value> = list(source, "correlations").collect();
    if rows.len() < 2 || rows.len() != names.len() {
        return Html::default();
    }
    let others = names.len() - 1;
    let entry = |row: &Value, j: usize| or_none(row[j].as_f64(), |value| format!("{value:.3}"));
    let cells = |(i, row): (usize, &&Value)| {
        let entries = (0..others).map(|j| if j < i { entry(row, j) } else { Html::default() });
        std::iter::once(names[i].clone()).chain(entries).collect::<Vec<Html>>()
    };
    let rows = rows.iter().enumerate().skip(1).map(cells).collect::<Vec<_>>();
    let header = [&[Html::default()], &names[..others]].concat();
    let remark =
        "Correlations of the estimates: near ±1, the data tell a combination of the two better than either.";
    table(&header, &rows) + legend(remark)
}

fn noise(source: &Source) -> Html {
    let words = |source: &str| match source {
        "sigma" => "the column sigma of the data",
        "stated" => "stated in the problem file",
        "residuals" => "estimated from the residuals of the data",
        "likelihood" => "as the likelihood says",
        _ => "",
    };
    let rows = object(source, "noise").map(|(name, noise)| {
        vec![
            Html::text(name),
            or_none(noise["sd"].as_f64(), |sd| scientific(sd, 2)),
            Html::text(words(noise["source"].as_str().unwrap_or(""))),
        ]
    });
    let header = ["observation", "standard deviation", "where it is from"];
    titled("Noise behind the error bars", &header, rows.collect(), "")
}

/// What stood for the solution, and what a neural operator learned from.
fn operator(source: &Source) -> Html {
    let mut html = Html::default();
    for (key, heading) in [("operator", "Local operator"), ("learned", "Learned from examples")] {
        let rows = rows_of(&source.outcome[key], "");
        if !rows.is_empty() {
            html += html!("<h3>{}</h3>\n{}", heading, pairs(&rows));
        }
    }
    html
}

/// Names and values of an object and the objects inside it.
fn rows_of(value: &Value, before: &str) -> Vec<(String, Html)> {
    let mut rows = vec![];
    for (key, value) in value.as_object().into_iter().flatten() {
        let name = format!("{before}{}", key.replace('_', " "));
        match value {
            Value::Null => {}
            Value::Object(_) => rows.extend(rows_of(value, &format!("{name}: "))),
            Value::Number(found) if found.is_f64() => rows.push((name, cell(value))),
            Value::String(text) => rows.push((name, Html::text(text))),
            other => rows.push((name, Html::text(&other.to_string()))),
        }
    }
    rows
}

fn pairs<N: AsRef<str>>(rows: &[(N, Html)]) -> Html {
    let line = |(name, value): &(N, Html)| html!("<dt>{}</dt><dd>{}</dd>\n", name.as_ref(), value);
    html!("<dl class=\"facts\">\n{}</dl>\n", rows.iter().map(line).collect::<Html>())
}

/// How to repeat the run, and what was in force.
pub(super) fn settings(source: &Source) -> Html {
    let mut remarks = source.text.lines().filter_map(|line| line.strip_prefix("#: "));
    let again = remarks.next().unwrap_or("");
    let (made, command) = again.split_once("Again: ").unwrap_or((again, ""));
    let program = made.trim().trim_start_matches("A run of ").trim_end_matches('.');
    let mut rows = vec![("program", Html::text(program)), ("again", html!("<code>{}</code>", command))];
    rows.extend(["method", "recipe", "device", "precision"].map(|key| (key, Html::text(source.word(key)))));
    rows.push(("seed", Html::text(&source.outcome["seed"].to_string())));
    let seconds = |key: &str| {
        let seconds = source.number(&["seconds", key]).filter(|seconds| *seconds > 0.0);
        seconds.map(|seconds| Html::text(&duration(seconds)))
    };
    let steps = |phase: &str| source.number(&["steps", phase]).map(|steps| Html::text(&number(steps)));
    let memory = |key: &str| source.number(&[key]).map(|bytes| Html::text(&format!("{:.0} MB", bytes / 1e6)));
    let measured = [
        ("time", seconds("total")),
        ("time of pre-training", seconds("pretrain")),
        ("time of training", seconds("train")),
        ("time of a step", seconds("per_step")),
        ("steps of pre-training", steps("pretrain")),
        ("steps of training", steps("train")),
        ("memory at most", memory("peak_memory_bytes")),
        ("memory of the GPU at most", memory("device_memory_bytes")),
    ];
    rows.extend(measured.into_iter().filter_map(|(name, value)| Some((name, value?))));
    pairs(&rows) + in_force(remarks)
}

/// Settings with their defaults, by table.
fn in_force<'a>(remarks: impl Iterator<Item = &'a str>) -> Html {
    let mut html = Html::default();
    for line in remarks {
        match line.split_once(" = ") {
            Some((key, value)) => {
                html += html!("<dt>{}</dt><dd><code>{}</code></dd>\n", key, value);
            }
            None if line.starts_with('[') => {
                let name = line.trim_matches(['[', ']']);
                html += html!("</dl>\n<h4>{}</h4>\n<dl class=\"facts\">\n", name);
            }
            None => {}
        }
    }
    if html.is_empty() {
        return html;
    }
    html!(
        "<details><summary>All settings in force, defaults included</summary>\n<dl class=\"facts\">\n{}</dl>\n</details>\n",
        html
    )
}
