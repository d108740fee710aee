//! Whether the data can identify the unknowns: sensitivities of the observations by the classical
//! reference solver, before any training.

use bilo_fit::sensitivities::Sensitivities;
use bilo_fit::spectrum::RelativeSensitivities;
use bilo_problem::diagnostic::Result;
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::sites::Sites;
use bilo_problem::theta::unit;
use bilo_problem::truth::StatedTruth;
use bilo_problem::{Classical, Data, Likelihood, Observation, Problem, Sampling, Table};
use bilo_reference::cost;
use bilo_reference::solver::ReferenceSolver;

/// Resolution of the examination. The default on a line, 800, would take ten times as long and change the
/// singular values by a part in ten thousand.
const COARSE: usize = 200;

/// In time alone steps are cheap, and bursts amplify the error of each: up to so many times as many as are stated, at a part of
/// the cost.
const MORE_STEPS: usize = 16;
const OF_STEPS: f64 = 0.2;

/// What it may cost, a second or two; beyond that it is on grids half as fine, down to the coarsest that says anything.
const MOST_WORK: f64 = 1e7;
const COARSEST: usize = 25;

/// The size of errors that are to be estimated, in parts of the data's.
const ASSUMED: f64 = 0.01;

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
    /// Combinations of the unknowns that leave no trace in the data, and solutions that are not the
    /// stated one.
    pub warnings: Vec<String>,
}

impl Identifiability {
    /// What to say of an unknown that the data do not see.
    pub fn unseen_warning(&self, problem: &Problem, unknown: usize) -> String {
        format!(
            "the data do not see the unknown `{}`: near the {} no observation changes with it, although it occurs in \
             the formulas. It will stay where it starts.",
            problem.unknowns[unknown].name, self.at
        )
    }
}

/// RelativeSensitivities at the truth, or at the guess where no truth is stated; the reason if the classical
/// reference solver cannot solve there.
pub fn identifiability(problem: &Problem) -> Result<std::result::Result<Identifiability, String>> {
    let mut coarse = problem.clone();
    coarse.classical = affordable(problem);
    let reference = ReferenceSolver::new(&coarse)?;
    let truth: Option<Vec<f64>> = problem.unknowns.iter().map(|unknown| unknown.truth).collect();
    let at = if truth.is_some() { "truth" } else { "guess" };
    let theta =
        truth.clone().unwrap_or_else(|| problem.unknowns.iter().map(|unknown| unknown.guess).collect());
    let (eta, points) = (eta_of(problem, &theta), observation_points(problem)?);
    let observed = match observe(problem, &reference, &eta, &points) {
        Ok(observed) => observed,
        Err(reason) => return Ok(Err(reason)),
    };
    let units: Vec<f64> = theta.iter().copied().map(unit).collect();
    let sensitivities = RelativeSensitivities::new(&problem.unknowns, &eta, &units, &observed);
    let Some(spectrum) = sensitivities.spectrum(|_| 1.0) else {
        return Ok(Err("the sensitivities are not finite".to_owned()));
    };
    let informed = information(problem, &theta, &points, &observed)?;
    let bound = informed.as_ref().and_then(|(roots, _)| sensitivities.spectrum(|i| roots[i]));
    let misfits =
        if truth.is_some() { Misfits::new(problem, &points, &observed)? } else { Misfits::default() };
    Ok(Ok(Identifiability {
        at,
        relative_deviation: bound.map_or(vec![f64::NAN; theta.len()], |bound| bound.deviations(|_| 1.0)),
        warnings: misfits.warnings.into_iter().chain(spectrum.warning(problem)).collect(),
        singular_values: spectrum.singular_values,
        weakest: spectrum.weakest,
        unseen: sensitivities.unseen(),
        noise: informed.map(|(_, words)| words),
        theta,
        misfits: misfits.lines,
    }))
}

/// The finest grid on which the examination takes seconds.
fn affordable(problem: &Problem) -> Classical {
    if let [time] = &problem.coordinates[..]
        && time.time
    {
        let steps = |factor: usize| {
            let cells = problem.classical.cells.iter().map(|cells| cells * factor).collect();
            Classical { cells, ..problem.classical.clone() }
        };
        let factors = std::iter::successors(Some(MORE_STEPS), |factor| Some(factor / 2));
        let mut grids = factors.take_while(|&factor| factor > 0).map(steps);
        let fine = grids.find(|grid| cost::with_tangents(problem, grid) <= OF_STEPS * MOST_WORK);
        return fine.unwrap_or_else(|| problem.classical.clone());
    }
    let grids = std::iter::successors(Some(COARSE), |most| Some(most / 2));
    let mut grids = grids.take_while(|&most| most >= COARSEST).map(|most| problem.classical.at_most(most));
    let finest = grids.find(|grid| cost::with_tangents(problem, grid) <= MOST_WORK);
    finest.unwrap_or_else(|| problem.classical.at_most(COARSEST))
}

/// Where each observation is evaluated: values at their points, particles through the integral.
pub(crate) fn observation_points(problem: &Problem) -> Result<Vec<Sampling>> {
    let points =
        |(number, observation): (usize, &Observation)| match (&observation.data, &observation.likelihood) {
            (_, Likelihood::PoissonProcess { quadrature, .. }) => {
                let truth = problem.eta_of_truth().unwrap_or_else(|| problem.eta_of_guess());
                Ok(quadrature.nodes(problem, &problem.thetas(&truth))?.coordinates)
            }
            (Data::Synthetic { points, .. }, _) => {
                points.columns(problem, seed_for(0, Purpose::ObservationPoints, number))
            }
            (Data::Table(table), _) => Ok(table.coordinates.clone()),
            (Data::Drawn, _) => unreachable!("checked to be particles"),
        };
    let places = |(number, observation): (usize, &Observation)| {
        Sampling::new(problem, observation, points((number, observation))?)
    };
    problem.observations.iter().enumerate().map(places).collect()
}

fn eta_of(problem: &Problem, theta: &[f64]) -> Vec<f64> {
    problem.unknowns.iter().zip(theta).map(|(unknown, &theta)| unknown.eta_of(theta)).collect()
}

/// One solve, with its tangents.
fn observe(
    problem: &Problem,
    reference: &ReferenceSolver,
    eta: &[f64],
    points: &[Sampling],
) -> std::result::Result<Vec<Sensitivities>, String> {
    let solution = reference.solve_stated(problem, eta.to_vec()).map_err(|error| error.headline())?;
    let solution = solution.map_err(|error| error.to_string())?;
    let each = problem.observations.iter().zip(points);
    each.map(|(observation, points)| solution.observed_with_slopes(observation, points))
        .collect::<Result<_>>()
        .map_err(|error| error.to_string())
}

/// The square root of the Fisher information of every observed value, and where it comes from in words; none
/// where nothing can be said of the size of errors. Of normal ones that are to be estimated it is assumed.
fn information(
    problem: &Problem,
    theta: &[f64],
    points: &[Sampling],
    observed: &[Sensitivities],
) -> Result<Option<(Vec<f64>, String)>> {
    let (mut roots, mut assumed) = (vec![], false);
    for ((observation, points), observed) in problem.observations.iter().zip(points).zip(observed) {
        let mut table = expected_table(observation, &points.coordinates, &observed.values);
        let mut sites = Sites::new(problem, observation, &table, theta)?;
        if !sites.calibrated || observation.has_free_scale(&table) {
            let Some(noise) = assumed_noise(observation) else { return Ok(None) };
            table.sigma = Some(vec![noise; observed.values.len()]);
            sites = Sites::new(problem, observation, &table, theta)?;
            assumed = true;
        }
        // Twice the negative log-likelihood over the number of data: its second derivative is 2/N times the
        // information.
        let curvature = sites.terms(&observed.values)?.curvature;
        roots.extend(curvature.iter().map(|curvature| (curvature * sites.count / 2.0).sqrt()));
    }
    let stated = || in_words(&problem.observations);
    let words = if assumed { format!("noise of {} % of the data", 100.0 * ASSUMED) } else { stated() };
    Ok(Some((roots, words)))
}

/// The noise of data of which nobody has stated any.
fn assumed_noise(observation: &Observation) -> Option<f64> {
    let Data::Table(table) = &observation.data else { return None };
    let mean_square = table.values.iter().map(|value| value * value).sum::<f64>() / table.values.len() as f64;
    match observation.likelihood {
        Likelihood::Gaussian if mean_square > 0.0 => Some(ASSUMED * mean_square.sqrt()),
        Likelihood::LogNormal => Some(ASSUMED),
        _ => None,
    }
}

/// The data that are expected, with the errors that they are stated to have.
fn expected_table(observation: &Observation, points: &[Vec<f64>], values: &[f64]) -> Table {
    if let Likelihood::PoissonProcess { .. } = observation.likelihood {
        // The information is in the integral.
        return Table { coordinates: vec![vec![]; points.len()], values: vec![], sigma: None };
    }
    let stated = observation.stated_noise().map(|noise| vec![noise; values.len()]);
    let sigma = match &observation.data {
        Data::Table(table) => table.sigma.clone(),
        _ => stated,
    };
    Table { coordinates: points.to_vec(), values: values.to_vec(), sigma }
}

fn in_words(observations: &[Observation]) -> String {
    let stated: Vec<Option<f64>> = observations.iter().map(Observation::stated_noise).collect();
    let values = observations.iter().all(|observation| observation.likelihood == Likelihood::Gaussian);
    match stated[..] {
        [Some(first), ..] if values && stated.iter().all(|noise| *noise == Some(first)) => {
            format!("noise {first}")
        }
        _ if values && stated.iter().all(Option::is_some) => "the noise of each observation".to_owned(),
        _ if values => "the sigma of each value".to_owned(),
        _ => "the likelihood of each observation".to_owned(),
    }
}

/// Distances between data, the classical solution at the truth and the stated truth.
#[derive(Default)]
struct Misfits {
    lines: Vec<String>,
    warnings: Vec<String>,
}

impl Misfits {
    fn new(problem: &Problem, points: &[Sampling], observed: &[Sensitivities]) -> Result<Self> {
        let mut truth = StatedTruth::new(problem)?;
        let mut found = Self::default();
        for (number, observation) in problem.observations.iter().enumerate() {
            let (name, values) = (&observation.name, &observed[number].values);
            let root = (values.len() as f64).sqrt();
            if let Data::Table(Table { values: data, .. }) = &observation.data
                && data.len() == values.len()
            {
                let distance = norm(&minus(data, values)) / root;
                found.lines.push(format!(
                    "{name}: data differ from the solution at the truth by {distance:.3e} (root mean square)"
                ));
            }
            let stated = truth.as_mut().map(|truth| truth.observed(observation, &points[number]));
            if let Some(stated) = stated.transpose()?.flatten() {
                let relative = norm(&minus(values, &stated)) / norm(&stated).max(f64::MIN_POSITIVE);
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
    a.iter().map(|a| a * a).sum::<f64>().sqrt()
}
