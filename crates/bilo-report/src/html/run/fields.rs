//! The solution: by what was trained, by the reference solver, their difference, and the residuals.

use super::{CLASSICAL, ESTIMATE, solver};
use crate::html::block::{Axis, Block};
use crate::html::figure::{Curve, Figures, Lines, Ordinates, Panel, Scale};
use crate::html::source::Source;
use crate::markup::{Html, html};

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
        let solved =
            (solver(source) != "reference solution").then(|| block(&format!("{name}_network"))).flatten();
        let classical = block(&format!("{name}_classical"));
        let pair = Pair { solver: solver(source), solved, classical, name };
        if let (Some(a), Some(b), Some(difference)) = (&pair.solved, &pair.classical, pair.difference()) {
            figures.compare(a, b, &difference);
        }
        html += pair.html(source.time(), figures);
    }
    let residuals = source.names("equation").into_iter();
    let residuals = residuals.filter_map(|name| Some((block(&format!("residual_{name}"))?, name)));
    html + residual(residuals.collect(), solver(source), figures)
}

/// A state by both solvers, as far as there are both.
struct Pair {
    name: String,
    solver: &'static str,
    solved: Option<Block>,
    classical: Option<Block>,
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
    fn both(&self) -> impl Iterator<Item = (&'static str, usize, &Block)> {
        let solved = self.solved.as_ref().map(|block| (self.solver, ESTIMATE, block));
        let classical = self.classical.as_ref().map(|block| ("reference solution", CLASSICAL, block));
        solved.into_iter().chain(classical)
    }

    fn difference(&self) -> Option<Block> {
        self.solved.as_ref()?.minus(self.classical.as_ref()?)
    }

    fn range(&self) -> (f64, f64) {
        let ranges = self.both().map(|(_, _, block)| block.range());
        ranges.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (lo, hi)| (a.min(lo), b.max(hi)))
    }

    fn maps(&self, any: &Block, figures: &mut Figures) -> Html {
        let name = &self.name;
        let (lo, hi) = self.range();
        let scale = Scale::Values(lo, hi);
        let panel = |(what, _, block): (&str, usize, &Block)| Panel {
            title: format!("{name}, {what}"),
            block: block.clone(),
            scale,
        };
        let mut panels: Vec<Panel> = self.both().map(panel).collect();
        let title = format!("{name}, {} − reference", self.solver);
        panels.extend(self.difference().map(|block| Panel { title, block, scale: Scale::Differences }));
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
        let curve = |(what, colour, block): (&str, usize, &Block)| Curve {
            dashed: colour == CLASSICAL,
            y: Ordinates::Moving(block.clone()),
            ..Curve::new(what, colour, &x.nodes, vec![])
        };
        // The broken line on top, so that both are seen where they agree.
        let lines = Lines {
            title: format!("{} over {}", self.name, x.name),
            names: [x.name.clone(), self.name.clone()],
            curves: self.both().map(curve).collect(),
            ..Lines::default()
        };
        figures.lines(lines, format!("at one {}, which the slider moves.", time.name))
    }

    fn curves(&self, any: &Block, figures: &mut Figures) -> Html {
        let x = &any.axes[0];
        let curve = |(what, colour, block): (&str, usize, &Block)| {
            let curve = Curve::new(what, colour, &x.nodes, block.values.clone());
            if colour == CLASSICAL { curve.dashed() } else { curve }
        };
        let lines = Lines {
            title: self.name.clone(),
            names: [x.name.clone(), self.name.clone()],
            curves: self.both().map(curve).collect(),
            ..Lines::default()
        };
        let html = figures.lines(lines, format!("at {} nodes.", any.resolution()));
        let Some(difference) = self.difference() else { return html };
        let name = format!("{} − reference", self.solver);
        let lines = Lines {
            title: format!("{}, {name}", self.name),
            names: [x.name.clone(), "difference".into()],
            curves: vec![Curve::new(&name, ESTIMATE, &x.nodes, difference.values)],
            ..Lines::default()
        };
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
            Curve::new(&name, (ESTIMATE + number) % 6, &x.nodes, block.values)
        };
        let curves = residuals.into_iter().enumerate().map(curve).collect();
        let names = [x.name.clone(), "residual".into()];
        let lines = Lines { title: TITLE.into(), names, curves, ..Lines::default() };
        return heading + figures.lines(lines, caption);
    }
    caption += " Colour scale clipped at the 99th percentile.";
    let panel = |(block, name): (Block, String)| Panel { title: name, block, scale: Scale::Differences };
    heading + figures.maps(TITLE, residuals.into_iter().map(panel).collect(), caption)
}
