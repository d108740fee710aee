//! Curves, points, bands and bars, as one thing with a name and a colour.

use super::axes::{SMALL, View};
use super::colour::{Colour, WHITE};
use super::svg::{Anchor, Canvas, Font, Rectangle, line};
use crate::markup::{Html, html};

/// Shapes that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// For the legend; nameless series are not in it.
    pub(crate) name: String,
    pub(crate) colour: Colour,
    pub(crate) shapes: Vec<Shape>,
    /// Width of lines.
    pub(crate) width: f64,
    pub(crate) dashed: bool,
    /// The array of a page that has the heights of its line at all frames.
    pub(crate) array: Option<String>,
}

/// What can be drawn, in the numbers of the axes.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Points that are joined, back to the first if closed.
    Line(Vec<[f64; 2]>, bool),
    /// Points of this radius.
    Dots(Vec<[f64; 2]>, f64),
    /// A circle of this radius that hides nothing: where a path should end.
    Ring([f64; 2], f64),
    /// What is between an upper and a lower line.
    Band(Vec<[f64; 2]>, Vec<[f64; 2]>),
    /// Rectangles between two corners.
    Bars(Vec<[[f64; 2]; 2]>),
    /// A word above a point.
    Word([f64; 2], &'static str),
}

/// From so many points on, they let each other be seen.
const MANY: usize = 200;

impl Series {
    /// Shapes in whole lines of usual width.
    pub(crate) fn new(name: impl Into<String>, colour: Colour, shapes: Vec<Shape>) -> Series {
        Series { name: name.into(), colour, shapes, width: 1.8, dashed: false, array: None }
    }

    /// Whether points lie anywhere in the plane, not one above each number of x.
    pub(crate) fn scattered(&self) -> bool {
        self.shapes.iter().any(|shape| match shape {
            Shape::Dots(points, _) => self.shapes.len() == 1 && points.len() > 1,
            Shape::Line(points, _) => points.windows(2).any(|pair| pair[1][0] < pair[0][0]),
            Shape::Ring(..) => true,
            _ => false,
        })
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas, view: &View) {
        let array = self.array.as_ref().map(|array| html!(" data-array=\"{}\"", array)).unwrap_or_default();
        canvas.group(html!("class=\"series\" data-name=\"{}\"{}", &self.name, array), |canvas| {
            self.shapes.iter().for_each(|shape| self.draw_shape(canvas, view, shape));
        });
    }

    /// White under lines, which makes them readable on anything.
    pub(crate) fn draw_halo(&self, canvas: &mut Canvas, view: &View) {
        for shape in &self.shapes {
            if let Shape::Line(points, closed) = shape {
                let path = line(points.iter().map(|point| view.pixel(*point)), *closed);
                canvas.path(path, stroke(WHITE, self.width + 2.0, false));
            }
        }
    }

    fn draw_shape(&self, canvas: &mut Canvas, view: &View, shape: &Shape) {
        let colour = self.colour.hex();
        let pixels = |points: &[[f64; 2]]| -> Vec<[f64; 2]> {
            points.iter().map(|point| view.pixel(*point)).collect()
        };
        match shape {
            Shape::Line(points, closed) => {
                let path = line(pixels(points).into_iter(), *closed);
                canvas.path(path, stroke(self.colour, self.width, self.dashed));
            }
            Shape::Dots(points, radius) if points.len() == 1 => {
                canvas.circle(view.pixel(points[0]), *radius, html!("fill=\"{}\"", colour));
            }
            Shape::Dots(points, radius) => {
                let opacity =
                    if points.len() > MANY { html!(" stroke-opacity=\"0.5\"") } else { Html::default() };
                canvas.path(
                    dots(&pixels(points)),
                    html!(
                        "stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\"{}",
                        colour,
                        (2.0 * radius).to_string(),
                        opacity
                    ),
                );
            }
            Shape::Ring(point, radius) => canvas.circle(
                view.pixel(*point),
                *radius,
                html!("fill=\"none\" stroke=\"{}\" stroke-width=\"2\"", colour),
            ),
            Shape::Band(above, below) => {
                let outline = pixels(above).into_iter().chain(pixels(below).into_iter().rev());
                canvas.path(
                    line(outline, true),
                    html!("class=\"band\" fill=\"{}\" fill-opacity=\"0.2\"", colour),
                );
            }
            Shape::Bars(bars) => {
                for corners in bars {
                    canvas.rectangle(view.rectangle(*corners), html!("fill=\"{}\"", &colour));
                }
            }
            Shape::Word(point, word) => {
                let [x, y] = view.pixel(*point);
                let font = Font { size: SMALL, colour: self.colour, anchor: Anchor::Middle };
                canvas.text([x, y - SMALL / 2.0], word, font);
            }
        }
    }

    /// What stands before the name in a legend, 22 pixels wide.
    pub(crate) fn sample(&self, canvas: &mut Canvas, [x, y]: [f64; 2]) {
        let colour = self.colour.hex();
        match self.shapes.last() {
            Some(Shape::Bars(_)) => {
                let area = Rectangle { left: x, top: y - 5.0, width: 22.0, height: 10.0 };
                canvas.rectangle(area, html!("fill=\"{}\"", colour));
            }
            Some(Shape::Ring(..)) => {
                canvas.circle(
                    [x + 11.0, y],
                    4.0,
                    html!("fill=\"none\" stroke=\"{}\" stroke-width=\"2\"", colour),
                );
            }
            Some(Shape::Dots(..)) if self.shapes.len() == 1 => {
                canvas.circle([x + 11.0, y], 4.0, html!("fill=\"{}\"", colour));
            }
            _ => {
                let ends = [[x, y], [x + 22.0, y]];
                canvas.path(line(ends.into_iter(), false), stroke(self.colour, 2.0, self.dashed));
            }
        }
    }
}

/// How a line is drawn.
pub(crate) fn stroke(colour: Colour, width: f64, dashed: bool) -> Html {
    let dash = if dashed { html!(" stroke-dasharray=\"6 4\"") } else { Html::default() };
    let width = format!("{width:.1}");
    html!(
        "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{}",
        colour.hex(),
        width,
        dash
    )
}

/// Lines of no length, whose round ends are dots.
fn dots(points: &[[f64; 2]]) -> String {
    let dot = |point: &[f64; 2]| match line([*point].into_iter(), false) {
        place if place.is_empty() => place,
        place => place + "h0",
    };
    points.iter().map(dot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::axes::Axis;
    use crate::picture::colour::LINES;

    /// What is drawn of a series over [0, 1] x [0, 1], on 100 x 100 pixels.
    fn drawn(series: &Series) -> String {
        let area = Rectangle { left: 0.0, top: 0.0, width: 100.0, height: 100.0 };
        let view = View { area, x: Axis::linear((0.0, 1.0)), y: Axis::linear((0.0, 1.0)) };
        let mut canvas = Canvas::default();
        series.draw(&mut canvas, &view);
        canvas.finish([100.0; 2]).into_string()
    }

    fn series(shapes: Vec<Shape>) -> Series {
        Series::new("<u>", LINES[1], shapes)
    }

    #[test]
    fn shapes_stand_where_their_numbers_are() {
        let points = vec![[0.0, 0.0], [0.25, 0.5], [1.0, 1.0]];
        let dashed = Series { dashed: true, ..series(vec![Shape::Line(points.clone(), false)]) };
        let svg = drawn(&dashed);
        assert!(svg.contains("d=\"M0 100L25 50L100 0\"") && svg.contains("stroke-dasharray"), "{svg}");
        assert!(svg.contains("data-name=\"&lt;u&gt;\""), "{svg}");
        let svg = drawn(&series(vec![Shape::Dots(points.clone(), 2.0)]));
        assert!(
            svg.contains("d=\"M0 100h0M25 50h0M100 0h0\"") && svg.contains("stroke-width=\"4\""),
            "{svg}"
        );
        let svg = drawn(&series(vec![Shape::Bars(vec![[[0.1, 0.0], [0.3, 0.4]]])]));
        assert!(svg.contains("<rect x=\"10\" y=\"60\" width=\"20\" height=\"40\""), "{svg}");
        let above = vec![[0.0, 0.6], [1.0, 0.7]];
        let svg = drawn(&series(vec![Shape::Band(above, vec![[0.0, 0.4], [1.0, 0.3]])]));
        assert!(svg.contains("d=\"M0 40L100 30L100 70L0 60Z\""), "{svg}");
    }

    #[test]
    fn what_has_no_logarithm_is_left_out() {
        let area = Rectangle { left: 0.0, top: 0.0, width: 100.0, height: 100.0 };
        let y = Axis { lo: 0.01, hi: 1.0, logarithmic: true };
        let view = View { area, x: Axis::linear((0.0, 1.0)), y };
        let mut canvas = Canvas::default();
        let points = vec![[0.0, 1.0], [0.5, 0.0], [0.75, -1.0], [1.0, 0.1]];
        series(vec![Shape::Line(points, false)]).draw(&mut canvas, &view);
        let svg = canvas.finish([100.0; 2]).into_string();
        assert!(svg.contains("d=\"M0 0M100 50\""), "{svg}");
    }

    #[test]
    fn paths_and_points_are_scattered() {
        let line = |points: &[[f64; 2]]| series(vec![Shape::Line(points.to_vec(), false)]).scattered();
        assert!(!line(&[[0.0, 1.0], [1.0, 0.0]]) && line(&[[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]));
        assert!(series(vec![Shape::Dots(vec![[0.0; 2]; 2], 1.0)]).scattered());
    }
}
