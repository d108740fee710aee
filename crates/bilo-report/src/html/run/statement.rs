//! The problem in words and formulas.

use crate::html::mathml::{Names, equation, formula, inline_formula, inline_name};
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
    html += definitions("Equations", "equation", source, |name, item| {
        let residual = string(item, "residual")?;
        Some((Html::text(name), equation(residual, "0", &names)))
    });
    html += definitions("States, by their form", "state", source, |name, item| {
        Some((inline_name(name), equation(name, string(item, "form").unwrap_or("net"), &names)))
    });
    html += definitions("Unknown functions, by their form", "unknown", source, |name, item| {
        let of = item.as_table_like()?.get("of")?.as_array()?;
        let of: Vec<&str> = of.iter().filter_map(|name| name.as_str()).collect();
        let label = html!("{} of {}", inline_name(name), of.join(", "));
        Some((label, equation(name, string(item, "form").unwrap_or("net"), &names)))
    });
    html += definitions("Observed", "observation", source, |name, item| {
        let states = source.names("state");
        let value = string(item, "value").or(states.first().map(String::as_str)).unwrap_or("");
        let data = item.as_table_like()?.get("data")?.to_string();
        let text = html!("{}<small>data: {}</small>", formula(value, &names), data.trim());
        Some((Html::text(name), text))
    });
    if html.as_str().contains('𝒩') {
        html += legend("𝒩 is the local operator: a network, or a basis expansion.");
    }
    html
}

fn names(source: &Source) -> Names {
    let of = |tables: &[&str]| tables.iter().flat_map(|table| source.names(table)).collect::<Vec<String>>();
    let mut declared = of(&["coordinates", "constants", "given", "unknown", "input", "state"]);
    declared.push("net".into());
    Names { declared, variables: of(&["coordinates", "input"]) }
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
    let number = |value: &toml_edit::Value| {
        let value = value.as_float().or(value.as_integer().map(|value| value as f64));
        value.map(|value| Html::text(&crate::html::text::number(value)))
    };
    let end = |end: &toml_edit::Value| {
        number(end).unwrap_or_else(|| inline_formula(end.as_str().unwrap_or(""), names))
    };
    let one = |(name, item): (&str, &Item)| {
        let range = item.as_array().or_else(|| item.as_table_like()?.get("range")?.as_array());
        let ends: Vec<Html> = range.map_or_else(Vec::new, |range| range.iter().map(end).collect());
        let what = if source.time() == Some(name) { "time " } else { "" };
        html!("{}{} from {}", what, inline_name(name), Html::joined(ends, " to "))
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
