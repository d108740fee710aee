//! The skeleton of a page, and what is put into it.

use super::text::NONE;
use crate::escape::{escaped, script_json};
use crate::picture::base64;
use serde_json::Value;

const SKELETON: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/report.css");
/// What draws figures, in the order in which they need each other.
const FIGURES: [&str; 5] = [
    include_str!("../../assets/numbers.js"),
    include_str!("../../assets/plot.js"),
    include_str!("../../assets/lines.js"),
    include_str!("../../assets/maps.js"),
    include_str!("../../assets/figures.js"),
];
const REPORT: &str = include_str!("../../assets/report.js");
const LIVE: &str = include_str!("../../assets/live.js");

/// A page that is whole in itself.
pub(super) fn page(title: &str, body: &str, data: &Value) -> String {
    let data = format!("<script type=\"application/json\" id=\"data\">{}</script>\n", script_json(data));
    filled(&Parts { title, policy: "", body, data: &data, start: REPORT })
}

/// A page that asks whoever served it for its data.
pub(super) fn live(title: &str, body: &str) -> String {
    filled(&Parts { title, policy: "; connect-src 'self'", body, data: "", start: LIVE })
}

/// What is put into the skeleton.
struct Parts<'a> {
    title: &'a str,
    /// What scripts may do beyond drawing.
    policy: &'a str,
    body: &'a str,
    data: &'a str,
    /// The script that begins.
    start: &'a str,
}

/// Parts are put between the pieces of the skeleton, so that no text can be taken for a place.
fn filled(parts: &Parts<'_>) -> String {
    let mut page = String::new();
    let mut rest = SKELETON;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let (place, after) = after.split_once("}}").unwrap_or((after, ""));
        match place {
            "title" => page.push_str(&escaped(parts.title)),
            "policy" => page.push_str(parts.policy),
            "style" => page.push_str(STYLE),
            "body" => page.push_str(parts.body),
            "data" => page.push_str(parts.data),
            "script" => FIGURES.iter().chain([&parts.start]).for_each(|script| page.push_str(script)),
            _ => {}
        }
        rest = after;
    }
    page + rest
}

/// A section with a heading that the contents lead to.
pub(super) fn section(id: &str, heading: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n{content}</section>\n")
}

/// Links to the sections that there are.
pub(super) fn contents(body: &str) -> String {
    let mut links = String::new();
    for part in body.split("<section id=\"").skip(1) {
        let id = part.split('"').next().unwrap_or("");
        let heading = part.split_once("<h2>").and_then(|(_, rest)| rest.split_once("</h2>"));
        links += &format!("<a href=\"#{id}\">{}</a>\n", heading.map_or("", |(heading, _)| heading));
    }
    format!("<nav aria-label=\"Contents\">\n{links}</nav>\n")
}

/// A drawing as an image: scripts in images do not run, whoever wrote the file.
pub(super) fn drawing(name: &str, svg: &str) -> String {
    let (name, data) = (escaped(name), base64(svg.as_bytes()));
    format!(
        "<figure class=\"drawing\"><img alt=\"{name}\" src=\"data:image/svg+xml;base64,{data}\">\
         <figcaption><b>{name}</b></figcaption></figure>\n"
    )
}

/// Columns of a table that have room.
const MOST_COLUMNS: usize = 6;

/// A table; cells are HTML already. All columns but the first are numbers.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |row: &mut dyn Iterator<Item = String>, tag: &str| -> String {
        row.map(|cell| format!("<{tag}>{cell}</{tag}>")).collect()
    };
    let head = cells(&mut header.iter().map(|name| name.to_string()), "th");
    let body: String =
        rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(&mut row.iter().cloned(), "td"))).collect();
    // So that it fits on paper.
    let class = if header.len() > MOST_COLUMNS { " class=\"dense\"" } else { "" };
    format!(
        "<div class=\"wide\"><table{class}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
    )
}

/// Last columns without a single number have nothing to say.
pub(super) fn without_empty<'a>(
    header: &[&'a str],
    mut rows: Vec<Vec<String>>,
) -> (Vec<&'a str>, Vec<Vec<String>>) {
    let empty = |column: &usize| rows.iter().all(|row| row[*column] == NONE);
    let kept = header.len() - (0..header.len()).rev().take_while(empty).count();
    rows.iter_mut().for_each(|row| row.truncate(kept));
    (header[..kept].to_vec(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_text_is_taken_for_a_place() {
        let page = page("{{script}}", "<p>{{data}}</p>", &json!("{{style}}"));
        assert!(page.contains("<title>{{script}}</title>"));
        assert!(page.contains("<p>{{data}}</p>"));
        assert!(page.contains("\"{{style}}\""));
        assert_eq!(page.matches("</script>").count(), 2, "one for the data and one for the code");
    }

    #[test]
    fn columns_without_numbers_are_left_out_at_the_end_alone() {
        let rows = vec![["a", NONE, "1", NONE].map(str::to_owned).to_vec()];
        let (header, rows) = without_empty(&["w", "x", "y", "z"], rows);
        assert_eq!((header.len(), rows[0].len()), (3, 3));
    }

    #[test]
    fn contents_follow_the_sections() {
        let body = section("a", "First", "x") + &section("b", "Empty", "") + &section("c", "Last", "y");
        let links = contents(&body);
        assert!(links.contains("<a href=\"#a\">First</a>\n<a href=\"#c\">Last</a>"), "{links}");
    }
}
