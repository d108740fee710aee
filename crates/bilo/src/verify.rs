//! The check after every run: the PDE is solved again, classically, at the estimate, and the
//! network's solution is held against it.

use crate::diagnostic::Result;
use crate::operator::{LocalOperator, program_error};
use crate::outcome::{Field, Fields, StateOutcome};
use crate::problem::{Layout, Points, Problem};
use crate::train::Point;
use crate::twin::Twin;
use bilo_expr::Expr;
use bilo_jet::{Device, FieldProgram, PointSource};

/// Nodes of the report's grid along each coordinate, fewer where there are more than two.
pub fn report_nodes(problem: &Problem) -> usize {
    match problem.coordinates.len() {
        ..=2 => 101,
        3 => 41,
        _ => 17,
    }
}

/// What the check found.
pub struct Verdict {
    /// Agreement of every state.
    pub states: Vec<StateOutcome>,
    /// Solutions and residuals on a grid.
    pub fields: Fields,
    /// What the classical solver said if it failed.
    pub classical_failure: Option<String>,
}

/// Evaluates the network on a grid and compares it with the classical solution at the estimate.
pub fn verify(
    problem: &Problem,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    point: &Point,
) -> Result<Verdict> {
    let grid = report_grid(problem)?;
    let nodes = report_nodes(problem);
    let axes = problem.coordinates.iter().map(|c| (c.name.clone(), c.axis(nodes))).collect();
    let mut fields = Fields { axes, arrays: network_fields(problem, operator, device, point, &grid)? };
    let classical = classical_states(problem, point, &grid);
    let mut states = vec![];
    for (number, state) in problem.states.iter().enumerate() {
        let mut agreement = None;
        if let Ok(solution) = &classical {
            agreement = Some(relative_l2(&fields.arrays[number].values, &solution[number]));
            fields
                .arrays
                .push(Field { name: format!("{}_classical", state.name), values: solution[number].clone() });
        }
        states.push(StateOutcome { name: state.name.clone(), relative_l2_vs_classical: agreement });
    }
    Ok(Verdict { states, fields, classical_failure: classical.err() })
}

fn report_grid(problem: &Problem) -> Result<PointSource> {
    let counts = (0..problem.coordinates.len()).map(|c| (c, report_nodes(problem))).collect();
    Points { layout: Layout::Grid(counts), at: vec![], filter: None }.source(problem, 0)
}

/// States first, then the residuals of the equations that hold inside the domain.
fn network_fields(
    problem: &Problem,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    point: &Point,
    grid: &PointSource,
) -> Result<Vec<Field>> {
    let mut names: Vec<String> =
        problem.states.iter().map(|state| format!("{}_network", state.name)).collect();
    let mut values: Vec<Expr> = operator.states.clone();
    for (equation, &residual) in problem.equations.iter().zip(&operator.residuals) {
        if equation.points.at.is_empty() {
            names.push(format!("residual_{}", equation.name));
            values.push(residual);
        }
    }
    let graph = &mut operator.names.graph;
    let program = FieldProgram::new(graph, &operator.operator, &values)
        .map_err(|error| program_error(graph, &error, &problem.equations[0].residual.origin))?;
    let values = device.evaluate(&program, grid.clone(), &point.weights, &point.eta);
    Ok(names.into_iter().zip(values).map(|(name, values)| Field { name, values }).collect())
}

fn classical_states(
    problem: &Problem,
    point: &Point,
    grid: &PointSource,
) -> std::result::Result<Vec<Vec<f64>>, String> {
    let twin = Twin::new(problem).map_err(|error| error.headline())?;
    let solution = twin.solve(&point.eta).map_err(|error| error.to_string())?;
    let columns = grid.columns(0..grid.len());
    Ok((0..problem.states.len()).map(|state| solution.state(state, &columns)).collect())
}

/// ||a - b|| / ||b||.
pub(crate) fn relative_l2(a: &[f64], b: &[f64]) -> f64 {
    let square = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>();
    (square(&mut a.iter().zip(b).map(|(a, b)| a - b)) / square(&mut b.iter().copied())).sqrt()
}
