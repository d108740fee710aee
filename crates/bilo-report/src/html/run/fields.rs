//! The solution: by what was trained, by the reference solver, their difference, and the residuals.

use super::solver;
use crate::html::block::{Axis, Block};
use crate::html::figure::{Figures, Lines, Panel};
use crate::html::hues::{ESTIMATE, REFERENCE};
use crate::html::source::Source;
use crate::markup::{Html, html};
use crate::picture::colour::{Colour, LINES};
use crate::picture::series::{Series, Shape, joined};

/// The axes of these names; none if one has no nodes in the folder.
pub(super) fn axes_of(source: &Source, names: &[String]) -> Option<Vec<Axis>> {
    let axis = |name: &String| {
        let array = source.arrays.get(name).filter(|array| array.shape.len() == 1)?;
        Some(Axis { name: name.clone(), nodes: array.data.clone() })
    };
    names.iter().map(axis).collect()
}

pub(super) fn html(source: &Source, figures: &mut Figures) -> Html {
    let Some(axes) = axes_of(source, &source.names("coordinates")) else { return Html::default() };
    let block = |name: &str| Block::new(source.arrays.get(name)?, &axes, source.time());
    let mut html = Html::default();
    for name in source.names("state") {
        let solved = (solver(&source.outcome) != "reference solution")
            .then(|| block(&format!("{name}_network")))
            .flatten();
        let classical = block(&format!("{name}_classical"));
        let both = solved.as_ref().zip(classical.as_ref());
        let difference = both.and_then(|(solved, classical)| figures.compare(solved, classical));
        let pair = Pair { solver: solver(&source.outcome), solved, classical, difference, name };
        html += pair.html(source.time(), figures);
    }
    let residuals = source.names("equation").into_iter();
    let residuals = residuals.filter_map(|name| Some((block(&format!("residual_{name}"))?, name)));
    html + residual(residuals.collect(), solver(&source.outcome), figures)
}

/// A state by both solvers, as far as there are both.
struct Pair {
    name: String,
    solver: &'static str,
    solved: Option<Block>,
    classical: Option<Block>,
    difference: Option<Block>,
}

impl Pair {
    fn html(&self, time: Option<&str>, figures: &mut Figures) -> Html {
        let Some(any) = self.solved.as_ref().or(self.classical.as_ref()) else { return Html::default() };
        let evolves = time.is_some_and(|time| any.axes.first().is_some_and(|axis| axis.name == time));
        let drawn = match any.axes.len() {
            1 => self.curves(any, figures),
            2 if evolves => self.maps(any, figures) + self.profiles(any, figures),
            2 | 3 => self.maps(any, figures),
            _ => Html::default(),
        };
        html!("<h3>{}</h3>\n{}", &self.name, drawn)
    }

    /// Both solutions with their names and colours.
    fn both(&self) -> impl Iterator<Item = (&'static str, Colour, &Block)> {
        let solved = self.solved.as_ref().map(|block| (self.solver, ESTIMATE, block));
        let classical = self.classical.as_ref().map(|block| ("reference solution", REFERENCE, block));
        solved.into_iter().chain(classical)
    }

    fn range(&self) -> (f64, f64) {
        Block::common_range(self.both().map(|(_, _, block)| block))
    }

    fn maps(&self, any: &Block, figures: &mut Figures) -> Html {
        let name = &self.name;
        let ends = Some(self.range());
        let panel = |what: &str, block: &Block| Panel {
            title: format!("{name}, {what}"),
            block: block.clone(),
            ends,
        };
        let mut panels: Vec<Panel> = self.both().map(|(what, _, block)| panel(what, block)).collect();
        let title = format!("{name}, {} − reference", self.solver);
        panels.extend(self.difference.clone().map(|block| Panel { title, block, ends: None }));
        let shared = if panels.len() > 1 {
            "; both solutions in the same colours, the colour scale of the difference clipped at the 99th percentile"
        } else {
            ""
        };
        let place = match any.axes.len() {
            3 => format!(" The slider moves {}.", any.axes[0].name),
            _ => String::new(),
        };
        figures.maps(name, panels, format!("at {} nodes{shared}.{place}", any.resolution()))
    }

    /// Curves over space that a slider moves through time.
    fn profiles(&self, any: &Block, figures: &mut Figures) -> Html {
        let [time, x] = any.axes.as_slice() else { return Html::default() };
        let series = self.both().map(|(what, colour, block)| {
            let last = &block.values[block.values.len() - x.nodes.len()..];
            let line = Shape::Line(joined(&x.nodes, last), false);
            let (dashed, array) = (colour == REFERENCE, Some(figures.array(block)));
            Series { dashed, array, ..Series::new(what, colour, vec![line]) }
        });
        let series = series.collect();
        // The broken line on top, so that both are seen where they agree.
        let lines = Lines::new(format!("{} over {}", self.name, x.name), [&x.name, &self.name], series);
        let lines = Lines { moving: Some((figures.axis(time), self.range())), ..lines };
        figures.lines(lines, format!("at one {}, which the slider moves.", time.name))
    }

    fn curves(&self, any: &Block, figures: &mut Figures) -> Html {
        let x = &any.axes[0];
        let series = self.both().map(|(what, colour, block)| Series {
            dashed: colour == REFERENCE,
            ..Series::curve(what, colour, &x.nodes, &block.values)
        });
        let lines = Lines::new(&self.name, [&x.name, &self.name], series.collect());
        let html = figures.lines(lines, format!("at {} nodes.", any.resolution()));
        let Some(difference) = &self.difference else { return html };
        let name = format!("{} − reference", self.solver);
        let series = vec![Series::curve(&name, ESTIMATE, &x.nodes, &difference.values)];
        let lines = Lines::new(format!("{}, {name}", self.name), [&x.name, "difference"], series);
        html + figures.lines(lines, "of the two solutions above.")
    }
}

/// The residuals of all equations.
fn residual(residuals: Vec<(Block, String)>, solver: &str, figures: &mut Figures) -> Html {
    let Some((first, _)) = residuals.first() else { return Html::default() };
    let mut caption = format!("of the {solver}: what is left of each equation, zero for a solution.");
    const TITLE: &str = "Residuals of the equations";
    let heading = html!("<h3>{}</h3>\n", TITLE);
    if first.axes.len() == 1 {
        let x = first.axes[0].clone();
        let curve = |(number, (block, name)): (usize, (Block, String))| {
            Series::curve(&name, LINES[(1 + number) % LINES.len()], &x.nodes, &block.values)
        };
        let series = residuals.into_iter().enumerate().map(curve).collect();
        return heading + figures.lines(Lines::new(TITLE, [&x.name, "residual"], series), caption);
    }
    caption += " Colour scale clipped at the 99th percentile.";
    let panel = |(block, name): (Block, String)| Panel { title: name, block, ends: None };
    heading + figures.maps(TITLE, residuals.into_iter().map(panel).collect(), caption)
}
