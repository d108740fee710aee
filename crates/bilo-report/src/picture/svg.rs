//! A canvas that becomes SVG: lines, rectangles, text and images, in pixels, y downwards.

use super::colour::Colour;
use crate::markup::Html;

/// What was drawn so far.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stroke {
    pub(crate) colour: Colour,
    pub(crate) width: f64,
    pub(crate) dashed: bool,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rectangle {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text, centred in height.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) content: &'a str,
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    /// Reads upwards.
    pub(crate) upright: bool,
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
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// Lines through points, back to the first if closed.
    pub(crate) fn polyline(&mut self, points: &[[f64; 2]], closed: bool, stroke: Stroke) {
        let points: Vec<String> =
            points.iter().map(|[x, y]| format!("{} {}", pixels(*x), pixels(*y))).collect();
        let end = if closed { "Z" } else { "" };
        let dash = if stroke.dashed { " stroke-dasharray=\"5 3\"" } else { "" };
        self.push(&format!(
            "<path d=\"M{}{end}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash}/>",
            points.join("L"),
            stroke.colour.hex(),
            pixels(stroke.width)
        ));
    }

    pub(crate) fn fill(&mut self, area: Rectangle, colour: Colour) {
        let place = place(area);
        self.push(&format!("<rect {place} fill=\"{}\"/>", colour.hex()));
    }

    pub(crate) fn dot(&mut self, [x, y]: [f64; 2], radius: f64, colour: Colour) {
        let [x, y, radius] = [x, y, radius].map(pixels);
        self.push(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{}\"/>", colour.hex()));
    }

    pub(crate) fn outline(&mut self, area: Rectangle, stroke: Stroke) {
        let (width, colour) = (pixels(stroke.width), stroke.colour.hex());
        let place = place(area);
        self.push(&format!("<rect {place} fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"));
    }

    pub(crate) fn text(&mut self, [x, y]: [f64; 2], text: Text<'_>, colour: Colour) {
        let anchor = match text.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = (pixels(x), pixels(y));
        let turn = if text.upright { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        // Digits reach from the base line to about 0.7 of the size above it.
        let shift = pixels(0.35 * text.size);
        self.push(&format!(
            "<text x=\"{x}\" y=\"{y}\" dy=\"{shift}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{turn}>{}</text>",
            pixels(text.size),
            colour.hex(),
            Html::text(text.content)
        ));
    }

    /// An image in PNG, stretched over an area.
    pub(crate) fn image(&mut self, area: Rectangle, png: &[u8]) {
        let place = place(area);
        self.push(&format!(
            "<image {place} preserveAspectRatio=\"none\" href=\"data:image/png;base64,{}\"/>",
            base64(png)
        ));
    }

    /// The whole drawing on white paper.
    pub(crate) fn finish(self) -> String {
        let (width, height) = (pixels(self.width), pixels(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.body
        )
    }

    fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}

fn place(area: Rectangle) -> String {
    let Rectangle { left, top, width, height } = area;
    let [left, top, width, height] = [left, top, width, height].map(pixels);
    format!("x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"")
}

/// A hundredth of a pixel is finer than any eye.
fn pixels(value: f64) -> String {
    let text = format!("{value:.2}");
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
        let mut canvas = Canvas::new(10.0, 10.0);
        let text =
            Text { content: "</text><script>\"&'\u{1}", size: 10.0, anchor: Anchor::Start, upright: false };
        canvas.text([1.0, 2.0], text, INK);
        let svg = canvas.finish();
        assert!(svg.contains(">&lt;/text&gt;&lt;script&gt;&quot;&amp;&#39;\u{fffd}</text>"), "{svg}");
        assert!(!svg.contains("<script"), "{svg}");
    }

    #[test]
    fn lengths_are_short() {
        for (value, text) in [(1.0, "1"), (-0.001, "0"), (2.5, "2.5"), (1.0 / 3.0, "0.33"), (100.0, "100")] {
            assert_eq!(pixels(value), text);
        }
    }

    #[test]
    fn lines_may_be_closed_and_dashed() {
        let mut canvas = Canvas::new(10.0, 10.0);
        let stroke = Stroke { colour: INK, width: 1.5, dashed: true };
        canvas.polyline(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], true, stroke);
        let svg = canvas.finish();
        assert!(svg.contains("d=\"M0 0L1 0L0 1Z\"") && svg.contains("stroke-dasharray"), "{svg}");
    }
}
