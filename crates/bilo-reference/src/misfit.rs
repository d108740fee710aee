//! The data loss as a function of the unknowns alone, the PDE solved by the reference solver.

use crate::jumps::Jump;
use crate::solver::{ReferenceSolution, ReferenceSolver, StateAt};
use bilo_fit::data_loss::{DataLoss, LossTerms};
use bilo_fit::gauss_newton::{Evaluated, ReducedProblem};
use bilo_fit::sensitivities::Sensitivities;
use bilo_problem::Unknown;
use bilo_problem::diagnostic::{Error, ErrorKind, Result};
use bilo_problem::sites::Sites;
use bilo_problem::theta::Theta;

/// The data loss as a function of the unknowns, the PDE solved by the reference solver.
#[derive(Clone, Copy)]
pub struct ReferenceLoss<'a> {
    /// The loss.
    pub data: DataLoss<'a>,
    /// What solves the PDE.
    pub reference: &'a ReferenceSolver,
}

impl<'a> ReducedProblem for ReferenceLoss<'a> {
    type Evaluation = Evaluation<'a>;

    fn unknowns(&self) -> &[Unknown] {
        &self.data.problem().unknowns
    }

    fn evaluate(&mut self, near: &Evaluation<'a>, eta: &[f64]) -> Result<Evaluation<'a>> {
        self.evaluate_near(eta, Some(near))
    }

    fn observed(&mut self, evaluation: &Evaluation<'a>) -> Result<Vec<Sensitivities>> {
        self.slopes(evaluation)
    }
}

impl Evaluated for Evaluation<'_> {
    fn eta(&self) -> &[f64] {
        &self.theta.eta
    }

    fn loss_terms(&self) -> &LossTerms {
        &self.loss_terms
    }

    fn values(&self) -> Vec<Vec<f64>> {
        self.values.clone()
    }
}

/// The solution at some value of the unknowns and what it says of the observations.
pub struct Evaluation<'a> {
    /// Where.
    pub theta: Theta,
    /// The solution.
    pub solution: ReferenceSolution<'a>,
    /// Where the observations are evaluated.
    pub sites: Vec<Sites>,
    /// The observed quantities, by observation.
    pub values: Vec<Vec<f64>>,
    /// What the data make of them.
    pub loss_terms: LossTerms,
}

impl<'a> ReferenceLoss<'a> {
    /// Solves at a value of everything unknown.
    pub fn evaluate(&self, theta: impl Into<Theta>) -> Result<Evaluation<'a>> {
        self.evaluate_near(theta, None)
    }

    /// Solves at a value of everything unknown; of several steady solutions finds that near one for other values or on another
    /// grid.
    pub fn evaluate_near(
        &self,
        theta: impl Into<Theta>,
        near: Option<&Evaluation<'_>>,
    ) -> Result<Evaluation<'a>> {
        let theta = theta.into();
        let solution = self.reference.solve_near(&theta, near.map(|near| &near.solution))?;
        self.evaluated(theta, solution)
    }

    /// Solves at a value of everything unknown; of several steady solutions finds that near other values of the states.
    pub fn evaluate_from(&self, theta: &Theta, state: &mut StateAt<'_>) -> Result<Evaluation<'a>> {
        self.evaluated(theta.clone(), self.reference.solve_from(theta, state)?)
    }

    fn evaluated(&self, theta: Theta, solution: ReferenceSolution<'a>) -> Result<Evaluation<'a>> {
        let sites = self.data.sites(&theta.eta)?;
        let observations = self.data.problem().observations.iter().zip(&sites);
        let values = observations
            .map(|(observation, sites)| solution.observed(observation, &sites.sampling))
            .collect::<Result<Vec<_>>>()?;
        if values.iter().flatten().any(|value| !value.is_finite()) {
            return Err(Error::new(ErrorKind::Solver, "an observed value is not finite"));
        }
        let mut loss_terms = self.data.terms(&sites, &values)?;
        self.data.add_priors(&mut loss_terms, &theta.eta)?;
        Ok(Evaluation { theta, solution, sites, values, loss_terms })
    }

    /// The observed quantities with their derivatives by eta, and after them what priors see.
    pub fn slopes(&self, evaluation: &Evaluation<'_>) -> Result<Vec<Sensitivities>> {
        evaluation.solution.find_tangents()?;
        let observations = self.data.problem().observations.iter().zip(&evaluation.sites);
        let observed = observations.map(|(observation, sites)| {
            evaluation.solution.observed_with_slopes(observation, &sites.sampling)
        });
        let mut observed = observed.collect::<Result<Vec<_>>>()?;
        for jump in self.reference.jumps() {
            let slopes = self.slopes_by(jump, evaluation)?;
            observed.iter_mut().zip(slopes).for_each(|(observed, slopes)| {
                observed.slopes[jump.unknown] = slopes;
            });
        }
        observed.extend(self.data.prior_values(&evaluation.theta.eta));
        Ok(observed)
    }

    /// The derivatives of the observed quantities by an unknown that says where equations jump.
    fn slopes_by(&self, jump: &Jump, at: &Evaluation<'_>) -> Result<Vec<Vec<f64>>> {
        let unknown = &self.data.problem().unknowns[jump.unknown];
        let here = (at.theta.eta[jump.unknown], at.values.clone());
        let [below, above] = jump.sides(unknown, here.0).map(|side| {
            let mut theta = at.theta.clone();
            theta.eta[jump.unknown] = side;
            match self.evaluate_near(theta, Some(at)) {
                Ok(evaluation) => Ok((side, evaluation.values)),
                Err(error) if error.ends_search() => Err(error),
                // At an end of what can be solved, one side has to do.
                Err(_) => Ok(here.clone()),
            }
        });
        let ((first, before), (second, after)) = (below?, above?);
        let slope = |(before, after): (&f64, &f64)| match second - first {
            0.0 => 0.0,
            width => (after - before) / width,
        };
        let observations = before.iter().zip(&after);
        Ok(observations.map(|(before, after)| before.iter().zip(after).map(slope).collect()).collect())
    }

    /// The derivatives of L_data, priors included, by everything unknown, by the adjoint.
    pub fn gradient(&self, evaluation: &Evaluation<'_>) -> Result<Theta> {
        let mut gradient = evaluation.theta.zeros();
        let observations = self.data.problem().observations.iter().zip(&evaluation.sites);
        let each: Vec<_> = observations.zip(&evaluation.loss_terms.by_values).collect();
        let solution = &evaluation.solution;
        let found = solution.each(&each, |((observation, sites), weights)| {
            solution.observed_gradient(observation, &sites.sampling, weights)
        });
        for found in found {
            gradient.add(&found?);
        }
        for jump in self.reference.jumps() {
            let slopes = self.slopes_by(jump, evaluation)?.concat();
            let by_values = evaluation.loss_terms.by_values.iter().flatten();
            gradient.eta[jump.unknown] = slopes.iter().zip(by_values).map(|(a, b)| a * b).sum();
        }
        let priors = self.data.prior_gradient(&evaluation.theta.eta);
        gradient.eta.iter_mut().zip(priors).for_each(|(sum, slope)| *sum += slope);
        Ok(gradient)
    }
}
