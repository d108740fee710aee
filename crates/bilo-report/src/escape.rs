//! Text from files inside pages and drawings: it can neither leave its element nor end the script that holds it.

use serde_json::Value;

/// Text as HTML and as XML, inside elements and quoted attributes; XML allows no other control characters at all.
pub(crate) fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&#39;"),
            '\n' | '\t' => result.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => result.push('\u{fffd}'),
            c => result.push(c),
        }
    }
    result
}

/// JSON inside a `<script>`: the only way out is `<`, of `</script` or `<!--`, which stands in strings alone.
pub(crate) fn script_json(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_gets_out() {
        let hostile = "</script><!--<script>alert(1)</script>'\"&\u{1}";
        let text = escaped(hostile);
        assert!(!text.contains(['<', '>', '"', '\'', '\u{1}']), "{text}");
        let value = json!({ hostile: hostile });
        let script = script_json(&value);
        assert!(!script.contains('<'), "{script}");
        assert_eq!(serde_json::from_str::<Value>(&script).unwrap(), value);
    }
}
