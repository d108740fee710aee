//! Unknown functions as training has them.

use crate::operator::{LocalOperator, program_error};
use crate::state::OperatorState;
use bilo_jet::{Device, FieldProgram, PointSource};
use bilo_problem::diagnostic::Result;
use bilo_problem::function::Lattice;
use bilo_problem::theta::Theta;
use bilo_problem::{Problem, UnknownFunction, Variable};

/// The columns of [`LocalOperator::for_function`] where the arguments of a function have these values. The
/// coordinates that it does not depend on are not asked for.
pub(crate) fn columns(problem: &Problem, function: &UnknownFunction, arguments: &[&[f64]]) -> Vec<Vec<f64>> {
    let count = arguments[0].len();
    let mut all: Vec<Vec<f64>> = problem.coordinates.iter().map(|c| vec![c.lo; count]).collect();
    for (argument, column) in function.of.iter().zip(arguments) {
        match argument.variable {
            Variable::Coordinate(c) => all[c] = column.to_vec(),
            Variable::State(_) => all.push(column.to_vec()),
        }
    }
    all
}

/// An unknown function at points, given by one column per argument of it.
pub fn sample(
    problem: &Problem,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    point: &OperatorState,
    number: usize,
    arguments: &[&[f64]],
) -> Result<Vec<f64>> {
    let function = &problem.functions[number];
    let (alone, unknowns) = (operator.for_function(number), operator.unknowns(&point.eta));
    let graph = &mut operator.names.graph;
    let program = FieldProgram::new(graph, &alone, &[operator.functions.values[number]])
        .map_err(|error| program_error(graph, &error, &function.form.origin))?;
    let points = PointSource::stored(columns(problem, function, arguments));
    Ok(device.evaluate(&program, points, &point.weights, &unknowns, &[])?.swap_remove(0))
}

/// Everything unknown at a point of training, functions by their values on their grids.
pub fn theta(
    problem: &Problem,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    point: &OperatorState,
) -> Result<Theta> {
    let mut functions = vec![];
    for (number, function) in problem.functions.iter().enumerate() {
        let nodes = Lattice::new(function).columns();
        let nodes: Vec<&[f64]> = nodes.iter().map(|column| &column[..]).collect();
        functions.push(sample(problem, operator, device, point, number, &nodes)?);
    }
    Ok(Theta { eta: point.eta[..problem.unknowns.len()].to_vec(), functions })
}
