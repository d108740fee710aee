//! `NAME.svg`: a picture of the result, a field in colours beside contours.

use super::number::significant;
use super::picture::colour::{Colour, INK, LINES};
use super::picture::grid::Grid;
use super::picture::panel::{Contours, Panel, Shade, row};
use bilo::picture::{Drawing, Line, Shown, Whose};

/// How much of the background the colours of a field hide.
const OPACITY: f64 = 0.6;
/// Characters that have room in a title or a line of the legend.
const LONGEST: usize = 44;

/// A drawing as SVG: the field over the background, beside it the contours over the background.
pub(crate) fn svg(drawing: &Drawing) -> String {
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
    let field = drawing.field.as_ref();
    let field =
        field.map(|field| Shade { grid: grid(&field.values), name: &bar, range: None, opacity: OPACITY });
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

fn legend(line: &Line) -> String {
    format!("{}: {}", short(&line.name), of(line.whose))
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
