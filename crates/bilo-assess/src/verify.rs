//! The check after every run: the PDE is solved again, classically, at the estimate, and the
//! network's solution is held against it.

use crate::outcome::StateOutcome;
use bilo_expr::Expr;
use bilo_jet::{Device, PointSource};
use bilo_operator::operator::LocalOperator;
use bilo_operator::state::OperatorState;
use bilo_problem::diagnostic::Result;
use bilo_problem::fields::{Field, Fields};
use bilo_problem::{Layout, Points, Problem, State};
use bilo_reference::solver::ReferenceSolution;

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

/// Evaluates the network on a grid and compares it with the classical solution at the estimate, if there
/// is one.
pub fn verify(
    problem: &Problem,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    point: &OperatorState,
    classical: Result<&ReferenceSolution<'_>>,
) -> Result<Verdict> {
    let grid = report_grid(problem)?;
    let mut arrays = network_fields(problem, operator, device, point, &grid)?;
    let solved = |number: usize| classical.as_ref().is_ok_and(|solution| solution.solves_for(number));
    let solved: Vec<bool> = (0..problem.states.len()).map(solved).collect();
    let classical = classical.map(|solution| states_on_grid(problem, solution, &grid));
    let rounding = classical.as_ref().map_or(0.0, |states| rounding(states));
    let mut states = vec![];
    for (number, state) in problem.states.iter().enumerate() {
        let pair = classical.as_ref().ok().filter(|_| solved[number]);
        let theirs = pair.map(|states| &states[number].values[..]);
        states.push(agreement(problem, state, (&arrays[number].values, theirs), rounding));
    }
    let failure = classical.map(|classical| arrays.extend(classical)).err().map(|error| error.headline());
    Ok(Verdict { states, fields: Fields { axes: report_axes(problem), arrays }, classical_failure: failure })
}

/// What rounding leaves of a state that is zero, beside the largest one: the cross-flow of a straight channel.
pub fn rounding(states: &[Field]) -> f64 {
    const OF_LARGEST: f64 = 1e-14;
    OF_LARGEST * states.iter().map(|state| root_mean_square(&state.values)).fold(0.0, f64::max)
}

/// How well a solution of a state agrees with the classical one on the report's grid, if there is one. What is no more than
/// rounding in both agrees.
pub fn agreement(
    problem: &Problem,
    state: &State,
    (ours, theirs): (&[f64], Option<&[f64]>),
    rounding: f64,
) -> StateOutcome {
    let at_end = |values: &[f64]| at_end_of_time(problem, values);
    let difference = |ours: &[f64], theirs: &[f64]| match [ours, theirs].map(root_mean_square) {
        [a, b] if a.max(b) <= rounding => 0.0,
        _ => relative_l2(ours, theirs),
    };
    StateOutcome {
        name: state.name.clone(),
        relative_l2_vs_classical: theirs.map(|theirs| difference(ours, theirs)),
        relative_l2_at_end: theirs.and_then(|theirs| Some(difference(&at_end(ours)?, &at_end(theirs)?))),
    }
}

fn root_mean_square(values: &[f64]) -> f64 {
    (values.iter().map(|value| value * value).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

/// The reference solution alone on the report's grid, if there is one.
pub fn alone(problem: &Problem, classical: Result<&ReferenceSolution<'_>>) -> Result<Verdict> {
    let states = problem.states.iter().map(|state| StateOutcome::alone(&state.name)).collect();
    let (fields, classical_failure) = match classical {
        Ok(solution) => (classical_fields(problem, solution)?, None),
        Err(error) => (Fields { axes: report_axes(problem), arrays: vec![] }, Some(error.headline())),
    };
    Ok(Verdict { states, fields, classical_failure })
}

/// The reference solution on the report's grid.
pub fn classical_fields(problem: &Problem, solution: &ReferenceSolution<'_>) -> Result<Fields> {
    let arrays = states_on_grid(problem, solution, &report_grid(problem)?);
    Ok(Fields { axes: report_axes(problem), arrays })
}

/// The axes of the report's grid.
pub fn report_axes(problem: &Problem) -> Vec<(String, Vec<f64>)> {
    problem.coordinates.iter().map(|c| (c.name.clone(), c.axis(report_nodes(problem)))).collect()
}

/// The nodes of the report's grid.
pub fn report_columns(problem: &Problem) -> Result<Vec<Vec<f64>>> {
    let grid = report_grid(problem)?;
    Ok(grid.columns(0..grid.len()))
}

fn report_grid(problem: &Problem) -> Result<PointSource> {
    let counts = (0..problem.coordinates.len()).map(|c| (c, report_nodes(problem))).collect();
    Points::laid_out(Layout::Grid(counts)).source(problem, 0)
}

/// States first, then the residuals of the equations that hold inside the domain.
fn network_fields(
    problem: &Problem,
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    point: &OperatorState,
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
    let origin = &problem.equations[0].of_networks().origin;
    let values = operator.evaluate(device, &values, grid.clone(), point, origin)?;
    Ok(names.into_iter().zip(values).map(|(name, values)| Field::everywhere(problem, name, values)).collect())
}

fn states_on_grid(problem: &Problem, solution: &ReferenceSolution<'_>, grid: &PointSource) -> Vec<Field> {
    let columns = grid.columns(0..grid.len());
    let field = |(number, state): (usize, &State)| {
        let name = format!("{}_classical", state.name);
        Field::everywhere(problem, name, solution.state(number, &columns))
    };
    problem.states.iter().enumerate().map(field).collect()
}

/// The values of a field over all coordinates where the time is at its end, if there is a time.
fn at_end_of_time(problem: &Problem, values: &[f64]) -> Option<Vec<f64>> {
    let time = problem.coordinates.iter().position(|coordinate| coordinate.time)?;
    let nodes = report_nodes(problem);
    let stride = nodes.pow((problem.coordinates.len() - 1 - time) as u32);
    let last = |place: &usize| place / stride % nodes == nodes - 1;
    Some((0..values.len()).filter(last).map(|place| values[place]).collect())
}

/// ||a - b|| / ||b||.
pub fn relative_l2(a: &[f64], b: &[f64]) -> f64 {
    let square = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>();
    (square(&mut a.iter().zip(b).map(|(a, b)| a - b)) / square(&mut b.iter().copied())).sqrt()
}
