//! One rectangle with axes, and everything that is drawn in it.

use super::axes::{Axis, LARGE, SMALL, View, colour_bar};
use super::colour::{Colour, INK, LINES, SOFT, WHITE};
use super::contour::Polyline;
use super::png;
use super::series::{Series, stroke};
use super::svg::{Canvas, Font, Rectangle, line, pixels};
use crate::markup::html;
use crate::number::in_print;

/// Room left and right of a rectangle with curves.
pub(crate) const ASIDE: [f64; 2] = [72.0, 14.0];
/// Room left and right of a field in colours, whose bar has long numbers.
pub(crate) const ASIDE_FIELD: [f64; 2] = [50.0, 86.0];
const BELOW: f64 = 42.0;
/// Height of the names of stretches.
const MARK: f64 = 16.0;

/// A rectangle with what is in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plot {
    pub(crate) title: String,
    /// Names of both axes.
    pub(crate) names: [String; 2],
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Width and height of the rectangle, in pixels.
    pub(crate) size: [f64; 2],
    /// Names of stretches of x of length one, instead of numbers.
    pub(crate) groups: Vec<String>,
    /// Fields in colours, each over the ones before.
    pub(crate) shades: Vec<Shade>,
    /// Thin lines behind all series.
    pub(crate) contours: Vec<Polyline>,
    pub(crate) series: Vec<Series>,
    /// Whether lines have white under them.
    pub(crate) halo: bool,
    /// Heights worth comparing with.
    pub(crate) rules: Vec<(f64, String)>,
    /// Where a stretch of x begins.
    pub(crate) marks: Vec<(f64, String)>,
}

/// A field in colours, at nodes of equal distance.
#[derive(Clone, Debug)]
pub(crate) struct Shade {
    /// Numbers of frames, of rows and of columns; the last frame is seen.
    pub(crate) shape: [usize; 3],
    /// A value for every node: frame by frame, upwards, x fastest.
    pub(crate) values: Vec<f64>,
    /// The first and the last node.
    pub(crate) corners: [[f64; 2]; 2],
    pub(crate) map: fn(f64) -> Colour,
    /// The values of the first and the last colour.
    pub(crate) ends: (f64, f64),
    pub(crate) opacity: f64,
    /// Whether a bar tells the values.
    pub(crate) bar: bool,
    /// The array of a page that has the values.
    pub(crate) array: Option<String>,
}

impl Plot {
    /// An empty rectangle.
    pub(crate) fn new(title: &str, names: [&str; 2], [x, y]: [Axis; 2], size: [f64; 2]) -> Plot {
        Plot { title: title.to_owned(), names: names.map(str::to_owned), x, y, size, ..Plot::default() }
    }

    /// Width and height with all that is around the rectangle.
    pub(crate) fn outer(&self) -> [f64; 2] {
        let [left, right] = self.aside();
        [left + self.size[0] + right, self.above() + self.size[1] + BELOW]
    }

    fn aside(&self) -> [f64; 2] {
        if self.shades.is_empty() { ASIDE } else { ASIDE_FIELD }
    }

    fn above(&self) -> f64 {
        let title = if self.title.is_empty() { 10.0 } else { 28.0 };
        if self.marks.is_empty() { title } else { title + MARK }
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas, [left, top]: [f64; 2]) {
        let [width, height] = self.size;
        let area = Rectangle { left: left + self.aside()[0], top: top + self.above(), width, height };
        let view = View { area, x: self.x, y: self.y };
        let class = if self.series.iter().any(Series::scattered) { "view scattered" } else { "view" };
        let [x, y] = &self.names;
        let (numbers, title) = (view.numbers(), &self.title);
        let about = html!(
            "class=\"{class}\" data-view=\"{numbers}\" data-x=\"{x}\" data-y=\"{y}\" data-title=\"{title}\"";
            class, numbers, x, y, title
        );
        canvas.group(about, |canvas| {
            canvas.group(html!("class=\"ticks\""), |canvas| {
                view.ticks(canvas, &self.groups, x == "step", self.shades.is_empty());
            });
            canvas.clipped(area, |canvas| self.draw_inside(canvas, &view));
            self.name_marks(canvas, &view);
            view.frame(canvas, &self.names, self.aside()[0] - 10.0);
            let font = Font { size: LARGE, colour: INK, anchor: "start" };
            canvas.text([area.left, top + 14.0], &self.title, font);
            for shade in self.shades.iter().filter(|shade| shade.bar) {
                let bar = Rectangle { left: area.right() + 12.0, width: 10.0, ..area };
                colour_bar(canvas, bar, Axis::linear(shade.ends), shade.map);
            }
        });
    }

    fn draw_inside(&self, canvas: &mut Canvas, view: &View) {
        self.shades.iter().for_each(|shade| shade.draw(canvas, view));
        for contour in &self.contours {
            let path = line(contour.points.iter().map(|point| view.pixel(*point)), contour.closed);
            let faint = html!("class=\"contour\" stroke-opacity=\"0.55\" {}", stroke(SOFT, 0.8, false));
            canvas.path(path, faint);
        }
        for (at, _) in self.marks.iter().skip(1) {
            let x = pixels(view.pixel([*at, view.y.lo])[0]);
            let path = format!("M{x} {}L{x} {}", pixels(view.area.top), pixels(view.area.bottom()));
            canvas.path(path, html!("stroke=\"{}\" stroke-dasharray=\"2 3\"", SOFT.hex()));
        }
        // Under all lines, so that none of them is covered.
        self.series.iter().filter(|_| self.halo).for_each(|series| series.draw_halo(canvas, view));
        self.series.iter().for_each(|series| series.draw(canvas, view));
        for (number, rule) in self.rules.iter().enumerate() {
            draw_rule(canvas, view, rule, LINES[(2 + number) % LINES.len()]);
        }
    }

    /// Names of stretches that have room for them.
    fn name_marks(&self, canvas: &mut Canvas, view: &View) {
        let ends = self.marks.iter().skip(1).map(|(at, _)| *at).chain([self.x.hi]);
        for ((at, name), end) in self.marks.iter().zip(ends) {
            let [from, to] = [*at, end].map(|at| view.pixel([at, view.y.lo])[0].max(view.area.left));
            if to - from > 0.6 * SMALL * name.chars().count() as f64 {
                let font = Font { size: SMALL, colour: SOFT, anchor: "start" };
                canvas.text_with([from + 3.0, view.area.top - 8.0], name, font, html!(" class=\"mark\""));
            }
        }
    }
}

/// A broken line across the rectangle, with its name and height at the right.
fn draw_rule(canvas: &mut Canvas, view: &View, (at, name): &(f64, String), colour: Colour) {
    let area = view.area;
    let height = view.pixel([view.x.lo, *at])[1];
    let [left, right, y] = [area.left, area.right(), height].map(pixels);
    canvas.path(format!("M{left} {y}L{right} {y}"), stroke(colour, 1.4, true));
    let label = if height < area.top + 20.0 { height + 9.0 } else { height - 9.0 };
    let font = Font { size: SMALL, colour: SOFT, anchor: "end" };
    let under = html!(" class=\"rule\" stroke=\"{}\" stroke-width=\"3\" paint-order=\"stroke\"", WHITE.hex());
    canvas.text_with([area.right() - 6.0, label], &format!("{name} {}", in_print(*at, 5)), font, under);
}

impl Shade {
    /// All frames below each other, of which the last is seen. A node is the middle of a pixel, so the image is half a
    /// pixel larger on every side, and no pixel of another frame is seen.
    fn draw(&self, canvas: &mut Canvas, view: &View) {
        let area = view.rectangle(self.corners);
        let [frames, rows, columns] = self.shape;
        let step = |length: f64, nodes: usize| length / (nodes.max(2) - 1) as f64;
        let [dx, dy] = [step(area.width, columns), step(area.height, rows)];
        let height = dy * rows as f64;
        let place = Rectangle {
            left: area.left - dx / 2.0,
            top: area.bottom() + dy / 2.0 - frames as f64 * height,
            width: dx * columns as f64,
            height: frames as f64 * height,
        };
        let ends = Axis::linear(self.ends);
        let frames = self.values.chunks_exact(rows * columns);
        let downwards = frames.flat_map(|frame| frame.chunks_exact(columns).rev().flatten());
        let share = |value: &f64| if value.is_finite() { ends.share(*value) } else { f64::NAN };
        let shares: Vec<f64> = downwards.map(share).collect();
        let array = self.array.as_ref().map(|array| html!(" data-array=\"{}\"", array)).unwrap_or_default();
        let about = html!("opacity=\"{}\"{}", self.opacity.to_string(), array);
        canvas.image(place, &png::encode(columns, &shares, u8::MAX, self.map), about);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::colour::{grey, viridis};
    use crate::picture::series::Shape;

    fn plot() -> Plot {
        let axes = [Axis::linear((0.0, 1.0)), Axis::linear((0.0, 2.0))];
        Plot::new("a < b", ["step", "\"u\""], axes, [100.0, 200.0])
    }

    fn drawn(plot: &Plot) -> String {
        let mut canvas = Canvas::default();
        plot.draw(&mut canvas, [0.0; 2]);
        canvas.finish(plot.outer()).into_string()
    }

    fn shade(shape: [usize; 3], values: Vec<f64>) -> Shade {
        let corners = [[0.0, 0.0], [1.0, 2.0]];
        Shade { shape, values, corners, map: viridis, ends: (0.0, 1.0), opacity: 1.0, bar: true, array: None }
    }

    #[test]
    fn names_and_titles_are_escaped() {
        let svg = drawn(&plot());
        assert!(svg.contains(">a &lt; b</text>") && svg.contains(">&quot;u&quot;</text>"), "{svg}");
        assert!(svg.contains("data-view=\"72 28 100 200 0.0 1.0 0.0 2.0 0\""), "{svg}");
        assert_eq!(plot().outer(), [72.0 + 100.0 + 14.0, 28.0 + 200.0 + 42.0]);
    }

    /// Nodes at the ends are the middles of the outermost pixels: with 3 x 5 of them a pixel is 50 x 50.
    #[test]
    fn the_last_frame_of_a_field_covers_the_rectangle() {
        let svg = drawn(&Plot { shades: vec![shade([1, 5, 3], vec![0.5; 15])], ..plot() });
        assert!(svg.contains("<image x=\"25\" y=\"3\" width=\"150\" height=\"250\""), "{svg}");
        let svg = drawn(&Plot { shades: vec![shade([3, 5, 3], vec![0.5; 45])], ..plot() });
        assert!(svg.contains("<image x=\"25\" y=\"-497\" width=\"150\" height=\"750\""), "{svg}");
        assert_eq!(svg.matches("<image ").count(), 2, "the field and its bar");
    }

    #[test]
    fn a_background_shines_through() {
        let below = Shade { map: grey, bar: false, ..shade([1, 2, 2], vec![0.0, 1.0, f64::NAN, 0.5]) };
        let above = Shade { opacity: 0.5, ..shade([1, 2, 2], vec![0.0; 4]) };
        let svg = drawn(&Plot { shades: vec![below, above], ..plot() });
        assert_eq!((svg.matches("<image ").count(), svg.matches(" opacity=\"0.5\"").count()), (3, 1));
    }

    /// A field of one value, or of none, has a picture too.
    #[test]
    fn fields_without_a_range_are_drawn() {
        for (value, ends) in [(7.5, (7.5, 7.5)), (f64::NAN, (0.0, 0.0))] {
            let svg =
                drawn(&Plot { shades: vec![Shade { ends, ..shade([1, 2, 2], vec![value; 4]) }], ..plot() });
            assert_eq!(svg.contains(">7.5</text>"), value == 7.5, "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn rules_and_marks_have_names_where_there_is_room() {
        let marks = vec![(0.0, "pre-training".to_owned()), (0.9, "training".to_owned())];
        let svg = drawn(&Plot { rules: vec![(1.0, "truth".into())], marks, ..plot() });
        assert!(svg.contains(">truth 1</text>") && svg.contains("d=\"M72 144L172 144\""), "{svg}");
        assert!(svg.contains(">pre-training</text>") && !svg.contains(">training</text>"), "{svg}");
        assert!(svg.contains("d=\"M162 44L162 244\""), "{svg}");
    }

    #[test]
    fn white_lies_under_all_lines() {
        let series =
            |name| Series::new(name, LINES[0], vec![Shape::Line(vec![[0.0, 0.0], [1.0, 2.0]], false)]);
        let svg = drawn(&Plot { series: vec![series("a"), series("b")], halo: true, ..plot() });
        let last_white = svg.rfind("stroke=\"#ffffff\"").unwrap();
        assert!(
            svg.matches("stroke=\"#ffffff\"").count() == 2 && svg.find("data-name").unwrap() > last_white
        );
    }
}
