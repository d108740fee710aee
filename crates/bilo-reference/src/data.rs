//! Observed values ready for use: read from files, or made by the reference solver at the truth.

use crate::process::draw_particles;
use crate::solver::{ReferenceSolution, ReferenceSolver};
use bilo_problem::diagnostic::{Diagnostic, Error, Result};
use bilo_problem::seeds::{Purpose, seed_for};
use bilo_problem::{
    Data, FIELD, Likelihood, Made, Observation, Points, Problem, RandomField, Sampling, Sigma, Table,
};
use bilo_solve::Interrupt;
use rand::{RngExt, SeedableRng};
use rand_distr::{Binomial, Distribution, Gamma, Normal, Poisson};
use rand_pcg::Pcg64;

/// The data of every observation.
pub fn observed_tables(problem: &Problem, seed: u64) -> Result<Vec<Table>> {
    interruptible_tables(problem, seed, &Interrupt::default())
}

/// The data of every observation, unless the interrupt is due before they are made.
pub fn interruptible_tables(problem: &Problem, seed: u64, interrupt: &Interrupt) -> Result<Vec<Table>> {
    let given = |observation: &Observation| matches!(observation.data, Data::Table(_));
    let solver = || ReferenceSolver::new(problem).map(|solver| solver.interruptible(interrupt));
    let reference = if problem.observations.iter().all(given) { None } else { Some(solver()?) };
    let solution = match &reference {
        Some(reference) => Some(solve_at_truth(problem, reference)?),
        None => None,
    };
    let mut tables = vec![];
    for (number, observation) in problem.observations.iter().enumerate() {
        let table = match (&observation.data, &solution) {
            (Data::Table(table), _) => table.clone(),
            (made, Some(solution)) => {
                let maker = Maker { problem, solution, observation, number, seed };
                match made {
                    Data::Synthetic { points, noise, made } => {
                        maker.values(points, *noise, made.as_deref())?
                    }
                    _ => maker.particles()?,
                }
            }
            (_, None) => unreachable!("solved above when any data are made"),
        };
        if let Some(fault) = observation.data_fault(&table) {
            return Err(Diagnostic::new(fault, observation.value.origin.clone()).into());
        }
        tables.push(table);
    }
    Ok(tables)
}

fn solve_at_truth<'a>(problem: &Problem, reference: &'a ReferenceSolver) -> Result<ReferenceSolution<'a>> {
    let no_truth = || Diagnostic::new("synthetic data need the truth of every unknown", Default::default());
    let solution = reference.solve_truth(problem)?.ok_or_else(no_truth)?;
    solution.map_err(|error| Error::from(error).because("no synthetic data"))
}

/// Makes the data of one observation.
struct Maker<'a> {
    problem: &'a Problem,
    solution: &'a ReferenceSolution<'a>,
    observation: &'a Observation,
    number: usize,
    seed: u64,
}

impl Maker<'_> {
    fn random(&self) -> Pcg64 {
        Pcg64::seed_from_u64(seed_for(self.seed, Purpose::Noise, self.number))
    }

    fn values(&self, points: &Points, noise: f64, made: Option<&Made>) -> Result<Table> {
        let coordinates =
            points.columns(self.problem, seed_for(self.seed, Purpose::ObservationPoints, self.number))?;
        let mut values = match made {
            None => {
                let sampling = Sampling::new(self.problem, self.observation, coordinates.clone())?;
                self.solution.observed(self.observation, &sampling)?
            }
            Some(made) => self.made(made, &coordinates)?,
        };
        let mut random = self.random();
        for value in &mut values {
            *value = self.drawn(*value, noise, made.is_none(), &mut random);
        }
        let sigma = match self.observation.sigma {
            Sigma::Known(sigma) => Some(vec![sigma; values.len()]),
            Sigma::OfData | Sigma::Estimated => None,
        };
        Ok(Table { coordinates, values, sigma })
    }

    /// A datum about a value, by the likelihood.
    fn drawn(&self, value: f64, noise: f64, observed: bool, random: &mut Pcg64) -> f64 {
        let mean = value.max(f64::MIN_POSITIVE);
        match self.observation.likelihood {
            Likelihood::Poisson => Poisson::new(mean).map_or(0.0, |law| law.sample(random)),
            Likelihood::NegativeBinomial { dispersion: Some(dispersion) } => {
                // A Poisson distribution whose mean has a gamma distribution.
                let mean = Gamma::new(dispersion, mean / dispersion).map_or(mean, |law| law.sample(random));
                Poisson::new(mean.max(f64::MIN_POSITIVE)).map_or(0.0, |law| law.sample(random))
            }
            Likelihood::Binomial { trials: Some(trials) } => {
                // A probability that is none says that the equations have no such solution.
                Binomial::new(trials as u64, value.clamp(0.0, 1.0))
                    .map_or(0.0, |law| law.sample(random) as f64)
            }
            Likelihood::Bernoulli if observed => {
                let one = f64::from(random.random::<f64>() < value);
                one + normal(noise, random)
            }
            Likelihood::LogNormal => value * normal(noise, random).exp(),
            Likelihood::Censored { below, above } => {
                let seen = value + normal(noise, random);
                seen.max(below.unwrap_or(f64::NEG_INFINITY)).min(above.unwrap_or(f64::INFINITY))
            }
            _ => value + normal(noise, random),
        }
    }

    /// Values of another expression than the observed one, with a random field of this seed's own.
    fn made(&self, made: &Made, coordinates: &[Vec<f64>]) -> Result<Vec<f64>> {
        let Some((sd, length)) = made.field else {
            return self.solution.observe(&made.value, coordinates);
        };
        let space: Vec<&[f64]> = (self.problem.coordinates.iter().zip(coordinates))
            .filter(|(coordinate, _)| !coordinate.time)
            .map(|(_, column)| &column[..])
            .collect();
        let seed = seed_for(self.seed, Purpose::Noise, self.number);
        let field = RandomField { sd, length, seed }.draw(space.len()).at(&space);
        self.solution.observe_with(&made.value, coordinates, &[(FIELD, &field)])
    }

    fn particles(&self) -> Result<Table> {
        let Likelihood::PoissonProcess { snapshots, quadrature } = &self.observation.likelihood else {
            let message = "particles are drawn for the likelihood `poisson-process` only";
            return Err(Diagnostic::new(message, self.observation.value.origin.clone()).into());
        };
        let intensity = |columns: &[Vec<f64>]| self.solution.observe(&self.observation.value, columns);
        let coordinates =
            draw_particles(self.problem, quadrature, *snapshots, &intensity, &mut self.random())?
                .map_err(|why| Diagnostic::new(why, self.observation.value.origin.clone()))?;
        let values = vec![1.0; coordinates[0].len()];
        Ok(Table { coordinates, values, sigma: None })
    }
}

/// A normal number of a standard deviation.
fn normal(sd: f64, random: &mut Pcg64) -> f64 {
    Normal::new(0.0, sd).expect("the noise was checked to be finite and not negative").sample(random)
}
