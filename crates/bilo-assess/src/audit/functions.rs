//! The gradients of an audit where functions are unknown: by the values of `net` at the nodes of their
//! grids, the variables of the adjoint method.

use bilo_expr::Expr;
use bilo_fit::data_loss::DataLoss;
use bilo_jet::{Device, PointSource};
use bilo_operator::operator::LocalOperator;
use bilo_operator::state::OperatorState;
use bilo_problem::Problem;
use bilo_problem::diagnostic::Result;
use bilo_problem::function::{Lattice, Shape};
use bilo_problem::sites::Sites;
use bilo_problem::theta::Theta;

/// The derivatives of the observed quantities by a uniform shift of each unknown function, as the network
/// has them: by observation, term of it and function.
pub(crate) fn network_by_shifts(
    data: &DataLoss<'_>,
    sites: &[Sites],
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    point: &OperatorState,
) -> Result<Vec<Vec<Vec<Vec<f64>>>>> {
    let problem = data.problem();
    let shifts = operator.functions.shifts();
    let mut all = vec![];
    for (number, (observation, sites)) in problem.observations.iter().zip(sites).enumerate() {
        let mut of_terms = vec![];
        for (term, value) in operator.observed[number].clone().into_iter().enumerate() {
            let graph = &mut operator.names.graph;
            let mut slopes: Vec<Expr> = vec![];
            for (&shift, function) in shifts.iter().zip(&problem.functions) {
                // Shifts are in units of the function's scale.
                let (slope, scale) = (graph.diff(value, shift), graph.constant(function.scale));
                slopes.push(graph.div(slope, scale));
            }
            let points = PointSource::stored(sites.sampling.columns(term).to_vec());
            of_terms.push(operator.evaluate(device, &slopes, points, point, &observation.value.origin)?);
        }
        all.push(of_terms);
    }
    Ok(all)
}

/// What du(x) = u_z(x) df(x) makes of the data loss, by the values of each function at its nodes.
pub(crate) fn pointwise_gradient(
    data: &DataLoss<'_>,
    sites: &[Sites],
    values: &[Vec<f64>],
    by_shifts: &[Vec<Vec<Vec<f64>>>],
) -> Result<Theta> {
    let problem = data.problem();
    let weights = data.terms(sites, values)?.by_values;
    let mut gradient = Theta { eta: vec![0.0; problem.unknowns.len()], functions: vec![] };
    for (number, function) in problem.functions.iter().enumerate() {
        let lattice = Lattice::new(function);
        let mut by_nodes = vec![0.0; lattice.len()];
        for ((sites, weights), of_terms) in sites.iter().zip(&weights).zip(by_shifts) {
            for (term, slopes) in of_terms.iter().enumerate() {
                let weights = sites.sampling.scatter(term, weights);
                let seeds: Vec<f64> =
                    weights.iter().zip(&slopes[number]).map(|(w, slope)| w * slope).collect();
                lattice.scatter(&mut by_nodes, &lattice.select(sites.sampling.columns(term)), &seeds);
            }
        }
        gradient.functions.push(by_nodes);
    }
    Ok(gradient)
}

/// From derivatives by the functions' values to those by `net`, after those by the scalars.
pub(crate) fn by_variables(problem: &Problem, at: &Theta, gradient: &Theta) -> Result<Vec<f64>> {
    let mut all = gradient.eta.clone();
    for ((function, values), slopes) in problem.functions.iter().zip(&at.functions).zip(&gradient.functions) {
        let shape = Shape::new(problem, function)?;
        let by_net = shape.values(&shape.net_of(values, function)?).1;
        all.extend(slopes.iter().zip(by_net).map(|(slope, by_net)| slope * by_net));
    }
    Ok(all)
}

/// Derivatives by the coefficients of functions that are sums of given ones, from those by their `net`.
pub(crate) fn by_coefficients(problem: &Problem, operator: &LocalOperator, by_net: &[f64]) -> Vec<f64> {
    let (by_scalars, mut rest) = by_net.split_at(problem.unknowns.len());
    let mut all = by_scalars.to_vec();
    for (function, basis) in problem.functions.iter().zip(&operator.functions.bases) {
        let (slopes, others) = rest.split_at(function.nodes.iter().product());
        all.extend(basis.pull_back(slopes));
        rest = others;
    }
    all
}
