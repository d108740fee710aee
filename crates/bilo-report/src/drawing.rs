//! `NAME.svg`: a picture of the result, a field in colours beside contours.

use super::number::significant;
use super::picture::colour::{Colour, INK, LINES};
use super::picture::grid::Grid;
use super::picture::panel::{Contours, Panel, Shade, row};
use bilo::outcome::{Drawing, Line, Shown, Whose};

/// How much of the background the colours of a field hide.
const OPACITY: f64 = 0.5;
/// Characters that have room in a title or a line of the legend.
const LONGEST: usize = 44;

/// A drawing as SVG: the field over the background, beside it the contours over the background.
pub fn svg(drawing: &Drawing) -> String {
    let [x, y] = &drawing.axes;
    let grid = |values| Grid::new(x, y, values);
    let place = place(drawing);
    let title_of = |field: &Shown| short(&format!("{}{place}, {}", field.name, of(field.whose)));
    let titles =
        [drawing.field.as_ref().map_or_else(|| short(&drawing.name), title_of), format!("contours{place}")];
    let legends: Vec<String> = drawing.lines.iter().map(legend).collect();
    let bar = drawing.field.as_ref().map_or_else(String::new, |field| short(&field.name));

    let empty = Panel {
        title: &titles[0],
        names: [&drawing.names[0], &drawing.names[1]],
        to_scale: drawing.to_scale,
        background: drawing.background.as_deref().map(grid),
        field: None,
        contours: vec![],
    };
    let opacity = if drawing.background.is_some() { OPACITY } else { 1.0 };
    let field = drawing.field.as_ref();
    let field = field.map(|field| Shade { grid: grid(&field.values), name: &bar, range: None, opacity });
    let contours: Vec<Contours<'_>> =
        drawing.lines.iter().zip(&legends).map(|(line, legend)| contours(line, legend)).collect();
    let mut panels = vec![];
    if field.is_some() || contours.is_empty() {
        panels.push(Panel { field, ..empty.clone() });
    }
    if !contours.is_empty() {
        panels.push(Panel { title: &titles[1], contours, ..empty });
    }
    row(&panels)
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
        Whose::Classical => "classical solution",
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

/// Data in one colour; a hue for each contour, lines of the network whole and those of the classical solution broken.
fn contours<'a>(line: &'a Line, name: &'a str) -> Contours<'a> {
    let hue = LINES[line.contour % LINES.len()];
    let (colour, dashed) = match line.whose {
        Whose::Data => (INK, false),
        Whose::Network => (hue, false),
        // Darker, so that it is seen where it lies on the network's.
        Whose::Classical => (hue.over(Colour([0; 3]), 0.6), true),
    };
    let [x, y] = &line.axes;
    Contours { grid: Grid::new(x, y, &line.values), levels: vec![line.level], name, colour, dashed }
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
        svg(drawing).matches("<rect x=").count()
    }

    #[test]
    fn titles_say_where_and_legends_who_and_whether() {
        let svg = svg(&drawing());
        for text in [
            "u at z = 0.25, t = 1, network",
            "contours at z = 0.25, t = 1",
            "front: network",
            "front: classical solution",
            "front: classical solution (nowhere)",
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
