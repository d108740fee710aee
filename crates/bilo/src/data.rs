//! Observed values ready for use: read from files, or made by the classical twin at the truth.

use crate::diagnostic::{Diagnostic, Result};
use crate::problem::{Data, Observation, Problem, Table};
use crate::seeds::{Purpose, seed_for};
use crate::twin::{Twin, TwinSolution};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_pcg::Pcg64;

/// The data of every observation.
pub fn observed_tables(problem: &Problem, seed: u64) -> Result<Vec<Table>> {
    let synthetic = problem.observations.iter().any(|o| matches!(o.data, Data::Synthetic { .. }));
    let twin = if synthetic { Some(Twin::new(problem)?) } else { None };
    let solution = match &twin {
        Some(twin) => Some(solve_at_truth(problem, twin)?),
        None => None,
    };
    let table = |(number, observation): (usize, &Observation)| match (&observation.data, &solution) {
        (Data::Table(table), _) => Ok(table.clone()),
        (Data::Synthetic { .. }, Some(solution)) => {
            synthetic_table(problem, solution, observation, number, seed)
        }
        (Data::Synthetic { .. }, None) => unreachable!("solved above when any data is synthetic"),
    };
    problem.observations.iter().enumerate().map(table).collect()
}

fn solve_at_truth<'a>(problem: &Problem, twin: &'a Twin) -> Result<TwinSolution<'a>> {
    let no_truth = || Diagnostic::new("synthetic data need the truth of every unknown", Default::default());
    let failed = |error| Diagnostic::new(format!("no synthetic data: {error}"), Default::default());
    Ok(twin.solve_truth(problem)?.ok_or_else(no_truth)?.map_err(failed)?)
}

fn synthetic_table(
    problem: &Problem,
    solution: &TwinSolution<'_>,
    observation: &Observation,
    number: usize,
    seed: u64,
) -> Result<Table> {
    let Data::Synthetic { points, noise } = &observation.data else {
        unreachable!("called for synthetic data")
    };
    let coordinates = points.columns(problem, seed_for(seed, Purpose::ObservationPoints, number))?;
    let mut values = solution.observe(&observation.value, &coordinates)?;
    let mut random = Pcg64::seed_from_u64(seed_for(seed, Purpose::Noise, number));
    let normal = Normal::new(0.0, *noise).expect("the noise was checked to be finite and not negative");
    for value in &mut values {
        *value += normal.sample(&mut random);
    }
    Ok(Table { coordinates, values, sigma: None })
}
