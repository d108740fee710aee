//! Curves, points, bands and bars, as one thing with a name and a colour.

use super::axes::{Axis, SMALL, View};
use super::colour::{Colour, WHITE};
use super::svg::{Canvas, Font, Rectangle, line};
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

/// Curves of so few points show them; from so many on, points let each other be seen.
const FEW: usize = 40;
const MANY: usize = 200;

impl Series {
    /// Shapes in whole lines of usual width.
    pub(crate) fn new(name: impl Into<String>, colour: Colour, shapes: Vec<Shape>) -> Series {
        Series { name: name.into(), colour, shapes, width: 1.8, dashed: false, array: None }
    }

    /// A curve through points.
    pub(crate) fn curve(name: &str, colour: Colour, x: &[f64], y: &[f64]) -> Series {
        let points = joined(x, y);
        let dots = (points.len() <= FEW).then(|| Shape::Dots(points.clone(), 2.4));
        Series::new(name, colour, [Shape::Line(points, false)].into_iter().chain(dots).collect())
    }

    /// Points without lines between them.
    pub(crate) fn scatter(name: &str, colour: Colour, x: &[f64], y: &[f64]) -> Series {
        Series::new(name, colour, vec![Shape::Dots(joined(x, y), 2.2)])
    }

    /// A series whose lines are broken.
    pub(crate) fn dashed(self) -> Series {
        Series { dashed: true, ..self }
    }

    /// All points that it is made of.
    pub(crate) fn points(&self) -> Vec<[f64; 2]> {
        let of = |shape: &Shape| match shape {
            Shape::Line(points, _) | Shape::Dots(points, _) => points.clone(),
            Shape::Ring(point, _) | Shape::Word(point, _) => vec![*point],
            Shape::Band(above, below) => [above.as_slice(), below].concat(),
            Shape::Bars(bars) => bars.concat(),
        };
        self.shapes.iter().flat_map(of).collect()
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
        let under = Series { width: self.width + 2.0, ..Series::new("", WHITE, vec![]) };
        let lines = self.shapes.iter().filter(|shape| matches!(shape, Shape::Line(..)));
        lines.for_each(|shape| under.draw_shape(canvas, view, shape));
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
            Shape::Dots(points, radius) => {
                let (width, opacity) = (2.0 * radius, if points.len() > MANY { 0.5 } else { 1.0 });
                let [width, opacity] = [width, opacity].map(|number| number.to_string());
                let about = html!(
                    "stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linecap=\"round\" stroke-opacity=\"{opacity}\"";
                    colour, width, opacity
                );
                canvas.path(dots(&pixels(points)), about);
            }
            Shape::Ring(point, radius) => {
                canvas.circle(view.pixel(*point), *radius, stroke(self.colour, 2.0, false));
            }
            Shape::Band(above, below) => {
                let outline = pixels(above).into_iter().chain(pixels(below).into_iter().rev());
                let about = html!("class=\"band\" fill=\"{}\" fill-opacity=\"0.2\"", colour);
                canvas.path(line(outline, true), about);
            }
            Shape::Bars(bars) => {
                for corners in bars {
                    canvas.rectangle(view.rectangle(*corners), html!("fill=\"{}\"", &colour));
                }
            }
            Shape::Word(point, word) => {
                let [x, y] = view.pixel(*point);
                let font = Font { size: SMALL, colour: self.colour, anchor: "middle" };
                canvas.text([x, y - SMALL / 2.0], word, font);
            }
        }
    }

    /// What stands before the name in a legend, 22 pixels wide.
    pub(crate) fn sample(&self, canvas: &mut Canvas, [x, y]: [f64; 2]) {
        let area = Rectangle { left: x, top: y - 5.0, width: 22.0, height: 10.0 };
        let [x, y] = [Axis::linear((0.0, 1.0)); 2];
        let shape = match self.shapes.last() {
            Some(Shape::Bars(_)) => Shape::Bars(vec![[[0.0; 2], [1.0; 2]]]),
            Some(Shape::Ring(..)) => Shape::Ring([0.5; 2], 4.0),
            Some(Shape::Dots(..)) if self.shapes.len() == 1 => Shape::Dots(vec![[0.5; 2]], 4.0),
            _ => Shape::Line(vec![[0.0, 0.5], [1.0, 0.5]], false),
        };
        self.draw_shape(canvas, &View { area, x, y }, &shape);
    }
}

/// Points of two coordinates.
pub(crate) fn joined(x: &[f64], y: &[f64]) -> Vec<[f64; 2]> {
    x.iter().zip(y).map(|(x, y)| [*x, *y]).collect()
}

/// How a line is drawn.
pub(crate) fn stroke(colour: Colour, width: f64, dashed: bool) -> Html {
    let dash = if dashed { html!(" stroke-dasharray=\"6 4\"") } else { Html::default() };
    let width = format!("{width:.1}");
    let colour = colour.hex();
    html!(
        "fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dash}";
        colour, width, dash
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
    use crate::picture::colour::LINES;

    const UNIT: Axis = Axis { lo: 0.0, hi: 1.0, logarithmic: false };

    /// What is drawn of shapes over [0, 1] and an axis, on 100 x 100 pixels, in dashes.
    fn drawn(shape: Shape, y: Axis) -> String {
        let area = Rectangle { left: 0.0, top: 0.0, width: 100.0, height: 100.0 };
        let mut canvas = Canvas::default();
        series(vec![shape]).dashed().draw(&mut canvas, &View { area, x: UNIT, y });
        canvas.finish([100.0; 2]).into_string()
    }

    fn series(shapes: Vec<Shape>) -> Series {
        Series::new("<u>", LINES[1], shapes)
    }

    #[test]
    fn shapes_stand_where_their_numbers_are() {
        let points = vec![[0.0, 0.0], [0.25, 0.5], [1.0, 1.0]];
        let svg = drawn(Shape::Line(points.clone(), false), UNIT);
        assert!(svg.contains("d=\"M0 100L25 50L100 0\"") && svg.contains("stroke-dasharray"), "{svg}");
        assert!(svg.contains("data-name=\"&lt;u&gt;\""), "{svg}");
        let svg = drawn(Shape::Dots(points, 2.0), UNIT);
        assert!(
            svg.contains("d=\"M0 100h0M25 50h0M100 0h0\"") && svg.contains("stroke-width=\"4\""),
            "{svg}"
        );
        let svg = drawn(Shape::Bars(vec![[[0.1, 0.0], [0.3, 0.4]]]), UNIT);
        assert!(svg.contains("<rect x=\"10\" y=\"60\" width=\"20\" height=\"40\""), "{svg}");
        let svg = drawn(Shape::Band(vec![[0.0, 0.6], [1.0, 0.7]], vec![[0.0, 0.4], [1.0, 0.3]]), UNIT);
        assert!(svg.contains("d=\"M0 40L100 30L100 70L0 60Z\""), "{svg}");
    }

    #[test]
    fn what_has_no_logarithm_is_left_out() {
        let points = vec![[0.0, 1.0], [0.5, 0.0], [0.75, -1.0], [1.0, 0.1]];
        let svg = drawn(Shape::Line(points, false), Axis { lo: 0.01, hi: 1.0, logarithmic: true });
        assert!(svg.contains("d=\"M0 0M100 50\""), "{svg}");
    }

    #[test]
    fn paths_and_points_are_scattered() {
        let line = |points: &[[f64; 2]]| series(vec![Shape::Line(points.to_vec(), false)]).scattered();
        assert!(!line(&[[0.0, 1.0], [1.0, 0.0]]) && line(&[[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]));
        assert!(series(vec![Shape::Dots(vec![[0.0; 2]; 2], 1.0)]).scattered());
    }
}
