//! `bilo schema`: the problem file as a JSON Schema (draft 2020-12), so that editors complete and check it.

use crate::failure::Failure;
use crate::output;
use bilo::problem::schema::{Fallback, Key, Kind, PROBLEM, TableSchema, tables};
use serde_json::{Map, Value, json};

/// Prints the schema.
pub(crate) fn schema() -> Result<(), Failure> {
    output::say(&format!("{:#}\n", problem_file()))
}

fn problem_file() -> Value {
    let inner = tables().into_iter().filter(|table| table.name != PROBLEM.name);
    let inner: Map<String, Value> = inner.map(|schema| (schema.name.to_owned(), table(schema))).collect();
    let mut file = table(&PROBLEM);
    file["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    file["title"] = "a problem file of bilo".into();
    file["$defs"] = inner.into();
    file
}

fn place(table: &TableSchema) -> String {
    format!("#/$defs/{}", table.name)
}

/// A table that has no other keys than its own.
fn table(schema: &TableSchema) -> Value {
    let keys: Map<String, Value> = schema.keys().map(|key| (key.name.to_owned(), described(key))).collect();
    let required = schema.keys().filter(|key| matches!(key.fallback, Fallback::Required));
    let required: Vec<&str> = required.map(|key| key.name).collect();
    json!({
        "title": plain(schema.title),
        "type": "object",
        "properties": keys,
        "required": required,
        "additionalProperties": false,
    })
}

fn described(key: &Key) -> Value {
    let mut value = kind(&key.kind);
    let default = match key.defaults() {
        None => "; required".to_owned(),
        Some([fast, paper]) if fast != paper => {
            format!("; default: {fast}, {paper} under the recipe `paper`")
        }
        Some([default, _]) if default.is_empty() => String::new(),
        Some([default, _]) => format!("; default: {default}"),
    };
    value["description"] = plain(&format!("{} ({}{default})", key.meaning, key.words())).into();
    value
}

fn kind(kind: &Kind) -> Value {
    // A number may always be an expression in a string, whose value an editor does not know.
    let number = |number: Value| json!({ "anyOf": [number, { "type": "string" }] });
    match kind {
        Kind::Text | Kind::Expression => json!({ "type": "string" }),
        Kind::Number => number(json!({ "type": "number" })),
        Kind::Positive => number(json!({ "type": "number", "exclusiveMinimum": 0 })),
        Kind::NotNegative => number(json!({ "type": "number", "minimum": 0 })),
        Kind::Count(least, None) => json!({ "type": "integer", "minimum": least }),
        Kind::Count(least, Some(most)) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Pair => json!({
            "type": "array", "items": self::kind(&Kind::Number), "minItems": 2, "maxItems": 2,
        }),
        Kind::List(item) => json!({ "type": "array", "items": self::kind(item) }),
        Kind::Each(value) => json!({ "type": "object", "additionalProperties": self::kind(value) }),
        Kind::Table(table) => json!({ "$ref": place(table) }),
        Kind::Any(kinds) => json!({ "anyOf": kinds.iter().map(self::kind).collect::<Vec<_>>() }),
    }
}

/// A line of Markdown without its links, which lead nowhere outside the book.
fn plain(markdown: &str) -> String {
    let mut plain = String::new();
    let mut rest = markdown;
    while let Some((before, (text, after))) = link(rest) {
        plain.push_str(before);
        plain.push_str(text);
        rest = after;
    }
    plain + rest
}

/// The first link: what comes before it, its text, what comes after it.
fn link(markdown: &str) -> Option<(&str, (&str, &str))> {
    let (head, tail) = markdown.split_once("](")?;
    let (_, after) = tail.split_once(')')?;
    // The text of a link may itself have brackets: [`[network]`](#network).
    let mut open = 1;
    let start = head.char_indices().rev().find(|(_, c)| {
        open += match c {
            ']' => 1,
            '[' => -1,
            _ => 0,
        };
        open == 0
    })?;
    Some((&head[..start.0], (&head[start.0 + 1..], after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_have_no_links() {
        assert_eq!(plain("as [`[network]`](#network), of `[1]` [a](b)"), "as `[network]`, of `[1]` a");
        let text = problem_file().to_string();
        assert!(text.contains("held against the classical solution") && !text.contains("]("), "{text}");
    }
}
