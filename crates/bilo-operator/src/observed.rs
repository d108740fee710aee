//! What a local operator says of the observations.

use crate::operator::LocalOperator;
use crate::state::OperatorState;
use bilo_fit::data_loss::DataLoss;
use bilo_fit::sensitivities::Sensitivities;
use bilo_jet::{Device, PointSource};
use bilo_problem::diagnostic::Result;
use bilo_problem::sites::Sites;

/// The observed quantities by the local operator, with their derivatives by eta: at fixed W, or with W as it moves
/// with eta, then by the coefficients of functions too.
pub fn network_observed(
    data: &DataLoss<'_>,
    sites: &[Sites],
    operator: &mut LocalOperator,
    device: &mut dyn Device,
    point: &OperatorState,
) -> Result<Vec<Sensitivities>> {
    let along = point.slopes.len().max(operator.names.eta.len());
    let observations = data.problem().observations.iter().zip(sites).enumerate();
    observations
        .map(|(number, (observation, sites))| {
            Sensitivities::observed(&sites.sampling, |term, columns| {
                let (value, points) =
                    (operator.observed[number][term], PointSource::stored(columns.to_vec()));
                operator.evaluate_along(device, value, along, points, point, &observation.value.origin)
            })
        })
        .collect()
}
