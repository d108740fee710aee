//! A rectangle with axes: where numbers are in it, ticks, names.

use super::colour::{Colour, GRID, INK, SOFT};
use super::png::encode;
use super::svg::{Canvas, Font, Rectangle, pixels};
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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
        if powers.len() > 1 { powers } else { round_numbers(self.lo, self.hi, wanted) }
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
        let numbers = self.x.ticks(area.width, APART[0].min(area.width / 4.0)).into_iter();
        // There is no half of a step.
        let numbers =
            numbers.filter(|tick| !whole || tick.fract() == 0.0).map(|tick| (tick, in_print(tick, 5)));
        let names = groups.iter().enumerate().map(|(number, name)| (number as f64 + 0.5, name.clone()));
        let x: Vec<(f64, String)> = if groups.is_empty() { numbers.collect() } else { names.collect() };
        let [left, top, right, bottom] = [area.left, area.top, area.right(), area.bottom()].map(pixels);
        let (mut long, mut short) = (String::new(), String::new());
        let (mut below, mut beside) = (vec![], vec![]);
        for (tick, text) in x {
            let at = self.pixel([tick, self.y.lo])[0];
            long += &format!("M{} {top}V{bottom}", pixels(at));
            short += &format!("M{} {bottom}v{TICK}", pixels(at));
            below.push(([at, area.bottom() + 13.0], text));
        }
        for tick in self.y.ticks(area.height, APART[1]) {
            let at = self.pixel([self.x.lo, tick])[1];
            long += &format!("M{left} {}H{right}", pixels(at));
            short += &format!("M{left} {}h-{TICK}", pixels(at));
            beside.push(([area.left - 8.0, at], in_print(tick, 5)));
        }
        if grid {
            canvas.path(long, html!("stroke=\"{}\"", GRID.hex()));
        }
        canvas.path(short, html!("stroke=\"{}\"", SOFT.hex()));
        let font = |anchor| Font { size: SMALL, colour: SOFT, anchor };
        canvas.texts(below, font("middle"));
        canvas.texts(beside, font("end"));
    }

    /// The frame, and the names of both sides; that of y so far to the left.
    pub(crate) fn frame(&self, canvas: &mut Canvas, names: &[String; 2], aside: f64) {
        let area = self.area;
        outline(canvas, area);
        let font = Font { size: LARGE, colour: INK, anchor: "middle" };
        canvas.text([area.left + area.width / 2.0, area.bottom() + 30.0], &names[0], font);
        let [x, y] = [area.left - aside, area.top + area.height / 2.0];
        let upwards = html!(" transform=\"rotate(-90 {} {})\"", pixels(x), pixels(y));
        canvas.text_with([x, y], &names[1], font, upwards);
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
    let font = Font { size: SMALL, colour: SOFT, anchor: "start" };
    let (mut lines, mut texts) = (String::new(), vec![]);
    for tick in values.ticks(area.height, 34.0).into_iter().chain(single) {
        let at = area.bottom() - values.share(tick) * area.height;
        lines += &format!("M{} {}h{TICK}", pixels(area.right()), pixels(at));
        texts.push(([area.right() + 7.0, at], in_print(tick, 3)));
    }
    canvas.path(lines, html!("stroke=\"{}\"", SOFT.hex()));
    canvas.texts(texts, font);
}

/// Multiples of 1, 2 or 5 times a power of ten within a range, about as many as wanted; none if the range is empty.
fn round_numbers(lo: f64, hi: f64, wanted: usize) -> Vec<f64> {
    let width = hi - lo;
    if !(width > 0.0 && width.is_finite()) {
        return vec![];
    }
    let rough = width / wanted as f64;
    let power = 10.0_f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let step = factors.into_iter().map(|factor| factor * power).find(|&step| step >= 0.99 * rough);
    let step = step.unwrap_or(10.0 * power);
    // A tick at an end must not be lost to rounding.
    let slack = 1e-9 * width / step;
    let (first, last) = ((lo / step - slack).ceil(), (hi / step + slack).floor());
    let count = (last - first + 1.0).max(0.0) as usize;
    (0..count).map(|i| (first + i as f64) * step).collect()
}

/// Powers of ten within a range, no more than wanted.
fn powers(lo: f64, hi: f64, wanted: usize) -> Vec<f64> {
    let (first, last) = ((lo.log10() - 1e-9).ceil(), (hi.log10() + 1e-9).floor());
    if !first.is_finite() || !last.is_finite() {
        return vec![];
    }
    let (first, last) = (first as i32, last as i32);
    let each = (f64::from(last - first + 1) / wanted as f64).ceil().max(1.0) as usize;
    (first..=last).step_by(each).map(|power| 10.0_f64.powi(power)).collect()
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

    #[test]
    fn ticks_are_round_and_reach_the_ends() {
        let close = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            let pairs = found.iter().zip(expected);
            pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-12 * b.abs().max(1e-3), "{found:?}"));
        };
        close(round_numbers(0.0, 1.0, 5), &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        close(round_numbers(-0.31, 0.29, 5), &[-0.2, 0.0, 0.2]);
        close(round_numbers(0.0, 0.3, 3), &[0.0, 0.1, 0.2, 0.3]);
        close(round_numbers(1.0e5, 1.00004e5, 4), &[100_000.0, 100_001.0, 100_002.0, 100_003.0, 100_004.0]);
        close(round_numbers(0.11, 0.19, 1), &[]);
        close(round_numbers(3e-7, 9e-7, 3), &[4e-7, 6e-7, 8e-7]);
    }

    #[test]
    fn powers_of_ten_are_thinned() {
        assert_eq!(powers(0.1, 100.0, 5), [0.1, 1.0, 10.0, 100.0]);
        assert_eq!(powers(1e-12, 1.0, 3).len(), 3);
        assert_eq!(powers(2.0, 9.0, 3), [0.0; 0]);
    }

    #[test]
    fn an_empty_range_has_none() {
        for (lo, hi) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(round_numbers(lo, hi, 5).is_empty());
        }
        for (lo, hi) in [(f64::INFINITY, f64::NEG_INFINITY), (0.0, 1.0), (f64::NAN, 1.0), (-1.0, 1.0)] {
            assert!(powers(lo, hi, 5).is_empty());
        }
    }
}
