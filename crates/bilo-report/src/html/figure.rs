//! Figures of a page: drawings, and the arrays that a script reads values and other frames from.

use super::block::{Axis as Nodes, Block};
use crate::markup::{Html, html};
use crate::number::extent;
use crate::picture::axes::Axis;
use crate::picture::colour::{diverging, viridis};
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

/// Curves in one rectangle.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) title: String,
    pub(super) names: [String; 2],
    pub(super) logarithmic: bool,
    pub(super) series: Vec<Series>,
    /// Heights worth comparing with.
    pub(super) rules: Vec<(f64, String)>,
    /// Where something begins.
    pub(super) marks: Vec<(f64, String)>,
    /// Lines of equal height of what a path leads through.
    pub(super) contours: Vec<Polyline>,
    /// Whether it shares a row of the page.
    pub(super) half: bool,
    /// The axis whose slider moves curves, and the ends of their heights everywhere.
    pub(super) moving: Option<(usize, (f64, f64))>,
}

/// A field in colours.
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) block: Block,
    /// The values of the first and the last colour; without them colours are around zero, clipped at the 99th percentile.
    pub(super) ends: Option<(f64, f64)>,
}

impl Figures {
    /// No figures yet, of a problem with this time.
    pub(super) fn new(time: Option<&str>) -> Figures {
        Figures { time: time.map(str::to_owned), ..Figures::default() }
    }

    /// A figure with curves.
    pub(super) fn lines(&mut self, mut lines: Lines, caption: impl Into<Html>) -> Html {
        let width = if lines.half { HALF } else { WHOLE };
        let [x, y] = &lines.names;
        let plot = Plot::new("", [x, y], lines.ends(), [width - ASIDE.iter().sum::<f64>(), HEIGHT]);
        if let [alone] = &mut lines.series[..] {
            // The title says what it is.
            alone.name.clear();
        }
        let Lines { title, series, contours, rules, marks, .. } = lines;
        let plot = Plot { series, contours, rules, marks, ..plot };
        self.push(&title, sheet(&[plot], 1), lines.moving.map(|(axis, _)| axis), caption.into())
    }

    /// A row of fields over the same two axes, and over frames if there is a third.
    pub(super) fn maps(&mut self, title: &str, panels: Vec<Panel>, caption: impl Into<Html>) -> Html {
        let Some(first) = panels.first() else { return Html::default() };
        let [.., y, x] = first.block.axes.as_slice() else { return Html::default() };
        let abreast = panels.len().min(ABREAST);
        let side = (WHOLE / abreast.max(2) as f64 - ASIDE_FIELD.iter().sum::<f64>()).min(LONGEST_SIDE);
        // Lengths are equal along both axes unless one is time, or the picture would be a strip.
        let ends = [x, y].map(|axis| extent(axis.nodes.iter().copied()).unwrap_or((0.0, 1.0)));
        let ratio = (ends[1].1 - ends[1].0) / (ends[0].1 - ends[0].0);
        let to_scale = self.time.as_ref() != Some(&y.name) && (0.4..2.0).contains(&ratio);
        let size = [side, if to_scale { side * ratio } else { 0.92 * side }];
        let frames = (first.block.axes.len() == 3).then(|| self.axis(&first.block.axes[0]));
        let plots: Vec<Plot> = panels.into_iter().map(|panel| self.panel(panel, ends, size)).collect();
        self.push(title, sheet(&plots, abreast), frames, caption.into())
    }

    fn panel(&mut self, panel: Panel, over: [(f64, f64); 2], size: [f64; 2]) -> Plot {
        let size_of_most = panel.block.usual_size();
        let map = if panel.ends.is_some() { viridis } else { diverging };
        let ends = panel.ends.unwrap_or((-size_of_most, size_of_most));
        let array = Some(self.array(&panel.block));
        let Block { axes, values } = panel.block;
        let (y, x) = (&axes[axes.len() - 2], &axes[axes.len() - 1]);
        let frames = values.len() / (x.nodes.len() * y.nodes.len());
        let shade = Shade {
            shape: [frames, y.nodes.len(), x.nodes.len()],
            values,
            corners: [over.map(|(lo, _)| lo), over.map(|(_, hi)| hi)],
            map,
            ends,
            opacity: 1.0,
            bar: true,
            array,
        };
        let plot = Plot::new(&panel.title, [&x.name, &y.name], over.map(Axis::linear), size);
        Plot { shades: vec![shade], ..plot }
    }

    /// The first minus the second. Of the three arrays a page keeps the first and the difference: small differences of rounded
    /// numbers would be lost.
    pub(super) fn compare(&mut self, first: &Block, second: &Block) -> Option<Block> {
        let difference = first.minus(second)?;
        let names = format!("{} {}", self.array(first), self.array(&difference));
        self.derived.push((second.clone(), names));
        Some(difference)
    }

    /// Keeps an array once, however many figures show it.
    pub(super) fn array(&mut self, block: &Block) -> String {
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
    pub(super) fn axis(&mut self, axis: &Nodes) -> usize {
        let nodes: Vec<Value> = axis.nodes.iter().map(|node| rounded(*node)).collect();
        let axis = json!({ "name": axis.name, "nodes": nodes });
        self.axes.iter().position(|other| *other == axis).unwrap_or_else(|| {
            self.axes.push(axis);
            self.axes.len() - 1
        })
    }

    fn push(&mut self, title: &str, drawing: Html, frames: Option<usize>, caption: Html) -> Html {
        let number = self.count.to_string();
        self.count += 1;
        let frames = frames.map(|axis| html!(" data-frames=\"{}\"", axis.to_string())).unwrap_or_default();
        html!(
            "<figure class=\"plot\" id=\"figure-{number}\" data-title=\"{title}\"{frames}>\n{drawing}\
             <figcaption><b>{title}</b> {caption}</figcaption></figure>\n";
            number, title, frames, drawing, caption
        )
    }

    /// What the script reads.
    pub(super) fn data(self) -> Value {
        json!({ "axes": self.axes, "arrays": self.arrays })
    }
}

impl Lines {
    /// Series over a whole row, and nothing else.
    pub(super) fn new(title: impl Into<String>, [x, y]: [&str; 2], series: Vec<Series>) -> Lines {
        Lines { title: title.into(), names: [x.to_owned(), y.to_owned()], series, ..Lines::default() }
    }

    /// Axes that hold all series at all frames, with some room.
    fn ends(&self) -> [Axis; 2] {
        let points: Vec<[f64; 2]> = self.series.iter().flat_map(Series::points).collect();
        let (left, right) = extent(points.iter().map(|point| point[0])).unwrap_or((0.0, 1.0));
        let everywhere = self.moving.iter().flat_map(|(_, (lo, hi))| [*lo, *hi]);
        let heights = points.iter().map(|point| point[1]).chain(self.rules.iter().map(|rule| rule.0));
        let heights = heights.chain(everywhere).filter(|height| !self.logarithmic || *height > 0.0);
        let (lo, hi) = extent(heights).unwrap_or((0.0, 1.0));
        let or = |room: f64, other: f64| if room > 0.0 { room } else { other };
        // A path, or points, touch no side.
        let scattered = self.series.iter().any(Series::scattered) || left == right;
        let aside = if scattered { or(0.06 * (right - left), 1.0) } else { 0.0 };
        let x = Axis::linear((left - aside, right + aside));
        if self.logarithmic {
            let room = (hi / lo).powf(0.05).max(1.5);
            return [x, Axis { lo: lo / room, hi: hi * room, logarithmic: true }];
        }
        let room = or(0.06 * (hi - lo), or(0.05 * hi.abs(), 1.0));
        // Bars stand on the side.
        let bars = self.series.iter().flat_map(|series| &series.shapes).any(|s| matches!(s, Shape::Bars(_)));
        [x, Axis::linear((if bars { lo } else { lo - room }, hi + room))]
    }
}

/// Seven digits: no eye sees more, and the page is half as long.
fn rounded(value: f64) -> Value {
    let short = format!("{value:.6e}").parse::<f64>().ok();
    short.filter(|value| value.is_finite()).map_or(Value::Null, |value| json!(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::colour::LINES;

    fn nodes(name: &str, nodes: &[f64]) -> Nodes {
        Nodes { name: name.into(), nodes: nodes.to_vec() }
    }

    fn lines(series: Vec<Series>) -> Lines {
        Lines::new("", ["x", "u"], series)
    }

    #[test]
    fn an_array_and_an_axis_are_kept_once() {
        let axes = vec![nodes("y", &[0.0, 1.0]), nodes("x", &[0.0, 1.0])];
        let block = Block { axes, values: vec![0.0, 1.0, 2.0, 3.0] };
        let mut figures = Figures::default();
        let panel = || Panel { title: "u".into(), block: block.clone(), ends: None };
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
        let band = Shape::Band(vec![[0.0, 1.5], [2.0, 4.0]], vec![[0.0, 0.5], [2.0, 2.0]]);
        let curve = Series::new("u", LINES[0], vec![band]);
        let [x, y] = Lines { rules: vec![(8.5, "truth".into())], ..lines(vec![curve]) }.ends();
        assert_eq!((x.lo, x.hi), (0.0, 2.0));
        assert!((y.lo - (0.5 - 0.48)).abs() < 1e-12 && (y.hi - (8.5 + 0.48)).abs() < 1e-12, "{y:?}");
        let losses = Series::curve("loss", LINES[0], &[1.0, 2.0, 3.0], &[1e-4, 0.0, 1.0]);
        let [_, y] = Lines { logarithmic: true, ..lines(vec![losses]) }.ends();
        assert!(y.lo < 1e-4 && y.lo > 5e-5 && y.hi > 1.0, "{y:?}");
        let [x, _] = lines(vec![Series::curve("u", LINES[0], &[1.0], &[1.0])]).ends();
        assert_eq!((x.lo, x.hi), (0.0, 2.0), "a point alone has a place");
        let bars = Series::new("n", LINES[0], vec![Shape::Bars(vec![[[0.0, 0.0], [1.0, 50.0]]])]);
        assert_eq!(lines(vec![bars]).ends()[1], Axis::linear((0.0, 53.0)));
    }

    #[test]
    fn a_moving_curve_is_drawn_within_the_heights_of_all_frames() {
        let series =
            Series { array: Some("a0".into()), ..Series::curve("u", LINES[0], &[0.0, 1.0], &[5.0; 2]) };
        let moving = Lines { moving: Some((0, (0.0, 10.0))), ..lines(vec![series]) };
        let html = Figures::default().lines(moving, "").into_string();
        // In the middle of 10 to 280, from side to side.
        assert!(html.contains("d=\"M72 145L962 145\""), "{html}");
        assert!(html.contains("data-frames=\"0\"") && html.contains("data-array=\"a0\""), "{html}");
        assert!(!html.contains("class=\"entry\""), "the title says what is alone: {html}");
    }

    #[test]
    fn numbers_are_short_and_holes_are_null() {
        assert_eq!(rounded(1.0 / 3.0), json!(0.3333333));
        assert_eq!(rounded(f64::NAN), Value::Null);
    }
}
