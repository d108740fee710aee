//! The data loss of the upper level for values from any solver, and as a function of the unknowns
//! alone where the reference solver solves the PDE for them.

use crate::joint_likelihood::JointLikelihood;
use crate::sensitivities::Sensitivities;
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use bilo_problem::sites::{Judgement, Sites};
use bilo_problem::{PriorAt, Problem, Table};

/// The terms t_o = Σ_i w_i l(value_i, data_i, sigma_i) of all observations, where w_i and l are those of the observation's
/// likelihood (for normal errors t_o is the mean of ((value - data)/sigma)²), and what they are together, by their
/// [`JointLikelihood`].
#[derive(Clone, Copy)]
pub struct DataLoss<'a> {
    problem: &'a Problem,
    tables: &'a [Table],
}

/// What all data make of observed values.
#[derive(Clone, Debug, PartialEq)]
pub struct LossTerms {
    /// The term of each observation, without its weight.
    pub terms: Vec<f64>,
    /// The derivatives of the loss by the observed values, by observation.
    pub by_values: Vec<Vec<f64>>,
    /// Square roots of half the expected second derivatives by the values, over all observations: if the
    /// errors are normal, what multiplies value - data in the square root of the loss.
    pub roots: Vec<f64>,
    /// What they are together.
    pub loss: f64,
    /// Its derivatives by the terms.
    pub weights: Vec<f64>,
    /// The size of a loss from which nothing more can be gained.
    pub size: f64,
}

impl<'a> DataLoss<'a> {
    /// The loss of a problem with the data of all its observations.
    pub fn new(problem: &'a Problem, tables: &'a [Table]) -> Self {
        Self { problem, tables }
    }

    /// The problem.
    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// The data, by observation.
    pub fn tables(&self) -> &'a [Table] {
        self.tables
    }

    /// Names of the terms: of the observations, and of the priors if there are such.
    pub fn names(&self) -> Vec<String> {
        let data = self.problem.observations.iter().map(|observation| format!("data.{}", observation.name));
        data.chain(self.problem.has_priors_of_numbers().then(|| "prior".to_owned())).collect()
    }

    /// Where each observation is evaluated, at these variables.
    pub fn sites(&self, eta: &[f64]) -> Result<Vec<Sites>> {
        let thetas = self.problem.thetas(eta);
        let observations = self.problem.observations.iter().zip(self.tables);
        observations
            .map(|(observation, table)| Sites::new(self.problem, observation, table, &thetas))
            .collect()
    }

    /// What the data make of observed values.
    pub fn terms(&self, sites: &[Sites], values: &[Vec<f64>]) -> Result<LossTerms> {
        let found: Vec<Judgement> =
            sites.iter().zip(values).map(|(sites, values)| sites.terms(values)).collect::<Result<_>>()?;
        let terms: Vec<f64> = found.iter().map(|found| found.term).collect();
        let joint = self.joint();
        let (loss, weights) = (joint.loss(&terms), joint.slopes(&terms));
        let mut loss_terms = LossTerms { terms, by_values: vec![], roots: vec![], loss, weights, size: 0.0 };
        for (o, (observation, found)) in self.problem.observations.iter().zip(found).enumerate() {
            let weight = loss_terms.weights[o];
            loss_terms.by_values.push(found.by_values.into_iter().map(|slope| weight * slope).collect());
            loss_terms
                .roots
                .extend(found.curvature.into_iter().map(|curvature| (weight * curvature / 2.0).sqrt()));
            loss_terms.size += weight * observation.likelihood.size(found.term);
        }
        Ok(loss_terms)
    }

    /// Adds what is known of the unknowns before the data to the loss, as one more term with the unknowns for values; nothing
    /// without priors. Beside them the loss is 2/N times minus a log-likelihood.
    pub fn add_priors(&self, terms: &mut LossTerms, eta: &[f64]) -> Result<()> {
        if !self.problem.has_priors_of_numbers() {
            return Ok(());
        }
        let factor = 2.0 / self.joint().count().max(1.0);
        let (mut sum, mut slopes) = (0.0, vec![]);
        for PriorAt { value, slope, curvature } in self.priors(eta) {
            sum += factor * value;
            slopes.push(factor * slope);
            // Where a density bends up, its logarithm pulls nowhere in particular.
            terms.roots.push((factor * curvature / 2.0).max(0.0).sqrt());
        }
        if !sum.is_finite() {
            return Err(Error::new(ErrorKind::Solver, "an unknown is where its prior has no density"));
        }
        terms.by_values.push(slopes);
        terms.terms.push(sum);
        terms.weights.push(1.0);
        terms.loss += sum;
        terms.size += factor;
        Ok(())
    }

    /// The priors at some variables, zero for unknowns without one.
    fn priors(&self, eta: &[f64]) -> impl Iterator<Item = PriorAt> {
        let none = PriorAt { value: 0.0, slope: 0.0, curvature: 0.0 };
        let unknowns = self.problem.unknowns.iter().zip(eta);
        unknowns
            .map(move |(unknown, &eta)| unknown.prior.map_or(none, |prior| prior.at(unknown.theta_of(eta))))
    }

    /// Minus the logarithm of the priors' densities, without their normalisation.
    pub fn negative_log_prior(&self, eta: &[f64]) -> f64 {
        self.priors(eta).map(|prior| prior.value).sum()
    }

    /// The unknowns with their derivatives by their variables, as the priors see them; none without priors.
    pub fn prior_values(&self, eta: &[f64]) -> Option<Sensitivities> {
        let unknowns = &self.problem.unknowns;
        let slope = |i: usize, j: usize| if i == j { unknowns[j].theta_slope(eta[j]) } else { 0.0 };
        self.problem.has_priors_of_numbers().then(|| Sensitivities {
            values: self.problem.thetas(&eta[..unknowns.len()]),
            slopes: (0..eta.len()).map(|j| (0..unknowns.len()).map(|i| slope(i, j)).collect()).collect(),
        })
    }

    /// The derivatives of the priors' term by the variables.
    pub fn prior_gradient(&self, eta: &[f64]) -> Vec<f64> {
        let factor = 2.0 / self.joint().count().max(1.0);
        let unknowns = self.problem.unknowns.iter().zip(eta).zip(self.priors(eta));
        unknowns.map(|((unknown, &eta), prior)| factor * prior.slope * unknown.theta_slope(eta)).collect()
    }

    /// How the data of all observations count together.
    pub fn joint(&self) -> JointLikelihood {
        JointLikelihood::new(self.problem, self.tables)
    }
}

impl LossTerms {
    /// The derivatives of the loss by variables, from those of the observed values.
    pub fn gradient(&self, slopes: &[Vec<f64>]) -> Vec<f64> {
        let product = |column: &Vec<f64>| {
            column.iter().zip(self.by_values.iter().flatten()).map(|(slope, by_value)| slope * by_value).sum()
        };
        slopes.iter().map(product).collect()
    }
}
