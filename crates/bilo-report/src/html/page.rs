//! The skeleton of a page, and what is put into it.

use super::text::none;
use crate::markup::{Html, html};
use crate::picture::base64;
use serde_json::Value;

const STYLE: &str = include_str!("../../assets/report.css");
/// What reads values off figures, magnifies them and moves them through frames.
const FIGURES: &str = include_str!("../../assets/figures.js");
const REPORT: &str = include_str!("../../assets/report.js");
const LIVE: &str = include_str!("../../assets/live.js");

/// A page that is whole in itself.
pub(super) fn page(title: &str, body: Html, data: &Value) -> String {
    let data = html!("<script type=\"application/json\" id=\"data\">{}</script>\n", Html::json(data));
    filled(title, "", body, data, REPORT)
}

/// A page that asks whoever served it for its data.
pub(super) fn live(title: &str, body: Html) -> String {
    filled(title, "; connect-src 'self'", body, Html::default(), LIVE)
}

/// The whole page: `policy` is what scripts may do beyond drawing, `start` the script that begins.
fn filled(title: &str, policy: &'static str, body: Html, data: Html, start: &'static str) -> String {
    let [policy, style, figures, start] = [policy, STYLE, FIGURES, start].map(Html::asset);
    let template =
        html!(include_str!("../../assets/page.html"); title, policy, style, body, data, figures, start);
    template.into_string()
}

/// A part of a page with a heading that the contents lead to.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    pub(super) content: Html,
}

/// Links to the sections that have content, and these sections.
pub(super) fn sections(sections: &[Section]) -> Html {
    let full = || sections.iter().filter(|section| !section.content.is_empty());
    let link = |part: &Section| html!("<a href=\"#{}\">{}</a>\n", part.id, part.heading);
    let links: Html = full().map(link).collect();
    let whole = |part: &Section| {
        html!("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", part.id, part.heading, &part.content)
    };
    html!("<nav aria-label=\"Contents\">\n{}</nav>\n", links) + full().map(whole).collect()
}

/// A drawing as an image: scripts in images do not run, whoever wrote the file.
pub(super) fn drawing(name: &str, svg: &str) -> Html {
    let data = base64(svg.as_bytes());
    html!(
        "<figure class=\"drawing\"><img alt=\"{name}\" src=\"data:image/svg+xml;base64,{data}\">\
         <figcaption><b>{name}</b></figcaption></figure>\n";
        name, data
    )
}

/// A remark in small letters.
pub(super) fn legend(text: impl Into<Html>) -> Html {
    html!("<p class=\"legend\">{}</p>\n", text.into())
}

/// Columns of a table that have room.
const MOST_COLUMNS: usize = 6;

/// A table whose columns are numbers, but for the first.
pub(super) fn table<H: Clone + Into<Html>>(header: &[H], rows: &[Vec<Html>]) -> Html {
    let head: Html = header.iter().map(|name| html!("<th>{}</th>", name.clone().into())).collect();
    let cells = |row: &Vec<Html>| row.iter().map(|cell| html!("<td>{}</td>", cell)).collect::<Html>();
    let body: Html = rows.iter().map(|row| html!("<tr>{}</tr>\n", cells(row))).collect();
    // So that it fits on paper.
    let class = if header.len() > MOST_COLUMNS { html!(" class=\"dense\"") } else { Html::default() };
    html!(
        "<div class=\"wide\"><table{class}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n";
        class, head, body
    )
}

/// A table without its last columns, as far as they have not a single number.
pub(super) fn without_empty<'a>(
    header: &[&'a str],
    mut rows: Vec<Vec<Html>>,
) -> (Vec<&'a str>, Vec<Vec<Html>>) {
    let empty = |column: &usize| rows.iter().all(|row| row[*column] == none());
    let kept = header.len() - (0..header.len()).rev().take_while(empty).count();
    rows.iter_mut().for_each(|row| row.truncate(kept));
    (header[..kept].to_vec(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::colour::{GRID, INK, SOFT, WHITE};
    use serde_json::json;

    #[test]
    fn no_text_is_taken_for_a_place() {
        let page = page("{style}", html!("<p>{}</p>", "{data}"), &json!("{figures}"));
        assert!(page.contains("<title>{style}</title>"));
        assert!(page.contains("<p>{data}</p>"));
        assert!(page.contains("\"{figures}\""));
        assert_eq!(page.matches("</script>").count(), 2, "one for the data and one for the code");
    }

    #[test]
    fn columns_without_numbers_are_left_out_at_the_end_alone() {
        let rows = vec![vec![Html::text("a"), none(), Html::text("1"), none()]];
        let (header, rows) = without_empty(&["w", "x", "y", "z"], rows);
        assert_eq!((header.len(), rows[0].len()), (3, 3));
    }

    #[test]
    fn contents_lead_to_the_sections_that_are_there() {
        let part = |id, heading, content| Section { id, heading, content: Html::text(content) };
        let html = sections(&[part("a", "First", "x"), part("b", "Empty", ""), part("c", "Last", "<y>")]);
        let text = html.as_str();
        assert!(text.contains("<a href=\"#a\">First</a>\n<a href=\"#c\">Last</a>"), "{text}");
        assert!(text.contains("<h2>Last</h2>\n&lt;y&gt;</section>") && !text.contains("id=\"b\""), "{text}");
    }

    #[test]
    fn the_page_has_its_own_colours_for_those_of_drawings() {
        for colour in [WHITE, INK, SOFT, GRID] {
            assert!(STYLE.contains(&format!("=\"{}\"]", colour.hex())), "{}", colour.hex());
        }
        assert!(
            FIGURES.contains(&SOFT.hex()) && FIGURES.contains(&GRID.hex()),
            "ticks look the same when magnified"
        );
    }

    #[test]
    fn names_in_headers_and_cells_are_escaped() {
        let table = table(&["<u>"], &[vec![Html::text("</td>")]]).into_string();
        assert!(table.contains("<th>&lt;u&gt;</th>") && table.contains("<td>&lt;/td&gt;</td>"), "{table}");
    }
}
