//! A rectangle with axes: where numbers are in it, ticks, names.

use super::colour::{Colour, GRID, INK, SOFT};
use super::png::encode;
use super::svg::{Anchor, Canvas, Font, Rectangle, pixels};
use super::ticks::{powers, ticks};
use crate::markup::{Html, html};
use crate::number::in_print;

/// Size of numbers along axes, and of names and titles.
pub(crate) const SMALL: f64 = 11.0;
pub(crate) const LARGE: f64 = 12.0;
/// Length of a tick.
const TICK: f64 = 4.0;
/// Colours of a bar.
const BAR: u8 = 64;
/// Pixels between two numbers along x, along y.
const APART: [f64; 2] = [80.0, 44.0];

/// The numbers along one side of a rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    /// Equal ratios are equally long.
    pub(crate) logarithmic: bool,
}

impl Axis {
    pub(crate) fn linear((lo, hi): (f64, f64)) -> Axis {
        Axis { lo, hi, logarithmic: false }
    }

    /// How far a number is from the first to the second end; in the middle if they are one.
    pub(crate) fn share(&self, value: f64) -> f64 {
        match self.logarithmic {
            _ if self.lo == self.hi => 0.5,
            true => (value / self.lo).ln() / (self.hi / self.lo).ln(),
            false => (value - self.lo) / (self.hi - self.lo),
        }
    }

    /// Round numbers along a side of so many pixels.
    pub(crate) fn ticks(&self, side: f64, apart: f64) -> Vec<f64> {
        let wanted = (side / apart).round().max(2.0) as usize;
        let powers = if self.logarithmic { powers(self.lo, self.hi, wanted) } else { vec![] };
        if powers.len() > 1 { powers } else { ticks(self.lo, self.hi, wanted) }
    }
}

/// From numbers to pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) area: Rectangle,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl View {
    /// The place of a point; not finite where it has none.
    pub(crate) fn pixel(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (across, up) = (self.x.share(x), self.y.share(y));
        [self.area.left + across * self.area.width, self.area.bottom() - up * self.area.height]
    }

    /// The rectangle between two corners.
    pub(crate) fn rectangle(&self, corners: [[f64; 2]; 2]) -> Rectangle {
        let [[x0, y0], [x1, y1]] = corners.map(|corner| self.pixel(corner));
        Rectangle { left: x0.min(x1), top: y0.min(y1), width: (x1 - x0).abs(), height: (y1 - y0).abs() }
    }

    /// For whoever wants to go back from pixels to numbers: the rectangle, the ends of x and y, and 1 if y is logarithmic.
    pub(crate) fn numbers(&self) -> String {
        let Rectangle { left, top, width, height } = self.area;
        let area = [left, top, width, height].map(pixels).join(" ");
        let (x, y) = (self.x, self.y);
        format!("{area} {:?} {:?} {:?} {:?} {}", x.lo, x.hi, y.lo, y.hi, u8::from(y.logarithmic))
    }

    /// Ticks with their numbers along both sides, or with these names along x, and a grid if wanted.
    pub(crate) fn ticks(&self, canvas: &mut Canvas, groups: &[String], whole: bool, grid: bool) {
        let area = self.area;
        let x = self.x.ticks(area.width, APART[0].min(area.width / 4.0));
        // There is no half of a step.
        let x = x.into_iter().filter(|tick| groups.is_empty() && (!whole || tick.fract() == 0.0));
        let x: Vec<(f64, f64)> = x.map(|tick| (self.pixel([tick, self.y.lo])[0], tick)).collect();
        let y = self.y.ticks(area.height, APART[1]).into_iter();
        let y: Vec<(f64, f64)> = y.map(|tick| (self.pixel([self.x.lo, tick])[1], tick)).collect();
        let [left, top, right, bottom] = [area.left, area.top, area.right(), area.bottom()].map(pixels);
        let mut lines = [String::new(), String::new()];
        for at in x.iter().map(|(at, _)| pixels(*at)) {
            lines[0] += &format!("M{at} {top}V{bottom}");
            lines[1] += &format!("M{at} {bottom}v{TICK}");
        }
        for at in y.iter().map(|(at, _)| pixels(*at)) {
            lines[0] += &format!("M{left} {at}H{right}");
            lines[1] += &format!("M{left} {at}h-{TICK}");
        }
        for (line, colour) in lines.into_iter().zip([GRID, SOFT]).skip(usize::from(!grid)) {
            canvas.path(line, html!("stroke=\"{}\"", colour.hex()));
        }
        let font = |anchor| Font { size: SMALL, colour: SOFT, anchor };
        let named = groups
            .iter()
            .enumerate()
            .map(|(number, name)| (self.pixel([number as f64 + 0.5, self.y.lo])[0], name.clone()));
        let below = x.into_iter().map(|(at, tick)| (at, in_print(tick, 5))).chain(named);
        let below = below.map(|(at, text)| ([at, area.bottom() + 13.0], text)).collect();
        canvas.texts(below, font(Anchor::Middle));
        let beside = y.into_iter().map(|(at, tick)| ([area.left - 8.0, at], in_print(tick, 5)));
        canvas.texts(beside.collect(), font(Anchor::End));
    }

    /// The frame, and the names of both sides; that of y so far to the left.
    pub(crate) fn frame(&self, canvas: &mut Canvas, names: &[String; 2], aside: f64) {
        let area = self.area;
        outline(canvas, area);
        let font = Font { size: LARGE, colour: INK, anchor: Anchor::Middle };
        canvas.text([area.left + area.width / 2.0, area.bottom() + 30.0], &names[0], font);
        canvas.upright([area.left - aside, area.top + area.height / 2.0], &names[1], font);
    }
}

/// A thin frame.
pub(crate) fn outline(canvas: &mut Canvas, area: Rectangle) {
    canvas.rectangle(area, html!("fill=\"none\" stroke=\"{}\" stroke-width=\"0.8\"", SOFT.hex()));
}

/// Colours from the bottom to the top of a rectangle, with their values at its right.
pub(crate) fn colour_bar(canvas: &mut Canvas, area: Rectangle, values: Axis, map: fn(f64) -> Colour) {
    let shares: Vec<f64> = (0..BAR).rev().map(|i| f64::from(i) / f64::from(BAR - 1)).collect();
    canvas.image(area, &encode(1, &shares, BAR, map), Html::default());
    outline(canvas, area);
    // All of one value: that stands in the middle.
    let single = if values.lo == values.hi { vec![values.lo] } else { vec![] };
    let font = Font { size: SMALL, colour: SOFT, anchor: Anchor::Start };
    let (mut lines, mut texts) = (String::new(), vec![]);
    for tick in values.ticks(area.height, 34.0).into_iter().chain(single) {
        let at = area.bottom() - values.share(tick) * area.height;
        lines += &format!("M{} {}h{TICK}", pixels(area.right()), pixels(at));
        texts.push(([area.right() + 7.0, at], in_print(tick, 3)));
    }
    canvas.path(lines, html!("stroke=\"{}\"", SOFT.hex()));
    canvas.texts(texts, font);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_axes_have_powers_of_ten() {
        let axis = Axis { lo: 1e-4, hi: 1.0, logarithmic: true };
        let ticks: Vec<String> = axis.ticks(300.0, 60.0).iter().map(|tick| format!("{tick:.0e}")).collect();
        assert_eq!(ticks, ["1e-4", "1e-3", "1e-2", "1e-1", "1e0"]);
        assert!((axis.share(1e-2) - 0.5).abs() < 1e-12);
        // Within one power of ten there are round numbers.
        let narrow = Axis { lo: 0.2, hi: 0.8, logarithmic: true }.ticks(120.0, 40.0);
        assert!(narrow.len() == 4 && (narrow[0] - 0.2).abs() < 1e-12, "{narrow:?}");
    }

    #[test]
    fn ticks_stand_where_their_numbers_are() {
        let area = Rectangle { left: 60.0, top: 10.0, width: 400.0, height: 200.0 };
        let view = View { area, x: Axis::linear((0.0, 2.0)), y: Axis::linear((-1.0, 1.0)) };
        let mut canvas = Canvas::default();
        view.ticks(&mut canvas, &[], false, true);
        let svg = canvas.finish([1.0; 2]).into_string();
        assert!(svg.contains("<text x=\"160\" y=\"226.85\">0.5</text>"), "{svg}");
        assert!(svg.contains("<text x=\"52\" y=\"113.85\">0</text>"), "{svg}");
        assert!(svg.contains("M160 10V210") && svg.contains("M60 110H460"), "{svg}");
        assert_eq!(view.numbers(), "60 10 400 200 0.0 2.0 -1.0 1.0 0");
        let corners = view.rectangle([[0.5, 0.0], [1.0, 1.0]]);
        assert_eq!(corners, Rectangle { left: 160.0, top: 10.0, width: 100.0, height: 100.0 });
    }

    #[test]
    fn there_is_no_half_of_a_step() {
        let area = Rectangle { left: 0.0, top: 0.0, width: 400.0, height: 100.0 };
        let view = View { area, x: Axis::linear((1.0, 3.0)), y: Axis::linear((0.0, 1.0)) };
        let mut canvas = Canvas::default();
        view.ticks(&mut canvas, &[], true, false);
        let svg = canvas.finish([1.0; 2]).into_string();
        assert!(svg.contains(">2</text>") && !svg.contains(">1.5</text>"), "{svg}");
    }
}
