//! Unknown functions as their networks have them.

use super::Lattice;
use crate::diagnostic::Result;
use crate::operator::{LocalOperator, program_error};
use crate::problem::Problem;
use crate::theta::Theta;
use crate::train::Point;
use bilo_jet::{Column, Device, FieldProgram, PointSource};

/// An unknown function at points, given by one column per coordinate of it.
pub(crate) fn sample(
    problem: &Problem,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    point: &Point,
    number: usize,
    columns: &[&[f64]],
) -> Result<Vec<f64>> {
    let function = &problem.functions[number];
    let unknowns = operator.unknowns(&point.eta);
    let graph = &mut operator.names.graph;
    let program = FieldProgram::new(graph, &operator.operator, &[operator.functions[number]])
        .map_err(|error| program_error(graph, &error, &function.form.origin))?;
    // The others are not asked for.
    let mut all: Vec<Column> =
        problem.coordinates.iter().map(|coordinate| Column::uniform(coordinate.lo)).collect();
    for (&c, column) in function.of.iter().zip(columns) {
        all[c] = Column::stored(column.to_vec());
    }
    let points = PointSource::new(all, columns[0].len());
    Ok(device.evaluate(&program, points, &point.weights, &unknowns).swap_remove(0))
}

/// Everything unknown at a point of training, functions by their values on their grids.
pub(crate) fn theta(
    problem: &Problem,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    point: &Point,
) -> Result<Theta> {
    let mut functions = vec![];
    for (number, function) in problem.functions.iter().enumerate() {
        let columns = Lattice::new(problem, function).columns();
        let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..]).collect();
        functions.push(sample(problem, operator, device, point, number, &columns)?);
    }
    Ok(Theta { eta: point.eta.clone(), functions })
}
