//! Whether the data can identify the unknowns: sensitivities of the observations by the classical
//! twin, before any training.

use crate::diagnostic::Result;
use crate::problem::{Data, Observation, Problem, Table};
use crate::seeds::{Purpose, seed_for};
use crate::truth::StatedTruth;
use crate::twin::Twin;
use faer::{Mat, Side};

/// Resolution of the examination: differences of solutions need no more.
const COARSE: usize = 200;

/// Relative step of the central differences: their error is its square.
const STEP: f64 = 1e-4;

/// Smallest singular value, relative to the largest, below which unknowns count as inseparable.
const SEPARABLE: f64 = 1e-4;

/// An unknown whose change by its own size moves the observations by less than this share of their
/// size counts as unseen; the differences themselves are good to about that.
const SEEN: f64 = 1e-6;

/// A classical solution farther from the stated truth than this, relative, is another solution or a
/// poor one.
const AGREES: f64 = 1e-2;

/// What the sensitivities say.
#[derive(Clone, Debug)]
pub struct Identifiability {
    /// Where they were taken: "truth" or "guess".
    pub at: &'static str,
    /// The values of the unknowns there.
    pub theta: Vec<f64>,
    /// Singular values of the sensitivities d value / d log unknown (d value / d unknown where it is
    /// zero), largest first.
    pub singular_values: Vec<f64>,
    /// The direction of the smallest singular value among the unknowns that the data see.
    pub weakest: Vec<f64>,
    /// The unknowns, by number, that leave no trace in the observations.
    pub unseen: Vec<usize>,
    /// The noise of the observations in words, if it is known of all of them.
    pub noise: Option<String>,
    /// Cramer-Rao bound on each unknown's relative standard deviation with that noise (absolute where
    /// the unknown is zero); infinite for the unseen, NaN without noise.
    pub relative_deviation: Vec<f64>,
    /// How far given data are from the classical solution at the stated truth, and that solution from
    /// the stated truth of the states.
    pub misfits: Vec<String>,
    /// What deserves attention among these.
    misfit_warnings: Vec<String>,
}

impl Identifiability {
    /// Combinations of the unknowns that leave no trace in the data, and solutions that are not the
    /// stated one.
    pub fn warnings(&self, problem: &Problem) -> Vec<String> {
        let seen = self.singular_values.len() - self.unseen.len();
        let mut warnings = self.misfit_warnings.clone();
        if seen > 1 && self.singular_values[seen - 1] <= SEPARABLE * self.singular_values[0] {
            let parts: Vec<String> = problem
                .unknowns
                .iter()
                .zip(&self.weakest)
                .filter(|(_, share)| share.abs() > 0.1)
                .map(|(unknown, share)| format!("{share:+.2} {}", unknown.name))
                .collect();
            warnings
                .push(format!("the data hardly see the combination {} of relative changes", parts.join(" ")));
        }
        warnings
    }

    /// What to say of an unknown that the data do not see.
    pub fn unseen_warning(&self, problem: &Problem, unknown: usize) -> String {
        format!(
            "the data do not see the unknown `{}`: near the {} no observation changes with it, although it occurs in \
             the formulas. It will stay where it starts.",
            problem.unknowns[unknown].name, self.at
        )
    }
}

/// Sensitivities at the truth, or at the guess where no truth is stated; the reason if the classical
/// twin cannot solve there.
pub fn identifiability(problem: &Problem) -> Result<std::result::Result<Identifiability, String>> {
    let mut coarse = problem.clone();
    coarse.classical = problem.classical.at_most(COARSE);
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
    let size = norm(&values.concat());
    let (seen, unseen): (Vec<usize>, Vec<usize>) =
        (0..theta.len()).partition(|&j| norm(&columns[j]) > SEEN * size);
    let deviations = noise_deviations(problem, &points);
    let Some(spectrum) = Spectrum::new(&columns, &seen, None) else {
        return Ok(Err("the sensitivities are not finite".to_owned()));
    };
    let bound = deviations.as_ref().and_then(|(sigma, _)| Spectrum::new(&columns, &seen, Some(sigma)));
    let misfits = if truth.is_some() { Misfits::new(problem, &points, &values)? } else { Misfits::default() };
    Ok(Ok(Identifiability {
        at,
        singular_values: spectrum.singular_values(theta.len()),
        weakest: spectrum.weakest(theta.len()),
        relative_deviation: (0..theta.len())
            .map(|j| bound.as_ref().map_or(f64::NAN, |bound| bound.deviation(j)))
            .collect(),
        noise: deviations.map(|(_, words)| words),
        theta,
        unseen,
        misfits: misfits.lines,
        misfit_warnings: misfits.warnings,
    }))
}

/// Eigenvalues of the Gram matrix of the sensitivities to the unknowns that the data see.
struct Spectrum {
    seen: Vec<usize>,
    /// Smallest first.
    values: Vec<f64>,
    vectors: Vec<Vec<f64>>,
}

impl Spectrum {
    /// With the standard deviation of every value, in units of it: the Fisher information.
    fn new(columns: &[Vec<f64>], seen: &[usize], sigma: Option<&Vec<f64>>) -> Option<Self> {
        let count = seen.len();
        let in_units = |column: &Vec<f64>| match sigma {
            None => column.clone(),
            Some(sigma) => column.iter().zip(sigma).map(|(value, sigma)| value / sigma).collect(),
        };
        let columns: Vec<Vec<f64>> = seen.iter().map(|&j| in_units(&columns[j])).collect();
        if count == 0 {
            return Some(Self { seen: vec![], values: vec![], vectors: vec![] });
        }
        let gram = Mat::from_fn(count, count, |i, j| dot(&columns[i], &columns[j]));
        let eigen = gram.self_adjoint_eigen(Side::Lower).ok()?;
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        Some(Self {
            seen: seen.to_vec(),
            values: (0..count).map(|i| values[i].max(0.0)).collect(),
            vectors: (0..count).map(|i| (0..count).map(|j| vectors[(j, i)]).collect()).collect(),
        })
    }

    /// Largest first; zero for the unseen.
    fn singular_values(&self, unknowns: usize) -> Vec<f64> {
        let mut values: Vec<f64> = self.values.iter().rev().map(|value| value.sqrt()).collect();
        values.resize(unknowns, 0.0);
        values
    }

    fn weakest(&self, unknowns: usize) -> Vec<f64> {
        let mut direction = vec![0.0; unknowns];
        for (&j, &share) in self.seen.iter().zip(self.vectors.first().into_iter().flatten()) {
            direction[j] = share;
        }
        direction
    }

    /// The root of a diagonal element of the inverse; infinite for the unseen.
    fn deviation(&self, unknown: usize) -> f64 {
        let Some(place) = self.seen.iter().position(|&j| j == unknown) else { return f64::INFINITY };
        let share = |(value, vector): (&f64, &Vec<f64>)| vector[place].powi(2) / value.max(f64::MIN_POSITIVE);
        self.values.iter().zip(&self.vectors).map(share).sum::<f64>().sqrt()
    }
}

/// Where each observation is made.
pub(crate) fn observation_points(problem: &Problem) -> Result<Vec<Vec<Vec<f64>>>> {
    let points = |(number, observation): (usize, &Observation)| match &observation.data {
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

/// The standard deviation of every observed value and the same in words, if all are known.
fn noise_deviations(problem: &Problem, points: &[Vec<Vec<f64>>]) -> Option<(Vec<f64>, String)> {
    let deviations = |(observation, points): (&Observation, &Vec<Vec<f64>>)| match &observation.data {
        Data::Synthetic { noise, .. } if *noise > 0.0 => Some(vec![*noise; points[0].len()]),
        Data::Synthetic { .. } => None,
        Data::Table(table) => table.sigma.clone(),
    };
    let each: Option<Vec<Vec<f64>>> = problem.observations.iter().zip(points).map(deviations).collect();
    let all = each?.concat();
    let synthetic = problem.observations.iter().all(|o| matches!(o.data, Data::Synthetic { .. }));
    let words = match all.first() {
        Some(first) if synthetic && all.iter().all(|sigma| sigma == first) => format!("noise {first}"),
        _ if synthetic => "the noise of each observation".to_owned(),
        _ => "the sigma of each value".to_owned(),
    };
    Some((all, words))
}

/// Distances between data, the classical solution at the truth and the stated truth.
#[derive(Default)]
struct Misfits {
    lines: Vec<String>,
    warnings: Vec<String>,
}

impl Misfits {
    fn new(problem: &Problem, points: &[Vec<Vec<f64>>], values: &[Vec<f64>]) -> Result<Self> {
        let mut truth = StatedTruth::new(problem)?;
        let mut found = Self::default();
        for (number, observation) in problem.observations.iter().enumerate() {
            let name = &observation.name;
            let root = (values[number].len() as f64).sqrt();
            if let Data::Table(Table { values: data, .. }) = &observation.data {
                let distance = norm(&minus(data, &values[number])) / root;
                found.lines.push(format!(
                    "{name}: data differ from the solution at the truth by {distance:.3e} (root mean square)"
                ));
            }
            let stated = truth.as_mut().map(|truth| truth.observe(&observation.value, &points[number]));
            if let Some(stated) = stated.transpose()?.flatten() {
                let relative = norm(&minus(&values[number], &stated)) / norm(&stated).max(f64::MIN_POSITIVE);
                let line = format!(
                    "{name}: the classical solution differs from the stated truth by {relative:.1e} of it"
                );
                if relative > AGREES {
                    found.warnings.push(format!(
                        "{line}, although the stated truth satisfies the equations: they may have another solution, \
                         or [classical] is too coarse"
                    ));
                }
                found.lines.push(line);
            }
        }
        Ok(found)
    }
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
