//! The problem in words and formulas.

use crate::html::mathml::{Names, formula, inline_formula, inline_name};
use crate::html::page::legend;
use crate::html::source::{Source, string};
use crate::markup::{Html, html};
use toml_edit::Item;

/// Lines that the program wrote into the file.
const REMARK: &str = "#:";

pub(super) fn html(source: &Source) -> Html {
    let names = names(source);
    let mut html = comment(&source.text);
    html += html!("<p>{}</p>\n", domain(source, &names));
    html += definitions("Definitions", "define", source, |name, item| {
        Some((inline_name(name), formula(&format!("{name} = {}", item.as_str()?), &names)))
    });
    html += definitions("Equations", "equation", source, |name, item| {
        let residual = string(item, "residual").map(|residual| formula(&format!("{residual} = 0"), &names));
        Some((Html::text(name), residual.unwrap_or_else(|| holding(item, &names))))
    });
    html += definitions("Conditions", "condition", source, |name, item| {
        let place = place(item.as_table_like()?.get("at")?, &names);
        Some((Html::text(name), html!("{}<small>{}</small>", holding(item, &names), place)))
    });
    html += definitions("States, by their form", "state", source, |name, item| {
        let form = string(item, "form").unwrap_or("net");
        Some((inline_name(name), formula(&format!("{name} = {form}"), &names)))
    });
    html += definitions("Unknown functions, by their form", "unknown", source, |name, item| {
        let of = item.as_table_like()?.get("of")?.as_array()?;
        let of: Vec<&str> = of.iter().filter_map(|name| name.as_str()).collect();
        let label = html!("{} of {}", inline_name(name), of.join(", "));
        let form = string(item, "form").unwrap_or("net");
        Some((label, formula(&format!("{name} = {form}"), &names)))
    });
    html += definitions("Observed", "observation", source, |name, item| {
        let states = source.names("state");
        let value = string(item, "value").or(states.first().map(String::as_str)).unwrap_or("");
        let data = item.as_table_like()?.get("data")?.to_string();
        let text = html!("{}<small>data: {}</small>", formula(value, &names), data.trim());
        Some((Html::text(name), text))
    });
    html += definitions("Derived", "derived", source, |name, item| {
        Some((inline_name(name), formula(&format!("{name} = {}", item.as_str()?), &names)))
    });
    html += definitions("Experiments, and what is their own", "experiment", source, |name, item| {
        let own = item.to_string();
        Some((Html::text(name), html!("<code>{}</code>", own.trim())))
    });
    if html.as_str().contains('𝒩') {
        html += legend("𝒩 is the local operator: a network, or a basis expansion.");
    }
    html
}

fn names(source: &Source) -> Names {
    let of = |tables: &[&str]| tables.iter().flat_map(|table| source.names(table)).collect::<Vec<String>>();
    let mut declared = of(&["coordinates", "constants", "given", "unknown", "input", "state", "define"]);
    declared.push("net".into());
    Names { declared, variables: of(&["coordinates", "input"]) }
}

/// What holds: one equation, or each of a list.
fn holding(item: &Item, names: &Names) -> Html {
    let holds = item.as_table_like().and_then(|table| table.get("holds"));
    match holds.and_then(Item::as_array) {
        Some(list) => list.iter().filter_map(|one| Some(formula(one.as_str()?, names))).collect(),
        None => formula(holds.and_then(Item::as_str).unwrap_or_default(), names),
    }
}

/// `at x = 0 or 1, t = 0`
fn place(at: &Item, names: &Names) -> Html {
    let Some(table) = at.as_table_like() else { return Html::text(at.to_string().trim()) };
    let one = |(name, value): (&str, &Item)| {
        let ends: Vec<Html> = match value.as_array() {
            Some(list) => list.iter().map(|end| number_or_formula(end, names)).collect(),
            None => value.as_value().map(|value| number_or_formula(value, names)).into_iter().collect(),
        };
        html!("{} = {}", inline_name(name), Html::joined(ends, " or "))
    };
    html!("at {}", Html::joined(table.iter().map(one), ", "))
}

fn number_or_formula(value: &toml_edit::Value, names: &Names) -> Html {
    let number = value.as_float().or(value.as_integer().map(|value| value as f64));
    match number {
        Some(value) => Html::text(&crate::html::text::number(value)),
        None => inline_formula(value.as_str().unwrap_or_default(), names),
    }
}

/// Each entry of a table with a label and what there is to say of it.
fn definitions<'a>(
    heading: &str,
    table: &str,
    source: &'a Source,
    say: impl Fn(&'a str, &'a Item) -> Option<(Html, Html)>,
) -> Html {
    let entries = source.entries(table).into_iter().filter_map(|(name, item)| say(name, item));
    let rows: Html = entries.map(|(label, text)| html!("<dt>{}</dt><dd>{}</dd>\n", label, text)).collect();
    match rows.is_empty() {
        true => rows,
        false => html!("<h3>{}</h3>\n<dl class=\"formulas\">\n{}</dl>\n", heading, rows),
    }
}

/// The coordinates and their ranges.
fn domain(source: &Source, names: &Names) -> Html {
    let one = |(name, item): (&str, &Item)| {
        let range = item.as_array().or_else(|| item.as_table_like()?.get("range")?.as_array());
        let end = |end: &toml_edit::Value| number_or_formula(end, names);
        let ends: Vec<Html> = range.map_or_else(Vec::new, |range| range.iter().map(end).collect());
        let what = if source.time() == Some(name) { "time " } else { "" };
        let unit = string(item, "unit").map_or_else(Html::default, |unit| html!(" {}", unit));
        html!("{}{} from {}{}", what, inline_name(name), Html::joined(ends, " to "), unit)
    };
    html!("Domain: {}.", Html::joined(source.entries("coordinates").into_iter().map(one), ", "))
}

/// What the author says above the first table, in paragraphs.
fn comment(text: &str) -> Html {
    let above = text.lines().take_while(|line| !line.starts_with('['));
    let comments = above.filter(|line| !line.starts_with(REMARK)).filter_map(|line| line.strip_prefix('#'));
    let lines: Vec<&str> = comments.map(str::trim).collect();
    let paragraphs = lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty());
    paragraphs.map(|lines| html!("<p>{}</p>\n", lines.join(" "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_paragraphs() {
        let text = "#: A run of bilo\n# One\n# line.\n#\n# <b>\nname = \"a\"\n\n# More.\n[coordinates]\n# Not this.\n";
        assert_eq!(comment(text).as_str(), "<p>One line.</p>\n<p>&lt;b&gt; More.</p>\n");
    }
}
