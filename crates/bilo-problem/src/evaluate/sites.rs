//! The data loss of one observation: where it is evaluated, and what is made of each value there.
//!
//! Every term is a sum Σ_i weight_i l(value_i, data_i, sigma_i) over places. In these units l is twice a
//! negative log-likelihood, and 1/2 its second derivative, expected over the data, the Fisher information.

use crate::diagnostic::Result;
use crate::evaluate::sampling::Sampling;
use crate::{Data, Likelihood, Observation, Problem, Sigma, Table};
use bilo_expr::{Input, Scratch};
use std::ops::Range;

mod law;
mod scale;

pub use law::Law;
pub use scale::Scale;

/// Where an observation is evaluated, and what is made of each value.
#[derive(Clone, Debug)]
pub struct Sites {
    /// Where.
    pub sampling: Sampling,
    /// Neighbouring places that have one law.
    pub parts: Vec<Part>,
    /// The number of data: the loss is twice the negative log-likelihood over this number.
    pub count: f64,
    /// Whether the law says how large errors are.
    pub calibrated: bool,
}

/// Sampling with one law.
#[derive(Clone, Debug)]
pub struct Part {
    /// What is made of each value.
    pub law: Law,
    /// Which of the places.
    pub places: Range<usize>,
    /// The data there.
    pub data: Vec<f64>,
    /// The law's number for each of them, a standard deviation, the dispersion of counts or the trials; one where there is none.
    pub sigma: Option<Vec<f64>>,
    /// The likelihood by which that number is found where nobody stated it.
    pub free: Option<Likelihood>,
    /// The weight of each place.
    pub weights: Vec<f64>,
}

/// What the data make of observed values.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Σ weight l.
    pub term: f64,
    /// Its derivatives by the values.
    pub by_values: Vec<f64>,
    /// Its expected second derivatives by the values.
    pub curvature: Vec<f64>,
}

impl Sites {
    /// Where an observation with these data is evaluated, at some values of the unknowns: integrals may
    /// have breaks that move with them.
    pub fn new(problem: &Problem, observation: &Observation, table: &Table, thetas: &[f64]) -> Result<Sites> {
        let count = table.values.len();
        let uniform = vec![1.0 / count as f64; count];
        let stated = || observation.stated_scale(table);
        let (law, sigma, weights, calibrated) = match &observation.likelihood {
            Likelihood::Gaussian => {
                let known = table.sigma.is_some() && observation.sigma != Sigma::Estimated;
                (Law::gaussian(), table.sigma.clone(), uniform, known)
            }
            Likelihood::MeanSquare => (Law::gaussian(), None, uniform, false),
            Likelihood::RelativeL2 => {
                let size: f64 = table.values.iter().map(|value| value * value).sum();
                (Law::gaussian(), None, vec![1.0 / size; count], false)
            }
            Likelihood::Bernoulli => (Law::bernoulli(), None, uniform, true),
            Likelihood::Poisson => (Law::poisson(), None, uniform, true),
            Likelihood::NegativeBinomial { .. } => (Law::negative_binomial(), stated(), uniform, true),
            Likelihood::Binomial { .. } => (Law::binomial(), stated(), uniform, true),
            Likelihood::LogNormal => {
                let known = table.sigma.is_some() && observation.sigma != Sigma::Estimated;
                (Law::log_normal(), table.sigma.clone(), uniform, known)
            }
            Likelihood::Censored { below, above } => (Law::censored(*below, *above), stated(), uniform, true),
            Likelihood::Huber { threshold, .. } => (Law::huber(*threshold), stated(), uniform, true),
            Likelihood::Student { freedom, .. } => (Law::student(*freedom), stated(), uniform, true),
            Likelihood::Custom(density) => {
                (Law::custom(problem, density), table.sigma.clone(), uniform, true)
            }
            Likelihood::PoissonProcess { snapshots, quadrature } => {
                let nodes = quadrature.nodes(problem, thetas)?;
                return Ok(Sites::of_process(table, *snapshots, nodes));
            }
        };
        let free = observation.has_free_scale(table).then(|| observation.likelihood.clone());
        let part = Part { law, places: 0..count, data: table.values.clone(), sigma, free, weights };
        Ok(Sites {
            sampling: Sampling::new(problem, observation, table.coordinates.clone())?,
            parts: vec![part],
            count: count as f64,
            calibrated,
        })
    }

    /// (2/N) (M ∫ u - Σ log u(q)) over the N particles q of M snapshots.
    fn of_process(table: &Table, snapshots: f64, nodes: crate::Nodes) -> Sites {
        let (particles, integral) = (table.values.len(), nodes.weights.len());
        // Without a particle the expected number alone counts.
        let count = particles.max(1) as f64;
        let weights = nodes.weights.iter().map(|weight| snapshots * weight / count).collect();
        let expected = Part {
            law: Law::expected_number(),
            places: 0..integral,
            data: vec![0.0; integral],
            sigma: None,
            free: None,
            weights,
        };
        let seen = Part {
            law: Law::particle(),
            places: integral..integral + particles,
            data: table.values.clone(),
            sigma: None,
            free: None,
            weights: vec![1.0 / count; particles],
        };
        let both = nodes.coordinates.into_iter().zip(&table.coordinates);
        Sites {
            sampling: Sampling::local(both.map(|(nodes, own)| [&nodes[..], own].concat()).collect()),
            parts: vec![expected, seen],
            count,
            calibrated: true,
        }
    }

    /// The number of places.
    pub fn len(&self) -> usize {
        self.parts.last().map_or(0, |part| part.places.end)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The data at all places.
    pub fn data(&self) -> impl Iterator<Item = f64> {
        self.parts.iter().flat_map(|part| part.data.iter().copied())
    }

    /// What the data make of values at the places.
    pub fn terms(&self, values: &[f64]) -> Result<Judgement> {
        let mut found = Judgement { term: 0.0, by_values: vec![], curvature: vec![] };
        for part in &self.parts {
            let (tape, values) = (part.law.tape()?, &values[part.places.clone()]);
            let found_scale = part.free.as_ref().map(|free| {
                let scaled = part.scaled(part.scale(&tape, free, values).value);
                found.term += part.normalisers(free, &scaled);
                scaled
            });
            let sigma = found_scale.as_deref().or(part.sigma.as_deref());
            let sigma = sigma.map_or(Input::Uniform(1.0), Input::Column);
            let inputs = [Input::Column(values), Input::Column(&part.data), sigma];
            let mut scratch = Scratch::new();
            tape.eval(&inputs, part.places.len(), &mut scratch);
            let weighted = |output: usize| {
                let densities = scratch.output(&tape, output).iter().zip(&part.weights);
                densities.map(|(density, weight)| density * weight)
            };
            found.term += weighted(0).sum::<f64>();
            found.by_values.extend(weighted(1));
            // Where a custom loss bends down the data say nothing that a minimum could use.
            found.curvature.extend(weighted(2).map(|curvature| curvature.max(0.0)));
        }
        Ok(found)
    }

    /// The number of the law that nobody stated, as the data and these values have it; none if it is stated.
    pub fn scale(&self, values: &[f64]) -> Result<Option<Scale>> {
        let Some((part, free)) = self.parts.iter().find_map(|part| Some((part, part.free.as_ref()?))) else {
            return Ok(None);
        };
        Ok(Some(part.scale(&part.law.tape()?, free, &values[part.places.clone()])))
    }
}

impl Observation {
    /// The standard deviation that synthetic data are stated to have.
    pub fn stated_noise(&self) -> Option<f64> {
        match self.data {
            Data::Synthetic { noise, .. } if noise > 0.0 => Some(noise),
            _ => None,
        }
    }

    /// Whether the data are synthetic and have no errors at all.
    pub fn is_exact(&self) -> bool {
        matches!(self.data, Data::Synthetic { noise: 0.0, made: None, .. })
    }

    /// Why data cannot be those of the likelihood, if they cannot.
    pub fn data_fault(&self, table: &Table) -> Option<String> {
        let outside = |value: &&f64| !(0.0..=1.0).contains(*value);
        let no_count = |value: &&f64| **value < 0.0 || value.fract() != 0.0;
        match &self.likelihood {
            Likelihood::Poisson | Likelihood::NegativeBinomial { .. } => {
                table.values.iter().find(no_count).map(|value| {
                    let name = self.likelihood.name();
                    format!("data of a `{name}` likelihood must be counts, found {value:?}")
                })
            }
            Likelihood::Binomial { .. } => {
                let trials = self.stated_scale(table).unwrap_or_default();
                let pairs = table.values.iter().zip(&trials);
                let fault = pairs.into_iter().find(|(value, trials)| no_count(value) || value > trials);
                fault.map(|(value, trials)| {
                    format!(
                        "data of a `binomial` likelihood must be counts up to their trials, found {value:?} of {trials:?}"
                    )
                })
            }
            Likelihood::LogNormal => {
                table.values.iter().find(|value| **value <= 0.0).map(|value| {
                    format!("data of a `lognormal` likelihood must be positive, found {value:?}")
                })
            }
            Likelihood::Bernoulli => table.values.iter().find(outside).map(|value| {
                format!("data of a `bernoulli` likelihood must be from 0 to 1, found {value:?}")
            }),
            Likelihood::RelativeL2 if table.values.iter().all(|&value| value == 0.0) => {
                Some("data of a `relative-l2` likelihood must not all be zero".to_owned())
            }
            _ => None,
        }
    }
}
