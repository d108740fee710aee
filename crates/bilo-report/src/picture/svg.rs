//! A canvas that becomes SVG: lines, rectangles, text and images, in pixels, y downwards.

use super::colour::{Colour, WHITE};
use crate::markup::{Html, html};

/// What was drawn so far.
#[derive(Default)]
pub(crate) struct Canvas(Html);

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rectangle {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// How a text is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Font {
    pub(crate) size: f64,
    pub(crate) colour: Colour,
    /// Which part of the text stands at its place: `start`, `middle` or `end`.
    pub(crate) anchor: &'static str,
}

impl Font {
    fn attributes(self) -> Html {
        let (size, fill) = (pixels(self.size), self.colour.hex());
        html!("font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\"", size, fill, self.anchor)
    }

    /// From the middle of digits to their base line: they reach to about 0.7 of the size above it.
    fn shift(self) -> f64 {
        0.35 * self.size
    }
}

impl Rectangle {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

impl Canvas {
    /// Elements with attributes in common.
    pub(crate) fn group(&mut self, attributes: Html, draw: impl FnOnce(&mut Canvas)) {
        let mut inner = Canvas::default();
        draw(&mut inner);
        self.push(html!("<g {}>\n{}</g>", attributes, inner.0));
    }

    /// Elements that are seen inside a rectangle only.
    pub(crate) fn clipped(&mut self, area: Rectangle, draw: impl FnOnce(&mut Canvas)) {
        let mut inner = Canvas::default();
        draw(&mut inner);
        let Rectangle { left, top, width, height } = area;
        let view = [left, top, width, height].map(pixels).join(" ");
        self.push(html!("<svg class=\"inside\" {} viewBox=\"{}\">\n{}</svg>", place(area), view, inner.0));
    }

    /// A path with a stroke of a colour, or filled with it.
    pub(crate) fn path(&mut self, path: String, attributes: Html) {
        self.push(html!("<path d=\"{}\" {}/>", path, attributes));
    }

    pub(crate) fn rectangle(&mut self, area: Rectangle, attributes: Html) {
        self.push(html!("<rect {} {}/>", place(area), attributes));
    }

    pub(crate) fn circle(&mut self, centre: [f64; 2], radius: f64, attributes: Html) {
        let [x, y] = centre.map(pixels);
        self.push(html!("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>", x, y, pixels(radius), attributes));
    }

    /// A text, centred in height.
    pub(crate) fn text(&mut self, place: [f64; 2], content: &str, font: Font) {
        self.text_with(place, content, font, Html::default());
    }

    /// A text with more attributes, each after a space.
    pub(crate) fn text_with(&mut self, [x, y]: [f64; 2], content: &str, font: Font, more: Html) {
        let [x, y] = [x, y + font.shift()].map(pixels);
        self.push(html!("<text x=\"{}\" y=\"{}\" {}{}>{}</text>", x, y, font.attributes(), more, content));
    }

    /// Many texts of one font.
    pub(crate) fn texts(&mut self, texts: Vec<([f64; 2], String)>, font: Font) {
        self.group(font.attributes(), |canvas| {
            for ([x, y], content) in texts {
                let [x, y] = [x, y + font.shift()].map(pixels);
                canvas.push(html!("<text x=\"{}\" y=\"{}\">{}</text>", x, y, content));
            }
        });
    }

    /// An image in PNG, stretched over an area.
    pub(crate) fn image(&mut self, area: Rectangle, png: &[u8], attributes: Html) {
        let (place, data) = (place(area), base64(png));
        self.push(html!(
            "<image {place} preserveAspectRatio=\"none\" {attributes} href=\"data:image/png;base64,{data}\"/>";
            place, attributes, data
        ));
    }

    /// The whole drawing on white paper.
    pub(crate) fn finish(self, size: [f64; 2]) -> Html {
        let ([width, height], paper, body) = (size.map(pixels), WHITE.hex(), self.0);
        html!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>\n{body}</svg>\n";
            width, height, paper, body
        )
    }

    fn push(&mut self, element: Html) {
        self.0 += html!("{}\n", element);
    }
}

fn place(area: Rectangle) -> Html {
    let Rectangle { left, top, width, height } = area;
    let [left, top, width, height] = [left, top, width, height].map(pixels);
    html!("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", left, top, width, height)
}

/// Lines through points, with a gap where one is not finite.
pub(crate) fn line(points: impl Iterator<Item = [f64; 2]>, closed: bool) -> String {
    let (mut path, mut pen) = (String::new(), 'M');
    for [x, y] in points {
        let there = x.is_finite() && y.is_finite();
        if there {
            path.push_str(&format!("{pen}{} {}", pixels(x), pixels(y)));
        }
        pen = if there { 'L' } else { 'M' };
    }
    if closed { path + "Z" } else { path }
}

/// A thousandth of a pixel: a line that is magnified a hundred times is still a line.
pub(crate) fn pixels(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

/// RFC 4648.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut result = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            result.push(if digit <= three.len() { char::from(DIGITS[index as usize]) } else { '=' });
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::colour::INK;

    /// The examples of RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_standard() {
        let examples = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (text, expected) in examples {
            assert_eq!(base64(text.as_bytes()), expected);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn text_cannot_leave_its_element() {
        let mut canvas = Canvas::default();
        let font = Font { size: 10.0, colour: INK, anchor: "start" };
        canvas.text([1.0, 2.0], "</text><script>\"&'\u{1}", font);
        let svg = canvas.finish([10.0; 2]).into_string();
        assert!(svg.contains(">&lt;/text&gt;&lt;script&gt;&quot;&amp;&#39;\u{fffd}</text>"), "{svg}");
        assert!(!svg.contains("<script"), "{svg}");
    }

    #[test]
    fn lengths_are_short() {
        for (value, text) in [(1.0, "1"), (-0.0001, "0"), (2.5, "2.5"), (1.0 / 3.0, "0.333"), (100.0, "100")]
        {
            assert_eq!(pixels(value), text);
        }
    }

    #[test]
    fn lines_have_gaps_and_may_be_closed() {
        let points = [[0.0, 0.0], [1.0, 0.0], [2.0, f64::NAN], [3.0, 1.0], [4.0, 1.5]];
        assert_eq!(line(points.into_iter(), false), "M0 0L1 0M3 1L4 1.5");
        assert_eq!(line(points.into_iter().take(2), true), "M0 0L1 0Z");
    }
}
