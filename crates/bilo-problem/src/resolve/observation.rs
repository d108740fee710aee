//! Observations with their data at hand.

use crate::diagnostic::{Diagnostic, Error, Result};
use crate::files::csv::Side;
use crate::model::domain::Coordinate;
use crate::model::likelihood::Likelihood;
use crate::model::observation::{Data, Made, Observation, Sigma};
use crate::resolve::data_file::{DataFile, Held, SIGMA, TRIALS, read_observed, read_particles, read_table};
use crate::resolve::functional;
use crate::resolve::points::{self, Ground};
use crate::written::ObservationSpec;
use crate::written::data::{DataChoice, FileSpec, SyntheticSpec};

/// An observation, of the only state unless stated.
pub(crate) fn resolve(spec: ObservationSpec, states: &[&str], ground: Ground<'_>) -> Result<Observation> {
    let path = format!("observation.{}", spec.name);
    let value = match (&spec.value, states) {
        (Some(value), _) => value,
        (None, [only]) => *only,
        (None, _) => return Err(no_value(&path, ground)),
    };
    if let Some(message) = spec.data.misplaced {
        return Err(ground.places.error(&format!("{path}.data"), message).into());
    }
    let particles = matches!(spec.likelihood, Likelihood::PoissonProcess { .. });
    let value = ground.places.formula(&format!("{path}.value"), value)?;
    let terms = functional::terms(&value, ground)?;
    if let Some(term) = terms.iter().find(|term| particles && !term.over.is_empty()) {
        let message = "particles have places of their own, not means, integrals or values elsewhere";
        return Err(Diagnostic::new(message, term.integrand.origin.clone()).into());
    }
    let absent = functional::absent(&terms, states, ground);
    let (mut data, likelihood) =
        data(spec.data.choice, spec.likelihood, &absent, &format!("{path}.data"), ground)?;
    if likelihood == (Likelihood::Censored { below: None, above: None }) {
        let error =
            ground.places.error(&format!("{path}.likelihood"), "the likelihood `censored` needs a limit");
        let help =
            "write `likelihood = { kind = \"censored\", below = 0.1 }`, or `<0.1` for such data in a file";
        return Err(error.help(help).into());
    }
    if let (Data::Table(table), Sigma::Known(sigma)) = (&mut data, spec.sigma) {
        if table.sigma.is_some() {
            let message = "the data have a column `sigma` of their own";
            return Err(ground.places.error(&format!("{path}.sigma"), message).into());
        }
        table.sigma = Some(vec![sigma; table.values.len()]);
    }
    Ok(Observation {
        value,
        terms,
        data,
        name: spec.name,
        likelihood,
        sigma: spec.sigma,
        unit: spec.unit,
        weight: spec.weight,
    })
}

fn no_value(path: &str, ground: Ground<'_>) -> Error {
    let error = ground.places.error(path, format!("missing key `value` in [{path}]"));
    error.help("add `value = \"u\"`").into()
}

/// Values at points, or places of particles only; and the likelihood with the limits that they state.
fn data(
    choice: DataChoice,
    likelihood: Likelihood,
    absent: &[usize],
    path: &str,
    ground: Ground<'_>,
) -> Result<(Data, Likelihood)> {
    match choice {
        DataChoice::Table(table) => Ok((Data::Table(table), likelihood)),
        DataChoice::Drawn => Ok((Data::Drawn, likelihood)),
        DataChoice::Synthetic(spec) => {
            Ok((synthetic(spec, absent, &format!("{path}.synthetic"), ground)?, likelihood))
        }
        DataChoice::File(FileSpec { name, at, layout }) => {
            let origin = &ground.places.get(&format!("{path}.file"));
            let mut held = ground.held(&at, path)?;
            let stated: Vec<usize> = held.iter().map(|held| held.coordinate).collect();
            held.extend(
                absent.iter().filter(|c| !stated.contains(c)).map(|&c| Held::anywhere(c, ground.coordinates)),
            );
            let held = &held;
            let Ground { folder, coordinates, .. } = ground;
            let file = DataFile { name: &name, folder, origin, coordinates, held, layout: &layout };
            let table = match likelihood {
                Likelihood::PoissonProcess { .. } => read_particles(&file)?,
                Likelihood::Binomial { .. } => read_table(&file, TRIALS)?,
                Likelihood::Censored { below, above } => {
                    let (table, limits) = read_observed(&file, SIGMA)?;
                    let (below, above) = (limits.on(Side::Below, below)?, limits.on(Side::Above, above)?);
                    return Ok((Data::Table(table), Likelihood::Censored { below, above }));
                }
                _ => read_table(&file, SIGMA)?,
            };
            Ok((Data::Table(table), likelihood))
        }
    }
}

fn synthetic(spec: SyntheticSpec, absent: &[usize], path: &str, ground: Ground<'_>) -> Result<Data> {
    let SyntheticSpec { mut points, noise, value, field } = spec;
    for &coordinate in absent {
        let Coordinate { name, lo, hi, .. } = &ground.coordinates[coordinate];
        if !points.mentions(name) {
            points = points.hold(name, [0.5 * (lo + hi)]);
        }
    }
    let value = value.map(|value| ground.places.formula(&format!("{path}.value"), &value)).transpose()?;
    let made = value.map(|value| Box::new(Made { value, field }));
    Ok(Data::Synthetic { points: points::resolve(points, ground, path)?, noise, made })
}
