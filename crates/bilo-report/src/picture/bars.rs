//! Bars in groups, with error bars.

use super::axes::Axis;
use super::colour::INK;
use super::plot::Plot;
use super::series::{Series, Shape};
use super::sheet::{colour, sheet as drawn};

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
    let plots: Vec<Plot> = charts.iter().map(|chart| chart.plot(of, groups, series)).collect();
    drawn(&plots, ABREAST).into_string()
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

    fn plot(&self, of: &str, groups: &[String], names: &[String]) -> Plot {
        let count = groups.len() as f64;
        let width = (count * (names.len() as f64 * BAR + GAP)).max(NARROWEST);
        // A group is 1 long.
        let pixel = count / width;
        let axes = [Axis::linear((0.0, count)), self.axis()];
        let mut errors = Series { width: 1.0, ..Series::new("", INK, vec![]) };
        let mut series = vec![];
        for (number, name) in names.iter().enumerate() {
            let left =
                |group: usize| group as f64 + 0.5 + (number as f64 - names.len() as f64 / 2.0) * BAR * pixel;
            let mut bars = vec![];
            for (group, bar) in self.bars.iter().map(|bars| bars[number]).enumerate() {
                let [from, middle, to] = [1.0, BAR / 2.0, BAR - 1.0].map(|at| left(group) + at * pixel);
                match bar.filter(|bar| bar.mean.is_finite()) {
                    Some(bar) => {
                        bars.push([[from, axes[1].lo.max(0.0)], [to, bar.mean.max(axes[1].lo)]]);
                        errors.shapes.extend(bar.error(middle, CAP * pixel, axes[1].lo));
                    }
                    None => errors.shapes.push(Shape::Word([middle, axes[1].lo], "–")),
                }
            }
            series.push(Series::new(name, colour(number, names.len()), vec![Shape::Bars(bars)]));
        }
        series.push(errors);
        let plot = Plot::new(&self.title, [of, ""], axes, [width, HEIGHT]);
        Plot { groups: groups.to_vec(), series, halo: true, ..plot }
    }
}

impl Bar {
    fn top(&self) -> f64 {
        self.mean.max(0.0) + self.deviation.unwrap_or(0.0)
    }

    fn bottom(&self) -> f64 {
        self.mean - self.deviation.unwrap_or(0.0)
    }

    /// The error bar at x, no lower than the foot of the chart.
    fn error(&self, x: f64, cap: f64, foot: f64) -> Vec<Shape> {
        let Some(deviation) = self.deviation else { return vec![] };
        let [low, high] = [self.mean - deviation, self.mean + deviation].map(|end| end.max(foot));
        let lines =
            [[[x, low], [x, high]], [[x - cap, low], [x + cap, low]], [[x - cap, high], [x + cap, high]]];
        lines.map(|ends| Shape::Line(ends.to_vec(), false)).to_vec()
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
        // Paper, one bar, the frame and two samples of the legend.
        assert_eq!(svg.matches("<rect ").count(), 1 + 1 + 1 + 2);
        // Twice as wide as a bar with 2 x 22 around: it begins 16 left of the middle, and is 1/1.05/1.1 of the height.
        let (left, top) = (72.0 + 220.0 / 2.0 - 16.0 + 1.0, 22.0 + 28.0 + 200.0 * (1.0 - 1.0 / 1.155));
        assert!(svg.contains(&format!("<rect x=\"{left}\" y=\"{top:.2}")), "{svg}");
        assert!(svg.contains(">–</text>") && svg.contains(">pinn</text>") && svg.contains(">error</text>"));
    }
}
