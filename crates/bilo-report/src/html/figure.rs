//! Figures of a page: drawings, and the arrays that a script reads values and other frames from.

use super::block::{Axis as Nodes, Block};
use crate::markup::{Html, html};
use crate::picture::axes::Axis;
use crate::picture::colour::{LINES, diverging, viridis};
use crate::picture::contour::Polyline;
use crate::picture::plot::{ASIDE, ASIDE_FIELD, Plot, Shade};
use crate::picture::series::{Series, Shape};
use crate::picture::sheet::sheet;
use serde_json::{Map, Value, json};

/// Width of a figure that has a row of the page, and of one that shares it.
const WHOLE: f64 = 976.0;
const HALF: f64 = 472.0;
/// Height of a rectangle with curves.
const HEIGHT: f64 = 270.0;
/// Most fields in a row, and the longest side of one.
const ABREAST: usize = 3;
const LONGEST_SIDE: f64 = 320.0;
/// Curves of so few points show them.
const FEW: usize = 40;

/// What all figures of a page have in common.
#[derive(Default)]
pub(super) struct Figures {
    /// The coordinate that is no length.
    time: Option<String>,
    count: usize,
    arrays: Map<String, Value>,
    axes: Vec<Value>,
    /// Arrays that are one minus another, with the names of both.
    derived: Vec<(Block, String)>,
}

/// A curve, a path or a set of points.
pub(super) struct Curve {
    pub(super) name: String,
    /// Colour among those of lines; curves of the same thing have the same colour in all figures.
    pub(super) colour: usize,
    pub(super) dashed: bool,
    /// Points without lines between them.
    pub(super) points: bool,
    pub(super) x: Vec<f64>,
    pub(super) y: Ordinates,
    /// How far a band reaches to both sides of a curve; empty without one.
    pub(super) band: Vec<f64>,
}

/// The heights of a curve.
pub(super) enum Ordinates {
    Fixed(Vec<f64>),
    /// An array over (frame, x): one curve for every place of the slider.
    Moving(Block),
}

/// Curves in one rectangle.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) title: String,
    pub(super) names: [String; 2],
    pub(super) logarithmic: bool,
    pub(super) curves: Vec<Curve>,
    /// Heights worth comparing with.
    pub(super) rules: Vec<(f64, String)>,
    /// Where something begins.
    pub(super) marks: Vec<(f64, String)>,
    pub(super) bars: bool,
    /// Lines of equal height of what a path leads through.
    pub(super) contours: Vec<Polyline>,
    /// Whether it shares a row of the page.
    pub(super) half: bool,
}

/// A field in colours.
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) block: Block,
    pub(super) scale: Scale,
}

/// How numbers become colours.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// Between two ends.
    Values(f64, f64),
    /// Around zero, as far as 99 of 100 values.
    Differences,
}

impl Figures {
    /// No figures yet, of a problem with this time.
    pub(super) fn new(time: Option<&str>) -> Figures {
        Figures { time: time.map(str::to_owned), ..Figures::default() }
    }

    /// A figure with curves.
    pub(super) fn lines(&mut self, lines: Lines, caption: impl Into<Html>) -> Html {
        let width = if lines.half { HALF } else { WHOLE };
        let axes = lines.ends();
        let [x, y] = &lines.names;
        let mut plot = Plot::new("", [x, y], axes, [width - ASIDE.iter().sum::<f64>(), HEIGHT]);
        let alone = lines.curves.len() == 1;
        let mut frames = None;
        for curve in lines.curves {
            let array = match &curve.y {
                Ordinates::Fixed(_) => None,
                Ordinates::Moving(block) => {
                    frames = Some(self.axis(&block.axes[0]));
                    Some(self.array(block))
                }
            };
            // The title says what is alone.
            let name = if alone { String::new() } else { curve.name.clone() };
            let shapes = if lines.bars { vec![curve.bars()] } else { curve.shapes() };
            let dashed = curve.dashed && !curve.points;
            let series = Series::new(name, LINES[curve.colour % LINES.len()], shapes);
            plot.series.push(Series { dashed, array, ..series });
        }
        let plot = Plot { contours: lines.contours, rules: lines.rules, marks: lines.marks, ..plot };
        self.push(&lines.title, sheet(&[plot], 1), frames, caption.into())
    }

    /// A row of fields over the same two axes, and over frames if there is a third.
    pub(super) fn maps(&mut self, title: &str, panels: Vec<Panel>, caption: impl Into<Html>) -> Html {
        let Some(first) = panels.first() else { return Html::default() };
        let [.., y, x] = first.block.axes.as_slice() else { return Html::default() };
        let abreast = panels.len().min(ABREAST);
        let side = (WHOLE / abreast.max(2) as f64 - ASIDE_FIELD.iter().sum::<f64>()).min(LONGEST_SIDE);
        // Lengths are equal along both axes unless one is time, or the picture would be a strip.
        let ratio = y.length() / x.length();
        let to_scale = self.time.as_ref() != Some(&y.name) && (0.4..2.0).contains(&ratio);
        let size = [side, if to_scale { side * ratio } else { 0.92 * side }];
        let frames = (first.block.axes.len() == 3).then(|| self.axis(&first.block.axes[0]));
        let plots: Vec<Plot> = panels.into_iter().map(|panel| self.panel(panel, size)).collect();
        self.push(title, sheet(&plots, abreast), frames, caption.into())
    }

    fn panel(&mut self, panel: Panel, size: [f64; 2]) -> Plot {
        let (map, ends): (fn(f64) -> _, _) = match panel.scale {
            Scale::Values(lo, hi) => (viridis, (lo, hi)),
            Scale::Differences => {
                let size = panel.block.usual_size();
                (diverging, (-size, size))
            }
        };
        let array = Some(self.array(&panel.block));
        let Block { axes, values } = panel.block;
        let (y, x) = (&axes[axes.len() - 2], &axes[axes.len() - 1]);
        let frames = values.len() / (x.nodes.len() * y.nodes.len());
        let [left, bottom] = [x, y].map(|axis| axis.nodes[0]);
        let shade = Shade {
            shape: [frames, y.nodes.len(), x.nodes.len()],
            values,
            corners: [[left, bottom], [left + x.length(), bottom + y.length()]],
            map,
            ends,
            opacity: 1.0,
            bar: true,
            array,
        };
        let ends = [(left, left + x.length()), (bottom, bottom + y.length())].map(Axis::linear);
        Plot { shades: vec![shade], ..Plot::new(&panel.title, [&x.name, &y.name], ends, size) }
    }

    /// Where two arrays are shown beside their difference, the page keeps the first and the difference alone: small
    /// differences of rounded numbers would be lost.
    pub(super) fn compare(&mut self, first: &Block, second: &Block, difference: &Block) {
        let names = format!("{} {}", self.array(first), self.array(difference));
        self.derived.push((second.clone(), names));
    }

    /// Keeps an array once, however many figures show it.
    fn array(&mut self, block: &Block) -> String {
        if let Some((_, names)) = self.derived.iter().find(|(other, _)| other == block) {
            return names.clone();
        }
        let axes: Vec<usize> = block.axes.iter().map(|axis| self.axis(axis)).collect();
        let packed = block.packed(axes);
        if let Some((name, _)) = self.arrays.iter().find(|(_, other)| **other == packed) {
            return name.clone();
        }
        let name = format!("a{}", self.arrays.len());
        self.arrays.insert(name.clone(), packed);
        name
    }

    /// Keeps an axis once, and says which it is.
    fn axis(&mut self, axis: &Nodes) -> usize {
        let nodes: Vec<Value> = axis.nodes.iter().map(|node| rounded(*node)).collect();
        let axis = json!({ "name": axis.name, "nodes": nodes });
        self.axes.iter().position(|other| *other == axis).unwrap_or_else(|| {
            self.axes.push(axis);
            self.axes.len() - 1
        })
    }

    fn push(&mut self, title: &str, drawing: Html, frames: Option<usize>, caption: Html) -> Html {
        let number = self.count;
        self.count += 1;
        let frames = frames.map(|axis| html!(" data-frames=\"{}\"", axis.to_string())).unwrap_or_default();
        html!(
            "<figure class=\"plot\" id=\"figure-{number}\" data-title=\"{title}\"{frames}>\n{drawing}\
             <figcaption><b>{title}</b> {caption}</figcaption></figure>\n",
            number = number.to_string(),
            title = title,
            frames = frames,
            drawing = drawing,
            caption = caption,
        )
    }

    /// What the script reads.
    pub(super) fn data(self) -> Value {
        json!({ "axes": self.axes, "arrays": self.arrays })
    }
}

impl Lines {
    /// Axes that hold all curves at all frames, with some room.
    fn ends(&self) -> [Axis; 2] {
        let (left, right) = extent(self.curves.iter().flat_map(|curve| curve.x.iter().copied()));
        let heights = self.curves.iter().flat_map(Curve::heights).chain(self.rules.iter().map(|rule| rule.0));
        let (lo, hi) = extent(heights.filter(|height| !self.logarithmic || *height > 0.0));
        let or = |room: f64, other: f64| if room > 0.0 { room } else { other };
        if self.logarithmic {
            let room = (hi / lo).powf(0.05).max(1.5);
            let x = Axis::linear((left, or(right - left, 1.0) + left));
            return [x, Axis { lo: lo / room, hi: hi * room, logarithmic: true }];
        }
        if self.bars {
            let half = self.curves.first().map_or(0.5, Curve::half_step);
            return [(left - half, right + half), (0.0, or(1.08 * hi, 1.0))].map(Axis::linear);
        }
        let room = or(0.06 * (hi - lo), or(0.05 * hi.abs(), 1.0));
        // A path, or points, touch no side.
        let scattered = self.curves.iter().any(Curve::scattered);
        let aside = if scattered { or(0.06 * (right - left), 1.0) } else { 0.0 };
        let aside = if left == right { 1.0 } else { aside };
        [(left - aside, right + aside), (lo - room, hi + room)].map(Axis::linear)
    }
}

impl Curve {
    /// A curve through points.
    pub(super) fn new(name: &str, colour: usize, x: &[f64], y: Vec<f64>) -> Curve {
        let y = Ordinates::Fixed(y);
        Curve { name: name.into(), colour, dashed: false, points: false, x: x.to_vec(), y, band: vec![] }
    }

    /// Its points without lines between them.
    pub(super) fn scattered_points(self) -> Curve {
        Curve { points: true, ..self }
    }

    /// A curve with a band around it.
    pub(super) fn with_band(self, band: Vec<f64>) -> Curve {
        Curve { band, ..self }
    }

    /// A curve in dashes; a single point becomes a ring.
    pub(super) fn dashed(self) -> Curve {
        Curve { dashed: true, ..self }
    }

    /// The points that are drawn first: those of the last frame.
    fn drawn(&self) -> Vec<[f64; 2]> {
        let y = match &self.y {
            Ordinates::Fixed(y) => y.as_slice(),
            Ordinates::Moving(block) => &block.values[block.values.len() - self.x.len()..],
        };
        self.x.iter().zip(y).map(|(x, y)| [*x, *y]).collect()
    }

    /// A line so far above the curve, or below.
    fn beside(&self, side: f64) -> Vec<[f64; 2]> {
        self.drawn().iter().zip(&self.band).map(|([x, y], band)| [*x, y + side * band]).collect()
    }

    /// All heights that have to be seen.
    fn heights(&self) -> Vec<f64> {
        match &self.y {
            Ordinates::Moving(block) => vec![block.range().0, block.range().1],
            Ordinates::Fixed(y) => {
                let band = [-1.0, 1.0].into_iter().flat_map(|side| self.beside(side));
                y.iter().copied().chain(band.map(|point| point[1])).collect()
            }
        }
    }

    fn scattered(&self) -> bool {
        self.points || self.x.windows(2).any(|pair| pair[1] < pair[0])
    }

    fn shapes(&self) -> Vec<Shape> {
        let points = self.drawn();
        match (self.points, points.len()) {
            (true, 1) if self.dashed => return vec![Shape::Ring(points[0], 8.0)],
            (true, 1) => return vec![Shape::Dots(points, 5.0)],
            (true, _) => return vec![Shape::Dots(points, 2.2)],
            _ => {}
        }
        let mut shapes = vec![];
        if !self.band.is_empty() {
            shapes.push(Shape::Band(self.beside(1.0), self.beside(-1.0)));
        }
        shapes.push(Shape::Line(points.clone(), false));
        if points.len() <= FEW && matches!(self.y, Ordinates::Fixed(_)) {
            shapes.push(Shape::Dots(points, 2.4));
        }
        shapes
    }

    fn half_step(&self) -> f64 {
        match &self.x[..] {
            [first, .., last] => (last - first) / (2 * (self.x.len() - 1)) as f64,
            _ => 0.5,
        }
    }

    /// Bars from zero around each x.
    fn bars(&self) -> Shape {
        let half = 0.96 * self.half_step();
        Shape::Bars(self.drawn().iter().map(|[x, y]| [[x - half, 0.0], [x + half, *y]]).collect())
    }
}

/// Least and greatest of the numbers that are finite.
fn extent(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = numbers.filter(|number| number.is_finite());
    let (lo, hi) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    if lo <= hi { (lo, hi) } else { (0.0, 1.0) }
}

/// Seven digits: no eye sees more, and the page is half as long.
fn rounded(value: f64) -> Value {
    let short = format!("{value:.6e}").parse::<f64>().ok();
    short.filter(|value| value.is_finite()).map_or(Value::Null, |value| json!(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(name: &str, nodes: &[f64]) -> Nodes {
        Nodes { name: name.into(), nodes: nodes.to_vec() }
    }

    fn lines(curves: Vec<Curve>) -> Lines {
        Lines { names: ["x".into(), "u".into()], curves, ..Lines::default() }
    }

    #[test]
    fn an_array_and_an_axis_are_kept_once() {
        let axes = vec![nodes("y", &[0.0, 1.0]), nodes("x", &[0.0, 1.0])];
        let block = Block { axes, values: vec![0.0, 1.0, 2.0, 3.0] };
        let mut figures = Figures::default();
        let panel = || Panel { title: "u".into(), block: block.clone(), scale: Scale::Differences };
        let html = figures.maps("<u>", vec![panel(), panel()], "").into_string();
        assert!(html.contains("&lt;u&gt;") && !html.contains("<u>"), "{html}");
        assert_eq!(html.matches("data-array=\"a0\"").count(), 2);
        assert!(html.contains(">−2</text>") && html.contains(">2</text>"), "colours from -3 to 3: {html}");
        let data = figures.data();
        assert_eq!(data["arrays"].as_object().map(Map::len), Some(1));
        assert_eq!(data["axes"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn axes_hold_curves_bands_and_rules() {
        let curve = Curve::new("u", 0, &[0.0, 2.0], vec![1.0, 3.0]).with_band(vec![0.5, 1.0]);
        let [x, y] = Lines { rules: vec![(8.5, "truth".into())], ..lines(vec![curve]) }.ends();
        assert_eq!((x.lo, x.hi), (0.0, 2.0));
        assert!((y.lo - (0.5 - 0.48)).abs() < 1e-12 && (y.hi - (8.5 + 0.48)).abs() < 1e-12, "{y:?}");
        let losses = Curve::new("loss", 0, &[1.0, 2.0, 3.0], vec![1e-4, 0.0, 1.0]);
        let [_, y] = Lines { logarithmic: true, ..lines(vec![losses]) }.ends();
        assert!(y.lo < 1e-4 && y.lo > 5e-5 && y.hi > 1.0, "{y:?}");
        let [x, _] = lines(vec![Curve::new("u", 0, &[1.0], vec![1.0])]).ends();
        assert_eq!((x.lo, x.hi), (0.0, 2.0), "a point alone has a place");
    }

    #[test]
    fn a_moving_curve_is_drawn_at_its_last_frame_within_the_range_of_all() {
        let block = Block {
            axes: vec![nodes("t", &[0.0, 1.0]), nodes("x", &[0.0, 1.0])],
            values: vec![0.0, 10.0, 5.0, 5.0],
        };
        let curve = Curve { y: Ordinates::Moving(block), ..Curve::new("u", 0, &[0.0, 1.0], vec![]) };
        let mut figures = Figures::default();
        let html = figures.lines(lines(vec![curve]), "").into_string();
        // In the middle of 10 to 280, from side to side.
        assert!(html.contains("d=\"M62 145L962 145\""), "{html}");
        assert!(html.contains("data-frames=\"0\"") && html.contains("data-array=\"a0\""), "{html}");
        assert_eq!(figures.data()["axes"][0], json!({ "name": "t", "nodes": [0.0, 1.0] }));
    }

    #[test]
    fn points_paths_and_goals_are_told_apart() {
        let point = |name| Curve::new(name, 0, &[1.0], vec![1.0]).scattered_points();
        let path = Curve::new("path", 1, &[0.0, 2.0, 1.0], vec![0.0, 1.0, 1.0]);
        let all = vec![path, point("estimate"), point("truth").dashed()];
        let html = Figures::default().lines(lines(all), "").into_string();
        assert!(html.contains("class=\"view scattered\""), "{html}");
        assert!(
            html.contains("r=\"5\" fill=\"#d55e00\"") && html.contains("r=\"8\" fill=\"none\""),
            "{html}"
        );
        assert_eq!(html.matches("class=\"entry\"").count(), 3);
    }

    #[test]
    fn numbers_are_short_and_holes_are_null() {
        assert_eq!(rounded(1.0 / 3.0), json!(0.3333333));
        assert_eq!(rounded(f64::NAN), Value::Null);
    }
}
