//! `NAME.svg`: a picture of the result, a field in colours beside contours.

use crate::number::{extent, significant};
use crate::picture::axes::Axis;
use crate::picture::colour::{Colour, INK, LINES, grey, viridis};
use crate::picture::contour::{Grid, contours};
use crate::picture::plot::{Plot, Shade};
use crate::picture::series::{Series, Shape};
use crate::picture::sheet::sheet;
use bilo::outcome::{Drawing, Line, Shown, Whose};

/// The longer side of a rectangle, in pixels.
const LONGER_SIDE: f64 = 320.0;
/// How much of the background the colours of a field hide.
const OPACITY: f64 = 0.5;
/// Characters that have room in a title or a line of the legend.
const LONGEST: usize = 44;

/// A drawing as SVG: the field over the background, beside it the contours over the background.
pub fn svg(drawing: &Drawing) -> String {
    let place = place(drawing);
    let field = drawing.field.as_ref();
    let mut plots = vec![];
    if field.is_some() || drawing.lines.is_empty() {
        let title_of = |field: &Shown| short(&format!("{}{place}, {}", field.name, of(field.whose)));
        let mut plot = background(drawing, &field.map_or_else(|| short(&drawing.name), title_of));
        let opacity = if drawing.background.is_some() { OPACITY } else { 1.0 };
        plot.shades.extend(field.map(|field| shade(drawing, &field.values, viridis, opacity)));
        plots.push(plot);
    }
    if !drawing.lines.is_empty() {
        let series = drawing.lines.iter().map(series).collect();
        plots.push(Plot { series, halo: true, ..background(drawing, &format!("contours{place}")) });
    }
    sheet(&plots, 2).into_string()
}

/// The rectangle that holds every field, with the background in grey.
fn background(drawing: &Drawing, title: &str) -> Plot {
    let axes = || drawing.lines.iter().map(|line| &line.axes).chain([&drawing.axes]);
    let ends =
        [0, 1].map(|axis: usize| extent(axes().flat_map(|axes| &axes[axis]).copied()).unwrap_or((0.0, 1.0)));
    let lengths = if drawing.to_scale { ends.map(|(lo, hi)| hi - lo) } else { [1.0; 2] };
    let size = lengths.map(|length| LONGER_SIDE * length / lengths[0].max(lengths[1]));
    let names = [drawing.names[0].as_str(), &drawing.names[1]];
    let mut plot = Plot::new(title, names, ends.map(Axis::linear), size);
    let behind = drawing.background.as_ref();
    plot.shades.extend(behind.map(|values| Shade { bar: false, ..shade(drawing, values, grey, 1.0) }));
    plot
}

/// A field at the nodes of a drawing.
fn shade(drawing: &Drawing, values: &[f64], map: fn(f64) -> Colour, opacity: f64) -> Shade {
    let [x, y] = &drawing.axes;
    let (columns, rows) = (x.len(), y.len());
    let upwards = (0..rows).flat_map(|j| (0..columns).map(move |i| values[i * rows + j])).collect();
    let ends = Grid::new(x, y, values).range().unwrap_or((0.0, 1.0));
    let corners = [[x[0], y[0]], [x[columns - 1], y[rows - 1]]];
    Shade { shape: [1, rows, columns], values: upwards, corners, map, ends, opacity, bar: true, array: None }
}

/// ` at t = 1`, or nothing if there are no other coordinates.
fn place(drawing: &Drawing) -> String {
    let places: Vec<String> =
        drawing.at.iter().map(|(name, value)| format!("{name} = {}", significant(*value))).collect();
    if places.is_empty() { String::new() } else { format!(" at {}", places.join(", ")) }
}

fn of(whose: Whose) -> &'static str {
    match whose {
        Whose::Network => "network",
        Whose::Classical => "reference solution",
        Whose::Data => "data",
    }
}

/// A line that is nowhere to be seen says so.
fn legend(line: &Line) -> String {
    let above = line.values.iter().filter(|value| **value >= line.level).count();
    let passes = 0 < above && above < line.values.len();
    let nowhere = if passes { "" } else { " (nowhere)" };
    format!("{}: {}{nowhere}", short(&line.name), of(line.whose))
}

/// Data in one colour; a hue for each contour, lines of the network whole and those of the reference solution broken.
fn series(line: &Line) -> Series {
    let hue = LINES[line.contour % LINES.len()];
    let (colour, dashed) = match line.whose {
        Whose::Data => (INK, false),
        Whose::Network => (hue, false),
        // Darker, so that it is seen where it lies on the network's.
        Whose::Classical => (hue.over(Colour([0; 3]), 0.6), true),
    };
    let [x, y] = &line.axes;
    let found = contours(&Grid::new(x, y, &line.values), line.level);
    let shapes = found.into_iter().map(|line| Shape::Line(line.points, line.closed)).collect();
    Series { dashed, ..Series::new(legend(line), colour, shapes) }
}

/// The beginning of a text that is too long.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_string(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cone over [0, 2] x [0, 1] by the network, and a plane below its level.
    fn drawing() -> Drawing {
        let axes = [vec![0.0, 1.0, 2.0], vec![0.0, 0.5, 1.0]];
        let line = |contour, whose, values: [f64; 9]| Line {
            contour,
            name: "front".to_string(),
            whose,
            axes: axes.clone(),
            values: values.to_vec(),
            level: 0.5,
        };
        let cone = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        Drawing {
            name: "p".to_string(),
            names: ["x".to_string(), "y".to_string()],
            axes: axes.clone(),
            to_scale: true,
            at: vec![("z".to_string(), 0.25), ("t".to_string(), 1.0)],
            background: None,
            field: Some(Shown { name: "u".to_string(), whose: Whose::Network, values: cone.to_vec() }),
            lines: vec![
                line(0, Whose::Network, cone),
                line(0, Whose::Classical, cone),
                line(6, Whose::Classical, [0.0; 9]),
            ],
        }
    }

    fn frames(drawing: &Drawing) -> usize {
        svg(drawing).matches("fill=\"none\" stroke=\"#5c6470\" stroke-width=\"0.8\"/>").count()
    }

    #[test]
    fn titles_say_where_and_legends_who_and_whether() {
        let svg = svg(&drawing());
        for text in [
            "u at z = 0.25, t = 1, network",
            "contours at z = 0.25, t = 1",
            "front: network",
            "front: reference solution",
            "front: reference solution (nowhere)",
        ] {
            assert!(svg.contains(&format!(">{text}</text>")), "{text}");
        }
        assert!(svg.contains(&LINES[0].hex()), "the network's own colour");
    }

    #[test]
    fn there_is_a_panel_for_what_there_is() {
        let both = drawing();
        assert_eq!(frames(&both), 3, "the field, its bar and the contours");
        assert_eq!(frames(&Drawing { field: None, ..both.clone() }), 1);
        assert_eq!(frames(&Drawing { lines: vec![], ..both.clone() }), 2);
        let alone = Drawing { field: None, lines: vec![], background: Some(vec![1.0; 9]), ..both };
        assert!(svg(&alone).contains(">p</text>"), "its name, if nothing else has one");
    }

    /// Over 2 x 1, or as a square where one axis is the time.
    #[test]
    fn only_lengths_are_to_scale() {
        assert!(svg(&drawing()).contains("width=\"320\" height=\"160\""));
        assert!(svg(&Drawing { to_scale: false, ..drawing() }).contains("width=\"320\" height=\"320\""));
    }

    #[test]
    fn long_texts_are_cut() {
        let long = "é".repeat(LONGEST + 1);
        assert_eq!(short(&long), format!("{}…", "é".repeat(LONGEST)));
        assert_eq!(short("short"), "short");
    }
}
