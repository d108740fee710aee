//! What the pictures of a problem show, as plain arrays: fields and contours by the network, by the classical
//! solution at the estimate and in the data.
//!
//! A picture is for people and comes after all the work is done. So what cannot be drawn is left out with a
//! warning, and never an error.

use crate::outcome::{Drawing, Line, Shown, Whose};
use crate::predictor::Predictor;
use bilo_problem::diagnostic::Result;
use bilo_problem::{Contour, Coordinate, Formula, GridValues, Picture, Problem, Table};
use bilo_reference::solver::ReferenceSolution;

/// Nodes along each axis.
const NODES: usize = 161;

/// Observed values are drawn where they pass this: segmentations are zeros and ones.
const HALF: f64 = 0.5;

/// A coordinate counts as held at a value that it misses by no more than this share of its range: files round.
const SAME_PLACE: f64 = 1e-9;

/// What there is to be drawn.
pub(crate) struct Solutions<'s, 'a> {
    /// What stands for the solution.
    pub(crate) predictor: &'s mut (dyn Predictor<'a> + 'a),
    /// The reference solution, if there is one.
    pub(crate) classical: Option<&'s ReferenceSolution<'s>>,
    /// The data of every observation.
    pub(crate) tables: &'s [Table],
}

impl Solutions<'_, '_> {
    fn evaluate(
        &mut self,
        whose: Whose,
        formula: &Formula,
        columns: &[Vec<f64>],
    ) -> Option<Result<Vec<f64>>> {
        match whose {
            Whose::Network if !self.predictor.has_formulas() => None,
            Whose::Network => Some(self.predictor.formula(formula, columns)),
            Whose::Classical => self.classical.map(|solution| solution.observe(formula, columns)),
            Whose::Data => None,
        }
    }
}

/// The pictures of a problem at an estimate, and what could not be drawn.
pub(crate) fn draw(
    problem: &Problem,
    mut solutions: Solutions<'_, '_>,
    theta: &[f64],
) -> (Vec<Drawing>, Vec<String>) {
    let (mut drawings, mut warnings) = (vec![], vec![]);
    for picture in &problem.pictures {
        let axes = picture.axes.map(|axis| nodes(&problem.coordinates[axis]));
        let columns = columns(problem, picture, &axes);
        let mut draughtsman = Draughtsman {
            problem,
            picture,
            theta,
            axes,
            columns,
            solutions: &mut solutions,
            warnings: vec![],
        };
        drawings.extend(draughtsman.draw());
        let about = |fault| format!("picture `{}`: {fault}", picture.name);
        warnings.extend(draughtsman.warnings.into_iter().map(about));
    }
    (drawings, warnings)
}

/// Equidistant, both ends included; fewer where numbers are not fine enough for so many.
fn nodes(coordinate: &Coordinate) -> Vec<f64> {
    let last = (NODES - 1) as f64;
    let mut nodes: Vec<f64> = (0..NODES).map(|i| coordinate.at_fraction(i as f64 / last)).collect();
    nodes.sort_by(f64::total_cmp);
    nodes.dedup();
    nodes
}

/// The points of a drawing, one column per coordinate of the problem.
fn columns(problem: &Problem, picture: &Picture, [right, up]: &[Vec<f64>; 2]) -> Vec<Vec<f64>> {
    let count = right.len() * up.len();
    let mut columns = vec![vec![0.0; count]; problem.coordinates.len()];
    columns[picture.axes[0]] = right.iter().flat_map(|&x| vec![x; up.len()]).collect();
    columns[picture.axes[1]] = right.iter().flat_map(|_| up.clone()).collect();
    for &(coordinate, value) in &picture.at {
        columns[coordinate] = vec![value; count];
    }
    columns
}

/// Draws one picture.
struct Draughtsman<'a, 'b, 'c> {
    problem: &'a Problem,
    picture: &'a Picture,
    /// The unknown numbers at the estimate.
    theta: &'a [f64],
    axes: [Vec<f64>; 2],
    columns: Vec<Vec<f64>>,
    solutions: &'a mut Solutions<'b, 'c>,
    warnings: Vec<String>,
}

impl Draughtsman<'_, '_, '_> {
    /// None if nothing can be drawn.
    fn draw(&mut self) -> Option<Drawing> {
        let picture = self.picture;
        let background = picture.background.as_ref().and_then(|formula| self.shown(formula));
        let field = picture.field.as_ref().and_then(|formula| self.shown(formula));
        let contours = picture.contours.iter().enumerate();
        let lines: Vec<Line> = contours.flat_map(|(number, contour)| self.lines(number, contour)).collect();
        let coordinate = |number: usize| &self.problem.coordinates[number];
        let drawing = Drawing {
            name: picture.name.clone(),
            names: picture.axes.map(|axis| coordinate(axis).name.clone()),
            axes: self.axes.clone(),
            to_scale: picture.axes.iter().all(|&axis| !coordinate(axis).time),
            at: picture.at.iter().map(|&(c, value)| (coordinate(c).name.clone(), value)).collect(),
            background: background.map(|shown| shown.values),
            field,
            lines,
        };
        let empty = drawing.background.is_none() && drawing.field.is_none() && drawing.lines.is_empty();
        (!empty).then_some(drawing)
    }

    /// A quantity by the network, or by the classical solution where there is no network.
    fn shown(&mut self, formula: &Formula) -> Option<Shown> {
        let whose = if self.solutions.predictor.has_formulas() { Whose::Network } else { Whose::Classical };
        let values = self.values(whose, formula)?;
        Some(Shown { name: formula.text.clone(), whose, values })
    }

    fn values(&mut self, whose: Whose, formula: &Formula) -> Option<Vec<f64>> {
        let found = self.solutions.evaluate(whose, formula, &self.columns)?;
        found.map_err(|error| self.warnings.push(format!("`{}`: {}", formula.text, error.headline()))).ok()
    }

    /// A contour in the data and by both solutions.
    fn lines(&mut self, number: usize, contour: &Contour) -> Vec<Line> {
        let line = |whose, axes, values, level| Line {
            contour: number,
            name: contour.name.clone(),
            whose,
            axes,
            values,
            level,
        };
        let mut lines = vec![];
        match contour.data.map(|observation| self.observed(observation)) {
            Some(Ok((axes, values))) => lines.push(line(Whose::Data, axes, values, HALF)),
            Some(Err(fault)) => {
                self.warnings.push(format!("no contour of the data of `{}`: {fault}", contour.name))
            }
            None => {}
        }
        match contour.level_at(self.problem, self.theta) {
            Ok(level) => {
                for whose in [Whose::Network, Whose::Classical] {
                    let values = self.values(whose, &contour.value);
                    lines.extend(values.map(|values| line(whose, self.axes.clone(), values, level)));
                }
            }
            Err(error) => self.warnings.push(format!("`{}`: {}", contour.level.text, error.headline())),
        }
        lines
    }

    /// Nodes and values of data on a grid over the axes; says why if they are none.
    fn observed(&self, observation: usize) -> std::result::Result<([Vec<f64>; 2], Vec<f64>), String> {
        let (table, coordinates) = (&self.solutions.tables[observation], &self.problem.coordinates);
        let here = |row: &usize| {
            self.picture.at.iter().all(|&(c, value)| {
                let range = coordinates[c].hi - coordinates[c].lo;
                (table.coordinates[c][*row] - value).abs() <= SAME_PLACE * range
            })
        };
        let rows: Vec<usize> = (0..table.values.len()).filter(here).collect();
        let take = |column: &[f64]| rows.iter().map(|&row| column[row]).collect::<Vec<f64>>();
        let over = self.picture.axes;
        let own = Table {
            coordinates: over.iter().map(|&axis| take(&table.coordinates[axis])).collect(),
            values: take(&table.values),
            sigma: None,
        };
        if rows.is_empty() {
            return Err("there are none at the place of the picture".to_owned());
        }
        let grid = GridValues::from_table(&over.map(|axis| coordinates[axis].clone()), &own)?;
        let axes = [0, 1].map(|axis| grid.nodes(axis).to_vec());
        match axes.iter().all(|nodes| nodes.len() > 1) {
            true => Ok((axes, grid.values().to_vec())),
            false => Err("they are on a line".to_owned()),
        }
    }
}
