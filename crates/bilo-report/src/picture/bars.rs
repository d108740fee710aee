//! Bars in groups, with error bars.

use super::axes::{ABOVE, Axis, BELOW, LEFT, LEGEND_LINE, LEGEND_SAMPLE, RIGHT, SMALL, View, label, line};
use super::colour::{Colour, INK, LINES, WHITE, viridis};
use super::svg::{Anchor, Canvas, Rectangle};

const HEIGHT: f64 = 200.0;
/// Width of a bar, of the gap between groups, and of a narrow chart.
const BAR: f64 = 16.0;
const GAP: f64 = 22.0;
const NARROWEST: f64 = 220.0;
/// Half of the cross line at the end of an error bar.
const CAP: f64 = 3.0;
/// Charts of more than this ratio between their bars are logarithmic.
const WIDE_RANGE: f64 = 20.0;
/// Charts in a row.
const ABREAST: usize = 2;

/// One figure of many cases.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What the figure is.
    pub title: String,
    /// By group, then by series; none where there is no such case, or it has no such figure.
    pub bars: Vec<Vec<Option<Bar>>>,
}

/// A mean with its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The height of the bar.
    pub mean: f64,
    /// Half the length of the error bar.
    pub deviation: Option<f64>,
}

/// Charts of the same groups and series, as a drawing in SVG.
pub fn sheet(charts: &[Chart], of: &str, groups: &[String], series: &[String]) -> String {
    let width = (groups.len() as f64 * (series.len() as f64 * BAR + GAP)).max(NARROWEST);
    let [across, down] = [LEFT + width + RIGHT, ABOVE + HEIGHT + BELOW];
    let rows = charts.len().div_ceil(ABREAST);
    let legend = LEGEND_LINE * (series.len() as f64 + 0.5);
    let total = across * charts.len().min(ABREAST) as f64;
    let mut canvas = Canvas::new(total, down * rows as f64 + legend);
    for (number, chart) in charts.iter().enumerate() {
        let (column, row) = ((number % ABREAST) as f64, (number / ABREAST) as f64);
        let area = Rectangle { left: column * across + LEFT, top: row * down + ABOVE, width, height: HEIGHT };
        chart.draw(&mut canvas, area, of, groups, series.len());
    }
    for (number, name) in series.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let y = down * rows as f64 + LEGEND_LINE * (number as f64 + 0.5);
        let sample = Rectangle { left: LEFT, top: y - 5.0, width: LEGEND_SAMPLE, height: 10.0 };
        canvas.fill(sample, colour(number, series.len()));
        canvas.text([LEFT + LEGEND_SAMPLE + 6.0, y], label(name, Anchor::Start), INK);
    }
    canvas.finish()
}

/// The colour of one of so many series.
pub(super) fn colour(number: usize, of: usize) -> Colour {
    match of <= LINES.len() {
        true => LINES[number],
        // The end of the map is too light for paper.
        false => viridis(0.9 * number as f64 / (of - 1) as f64),
    }
}

impl Chart {
    /// From below the lowest to above the highest bar with what it may be off by.
    fn axis(&self) -> Axis {
        let bars = || self.bars.iter().flatten().flatten().filter(|bar| bar.mean.is_finite());
        let top = bars().map(Bar::top).fold(f64::MIN_POSITIVE, f64::max);
        // What is exactly zero has no place on a logarithmic axis, and stands at its foot.
        let lowest = bars().map(|bar| bar.mean).filter(|mean| *mean != 0.0).fold(f64::INFINITY, f64::min);
        if lowest > 0.0 && top / lowest > WIDE_RANGE {
            let decade = 10.0_f64.powf((0.8 * lowest).log10().floor());
            return Axis { lo: decade, hi: 1.2 * top, logarithmic: true };
        }
        let bottom = bars().map(Bar::bottom).fold(0.0, f64::min);
        Axis::linear((1.05 * bottom, 1.05 * top))
    }

    fn draw(&self, canvas: &mut Canvas, area: Rectangle, of: &str, groups: &[String], series: usize) {
        let view = View { area, x: Axis::linear((0.0, groups.len() as f64)), y: self.axis() };
        let base = view.y.lo.max(0.0);
        for (group, (name, bars)) in groups.iter().zip(&self.bars).enumerate() {
            let middle = view.pixel([group as f64 + 0.5, base])[0];
            canvas.text([middle, area.bottom() + 1.2 * SMALL], label(name, Anchor::Middle), INK);
            for (number, bar) in bars.iter().enumerate() {
                let left = middle + (number as f64 - series as f64 / 2.0) * BAR;
                let Some(bar) = bar.filter(|bar| bar.mean.is_finite()) else {
                    let place = [left + BAR / 2.0, area.bottom() - SMALL / 2.0];
                    canvas.text(place, label("–", Anchor::Middle), INK);
                    continue;
                };
                bar.draw(canvas, &view, left, base, colour(number, series));
            }
        }
        view.ticks_of_y(canvas);
        view.frame(canvas, [of, ""], &self.title);
    }
}

impl Bar {
    fn top(&self) -> f64 {
        self.mean.max(0.0) + self.deviation.unwrap_or(0.0)
    }

    fn bottom(&self) -> f64 {
        self.mean - self.deviation.unwrap_or(0.0)
    }

    fn draw(&self, canvas: &mut Canvas, view: &View, left: f64, base: f64, colour: Colour) {
        let at = |value: f64| view.pixel([0.0, value.max(view.y.lo)])[1];
        let (top, foot) = (at(self.mean.max(base)), at(self.mean.min(base)));
        let body = Rectangle { left: left + 1.0, top, width: BAR - 2.0, height: foot - top };
        canvas.fill(body, colour);
        if let Some(deviation) = self.deviation {
            let (x, high, low) = (left + BAR / 2.0, at(self.mean + deviation), at(self.mean - deviation));
            // White under the line, which is dark on any bar.
            canvas.polyline(&[[x, high], [x, low]], false, line(WHITE, 2.6));
            for y in [high, low] {
                canvas.polyline(&[[x - CAP, y], [x + CAP, y]], false, line(INK, 1.0));
            }
            canvas.polyline(&[[x, high], [x, low]], false, line(INK, 1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(mean: f64, deviation: f64) -> Option<Bar> {
        Some(Bar { mean, deviation: Some(deviation) })
    }

    #[test]
    fn a_wide_range_is_logarithmic() {
        let chart = |bars| Chart { title: String::new(), bars };
        let wide = chart(vec![vec![bar(2e-4, 1e-4), bar(0.5, 0.1), bar(0.0, 0.0)]]).axis();
        assert_eq!((wide.lo, wide.logarithmic), (1e-4, true));
        assert!(wide.hi > 0.6);
        let narrow = chart(vec![vec![bar(1.0, 0.1), bar(4.0, 1.0)]]).axis();
        assert_eq!(narrow, Axis::linear((0.0, 1.05 * 5.0)));
        let negative = chart(vec![vec![bar(-1.0, 0.5), bar(40.0, 1.0)]]).axis();
        assert!(negative.lo < -1.5 && !negative.logarithmic);
    }

    #[test]
    fn every_bar_has_its_place_and_missing_ones_a_dash() {
        let charts = [Chart { title: "error".into(), bars: vec![vec![bar(1.0, 0.1), None]] }];
        let svg = sheet(&charts, "noise", &["0".into()], &["bilo".into(), "pinn".into()]);
        // Paper, one bar and two samples of the legend.
        assert_eq!(svg.matches("<rect ").count(), 1 + 1 + 1 + 2);
        assert!(svg.contains(">–</text>") && svg.contains(">pinn</text>") && svg.contains(">error</text>"));
    }
}
