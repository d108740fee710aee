//! Whether the data can identify the unknowns: sensitivities of the observations by the classical
//! twin, before any training.

use crate::diagnostic::Result;
use crate::problem::{Classical, Data, Problem, Table};
use crate::seeds::{Purpose, seed_for};
use crate::twin::Twin;
use crate::uncertainty::Spectrum;

/// Resolution of the examination: differences of solutions need no more.
const COARSE: usize = 200;

/// Relative step of the central differences: their error is its square.
const STEP: f64 = 1e-4;

/// What the sensitivities say.
#[derive(Clone, Debug)]
pub struct Identifiability {
    /// Where they were taken: "truth" or "guess".
    pub at: &'static str,
    /// Singular values of the sensitivities d value / d log unknown (d value / d unknown where it is
    /// zero), largest first.
    pub singular_values: Vec<f64>,
    /// Standard deviation of the noise, if it is known and the same everywhere.
    pub noise: Option<f64>,
    /// Cramer-Rao bound on each unknown's relative standard deviation with that noise.
    pub relative_deviation: Vec<f64>,
    /// How far given data are from the classical solution at the stated truth.
    pub misfits: Vec<String>,
    /// A sentence if some combination of the unknowns leaves no trace in the data.
    pub warning: Option<String>,
}

/// Sensitivities at the truth, or at the guess where no truth is stated; the reason if the classical
/// twin cannot solve there.
pub fn identifiability(problem: &Problem) -> Result<std::result::Result<Identifiability, String>> {
    let mut coarse = problem.clone();
    coarse.classical =
        Classical { cells: problem.classical.cells.min(COARSE), steps: problem.classical.steps.min(COARSE) };
    let twin = Twin::new(&coarse)?;
    let truth: Option<Vec<f64>> = problem.unknowns.iter().map(|unknown| unknown.truth).collect();
    let at = if truth.is_some() { "truth" } else { "guess" };
    let theta =
        truth.clone().unwrap_or_else(|| problem.unknowns.iter().map(|unknown| unknown.guess).collect());
    let points = observation_points(problem)?;
    let Sensitivities { columns, values } = match sensitivities(problem, &twin, &theta, &points) {
        Ok(found) => found,
        Err(reason) => return Ok(Err(reason)),
    };
    let Some(spectrum) = Spectrum::new(&columns) else {
        return Ok(Err("the sensitivities are not finite".to_owned()));
    };
    let names: Vec<&str> = problem.unknowns.iter().map(|unknown| unknown.name.as_str()).collect();
    let noise = common_noise(problem);
    Ok(Ok(Identifiability {
        at,
        relative_deviation: spectrum.deviations(|_| noise.unwrap_or(f64::NAN)),
        warning: spectrum.warning(&names),
        singular_values: spectrum.singular_values,
        noise,
        misfits: if truth.is_some() { misfits(problem, &points, &values) } else { vec![] },
    }))
}

/// Where each observation is made.
fn observation_points(problem: &Problem) -> Result<Vec<Vec<Vec<f64>>>> {
    let points = |(number, observation): (usize, &crate::problem::Observation)| match &observation.data {
        Data::Synthetic { points, .. } => {
            points.columns(problem, seed_for(0, Purpose::ObservationPoints, number))
        }
        Data::Table(table) => Ok(table.coordinates.clone()),
    };
    problem.observations.iter().enumerate().map(points).collect()
}

struct Sensitivities {
    /// d value / d log unknown over all observations, one column per unknown.
    columns: Vec<Vec<f64>>,
    /// The values themselves, by observation.
    values: Vec<Vec<f64>>,
}

fn sensitivities(
    problem: &Problem,
    twin: &Twin,
    theta: &[f64],
    points: &[Vec<Vec<f64>>],
) -> std::result::Result<Sensitivities, String> {
    let observe = |theta: &[f64]| -> std::result::Result<Vec<Vec<f64>>, String> {
        let eta: Vec<f64> =
            theta.iter().zip(&problem.unknowns).map(|(&theta, unknown)| unknown.eta_of(theta)).collect();
        let solution = twin.solve(&eta).map_err(|error| error.to_string())?;
        let each = problem.observations.iter().zip(points);
        each.map(|(o, points)| solution.observe(&o.value, points).map_err(|error| error.to_string()))
            .collect()
    };
    let mut columns = vec![];
    for j in 0..theta.len() {
        let unit = if theta[j] == 0.0 { 1.0 } else { theta[j] };
        let moved = |sign: f64| {
            let mut theta = theta.to_vec();
            theta[j] += sign * STEP * unit;
            observe(&theta).map(|values| values.concat())
        };
        let (above, below) = (moved(1.0)?, moved(-1.0)?);
        columns.push(above.iter().zip(&below).map(|(a, b)| (a - b) / (2.0 * STEP)).collect());
    }
    Ok(Sensitivities { columns, values: observe(theta)? })
}

/// The noise that all synthetic observations share.
fn common_noise(problem: &Problem) -> Option<f64> {
    let noise = |observation: &crate::problem::Observation| match observation.data {
        Data::Synthetic { noise, .. } if noise > 0.0 => Some(noise),
        _ => None,
    };
    let levels: Option<Vec<f64>> = problem.observations.iter().map(noise).collect();
    let levels = levels?;
    levels.iter().all(|level| *level == levels[0]).then(|| levels[0])
}

/// Root mean square distance of given data from the classical solution at the truth.
fn misfits(problem: &Problem, points: &[Vec<Vec<f64>>], values: &[Vec<f64>]) -> Vec<String> {
    let line = |(number, observation): (usize, &crate::problem::Observation)| {
        let Data::Table(Table { values: data, .. }) = &observation.data else { return None };
        let square: f64 = data.iter().zip(&values[number]).map(|(a, b)| (a - b).powi(2)).sum();
        let distance = (square / points[number][0].len() as f64).sqrt();
        Some(format!(
            "{}: data differ from the solution at the truth by {distance:.3e} (root mean square)",
            observation.name
        ))
    };
    problem.observations.iter().enumerate().filter_map(line).collect()
}
