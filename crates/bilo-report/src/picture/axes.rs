//! A rectangle with axes: where numbers are in it, ticks, names.

use super::colour::{Colour, INK};
use super::svg::{Anchor, Canvas, Rectangle, Stroke, Text};
use super::ticks::ticks;
use crate::number::significant;

/// Size of tick labels and legends, and of titles.
pub(super) const SMALL: f64 = 11.0;
pub(super) const LARGE: f64 = 13.0;
/// Room around the rectangle: for the title, for the labels of y, for those of x, and on the right.
pub(super) const ABOVE: f64 = 30.0;
pub(super) const LEFT: f64 = 64.0;
pub(super) const BELOW: f64 = 42.0;
pub(super) const RIGHT: f64 = 16.0;
/// Length of a tick.
pub(super) const TICK: f64 = 4.0;
/// Height of a line of the legend, and length of the sample before it.
pub(super) const LEGEND_LINE: f64 = 17.0;
pub(super) const LEGEND_SAMPLE: f64 = 24.0;
/// Axes and ticks.
pub(super) const THIN: Stroke = Stroke { colour: INK, width: 1.0, dashed: false };

/// The numbers along one side of a rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) lo: f64,
    pub(super) hi: f64,
    /// Equal ratios are equally long.
    pub(super) logarithmic: bool,
}

impl Axis {
    pub(super) fn linear((lo, hi): (f64, f64)) -> Axis {
        Axis { lo, hi, logarithmic: false }
    }

    /// How far a number is from the first to the second end.
    pub(super) fn share(&self, value: f64) -> f64 {
        match self.logarithmic {
            true => (value / self.lo).ln() / (self.hi / self.lo).ln(),
            false => (value - self.lo) / (self.hi - self.lo),
        }
    }

    /// Numbers that are written along a side of so many pixels: about one in 60.
    pub(super) fn ticks(&self, side: f64) -> Vec<f64> {
        let wanted = (side / 60.0).round().max(2.0);
        if !self.logarithmic {
            return ticks(self.lo, self.hi, wanted as usize);
        }
        let (first, last) = (self.lo.log10().ceil() as i32, self.hi.log10().floor() as i32);
        let each = (f64::from(last - first + 1) / wanted).ceil().max(1.0) as usize;
        (first..=last).step_by(each).map(|power| 10.0_f64.powi(power)).collect()
    }
}

/// From numbers to pixels.
pub(super) struct View {
    pub(super) area: Rectangle,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

impl View {
    pub(super) fn pixel(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (across, up) = (self.x.share(x), self.y.share(y));
        [self.area.left + across * self.area.width, self.area.bottom() - up * self.area.height]
    }

    /// Ticks and numbers along x.
    pub(super) fn ticks_of_x(&self, canvas: &mut Canvas) {
        for tick in self.x.ticks(self.area.width) {
            let [x, y] = self.pixel([tick, self.y.lo]);
            canvas.polyline(&[[x, y], [x, y + TICK]], false, THIN);
            canvas.text([x, y + TICK + 0.8 * SMALL], label(&significant(tick), Anchor::Middle), INK);
        }
    }

    /// Ticks and numbers along y.
    pub(super) fn ticks_of_y(&self, canvas: &mut Canvas) {
        for tick in self.y.ticks(self.area.height) {
            let [x, y] = self.pixel([self.x.lo, tick]);
            canvas.polyline(&[[x - TICK, y], [x, y]], false, THIN);
            canvas.text([x - TICK - 3.0, y], label(&significant(tick), Anchor::End), INK);
        }
    }

    /// The frame, what is along its sides, and a title.
    pub(super) fn frame(&self, canvas: &mut Canvas, names: [&str; 2], title: &str) {
        let area = self.area;
        canvas.outline(area, THIN);
        let (middle_x, middle_y) = (area.left + area.width / 2.0, area.top + area.height / 2.0);
        let name = |content, upright| Text { content, size: LARGE, anchor: Anchor::Middle, upright };
        canvas.text([middle_x, area.bottom() + BELOW - 10.0], name(names[0], false), INK);
        canvas.text([area.left - LEFT + 12.0, middle_y], name(names[1], true), INK);
        canvas.text([middle_x, area.top - ABOVE / 2.0], name(title, false), INK);
    }
}

/// A line of a legend: a sample, and what it stands for.
pub(super) fn legend(canvas: &mut Canvas, [x, y]: [f64; 2], stroke: Stroke, name: &str) {
    canvas.polyline(&[[x, y], [x + LEGEND_SAMPLE, y]], false, stroke);
    canvas.text([x + LEGEND_SAMPLE + 6.0, y], label(name, Anchor::Start), INK);
}

pub(super) fn label(content: &str, anchor: Anchor) -> Text<'_> {
    Text { content, size: SMALL, anchor, upright: false }
}

/// A line of a colour.
pub(super) fn line(colour: Colour, width: f64) -> Stroke {
    Stroke { colour, width, dashed: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_axes_have_powers_of_ten() {
        let axis = Axis { lo: 1e-4, hi: 1.0, logarithmic: true };
        assert_eq!(
            axis.ticks(300.0).iter().map(|tick| format!("{tick:.0e}")).collect::<Vec<_>>(),
            ["1e-4", "1e-3", "1e-2", "1e-1", "1e0"]
        );
        assert!((axis.share(1e-2) - 0.5).abs() < 1e-12);
        // Twelve decades along 120 pixels: not all of them.
        assert!(Axis { lo: 1e-12, hi: 1.0, logarithmic: true }.ticks(120.0).len() <= 3);
    }
}
