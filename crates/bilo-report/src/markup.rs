//! Markup as a type: what comes from files goes into pages and drawings as escaped text only.
//!
//! [`Html`] is made by [`Html::text`], which escapes, by the macro [`html!`](crate::markup::html), whose template is a literal of
//! this crate and whose places take nothing but [`Html`] and escaped text, and by [`Html::json`] and [`Html::asset`].

use serde_json::Value;
use std::fmt::{self, Display, Formatter};
use std::ops::{Add, AddAssign};

/// Markup that can be put into a page or a drawing as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Html(String);

/// A template filled in: each place takes markup, or text that is escaped. Places have numbers, `{}`, or the names of
/// variables, which stand after a semicolon.
macro_rules! html {
    ($template:expr; $($name:ident),+) => {
        // What `concat!` makes captures no variables: nothing gets in that is not converted here.
        $crate::markup::Html::filled(format_args!(concat!($template), $($name = $crate::markup::Html::from(&$name)),+))
    };
    ($template:expr $(, $value:expr)* $(,)?) => {
        $crate::markup::Html::filled(format_args!(concat!($template) $(, $crate::markup::Html::from($value))*))
    };
}
pub(crate) use html;

impl Html {
    /// Text inside elements and quoted attributes; XML allows no other control characters at all.
    pub(crate) fn text(text: &str) -> Html {
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
        Html(result)
    }

    /// JSON inside a `<script>`: the only way out is `<`, of `</script` or `<!--`, which stands in strings alone.
    pub(crate) fn json(value: &Value) -> Html {
        Html(value.to_string().replace('<', "\\u003c"))
    }

    /// A style sheet or a script of this crate.
    pub(crate) fn asset(content: &'static str) -> Html {
        Html(content.to_owned())
    }

    /// For the macro [`html!`](crate::markup::html), which sees to it that all arguments are markup.
    pub(crate) fn filled(template: fmt::Arguments<'_>) -> Html {
        Html(template.to_string())
    }

    /// Parts with a text or an element between them.
    pub(crate) fn joined(parts: impl IntoIterator<Item = Html>, between: impl Into<Html>) -> Html {
        let parts: Vec<String> = parts.into_iter().map(|part| part.0).collect();
        Html(parts.join(&between.into().0))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Display for Html {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<T: AsRef<str>> From<T> for Html {
    fn from(text: T) -> Html {
        Html::text(text.as_ref())
    }
}

impl From<&Html> for Html {
    fn from(markup: &Html) -> Html {
        markup.clone()
    }
}

impl Add<Html> for Html {
    type Output = Html;

    fn add(mut self, other: Html) -> Html {
        self += other;
        self
    }
}

impl AddAssign<Html> for Html {
    fn add_assign(&mut self, other: Html) {
        self.0.push_str(&other.0);
    }
}

impl FromIterator<Html> for Html {
    fn from_iter<I: IntoIterator<Item = Html>>(parts: I) -> Html {
        Html(parts.into_iter().map(|part| part.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HOSTILE: &str = "</script><!--<script>alert(1)</script>'\"&\u{1}{}";

    #[test]
    fn nothing_gets_out() {
        let text = Html::text(HOSTILE);
        assert!(!text.as_str().contains(['<', '>', '"', '\'', '\u{1}']), "{text}");
        let value = json!({ HOSTILE: HOSTILE });
        let script = Html::json(&value).into_string();
        assert!(!script.contains('<'), "{script}");
        assert_eq!(serde_json::from_str::<Value>(&script).unwrap(), value);
    }

    #[test]
    fn places_of_a_template_escape_text_and_keep_markup() {
        let link = html!("<a href=\"{}\">{}</a>", HOSTILE, html!("<b>{}</b>", String::from("<")));
        assert!(link.as_str().ends_with("&amp;\u{fffd}{}\"><b>&lt;</b></a>"), "{link}");
        let text = "&";
        assert_eq!(html!("<p>{text}{text}</p>"; text).as_str(), "<p>&amp;&amp;</p>");
    }

    #[test]
    fn parts_are_joined_by_text() {
        let parts = || ["a", "<"].map(Html::text);
        assert_eq!(Html::joined(parts(), " & ").as_str(), "a &amp; &lt;");
        assert_eq!(parts().into_iter().collect::<Html>() + html!("<hr>"), html!("a&lt;<hr>"));
    }
}
