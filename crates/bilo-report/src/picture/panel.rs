//! One field, or several, over the same rectangle: grey background, colours, contours, axes.

use super::axes::{
    ABOVE, Axis, BELOW, LARGE, LEFT, LEGEND_LINE, RIGHT, SMALL, THIN, TICK, View, label, legend,
};
use super::colour::{Colour, INK, WHITE, grey, viridis};
use super::contour::contours;
use super::grid::Grid;
use super::png;
use super::svg::{Anchor, Canvas, Rectangle, Stroke, Text};
use crate::number::significant;

/// The longer side of the rectangle, in pixels of the drawing.
const LONGER_SIDE: f64 = 320.0;
/// Pixels of a raster image for each of the drawing.
const SHARPNESS: f64 = 2.0;
/// Room right of the rectangle for a colour bar.
const BAR_ROOM: f64 = 102.0;
const BAR_WIDTH: f64 = 12.0;
/// White around contours, which makes them readable on any background.
const HALO: Stroke = Stroke { colour: WHITE, width: 3.6, dashed: false };

/// A picture of fields over a rectangle.
#[derive(Clone, Debug)]
pub(crate) struct Panel<'a> {
    pub(crate) title: &'a str,
    /// Names of the axes.
    pub(crate) names: [&'a str; 2],
    /// Whether lengths along both axes are equal; else the rectangle is a square.
    pub(crate) to_scale: bool,
    /// In grey, from black at its least to white at its largest value; white where it has a hole.
    pub(crate) background: Option<Grid<'a>>,
    /// In colours over it; nothing where it has a hole.
    pub(crate) field: Option<Shade<'a>>,
    pub(crate) contours: Vec<Contours<'a>>,
}

/// A field in colours, with a bar that tells their values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shade<'a> {
    pub(crate) grid: Grid<'a>,
    pub(crate) name: &'a str,
    /// The values of the first and the last colour; those of the field if not given.
    pub(crate) range: Option<(f64, f64)>,
    /// From 0, invisible, to 1, which hides the background.
    pub(crate) opacity: f64,
}

/// Contours of a field at some levels.
#[derive(Clone, Debug)]
pub(crate) struct Contours<'a> {
    pub(crate) grid: Grid<'a>,
    pub(crate) levels: Vec<f64>,
    /// For the legend.
    pub(crate) name: &'a str,
    pub(crate) colour: Colour,
    pub(crate) dashed: bool,
}

/// Panels side by side, as a drawing in SVG.
pub(crate) fn row(panels: &[Panel<'_>]) -> String {
    let sizes: Vec<[f64; 2]> = panels.iter().map(Panel::size).collect();
    let width = sizes.iter().map(|size| size[0]).sum();
    let height = sizes.iter().map(|size| size[1]).fold(0.0, f64::max);
    let mut canvas = Canvas::new(width, height);
    let mut left = 0.0;
    for (panel, [width, _]) in panels.iter().zip(sizes) {
        panel.draw(&mut canvas, left);
        left += width;
    }
    canvas.finish()
}

impl Panel<'_> {
    /// The ends of both axes: those that hold every field.
    fn ends(&self) -> [(f64, f64); 2] {
        let fields = self.background.iter().chain(self.field.iter().map(|field| &field.grid));
        let fields = fields.chain(self.contours.iter().map(|contours| &contours.grid));
        let outermost = |ends: Option<[(f64, f64); 2]>, grid: &Grid<'_>| {
            let own = [grid.x(), grid.y()].map(|axis| (axis[0], axis[axis.len() - 1]));
            let Some(ends) = ends else { return Some(own) };
            Some([0, 1].map(|a| (own[a].0.min(ends[a].0), own[a].1.max(ends[a].1))))
        };
        fields.fold(None, outermost).unwrap_or([(0.0, 1.0); 2])
    }

    /// Where the fields are drawn, and what of them, if the panel begins at `left`.
    fn view(&self, left: f64) -> View {
        let [x, y] = self.ends();
        let lengths = if self.to_scale { [x.1 - x.0, y.1 - y.0] } else { [1.0; 2] };
        let scale = LONGER_SIDE / lengths[0].max(lengths[1]);
        let [width, height] = lengths.map(|length| scale * length);
        let area = Rectangle { left: left + LEFT, top: ABOVE, width, height };
        View { area, x: Axis::linear(x), y: Axis::linear(y) }
    }

    fn size(&self) -> [f64; 2] {
        let area = self.view(0.0).area;
        let right = if self.field.is_some() { BAR_ROOM } else { RIGHT };
        [area.right() + right, area.bottom() + BELOW + LEGEND_LINE * self.contours.len() as f64]
    }

    fn draw(&self, canvas: &mut Canvas, left: f64) {
        let view = self.view(left);
        if self.background.is_some() || self.field.is_some() {
            let [width, _] = raster_size(view.area);
            canvas.image(view.area, &png::encode(width, &self.pixels(&view)));
        }
        // Under all lines, so that none of them is covered.
        for contours in &self.contours {
            contours.draw(canvas, &view, HALO);
        }
        for contours in &self.contours {
            contours.draw(canvas, &view, contours.stroke());
        }
        view.ticks_of_x(canvas);
        view.ticks_of_y(canvas);
        view.frame(canvas, self.names, self.title);
        if let Some(field) = &self.field {
            field.bar(canvas, view.area);
        }
        for (line, contours) in self.contours.iter().enumerate() {
            let y = view.area.bottom() + BELOW + LEGEND_LINE * (line as f64 + 0.5);
            legend(canvas, [view.area.left, y], contours.stroke(), contours.name);
        }
    }

    /// Background and colours as one image, by rows from the top.
    fn pixels(&self, view: &View) -> Vec<Colour> {
        let [width, height] = raster_size(view.area);
        let behind = self.background.as_ref().map(|grid| (grid, grid.range().unwrap_or((0.0, 1.0))));
        let field = self.field.as_ref().map(|field| (field, field.ends()));
        let mut pixels = Vec::with_capacity(width * height);
        for row in 0..height {
            let y = view.y.hi - (row as f64 + 0.5) / height as f64 * (view.y.hi - view.y.lo);
            for column in 0..width {
                let x = view.x.lo + (column as f64 + 0.5) / width as f64 * (view.x.hi - view.x.lo);
                let below = behind.and_then(|(grid, ends)| Some(grey(share(grid.sample(x, y), ends)?)));
                let below = below.unwrap_or(WHITE);
                let above = field.and_then(|(field, ends)| {
                    Some(viridis(share(field.grid.sample(x, y), ends)?).over(below, field.opacity))
                });
                pixels.push(above.unwrap_or(below));
            }
        }
        pixels
    }
}

impl Shade<'_> {
    /// The values of the first and the last colour.
    fn ends(&self) -> (f64, f64) {
        self.range.or_else(|| self.grid.range()).unwrap_or((0.0, 1.0))
    }

    /// The colours as they are on white, with their values.
    fn bar(&self, canvas: &mut Canvas, area: Rectangle) {
        let bar = Rectangle { left: area.right() + RIGHT, width: BAR_WIDTH, ..area };
        let [width, height] = raster_size(bar);
        let shade = |pixel: usize| {
            let up = height - 1 - pixel / width;
            viridis((up as f64 + 0.5) / height as f64).over(WHITE, self.opacity)
        };
        canvas.image(bar, &png::encode(width, &(0..width * height).map(shade).collect::<Vec<_>>()));
        canvas.outline(bar, THIN);
        let (lo, hi) = self.ends();
        // All of one value: that stands in the middle.
        let single = if lo == hi { vec![lo] } else { vec![] };
        let mut longest = 0;
        for value in Axis::linear((lo, hi)).ticks(area.height).into_iter().chain(single) {
            let text = significant(value);
            longest = longest.max(text.len());
            let y = bar.bottom() - share(value, (lo, hi)).unwrap_or(0.5) * bar.height;
            canvas.polyline(&[[bar.right(), y], [bar.right() + TICK, y]], false, THIN);
            canvas.text([bar.right() + TICK + 3.0, y], label(&text, Anchor::Start), INK);
        }
        let name = Text { content: self.name, size: LARGE, anchor: Anchor::Middle, upright: true };
        // Digits are about 0.6 of their size wide.
        let beyond = bar.right() + TICK + 0.6 * SMALL * longest as f64 + 16.0;
        canvas.text([beyond, area.top + area.height / 2.0], name, INK);
    }
}

impl Contours<'_> {
    fn stroke(&self) -> Stroke {
        Stroke { colour: self.colour, width: 1.6, dashed: self.dashed }
    }

    fn draw(&self, canvas: &mut Canvas, view: &View, stroke: Stroke) {
        for line in self.levels.iter().flat_map(|&level| contours(&self.grid, level)) {
            let points: Vec<[f64; 2]> = line.points.into_iter().map(|point| view.pixel(point)).collect();
            canvas.polyline(&points, line.closed, stroke);
        }
    }
}

/// Columns and rows of an image over an area.
fn raster_size(area: Rectangle) -> [usize; 2] {
    [area.width, area.height].map(|side| (SHARPNESS * side).round().max(1.0) as usize)
}

/// How far a value is from the first to the second end; the middle if they are one. None for a hole.
fn share(value: f64, (lo, hi): (f64, f64)) -> Option<f64> {
    let share = if lo == hi { 0.5 } else { (value - lo) / (hi - lo) };
    value.is_finite().then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::colour::LINES;

    fn axis(lo: f64, hi: f64, nodes: usize) -> Vec<f64> {
        (0..nodes).map(|i| lo + (hi - lo) * i as f64 / (nodes - 1) as f64).collect()
    }

    fn values(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        x.iter().flat_map(|&x| y.iter().map(move |&y| (x, y))).map(|(x, y)| f(x, y)).collect()
    }

    /// Everything at once, on [0, 2] x [0, 1], and a panel of contours alone.
    fn example() -> String {
        let (x, y) = (axis(0.0, 2.0, 81), axis(0.0, 1.0, 41));
        let r = |x: f64, y: f64| (x - 0.9).hypot(y - 0.45);
        let tissue = values(&x, &y, |x, y| 0.5 + 0.3 * (9.0 * x).sin() * (7.0 * y).cos());
        let hole = |x: f64, y: f64| if r(x, y) < 0.45 { (-12.0 * r(x, y).powi(2)).exp() } else { f64::NAN };
        let (seen, bell) = (values(&x, &y, hole), values(&x, &y, |x, y| (-12.0 * r(x, y).powi(2)).exp()));
        let skewed = values(&x, &y, |x, y| (-14.0 * r(x, 1.1 * y).powi(2)).exp());
        let grid = |values| Grid::new(&x, &y, values);
        let contours = |name, values, number: usize, dashed| Contours {
            grid: grid(values),
            levels: vec![0.25, 0.6],
            name,
            colour: LINES[number],
            dashed,
        };
        let all = vec![contours("segmented", &bell, 0, false), contours("found <&>", &skewed, 1, true)];
        let (names, to_scale) = (["x", "y"], true);
        let field = Shade { grid: grid(&seen), name: "u", range: Some((0.0, 1.0)), opacity: 0.6 };
        let background = Some(grid(&tissue));
        row(&[
            Panel {
                title: "a < b & c",
                names,
                to_scale,
                background,
                field: Some(field),
                contours: all.clone(),
            },
            Panel { title: "contours", names, to_scale, background: None, field: None, contours: all },
        ])
    }

    /// The numbers of an attribute's value, in order.
    fn numbers(text: &str) -> Vec<f64> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-')
            .filter_map(|n| n.parse().ok())
            .collect()
    }

    #[test]
    fn a_drawing_has_images_lines_and_escaped_text() {
        let svg = example();
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" ") && svg.ends_with("</svg>\n"));
        let count = |what: &str| svg.matches(what).count();
        assert_eq!(count("<image "), 2, "the field and its bar");
        assert_eq!(count("<text "), count("</text>"));
        assert!(svg.contains(">a &lt; b &amp; c</text>") && svg.contains(">found &lt;&amp;&gt;</text>"));
        // Two panels with two fields at two levels each, all closed and with a halo; samples of dashed lines in both
        // legends.
        assert_eq!(count("Z\" fill"), 2 * 8);
        assert_eq!(count("stroke-dasharray"), 4 + 2);
        assert!(svg.contains(&LINES[0].hex()) && svg.contains(&LINES[1].hex()));
        for tick in ["0", "0.5", "1", "1.5", "2"] {
            assert!(svg.contains(&format!(">{tick}</text>")), "{tick}");
        }
    }

    /// [0, 2] x [0, 1] is 320 x 160 pixels, and the circle of level 0.6 lies around (0.9, 0.45) with its radius.
    #[test]
    fn lengths_are_equal_along_both_axes() {
        let svg = example();
        let frame = svg.lines().find(|line| line.starts_with("<rect x=")).expect("a frame");
        assert!(frame.contains("width=\"320\" height=\"160\""), "{frame}");
        let circle = svg.lines().filter(|line| line.contains("Z\" fill")).nth(1).expect("a contour");
        let path = circle.split('"').nth(1).expect("its points");
        let radius = 160.0 * (-0.6_f64.ln() / 12.0).sqrt();
        for point in numbers(path).chunks_exact(2) {
            let [x, y] = [point[0] - (LEFT + 160.0 * 0.9), point[1] - (ABOVE + 160.0 * 0.55)];
            // Linear interpolation on cells of 4 pixels, and rounding to hundredths.
            assert!((x.hypot(y) - radius).abs() < 0.1, "{point:?}");
        }
    }

    /// From the upper left corner by rows: grey from black to white upwards, half covered but in the hole.
    #[test]
    fn colours_lie_over_the_background() {
        let (x, y) = ([0.0, 1.0], [0.0, 1.0, 2.0]);
        let rising = values(&x, &y, |_, y| y);
        let hole = values(&x, &y, |x, _| if x > 0.5 { f64::NAN } else { 3.0 });
        let shade =
            Shade { grid: Grid::new(&x, &y, &hole), name: "u", range: Some((2.0, 3.0)), opacity: 0.5 };
        let background = Some(Grid::new(&x, &y, &rising));
        let panel = Panel {
            title: "",
            names: [""; 2],
            to_scale: true,
            background,
            field: Some(shade),
            contours: vec![],
        };
        let view = panel.view(0.0);
        let [width, height] = raster_size(view.area);
        assert_eq!([width, height], [320, 640]);
        let pixels = panel.pixels(&view);
        let bright = grey(1.0 - 0.5 / height as f64);
        assert_eq!(pixels[width - 1], bright, "a hole at the right");
        assert_eq!(pixels[0], viridis(1.0).over(bright, 0.5));
        assert_eq!(pixels[(height - 1) * width + width - 1], grey(0.5 / height as f64));
    }

    /// A field of one value, or of none, has a picture too.
    #[test]
    fn fields_without_a_range_are_drawn() {
        let axis = [0.0, 1.0];
        for value in [7.5, f64::NAN] {
            let all = [value; 4];
            let grid = Grid::new(&axis, &axis, &all);
            let field = Some(Shade { grid, name: "u", range: None, opacity: 1.0 });
            let svg = row(&[Panel {
                title: "",
                names: [""; 2],
                to_scale: true,
                background: Some(grid),
                field,
                contours: vec![],
            }]);
            assert_eq!(svg.contains(">7.5</text>"), value == 7.5);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
