//! The forward problem alone: the PDE at stated values of the unknowns, by the reference solver.

use crate::solver::{ReferenceSolution, ReferenceSolver};
use bilo_problem::diagnostic::{Error, Origin, Result};
use bilo_problem::fields::{Field, Fields};
use bilo_problem::{Formula, Layout, Points, Problem, State, divided};
pub use bilo_solve::Work;

/// A classical solution on a grid, and how it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Forward {
    /// `central` or `godunov`.
    pub scheme: &'static str,
    /// Scheme and resolution in words.
    pub description: String,
    /// Cells along each coordinate of space (along time if there is no other).
    pub cells: Vec<(String, usize)>,
    /// Steps in time; none for a steady problem and for one in time alone.
    pub steps: Option<usize>,
    /// What the solve cost.
    pub work: Work,
    /// Every state under its own name.
    pub fields: Fields,
}

/// Solves at the values theta of the scalar unknowns and the truth of the unknown functions (the guess
/// where none is stated), for so many nodes along each coordinate.
///
/// ```
/// # use bilo_problem::{Coordinate, DataSpec, PointsSpec, Problem, Unknown};
/// let problem = Problem::builder("decay")
///     .coordinate(Coordinate::time("t", 0.0, 1.0))
///     .unknown(Unknown::new("k", 1.0).truth(2.0))
///     .state("u", "1 + net*t")
///     .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 21)]))
///     .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.0))
///     .build()?;
/// let forward = bilo_reference::forward::solve(&problem, &[3.0], &[5])?;
/// assert_eq!(forward.description, "implicit Runge-Kutta steps, 200 of time");
/// let (t, u) = (&forward.fields.axes[0].1, &forward.fields.arrays[0].values);
/// // Of fourth order.
/// assert!(t.iter().zip(u).all(|(t, u)| (u - (-3.0 * t).exp()).abs() < 1e-8));
/// # Ok::<(), bilo_problem::diagnostic::Error>(())
/// ```
pub fn solve(problem: &Problem, theta: &[f64], nodes: &[usize]) -> Result<Forward> {
    solved(problem, theta, nodes, |_, _| Ok(vec![]))
}

/// The same as [`solve`], with the derivative of each state by each scalar unknown, `du_dk`, beside it.
///
/// ```
/// # use bilo_problem::{Coordinate, DataSpec, PointsSpec, Problem, Unknown};
/// # let problem = Problem::builder("decay")
/// #     .coordinate(Coordinate::time("t", 0.0, 1.0))
/// #     .unknown(Unknown::new("k", 1.0).truth(2.0))
/// #     .state("u", "1 + net*t")
/// #     .equation("decay", "u_t + k*u", PointsSpec::grid([("t", 21)]))
/// #     .observation("samples", "u", DataSpec::synthetic(PointsSpec::grid([("t", 11)]), 0.0))
/// #     .build()?;
/// let fields = bilo_reference::forward::solve_with_slopes(&problem, &[3.0], &[5])?.fields;
/// let (t, slope) = (&fields.axes[0].1, &fields.arrays[1]);
/// assert_eq!(slope.name, "du_dk");
/// assert!(t.iter().zip(&slope.values).all(|(t, slope)| (slope + t * (-3.0 * t).exp()).abs() < 1e-7));
/// # Ok::<(), bilo_problem::diagnostic::Error>(())
/// ```
pub fn solve_with_slopes(problem: &Problem, theta: &[f64], nodes: &[usize]) -> Result<Forward> {
    solved(problem, theta, nodes, |solution, columns| slopes(problem, theta, solution, columns))
}

/// The derivatives of all states by all scalars.
fn slopes(
    problem: &Problem,
    theta: &[f64],
    solution: &ReferenceSolution<'_>,
    columns: &[Vec<f64>],
) -> Result<Vec<Field>> {
    let mut fields = vec![];
    for State { name, .. } in &problem.states {
        let found = solution.observe_with_slopes(&Formula::parse(name, Origin::none())?, columns)?;
        for ((unknown, &theta), mut slopes) in problem.unknowns.iter().zip(theta).zip(found.slopes) {
            let by_eta = unknown.theta_slope(unknown.eta_of(theta));
            slopes.iter_mut().for_each(|slope| *slope /= by_eta);
            fields.push(Field::everywhere(problem, format!("d{name}_d{}", unknown.name), slopes));
        }
    }
    Ok(fields)
}

fn solved(
    problem: &Problem,
    theta: &[f64],
    nodes: &[usize],
    more: impl FnOnce(&ReferenceSolution<'_>, &[Vec<f64>]) -> Result<Vec<Field>>,
) -> Result<Forward> {
    let reference = ReferenceSolver::new(problem)?;
    let eta = problem.unknowns.iter().zip(theta).map(|(unknown, &theta)| unknown.eta_of(theta));
    let solution = reference.solve_stated(problem, eta.collect())?;
    let solution = solution.map_err(|error| Error::from(error).because("no solution"))?;
    let layout = Layout::Grid(nodes.iter().copied().enumerate().collect());
    let columns = Points::laid_out(layout).columns(problem, 0)?;
    let states = problem.states.iter().enumerate();
    let field =
        |(i, s): (usize, &State)| Field::everywhere(problem, s.name.clone(), solution.state(i, &columns));
    let mut arrays: Vec<Field> = states.map(field).collect();
    arrays.extend(more(&solution, &columns)?);
    let coordinates = problem.coordinates.iter().zip(nodes);
    let axes = coordinates.map(|(c, &count)| (c.name.clone(), c.axis(count))).collect();
    let divided = divided(&problem.coordinates);
    let evolving = divided.len() < problem.coordinates.len();
    let names = divided.iter().map(|&c| problem.coordinates[c].name.clone());
    Ok(Forward {
        scheme: reference.scheme(),
        description: reference.describe(),
        cells: names.zip(problem.classical.cells.iter().copied()).collect(),
        steps: evolving.then_some(problem.classical.steps),
        work: solution.work(),
        fields: Fields { axes, arrays },
    })
}
