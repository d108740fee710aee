//! Plots side by side with one legend, as a drawing.

use super::axes::LARGE;
use super::colour::{Colour, INK, LINES, viridis};
use super::plot::{ASIDE, Plot};
use super::series::Series;
use super::svg::{Canvas, Font};
use crate::markup::{Html, html};

/// Height of a row of the legend.
const ROW: f64 = 20.0;

/// Plots in rows, so many in each, as a drawing in SVG. The legend above them has every name once.
pub(crate) fn sheet(plots: &[Plot], abreast: usize) -> Html {
    let outermost = |axis: usize| plots.iter().map(|plot| plot.outer()[axis]).fold(0.0, f64::max);
    let [across, down] = [outermost(0), outermost(1)];
    let width = across * plots.len().min(abreast) as f64;
    let mut canvas = Canvas::default();
    let below = draw_legend(&mut canvas, &named(plots), width);
    for (number, plot) in plots.iter().enumerate() {
        let (column, row) = ((number % abreast) as f64, (number / abreast) as f64);
        plot.draw(&mut canvas, [column * across, below + row * down]);
    }
    canvas.finish([width, below + down * plots.len().div_ceil(abreast) as f64])
}

/// The colour of one of so many series.
pub(crate) fn colour(number: usize, of: usize) -> Colour {
    match of <= LINES.len() {
        true => LINES[number],
        // The end of the map is too light for paper.
        false => viridis(0.9 * number as f64 / (of - 1) as f64),
    }
}

/// The series that a legend names, each name once.
fn named(plots: &[Plot]) -> Vec<&Series> {
    let mut found: Vec<&Series> = vec![];
    for series in plots.iter().flat_map(|plot| &plot.series).filter(|series| !series.name.is_empty()) {
        if found.iter().all(|other| other.name != series.name) {
            found.push(series);
        }
    }
    found
}

/// Names in rows of so many pixels; says where the last row ends.
fn draw_legend(canvas: &mut Canvas, entries: &[&Series], width: f64) -> f64 {
    let begin = ASIDE[0];
    let (mut left, mut y) = (begin, ROW / 2.0 + 2.0);
    for series in entries {
        let long = 30.0 + 0.55 * LARGE * series.name.chars().count() as f64;
        if left + long > width && left > begin {
            (left, y) = (begin, y + ROW);
        }
        canvas.group(html!("class=\"entry\" data-name=\"{}\"", &series.name), |canvas| {
            series.sample(canvas, [left, y]);
            let font = Font { size: LARGE, colour: INK, anchor: "start" };
            canvas.text([left + 28.0, y], &series.name, font);
        });
        left += long + 16.0;
    }
    if entries.is_empty() { 0.0 } else { y + ROW / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::axes::Axis;
    use crate::picture::series::Shape;

    fn plot(names: &[&str]) -> Plot {
        let line =
            |name: &&str| Series::new(*name, LINES[0], vec![Shape::Line(vec![[0.0; 2], [1.0; 2]], false)]);
        let axes = [Axis::linear((0.0, 1.0)); 2];
        Plot { series: names.iter().map(line).collect(), ..Plot::new("", ["x", "y"], axes, [114.0, 100.0]) }
    }

    #[test]
    fn a_legend_has_every_name_once_and_nothing_for_the_nameless() {
        let svg = sheet(&[plot(&["bilo", "", "<b>"]), plot(&["bilo"])], 2).into_string();
        assert_eq!(svg.matches("class=\"entry\"").count(), 2, "{svg}");
        assert!(svg.contains(">&lt;b&gt;</text>") && !svg.contains("<b>"), "{svg}");
        assert!(!sheet(&[plot(&[""])], 1).as_str().contains("class=\"entry\""));
    }

    #[test]
    fn plots_stand_in_rows() {
        let svg = sheet(&[plot(&[""]), plot(&[""]), plot(&[""])], 2).into_string();
        // A plot is 200 x 152 with all that is around it.
        assert!(svg.contains("width=\"400\" height=\"304\""), "{svg}");
        for place in ["72 10 114", "272 10 114", "72 162 114"] {
            assert!(svg.contains(&format!("data-view=\"{place} ")), "{place}: {svg}");
        }
    }

    #[test]
    fn names_that_have_no_room_begin_a_row() {
        let svg = sheet(&[plot(&["one name", "another long name"])], 1).into_string();
        assert!(
            svg.contains("<text x=\"100\" y=\"16.2\"") && svg.contains("<text x=\"100\" y=\"36.2\""),
            "{svg}"
        );
    }
}
