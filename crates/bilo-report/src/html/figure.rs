//! Figures as data; `assets/*.js` draws them.

use super::block::{Axis, Block};
use crate::markup::{Html, html};
use serde_json::{Map, Value, json};

/// All figures of a page, and the arrays that they show.
#[derive(Default)]
pub(super) struct Figures {
    /// The coordinate that is no length.
    time: Option<String>,
    figures: Vec<Value>,
    arrays: Map<String, Value>,
}

/// A curve, a way or a set of points.
pub(super) struct Series {
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
    pub(super) series: Vec<Series>,
    /// Heights worth comparing with.
    pub(super) rules: Vec<(f64, String)>,
    /// Where something begins.
    pub(super) marks: Vec<(f64, String)>,
    pub(super) bars: bool,
    /// Lines of equal height of what a way leads through.
    pub(super) contours: Vec<Vec<[f64; 2]>>,
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

    /// The place of a figure with curves.
    pub(super) fn lines(&mut self, lines: Lines, caption: impl Into<Html>) -> Html {
        let mut frames = Value::Null;
        let mut series = vec![];
        for one in lines.series {
            let y = match one.y {
                Ordinates::Fixed(values) => json!(values.iter().map(|y| rounded(*y)).collect::<Vec<_>>()),
                Ordinates::Moving(block) => {
                    frames = axis(&block.axes[0]);
                    json!({ "array": self.array(&block) })
                }
            };
            let [x, band] =
                [&one.x, &one.band].map(|list| list.iter().map(|x| rounded(*x)).collect::<Vec<_>>());
            series.push(json!({
                "name": one.name, "colour": one.colour, "dashed": one.dashed, "points": one.points,
                "x": x, "y": y, "band": band,
            }));
        }
        let contour = |points: Vec<[f64; 2]>| json!([0, 1].map(|axis| column(&points, axis)));
        let contours: Vec<Value> = lines.contours.into_iter().map(contour).collect();
        let pair = |(at, name): (f64, String)| json!({ "at": at, "name": name });
        self.push(
            json!({
                "kind": "lines", "title": lines.title, "names": lines.names, "log": lines.logarithmic,
                "bars": lines.bars, "series": series, "contours": contours, "frames": frames,
                "rules": lines.rules.into_iter().map(pair).collect::<Vec<_>>(),
                "marks": lines.marks.into_iter().map(pair).collect::<Vec<_>>(),
            }),
            caption.into(),
        )
    }

    /// The place of a row of fields over the same two axes, and over frames if there is a third.
    pub(super) fn maps(&mut self, title: &str, panels: Vec<Panel>, caption: impl Into<Html>) -> Html {
        let Some(first) = panels.first() else { return Html::default() };
        let [.., y, x] = first.block.axes.as_slice() else { return Html::default() };
        let square = self.time.as_ref() != Some(&y.name);
        let (x, y) = (axis(x), axis(y));
        let frames = if first.block.axes.len() == 3 { axis(&first.block.axes[0]) } else { Value::Null };
        let panels: Vec<Value> = panels.iter().map(|panel| self.panel(panel)).collect();
        self.push(
            json!({ "kind": "maps", "title": title, "x": x, "y": y, "square": square, "frames": frames, "panels": panels }),
            caption.into(),
        )
    }

    fn panel(&mut self, panel: &Panel) -> Value {
        let (lo, hi) = match panel.scale {
            Scale::Values(lo, hi) => (lo, hi),
            Scale::Differences => {
                let size = panel.block.usual_size();
                (-size, size)
            }
        };
        let colours = if panel.scale == Scale::Differences { "differences" } else { "values" };
        json!({ "title": panel.title, "array": self.array(&panel.block), "colours": colours, "lo": lo, "hi": hi })
    }

    /// Keeps an array once, however many figures show it.
    fn array(&mut self, block: &Block) -> String {
        let packed = block.packed();
        if let Some((name, _)) = self.arrays.iter().find(|(_, other)| **other == packed) {
            return name.clone();
        }
        let name = format!("a{}", self.arrays.len());
        self.arrays.insert(name.clone(), packed);
        name
    }

    fn push(&mut self, figure: Value, caption: Html) -> Html {
        let html = html!(
            "<figure class=\"plot {kind}\" id=\"figure-{number}\" data-figure=\"{number}\">\
             <figcaption><b>{title}</b> {caption}</figcaption></figure>\n",
            kind = figure["kind"].as_str().unwrap_or(""),
            number = self.figures.len().to_string(),
            title = figure["title"].as_str().unwrap_or(""),
            caption = caption,
        );
        self.figures.push(figure);
        html
    }

    /// What the script reads.
    pub(super) fn data(self) -> Value {
        json!({ "figures": self.figures, "arrays": self.arrays, "colours": colours() })
    }
}

impl Series {
    /// A curve.
    pub(super) fn curve(name: &str, colour: usize, x: &[f64], y: Vec<f64>) -> Series {
        let y = Ordinates::Fixed(y);
        Series { name: name.into(), colour, dashed: false, points: false, x: x.to_vec(), y, band: vec![] }
    }

    /// Its points without lines between them.
    pub(super) fn scattered(self) -> Series {
        Series { points: true, ..self }
    }

    /// The same with a band around it.
    pub(super) fn with_band(self, band: Vec<f64>) -> Series {
        Series { band, ..self }
    }

    /// The same in dashes.
    pub(super) fn dashed(self) -> Series {
        Series { dashed: true, ..self }
    }
}

fn column(points: &[[f64; 2]], axis: usize) -> Vec<Value> {
    points.iter().map(|point| rounded(point[axis])).collect()
}

fn axis(axis: &Axis) -> Value {
    let nodes: Vec<Value> = axis.nodes.iter().map(|node| rounded(*node)).collect();
    json!({ "name": axis.name, "nodes": nodes })
}

/// Seven digits: no eye sees more, and the page is half as long.
fn rounded(value: f64) -> Value {
    let short = format!("{value:.6e}").parse::<f64>().ok();
    short.filter(|value| value.is_finite()).map_or(Value::Null, |value| json!(value))
}

/// Tables of both maps, 256 colours each, and the colours of lines.
fn colours() -> Value {
    use crate::picture::base64;
    use crate::picture::colour::{Colour, LINES, diverging, viridis};
    let table = |map: fn(f64) -> Colour| {
        let bytes: Vec<u8> = (0..256).flat_map(|i| map(f64::from(i) / 255.0).0).collect();
        base64(&bytes)
    };
    json!({
        "values": table(viridis),
        "differences": table(diverging),
        "lines": LINES.map(Colour::hex),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_kept_once() {
        let axis = Axis { name: "x".into(), nodes: vec![0.0, 1.0] };
        let block = Block { axes: vec![axis.clone(), axis], values: vec![0.0, 1.0, 2.0, 3.0] };
        let mut figures = Figures::default();
        let panel = || Panel { title: "u".into(), block: block.clone(), scale: Scale::Differences };
        let html = figures.maps("<u>", vec![panel(), panel()], "").into_string();
        assert!(html.contains("&lt;u&gt;") && !html.contains("<u>"), "{html}");
        let data = figures.data();
        assert_eq!(data["arrays"].as_object().map(Map::len), Some(1));
        assert_eq!(data["figures"][0]["panels"][0]["lo"], -3.0);
    }

    #[test]
    fn numbers_are_short_and_holes_are_null() {
        assert_eq!(rounded(1.0 / 3.0), json!(0.3333333));
        assert_eq!(rounded(f64::NAN), Value::Null);
    }
}
